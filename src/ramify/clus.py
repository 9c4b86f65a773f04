"""Run the settings files of CLUS: read them, run them and write the files that CLUS writes."""

from ramify._lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
