"""Local architectures: many small classifiers along a hierarchy."""

from ramify.local.classifiers import (
    ConstantClassifier,
    FlatClassifier,
    LocalClassifier,
    PerEdgeClassifier,
    PerLevelClassifier,
    PerNodeClassifier,
    PerParentClassifier,
)

__all__ = [
    "ConstantClassifier",
    "FlatClassifier",
    "LocalClassifier",
    "PerEdgeClassifier",
    "PerLevelClassifier",
    "PerNodeClassifier",
    "PerParentClassifier",
]
