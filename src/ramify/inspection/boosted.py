"""Boosted trees in the form of other trees, and the contributions of features to margins."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify import _core
from ramify.boosting.classifier import PCTGradientBoostingClassifier
from ramify.labels.hierarchy import Hierarchy

__all__ = ["boosted_trees", "margin_contributions", "output_names"]


def output_names(model: PCTGradientBoostingClassifier) -> Hierarchy:
    """Return what its margins belong to: the labels, or the label sets as flat labels."""
    if model.loss_ == "logistic":
        return model.hierarchy_
    hierarchy, sets = model.hierarchy_, model.label_sets_
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


def boosted_trees(
    model: PCTGradientBoostingClassifier,
) -> Iterator[tuple[_core.Tree, NDArray[np.int64]]]:
    """Yield each tree as other trees are, and the branch of missing values in its nodes."""
    for number in range(len(model.trees_)):
        arrays: Any = model.trees_.arrays(number)
        yield _as_tree(arrays, model.trees_.n_outputs), 1 - arrays["missing_yes"].astype(np.int64)


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


def margin_contributions(
    model: PCTGradientBoostingClassifier, row: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the contribution of each feature to the margins of a row.

    A test moves the mean value of the leaves below its node to that of the leaves below the branch
    that the row takes. The sum of the moves and the values at the roots is the margin.
    """
    n_outputs = model.trees_.n_outputs
    baseline = model.baseline_.astype(np.float64)
    contributions = np.zeros((len(row), n_outputs))
    for number in range(len(model.trees_)):
        arrays: Any = model.trees_.arrays(number)
        value = arrays["value"].reshape(-1, n_outputs).astype(np.float64)
        leaf_weight = arrays["weight"][arrays["leaf"] >= 0]
        ranges = _leaf_ranges(arrays)
        node, before = 0, _mean(value, leaf_weight, ranges[0])
        baseline += before
        while arrays["feature"][node] >= 0:
            feature = int(arrays["feature"][node])
            node = _next_node(arrays, node, float(row[feature]))
            after = _mean(value, leaf_weight, ranges[node])
            contributions[feature] += after - before
            before = after
    return baseline, contributions


def _leaf_ranges(arrays: Any) -> list[tuple[int, int]]:
    """Return the leaves below each node: those of a depth-first order lie side by side."""
    ranges = [(0, 0)] * len(arrays["feature"])
    for node in range(len(ranges) - 1, -1, -1):
        leaf = int(arrays["leaf"][node])
        if leaf >= 0:
            ranges[node] = (leaf, leaf + 1)
        else:
            parts = (ranges[arrays["yes"][node]], ranges[arrays["no"][node]])
            ranges[node] = (min(p[0] for p in parts), max(p[1] for p in parts))
    return ranges


def _mean(
    value: NDArray[np.float64], weight: NDArray[np.float64], leaves: tuple[int, int]
) -> NDArray[np.float64]:
    begin, end = leaves
    share = weight[begin:end] / max(float(weight[begin:end].sum()), np.finfo(float).tiny)
    return np.asarray(share @ value[begin:end])


def _next_node(arrays: Any, node: int, value: float) -> int:
    begin, end = arrays["category_indptr"][node : node + 2].tolist()
    yes = bool(arrays["missing_yes"][node])
    if end > begin:
        if 0 <= value < end - begin:
            yes = bool(arrays["category_yes"][begin + int(value)])
    elif not np.isnan(value):
        yes = value > arrays["threshold"][node]
    return int(arrays["yes" if yes else "no"][node])
