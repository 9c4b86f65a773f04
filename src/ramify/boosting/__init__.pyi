from ramify.boosting.adaboost import AdaBoostMHClassifier, HierarchicalAdaBoostMHClassifier
from ramify.boosting.classifier import PCTGradientBoostingClassifier

__all__ = [
    "AdaBoostMHClassifier",
    "HierarchicalAdaBoostMHClassifier",
    "PCTGradientBoostingClassifier",
]
