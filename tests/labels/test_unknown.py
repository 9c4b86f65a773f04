"""Labels that are not known: reading, closing, errors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from ramify import (
    BRDTClassifier,
    Hierarchy,
    PartialLabels,
    read_labels,
)
from ramify.labels.unknown import close_unknown
from tests.reference import unknown as reference
from tests.support.budget import budget
from tests.support.label_graphs import build, label_graphs

ANIMALS = Hierarchy.from_paths(["bird/hawk", "bird/owl", "mammal/cat"])
NAN = np.nan


def read(y, hierarchy=ANIMALS, **options) -> np.ndarray:
    return PartialLabels(y, hierarchy, **options).to_array()


@budget(100)
@given(
    parents=label_graphs(), seed=st.integers(0, 2**32 - 1), rate=st.sampled_from([0.1, 0.5, 0.9])
)
def test_closing_equals_the_reference(parents: dict, seed: int, rate: float) -> None:
    hierarchy = build(parents)
    rng = np.random.default_rng(seed)
    y = (rng.random((6, hierarchy.n_labels)) < 0.4).astype(float)
    Y = hierarchy.close(y.astype(int))
    hidden = rng.random(y.shape) < rate
    y = np.where(hidden, NAN, Y.toarray())
    expected = reference.closed(hierarchy, y)
    np.testing.assert_array_equal(read(y, hierarchy), expected)
    unknown = close_unknown(hierarchy, hierarchy.close((y == 1).astype(int)), np.isnan(y))
    found = np.zeros(y.shape, bool) if unknown is None else unknown.mask()
    np.testing.assert_array_equal(found, np.isnan(expected))


def test_all_ways_to_mark_unknown_entries() -> None:
    y = np.array([[1, NAN, NAN, 0, 0], [0, 0, 0, 1, NAN], [NAN] * 5])
    expected = read(y)
    assert np.isnan(expected).sum() == 8
    as_objects = np.where(np.isnan(y), None, y)
    frame = pd.DataFrame(y, columns=ANIMALS.labels)
    for other in (
        np.where(np.isnan(y), -1, y).astype(int),
        as_objects,
        as_objects.tolist(),
        sparse.csr_array(y),
        sparse.csr_matrix(np.where(np.isnan(y), -1, y)),
        frame,
        frame.astype("Int64"),
        frame[list(ANIMALS.labels)[::-1]],
    ):
        np.testing.assert_array_equal(read(other), expected)


def test_columns_of_leaves_leave_the_labels_above_unknown() -> None:
    frame = pd.DataFrame({"bird/hawk": [0, NAN], "bird/owl": [0, 0], "mammal/cat": [NAN, 1]})
    expected = [[0, 0, 0, NAN, NAN], [NAN, NAN, 0, 1, 1]]
    np.testing.assert_array_equal(read(frame), expected)


def test_rows_without_labels() -> None:
    expected = [[1, 1, 0, 0, 0], [NAN] * 5]
    for y in (
        ["bird/hawk", None],
        np.array(["bird/hawk", None], dtype=object),
        pd.Series(["bird/hawk", pd.NA]),
        [["bird/hawk"], None],
    ):
        np.testing.assert_array_equal(read(y), expected)
    np.testing.assert_array_equal(read([0.0, NAN, 1.0], None), [[1, 0], [NAN, NAN], [0, 1]])


def test_unknown_sets_and_ends() -> None:
    y = [["bird"], ["bird/hawk"], []]
    found = read(y, unknown=[["bird/owl"], None, {"bird"}])
    np.testing.assert_array_equal(
        found, [[1, 0, NAN, 0, 0], [1, 1, 0, 0, 0], [NAN, NAN, NAN, 0, 0]]
    )
    found = read(y, ends="unknown_below")
    np.testing.assert_array_equal(found, [[1, NAN, NAN, 0, 0], [1, 1, 0, 0, 0], [NAN] * 5])


def test_labels_that_rows_are_known_not_to_have() -> None:
    y = ["bird", None, "mammal/cat"]
    found = read(y, ends="unknown_below", negative=[["bird/owl"], {"bird"}, None])
    np.testing.assert_array_equal(found, [[1, NAN, 0, 0, 0], [0, 0, 0, NAN, NAN], [0, 0, 0, 1, 1]])
    np.testing.assert_array_equal(read(["bird"], negative=[["bird/owl"]]), [[1, 0, 0, 0, 0]])


def test_patterns_are_shared() -> None:
    y = PartialLabels(["bird", "mammal"] * 500, ANIMALS, ends="unknown_below")
    assert y.unknown.patterns.shape == (3, 5)
    assert y[::2].unknown.patterns.shape == (1, 5)
    assert PartialLabels(["bird/hawk"], ANIMALS).unknown is None
    assert repr(y) == "PartialLabels(1000 rows, 5 labels, 30.0% unknown)"


def test_what_is_known_is_read_as_before() -> None:
    for y in (["bird/hawk", "mammal"], [["bird"], []], np.eye(5, dtype=int)):
        one, other = read_labels(y, ANIMALS), read_labels(y, ANIMALS, allow_unknown=True)
        assert other.unknown is None
        assert one.format == other.format
        np.testing.assert_array_equal(one.Y.toarray(), other.Y.toarray())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"unknown": [["bird"]]}, r"got 'bird' in row 0\. Leave it out"),
        ({"unknown": []}, "unknown must have one collection of labels per row of y, 1, got 0"),
        ({"unknown": ["bird/owl"]}, "a collection of labels in every row, got 'bird/owl'"),
        ({"ends": "open"}, "ends must be"),
        ({"negative": [["bird"]]}, "negative must not contain labels that y has, got 'bird'"),
    ],
)
def test_errors(arguments: dict, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        PartialLabels(["bird/hawk"], ANIMALS, **arguments)


def test_what_cannot_use_unknown_labels_says_so() -> None:
    y = PartialLabels(["bird", "mammal/cat"], ANIMALS, ends="unknown_below")
    X = [[0.0], [1.0]]
    with pytest.raises(ValueError, match="BRDTClassifier requires all labels"):
        BRDTClassifier(hierarchy=ANIMALS).fit(X, y)
    with pytest.raises(ValueError, match=r"got label 'bird/hawk' of row 0"):
        read_labels(y, ANIMALS)
    with pytest.raises(ValueError, match="y must have the labels of hierarchy"):
        BRDTClassifier(hierarchy=Hierarchy.from_labels(["a"])).fit(X, y)
