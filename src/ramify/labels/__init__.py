"""Conversion of labels in any format to label matrices and back; flattening and balancing."""

from ramify._lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
