"""Gradient boosting of rows in several partitions; only sums leave a partition."""

from ramify._lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
