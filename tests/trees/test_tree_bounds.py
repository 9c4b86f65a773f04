"""A tree refuses matrices with fewer columns than its features and labels, at every call."""

from __future__ import annotations

import numpy as np
import pytest

from ramify import PCTClassifier, _core
from ramify.data.rows import as_rows

X = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 2.0], [0.0, 0.0, 3.0], [0.0, 0.0, 4.0]])
Y = np.array([[1, 0], [1, 0], [0, 1], [0, 1]])


@pytest.fixture
def tree() -> _core.Tree:
    return PCTClassifier().fit(X, Y).tree_


@pytest.mark.parametrize("used_before", [False, True])
def test_matrices_with_too_few_columns_are_refused(tree: _core.Tree, used_before: bool) -> None:
    if used_before:
        tree.predict(as_rows(X), np.zeros((4, 2)), 1.0, False)
    narrow = as_rows(X[:, :2])
    for _ in range(2):
        with pytest.raises(ValueError, match="X has fewer columns than the tree tests"):
            tree.predict(narrow, np.zeros((4, 2)), 1.0, False)
        with pytest.raises(ValueError, match="X has fewer columns than the tree tests"):
            _core.vote([tree], narrow, np.zeros((4, 2)), False, 1, None)
        with pytest.raises(ValueError, match="out has fewer columns than labels"):
            tree.predict(as_rows(X), np.zeros((4, 1)), 1.0, False)
        with pytest.raises(ValueError, match="X has fewer columns than the tree tests"):
            tree.apply(narrow)
    tree.predict(as_rows(X), np.zeros((4, 5)), 1.0, False)


def test_a_part_of_a_tree_has_its_own_bounds() -> None:
    rows = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]] * 3)
    labels = np.array([[1, 0], [1, 1], [0, 0], [0, 1]] * 3)
    model = PCTClassifier(
        pruning="reduced_error", pruning_measure=lambda truth, scores: float(scores.std())
    )
    model.fit(rows, labels, X_val=rows, y_val=labels)
    needed = int(model.tree_.feature.max()) + 1
    out = np.zeros((12, 2))
    model.tree_.predict(as_rows(rows[:, : max(1, needed)]), out, 1.0, False)
    assert out.any()
