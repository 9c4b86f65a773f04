"""Inspect models: trees as text and plots, rules, explanations, importances and an HTML page."""

from ramify._lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
