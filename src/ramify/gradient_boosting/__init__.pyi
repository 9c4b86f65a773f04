from ramify.gradient_boosting.classifier import PCTGradientBoostingClassifier

__all__ = [
    "PCTGradientBoostingClassifier",
]
