"""Boosted trees in the form of other trees, and new leaves for those of an old taxonomy."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify._base.tree_models import ModelTree
from ramify.boosting.outputs import to_probabilities
from ramify.boosting.rounds import BoostingRows, add_margins
from ramify.labels.hierarchy import Hierarchy
from ramify.saving.boosted_trees import join_arrays


def name_label_sets(sets: sparse.csr_array[np.int32], hierarchy: Hierarchy) -> Hierarchy:
    """Return label sets as flat labels, named after their most specific labels."""
    indptr, parents = hierarchy.parent_rows
    names = []
    for begin, end in zip(sets.indptr[:-1].tolist(), sets.indptr[1:].tolist(), strict=True):
        members = sets.indices[begin:end].tolist()
        above = {p for label in members for p in parents[indptr[label] : indptr[label + 1]]}
        most_specific = [str(hierarchy.labels[label]) for label in members if label not in above]
        names.append(" + ".join(most_specific) or "no label")
    if len(set(names)) < len(names):  # labels may contain " + "
        names = [f"{name} (set {number})" for number, name in enumerate(names)]
    return Hierarchy.from_labels(names)


def read_boosted(trees: _core.BoostedTrees) -> Iterator[ModelTree]:
    """Yield each tree as other trees are, all converted at once, since most trees are small."""
    arrays, n_outputs = join_arrays(trees), trees.n_outputs
    roots = _starts(arrays["n_nodes"])
    is_test, weight = arrays["feature"] >= 0, arrays["weight"]
    child = np.stack([arrays["yes"], arrays["no"]], axis=1)[is_test]
    first_node = np.repeat(roots[:-1], arrays["n_nodes"])[is_test]
    above = np.maximum(weight[is_test], np.finfo(float).tiny)
    of_nodes = {
        "feature": arrays["feature"],
        "threshold": arrays["threshold"],
        "weight": weight,
        "n_samples": np.rint(weight).astype(np.int64),
        "impurity": np.zeros(len(weight)),
        "gain": arrays["gain"],
    }
    n_values = np.where(is_test, 0, n_outputs)
    of_parts = {  # arrays with several elements per node, and where those of a node start
        "child": (
            _starts(np.where(is_test, 2, 0)),
            {
                "child": child.ravel(),
                "share": (weight[child + first_node[:, None]] / above[:, None]).ravel(),
            },
        ),
        "category": (
            _starts(arrays["n_categories"]),
            {"category_branch": 1 - arrays["category_yes"].astype(np.int32)},
        ),
        "value": (
            _starts(n_values),
            {
                "value_label": np.tile(np.arange(n_outputs, dtype=np.int32), (~is_test).sum()),
                "value": arrays["value"].astype(np.float64),
            },
        ),
    }
    missing, outputs = 1 - arrays["missing_yes"].astype(np.int64), np.arange(n_outputs)
    for number, (begin, end) in enumerate(pairwise(roots.tolist())):
        tree: dict[str, object] = {name: array[begin:end] for name, array in of_nodes.items()}
        for name, (starts, joined) in of_parts.items():
            first, last = starts[begin], starts[end]
            tree[f"{name}_indptr"] = starts[begin : end + 1] - first
            tree |= {key: array[first:last] for key, array in joined.items()}
        yield ModelTree(f"tree {number + 1}", _core.Tree(tree), outputs, missing[begin:end])


def _starts(sizes: NDArray[Any]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


# ---- leaves learnt again --------------------------------------------------------------------


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
