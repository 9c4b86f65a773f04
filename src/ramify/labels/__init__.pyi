from ramify.labels.balancing import balance_score, balance_weights
from ramify.labels.encoding import (
    EncodedLabels,
    HierarchyBinarizer,
    read_labels,
)
from ramify.labels.flattening import flatten_level
from ramify.labels.readings import as_levels, as_sets

__all__ = [
    "EncodedLabels",
    "HierarchyBinarizer",
    "as_levels",
    "as_sets",
    "balance_score",
    "balance_weights",
    "flatten_level",
    "read_labels",
]
