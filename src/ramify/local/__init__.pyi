from ramify.local.binary_relevance import BinaryRelevance, BinaryRelevancePlus
from ramify.local.brdt import BRDTClassifier
from ramify.local.classifiers import (
    FlatClassifier,
    PerEdgeClassifier,
    PerLevelClassifier,
    PerNodeClassifier,
    PerParentClassifier,
)
from ramify.local.label_powerset import LabelPowerset, RAkEL
from ramify.local.linear_classifier import LinearClassifier
from ramify.local.ml_knn import MLkNN
from ramify.local.naive_bayes import GlobalNaiveBayes
from ramify.local.sibling_lasso import SiblingLassoClassifier

__all__ = [
    "BRDTClassifier",
    "BinaryRelevance",
    "BinaryRelevancePlus",
    "FlatClassifier",
    "GlobalNaiveBayes",
    "LabelPowerset",
    "LinearClassifier",
    "MLkNN",
    "PerEdgeClassifier",
    "PerLevelClassifier",
    "PerNodeClassifier",
    "PerParentClassifier",
    "RAkEL",
    "SiblingLassoClassifier",
]
