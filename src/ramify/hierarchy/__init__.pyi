from ramify.hierarchy.hierarchy import Hierarchy
from ramify.hierarchy.obo import Term
from ramify.hierarchy.ontology import Ontology

__all__ = [
    "Hierarchy",
    "Ontology",
    "Term",
]
