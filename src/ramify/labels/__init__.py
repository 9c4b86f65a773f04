"""The label graph, and y of any kind as a closed matrix of labels and back."""

from ramify._lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
