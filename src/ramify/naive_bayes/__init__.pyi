from ramify.naive_bayes.classifier import GlobalNaiveBayes

__all__ = [
    "GlobalNaiveBayes",
]
