"""Logistic regression with a multitask lasso for each group of siblings."""

from ramify.sibling_lasso.classifier import SiblingLassoClassifier

__all__ = [
    "SiblingLassoClassifier",
]
