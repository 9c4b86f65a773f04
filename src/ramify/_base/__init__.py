"""Base classes of all classifiers: read X, encode y, make decisions, save and load."""

from ramify._lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
