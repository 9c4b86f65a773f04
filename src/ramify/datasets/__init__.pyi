from ramify.datasets.dataset import DataSet, load_animals
from ramify.datasets.fetching import fetch
from ramify.datasets.generator import make_hierarchical_classification
from ramify.datasets.registry import list_datasets

__all__ = [
    "DataSet",
    "fetch",
    "list_datasets",
    "load_animals",
    "make_hierarchical_classification",
]
