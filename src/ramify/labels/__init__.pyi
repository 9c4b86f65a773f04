from ramify.labels.balancing import balance_score, balance_weights, flatten_level
from ramify.labels.comparing import Change, Comparison, Successor
from ramify.labels.encoding import (
    EncodedLabels,
    HierarchyBinarizer,
    PartialLabels,
    read_labels,
)
from ramify.labels.hierarchy import Hierarchy
from ramify.labels.obo import Term
from ramify.labels.ontology import Ontology
from ramify.labels.readers import as_levels, as_sets

__all__ = [
    "Change",
    "Comparison",
    "EncodedLabels",
    "Hierarchy",
    "HierarchyBinarizer",
    "Ontology",
    "PartialLabels",
    "Successor",
    "Term",
    "as_levels",
    "as_sets",
    "balance_score",
    "balance_weights",
    "flatten_level",
    "read_labels",
]
