"""Boosting: gradient boosting of trees with vectors in their leaves, and AdaBoost.MH."""

from ramify._lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
