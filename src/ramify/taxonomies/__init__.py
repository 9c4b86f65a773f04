"""Carry labels and models from one version of a taxonomy to another."""

from ramify._lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
