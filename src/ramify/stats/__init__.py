"""Compare methods over data sets: significance tests, corrections and average-rank diagrams."""

from ramify._lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
