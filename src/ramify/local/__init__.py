"""Local architectures: one classifier per edge, label, parent or level of a hierarchy."""

from ramify.local.classifiers import (
    FlatClassifier,
    PerEdgeClassifier,
    PerLevelClassifier,
    PerNodeClassifier,
    PerParentClassifier,
)

__all__ = [
    "FlatClassifier",
    "PerEdgeClassifier",
    "PerLevelClassifier",
    "PerNodeClassifier",
    "PerParentClassifier",
]
