"""Data: a bundled set, a generator, and the public sets of the literature."""

from ramify.datasets.animals import load_animals
from ramify.datasets.dataset import DataSet
from ramify.datasets.generator import make_hierarchical_classification

__all__ = ["DataSet", "load_animals", "make_hierarchical_classification"]
