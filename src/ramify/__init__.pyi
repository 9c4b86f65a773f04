from ramify._versions import show_versions
from ramify.boosting import (
    AdaBoostMHClassifier,
    HierarchicalAdaBoostMHClassifier,
    PCTGradientBoostingClassifier,
)
from ramify.data.embedding import TextEmbedder
from ramify.datasets import fetch, list_datasets, load_animals, make_hierarchical_classification
from ramify.inspection import look
from ramify.io import read_table
from ramify.labels import (
    Hierarchy,
    HierarchyBinarizer,
    Ontology,
    PartialLabels,
    as_levels,
    as_sets,
    read_labels,
)
from ramify.local import (
    BinaryRelevance,
    BinaryRelevancePlus,
    BRDTClassifier,
    FlatClassifier,
    GlobalNaiveBayes,
    LabelPowerset,
    LinearClassifier,
    MLkNN,
    PerEdgeClassifier,
    PerLevelClassifier,
    PerNodeClassifier,
    PerParentClassifier,
    RAkEL,
    SiblingLassoClassifier,
)
from ramify.meta import (
    BlendClassifier,
    CalibratedHierarchicalClassifier,
    HierarchicalBaggingClassifier,
    HierarchicalVotingClassifier,
    LevelPowerset,
    MandatoryLeafClassifier,
    MetaLabeler,
    SelectiveClassifier,
    TunedThresholdClassifierCV,
)
from ramify.model_selection import HierarchicalStratifiedKFold, HierarchicalStratifiedShuffleSplit
from ramify.saving import ModelFileError, load, save
from ramify.taxonomies import LabelMapping
from ramify.trees import (
    PCTBaggingClassifier,
    PCTClassifier,
    PCTExtraTreesClassifier,
    PCTForestClassifier,
    PCTForestRegressor,
    PCTMultiTargetClassifier,
    PCTMultiTargetForestClassifier,
    PCTRegressor,
)

from . import boosting as boosting
from . import clus as clus
from . import datasets as datasets
from . import decision as decision
from . import export as export
from . import inspection as inspection
from . import io as io
from . import labels as labels
from . import local as local
from . import meta as meta
from . import metrics as metrics
from . import model_selection as model_selection
from . import saving as saving
from . import stats as stats
from . import studies as studies
from . import taxonomies as taxonomies
from . import trees as trees

__version__: str
__all__ = [
    "AdaBoostMHClassifier",
    "BRDTClassifier",
    "BinaryRelevance",
    "BinaryRelevancePlus",
    "BlendClassifier",
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
    "LabelMapping",
    "LabelPowerset",
    "LevelPowerset",
    "LinearClassifier",
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
    "PartialLabels",
    "PerEdgeClassifier",
    "PerLevelClassifier",
    "PerNodeClassifier",
    "PerParentClassifier",
    "RAkEL",
    "SelectiveClassifier",
    "SiblingLassoClassifier",
    "TextEmbedder",
    "TunedThresholdClassifierCV",
    "as_levels",
    "as_sets",
    "fetch",
    "list_datasets",
    "load",
    "load_animals",
    "look",
    "make_hierarchical_classification",
    "read_labels",
    "read_table",
    "save",
    "show_versions",
]
