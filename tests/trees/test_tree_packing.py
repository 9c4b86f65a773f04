"""Packed trees: exact round trips through pickles, small size, rejection of damaged data."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify import PCTClassifier, PCTForestClassifier
from ramify._core import Tree
from tests.support.budget import budget
from tests.support.engine_trees import PLAIN, plain_arrays


def packed_arrays(tree: Tree) -> dict[str, np.ndarray]:
    cls, (arrays,) = tree.__reduce__()
    assert cls is Tree
    return {name: array.copy() for name, array in arrays.items()}


def assert_same(found: Tree, expected: Tree) -> None:
    for name in PLAIN:
        a, b = getattr(found, name), getattr(expected, name)
        assert (a.dtype, a.tobytes()) == (b.dtype, b.tobytes()), name


def grow(seed: int, share: float, weighted: bool, n_labels: int, **options) -> Tree:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 5))
    X[:, 3] = rng.integers(0, 5, size=60)
    X[rng.random(X.shape) < share] = np.nan
    Y = (rng.random((60, n_labels)) < (0.0005 if n_labels > 100 else 0.3)).astype(int)
    weights = rng.random(60) if weighted else None
    options = {"categorical_features": [3], "random_state": seed, **options}
    return PCTClassifier(**options).fit(X, Y, sample_weight=weights).tree_


@given(
    seed=st.integers(0, 1000),
    missing=st.sampled_from([0.0, 0.2]),
    weighted=st.booleans(),
    n_labels=st.sampled_from([2, 30, 2000]),
    nominal_tests=st.sampled_from(["subset", "nary"]),
    max_depth=st.sampled_from([1, 3, None]),
)
@budget(40)
def test_round_trips_are_exact(*, seed, missing, weighted, n_labels, nominal_tests, max_depth):
    options = {"nominal_tests": nominal_tests, "max_depth": max_depth}
    tree = grow(seed, missing, weighted, n_labels, **options)
    assert "label_gap" in packed_arrays(tree)
    assert_same(pickle.loads(pickle.dumps(tree)), tree)
    assert_same(Tree(plain_arrays(tree)), tree)


def test_round_trips_of_cut_and_merged_trees():
    merged = grow(3, 0.2, False, 8, clus_compat=True)
    assert_same(pickle.loads(pickle.dumps(merged)), merged)
    cut = merged.cut(np.arange(len(merged.feature)) > 3)
    assert len(cut.feature) < len(merged.feature)
    assert_same(pickle.loads(pickle.dumps(cut)), cut)


def test_redundant_arrays_are_not_stored():
    packed = packed_arrays(grow(0, 0.0, False, 30, missing="divide"))
    for name in ("share", "n_branches", "odd_value", "far_gap"):
        assert len(packed[name]) == 0, name
    for name in ("feature", "weight", "n_samples", "n_values", "numerator", "value_number"):
        assert packed[name].itemsize == 1, name
    # A row with a missing value is divided between both branches.
    packed = packed_arrays(grow(0, 0.2, False, 2000, missing="divide"))
    for name in ("share", "odd_value", "far_gap"):
        assert len(packed[name]) > 0, name


def test_the_branch_of_missing_values_takes_a_byte():
    packed = packed_arrays(grow(0, 0.2, False, 30, missing="branch"))
    assert packed["share"].itemsize == 1
    assert len(packed["share"]) == len(packed["gain"])


def test_pickles_are_small():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(400, 10)), (rng.random((400, 100)) < 0.1).astype(int)
    forest = PCTForestClassifier(n_estimators=5, min_samples_leaf=5, random_state=0).fit(X, Y)
    before = sum(getattr(tree, name).nbytes for tree in forest.trees_ for name in PLAIN)
    assert len(pickle.dumps(forest.trees_)) < before / 4


@pytest.mark.parametrize("name", ["threshold", "gain", "value_label", "child"])
def test_trees_that_cannot_be_packed_exactly_are_stored_unpacked(name):
    arrays = plain_arrays(grow(0, 0.0, False, 30, nominal_tests="nary"))
    if name == "value_label":
        arrays[name][:2] = arrays[name][1::-1]  # the labels of the first leaf in decreasing order
    elif name == "child":
        first = arrays["child_indptr"][0]
        arrays[name][first : first + 2] = arrays[name][first : first + 2][::-1]
    else:
        arrays[name][np.flatnonzero(arrays["feature"] < 0)[0]] = -0.0
    tree = Tree(arrays)
    assert "label_gap" not in packed_arrays(tree)
    assert_same(pickle.loads(pickle.dumps(tree)), tree)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("feature", -1), ("feature", 0), ("n_values", 1), ("n_values", -1), ("n_values", 99)),
        *(("n_branches", 0), ("n_branches", -1), ("n_branches", 2**40), ("n_branches", 99)),
        *(("n_categories", -1), ("n_categories", 2**40), ("category_branch", 99)),
        *(("label_gap", 255), ("far_gap", -1), ("far_gap", 2**31 - 1), ("far_gap", 2**62)),
        *(("n_distinct", 0), ("n_distinct", -1), ("n_distinct", 99), ("value_number", 99)),
        *(("numerator", 0), ("category_branch", 2**40), ("feature", 2**40)),
    ],
)
def test_damaged_arrays_are_rejected(name, value):
    arrays = packed_arrays(grow(1, 0.2, False, 2000, nominal_tests="nary", max_depth=4))
    damaged = arrays[name].astype(np.int64)
    changed = np.flatnonzero(damaged != value)
    if name == "feature":
        is_leaf = damaged < 0
        changed = np.flatnonzero(is_leaf != (value < 0)) if value < 9 else changed
    if name in ("n_values", "numerator"):
        changed = np.flatnonzero(damaged > 0)
    damaged[changed[0]] = value
    with pytest.raises(ValueError, match="damaged tree"):
        Tree({**arrays, name: damaged})


def test_arrays_of_wrong_length_or_type_are_rejected():
    arrays = packed_arrays(grow(1, 0.2, False, 2000, nominal_tests="nary", missing="divide"))
    for name, array in arrays.items():
        with pytest.raises(ValueError, match="damaged tree"):
            Tree({**arrays, name: array[:-1]})
        with pytest.raises(ValueError, match="damaged tree"):
            Tree({**arrays, name: np.append(array, array[-1:])})
        with pytest.raises(ValueError, match="damaged tree: numbers of another type"):
            Tree({**arrays, name: array.astype(np.complex128)})
        with pytest.raises(KeyError):
            Tree({key: value for key, value in arrays.items() if key not in (name, "label_gap")})
