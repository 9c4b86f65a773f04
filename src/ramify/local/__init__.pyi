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
