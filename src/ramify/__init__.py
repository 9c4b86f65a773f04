"""ramify learns classifiers whose labels form a hierarchy."""

from ramify.datasets import (
    fetch,
    list_datasets,
    load_animals,
    make_hierarchical_classification,
)
from ramify.hierarchy import Hierarchy
from ramify.labels import HierarchyBinarizer
from ramify.model_selection import HierarchicalStratifiedKFold
from ramify.tree import PCTClassifier

__version__ = "0.1.0"
__all__ = [
    "HierarchicalStratifiedKFold",
    "Hierarchy",
    "HierarchyBinarizer",
    "PCTClassifier",
    "fetch",
    "list_datasets",
    "load_animals",
    "make_hierarchical_classification",
]
