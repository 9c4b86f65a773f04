"""Boosted trees in the form of other trees, with names for what their leaves hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify._base.tree_models import ModelTree
from ramify.labels.hierarchy import Hierarchy

__all__ = ["name_label_sets", "read_boosted"]


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
    """Yield each tree as other trees are, with the branch of missing values in its nodes."""
    outputs = np.arange(trees.n_outputs)
    for number in range(len(trees)):
        arrays: Any = trees.arrays(number)
        missing = 1 - arrays["missing_yes"].astype(np.int64)
        yield ModelTree(f"tree {number + 1}", _as_tree(arrays, len(outputs)), outputs, missing)


def _as_tree(arrays: Any, n_outputs: int) -> _core.Tree:
    is_test = arrays["feature"] >= 0
    is_leaf = ~is_test
    child = np.stack([arrays["yes"][is_test], arrays["no"][is_test]], axis=1)
    weight = arrays["weight"]
    above = np.maximum(weight[is_test], np.finfo(float).tiny)
    n_values = np.where(is_leaf, n_outputs, 0)
    return _core.Tree(
        {
            "feature": arrays["feature"],
            "threshold": arrays["threshold"],
            "weight": weight,
            "n_samples": np.rint(weight).astype(np.int64),
            "impurity": np.zeros(len(is_test)),
            "gain": arrays["gain"],
            "child_indptr": _starts(np.where(is_test, 2, 0)),
            "child": child.ravel().astype(np.int32),
            "share": (weight[child] / above[:, None]).ravel(),
            "category_indptr": arrays["category_indptr"],
            "category_branch": 1 - arrays["category_yes"].astype(np.int32),
            "value_indptr": _starts(n_values),
            "value_label": np.tile(np.arange(n_outputs, dtype=np.int32), int(is_leaf.sum())),
            "value": arrays["value"].astype(np.float64),
        }
    )


def _starts(sizes: NDArray[Any]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
