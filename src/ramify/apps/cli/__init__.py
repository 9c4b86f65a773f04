"""The command line ``ramify``: the commands and the functions that implement them."""

from ramify._lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
