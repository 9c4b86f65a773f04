"""Schemas of saved objects: what each attribute of a class may hold in a model file.

A class declares `_saved_schema`, a dict from the names of its fitted attributes (the fields of a
dataclass) to kinds. `ramify.load` refuses a file whose content does not fit, before any native
code sees it. Sizes are named: a name stands for the same number wherever it occurs in one object.
"""

from ramify._lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
