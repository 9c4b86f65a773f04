"""Other forms of a hierarchy: outline, JSON, pickle, networkx, OBO; and parts of one."""

from __future__ import annotations

import gzip
import json
import pickle

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify import Hierarchy
from tests.support.label_graphs import DIAMOND, PATHS, build, label_graphs, naive_ancestors

OBO = """format-version: 1.2
ontology: toy

[Term]
id: T:1
name: all

[Term]
id: T:2
name: left
alt_id: T:22
is_a: T:1 ! all

[Term]
id: T:3
name: right
is_a: T:1 ! all
relationship: regulates T:2 ! left

[Term]
id: T:4
name: both
is_a: T:2 ! left
relationship: part_of T:2 ! left
relationship: part_of T:3 ! right
relationship: part_of X:9 ! elsewhere

[Term]
id: T:5
name: gone
is_a: T:2 ! left
is_obsolete: true

[Typedef]
id: part_of
name: part of
"""


@given(PATHS)
def test_paths_round_trip(paths):
    hierarchy = Hierarchy.from_paths(paths)
    assert Hierarchy.from_paths(hierarchy.labels) == hierarchy
    assert Hierarchy.from_paths(hierarchy.leaves) == hierarchy
    assert set(paths) <= set(hierarchy.labels)
    assert Hierarchy.from_text(hierarchy.to_text()) == Hierarchy.from_edges(
        [(above, label) for label in hierarchy.labels for above in hierarchy.parents(label)]
        + [("(root)", label) for label in hierarchy.levels[0]],
        root="(root)",
    )


@given(label_graphs())
def test_every_form_round_trips(parents):
    hierarchy = build(parents)
    assert Hierarchy.from_json(hierarchy.to_json()) == hierarchy
    assert pickle.loads(pickle.dumps(hierarchy)) == hierarchy
    assert Hierarchy.from_text(hierarchy.to_text()) == hierarchy
    assert Hierarchy.from_networkx(hierarchy.to_networkx()) == hierarchy
    assert hierarchy.subset(hierarchy.labels) == hierarchy
    assert hash(Hierarchy.from_json(hierarchy.to_json())) == hash(hierarchy)


def test_json_keeps_numbers_aliases_and_separator():
    flat = Hierarchy.from_labels([2, 1])
    assert Hierarchy.from_json(flat.to_json()).labels == (2, 1)
    dotted = Hierarchy.from_paths(["a.b"], separator=".")
    assert Hierarchy.from_json(dotted.to_json()).separator == "."
    aliased = Hierarchy(dotted.labels, dotted.parent_rows, ".", {"old": "a.b"})
    assert Hierarchy.from_json(aliased.to_json()).index("old") == 1
    assert pickle.loads(pickle.dumps(aliased)).index("old") == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hierarchy.json", "text must be valid JSON: .* not a file name"),
        ("[]", "text must have 'format': 'ramify.hierarchy'"),
        (json.dumps({"format": "ramify.hierarchy", "version": 9}), "format version 1, got 9"),
        (json.dumps({"format": "ramify.hierarchy", "version": 1}), r"text is missing \['aliases'"),
    ],
)
def test_json_errors(text, message):
    with pytest.raises(ValueError, match=message):
        Hierarchy.from_json(text)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("labels", "ab", "labels must be a list, got 'ab'"),
        ("parents", [[], [0.5]], r"parents must be lists of positions below 2, .* got \[0.5\]"),
        ("parents", [[], [float("inf")]], "parents must be lists of positions below 2"),
        ("parents", [[], [{}]], "parents must be lists of positions below 2"),
        ("parents", [[], [2**70]], "parents must be lists of positions below 2"),
        ("parents", [[], [-1]], "parents must be lists of positions below 2"),
        ("aliases", [["old"]], r"aliases must be pairs of an alias and a label, got \['old'\]"),
    ],
)
def test_json_with_wrong_values(key, value, message):
    content = json.loads(Hierarchy.from_paths(["a/b"]).to_json())
    with pytest.raises(ValueError, match=message):
        Hierarchy.from_json(json.dumps({**content, key: value}))


def test_json_with_parents_out_of_order():
    text = Hierarchy.from_paths(["a/b"]).to_json().replace("[[], [0]]", "[[1], []]")
    with pytest.raises(ValueError, match="positions of labels that come before the child"):
        Hierarchy.from_json(text)


def test_outline_of_a_dag_shows_a_label_under_each_parent():
    assert Hierarchy.from_edges(DIAMOND).to_text() == "a\n  b\n    d\n      e\n  c\n    d\n"


def test_outline_is_cut_from_below():
    hierarchy = Hierarchy.from_paths([f"{i}/{j}/x" for i in range(3) for j in range(50)])
    text = hierarchy.to_text(max_labels=5)
    assert text.splitlines() == [
        "0", "  0/0", "    … 1 more", "  0/1", "    … 1 more", "  … 96 more",
        "1", "  … 100 more", "2", "  … 100 more",
    ]  # fmt: skip
    assert hierarchy.to_text(max_labels=2).splitlines()[-1] == "… 101 more"
    assert hierarchy.to_text(max_labels=1) == "0\n  … 100 more\n… 202 more\n"
    with pytest.raises(ValueError, match="a complete outline, but line 3 is '… 1 more'"):
        Hierarchy.from_text(text)
    with pytest.raises(ValueError, match="max_labels must be a positive integer or None, got 0"):
        hierarchy.to_text(max_labels=0)


def test_outline_reads_tabs_and_any_width():
    hierarchy = Hierarchy.from_text("a\n\tb\n\t\tc\n\n\td\ne\n     f\n")
    assert hierarchy.levels == (("a", "e"), ("b", "d", "f"), ("c",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\n    b\n  c\n", "line 3, 'c', is indented by 2 spaces, which matches no"),
        ("  a\nb\n", "line 1, 'a', is indented by 2 spaces"),
        ("a\n  b\n  b\n", "line 3 repeats 'b' of line 2"),
        ("a\n  b\n    a\n", "cycle: 'a' → 'b' → 'a'"),
        (" \n", "the hierarchy is empty"),
    ],
)
def test_outline_errors(text, message):
    with pytest.raises(ValueError, match=message):
        Hierarchy.from_text(text)


def test_repr_is_one_line_and_html_is_escaped():
    hierarchy = Hierarchy.from_paths([f"{i}/x" for i in range(400)])
    assert repr(hierarchy) == "Hierarchy(800 labels, tree, 2 levels: '0', '0/x', '1', '1/x', …)"
    assert repr(Hierarchy.from_labels(["a"])) == "Hierarchy(1 label, flat: 'a')"
    assert "DAG, 4 levels" in repr(Hierarchy.from_edges(DIAMOND))
    assert "&lt;b&gt;" in Hierarchy.from_labels(["<b>"])._repr_html_()


def test_networkx_nodes_without_edges_and_parallel_edges():
    graph = networkx.MultiDiGraph([("a", "b"), ("a", "b")])
    graph.add_node("c")
    assert Hierarchy.from_networkx(graph).labels == ("a", "b", "c")
    assert Hierarchy.from_networkx(graph, root="a").labels == ("b", "c")
    with pytest.raises(ValueError, match="graph must be directed, got Graph"):
        Hierarchy.from_networkx(networkx.Graph([("a", "b")]))
    with pytest.raises(ValueError, match="root must be one of the labels, got 'z'"):
        Hierarchy.from_networkx(graph, root="z")


@pytest.mark.parametrize("packed", [False, True])
def test_obo(tmp_path, packed):
    path = tmp_path / ("toy.obo.gz" if packed else "toy.obo")
    path.write_bytes(gzip.compress(OBO.encode()) if packed else OBO.encode())
    hierarchy = Hierarchy.from_obo(path)
    assert hierarchy.labels == ("T:1", "T:2", "T:3", "T:4")
    assert hierarchy.parents("T:4") == ("T:2", "T:3")
    assert hierarchy.encode([["T:22"]]).toarray().tolist() == [[1, 1, 0, 0]]
    assert hierarchy.subset(["T:2"]).index("T:22") == 0
    assert Hierarchy.from_obo(path, relations=["is_a"]).parents("T:4") == ("T:2",)
    assert Hierarchy.from_obo(path, root="T:1").levels[0] == ("T:2", "T:3")
    with pytest.raises(
        ValueError, match="relations must be a non-empty list of relations, got 'is_a'"
    ):
        Hierarchy.from_obo(path, relations="is_a")


@given(label_graphs(), st.data())
def test_subset_keeps_ancestry(parents, data):
    hierarchy = build(parents)
    some = st.sets(st.sampled_from(hierarchy.labels), min_size=1)
    kept = data.draw(some)
    part = hierarchy.subset(kept)
    assert part.labels == tuple(label for label in hierarchy.labels if label in kept)
    for label in kept:
        assert set(part.ancestors(label)) == naive_ancestors(parents, label) & kept
    rows = data.draw(st.lists(some))
    Y = hierarchy.encode(rows)[:, hierarchy.indices(part.labels)]
    assert (part.close(Y) != Y).nnz == 0


def test_subset_takes_the_nearest_kept_label_on_every_path():
    hierarchy = Hierarchy.from_edges([("a", "b"), ("b", "c"), ("c", "e"), ("b", "d"), ("d", "e")])
    assert hierarchy.subset(["a", "b", "d", "e"]).parents("e") == ("b", "d")
    assert hierarchy.subset(["a", "e"]).parents("e") == ("a",)


def test_prune_counts_closed_rows():
    hierarchy = Hierarchy.from_paths(["a/b", "a/c", "d"])
    Y = hierarchy.encode([["a/b"], ["a/c"], ["d"]])
    assert hierarchy.prune(Y, 2).labels == ("a",)
    assert hierarchy.prune(np.eye(4)[1:], 1) == hierarchy
    with pytest.raises(ValueError, match=r"min_count must be at most 2, .* got 3"):
        hierarchy.prune(Y, 3)
