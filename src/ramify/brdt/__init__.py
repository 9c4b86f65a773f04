"""BR-DT: one tree for every group of related labels."""

from ramify.brdt.classifier import BRDTClassifier

__all__ = [
    "BRDTClassifier",
]
