"""Repair of scores: coherent, nearest, row by row, against a solver that knows no hierarchy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import nnls

from ramify import Hierarchy, _core, fetch, load_animals
from ramify.decision import make_coherent
from tests.support.clus_data import requires_data
from tests.support.label_graphs import edges, graphs_and_scores

METHODS = ("max", "min", "isotonic")
TREE = Hierarchy.from_paths(["animal/cat", "animal/dog", "plant"])
DIAMOND = Hierarchy.from_edges([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")])


def is_coherent(scores, hierarchy):
    children, parents = edges(hierarchy)
    return bool((scores[:, children] <= scores[:, parents]).all())


def least_squares(row, hierarchy, weight):
    """The dual of isotonic regression is a non-negative least squares problem, which scipy solves.

    min ½ Σ w (x - s)² with D x >= 0 has x = s + W⁻¹ Dᵀ λ with λ >= 0 that minimises
    ‖W^½ s + W^-½ Dᵀ λ‖.
    """
    children, parents = edges(hierarchy)
    if not len(children):
        return row
    D = np.zeros((len(children), len(row)))
    D[np.arange(len(children)), parents] = 1
    D[np.arange(len(children)), children] = -1
    root = np.sqrt(weight)
    multipliers, _ = nnls((D / root).T, -row * root, maxiter=1000)
    return row + D.T @ multipliers / weight


def test_hand_computed_tree():
    scores = np.array([[0.5, 0.7, 0.9, 0.2], [0.4, 0.5, 0.1, 0.9]])
    assert make_coherent(scores, TREE, "max").tolist() == [
        [0.9, 0.7, 0.9, 0.2],
        [0.5, 0.5, 0.1, 0.9],
    ]
    assert make_coherent(scores, TREE, "min").tolist() == [
        [0.5, 0.5, 0.5, 0.2],
        [0.4, 0.4, 0.1, 0.9],
    ]
    # Row 0: dog and animal meet at 0.7, which cat does not exceed. Row 1: cat and animal meet.
    expected = [[0.7, 0.7, 0.7, 0.2], [0.45, 0.45, 0.1, 0.9]]
    np.testing.assert_allclose(make_coherent(scores, TREE, "isotonic"), expected, rtol=1e-15)


def test_hand_computed_diamond():
    # d pulls up both of its parents: (0.2 + 0.4 + 0.9) / 3 = 0.5, below a.
    scores = [[0.8, 0.2, 0.4, 0.9]]
    np.testing.assert_allclose(make_coherent(scores, DIAMOND), [[0.8, 0.5, 0.5, 0.5]], rtol=1e-15)
    # Only b stands in the way of d: (0.2 + 0.6) / 2, and c keeps its 0.5.
    scores = [[0.8, 0.2, 0.5, 0.6]]
    np.testing.assert_allclose(make_coherent(scores, DIAMOND), [[0.8, 0.4, 0.5, 0.4]], rtol=1e-15)
    assert make_coherent(scores, DIAMOND, "max").tolist() == [[0.8, 0.6, 0.6, 0.6]]
    assert make_coherent(scores, DIAMOND, "min").tolist() == [[0.8, 0.2, 0.5, 0.2]]


def test_weights_say_who_gives_way():
    heavy = make_coherent([[0.0, 1.0, 0.0, 0.0]], TREE, label_weight=[1, 3, 1, 1])
    np.testing.assert_allclose(heavy, [[0.75, 0.75, 0.0, 0.0]], rtol=1e-15)


@given(graphs_and_scores(), st.sampled_from(METHODS))
def test_repaired_scores_are_coherent_and_stay_in_range(case, method):
    hierarchy, scores = case
    repaired = make_coherent(scores, hierarchy, method)
    assert is_coherent(repaired, hierarchy)
    assert (repaired.max(axis=1) <= scores.max(axis=1)).all()
    assert (repaired.min(axis=1) >= scores.min(axis=1)).all()


@given(graphs_and_scores(), st.sampled_from(METHODS))
def test_a_second_repair_changes_nothing(case, method):
    hierarchy, scores = case
    once = make_coherent(scores, hierarchy, method)
    np.testing.assert_array_equal(make_coherent(once, hierarchy, method), once)


@given(graphs_and_scores(n_rows=4), st.sampled_from(METHODS))
def test_rows_and_threads_do_not_matter(case, method):
    hierarchy, scores = case
    together = make_coherent(scores, hierarchy, method, n_jobs=2)
    alone = [make_coherent(row[None], hierarchy, method)[0] for row in scores]
    np.testing.assert_array_equal(together, alone)


@given(graphs_and_scores(), st.booleans(), st.randoms(use_true_random=False))
def test_isotonic_is_the_nearest_coherent_row(case, weighted, random):
    hierarchy, scores = case
    weight = np.ones(hierarchy.n_labels)
    if weighted:
        weight = np.array([random.uniform(0.2, 3) for _ in weight])
    repaired = make_coherent(scores, hierarchy, label_weight=weight)
    for row, found in zip(scores, repaired, strict=True):
        np.testing.assert_allclose(found, least_squares(row, hierarchy, weight), atol=1e-9)


@given(graphs_and_scores())
def test_max_and_min_are_those_of_descendants_and_ancestors(case):
    hierarchy, scores = case
    highest, lowest = (make_coherent(scores, hierarchy, method) for method in ("max", "min"))
    for column, label in enumerate(hierarchy.labels):
        below = [column, *hierarchy.indices(hierarchy.descendants(label))]
        above = [column, *hierarchy.indices(hierarchy.ancestors(label))]
        np.testing.assert_array_equal(highest[:, column], scores[:, below].max(axis=1))
        np.testing.assert_array_equal(lowest[:, column], scores[:, above].min(axis=1))


def test_a_long_chain_and_a_wide_star():
    chain = Hierarchy.from_paths(["/".join(map(str, range(200)))])
    rising = np.arange(200.0)[None]
    np.testing.assert_allclose(make_coherent(rising, chain), np.full((1, 200), 99.5))
    star = Hierarchy.from_paths([f"top/{k}" for k in range(300)])
    scores = np.linspace(0, 1, 301)[None]
    np.testing.assert_allclose(
        make_coherent(scores, star)[0], least_squares(scores[0], star, np.ones(301)), atol=1e-9
    )


def assert_is_projection(scores, repaired, hierarchy, rng):
    """Rows x nearest to s in the cone of coherent rows y: <s - x, x> = 0 and <s - x, y> <= 0."""
    left = scores - repaired
    np.testing.assert_allclose((left * repaired).sum(axis=1), 0, atol=1e-9)
    others = make_coherent(rng.normal(size=(200, hierarchy.n_labels)), hierarchy, "max")
    assert (left @ others.T <= 1e-9).all()


def test_large_random_graph_meets_the_conditions_of_an_optimum():
    rng = np.random.default_rng(0)
    pairs = {(f"{rng.integers(child)}", f"{child}") for child in range(1, 600) for _ in range(2)}
    hierarchy = Hierarchy.from_edges(pairs)
    assert not hierarchy.is_tree
    scores = rng.random((5, hierarchy.n_labels))
    repaired = make_coherent(scores, hierarchy)
    assert_is_projection(scores, repaired, hierarchy, rng)


@requires_data
def test_least_squares_on_the_gene_ontology():
    data = fetch("cellcycle_GO")
    rng = np.random.default_rng(0)
    scores = data.y_test[:4].toarray() + rng.normal(scale=0.3, size=(4, data.hierarchy.n_labels))
    repaired = make_coherent(scores, data.hierarchy)
    assert is_coherent(repaired, data.hierarchy)
    assert_is_projection(scores, repaired, data.hierarchy, rng)


def test_true_labels_are_coherent_already():
    data = load_animals()
    truth = data.y.toarray().astype(float)
    for method in METHODS:
        np.testing.assert_array_equal(make_coherent(truth, data.hierarchy, method), truth)


def test_animals_with_noise_come_nearer_to_the_truth():
    data = load_animals()
    truth = data.y.toarray().astype(float)
    noisy = truth + np.random.default_rng(0).normal(scale=0.3, size=truth.shape)
    repaired = make_coherent(noisy, data.hierarchy)
    # A projection onto a convex set that holds the truth never moves away from it.
    assert (((repaired - truth) ** 2).sum(axis=1) <= ((noisy - truth) ** 2).sum(axis=1)).all()


def test_mistakes_are_named():
    with pytest.raises(ValueError, match=r"method must be one of 'max', 'min'.*got 'mean'"):
        make_coherent([[0, 0, 0, 0]], TREE, "mean")
    with pytest.raises(ValueError, match=r"scores must have shape \(n, 4\), got \(1, 3\)"):
        make_coherent([[0, 0, 0]], TREE)
    with pytest.raises(
        ValueError, match="scores must be finite, got nan in row 0 for label 'animal/dog'"
    ):
        make_coherent([[0, 0, np.nan, 0]], TREE)
    with pytest.raises(TypeError, match="scores must be numbers, got an array of type <U1"):
        make_coherent([["a", "b", "c", "d"]], TREE)
    with pytest.raises(ValueError, match=r"label_weight must have shape \(4,\), got \(2,\)"):
        make_coherent([[0, 0, 0, 0]], TREE, label_weight=[1, 1])
    with pytest.raises(
        ValueError,
        match=r"label_weight must be positive and finite, got 0.0 for label 'animal/cat'",
    ):
        make_coherent([[0, 0, 0, 0]], TREE, label_weight=[1, 0, 1, 1])


def test_no_rows():
    assert make_coherent(np.empty((0, 4)), TREE).shape == (0, 4)


def test_the_core_guards_its_arrays():
    scores, weight = np.zeros((1, 2)), np.ones(2)
    indptr = np.array([0, 0, 1])
    parents = _core.LabelRows(indptr, np.array([1], dtype=np.int32), 2)
    with pytest.raises(ValueError, match="topological order"):
        _core.make_coherent(scores, parents, weight, "max", 1)
    parents = _core.LabelRows(indptr, np.array([0], dtype=np.int32), 2)
    with pytest.raises(ValueError, match="scores must be finite"):
        _core.make_coherent(scores * np.nan, parents, weight, "isotonic", 1)
    with pytest.raises(ValueError, match="one positive number per column"):
        _core.make_coherent(scores, parents, weight[:1], "isotonic", 1)
    with pytest.raises(ValueError, match="a column per label"):
        _core.make_coherent(scores[:, :1].copy(), parents, weight, "isotonic", 1)
