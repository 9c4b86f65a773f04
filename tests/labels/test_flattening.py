"""One level of a hierarchy as flat labels."""

from __future__ import annotations

import numpy as np
import pytest

from ramify import BinaryRelevance, Hierarchy, PCTClassifier
from ramify.labels import flatten_level, read_labels
from tests.support.local_cases import make_data


@pytest.mark.parametrize("level", [1, 2])
def test_a_level_has_the_columns_of_its_labels(level):
    data = make_data()
    Y, flat = flatten_level(data.y, data.hierarchy, level, keep_unused=True)
    names = data.hierarchy.levels[level - 1]
    assert flat.labels == tuple(names)
    assert flat.depth == 1
    expected = read_labels(data.y, data.hierarchy).Y.toarray()[:, data.hierarchy.indices(names)]
    np.testing.assert_array_equal(Y.toarray(), expected)


def test_labels_that_no_row_has_are_left_out():
    hierarchy = Hierarchy.from_paths(["a/b", "a/c", "d"])
    Y, flat = flatten_level(["a/b", "d"], hierarchy, 2)
    assert flat.labels == ("a/b",)
    assert Y.toarray().tolist() == [[1], [0]]
    assert flatten_level(["a/b", "d"], hierarchy, 2, keep_unused=True).hierarchy.n_labels == 2


def test_classifiers_take_it_as_it_is():
    data = make_data()
    Y, flat = flatten_level(data.y, data.hierarchy, 1)
    model = BinaryRelevance(PCTClassifier(), hierarchy=flat).fit(data.X, Y)
    assert list(model.classes_) == list(flat.labels)


def test_levels_that_are_not_there():
    hierarchy = Hierarchy.from_paths(["a/b"])
    with pytest.raises(ValueError, match="level must be an integer from 1 to 2, got 3"):
        flatten_level(["a"], hierarchy, 3)
    with pytest.raises(ValueError, match="level at which rows have labels, got 2"):
        flatten_level(["a"], hierarchy, 2)
