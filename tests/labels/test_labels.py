"""The one door for labels: every format of y in, the same format out."""

from __future__ import annotations

import json
import os
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning, NotFittedError

from ramify import Hierarchy, HierarchyBinarizer, as_levels, as_sets
from ramify.io import read_arff
from ramify.labels import read_labels
from ramify.labels.encoding import format_from_settings, read_more_labels
from tests.support.budget import budget
from tests.support.label_graphs import PATH, PATHS, build, label_graphs

DATA = os.environ.get("RAMIFY_DATA", "")
TREE = Hierarchy.from_paths(["bird", "mammal/cat", "mammal/dog"])
BARE = Hierarchy.from_edges([("mammal", "cat"), ("mammal", "dog"), ("root", "bird")], root="root")
DAG = Hierarchy.from_edges([("mammal", "dog"), ("pet", "dog")])
CAT_AND_BIRD = [[0, 1, 1, 0], [1, 0, 0, 0]]


def assert_same(written, y):
    """Same type, same values."""
    assert type(written) is type(y)
    if isinstance(y, np.ndarray):
        assert written.dtype.kind == y.dtype.kind
        assert written.tolist() == y.tolist()
    elif sparse.issparse(y):
        assert written.dtype == y.dtype
        assert (written != y).nnz == 0
    else:
        assert written == y
        assert [type(row) for row in written] == [type(row) for row in y]


FORMATS = {
    "dense": np.array(CAT_AND_BIRD),
    "bool": np.array(CAT_AND_BIRD, dtype=bool),
    "float": np.array(CAT_AND_BIRD, dtype=np.float32),
    "csr_array": sparse.csr_array(np.array(CAT_AND_BIRD)),
    "csr_matrix": sparse.csr_matrix(np.array(CAT_AND_BIRD)),
    "lists": [["mammal/cat"], ["bird"]],
    "tuples": [("mammal/cat",), ("bird",)],
    "sets": [{"mammal/cat"}, {"bird"}],
    "frozensets": [frozenset({"mammal/cat"}), frozenset({"bird"})],
    "paths": np.array(["mammal/cat", "bird"]),
    "object paths": np.array(["mammal/cat", "bird"], dtype=object),
    "levels": np.array([["mammal", "cat"], ["bird", ""]]),
    "sets of paths": [[["mammal", "cat"]], [["bird"]]],
    "sets of tuples": [{("mammal", "cat")}, {("bird",)}],
    "array of paths": np.array([[["mammal", "cat"]], [["bird", ""]]]),
    "object levels": np.array([["mammal", "cat"], ["bird", ""]], dtype=object),
}


@pytest.mark.parametrize("name", FORMATS)
def test_what_comes_in_goes_out(name):
    y = FORMATS[name]
    encoded = read_labels(y, TREE)
    assert encoded.hierarchy is TREE
    assert encoded.Y.toarray().tolist() == CAT_AND_BIRD
    one_label = name.endswith("levels") or name in ("paths", "object paths")
    assert encoded.format.single_label == one_label
    assert list(encoded.format.classes) == list(TREE.labels)
    assert_same(encoded.format.write(encoded.Y), y)
    assert_same(encoded.format.write(encoded.Y.toarray()), y)


@pytest.mark.parametrize("name", FORMATS)
def test_formats_survive_pickle_and_json(name):
    encoded = read_labels(FORMATS[name], TREE)
    assert pickle.loads(pickle.dumps(encoded.format)) == encoded.format
    settings = json.loads(json.dumps(encoded.format.settings()))
    assert format_from_settings(TREE, settings) == encoded.format


@pytest.mark.parametrize(
    "y",
    [
        ["mammal/cat", "bird"],
        pd.Series(["mammal/cat", "bird"]),
        pd.Series(["mammal/cat", "bird"], dtype="category"),
        pl.Series(["mammal/cat", "bird"]),
        pd.Series([["mammal/cat"], ["bird"]]),
        pd.Series([{"mammal/cat"}, {"bird"}]),
        pl.Series([["mammal/cat"], ["bird"]]),
        pd.DataFrame([["mammal", "cat"], ["bird", None]]),
        pl.DataFrame({"a": ["mammal", "bird"], "b": ["cat", None]}),
        pd.DataFrame(CAT_AND_BIRD),
        pd.DataFrame(CAT_AND_BIRD, columns=list(TREE.labels)),
        pd.DataFrame(CAT_AND_BIRD, columns=list(TREE.labels)).iloc[:, [2, 0, 3, 1]],
        pd.DataFrame(CAT_AND_BIRD, columns=list(TREE.labels)).iloc[:, [2, 0, 3]],
        pd.DataFrame(CAT_AND_BIRD, columns=list(TREE.labels)).convert_dtypes(),
        pa.table({"mammal": [1, 0], "mammal/cat": [1, 0], "mammal/dog": [0, 0], "bird": [0, 1]}),
        pa.table({"a": ["mammal", "bird"], "b": ["cat", None]}),
        pa.chunked_array([["mammal/cat"], ["bird"]]),
        pa.array(["mammal/cat", "bird"]),
        pl.DataFrame(np.array(CAT_AND_BIRD), schema=list(TREE.labels)),
        CAT_AND_BIRD,
        np.array(CAT_AND_BIRD, dtype=object),
        ["mammal/cat@mammal", "bird"],
    ],
    ids=lambda y: f"{type(y).__module__.split('.')[0]} {type(y).__name__}",
)
def test_columns_frames_and_lists(y):
    encoded = read_labels(y, TREE)
    assert encoded.Y.toarray().tolist() == CAT_AND_BIRD
    written = encoded.format.write(encoded.Y)
    assert isinstance(written, np.ndarray)
    assert (read_labels(written, TREE).Y != encoded.Y).nnz == 0


def test_hierarchy_from_paths_and_levels():
    assert read_labels(["mammal/cat", "mammal/dog", "bird"]).hierarchy == TREE
    assert read_labels([["mammal/cat", "bird"], ["mammal/dog"]]).hierarchy == TREE
    assert read_labels(["mammal/cat@bird", "mammal/dog"]).hierarchy == TREE
    levels = np.array([["mammal", "cat"], ["mammal", "dog"], ["bird", ""]])
    assert read_labels(levels).hierarchy == TREE


@pytest.mark.parametrize(("labels", "kind"), [(("a", "b"), "U"), ((1, 2), "i"), (("a", 1), "O")])
def test_classes_have_the_type_of_the_labels(labels, kind):
    classes = read_labels([[]], Hierarchy.from_labels(labels)).format.classes
    assert classes.dtype.kind == kind
    assert tuple(classes) == labels


def test_flat_hierarchy_of_what_occurs():
    assert read_labels(["b", "a", "b"]).hierarchy == Hierarchy.from_labels(["a", "b"])
    assert read_labels([{10, 9}, set()]).hierarchy == Hierarchy.from_labels([9, 10])
    assert read_labels([["b"], ["a", "c"]]).hierarchy.labels == ("a", "b", "c")
    assert read_labels(np.eye(3)).hierarchy.labels == (0, 1, 2)
    assert read_labels([[0, 1], [1, 1]]).hierarchy.labels == (0, 1)
    assert read_labels([[0], [1]]).Y.toarray().tolist() == [[1, 0], [0, 1]]
    frame = pd.DataFrame(np.eye(2, dtype=int), columns=["spam", "ham"])
    assert read_labels(frame).hierarchy.labels == ("spam", "ham")


@pytest.mark.parametrize(
    "y",
    [
        np.array([3, 1, 3]),
        np.array([3, 1, 3], dtype=np.int8),
        np.array([2.0, 1.0, 2.0]),
        np.array([True, False, True]),
        np.array(["b", "a", "b"]),
        np.array(["b", "a", "b"], dtype=object),
    ],
    ids=lambda y: str(y.dtype),
)
def test_classes_as_in_scikit_learn(y):
    encoded = read_labels(y)
    assert encoded.format.single_label
    assert encoded.format.classes.tolist() == np.unique(y).tolist()
    assert encoded.format.classes.dtype == y.dtype
    assert encoded.Y.toarray().tolist() == [[0, 1], [1, 0], [0, 1]]
    written = encoded.format.write(encoded.Y)
    assert written.dtype == y.dtype
    assert written.tolist() == y.tolist()


def test_numbers_with_a_hierarchy():
    numbers = Hierarchy.from_edges([(1, 1000), (1, 2)])
    encoded = read_labels(np.array([2, 1], dtype=np.uint8), numbers)
    assert encoded.Y.toarray().tolist() == [[1, 1, 0], [1, 0, 0]]
    assert encoded.format.write([[1, 0, 1]]).tolist() == [1000]
    with pytest.raises(ValueError, match=r"unknown label 1: .* Did you mean '1'\?"):
        read_labels([1], Hierarchy.from_labels(["1", "2"]))


def test_column_vector_warns_as_in_scikit_learn():
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        encoded = read_labels(np.array([[2], [5]]))
    assert encoded.format.write(encoded.Y).tolist() == [2, 5]
    one = Hierarchy.from_labels(["spam"])
    assert read_labels(np.array([[0], [1]]), one).Y.toarray().tolist() == [[0], [1]]


@pytest.mark.parametrize(
    "y",
    [
        pd.DataFrame({"target": ["mammal/cat", "bird"]}),
        pl.DataFrame({"target": ["mammal/cat", "bird"]}),
        pa.table({"target": ["mammal/cat", "bird"]}),
        np.array([["mammal/cat"], ["bird"]]),
        np.array([["mammal/cat"], ["bird"]], dtype=object),
        pd.DataFrame({"target": [["mammal/cat"], ["bird"]]}),
    ],
    ids=lambda y: type(y).__module__,
)
@pytest.mark.parametrize("hierarchy", [None, TREE], ids=["inferred", "given"])
def test_one_column_is_read_as_such(y, hierarchy):
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        encoded = read_labels(y, hierarchy)
    assert encoded.hierarchy.decode(encoded.Y) == [("mammal/cat",), ("bird",)]
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        flat = read_labels(pd.DataFrame({"target": ["cat", "bird"]}))
    assert flat.format.write(flat.Y).tolist() == ["cat", "bird"]


def test_columns_named_by_paths_form_a_tree():
    frame = pd.DataFrame([[1, 0], [0, 1]], columns=["mammal/cat", "bird"])
    for y in (frame, pl.from_pandas(frame)):
        encoded = read_labels(y)
        assert encoded.hierarchy == Hierarchy.from_paths(["bird", "mammal/cat"])
        assert encoded.Y.toarray().tolist() == [[0, 1, 1], [1, 0, 0]]


@given(label_graphs(), st.data())
def test_indicator_columns_may_have_any_order(parents, data):
    hierarchy = build(parents)
    rows = data.draw(st.lists(st.sets(st.sampled_from(hierarchy.labels)), min_size=1))
    Y = hierarchy.encode(rows).toarray()
    order = data.draw(st.permutations(range(hierarchy.n_labels)))
    frame = pd.DataFrame(Y[:, order], columns=[hierarchy.labels[i] for i in order])
    if hierarchy.n_labels > 1:
        assert read_labels(frame, hierarchy).Y.toarray().tolist() == Y.tolist()


# ---- nested lists --------------------------------------------------------------------------

NESTED = [
    ["Animal", "Mammal", "Sheep"],
    ["Animal", "Mammal", "Cow"],
    ["Animal", "Reptile", "Snake"],
    ["Animal", "Reptile", "Lizard"],
]
RAGGED = [["Animal", "Mammal", "Sheep"], ["Animal", "Reptile"], ["Plant"]]
SAME_NAMES = [["food", "other"], ["drink", "other"], ["food", "fruit"]]


STOPS = [["Bird"], ["Bird", "Owl"], ["Fish"], ["Fish", "Cod"]]
CHAIN = [["Animal", "Mammal", "Sheep"], ["Animal", "Mammal"], ["Animal"], ["Plant"]]
SAME_NUMBERS = [[1, 2], [1, 3], [2, 4], [2, 5]]


@pytest.mark.parametrize(
    "y",
    [NESTED, RAGGED, SAME_NAMES, [[1, 11], [1, 12], [2, 21]], STOPS, CHAIN, SAME_NUMBERS],
)
@pytest.mark.parametrize("make", [list, tuple, np.array])
def test_nested_lists_that_look_like_levels_warn_and_name_both_readings(y, make):
    rows = [make(row) for row in y]
    for one in (rows, pd.Series(rows)):
        with pytest.warns(UserWarning, match=r"ramify.as_levels\(y\).* or ramify.as_sets\(y\)"):
            encoded = read_labels(one)
        assert encoded.hierarchy.depth == 1
    levels, sets = read_labels(as_levels(rows)), read_labels(as_sets(rows))
    assert levels.hierarchy == Hierarchy.from_paths([tuple(map(str, row)) for row in rows])
    assert levels.format.single_label
    assert (sets.Y != encoded.Y).nnz == 0


@pytest.mark.parametrize(
    "y",
    [
        [["a", "b"], ["b", "c"], ["a", "c"]],  # names in two columns
        [["a", "b"], ["c", "d"]],  # no parent with two children
        [["a"], ["a", "b"], ["c", "b"], ["c", "d"]],  # a name below two others
        [["a/b", "c"]],
        [["a/b", "c"], ["a/b", "d"], ["e", "f"]],  # paths are no names of levels
        [["a", "b"], ["a", "c"], ["d", "e"], ["f", "g"], ["h", "i"]],  # many first names
        [["a"], ["a", "b"], ["c"]],  # one name that ends or goes on
        [[1, 2], [1, 3], [2, 3], [4, 5]],  # a name below two others
        [["a"], ["b"]],
        [{"Animal", "Mammal"}, {"Animal", "Reptile"}],
        [[1.5, 2.5], [1.5, 3.5]],
    ],
)
def test_label_sets_do_not_warn(y):
    assert not read_labels(y).format.single_label


@pytest.mark.parametrize("in_order", [True, False])
@given(st.integers(0, 2**32 - 1), st.sampled_from([20, 100, 400]), st.integers(40, 80))
@budget(30)
def test_random_label_sets_do_not_warn(in_order, seed, n_labels, n_rows):
    random = np.random.default_rng(seed)
    frequent = 1 / np.arange(1, n_labels + 1)
    rows = []
    for size in 1 + random.poisson(1.5, n_rows):
        labels = random.choice(n_labels, size, replace=False, p=frequent / frequent.sum())
        rows.append(sorted(labels.tolist()) if in_order else labels.tolist())
    assert not read_labels(rows).format.single_label


@pytest.mark.skipif(not DATA, reason="RAMIFY_DATA names no folder of data sets")
@pytest.mark.parametrize(
    ("name", "split"), [("church_FUN", "train"), ("enron_hmc", "test"), ("pheno_GO", "train")]
)
def test_label_sets_of_real_data_do_not_warn(name, split):
    table = read_arff(Path(DATA, name, f"{name}.{split}.arff.gz"))
    rows = [
        [str(label).replace("/", ".") for label in row] for row in table.hierarchy.decode(table.y)
    ]
    assert not read_labels(rows).format.single_label


@pytest.mark.parametrize("padding", ["", None, np.nan])
def test_padded_lists_are_levels(padding):
    y = [["pet", "cat"], ["pet", "dog"], ["plant", padding]]
    encoded = read_labels(y)
    assert encoded.hierarchy.labels == ("pet", "pet/cat", "pet/dog", "plant")
    assert as_sets(y) == [{"pet", "cat"}, {"pet", "dog"}, {"plant"}]
    more = read_labels([*y, ["rock", padding], ["soil", padding]])
    assert more.hierarchy.depth == 2


def test_nested_lists_are_read_as_the_hierarchy_asks():
    levels = read_labels(as_levels(NESTED))
    again = read_labels(NESTED[1:], levels.hierarchy)
    assert (levels.Y[1:] != again.Y).nnz == 0
    names = Hierarchy.from_edges([("Animal", "Mammal"), ("Mammal", "Cow"), ("Mammal", "Sheep")])
    assert names.decode(read_labels(NESTED[:2], names).Y) == [("Sheep",), ("Cow",)]


def test_paths_of_one_row_may_have_different_lengths():
    y = [[["a", "b"], ["c"]], [], [("a",)]]
    encoded = read_labels(y)
    assert encoded.hierarchy.decode(encoded.Y) == [("a/b", "c"), (), ("a",)]
    assert encoded.format.write(encoded.Y) == [[["a", "b"], ["c"]], [], [["a"]]]
    padded = np.array([[["a", "b"], ["c", ""]], [["", ""], ["", ""]], [["a", ""], ["", ""]]])
    from_array = read_labels(padded)
    assert (from_array.Y != encoded.Y).nnz == 0
    assert from_array.format.write(from_array.Y).tolist() == padded.tolist()
    with pytest.raises(ValueError, match="unknown label 'a/x'"):
        read_labels([[["a", "x"]]], encoded.hierarchy)


@given(st.lists(st.lists(PATH, max_size=5), min_size=1, max_size=10))
def test_sets_of_paths_round_trip(rows):
    rows = [[f"top/{path}" for path in row] for row in rows]
    if not any(rows):
        return
    expected = read_labels([set(row) for row in rows])
    encoded = read_labels([[path.split("/") for path in row] for row in rows])
    assert encoded.hierarchy == expected.hierarchy
    assert (encoded.Y != expected.Y).nnz == 0
    again = read_labels(encoded.format.write(encoded.Y), encoded.hierarchy)
    assert (again.Y != encoded.Y).nnz == 0


@pytest.mark.parametrize("reading", [as_levels, as_sets])
def test_readings_refuse_plain_labels(reading):
    with pytest.raises(TypeError, match="list of names in every row, got 'a/b' in row 0"):
        reading(["a/b"])


# ---- labels that other rows lack -----------------------------------------------------------


@given(PATHS, PATHS)
def test_unseen_labels_come_last(known, more):
    hierarchy = Hierarchy.from_paths([f"top/{path}" for path in known])
    more = [f"top/{path}" for path in more]
    encoded = read_more_labels(more, hierarchy)
    assert encoded.hierarchy.labels[: hierarchy.n_labels] == hierarchy.labels
    expected = Hierarchy.from_paths([*hierarchy.labels, *more])
    assert set(encoded.hierarchy.labels) == set(expected.labels)
    assert encoded.format.write(encoded.Y).tolist() == more
    for label in expected.labels:
        assert set(encoded.hierarchy.ancestors(label)) == set(expected.ancestors(label))


def test_numbers_in_place_of_names_are_not_new_labels():
    with pytest.raises(ValueError, match=r"unknown label 1: .* Did you mean '1'\?"):
        read_more_labels([1], Hierarchy.from_labels(["1", "2"]))
    assert read_more_labels([3], Hierarchy.from_labels([1, 2])).hierarchy.labels == (1, 2, 3)


def test_clus_strings():
    encoded = read_labels(["mammal/dog@bird", "", "n", "?", "mammal/cat"], TREE)
    expected = [("bird", "mammal/dog"), (), (), (), ("mammal/cat",)]
    assert TREE.decode(encoded.Y) == expected
    assert not encoded.format.single_label
    written = encoded.format.write(encoded.Y).tolist()
    assert written == ["bird@mammal/dog", "", "", "", "mammal/cat"]
    assert not read_labels(["mammal/dog", "n"]).format.single_label


def test_n_and_question_mark_may_be_labels():
    assert read_labels(["y", "n"]).hierarchy.labels == ("n", "y")
    known = Hierarchy.from_labels(["n", "y"])
    assert read_labels(["y", "n"], known).Y.toarray().tolist() == [[0, 1], [1, 0]]
    at_sign = Hierarchy.from_labels(["a@b", "a"])
    assert read_labels(["a@b"], at_sign).Y.toarray().tolist() == [[1, 0]]


def test_paths_and_levels_of_bare_names():
    encoded = read_labels(["mammal/cat", "bird", "mammal"], BARE)
    assert BARE.decode(encoded.Y) == [("cat",), ("bird",), ("mammal",)]
    assert encoded.format.write(encoded.Y).tolist() == ["cat", "bird", "mammal"]
    levels = np.array([["mammal", "cat"], ["bird", ""], ["mammal", ""]])
    encoded = read_labels(levels, BARE)
    assert encoded.format.write(encoded.Y).tolist() == levels.tolist()
    assert DAG.decode(read_labels(["pet/dog"], DAG).Y) == [("dog",)]
    with pytest.raises(ValueError, match="unknown label 'bird/cat'"):
        read_labels(["bird/cat"], BARE)


def test_levels_are_as_wide_as_the_hierarchy_is_deep():
    deep = Hierarchy.from_paths(["a/b/c"])
    encoded = read_labels(np.array([["a"], ["a"]]), deep)
    assert encoded.format.write([[1, 1, 1]]).tolist() == [["a", "b", "c"]]
    assert encoded.format.write([[1, 0, 0]]).tolist() == [["a", "", ""]]


def test_aliases_are_read():
    aliased = Hierarchy(TREE.labels, TREE.parent_rows, aliases={"feline": "mammal/cat"})
    for y in (["feline"], [["feline"]]):
        assert TREE.decode(read_labels(y, aliased).Y) == [("mammal/cat",)]


@given(label_graphs(), st.data())
def test_label_sets_round_trip(parents, data):
    hierarchy = build(parents)
    kind = data.draw(st.sampled_from([set, frozenset, tuple, list]))
    rows = data.draw(st.lists(st.sets(st.sampled_from(hierarchy.labels)), min_size=1))
    encoded = read_labels([kind(row) for row in rows], hierarchy)
    assert (hierarchy.encode(rows) != encoded.Y).nnz == 0
    written = encoded.format.write(encoded.Y)
    assert all(type(row) is kind for row in written)
    assert (read_labels(written, hierarchy).Y != encoded.Y).nnz == 0
    joined = np.array(["@".join(row) for row in hierarchy.decode(encoded.Y)])
    again = read_labels(joined, hierarchy)
    assert (again.Y != encoded.Y).nnz == 0
    assert again.format.write(again.Y).tolist() == joined.tolist()


@given(PATHS)
def test_one_path_per_row_round_trips(paths):
    paths = [f"top/{path}" for path in paths]
    encoded = read_labels(paths)
    assert encoded.format.write(encoded.Y).tolist() == paths
    width = max(path.count("/") for path in paths) + 1
    levels = [path.split("/") + [""] * (width - 1 - path.count("/")) for path in paths]
    by_level = read_labels(np.array(levels))
    assert by_level.hierarchy == encoded.hierarchy
    assert (by_level.Y != encoded.Y).nnz == 0
    assert by_level.format.write(by_level.Y).tolist() == levels


@pytest.mark.parametrize(
    ("y", "hierarchy", "message"),
    [
        (None, None, "requires y to be passed, but the target y is None"),
        ([], None, "y has no rows"),
        (np.zeros((2, 0)), None, "y has no columns"),
        (np.zeros((2, 2, 2)), None, "2-D array, got 3 dimensions"),
        ([[], []], None, "y contains no labels"),
        (np.array([["", ""]]), None, "y contains no labels"),
        (np.zeros((2, 3)), TREE, "y has 3 columns, but the hierarchy has 4 labels"),
        (sparse.csr_array((2, 3)), TREE, "y has 3 columns, but the hierarchy has 4 labels"),
        (np.array([[0, 1], [2, 0]]), None, "got 2 at row 1, column 0.*names instead of num"),
        (
            np.array([[0, 1, 0, 2]]),
            TREE,
            r"y must .* got 2.* at row 0, column 3 \(label 'mammal/dog'\)",
        ),
        (
            sparse.csr_array([[0, 3]]),
            None,
            "y must contain only 0 and 1, got 3 at row 0, column 1",
        ),
        (["a", None], None, r"y\[1\] is None"),
        (pd.Series(["a", np.nan]), None, r"Input y contains NaN: y\[1\] is nan"),
        (pd.Series([1, None], dtype="Int64"), None, r"Input y contains NaN: y\[1\] is (nan|<NA>)"),
        (np.array([1, np.nan]), None, r"Input y contains NaN: y\[1\] is nan"),
        (np.array([1, np.inf]), None, "Input y contains infinity"),
        (np.array([1.5, 0.3]), None, "Unknown label type: continuous"),
        (["a", ""], None, "y must not contain empty strings, got one in row 1"),
        ([["a", np.nan]], None, "a label of y must not be missing, got nan"),
        (["mammal/cow"], TREE, "unknown label 'mammal/cow'"),
        ([["bird"], ["cow"]], TREE, "unknown label 'cow'"),
        (["a//b", "c"], None, "path 'a//b' has an empty segment"),
        (np.array([["mammal", "cow"]]), TREE, "unknown label 'mammal/cow'.*mean"),
        (np.array([["", "cat"]]), TREE, r"padded only at the end of a path, got .* in row 0"),
        (
            np.array([["mammal", "dog"]]),
            DAG,
            "array of levels if a label may have several parents",
        ),
        (pd.DataFrame(np.eye(4), columns=list("abcd")), TREE, "unknown labels 'a', 'b', 'c'"),
        (
            pd.DataFrame(np.eye(2), columns=["bird", "mammal/cat"]),
            TREE,
            "y has 2 columns, but the hierarchy has 4 labels",
        ),
        (
            pd.DataFrame(np.eye(2), columns=["a/b", "a/b"]),
            None,
            "labels must be distinct, got 'a/b' more than once",
        ),
        (
            pd.DataFrame(np.eye(2), columns=["a", "a"]),
            None,
            "labels must be distinct, got 'a' more than once",
        ),
    ],
)
def test_bad_labels(y, hierarchy, message):
    with pytest.raises(ValueError, match=message):
        read_labels(y, hierarchy)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ("abc", "y must have one entry per row, got str"),
        ({"a", "b"}, "y must have one entry per row, got set"),
        (3, "y must have one entry per row, got int"),
        ((label for label in "ab"), "y must have one entry per row, got generator"),
        (pl.DataFrame({"y": ["a"]}).lazy(), r"got a LazyFrame. Pass y.collect\(\)"),
        ([[["a", "b"]], ["c"]], "y must have paths in every row.*got 'c' in row 1"),
        (["a", 1], "either strings or numbers, got 1 among other values"),
        ([["a"], "b"], "y must have a label set in every row, got 'b' in row 1"),
        ([["a"], None], "a label set in every row, got None in row 1.*empty for no label"),
        (pa.array([["a"], None]), "a label set in every row, got None in row 1"),
        ([[["a", "b"]], "c"], "a label set in every row, got 'c' in row 1"),
        (
            np.array([["a", 1]], dtype=object),
            r"strings if its columns are levels, got 1 in row 0, level 1.*y.astype\(str\)",
        ),
    ],
)
def test_labels_of_wrong_type(y, message):
    with pytest.raises(TypeError, match=message):
        read_labels(y)


def test_hierarchy_of_wrong_type():
    with pytest.raises(TypeError, match=r"Hierarchy or None, got list\. .*Hierarchy.from_paths"):
        read_labels(["a"], ["a"])


def test_one_label_per_row_is_checked_when_writing():
    encoded = read_labels(["mammal/cat"], TREE)
    with pytest.raises(
        ValueError, match=r"one most specific label per row .*, got \['bird', 'mammal.*in row 1"
    ):
        encoded.format.write([[1, 0, 0, 0], [1, 1, 0, 0]])
    with pytest.raises(ValueError, match=r"one most specific label per row .*, got \[\] in row 0"):
        encoded.format.write([[0, 0, 0, 0]])


@pytest.mark.parametrize("name", FORMATS)
def test_binarizer_round_trip(name):
    y = FORMATS[name]
    binarizer = HierarchyBinarizer(TREE)
    Y = binarizer.fit_transform(y)
    assert isinstance(Y, sparse.csr_array)
    assert binarizer.hierarchy_ is TREE
    assert binarizer.classes_.tolist() == list(TREE.labels)
    assert_same(binarizer.inverse_transform(Y), y)
    dense = clone(binarizer).set_params(sparse_output=False).fit(y)
    assert dense.transform(y).tolist() == CAT_AND_BIRD
    assert pickle.loads(pickle.dumps(dense)).transform(y).tolist() == CAT_AND_BIRD


def test_binarizer_learns_the_labels():
    binarizer = HierarchyBinarizer().fit(["a/b", "c"])
    assert binarizer.transform([["a"], ["c"]]).toarray().tolist() == [[1, 0, 0], [0, 0, 1]]
    with pytest.raises(ValueError, match="unknown label 'd'"):
        binarizer.transform(["d"])
    with pytest.raises(NotFittedError):
        HierarchyBinarizer().transform(["a"])


def test_binarizer_names_its_columns():
    y = pd.DataFrame([["mammal", "cat"], ["bird", ""]], index=[7, 8])
    binarizer = HierarchyBinarizer(TREE, sparse_output=False).fit(y)
    assert binarizer.get_feature_names_out().tolist() == list(TREE.labels)
    frame = binarizer.set_output(transform="pandas").transform(y)
    assert list(frame.columns) == list(TREE.labels)
    assert list(frame.index) == [7, 8]
    assert frame.to_numpy().tolist() == CAT_AND_BIRD
    assert HierarchyBinarizer().fit([3, 1]).get_feature_names_out().tolist() == ["1", "3"]


@pytest.mark.parametrize(("name", "mark"), [("n/a", "|"), ("a/b|c", ">"), ("plain", "/")])
def test_names_of_levels_may_contain_a_separator(name, mark):
    y = np.array([["x", name], ["x", "b"], [name, ""]])
    encoded = read_labels(y)
    assert encoded.hierarchy.separator == mark
    assert f"x{mark}{name}" in encoded.hierarchy
    assert encoded.format.write(encoded.Y).tolist() == y.tolist()
    assert (encoded.Y[:2] != read_labels(y[:2], encoded.hierarchy).Y).nnz == 0
