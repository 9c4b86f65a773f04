"""Studies: models compared on data sets, from a TOML file to a report."""

from ramify._lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
