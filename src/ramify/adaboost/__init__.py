"""AdaBoost.MH and its hierarchical variant H-Ada.MH."""

from ramify.adaboost.classifiers import AdaBoostMHClassifier, HierarchicalAdaBoostMHClassifier

__all__ = [
    "AdaBoostMHClassifier",
    "HierarchicalAdaBoostMHClassifier",
]
