"""Measures leave out labels that nobody knows."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import average_precision_score, roc_auc_score

from ramify import Hierarchy, PartialLabels, PCTClassifier, metrics
from ramify.metrics import evaluate, get_scorer, get_scorer_names
from ramify.model_selection import HierarchicalStratifiedKFold
from tests.reference import measures as twin
from tests.reference.unknown import closed
from tests.support.budget import budget
from tests.support.label_graphs import build, label_graphs

TREE = Hierarchy.from_paths(["a/b", "a/c", "d/e", "d/f"])
OF_SCORES = ["pooled_auprc", "mean_auprc", "weighted_auprc", "pooled_auroc", "mean_auroc"]
OF_SETS = [
    *twin.EXAMPLE_MEASURES,
    "hamming_loss",
    "hierarchical_hamming_loss",
    "hmc_loss",
    "h_loss",
    "micro_f1",
    "macro_f1",
    "hierarchical_f1",
]


def partial_problem(
    hierarchy: Hierarchy, seed: int, rate: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return closed labels, NaN where unknown, closed predictions and scores with ties."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    draw = (rng.random((2, n, hierarchy.n_labels)) < 0.35).astype(int)
    truth, predicted = (hierarchy.close(part).toarray() for part in draw)
    scores = rng.integers(-2, 6, truth.shape) / 4
    y = np.where(rng.random(truth.shape) < rate, np.nan, truth.astype(float))
    return closed(hierarchy, y), predicted, scores


@budget(60)
@given(
    parents=label_graphs(), seed=st.integers(0, 2**32 - 1), rate=st.sampled_from([0.1, 0.5, 0.9])
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_areas_are_those_of_the_known_cells(parents: dict, seed: int, rate: float) -> None:
    hierarchy = build(parents)
    y, _, scores = partial_problem(hierarchy, seed, rate)
    known = ~np.isnan(y)
    weights = np.random.default_rng(seed).choice([0.5, 1.0, 2.0], len(y))
    rows = np.repeat(weights[:, None], y.shape[1], axis=1)
    with_positives = [c for c in range(y.shape[1]) if (y[:, c] == 1).any()]
    pr, roc = [], []
    for c in with_positives:
        k = known[:, c]
        pr.append(average_precision_score(y[k, c], scores[k, c], sample_weight=weights[k]))
        both = (y[k, c] == 0).any()
        roc.append(roc_auc_score(y[k, c], scores[k, c], sample_weight=weights[k]) if both else 0.5)
    for form in (scores, sparse.csr_array(scores)):
        step = {"hierarchy": hierarchy, "sample_weight": weights}
        mean = metrics.mean_auprc(y, form, interpolation="step", **step)
        np.testing.assert_allclose(mean, np.mean(pr) if pr else np.nan, rtol=1e-9)
        mean = metrics.mean_auroc(y, form, **step)
        np.testing.assert_allclose(mean, np.mean(roc) if roc else np.nan, rtol=1e-9)
        pooled = metrics.pooled_auprc(y, form, interpolation="step", **step)
        k = known & np.isin(np.arange(y.shape[1]), with_positives)
        expected = np.nan
        if pr:
            expected = average_precision_score(y[k], scores[k], sample_weight=rows[k])
        np.testing.assert_allclose(pooled, expected, rtol=1e-9)
        pooled = metrics.pooled_auroc(y, form, **step)
        if pr:
            two = len(np.unique(y[k])) == 2
            expected = roc_auc_score(y[k], scores[k], sample_weight=rows[k]) if two else 0.5
        np.testing.assert_allclose(pooled, expected, rtol=1e-9)


@budget(60)
@given(
    parents=label_graphs(), seed=st.integers(0, 2**32 - 1), rate=st.sampled_from([0.1, 0.5, 0.9])
)
def test_measures_of_sets_are_those_of_the_known_cells(
    parents: dict, seed: int, rate: float
) -> None:
    hierarchy = build(parents)
    y, predicted, _ = partial_problem(hierarchy, seed, rate)
    known = ~np.isnan(y)
    rows = np.flatnonzero(known.any(axis=1)).tolist()
    if not rows:
        return
    true = [set(np.flatnonzero(y[i] == 1)) for i in rows]
    chosen = [set(np.flatnonzero(predicted[i] * known[i])) for i in rows]
    above = twin.ancestors(hierarchy)
    costs = hierarchy.costs()

    def inherited(i: int, t: set[int], p: set[int]) -> int:
        wrong = t ^ p
        return sum(known[i, c] and (c in wrong or bool(a & wrong)) for c, a in enumerate(above))

    expected = {
        name: twin.mean(measure(t, p) for t, p in zip(true, chosen, strict=True))
        for name, measure in twin.EXAMPLE_MEASURES.items()
    }
    pairs = list(zip(rows, true, chosen, strict=True))
    expected["hamming_loss"] = sum(len(t ^ p) for _, t, p in pairs) / known.sum()
    expected["hierarchical_hamming_loss"] = sum(inherited(*one) for one in pairs) / known.sum()
    expected["hmc_loss"] = twin.hmc_loss(true, chosen, costs, 1.0, 1.0)
    expected["h_loss"] = twin.h_loss(true, chosen, costs, above)
    for name, value in expected.items():
        found = getattr(metrics, name)(y, predicted, hierarchy=hierarchy)
        assert found == pytest.approx(value, abs=1e-12), name


def test_what_is_unknown_does_not_matter() -> None:
    y, predicted, scores = partial_problem(TREE, 3, 0.4)
    unknown = np.isnan(y)
    other_sets = np.where(unknown, 1 - predicted, predicted)
    other_scores = np.where(unknown, 2 - scores, scores)
    for name in [*OF_SETS, "level_accuracy"]:
        if name == "hierarchical_f1":  # adds ancestors of what is predicted
            continue
        measure = getattr(metrics, name)
        one = measure(y, predicted, hierarchy=TREE)
        np.testing.assert_array_equal(one, measure(y, other_sets, hierarchy=TREE))
    for name in [*OF_SCORES, "top_k_accuracy", "f_max", "s_min"]:
        measure = getattr(metrics, name)
        one = measure(y, scores, hierarchy=TREE)
        assert one == pytest.approx(measure(y, other_scores, hierarchy=TREE)), name


def test_rows_that_know_nothing_do_not_count() -> None:
    y, predicted, scores = partial_problem(TREE, 5, 0.3)
    y = np.vstack([y, np.full(6, np.nan)])
    keep = ~np.isnan(y).all(axis=1)
    predicted, scores = np.vstack([predicted, predicted[:1]]), np.vstack([scores, scores[:1]])
    for name in OF_SETS:
        measure = getattr(metrics, name)
        one = measure(y, predicted, hierarchy=TREE)
        assert one == pytest.approx(measure(y[keep], predicted[keep], hierarchy=TREE))
    for name in [*OF_SCORES, "top_k_accuracy"]:
        measure = getattr(metrics, name)
        one = measure(y, scores, hierarchy=TREE)
        assert one == pytest.approx(measure(y[keep], scores[keep], hierarchy=TREE))
    nothing = np.full((1, 6), np.nan)
    assert np.isnan(metrics.hamming_loss(nothing, predicted[:1], hierarchy=TREE))
    assert np.isnan(metrics.subset_accuracy(nothing, predicted[:1], hierarchy=TREE))


def test_all_formats_and_evaluate_agree() -> None:
    y, _, scores = partial_problem(TREE, 3, 0.4)
    expected = evaluate(y, scores, TREE)
    for other in (
        PartialLabels(y, TREE),
        pd.DataFrame(y, columns=TREE.labels),
        np.where(np.isnan(y), -1, y).astype(int),
    ):
        found = evaluate(other, scores, TREE)
        np.testing.assert_array_equal(found.columns["value"], expected.columns["value"])
    assert expected["pooled_auprc"] == metrics.pooled_auprc(y, scores, hierarchy=TREE)
    assert expected["pooled_auprc"] != evaluate(np.nan_to_num(y), scores, TREE)["pooled_auprc"]
    flat = metrics.hamming_loss([[1, np.nan], [0, 1]], [[1, 1], [1, 1]])
    assert flat == pytest.approx(1 / 3)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_scorers_take_partial_labels() -> None:
    ends = ["a/b", "a/c", "a", "d/e", "d/f", None] * 5
    y = PartialLabels(ends, TREE, ends="unknown_below")
    X = np.arange(30)[:, None] % 6 / 6
    model = PCTClassifier(TREE).fit(X, y)
    of_answers = {
        *("hierarchical_coverage", "mean_depth"),
        *("neg_hierarchical_risk", "neg_lca_distance"),
    }
    for name in get_scorer_names():
        if name in of_answers:
            with pytest.raises(ValueError, match="must not have unknown labels"):
                get_scorer(name)(model, X, y)
        else:
            assert np.isfinite(get_scorer(name)(model, X, y)), name
    assert model.score(X, y) == pytest.approx(1.0)
    inferred = PCTClassifier().fit(X, ends)
    assert inferred.score(X, ends) == get_scorer("subset_accuracy")(inferred, X, ends)


def test_information_of_labels_counts_the_rows_that_know_them() -> None:
    y = PartialLabels(["a/b", "a/b", "a/c", "a", "d/e", None], TREE, ends="unknown_below")
    found = dict(zip(TREE.labels, metrics.information_content(y, hierarchy=TREE), strict=True))
    assert found["a"] == pytest.approx(-np.log2(4 / 5))
    assert found["a/b"] == pytest.approx(-np.log2(2 / 3))
    assert metrics.label_imbalance(y) == pytest.approx((36 - 6 - 2 - 9) / 9)


def test_stratified_folds_count_what_is_known() -> None:
    y = PartialLabels((["a/b"] * 4 + ["a"] * 4 + [None] * 4), TREE, ends="unknown_below")
    X = SimpleNamespace(shape=(12, 1))
    for _, test in HierarchicalStratifiedKFold(4, random_state=0).split(X, y):
        assert y[test].Y.sum(axis=0).tolist()[:2] == [2, 1]


def test_what_requires_all_labels_says_so() -> None:
    y, predicted, scores = partial_problem(TREE, 3, 0.4)
    with pytest.raises(ValueError, match="this measure compares whole paths or rows"):
        metrics.clus_multilabel_measures(y, scores, hierarchy=TREE)
    with pytest.raises(ValueError, match="this measure compares whole paths or rows"):
        metrics.hierarchical_risk(y, predicted, hierarchy=TREE)
    with pytest.raises(ValueError, match="this measure compares whole paths or rows"):
        metrics.answer_curve(y, TREE.close(predicted).toarray(), TREE)
    with pytest.raises(ValueError, match="y_pred"):
        metrics.hamming_loss(predicted, y, hierarchy=TREE)
