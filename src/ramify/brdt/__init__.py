"""BR-DT: one decision tree for each group of related labels."""

from ramify.brdt.classifier import BRDTClassifier

__all__ = [
    "BRDTClassifier",
]
