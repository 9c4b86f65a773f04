from ramify.multi_target.classifiers import (
    PCTMultiTargetClassifier,
    PCTMultiTargetForestClassifier,
)
from ramify.multi_target.regressors import PCTForestRegressor, PCTRegressor

__all__ = [
    "PCTForestRegressor",
    "PCTMultiTargetClassifier",
    "PCTMultiTargetForestClassifier",
    "PCTRegressor",
]
