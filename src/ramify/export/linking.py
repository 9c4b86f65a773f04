"""From the margins of gradient boosting to coherent probabilities, as operators of ONNX."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ramify.export.onnx_graph import GraphBuilder
from ramify.hierarchy.hierarchy import Hierarchy

__all__ = ["add_coherence", "add_label_sums"]


def add_coherence(graph: GraphBuilder, scores: str, hierarchy: Hierarchy, method: str) -> str:
    """Raise labels to their descendants ("max") or lower them to their ancestors ("min").

    Parameters
    ----------
    graph : GraphBuilder
        Receives the operators.
    scores : str
        The name of a tensor of shape (n, n_labels).
    hierarchy : Hierarchy
        The label hierarchy.
    method : {"max", "min"}
        The method of `ramify.decision.make_coherent`.

    Returns
    -------
    str
        The name of a tensor of the same shape.
    """
    index = {label: k for k, label in enumerate(hierarchy.labels)}
    pairs = [
        (k, index[above]) for label, k in index.items() for above in hierarchy.ancestors(label)
    ]
    if not pairs:
        return scores
    lower, upper = np.array(pairs, dtype=np.int64).T
    changed, given = (upper, lower) if method == "max" else (lower, upper)
    by_label = graph.add("Transpose", scores, perm=[1, 0])
    repaired = graph.add(
        "ScatterND",
        by_label,
        graph.constant(changed[:, None]),
        graph.add("Gather", by_label, graph.constant(given), axis=0),
        reduction=method,
    )
    return graph.add("Transpose", repaired, perm=[1, 0])


def add_label_sums(
    graph: GraphBuilder, probabilities: str, label_sets: sparse.csr_array[np.int32]
) -> str:
    """Add up the probabilities of the label sets that contain each label.

    Parameters
    ----------
    graph : GraphBuilder
        Receives the operators.
    probabilities : str
        The name of a tensor of shape (n, n_sets).
    label_sets : csr_array of shape (n_sets, n_labels)
        The label sets.

    Returns
    -------
    str
        The name of a tensor of shape (n, n_labels).
    """
    members = graph.constant(label_sets.toarray(), np.float32)
    return graph.add("MatMul", probabilities, members)
