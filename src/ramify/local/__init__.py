"""Local architectures: many small classifiers along a hierarchy."""

from ramify.local.base import LocalClassifier
from ramify.local.classifiers import (
    ConstantClassifier,
    FlatClassifier,
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
