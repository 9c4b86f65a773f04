from ramify.meta.bagging import HierarchicalBaggingClassifier
from ramify.meta.blend import BlendClassifier
from ramify.meta.calibration import CalibratedHierarchicalClassifier
from ramify.meta.level_powerset import LevelPowerset
from ramify.meta.mandatory_leaf import MandatoryLeafClassifier, make_leaf_classifier
from ramify.meta.metalabeler import MetaLabeler
from ramify.meta.selective import SelectiveClassifier
from ramify.meta.thresholds import TunedThresholdClassifierCV
from ramify.meta.voting import HierarchicalVotingClassifier

__all__ = [
    "BlendClassifier",
    "CalibratedHierarchicalClassifier",
    "HierarchicalBaggingClassifier",
    "HierarchicalVotingClassifier",
    "LevelPowerset",
    "MandatoryLeafClassifier",
    "MetaLabeler",
    "SelectiveClassifier",
    "TunedThresholdClassifierCV",
    "make_leaf_classifier",
]
