"""Pessimistic pruning of C4.5-style trees, and reduced-error pruning on validation rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_breast_cancer

import ramify
from ramify import PCTClassifier, PerNodeClassifier, metrics
from ramify.apps.studies.data import load_data
from ramify.apps.studies.plan import DataSpec
from ramify.trees.pruning import prune_by_error
from ramify.trees.views import predict_tree
from tests.reference import trees as reference
from tests.reference.pruning import Pruning, upper_errors
from tests.reference.trees import Settings
from tests.support.budget import budget
from tests.support.clus_data import requires_data
from tests.support.tree_problems import (
    Problem,
    assert_equal_trees,
    assert_same,
    plan_of,
    problems,
)

# ---- pessimistic pruning -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("errors", "n", "rate"), [(0, 6, 0.206), (0, 9, 0.143), (0, 1, 0.75), (1, 16, 0.157)]
)
def test_upper_limits_equal_published_values(errors, n, rate):
    assert upper_errors(n, errors, 0.25) / n == pytest.approx(rate, abs=0.01)


@pytest.mark.parametrize("errors", [1, 3, 10, 50])
def test_upper_limits_are_close_to_exact_binomial_limits(errors):
    for n in (2 * errors + 2, 10 * errors):
        exact = scipy.stats.beta.ppf(0.75, errors + 1, n - errors)
        assert upper_errors(n, errors, 0.25) / n == pytest.approx(exact, abs=0.02)


c45 = st.builds(
    Settings,
    criterion=st.sampled_from(["gain_ratio", "entropy", "variance"]),
    nary=st.booleans(),
    min_samples_leaf=st.sampled_from([1, 2]),
)


def one_class(problem: Problem, single: bool) -> Problem:
    if single:
        return replace(problem, Y=problem.Y[:, :1], label_weights=np.ones(1))
    n_classes = min(3, problem.Y.shape[1])
    Y = np.eye(n_classes)[np.argmax(problem.Y[:, :n_classes], axis=1)]
    return replace(problem, Y=Y, label_weights=np.ones(n_classes))


@budget(60)
@given(
    problem=problems(),
    wanted=c45,
    kind=st.sampled_from(["label", "class", "labels"]),
    confidence=st.sampled_from([0.05, 0.25, 0.5]),
)
def test_pessimistic_pruning_equals_the_reference(
    problem: Problem, wanted: Settings, kind: str, confidence: float
) -> None:
    problem = replace(problem, label_weights=np.ones(problem.Y.shape[1]))
    if kind != "labels":
        problem = one_class(problem, kind == "label")
    exclusive = kind == "class" and problem.Y.shape[1] > 1
    options = plan_of(wanted, pruning="pessimistic", pruning_confidence=confidence)
    tree = problem.grow(options, exclusive=exclusive)
    grown = reference.grow(
        problem.columns,
        problem.Y,
        wanted,
        sample_weight=problem.sample_weight,
        targets=[range(problem.Y.shape[1])] if exclusive else None,
    )
    rows = np.flatnonzero(problem.sample_weight > 0)
    pruning = Pruning(problem.columns, problem.Y, confidence, exclusive)
    expected = pruning.prune(grown, rows, problem.sample_weight[rows])
    assert_same(tree, expected, problem.Y.shape[1])


@budget(30)
@given(problem=problems(), wanted=c45, single=st.booleans())
def test_pruned_trees_have_consistent_weights_and_gains(
    problem: Problem, wanted: Settings, single: bool
) -> None:
    """The gain of a node is its impurity minus that of its branches, also after raising."""
    problem = one_class(problem, single)
    problem = replace(problem, X=np.nan_to_num(problem.X), sample_weight=np.ones(len(problem.X)))
    exclusive = problem.Y.shape[1] > 1
    tree = problem.grow(plan_of(wanted, pruning="pessimistic"), exclusive=exclusive)
    mass = tree.impurity * tree.weight
    for node in np.flatnonzero(tree.feature >= 0):
        children = tree.child[tree.child_indptr[node] : tree.child_indptr[node + 1]]
        assert tree.weight[children].sum() == pytest.approx(tree.weight[node])
        assert tree.gain[node] == pytest.approx(mass[node] - mass[children].sum(), abs=1e-9)


def test_a_branch_is_raised():
    """The first test is noise, and is replaced with the useful test in its larger branch."""
    rng = np.random.default_rng(8)
    X = rng.integers(0, 3, size=(40, 4)).astype(float)
    y = (X[:, 0] + X[:, 1] * 0.5 + rng.normal(size=40) > 1).astype(int)
    settings = {"min_samples_leaf": 2, "criterion": "gain_ratio"}
    full = PCTClassifier(**settings).fit(X, y).tree_
    pruned = PCTClassifier(**settings, pruning="pessimistic").fit(X, y).tree_
    assert (full.feature[0], pruned.feature[0]) == (2, 0)
    larger = full.child[np.argmax(full.share[:2])]
    assert (full.feature[larger], full.threshold[larger]) == (0, pruned.threshold[0])
    yes = (X[:, 0] > pruned.threshold[0]).sum()
    assert pruned.weight.tolist() == [40, yes, 40 - yes]


def test_pruned_trees_are_smaller_and_not_less_accurate():
    X, y = load_breast_cancer(return_X_y=True)
    train, test = np.arange(0, 569, 2), np.arange(1, 569, 2)
    settings = {"criterion": "entropy", "min_samples_leaf": 2}
    full = PCTClassifier(**settings).fit(X[train], y[train])
    small = PCTClassifier(**settings, pruning="pessimistic").fit(X[train], y[train])
    assert small.get_n_leaves() < full.get_n_leaves()
    assert small.score(X[test], y[test]) > full.score(X[test], y[test]) - 0.02
    smaller = PCTClassifier(**settings, pruning="pessimistic", pruning_confidence=0.001)
    assert smaller.fit(X[train], y[train]).get_n_leaves() < small.get_n_leaves()


def test_local_trees_are_pruned():
    animals = ramify.load_animals()
    sizes = []
    for pruning in (None, "pessimistic"):
        local = PerNodeClassifier(
            hierarchy=animals.hierarchy, estimator=PCTClassifier(pruning=pruning)
        )
        models = local.fit(animals.X, animals.y).named_estimators_.values()
        trees = [model for model in models if isinstance(model, PCTClassifier)]
        sizes.append(sum(tree.get_n_leaves() for tree in trees))
    assert sizes[1] < sizes[0]


# Nodes of the trees that CLUS 2.12.8 calls Original and Pruned, with MinimalWeight 2 and the
# defaults for nominal targets, on all rows; of "emotions", also the features of the pruned tree.
CLUS_SIZES = {"emotions": (331, 47), "enron_hmc": (1261, 3), "slovenian_rivers": (905, 1)}
CLUS_FEATURES = [
    *(1, 42, 3, 59, 22, 5, 26, 45, 37, 55, 26, 41, 3),
    *(48, 17, 63, 31, 58, 42, 1, 24, 62, 43),
]


@requires_data
@pytest.mark.parametrize("name", CLUS_SIZES)
def test_trees_for_several_labels_are_pruned_as_in_clus(name):
    # Labels of fewer than three rows are left out on Enron, as in levatic2015.
    data = load_data(DataSpec(name, name, fetch=name, min_count=3 if "enron" in name else None))
    leaves = data.hierarchy.indices(data.hierarchy.leaves)
    Y = sparse.csr_array(data.y)[:, leaves]
    settings = {"criterion": "entropy", "min_weight": 2, "clus_compat": True}
    trees = [
        PCTClassifier(**settings, pruning=pruning).fit(data.X, Y).tree_
        for pruning in (None, "pessimistic")
    ]
    assert tuple(len(tree.feature) for tree in trees) == CLUS_SIZES[name]
    if name == "emotions":
        assert trees[1].feature[trees[1].feature >= 0].tolist() == CLUS_FEATURES


# ---- reduced-error pruning -----------------------------------------------------------------


@budget(30)
@given(
    problem=problems(),
    wanted=c45,
    medoid=st.booleans(),
    measure=st.sampled_from([metrics.hamming_loss, metrics.subset_accuracy, None]),
    as_sparse=st.booleans(),
)
def test_reduced_error_pruning_removes_branches_that_do_not_help(
    problem: Problem, wanted: Settings, medoid: bool, measure, as_sparse: bool
) -> None:
    seen = len(problem.X) // 2 + 1
    training = Problem(
        problem.X[:seen],
        problem.n_categories,
        problem.Y[:seen],
        problem.label_weights,
        problem.sample_weight[:seen],
    )
    prototype = "medoid" if medoid else "mean"
    options = plan_of(wanted, pruning="reduced_error", prototype=prototype)
    tree = training.grow(options, medoids=medoid)
    X, truth = problem.X[seen - 1 :], problem.Y[seen - 1 :]

    def loss(scores):
        if measure is None:
            return float(((scores - truth) ** 2).sum())
        sign = 1 if measure is metrics.hamming_loss else -1
        return sign * measure(truth.astype(int), (scores >= 0.5 - 1e-12).astype(int))

    def loss_of(is_leaf):
        scores = np.zeros(truth.shape)
        predict_tree(tree.cut(is_leaf), X, scores)
        return loss(scores)

    is_leaf = tree.feature < 0
    for node in np.flatnonzero(~is_leaf)[::-1]:
        trial = is_leaf.copy()
        trial[node] = True
        if loss_of(trial) <= loss_of(is_leaf) + 1e-9:
            is_leaf = trial
    given_X = sparse.csr_array(X) if as_sparse else X
    pruned = prune_by_error(tree, given_X, problem.Y.shape[1], loss)
    assert_equal_trees(pruned, tree.cut(is_leaf))


X = np.random.default_rng(0).normal(size=(200, 6))
Y = (X[:, :3] + np.random.default_rng(1).normal(size=(200, 3)) > 0.4).astype(int)


@pytest.mark.parametrize(
    "measure", ["hamming_loss", "pooled_auprc", metrics.subset_accuracy, "hmc_loss", "s_min"]
)
@pytest.mark.parametrize("criterion", ["variance", "jaccard", "entropy"])
def test_reduced_error_pruning_improves_any_measure(measure, criterion):
    settings = {"criterion": criterion, "hierarchy": ramify.Hierarchy.from_labels([0, 1, 2])}
    full = PCTClassifier(**settings).fit(X[:120], Y[:120])
    pruned = PCTClassifier(**settings, pruning="reduced_error", pruning_measure=measure)
    pruned.fit(X[:120], Y[:120], X_val=X[120:], y_val=Y[120:])
    assert pruned.get_n_leaves() < full.get_n_leaves()
    name = measure if isinstance(measure, str) else measure.__name__
    function = getattr(metrics, name)
    answers = [
        (model.predict_proba if name in ("pooled_auprc", "s_min") else model.predict)(X[120:])
        for model in (full, pruned)
    ]
    options = {"hierarchy": full.hierarchy_} if name == "hmc_loss" else {}
    before, after = (function(Y[120:], answer, **options) for answer in answers)
    assert after <= before if name.endswith(("loss", "s_min")) else after >= before


def test_levels_are_cross_validated_if_validation_rows_are_used_for_pruning():
    settings = {"f_test": [0.01, 0.5], "random_state": 0}
    pruned = PCTClassifier(**settings, pruning="reduced_error")
    pruned.fit(X[:120], Y[:120], X_val=X[120:], y_val=Y[120:])
    assert pruned.f_test_ == PCTClassifier(**settings).fit(X[:120], Y[:120]).f_test_
    assert pruned.tree_.weight[0] == 120


def test_single_labels_are_pruned_by_their_predictions():
    y = np.where(Y[:, 0], "yes", "no")
    tree = PCTClassifier(pruning="reduced_error", pruning_measure="subset_accuracy")
    tree.fit(X[:120], y[:120], X_val=X[120:], y_val=y[120:])
    full = PCTClassifier().fit(X[:120], y[:120])
    assert tree.score(X[120:], y[120:]) >= full.score(X[120:], y[120:])
    assert tree.get_n_leaves() < full.get_n_leaves()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"pruning": "cost"}, "pruning must be one of None, 'pessimistic'.*got 'cost'"),
        (
            {"pruning": "reduced_error"},
            "X_val and y_val must be given with pruning='reduced_error', got None",
        ),
        ({"pruning_confidence": 0.7}, "pruning_confidence must be a number from.*got 0.7"),
        ({"pruning_measure": "beauty"}, "pruning_measure must be a function .*got 'beauty'"),
        (
            {"pruning": "pessimistic", "clus_compat": True},
            "pruning must be None with clus_compat=True, or .* got 'pessimistic' with criterion="
            "'variance': CLUS does not prune",
        ),
        (
            {"pruning": "reduced_error", "criterion": "entropy", "clus_compat": True},
            "pruning must be None with clus_compat=True, or 'pessimistic'.*got 'reduced_error'",
        ),
    ],
)
def test_invalid_parameters_raise_errors(settings, message):
    with pytest.raises(ValueError, match=message):
        PCTClassifier(**settings).fit(X, Y)


def test_local_models_have_no_validation_rows():
    local = PerNodeClassifier(estimator=PCTClassifier(pruning="reduced_error"))
    with pytest.raises(ValueError, match="local models have no validation rows"):
        local.fit(X, Y)
