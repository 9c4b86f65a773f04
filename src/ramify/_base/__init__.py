"""What all classifiers share: reading X, encoding y, deciding, saving."""

from ramify._base.classifier import ArrayClassifier, HierarchicalClassifier

__all__ = [
    "ArrayClassifier",
    "HierarchicalClassifier",
]
