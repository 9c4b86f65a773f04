"""The label graph: building it, its text, encoding label sets, weights."""

from ramify.hierarchy.hierarchy import Hierarchy

__all__ = [
    "Hierarchy",
]
