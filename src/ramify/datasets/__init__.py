"""Data sets: a bundled data set, a generator and public data sets of the literature."""

from ramify._lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
