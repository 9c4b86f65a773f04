"""The feature ranking RForest: how much worse trees predict when a feature is mixed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify.apps.clus.data import Rows
from ramify.apps.clus.trees import tests_in_order
from ramify.data.rows import by_columns
from ramify.trees.clus import JavaRandom
from ramify.trees.views import change_tree

Vector = NDArray[np.float64]
Measure = Callable[[Any, Vector], Vector]
"""Returns measures of predictions, all targets first; higher is better."""


def permutation_importance(
    target: Any, measure: Measure, tree: _core.Tree, rows: Rows, seed: int
) -> NDArray[np.float64]:
    """Return the relative loss of each measure by each feature for the out-of-bag rows of a tree.

    As in CLUS, the features of the tree are mixed one after the other, in the order of its tests,
    and stay mixed: later features also show the loss by earlier ones.
    """
    n_features = rows.X.shape[1]
    order = list(dict.fromkeys(int(tree.feature[node]) for node in tests_in_order(tree)))
    used = np.array(order, dtype=np.int64)
    chosen: Any = by_columns(rows.X)[:, used]
    values = np.array(chosen.toarray() if sparse.issparse(rows.X) else chosen)
    place = np.zeros(n_features + 1, dtype=np.int32)
    place[used], place[-1] = np.arange(len(used)), -1
    small = change_tree(tree, feature=np.where(tree.feature < 0, -1, place[tree.feature]))
    truth = target.truth(rows.y)

    def score() -> Vector:
        return measure(truth, target.predict([small], values, is_forest=False))

    before, found = score(), None
    for at, order_of_rows in enumerate(permutations(seed, len(rows), len(used))):
        values[:, at] = values[order_of_rows, at]
        loss = (before - score()) / np.where(before == 0, 1.0, np.abs(before))
        if found is None:
            found = np.zeros((n_features, len(loss)))
        found[used[at]] = loss
    return np.zeros((n_features, len(before))) if found is None else found


def permutations(seed: int, n_rows: int, n_wanted: int) -> Iterator[NDArray[np.int64]]:
    """Yield the permutations of rows that CLUS draws for a tree with a seed.

    Each has a generator of its own, with a seed from the fifth generator of the tree.

    >>> [order.tolist() for order in permutations(-1690734402, 3, 1)]
    [[0, 1, 2]]
    """
    random = JavaRandom(seed)
    seeds = JavaRandom([random.next_int() for _ in range(5)][-1])
    for _ in range(n_wanted):
        own = JavaRandom(seeds.next_int())
        order = list(range(n_rows))
        for at in range(n_rows - 1):
            other = at + own.next_int(n_rows - at)
            order[at], order[other] = order[other], order[at]
        yield np.array(order, dtype=np.int64)
