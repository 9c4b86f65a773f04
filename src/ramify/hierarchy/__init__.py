"""Hierarchies of labels: construction, text formats, encoding of label sets, weights."""

from ramify.hierarchy.hierarchy import Hierarchy

__all__ = [
    "Hierarchy",
]
