"""The error of a tree on its training rows, from the frequencies that its leaves store."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ramify.inspection.summary import TreeSummary

__all__ = ["training_errors"]


def training_errors(tree: TreeSummary) -> dict[str, tuple[float, float]]:
    """Return the training error of a tree, together with that of a tree without tests.

    Parameters
    ----------
    tree : TreeSummary
        A tree whose leaves store the frequencies of labels in their training rows. A row with
        missing values is counted fractionally in several leaves.

    Returns
    -------
    dict of str to (float, float)
        By measure, the error of the tree and of the default: predicting the label frequencies of
        all training rows. A label is predicted if its frequency is at least 0.5. Hamming loss and
        squared error are means over rows and labels.

    Examples
    --------
    >>> from ramify import PCTClassifier
    >>> from ramify.inspection import summarise
    >>> tree = PCTClassifier(max_depth=1).fit([[1.0], [2.0], [3.0], [4.0]], ["a", "a", "b", "b"])
    >>> training_errors(summarise(tree).trees[0])["hamming_loss"]
    (0.0, 0.5)
    """
    if tree.unit != "probability":
        raise ValueError(
            "tree must store label frequencies, got a boosted tree, which has margins."
        )
    leaves = [node.number for node in tree.leaves]
    weights = np.array([tree.nodes[number].weight for number in leaves])
    shares = tree.values[leaves][:, tree.labels].toarray()
    whole = (weights @ shares / weights.sum())[np.newaxis]
    found = _errors(weights, shares)
    default = _errors(weights.sum(keepdims=True), whole)
    return {name: (found[name], default[name]) for name in found}


def _errors(weights: NDArray[np.float64], shares: NDArray[np.float64]) -> dict[str, float]:
    cells = weights.sum() * shares.shape[1]
    predicted = shares >= 0.5
    hits = float((weights @ (shares * predicted)).sum())
    n_pairs = float((weights @ predicted).sum() + (weights @ shares).sum())
    return {
        "hamming_loss": float((weights @ np.minimum(shares, 1 - shares)).sum() / cells),
        "squared_error": float((weights @ (shares * (1 - shares))).sum() / cells),
        "micro_f1": 2 * hits / n_pairs if n_pairs else 0.0,
    }
