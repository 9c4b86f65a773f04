"""From the answers of local models to coherent probabilities of all labels.

Every rule works on arrays of shape (n_labels, n): one row of numbers per label.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ramify.hierarchy.hierarchy import Hierarchy
from ramify.local.problems import ROOT, children_of, parents_of

__all__ = ["cut_to_parents", "multiply_down", "raise_to_children"]


def multiply_down(
    conditional: NDArray[np.float64], edges: Sequence[tuple[int, int]], hierarchy: Hierarchy
) -> NDArray[np.float64]:
    """Return P(c) = min over parents p of P(c|p) P(p), from the top.

    Parameters
    ----------
    conditional : ndarray of shape (n_edges, n)
        P(c|p), in [0, 1].
    edges : sequence of (parent, child)
        The edge of each row, as positions of labels.
    hierarchy : Hierarchy
        The labels.

    Returns
    -------
    ndarray of shape (n_labels, n)
        Coherent: a product of numbers up to 1 exceeds neither.

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
    # Labels come after their parents.
    for number in sorted(range(len(edges)), key=lambda e: edges[e][1]):
        parent, child = edges[number]
        above = conditional[number] if parent == ROOT else conditional[number] * found[parent]
        np.minimum(found[child], above, out=found[child])
    return found


def cut_to_parents(scores: NDArray[np.float64], hierarchy: Hierarchy) -> NDArray[np.float64]:
    """Return scores cut, from the top, to those of the label's parents.

    Parameters
    ----------
    scores : ndarray of shape (n_labels, n)
        Each label's own probability.
    hierarchy : Hierarchy
        The labels.

    Returns
    -------
    ndarray of shape (n_labels, n)
        Coherent probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from ramify import Hierarchy
    >>> animals = Hierarchy.from_paths(["bird/owl"])
    >>> cut_to_parents(np.array([[0.5], [0.8]]), animals).ravel()
    array([0.5, 0.5])
    """
    found: NDArray[np.float64] = scores.copy()
    for child in range(hierarchy.n_labels):
        for parent in parents_of(hierarchy, child):
            if parent != ROOT:
                np.minimum(found[child], found[parent], out=found[child])
    return found


def raise_to_children(scores: NDArray[np.float64], hierarchy: Hierarchy) -> NDArray[np.float64]:
    """Return scores raised, from below, to those of the label's children.

    Parameters
    ----------
    scores : ndarray of shape (n_labels, n)
        Each label's own probability.
    hierarchy : Hierarchy
        The labels.

    Returns
    -------
    ndarray of shape (n_labels, n)
        Coherent probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from ramify import Hierarchy
    >>> animals = Hierarchy.from_paths(["bird/owl"])
    >>> raise_to_children(np.array([[0.5], [0.8]]), animals).ravel()
    array([0.8, 0.8])
    """
    found: NDArray[np.float64] = scores.copy()
    for parent in reversed(range(hierarchy.n_labels)):
        for child in children_of(hierarchy, parent):
            np.maximum(found[parent], found[child], out=found[parent])
    return found
