from ramify.adaboost.classifiers import AdaBoostMHClassifier, HierarchicalAdaBoostMHClassifier

__all__ = [
    "AdaBoostMHClassifier",
    "HierarchicalAdaBoostMHClassifier",
]
