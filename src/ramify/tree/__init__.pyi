from ramify.tree.classifier import PCTClassifier
from ramify.tree.distances import distinct_label_sets

__all__ = [
    "PCTClassifier",
    "distinct_label_sets",
]
