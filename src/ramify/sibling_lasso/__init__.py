"""The multitask lasso over groups of siblings."""

from ramify.sibling_lasso.classifier import SiblingLassoClassifier

__all__ = [
    "SiblingLassoClassifier",
]
