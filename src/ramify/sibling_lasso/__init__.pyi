from ramify.sibling_lasso.classifier import SiblingLassoClassifier

__all__ = [
    "SiblingLassoClassifier",
]
