from ramify.transformation.binary_relevance import BinaryRelevance, BinaryRelevancePlus
from ramify.transformation.label_powerset import LabelPowerset, RAkEL
from ramify.transformation.ml_knn import MLkNN

__all__ = [
    "BinaryRelevance",
    "BinaryRelevancePlus",
    "LabelPowerset",
    "MLkNN",
    "RAkEL",
]
