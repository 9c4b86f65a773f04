"""Decision rules: from scores to label sets that are consistent with the hierarchy."""

from ramify._lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
