from ramify.trees.classifier import PCTClassifier
from ramify.trees.criteria import distinct_label_sets
from ramify.trees.forests import PCTBaggingClassifier, PCTExtraTreesClassifier, PCTForestClassifier
from ramify.trees.target_classifiers import (
    PCTMultiTargetClassifier,
    PCTMultiTargetForestClassifier,
)
from ramify.trees.target_regressors import PCTForestRegressor, PCTRegressor

__all__ = [
    "PCTBaggingClassifier",
    "PCTClassifier",
    "PCTExtraTreesClassifier",
    "PCTForestClassifier",
    "PCTForestRegressor",
    "PCTMultiTargetClassifier",
    "PCTMultiTargetForestClassifier",
    "PCTRegressor",
    "distinct_label_sets",
]
