"""The models of a run: trees and forests under the names that CLUS gives them."""

from __future__ import annotations

from dataclasses import dataclass, field

from ramify import _core
from ramify.clus.writers.trees import TreeSize, measure_tree

__all__ = ["Model", "describe"]


@dataclass(frozen=True)
class Model:
    """A model of a run.

    Attributes
    ----------
    name : str
        Default, Original, Pruned, ``T(30.0)`` or ``Forest with 50 trees``.
    trees : list of Tree
        Its trees.
    is_forest : bool
        Whether it is an ensemble.
    threshold : float or None
        Threshold in percent of a model that predicts label sets.
    """

    name: str
    trees: list[_core.Tree] = field(repr=False)
    is_forest: bool = False
    threshold: float | None = None

    @property
    def sizes(self) -> list[TreeSize]:
        """The sizes of its trees."""
        return [measure_tree(tree) for tree in self.trees]


def describe(model: Model, *, members: bool) -> list[str]:
    """Return the lines about the size of a model.

    Parameters
    ----------
    model : Model
        The model.
    members : bool
        Whether to list the trees of a forest.

    Returns
    -------
    list of str
        The lines.
    """
    sizes = model.sizes
    if not model.is_forest:
        return [f"     {model.name}: {sizes[0]}"]
    nodes, leaves = sum(s.nodes for s in sizes), sum(s.leaves for s in sizes)
    depth = f"{sum(s.depth for s in sizes) / len(sizes):.1f}"
    lines = [
        f"     {model.name}: FOREST with {len(sizes)} models (Total nodes: {nodes}; "
        f"leaves: {leaves}; average tree depth: {depth})"
    ]
    if members:
        lines += [f"\t\tModel {at}: {size}" for at, size in enumerate(sizes, 1)]
    return lines
