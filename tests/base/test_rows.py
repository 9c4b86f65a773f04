"""The rows of X, as the core reads them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from ramify import PCTClassifier, _core
from ramify.data.rows import as_rows

DENSE = np.array([[0.0, 2.0], [1.0, 0.0], [3.0, 4.0]])


def sparse_of_duplicates() -> Any:
    rows, columns, cells = [2, 0, 2, 1, 2], [1, 1, 0, 0, 1], [3.0, 2.0, 3.0, 1.0, 1.0]
    return sparse.coo_array((cells, (rows, columns)), shape=(3, 2))


def with_long_indices() -> Any:
    X = sparse.csr_array(DENSE)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


@pytest.mark.parametrize(
    "X",
    [
        DENSE.astype(np.float32),
        np.asfortranarray(DENSE),
        DENSE[::-1][::-1],
        sparse.csr_array(DENSE),
        sparse.csc_matrix(DENSE),
        sparse.csr_array(DENSE.astype(np.int64)),
        sparse_of_duplicates(),
        with_long_indices(),
    ],
)
def test_every_layout_has_the_same_rows(X: Any) -> None:
    tree = PCTClassifier().fit(DENSE, ["a", "b", "c"]).tree_
    np.testing.assert_array_equal(tree.apply(as_rows(X)), tree.apply(as_rows(DENSE)))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"indptr": [0, 1, 2]}, "indptr must start at 0 and end at"),
        ({"indptr": []}, "indptr must start at 0 and end at"),
        ({"indptr": [0, 3, 2, 4]}, "indptr must not decrease"),
        ({"indices": [1, 0, 1, 0]}, "indices must increase within a row"),
        ({"indices": [1, 0, 0, 2]}, "indices must lie within the matrix"),
        ({"data": [1.0]}, "data and indices must have the same length"),
    ],
)
def test_damaged_rows_are_refused(changed: dict[str, list[float]], message: str) -> None:
    arrays = {"indptr": [0, 1, 2, 4], "indices": [1, 0, 0, 1], "data": [2.0, 1.0, 3.0, 4.0]}
    arrays.update(changed)
    with pytest.raises(ValueError, match=message):
        _core.Rows(
            np.array(arrays["indptr"], dtype=np.int64),
            np.array(arrays["indices"], dtype=np.int32),
            np.array(arrays["data"], dtype=np.float64),
            2,
        )


def test_rows_keep_their_arrays_alive() -> None:
    tree = PCTClassifier().fit(DENSE, ["a", "b", "c"]).tree_
    rows = [as_rows(DENSE.copy()) for _ in range(100)]
    assert len({tuple(tree.apply(X)) for X in rows}) == 1
