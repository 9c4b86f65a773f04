"""Hierarchies: construction, order, structure, closure and weights."""

from __future__ import annotations

import copy
import pickle
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify import Hierarchy
from tests.support.label_graphs import DIAMOND, build, label_graphs, naive_ancestors


def test_paths_bring_all_their_prefixes():
    hierarchy = Hierarchy.from_paths(["b/x/y", "a", "b/w"])
    assert hierarchy.labels == ("a", "b", "b/w", "b/x", "b/x/y")
    assert hierarchy.is_tree
    assert hierarchy.parents("b/x/y") == ("b/x",)
    assert hierarchy.leaves == ("a", "b/w", "b/x/y")
    assert hierarchy.levels == (("a", "b"), ("b/w", "b/x"), ("b/x/y",))
    assert hierarchy.depth == 3


def test_siblings_of_digits_are_sorted_by_value():
    assert Hierarchy.from_paths(["10", "9", "09", "a"]).labels == ("09", "9", "10", "a")
    assert Hierarchy.from_paths(["1/10", "1/9"]).labels == ("1", "1/9", "1/10")
    long = "1" + "0" * 5000  # more digits than int() accepts
    nine = "\N{ARABIC-INDIC DIGIT NINE}"
    assert Hierarchy.from_paths([long, nine, "08"]).labels == ("08", nine, long)


@given(st.permutations(["9", "10", "1a", "z", "2"]))
def test_sibling_order_does_not_depend_on_input_order(names):
    reference = Hierarchy.from_paths(["9", "10", "1a", "z", "2"])
    assert Hierarchy.from_paths(names) == reference


def test_dag_label_comes_after_its_last_parent():
    hierarchy = Hierarchy.from_edges(DIAMOND)
    assert hierarchy.labels == ("a", "b", "c", "d", "e")
    assert not hierarchy.is_tree
    assert hierarchy.parents("d") == ("b", "c")
    assert hierarchy.ancestors("e") == ("a", "b", "c", "d")
    assert hierarchy.descendants("b") == ("d", "e")


def test_level_of_a_dag_label_is_its_longest_path():
    hierarchy = Hierarchy.from_edges([*DIAMOND, ("a", "e")])
    assert hierarchy.levels == (("a",), ("b", "c"), ("d",), ("e",))


def test_root_is_no_label():
    hierarchy = Hierarchy.from_edges([("root", "a"), ("root", "b"), ("b", "c")], root="root")
    assert hierarchy.labels == ("a", "b", "c")
    assert hierarchy.parents("a") == ()


def test_a_tree_may_be_required():
    edges = [("a", "b"), ("a", "c"), ("c", "d")]
    assert Hierarchy.from_edges(edges, tree=True) == Hierarchy.from_edges(edges)


def test_flat_labels_keep_their_order_and_type():
    hierarchy = Hierarchy.from_labels([3, 1, 2])
    assert hierarchy.labels == (3, 1, 2)
    assert hierarchy.depth == 1
    assert hierarchy.encode([[1], [np.int64(3)]]).toarray().tolist() == [[0, 1, 0], [1, 0, 0]]


@given(label_graphs())
def test_order_is_topological_and_structure_matches_a_naive_twin(parents):
    hierarchy = build(parents)
    assert set(hierarchy.labels) == set(parents)
    for label, above in parents.items():
        assert set(hierarchy.parents(label)) == set(above)
        assert all(hierarchy.index(p) < hierarchy.index(label) for p in above)
        assert set(hierarchy.ancestors(label)) == naive_ancestors(parents, label)
        below = {other for other in parents if label in naive_ancestors(parents, other)}
        assert set(hierarchy.descendants(label)) == below
        assert set(hierarchy.children(label)) == {x for x in parents if label in parents[x]}


@given(label_graphs(), st.data())
def test_encode_and_decode_match_naive_twins(parents, data):
    hierarchy = build(parents)
    rows = data.draw(st.lists(st.sets(st.sampled_from(hierarchy.labels))))
    Y = hierarchy.encode(rows)
    assert Y.dtype == np.int32
    assert Y.has_sorted_indices
    assert Y.shape == (len(rows), hierarchy.n_labels)
    closed = [row | {a for x in row for a in naive_ancestors(parents, x)} for row in rows]
    assert [set(r) for r in hierarchy.decode(Y, most_specific=False)] == closed
    specific = [
        {x for x in row if not any(x in naive_ancestors(parents, o) for o in row)}
        for row in closed
    ]
    assert [set(r) for r in hierarchy.decode(Y)] == specific
    assert (hierarchy.encode(hierarchy.decode(Y)) != Y).nnz == 0
    assert (hierarchy.close(Y.toarray()) != Y).nnz == 0


def test_weights_in_a_tree():
    hierarchy = Hierarchy.from_paths(["a/b/c", "d"])
    for combine in ("avg", "sum", "min", "max"):
        np.testing.assert_allclose(hierarchy.weights(0.5, combine), [0.5, 0.25, 0.125, 0.5])
    np.testing.assert_allclose(hierarchy.weights(), [0.75, 0.75**2, 0.75**3, 0.75])


@pytest.mark.parametrize(
    ("combine", "expected"), [("avg", 0.375), ("sum", 0.75), ("min", 0.25), ("max", 0.5)]
)
def test_weights_in_a_dag(combine, expected):
    hierarchy = Hierarchy.from_edges([("a", "b"), ("b", "d"), ("c", "d")])
    weights = hierarchy.weights(0.5, combine)
    assert weights[hierarchy.index("d")] == pytest.approx(0.5 * expected)


def test_weights_that_overflow_are_refused():
    hierarchy = Hierarchy.from_paths(["a/b", "c"])
    with pytest.raises(ValueError, match=r"w0 must give finite weights, got 1e\+300"):
        hierarchy.weights(1e300)


@given(label_graphs(), st.sampled_from(["avg", "sum", "min", "max"]))
def test_weights_match_their_definition(edges, combine):
    hierarchy = build(edges)
    reduce = {"avg": np.mean, "sum": np.sum, "min": np.min, "max": np.max}[combine]
    weights = dict(zip(hierarchy.labels, hierarchy.weights(0.75, combine), strict=True))
    for label in hierarchy.labels:
        above = [weights[parent] for parent in hierarchy.parents(label)]
        expected = 0.75 * reduce(above) if above else 0.75
        assert weights[label] == pytest.approx(expected, rel=1e-12)


def test_costs_are_shared_among_siblings():
    hierarchy = Hierarchy.from_edges([("a", "b"), ("a", "c"), ("d", "c")])
    costs = dict(zip(hierarchy.labels, hierarchy.costs(), strict=True))
    assert costs == {"a": 0.5, "d": 0.5, "b": 0.25, "c": 0.75}


def test_equality_hash_pickle_copy():
    one = Hierarchy.from_edges(DIAMOND)
    two = Hierarchy.from_edges(DIAMOND[::-1])
    assert one == two
    assert hash(one) == hash(two)
    assert one != Hierarchy.from_edges(DIAMOND[:-1])
    assert pickle.loads(pickle.dumps(one)) == one
    assert copy.deepcopy(one) is one


def test_a_hierarchy_never_changes():
    hierarchy = Hierarchy.from_edges(DIAMOND)
    with pytest.raises(AttributeError, match="a Hierarchy is immutable"):
        hierarchy.labels = ()
    with pytest.raises(ValueError, match="read-only"):
        hierarchy.ancestor_rows[1][0] = 5


@pytest.mark.parametrize("n_labels", [63, 64, 65, 4096, 4097, 9000])
def test_closure_of_large_hierarchies_matches_naive_twins(n_labels):
    rng = np.random.default_rng(n_labels)
    parents = {0: []}
    for child in range(1, n_labels):
        # Parents in the upper half keep the graph shallow and sets of ancestors small.
        parents[child] = sorted(set(rng.integers(0, child // 2 + 1, size=rng.integers(1, 4))))
    above = []
    for child in range(n_labels):
        above.append(set(parents[child]).union(*(above[p] for p in parents[child])))
    indptr = np.cumsum([0, *(len(parents[child]) for child in range(n_labels))])
    indices = np.array([p for child in range(n_labels) for p in parents[child]])
    hierarchy = Hierarchy(range(n_labels), (indptr, indices))
    rows = [rng.integers(0, n_labels, size=size) for size in (0, 1, 3, 40)]
    rows.append(np.array([n_labels - 1, 0, n_labels - 1]))
    Y = hierarchy.encode(rows)
    closed = [set(row).union(*(above[x] for x in row)) for row in rows]
    assert hierarchy.decode(Y, most_specific=False) == [tuple(sorted(row)) for row in closed]
    specific = [row - set().union(*(above[x] for x in row)) for row in closed]
    assert hierarchy.decode(Y) == [tuple(sorted(row)) for row in specific]
    assert hierarchy.ancestors(n_labels - 1) == tuple(sorted(above[-1]))


def test_a_chain_of_100_000_labels_is_closed_without_storing_all_ancestors():
    n_labels = 100_000
    chain = Hierarchy(range(n_labels), (np.r_[0, np.arange(n_labels)], np.arange(n_labels - 1)))
    Y = chain.encode([[], [10, 3], [n_labels - 1]])
    assert np.diff(Y.indptr).tolist() == [0, 11, n_labels]
    assert (chain.close(Y) != Y).nnz == 0
    assert chain.decode(Y) == [(), (10,), (n_labels - 1,)]
    assert chain.depth == len(chain.levels) == n_labels
    assert len(chain.ancestors(n_labels - 1)) == len(chain.descendants(0)) == n_labels - 1
    assert chain.weights(1.0).sum() == n_labels


def test_edges_or_labels_alone_name_the_constructors():
    for wrong in ([("a", "b")], ["a", "b"]):
        with pytest.raises(
            TypeError, match=r"Hierarchy.from_edges for pairs.*from_paths.*from_la"
        ):
            Hierarchy(wrong)


SPECIES = Hierarchy.from_paths(
    ["animal/otter/Lutra lutra", "animal/cat", "toy/cat", "toy/Cat", "animal/wildcat"]
)


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("Lutra lutra", "animal/otter/Lutra lutra"),
        ("lutra LUTRA", "animal/otter/Lutra lutra"),
        ("otter/Lutra lutra", "animal/otter/Lutra lutra"),
        ("Cat", "toy/Cat"),
        ("wildcat", "animal/wildcat"),
        ("animal/cat", "animal/cat"),
        ("animal", "animal"),
    ],
)
def test_a_label_is_found_by_the_end_of_its_path(name: str, label: str) -> None:
    assert SPECIES.find(name) == label


def test_a_name_of_several_labels_lists_them() -> None:
    message = "'cat' is ambiguous: 2 labels end in it, 'animal/cat', 'toy/cat'. Pass more of its"
    with pytest.raises(ValueError, match=re.escape(message)):
        SPECIES.find("cat")


def test_a_name_of_no_label_suggests_a_similar_one() -> None:
    with pytest.raises(ValueError, match=r"unknown label 'oter/Lutra lutra'.* Did you mean"):
        SPECIES.find("oter/Lutra lutra")


def test_aliases_and_numbers_are_found() -> None:
    assert Hierarchy.from_labels([1, 11]).find("11") == 11
    graph = Hierarchy(["a", "b"], ([0, 0, 1], [0]), aliases={"old": "b"})
    assert graph.find("old") == "b"
