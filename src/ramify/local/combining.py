"""Probabilities of all labels from the conditional probabilities of local models."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ramify.hierarchy.hierarchy import Hierarchy
from ramify.local.problems import ROOT

__all__ = ["multiply_down"]


def multiply_down(
    conditional: NDArray[np.float64], edges: Sequence[tuple[int, int]], hierarchy: Hierarchy
) -> NDArray[np.float64]:
    """Compute P(c) = min over parents p of P(c|p) P(p), from the top down.

    Parameters
    ----------
    conditional : ndarray of shape (n_edges, n)
        P(c|p) for each edge, in [0, 1].
    edges : sequence of (parent, child)
        The edge of each row of `conditional`, as positions of labels; -1 is the root.
    hierarchy : Hierarchy
        The label hierarchy.

    Returns
    -------
    ndarray of shape (n, n_labels)
        Coherent probabilities: a product of factors in [0, 1] exceeds none of them.

    Examples
    --------
    >>> import numpy as np
    >>> from ramify import Hierarchy
    >>> pets = Hierarchy.from_edges([("mammal", "dog"), ("pet", "dog")])
    >>> edges = [(-1, 0), (-1, 1), (0, 2), (1, 2)]
    >>> multiply_down(np.array([[0.5], [0.8], [0.8], [0.4]]), edges, pets).ravel().round(2)
    array([0.5 , 0.8 , 0.32])
    """
    found = np.full((hierarchy.n_labels, conditional.shape[1]), np.inf)
    # In topological order: found[parent] is final before its children are computed.
    for number in sorted(range(len(edges)), key=lambda e: edges[e][1]):
        parent, child = edges[number]
        above = conditional[number] if parent == ROOT else conditional[number] * found[parent]
        np.minimum(found[child], above, out=found[child])
    by_row: NDArray[np.float64] = found.T
    return by_row
