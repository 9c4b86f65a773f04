"""The search for the nearest rows, compared with a direct search."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from ramify import MLkNN
from ramify.local.ml_knn import find_by_present_cells, find_nearest
from tests.reference import transformations as twins
from tests.support.budget import budget

METRICS = ["euclidean", "cosine", "cityblock"]
SCALES = [1.0, 1e-160, 1e140, 0.1]
PRINT_NEIGHBOURS = """
import hashlib, numpy as np
from ramify.local.ml_knn import find_nearest
X = np.random.default_rng(0).integers(0, 3, size=(900, 40)) * np.sqrt(0.5)
for metric in ("euclidean", "cosine"):
    print(hashlib.sha256(find_nearest(X, X, k=10, itself=True, metric=metric)).hexdigest())
"""


@st.composite
def rows_with_ties(draw):
    """Draw rows of a few values: many are equal, or at equal distances from each other."""
    random = np.random.default_rng(draw(st.integers(0, 10_000)))
    shape = draw(st.integers(2, 40)), draw(st.integers(1, 4))
    X = random.integers(0, draw(st.integers(1, 4)), size=shape) * draw(st.sampled_from(SCALES))
    jitter = draw(st.sampled_from([0.0, 1e-15, 1e-9])) * np.abs(X).max()
    offset = draw(st.sampled_from([0.0, 1e6])) * np.abs(X).max()
    return X + jitter * random.integers(0, 2, size=shape) + offset


def expected_neighbors(X, rows, k, metric, itself):
    return [
        sorted(twins.nearest_by(metric, X, row, k, i if itself else None))
        for i, row in enumerate(rows)
    ]


@given(rows_with_ties(), st.integers(1, 9), st.sampled_from(METRICS), st.booleans())
@budget(30)
def test_the_nearest_rows_equal_the_reference(X, k, metric, itself):
    k = min(k, len(X) - 1)
    rows = X if itself else X[::3] * 2.0
    expected = expected_neighbors(X, rows, k, metric, itself)
    dense = find_nearest(rows, X, k=k, metric=metric, itself=itself)
    assert dense.tolist() == expected
    thin = find_nearest(
        sparse.csr_array(rows), sparse.csr_array(X), k=k, metric=metric, itself=itself
    )
    assert thin.tolist() == expected


@pytest.mark.parametrize("metric", METRICS)
def test_more_rows_at_one_distance_than_candidates(metric):
    X = np.vstack([np.ones((1, 300)), np.eye(300), np.eye(300)[::-1]])
    found = find_nearest(X, X, k=5, metric=metric, itself=True)
    for row in (0, 1, 7, 300, 600):
        assert found[row].tolist() == sorted(twins.nearest_by(metric, X, X[row], 5, row))


def test_many_copies_of_rows():
    X = np.repeat([[0.0, 1.0], [0.0, 2.0]], 400, axis=0)
    found = find_nearest(X, X, k=3, itself=True)
    assert found[[0, 1, 2, 3, 399]].tolist() == [[1, 2, 3], [0, 2, 3], [0, 1, 3], *[[0, 1, 2]] * 2]
    assert found[[400, 799]].tolist() == [[401, 402, 403], [400, 401, 402]]


def test_distances_given_by_the_user():
    points = np.random.default_rng(0).integers(0, 4, size=(80, 1)).astype(float)
    distances = np.abs(points - points.T)
    found = find_nearest(distances, distances, k=3, metric="precomputed", itself=True)
    assert found.tolist() == find_nearest(points, points, k=3, itself=True).tolist()
    own = find_nearest(points, points, k=3, metric=lambda a, b: abs(a - b).sum(), itself=True)
    assert own.tolist() == found.tolist()


@given(rows_with_ties(), st.integers(1, 9), st.sampled_from([0.1, 0.5, 0.9]), st.booleans())
@budget(30)
def test_the_nearest_rows_by_present_cells_equal_the_reference(X, k, share, itself):
    random = np.random.default_rng(len(X))
    X = np.where(random.random(X.shape) < share, np.nan, X)
    k = min(k, len(X) - 1)
    rows = X if itself else X[::3] * 2.0
    own = np.arange(len(X)) if itself else None
    found = find_by_present_cells(rows, X, np.arange(X.shape[1]), k=k, itself=own)
    assert found.tolist() == expected_neighbors(X, rows, k, "euclidean", itself)


def test_a_row_has_the_same_neighbours_alone_and_among_others():
    random = np.random.default_rng(5)
    X = random.integers(0, 3, size=(400, 30)) * np.sqrt(0.5)
    model = MLkNN().fit(X, random.integers(0, 2, size=(400, 5)))
    rows = random.integers(0, 3, size=(40, 30)) * np.sqrt(0.5)
    alone = np.vstack([model.predict_proba(row[None]) for row in rows])
    np.testing.assert_array_equal(model.predict_proba(rows), alone)


@pytest.mark.process
def test_the_nearest_rows_do_not_depend_on_the_processor_or_threads():
    printed = set()
    for threads, processor in (("1", "Haswell"), ("2", "Haswell"), ("1", "Prescott")):
        settings = {"OPENBLAS_NUM_THREADS": threads, "OPENBLAS_CORETYPE": processor}
        done = subprocess.run(
            [sys.executable, "-c", PRINT_NEIGHBOURS],
            env={**os.environ, **settings},
            capture_output=True,
            text=True,
            check=True,
        )
        printed.add(done.stdout)
    assert len(printed) == 1
