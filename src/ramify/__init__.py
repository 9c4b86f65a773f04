"""ramify learns classifiers whose labels form a hierarchy."""

from ramify._distances import distinct_label_sets
from ramify.bagging import HierarchicalBaggingClassifier
from ramify.balancing import balance_score, balance_weights
from ramify.boosting import AdaBoostMHClassifier, HierarchicalAdaBoostMHClassifier
from ramify.brdt import BRDTClassifier
from ramify.calibration import CalibratedHierarchicalClassifier
from ramify.datasets import (
    fetch,
    list_datasets,
    load_animals,
    make_hierarchical_classification,
)
from ramify.flattening import flatten_level
from ramify.forest import (
    PCTBaggingClassifier,
    PCTExtraTreesClassifier,
    PCTForestClassifier,
)
from ramify.hierarchy import Hierarchy
from ramify.label_powerset import LabelPowerset, RAkEL
from ramify.labels import HierarchyBinarizer
from ramify.leaf_methods import make_leaf_classifier
from ramify.local import (
    FlatClassifier,
    PerEdgeClassifier,
    PerLevelClassifier,
    PerNodeClassifier,
    PerParentClassifier,
)
from ramify.mandatory_leaf import MandatoryLeafClassifier
from ramify.metalabeler import MetaLabeler
from ramify.ml_knn import MLkNN
from ramify.model_selection import HierarchicalStratifiedKFold
from ramify.naive_bayes import GlobalNaiveBayes
from ramify.powerset import LevelPowerset
from ramify.saving import ModelFileError, load, save
from ramify.sibling_lasso import SiblingLassoClassifier
from ramify.thresholds import TunedThresholdClassifier
from ramify.transformation import BinaryRelevance, BinaryRelevancePlus
from ramify.tree import PCTClassifier

__version__ = "0.1.0"
__all__ = [
    "AdaBoostMHClassifier",
    "BRDTClassifier",
    "BinaryRelevance",
    "BinaryRelevancePlus",
    "CalibratedHierarchicalClassifier",
    "FlatClassifier",
    "GlobalNaiveBayes",
    "HierarchicalAdaBoostMHClassifier",
    "HierarchicalBaggingClassifier",
    "HierarchicalStratifiedKFold",
    "Hierarchy",
    "HierarchyBinarizer",
    "LabelPowerset",
    "LevelPowerset",
    "MLkNN",
    "MandatoryLeafClassifier",
    "MetaLabeler",
    "ModelFileError",
    "PCTBaggingClassifier",
    "PCTClassifier",
    "PCTExtraTreesClassifier",
    "PCTForestClassifier",
    "PerEdgeClassifier",
    "PerLevelClassifier",
    "PerNodeClassifier",
    "PerParentClassifier",
    "RAkEL",
    "SiblingLassoClassifier",
    "TunedThresholdClassifier",
    "balance_score",
    "balance_weights",
    "distinct_label_sets",
    "fetch",
    "flatten_level",
    "list_datasets",
    "load",
    "load_animals",
    "make_hierarchical_classification",
    "make_leaf_classifier",
    "save",
]
