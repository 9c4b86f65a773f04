"""Labels y in any format in, a closed matrix out, and back; flattening and balancing."""

from ramify.labels.balancing import balance_score, balance_weights
from ramify.labels.encoding import (
    EncodedLabels,
    HierarchyBinarizer,
    read_labels,
)
from ramify.labels.flattening import flatten_level

__all__ = [
    "EncodedLabels",
    "HierarchyBinarizer",
    "balance_score",
    "balance_weights",
    "flatten_level",
    "read_labels",
]
