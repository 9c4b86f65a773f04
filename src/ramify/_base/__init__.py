"""Base classes of all classifiers: read X, encode y, make decisions, save and load."""

from ramify._base.classifier import ArrayClassifier, HierarchicalClassifier

__all__ = [
    "ArrayClassifier",
    "HierarchicalClassifier",
]
