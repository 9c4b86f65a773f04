"""Schemas of saved objects: what each attribute of a class may hold in a model file.

A class declares `_saved_schema`, a dict from the names of its fitted attributes (the fields of a
dataclass) to kinds. `ramify.load` refuses a file whose content does not fit, before any native
code sees it. Sizes are named: a name stands for the same number wherever it occurs in one object.
"""

from ramify._schema.arrays import Array, Increasing, Sparse, check_compressed, check_sparse
from ramify._schema.objects import (
    BoostedTreesOf,
    Estimator,
    Fitted,
    Instance,
    NamedEstimators,
    Part,
    TreeOf,
)
from ramify._schema.sizes import SchemaError, Size, Sizes
from ramify._schema.state import Schema, check_state, schema_of
from ramify._schema.values import (
    AnyOf,
    Anything,
    Flag,
    IfPresent,
    Kind,
    Label,
    ListOf,
    MapOf,
    Maybe,
    Number,
    Text,
    TupleOf,
    TypeName,
    Whole,
)

__all__ = [
    "AnyOf",
    "Anything",
    "Array",
    "BoostedTreesOf",
    "Estimator",
    "Fitted",
    "Flag",
    "IfPresent",
    "Increasing",
    "Instance",
    "Kind",
    "Label",
    "ListOf",
    "MapOf",
    "Maybe",
    "NamedEstimators",
    "Number",
    "Part",
    "Schema",
    "SchemaError",
    "Size",
    "Sizes",
    "Sparse",
    "Text",
    "TreeOf",
    "TupleOf",
    "TypeName",
    "Whole",
    "check_compressed",
    "check_sparse",
    "check_state",
    "schema_of",
]
