from ramify.forest.classifiers import (
    PCTBaggingClassifier,
    PCTExtraTreesClassifier,
    PCTForestClassifier,
)

__all__ = [
    "PCTBaggingClassifier",
    "PCTExtraTreesClassifier",
    "PCTForestClassifier",
]
