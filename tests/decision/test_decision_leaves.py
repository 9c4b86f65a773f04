"""Mandatory-leaf decoders against twins that try every set, on trees and DAGs."""

from __future__ import annotations

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from joblib import parallel_config

from ramify import Hierarchy, PCTClassifier, PCTForestClassifier, _core, fetch
from ramify.decision import leaf_weights, mandatory_leaves, nested_approximation
from ramify.decision.leaves import solve_programs
from tests.reference import decoding as reference
from tests.support.budget import budget
from tests.support.clus_data import requires_data
from tests.support.label_graphs import build, label_graphs

TREE = Hierarchy.from_paths(["animal/cat", "animal/dog", "plant"])
DIAMOND = Hierarchy.from_edges([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("c", "e")])


def decode(weights, hierarchy, k=None, *, exact=False, n_threads=1):
    """Decode rows of weights, by integer programs where the core has no exact solver."""
    rows = np.ascontiguousarray(np.atleast_2d(weights), dtype=np.float64)
    counts = np.broadcast_to(np.int32(0 if k is None else k), len(rows)).copy()
    if exact and not hierarchy.is_tree:
        sets = solve_programs(rows, hierarchy, counts)
        return [set(sets.indices[a:b].tolist()) for a, b in _pairs(sets.indptr)]
    empty = np.empty(0)
    indptr, indices = _core.decode_leaves(
        rows, hierarchy._parents, "weights", empty, empty, counts, exact, n_threads
    )
    return [set(indices[a:b].tolist()) for a, b in _pairs(indptr)]


def _pairs(indptr):
    return list(pairwise(indptr))


def assert_ends_in_leaves(labels, hierarchy, k=None):
    leaves = set(hierarchy.indices(hierarchy.leaves).tolist()) & labels
    assert leaves
    assert labels == reference.closed(leaves, hierarchy)
    assert k is None or len(leaves) == k


def row_sets(sets):
    return [set(sets.indices[a:b].tolist()) for a, b in _pairs(sets.indptr)]


@st.composite
def graphs_and_weights(draw, *, whole=False, max_labels=10):
    hierarchy = build(draw(label_graphs(max_labels)))
    # Whole numbers make ties, and sums that are exact in any order.
    cells = st.integers(-4, 4) if whole else st.floats(-5, 5, width=32)
    weights = draw(hnp.arrays(np.float64, hierarchy.n_labels, elements=cells))
    k = draw(st.one_of(st.none(), st.integers(1, len(hierarchy.leaves))))
    return hierarchy, weights, k


@st.composite
def graphs_and_probabilities(draw):
    hierarchy = build(draw(label_graphs(8)))
    # Below 1e-300 quotients are not what they seem; the core takes such numbers for 0.
    cells = st.one_of(st.floats(1e-250, 1), st.sampled_from([0.0, 0.25, 0.5, 1.0]))
    rows = draw(hnp.arrays(np.float64, (3, hierarchy.n_labels), elements=cells))
    for child, parent in reference.edges(hierarchy):
        if parent is not None:
            rows[:, child] = np.minimum(rows[:, child], rows[:, parent])
    return hierarchy, rows


def test_hand_computed_tree():
    # cat and dog gain together (-6 + 4 + 4), but each alone loses more than plant: greedy search
    # takes plant first and keeps it.
    weights = [-6, 4, 4, -1]
    assert decode(weights, TREE) == [{0, 1, 2, 3}]
    assert decode(weights, TREE, exact=True) == [{0, 1, 2}]
    assert decode(weights, TREE, 1) == decode(weights, TREE, 1, exact=True) == [{3}]
    assert decode(weights, TREE, 2) == [{0, 1, 3}]
    assert decode(weights, TREE, 2, exact=True) == [{0, 1, 2}]
    # Everything costs: the least costly path.
    assert decode([-1, -2, -1, -3], TREE, exact=True) == [{0, 2}]


def test_hand_computed_dag():
    # d needs both b and c; e only c.
    assert DIAMOND.labels == ("a", "b", "c", "d", "e")
    assert decode([1, -2, -1, 4, 2], DIAMOND) == [{0, 1, 2, 3, 4}]
    assert decode([1, -3, -1, 4, 2], DIAMOND, 1) == [{0, 2, 4}]
    assert decode([1, -3, -1, 4, 2], DIAMOND, 1, exact=True) == [{0, 2, 4}]


@given(graphs_and_weights(whole=True))
def test_greedy_is_the_algorithm_of_the_paper(case):
    hierarchy, weights, k = case
    assert decode(weights, hierarchy, k) == [reference.greedy(weights, hierarchy, k)]


@given(graphs_and_weights(whole=True))
def test_greedy_stops_early_only_where_nothing_is_left_to_gain(case):
    hierarchy, weights, _ = case
    sets = reference.greedy_sets(weights, hierarchy)
    best = max(reference.value(labels, weights) for labels in sets)
    assert reference.value(decode(weights, hierarchy)[0], weights) == best


@given(graphs_and_weights())
def test_exact_is_brute_force(case):
    hierarchy, weights, k = case
    (found,) = decode(weights, hierarchy, k, exact=True)
    assert_ends_in_leaves(found, hierarchy, k)
    best = reference.brute_force(weights, hierarchy, k)
    assert reference.value(found, weights) == pytest.approx(best, abs=2e-6)


@given(graphs_and_weights(whole=True))
def test_greedy_never_above_exact_and_equal_where_best_sets_are_nested(case):
    hierarchy, weights, k = case
    (greedy,), (exact,) = (decode(weights, hierarchy, k, exact=e) for e in (False, True))
    assert_ends_in_leaves(greedy, hierarchy, k)
    difference = reference.value(exact, weights) - reference.value(greedy, weights)
    assert difference >= 0
    # The best set of each size, if only one is best: then nothing depends on ties.
    best = []
    for size in range(1, len(hierarchy.leaves) + 1):
        sets = sorted(reference.all_sets(hierarchy, size), key=lambda s: -sum(weights[list(s)]))
        if len(sets) > 1 and sum(weights[list(sets[0])]) == sum(weights[list(sets[1])]):
            return
        best.append(sets[0])
    if all(small < large for small, large in pairwise(best)):
        assert difference == 0


@given(graphs_and_probabilities())
def test_map_weights_are_log_posteriors(case):
    hierarchy, rows = case
    weights = leaf_weights(rows, hierarchy)
    conditional = np.array([reference.conditionals(row, hierarchy) for row in rows])
    columns = conditional if hierarchy.is_tree else np.clip(conditional, 0, 1)
    same = leaf_weights(np.clip(columns, 0, 1), hierarchy, conditional=True)
    np.testing.assert_allclose(same, weights, rtol=1e-6, atol=1e-6)
    sets = list(reference.all_sets(hierarchy))
    for row, each in zip(conditional, weights, strict=True):
        values = [reference.value(labels, each) for labels in sets]
        logs = [reference.log_posterior(labels, row, hierarchy) for labels in sets]
        np.testing.assert_allclose(
            np.subtract(values, values[0]), np.subtract(logs, logs[0]), rtol=1e-6, atol=1e-5
        )


@given(graphs_and_probabilities(), st.floats(0, 10), st.sampled_from(["shared", "uniform"]))
def test_risk_weights_are_expected_losses(case, alpha, costs):
    hierarchy, rows = case
    weights = leaf_weights(rows, hierarchy, objective="risk", alpha=alpha, costs=costs)
    each = hierarchy.costs() if costs == "shared" else np.ones(hierarchy.n_labels)
    sets = list(reference.all_sets(hierarchy))
    for row, own in zip(rows, weights, strict=True):
        sums = [
            reference.value(labels, own) + reference.expected_loss(labels, row, each, alpha)
            for labels in sets
        ]
        np.testing.assert_allclose(sums, sums[0], atol=1e-9)


@budget(50)
@given(
    graphs_and_probabilities(),
    st.sampled_from(["map", "risk"]),
    st.sampled_from(["greedy", "exact"]),
    st.data(),
)
def test_every_answer_is_closed_and_ends_in_leaves(case, objective, solver, data):
    hierarchy, rows = case
    counts = st.integers(1, len(hierarchy.leaves))
    k = data.draw(st.one_of(st.none(), counts, st.lists(counts, min_size=3, max_size=3)))
    sets = mandatory_leaves(rows, hierarchy, objective=objective, solver=solver, k=k, alpha=2.0)
    each = np.broadcast_to(k, 3).tolist() if k is not None else [None] * 3
    for labels, count in zip(row_sets(sets), each, strict=True):
        assert_ends_in_leaves(labels, hierarchy, count)
    alone = [mandatory_leaves(row[None], hierarchy, objective=objective, solver=solver, k=c,
                              alpha=2.0) for row, c in zip(rows, each, strict=True)]  # fmt: skip
    assert row_sets(sets) == [row_sets(one)[0] for one in alone]


def random_hierarchy(rng, n_labels, *, tree):
    edges = {(f"{rng.integers(max(0, c - 40), c)}", f"{c}") for c in range(1, n_labels)}
    if not tree:
        edges |= {(f"{rng.integers(c)}", f"{c}") for c in range(1, n_labels, 3)}
    return Hierarchy.from_edges(edges)


@pytest.mark.parametrize("tree", [True, False])
def test_many_leaves_and_threads(tree):
    rng = np.random.default_rng(0)
    hierarchy = random_hierarchy(rng, 160, tree=tree)
    assert hierarchy.is_tree == tree
    weights = rng.normal(-0.3, 1, (70, hierarchy.n_labels))
    found = decode(weights, hierarchy)
    assert found == decode(weights, hierarchy, n_threads=3)
    for row, labels in zip(weights[:3], found, strict=False):
        assert labels == reference.greedy(row, hierarchy)
    for k in (1, 5, 40):
        sets = decode(weights[:3], hierarchy, k)
        assert sets == [reference.greedy(row, hierarchy, k) for row in weights[:3]]


def test_dynamic_programs_of_large_trees_are_integer_programs():
    rng = np.random.default_rng(1)
    tree = random_hierarchy(rng, 300, tree=True)
    weights = rng.normal(-0.5, 1, (4, tree.n_labels))
    for k in (0, 1, 7, 40):
        fast = decode(weights, tree, k or None, exact=True)
        slow = row_sets(solve_programs(weights, tree, np.full(4, k, dtype=np.int32)))
        for row, ours, theirs in zip(weights, fast, slow, strict=True):
            assert_ends_in_leaves(ours, tree, k or None)
            assert reference.value(ours, row) == pytest.approx(
                reference.value(theirs, row), abs=2e-6
            )


def test_workers_do_not_matter():
    rng = np.random.default_rng(0)
    scores = rng.random((6, DIAMOND.n_labels))
    with parallel_config(backend="threading"):  # processes take seconds to start
        one, two = (mandatory_leaves(scores, DIAMOND, solver="exact", n_jobs=n) for n in (1, 2))
    assert row_sets(one) == row_sets(two)


def test_certainty_is_safe():
    rows = np.array([[0, 0, 0, 0], [1, 1, 1, 1], [1, 0, 0, 0], [0, 0, 0, 1.0]])
    assert np.isfinite(leaf_weights(rows, TREE)).all()
    sets = mandatory_leaves(rows, TREE, solver="exact")
    assert TREE.decode(sets)[1:] == [
        ("animal/cat", "animal/dog", "plant"),
        ("animal/cat",),
        ("plant",),
    ]
    many = Hierarchy.from_paths([f"top/{k}" for k in range(500)])
    ones = np.ones((1, 501))
    # Products of 500 numbers of 1e-9 would be 0.
    expected = np.log(1e-9) * 500 + np.log((1 - 1e-9) / 1e-9)
    np.testing.assert_allclose(leaf_weights(ones, many)[0, 0], expected, rtol=1e-6)


@given(graphs_and_probabilities())
@budget(25)
def test_nested_approximation_is_what_brute_force_says(case):
    hierarchy, rows = case
    weights = leaf_weights(rows, hierarchy)
    found = nested_approximation(rows, hierarchy)
    assert found.k.tolist() == list(range(2, min(10, len(hierarchy.leaves)) + 1))
    for k, share in zip(found.k.tolist(), found.share, strict=True):
        nested = []
        for row in weights:
            best = []
            for size in (k - 1, k):
                sets = list(reference.all_sets(hierarchy, size))
                values = np.array([reference.value(labels, row) for labels in sets])
                if (values > values.max() - 1e-4).sum() > 1:
                    return  # the solver may choose any of the best
                best.append(sets[int(values.argmax())])
            nested.append(best[0] < best[1])
        assert share == pytest.approx(np.mean(nested))


def test_sets_that_are_equally_good_are_nested():
    flat = Hierarchy.from_labels([f"{k}" for k in range(6)])
    assert (nested_approximation(np.full((2, 6), 0.3), flat).share == 1).all()
    # One of animal's children alone is worth less than plant, both together more.
    scores = [[0.5, 0.45, 0.45, 0.4]]
    assert nested_approximation(scores, TREE, ks=[2]).share.tolist() == [0.0]
    rows = [*scores, [0.9, 0.8, 0.7, 0.1], [0.3, 0.2, 0.1, 0.6]]
    alone = [nested_approximation([row], TREE).share for row in rows]
    np.testing.assert_allclose(nested_approximation(rows, TREE).share, np.mean(alone, axis=0))


def test_nested_approximation_is_drawn():
    found = nested_approximation([[0.5, 0.4, 0.4, 0.45]], TREE, ks=[2, 3])
    ax = found.plot(label="pets")
    np.testing.assert_allclose(ax.lines[0].get_ydata(), 100 * found.share)
    assert ax.get_ylabel() == "rows with nested best sets (%)"
    plt.close(ax.figure)


@requires_data
def test_exact_on_real_trees_is_an_integer_program():
    data = fetch("church_FUN")
    model = PCTClassifier(data.hierarchy, min_samples_leaf=20, random_state=0)
    scores = model.fit(data.X_train, data.y_train).predict_proba(data.X_test)[:6]
    weights = leaf_weights(scores, data.hierarchy)
    for k in (None, 3):
        ours = row_sets(mandatory_leaves(scores, data.hierarchy, solver="exact", k=k))
        counts = np.full(len(scores), k or 0, dtype=np.int32)
        theirs = row_sets(solve_programs(weights, data.hierarchy, counts))
        greedy = row_sets(mandatory_leaves(scores, data.hierarchy, k=k))
        for row, *sets in zip(weights, ours, theirs, greedy, strict=True):
            best, program, quick = (reference.value(labels, row) for labels in sets)
            assert best == pytest.approx(program, abs=2e-6)
            assert quick <= best + 1e-9


@requires_data
def test_nested_sets_of_a_real_tree_are_what_all_pairs_say():
    data = fetch("pheno_FUN")
    tree = data.hierarchy
    model = PCTForestClassifier(tree, n_estimators=5, random_state=0)
    scores = model.fit(data.X_train, data.y_train).predict_proba(data.X_test)[:40]
    weights = leaf_weights(scores, tree)
    paths = tree.close(np.eye(tree.n_labels, dtype=np.int32)).toarray()
    paths = paths[tree.indices(tree.leaves)]
    nested = []
    for row in weights:
        alone = paths @ row
        pairs = alone[:, None] + alone - (paths * row) @ paths.T
        np.fill_diagonal(pairs, -np.inf)
        nested.append(pairs[alone >= alone.max() - 1e-9].max() >= pairs.max() - 1e-5)
    found = nested_approximation(scores, tree, ks=[2])
    assert 0 < found.share[0] < 1
    assert found.share[0] == pytest.approx(np.mean(nested))


@requires_data
def test_gene_ontology_greedy_is_never_above_exact():
    data = fetch("pheno_GO")
    model = PCTClassifier(data.hierarchy, min_samples_leaf=20, random_state=0)
    scores = model.fit(data.X_train, data.y_train).predict_proba(data.X_test)[:3]
    weights = leaf_weights(scores, data.hierarchy)
    sets = [row_sets(mandatory_leaves(scores, data.hierarchy, solver=s)) for s in
            ("greedy", "exact")]  # fmt: skip
    for row, quick, best in zip(weights, *sets, strict=True):
        assert_ends_in_leaves(quick, data.hierarchy)
        assert_ends_in_leaves(best, data.hierarchy)
        assert reference.value(quick, row) <= reference.value(best, row) + 2e-6


def test_no_rows():
    for hierarchy in (TREE, DIAMOND):
        for solver in ("greedy", "exact"):
            rows = np.empty((0, hierarchy.n_labels))
            assert mandatory_leaves(rows, hierarchy, solver=solver).shape == rows.shape


def test_mistakes_are_named():
    row = [[0.5, 0.5, 0.5, 0.5]]
    with pytest.raises(ValueError, match=r"objective must be one of 'map'.*got 'max'"):
        mandatory_leaves(row, TREE, objective="max")
    with pytest.raises(ValueError, match=r"solver must be one of 'greedy'.*got 'ilp'"):
        mandatory_leaves(row, TREE, solver="ilp")
    with pytest.raises(
        ValueError, match=r"scores must be between 0 and 1, got 1.5 in row 0, column 1"
    ):
        mandatory_leaves([[0.5, 1.5, 0.5, 0.5]], TREE)
    with pytest.raises(ValueError, match=r"k must be an integer from 1 to 3, .* got 4"):
        mandatory_leaves(row, TREE, k=4)
    with pytest.raises(ValueError, match=r"or 1 of them, one per row, got"):
        mandatory_leaves(row, TREE, k=[1, 2])
    with pytest.raises(ValueError, match=r"alpha must be a number from 0.*got -1"):
        mandatory_leaves(row, TREE, objective="risk", alpha=-1)
    with pytest.raises(ValueError, match=r"costs must be .* finite non-negative numbers"):
        mandatory_leaves(row, TREE, objective="risk", costs=[1, 2])
    with pytest.raises(ValueError, match="conditional must be False for objective='risk'"):
        mandatory_leaves(row, TREE, objective="risk", conditional=True)
    with pytest.raises(
        ValueError, match=r"shape \(n, 6\) if conditional=True, got .* Pass one column per edge"
    ):
        mandatory_leaves([[0.5] * 5], DIAMOND, conditional=True)
    with pytest.raises(ValueError, match=r"ks must be an integer >= 2, got 1"):
        nested_approximation(row, TREE, ks=[1])


def test_the_core_guards_its_arrays():
    none, k = np.empty(0), np.zeros(1, dtype=np.int32)
    parents = np.array([0, 0, 1]), np.array([0], dtype=np.int32)
    row = np.zeros((1, 2))
    for rows, values, counts, exact, graph, message in (
        (row[:, :1].copy(), "weights", k, False, parents, "a number per label"),
        (row * np.nan, "weights", k, False, parents, "between -1e100 and 1e100"),
        (row, "weights", k + 2, False, parents, "k must lie between"),
        (row, "weights", k[:0], False, parents, "k must have a number per row"),
        (row, "risk", k, False, parents, "slope and offset"),
        (row, "sum", k, False, parents, "values must be"),
        (row, "weights", k, False, (parents[0], parents[1] + 1), "topological order"),
        (row, "weights", k, False, (parents[0], parents[1] + 2), "must lie in"),
    ):
        with pytest.raises(ValueError, match=message):
            _core.decode_leaves(
                rows, _core.LabelRows(*graph, 2), values, none, none, counts, exact, 1
            )
    diamond = np.zeros((1, 5))
    with pytest.raises(ValueError, match="needs a tree"):
        _core.decode_leaves(diamond, DIAMOND._parents, "weights", none, none, k, True, 1)
    with pytest.raises(ValueError, match="out must have"):
        _core.decoding_weights(
            row, _core.LabelRows(*parents, 2), "weights", none, none, np.empty((2, 2))
        )
