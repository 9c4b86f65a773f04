from ramify._versions import show_versions
from ramify.adaboost import AdaBoostMHClassifier, HierarchicalAdaBoostMHClassifier
from ramify.brdt import BRDTClassifier
from ramify.datasets import (
    fetch,
    list_datasets,
    load_animals,
    make_hierarchical_classification,
)
from ramify.forest import PCTBaggingClassifier, PCTExtraTreesClassifier, PCTForestClassifier
from ramify.gradient_boosting import PCTGradientBoostingClassifier
from ramify.hierarchy import Hierarchy, Ontology
from ramify.labels import (
    HierarchyBinarizer,
    as_levels,
    as_sets,
    balance_score,
    balance_weights,
    flatten_level,
    read_labels,
)
from ramify.local import (
    FlatClassifier,
    PerEdgeClassifier,
    PerLevelClassifier,
    PerNodeClassifier,
    PerParentClassifier,
)
from ramify.meta import (
    CalibratedHierarchicalClassifier,
    HierarchicalBaggingClassifier,
    HierarchicalVotingClassifier,
    LevelPowerset,
    MandatoryLeafClassifier,
    MetaLabeler,
    TunedThresholdClassifier,
    make_leaf_classifier,
)
from ramify.model_selection import (
    HierarchicalStratifiedKFold,
    HierarchicalStratifiedShuffleSplit,
)
from ramify.multi_target import (
    PCTForestRegressor,
    PCTMultiTargetClassifier,
    PCTMultiTargetForestClassifier,
    PCTRegressor,
)
from ramify.naive_bayes import GlobalNaiveBayes
from ramify.saving import ModelFileError, load, save
from ramify.sibling_lasso import SiblingLassoClassifier
from ramify.transformation import (
    BinaryRelevance,
    BinaryRelevancePlus,
    LabelPowerset,
    MLkNN,
    RAkEL,
)
from ramify.tree import PCTClassifier, distinct_label_sets

from . import adaboost as adaboost
from . import brdt as brdt
from . import clus as clus
from . import datasets as datasets
from . import decision as decision
from . import export as export
from . import forest as forest
from . import gradient_boosting as gradient_boosting
from . import hierarchy as hierarchy
from . import inspection as inspection
from . import io as io
from . import labels as labels
from . import local as local
from . import meta as meta
from . import metrics as metrics
from . import model_selection as model_selection
from . import multi_target as multi_target
from . import naive_bayes as naive_bayes
from . import saving as saving
from . import sibling_lasso as sibling_lasso
from . import stats as stats
from . import studies as studies
from . import transformation as transformation
from . import tree as tree

__version__: str
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
    "HierarchicalStratifiedShuffleSplit",
    "HierarchicalVotingClassifier",
    "Hierarchy",
    "HierarchyBinarizer",
    "LabelPowerset",
    "LevelPowerset",
    "MLkNN",
    "MandatoryLeafClassifier",
    "MetaLabeler",
    "ModelFileError",
    "Ontology",
    "PCTBaggingClassifier",
    "PCTClassifier",
    "PCTExtraTreesClassifier",
    "PCTForestClassifier",
    "PCTForestRegressor",
    "PCTGradientBoostingClassifier",
    "PCTMultiTargetClassifier",
    "PCTMultiTargetForestClassifier",
    "PCTRegressor",
    "PerEdgeClassifier",
    "PerLevelClassifier",
    "PerNodeClassifier",
    "PerParentClassifier",
    "RAkEL",
    "SiblingLassoClassifier",
    "TunedThresholdClassifier",
    "as_levels",
    "as_sets",
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
    "read_labels",
    "save",
    "show_versions",
]
