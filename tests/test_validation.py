"""Input validation: error messages name the argument, the value and the remedy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from ramify import Hierarchy
from ramify._messages import import_extra
from ramify._validation import check_label_matrix, check_same_length, check_sample_weight

TREE = Hierarchy.from_paths(["bird", "mammal/cat", "mammal/dog"])


@pytest.mark.parametrize(
    ("edges", "options", "message"),
    [
        ([("a", "b"), ("b", "c"), ("c", "a")], {}, "cycle: 'a' → 'b' → 'c' → 'a'.*Remove one"),
        ([("x", "a"), ("a", "b"), ("b", "a")], {}, "cycle: 'a' → 'b' → 'a'"),
        ([("a", "b"), ("a", "a")], {}, "edge 1 makes 'a' its own parent"),
        ([("a", "b"), ("a", "b")], {}, r"edges must be distinct, got \('a', 'b'\) more than once"),
        (
            [("a", "c"), ("b", "c")],
            {"tree": True},
            "'c' has 2: 'a', 'b'.*tree=False",
        ),
        ([("a", "r")], {"root": "r"}, "edge 0 makes 'r' a child of 'a'"),
        ([], {}, "the hierarchy is empty"),
        (["ab"], {}, r"edge 0 must be a pair \(parent, child\), got 'ab'.*from_paths"),
        ([("a", "b", "c")], {}, r"must be a pair \(parent, child\)"),
        ([("a", None)], {}, "a label of edge 0 must not be missing, got None. Drop it"),
        ([("a", float("nan"))], {}, "a label of edge 0 must not be missing, got nan"),
        ([("a", "")], {}, "a label of edge 0 must not be an empty string"),
    ],
)
def test_bad_edges(edges, options, message):
    with pytest.raises(ValueError, match=message):
        Hierarchy.from_edges(edges, **options)


def test_edges_of_wrong_type():
    with pytest.raises(
        TypeError, match=r"edge 0 must be of type str or int, got 1.5 of type float"
    ):
        Hierarchy.from_edges([("a", 1.5)])


@pytest.mark.parametrize(
    ("paths", "message"),
    [
        (["a//b"], "path 'a//b' has an empty segment"),
        (["/a"], "path '/a' has an empty segment"),
        (["a/"], "path 'a/' has an empty segment"),
        ([""], "path '' has an empty segment"),
        ([()], r"path \(\) has an empty segment"),
        ([("a/b", "c")], "has the separator '/' in the name 'a/b'"),
        ([], "the hierarchy is empty"),
    ],
)
def test_bad_paths(paths, message):
    with pytest.raises(ValueError, match=message):
        Hierarchy.from_paths(paths)


def test_paths_of_wrong_type():
    with pytest.raises(TypeError, match=r"paths must be a list of paths, got the string 'a/b'"):
        Hierarchy.from_paths("a/b")
    with pytest.raises(TypeError, match="a string or a sequence of strings, got 3"):
        Hierarchy.from_paths([3])
    with pytest.raises(ValueError, match="separator must be a non-empty string, got ''"):
        Hierarchy.from_paths(["a"], separator="")


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a", "b", "a"], "labels must be distinct, got 'a' more than once"),
        ([], "labels is empty"),
        (["a", None], r"labels\[1\] must not be missing, got None"),
        ([1.0, np.nan], r"labels\[1\] must not be missing, got nan"),
        (["a", ""], r"labels\[1\] must not be an empty string"),
    ],
)
def test_bad_flat_labels(labels, message):
    with pytest.raises(ValueError, match=message):
        Hierarchy.from_labels(labels)


def test_flat_labels_of_wrong_type():
    with pytest.raises(TypeError, match="labels must be a list of labels, got the string 'abc'"):
        Hierarchy.from_labels("abc")
    with pytest.raises(TypeError, match=r"labels\[0\] must be .*, got \('a',\) of type tuple"):
        Hierarchy.from_labels([("a",)])


def test_labels_in_wrong_order():
    with pytest.raises(ValueError, match="come before the child"):
        Hierarchy(["a", "b"], (np.array([0, 1, 1]), np.array([1])))
    with pytest.raises(ValueError, match="labels must be distinct"):
        Hierarchy(["a", "a"], (np.zeros(3), np.zeros(0)))
    with pytest.raises(ValueError, match="unknown label 'z'"):
        Hierarchy(["a"], (np.zeros(2), np.zeros(0)), aliases={"y": "z"})


def test_unknown_labels_are_named_with_a_suggestion():
    with pytest.raises(ValueError, match=r"unknown label 'mammal/cta': .*mean 'mammal/cat'"):
        TREE.encode([["bird"], ["mammal/cta"]])
    with pytest.raises(ValueError, match="unknown labels 0, 1, 2, 3, 4 and 2 more"):
        TREE.encode([range(7)])
    with pytest.raises(ValueError, match=r"unknown label 'brid'.*mean 'bird'"):
        TREE.index("brid")
    with pytest.raises(ValueError, match="unknown label 'fish'"):
        TREE.subset(["bird", "fish"])
    with pytest.raises(ValueError, match="unknown label 'fish'"):
        TREE.parents("fish")


def test_bad_label_sets():
    with pytest.raises(ValueError, match="a label of row 1 must not be missing, got nan"):
        TREE.encode([["bird"], ["bird", np.nan]])
    with pytest.raises(ValueError, match="a label of row 0 must not be missing, got None"):
        TREE.encode([None])
    with pytest.raises(
        TypeError, match=r"a label of row 0 must be .*, got \['bird'\] of type list"
    ):
        TREE.encode([[["bird"]]])
    with pytest.raises(
        TypeError, match="label_sets must be a list of label sets, got the string 'bird'"
    ):
        TREE.encode("bird")


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        (np.zeros((2, 3)), "Y has 3 columns, but the hierarchy has 4 labels"),
        (sparse.csr_array((2, 5)), "Y has 5 columns, but the hierarchy has 4 labels"),
        (
            [[0, 0, 1, 0], [0, 0, 0, 0.5]],
            r"Y must contain only 0 and 1, got 0.5 at row 1, column 3 \(label 'mammal/dog'\)",
        ),
        (np.full((1, 4), np.nan), "Y must contain only 0 and 1, got nan at row 0, column 0"),
        (sparse.coo_array([[0, 0, -1, 0]]), "got -1 at row 0, column 2"),
        ([[1, 0], [1]], "Y must have one column per label, got rows of different lengths"),
        ([0, 1, 0, 0], r"Y must be a 2-D label matrix .*, got 1 dimension\(s\)"),
        ([["bird", "", "", ""]], "Y must .*, got values of type .*Use hierarchy.encode"),
    ],
)
def test_bad_label_matrices(Y, message):
    with pytest.raises(ValueError, match=message):
        TREE.close(Y)


def test_duplicate_entries():
    twice = sparse.csr_array((np.ones(2), [0, 0], [0, 2]), shape=(1, 4))
    with pytest.raises(ValueError, match="Y must not contain duplicate entries"):
        TREE.close(twice)
    assert twice.nnz == 2


def test_label_matrix_is_cleaned_without_touching_the_input():
    messy = sparse.csr_array((np.array([1, 0, 1.0]), [3, 1, 0], [0, 3]), shape=(1, 4))
    clean = check_label_matrix(messy, 4)
    assert clean.dtype == np.int32
    assert clean.indices.tolist() == [0, 3]
    assert messy.indices.tolist() == [3, 1, 0]
    for kind in (np.asarray, sparse.csc_array, sparse.coo_matrix, sparse.lil_matrix):
        assert check_label_matrix(kind([[True, False]]), 2).indices.tolist() == [0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"w0": 0}, "w0 must be a positive number, got 0"),
        ({"w0": np.inf}, "w0 must be a positive number, got inf"),
        ({"w0": "a"}, "w0 must be a positive number, got 'a'"),
        ({"combine": "mean"}, r"combine must be one of \['avg', 'sum', .*got 'mean'"),
    ],
)
def test_bad_weights_options(options, message):
    with pytest.raises(ValueError, match=message):
        TREE.weights(**options)


def test_missing_extra_names_the_command():
    with pytest.raises(ImportError, match=r"no_such_module is required.*install 'ramify\[obo\]'"):
        import_extra("no_such_module", "obo")


def test_sample_weight():
    assert check_sample_weight(None, 2).tolist() == [1, 1]
    assert check_sample_weight(2, 2).tolist() == [2, 2]
    assert check_sample_weight([0, 3], 2).tolist() == [0, 3]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 2, 3], r"sample_weight must have shape \(2,\), got \(3,\). Pass one weight per row"),
        ([[1], [2]], r"sample_weight must have shape \(2,\), got \(2, 1\)"),
        ([1, np.nan], r"sample_weight\[1\] must be finite .*, got nan"),
        ([np.inf, 1], r"sample_weight\[0\] must be finite .*, got inf"),
        ([1, -0.5], r"sample_weight\[1\] must be finite and non-negative, got -0.5"),
        ([0, 0], "sample_weight is zero for every row"),
        (["a", "b"], "sample_weight must be numeric, got a list"),
    ],
)
def test_bad_sample_weight(weights, message):
    with pytest.raises(ValueError, match=message):
        check_sample_weight(weights, 2)


def test_rows_of_x_and_y():
    check_same_length(2, 2)
    with pytest.raises(ValueError, match=r"X has 3 rows, but y has 2. Pass one label set per row"):
        check_same_length(3, 2)


def test_numpy_names_become_plain_strings():
    hierarchy = Hierarchy.from_labels(np.array(["b", "a"]))
    assert hierarchy.labels == ("b", "a")
    assert {type(label) for label in hierarchy.labels} == {str}
