"""Boosted trees in model files: each array of all trees, one after the other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify import _core
from ramify._schema import Array, Sizes, Whole
from ramify.saving.container import DamageError
from ramify.saving.values import Decoder, Encoder, Kind

# The arrays of a tree that are saved as they are, with one element per node.
_OF_NODES = {
    "feature": "i4",
    "threshold": "f8",
    "missing_yes": "u1",
    "yes": "i4",
    "no": "i4",
    "gain": "f8",
    "weight": "f8",
}
_MAX_SIZE = 2**48  # far above any real size, and within the integers of the core


def join_arrays(trees: _core.BoostedTrees) -> dict[str, NDArray[Any]]:
    """Return each array of all trees, one tree after the other, and the numbers of their nodes."""
    parts: list[Any] = [trees.arrays(number) for number in range(len(trees))]

    def join(kind: str, arrays: Iterable[NDArray[Any]]) -> NDArray[Any]:
        return np.concatenate([np.zeros(0, dtype=kind), *arrays])

    return {
        **{name: join(kind, (p[name] for p in parts)) for name, kind in _OF_NODES.items()},
        "n_categories": join("i8", (np.diff(part["category_indptr"]) for part in parts)),
        "category_yes": join("u1", (part["category_yes"] for part in parts)),
        "value": join("f4", (part["value"] for part in parts)),
        "n_nodes": np.array([len(part["feature"]) for part in parts], dtype=np.int64),
    }


def _encode(encoder: Encoder, value: Any, where: str) -> dict[str, Any]:
    joined = join_arrays(value)
    n_nodes = joined.pop("n_nodes")
    return {
        "n_outputs": value.n_outputs,
        "n_features": value.n_features,
        "n_nodes": encoder.value(n_nodes, where),
        "arrays": {name: encoder.value(array, where) for name, array in joined.items()},
    }


def _decode(decoder: Decoder, entry: dict[str, Any]) -> Any:
    n_outputs, n_features = entry["n_outputs"], entry["n_features"]
    sizes, where = Sizes(), "boosted trees"
    for size in (n_outputs, n_features):
        Whole(1, _MAX_SIZE).check(size, where, sizes)
    n_nodes = decoder.value(entry["n_nodes"])
    arrays = {name: decoder.value(node) for name, node in entry["arrays"].items()}
    lacking = {*_OF_NODES, "n_categories", "category_yes", "value"} - set(arrays)
    if lacking:
        raise DamageError(f"boosted trees lack the array {min(lacking)!r}")
    for name, kind in (_OF_NODES | {"n_categories": "i8"}).items():
        Array(("n_nodes",), kind, finite=False).check(arrays[name], f"{where}: {name}", sizes)
    n_categories = arrays["n_categories"]
    Array(("n_trees",), "i8", low=1, high=len(n_categories)).check(n_nodes, where, sizes)
    n_codes = len(arrays["category_yes"])
    Array(("n_nodes",), "i8", low=0, high=n_codes).check(n_categories, where, sizes)
    # Sums of at most as many terms as there are elements of this size, which do not overflow.
    is_leaf = arrays["feature"] < 0
    Array((int(n_categories.sum()),), "u1").check(arrays["category_yes"], where, sizes)
    Array((int(is_leaf.sum()) * n_outputs,), "f4").check(arrays["value"], where, sizes)
    if int(n_nodes.sum()) != len(is_leaf):
        raise DamageError("boosted trees have more or fewer nodes than they declare")
    trees = _core.BoostedTrees(n_outputs, n_features)
    for tree in _split(n_nodes, arrays, n_outputs):
        trees.append(tree)
        _check_parents(tree)
    return trees


def _split(
    n_nodes: NDArray[np.int64], arrays: dict[str, NDArray[Any]], n_outputs: int
) -> list[dict[str, Any]]:
    """Return the arrays of each tree."""
    ends = np.cumsum(n_nodes)[:-1]
    parts = {name: np.split(arrays[name], ends) for name in (*_OF_NODES, "n_categories")}
    n_codes = [int(part.sum()) for part in parts["n_categories"]]
    n_leaves = [int((part < 0).sum()) for part in parts["feature"]]
    codes = np.split(arrays["category_yes"], np.cumsum(n_codes)[:-1])
    values = np.split(arrays["value"], np.cumsum(n_leaves)[:-1] * n_outputs)
    trees = []
    for number in range(len(n_nodes)):
        tree = {name: parts[name][number] for name in _OF_NODES}
        is_leaf = tree["feature"] < 0
        indptr = np.concatenate([[0], np.cumsum(parts["n_categories"][number])])
        tree["category_indptr"] = indptr.astype(np.int64)
        tree["category_yes"] = codes[number]
        tree["leaf"] = np.where(is_leaf, np.cumsum(is_leaf) - 1, -1).astype(np.int32)
        tree["value"] = values[number]
        trees.append(tree)
    return trees


def _check_parents(tree: dict[str, Any]) -> None:
    """Raise an error unless every node but the root has one parent; the core allows more."""
    is_test = tree["feature"] >= 0
    children = np.concatenate([tree["yes"][is_test], tree["no"][is_test]])
    times = np.bincount(children, minlength=len(is_test))
    if times[0] != 0 or (times[1:] != 1).any():
        raise DamageError("a boosted tree has a node with no parent or with two parents")


BOOSTED_TREES = Kind(
    *("boosted trees", lambda x: isinstance(x, _core.BoostedTrees), _encode, _decode),
    {"n_outputs": object, "n_features": object, "n_nodes": object, "arrays": dict},
)
"""The trees of a model of gradient boosting."""
