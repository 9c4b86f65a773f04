"""New leaves for boosted trees of an old taxonomy: the tests are kept."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify.boosting.outputs import to_probabilities
from ramify.boosting.rounds import BoostingRows, add_margins


def relearn_rounds(
    old: _core.BoostedTrees,
    rows: BoostingRows,
    copied: NDArray[np.int64],
    start: NDArray[np.float32],
    options: _core.GradientBoostingOptions,
) -> _core.BoostedTrees:
    """Return trees with the same tests, and leaves for other outputs.

    Those that are learnt are computed round by round as in `fit`, from all rows; a leaf that no
    row reaches gets 0. The others have the values of the old outputs in `copied`.
    """
    new, same = np.flatnonzero(copied < 0), np.flatnonzero(copied >= 0)
    truth = rows.Y[:, new].toarray().astype(np.float64)
    margins = np.tile(start[new], (len(truth), 1))
    trees = _core.BoostedTrees(len(copied), old.n_features)
    for number in range(len(old)):
        arrays: Any = old.arrays(number)
        before = arrays["value"].reshape(-1, old.n_outputs)
        leaf = _leaves(old.n_features, arrays, rows.X)
        at = (rows.weights, (leaf, np.arange(len(leaf))))
        reached: Any = sparse.csr_array(at, shape=(len(before), len(leaf)))
        shares = to_probabilities(options.loss, margins, options.n_threads)
        gradient, curvature = reached @ (shares - truth), reached @ (shares * (1 - shares))
        step = -gradient / np.maximum(curvature + options.l2_regularization, 1e-12)
        value = np.empty((len(before), len(copied)), dtype=np.float32)
        value[:, same] = before[:, copied[same]]
        value[:, new] = options.learning_rate * step
        margins += value[leaf][:, new]
        trees.append({**arrays, "value": value.ravel()})
    return trees


def _leaves(n_features: int, arrays: Any, X: Any) -> NDArray[np.int64]:
    """Return the leaf that each row reaches: what a tree adds whose leaves hold their numbers."""
    n_leaves = int((arrays["feature"] < 0).sum())
    tree = _core.BoostedTrees(1, n_features)
    tree.append({**arrays, "value": np.arange(n_leaves, dtype=np.float32)})  # exact below 2**24
    out = np.zeros((X.shape[0], 1), dtype=np.float32)
    add_margins(tree, X, out)
    return out[:, 0].astype(np.int64)
