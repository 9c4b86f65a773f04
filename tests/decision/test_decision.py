"""From scores to label sets: thresholds, paths, the best k."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify import Hierarchy
from ramify.decision import (
    apply_threshold,
    confident_path,
    make_coherent,
    most_probable_path,
    top_k_labels,
)
from ramify.decision.thresholds import check_threshold
from tests.support.label_graphs import graphs_and_scores

TREE = Hierarchy.from_paths(["animal/cat", "animal/dog", "plant"])
DIAMOND = Hierarchy.from_edges([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")])


def is_closed(Y, hierarchy):
    return (hierarchy.close(Y) != Y).nnz == 0


def test_threshold_of_one_label_per_label_and_by_name():
    assert check_threshold(0.2, TREE).tolist() == [0.2] * 4
    assert check_threshold([0.1, 0.2, 0.1, 0.9], TREE).tolist() == [0.1, 0.2, 0.1, 0.9]
    assert check_threshold({"plant": 0.9, "animal": 0.4}, TREE).tolist() == [0.4, 0.5, 0.5, 0.9]


def test_infinity_keeps_a_label_from_being_predicted():
    chosen = apply_threshold([[1.0, 1.0, 1.0, 1.0]], {"animal/cat": np.inf}, TREE)
    assert TREE.decode(chosen) == [("animal/dog", "plant")]


def test_thresholds_that_break_the_hierarchy():
    with pytest.raises(
        ValueError, match=r"not be below that of its parent, got 0.3 for 'd' and 0.4 for 'c'"
    ):
        check_threshold([0.1, 0.2, 0.4, 0.3], DIAMOND)
    with pytest.raises(ValueError, match=r"have shape \(4,\), got \(2,\)"):
        check_threshold([0.1, 0.2], TREE)
    with pytest.raises(
        ValueError, match="threshold must not be NaN, got NaN for label 'animal/cat'"
    ):
        check_threshold([0.1, np.nan, 0.3, 0.4], TREE)


def test_incoherent_scores_are_refused_where_they_break_the_hierarchy():
    scores = [[0.9, 0.1, 0.1, 0.1], [0.3, 0.6, 0.1, 0.1]]
    with pytest.raises(
        ValueError, match=r"got 0.6 for 'animal/cat' and 0.3 for its parent 'animal' in row 1"
    ):
        apply_threshold(scores, 0.5, TREE)
    with pytest.raises(ValueError, match="make_coherent"):
        confident_path(scores, TREE)


@given(graphs_and_scores(), st.floats(0, 1))
def test_coherent_scores_give_closed_sets(case, threshold):
    hierarchy, scores = case
    scores = make_coherent(scores, hierarchy)
    chosen = apply_threshold(scores, threshold, hierarchy)
    assert is_closed(chosen, hierarchy)
    assert chosen.toarray().astype(bool).tolist() == (scores >= threshold).tolist()


def test_confident_path_stops_where_the_best_child_is_uncertain():
    scores = [
        [0.9, 0.7, 0.2, 0.1],  # sure of the cat
        [0.9, 0.5, 0.4, 0.1],  # an animal, but which?
        [0.5, 0.3, 0.2, 0.5],  # not even that
    ]
    assert TREE.decode(confident_path(scores, TREE, 0.6)) == [("animal/cat",), ("animal",), ()]
    paths = confident_path(scores, TREE, 0.6, allow_empty=False)
    assert TREE.decode(paths) == [("animal/cat",), ("animal",), ("animal",)]


def test_confidence_may_differ_between_labels():
    scores = [[0.8, 0.7, 0.1, 0.2]]
    assert TREE.decode(confident_path(scores, TREE, {"animal/cat": 0.75})) == [("animal",)]
    with pytest.raises(ValueError, match=r"got .* for 'animal/.* and 0.9 for 'animal'"):
        confident_path(scores, TREE, {"animal": 0.9})


@given(graphs_and_scores(), st.floats(0, 1), st.booleans())
def test_confident_paths_are_paths_of_certain_labels(case, confidence, allow_empty):
    hierarchy, scores = case
    scores = make_coherent(scores, hierarchy)
    paths = confident_path(scores, hierarchy, confidence, allow_empty=allow_empty)
    assert is_closed(paths, hierarchy)
    ends = hierarchy.decode(paths)
    fewest = 0 if allow_empty else 1
    assert all(fewest <= len(end) <= 1 for end in ends)
    certain = (scores >= confidence).any(axis=1)
    for row, end in enumerate(ends):
        assert bool(end) is bool(certain[row] or not allow_empty)
        if certain[row]:
            assert (scores[row, paths[[row]].indices] >= confidence).all()
            children = hierarchy.indices(hierarchy.children(end[0]))
            assert (scores[row, children] < confidence).all()


@given(graphs_and_scores())
def test_more_confidence_gives_shorter_paths(case):
    hierarchy, scores = case
    scores = make_coherent(scores, hierarchy)
    bold, careful = (confident_path(scores, hierarchy, level) for level in (0.25, 0.5))
    assert (careful > bold).nnz == 0


def test_no_confidence_needed_ends_in_a_leaf():
    scores = [[0.5, 0.3, 0.2, 0.4], [0.0, 0.0, 0.0, 0.4]]
    assert TREE.decode(confident_path(scores, TREE, 0)) == [("animal/cat",), ("plant",)]


@given(graphs_and_scores())
def test_most_probable_path_gives_every_row_one_path(case):
    hierarchy, scores = case
    paths = most_probable_path(make_coherent(scores, hierarchy), hierarchy)
    assert is_closed(paths, hierarchy)
    assert all(len(end) == 1 for end in hierarchy.decode(paths))


def walk(scores, hierarchy, candidates):
    """Return the end of one row's path, step by step."""

    def leads(label):
        return label in candidates or any(map(leads, hierarchy.children(label)))

    def best(labels):
        return max(filter(leads, labels), key=lambda label: scores[hierarchy.index(label)])

    here = best(label for label in hierarchy.labels if not hierarchy.parents(label))
    while any(map(leads, hierarchy.children(here))):
        children = hierarchy.children(here)
        below = scores[hierarchy.indices(children)]
        child = best(children)
        ending = scores[hierarchy.index(here)] - below.sum()
        if here in candidates and scores[hierarchy.index(child)] < ending:
            break
        here = child
    return here


@given(graphs_and_scores(), st.data())
def test_most_probable_paths_end_at_candidates_only(case, data):
    hierarchy, scores = case
    scores = make_coherent(scores, hierarchy)
    chosen = data.draw(st.sets(st.sampled_from(hierarchy.labels), min_size=1))
    mask = np.isin(hierarchy.labels, list(chosen))
    paths = most_probable_path(scores, hierarchy, mask)
    assert is_closed(paths, hierarchy)
    assert hierarchy.decode(paths) == [(walk(row, hierarchy, chosen),) for row in scores]
    everywhere = most_probable_path(scores, hierarchy, np.ones(hierarchy.n_labels, bool))
    assert (everywhere != most_probable_path(scores, hierarchy)).nnz == 0


def test_wrong_candidates_are_named():
    scores = [[0.8, 0.6, 0.6, 0.3]]
    with pytest.raises(ValueError, match=r"candidates must be a boolean .* shape \(4,\), got"):
        most_probable_path(scores, TREE, [1, 0, 1, 1])
    with pytest.raises(ValueError, match="candidates must contain at least one label, got none"):
        most_probable_path(scores, TREE, np.zeros(4, bool))


def test_top_k_of_leaves_of_all_and_of_a_level():
    scores = [[0.8, 0.6, 0.6, 0.3]]
    assert top_k_labels(scores, TREE, 1).toarray().tolist() == [[1, 1, 0, 0]]
    assert top_k_labels(scores, TREE, 2).toarray().tolist() == [[1, 1, 1, 0]]
    assert top_k_labels(scores, TREE, 1, labels="all").toarray().tolist() == [[1, 0, 0, 0]]
    assert top_k_labels(scores, TREE, 2, labels=1).toarray().tolist() == [[1, 0, 0, 1]]


@given(graphs_and_scores(), st.sampled_from(["leaves", "all"]), st.data())
def test_top_k_holds_the_k_best(case, labels, data):
    hierarchy, scores = case
    columns = hierarchy.indices(hierarchy.leaves if labels == "leaves" else hierarchy.labels)
    k = data.draw(st.integers(1, len(columns)))
    chosen = top_k_labels(scores, hierarchy, k, labels=labels)
    assert is_closed(chosen, hierarchy)
    for row, cells in enumerate(chosen.toarray().astype(bool)):
        among = scores[row, columns]
        inside, outside = among[cells[columns]], among[~cells[columns]]
        assert len(inside) >= k
        if labels == "leaves":
            assert len(inside) == k
            assert not outside.size or inside.min() >= outside.max()


def test_top_k_mistakes_are_named():
    scores = [[0.8, 0.6, 0.6, 0.3]]
    with pytest.raises(ValueError, match=r"k must be an integer from 1 to 3, .* got 4"):
        top_k_labels(scores, TREE, 4)
    with pytest.raises(ValueError, match=r"k must be an integer .* got 1\.5"):
        top_k_labels(scores, TREE, 1.5)
    with pytest.raises(
        ValueError, match="labels must be 'leaves', 'all' or a level from 1 to 2, got 'roots'"
    ):
        top_k_labels(scores, TREE, 1, labels="roots")
    with pytest.raises(ValueError, match="a level from 1 to 2, got 3"):
        top_k_labels(scores, TREE, 1, labels=3)
