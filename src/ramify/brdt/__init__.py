"""BR-DT: one decision tree for each group of related labels."""

from ramify._lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
