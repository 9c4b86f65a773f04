"""Predictive clustering trees, forests of them, and trees for several targets."""

from ramify._lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
