from ramify._base.classifier import ArrayClassifier, HierarchicalClassifier

__all__ = [
    "ArrayClassifier",
    "HierarchicalClassifier",
]
