from ramify.brdt.classifier import BRDTClassifier

__all__ = [
    "BRDTClassifier",
]
