"""Boosted classifiers: switches, stopping, predictions, threads and errors."""

from __future__ import annotations

import signal

import numpy as np
import pytest
from scipy import sparse, special
from sklearn.tree import DecisionTreeClassifier

import ramify
from ramify import AdaBoostMHClassifier, HierarchicalAdaBoostMHClassifier, Hierarchy
from ramify.boosting.adaboost import Rounds
from ramify.metrics import hierarchical_hamming_loss

TREE = Hierarchy.from_paths(["a/b/c", "a/b/d", "a/e", "f/g", "f/h"])


def make_problem(n=300, seed=0, n_features=6, hierarchy=TREE):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    leaves = list(hierarchy.leaves)
    place = X[:, :2].sum(axis=1) + 0.3 * rng.normal(size=n)
    chosen = np.digitize(place, np.quantile(place, np.linspace(0, 1, len(leaves) + 1)[1:-1]))
    return X, hierarchy.encode([[leaves[k]] for k in chosen])


@pytest.fixture(scope="module")
def problem():
    return make_problem()


# ---- the method ----------------------------------------------------------------------------


def test_all_switches_off_give_adaboost_mh(problem):
    plain = AdaBoostMHClassifier(TREE, n_estimators=15).fit(*problem)
    off = HierarchicalAdaBoostMHClassifier(
        TREE, costs="uniform", top_down=False, inherit_mistakes=False, n_estimators=15
    ).fit(*problem)
    np.testing.assert_array_equal(
        off.decision_function(problem[0]), plain.decision_function(problem[0])
    )


@pytest.mark.parametrize(
    "change",
    [{"costs": "uniform"}, {"top_down": False}, {"top_down": True}, {"inherit_mistakes": True}],
)
def test_each_switch_changes_the_model(problem, change):
    full = HierarchicalAdaBoostMHClassifier(TREE, n_estimators=15).fit(*problem)
    less = HierarchicalAdaBoostMHClassifier(TREE, n_estimators=15, **change).fit(*problem)
    assert not np.array_equal(
        full.decision_function(problem[0]), less.decision_function(problem[0])
    )


def test_first_round_is_as_good_as_a_stump_of_scikit_learn():
    """With equal weights, the error of a stump is at most that of scikit-learn's best stump."""
    X, Y = make_problem()
    model = AdaBoostMHClassifier(TREE, n_estimators=1).fit(X, Y)
    votes = model.decision_function(X) > 0
    for label, truth in enumerate(Y.toarray().T):
        stump = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, truth)
        assert (votes[:, label] == truth).mean() >= stump.score(X, truth) - 1e-12


def test_votes_of_corrected_rounds_are_coherent(problem):
    model = HierarchicalAdaBoostMHClassifier(TREE, top_down=True, n_estimators=30)
    margins = model.fit(*problem).decision_function(problem[0])
    for label in TREE.labels:
        for parent in TREE.parents(label):
            above = margins[:, TREE.index(parent)]
            assert (margins[:, TREE.index(label)] <= above + 1e-12).all()


def test_deeper_trees_fit_better(problem):
    X, Y = problem
    losses = [
        hierarchical_hamming_loss(
            Y, AdaBoostMHClassifier(TREE, max_depth=depth, n_estimators=10).fit(X, Y).predict(X)
        )
        for depth in (1, 3)
    ]
    assert losses[1] < losses[0]


def test_custom_costs(problem):
    as_shared = HierarchicalAdaBoostMHClassifier(TREE, costs=TREE.costs(), n_estimators=5)
    shared = HierarchicalAdaBoostMHClassifier(TREE, n_estimators=5).fit(*problem)
    np.testing.assert_array_equal(as_shared.fit(*problem).alphas_, shared.alphas_)


# ---- stopping ------------------------------------------------------------------------------


def test_a_perfect_round_is_kept_and_is_the_last():
    model = AdaBoostMHClassifier().fit([[1.0], [2.0], [3.0]], ["a", "a", "b"])
    assert (model.n_rounds_, model.stop_reason_) == (1, "perfect")
    assert model.alphas_[0] == pytest.approx(0.5 * np.log(2e10), rel=1e-6)
    assert model.predict([[1.5], [9.0]]).tolist() == ["a", "b"]


def test_a_round_no_better_than_chance_is_not_kept():
    model = AdaBoostMHClassifier().fit(np.zeros((2, 1)), np.array([[0, 0], [1, 1]]))
    assert (model.n_rounds_, model.stop_reason_) == (0, "chance")
    np.testing.assert_array_equal(model.predict_proba(np.zeros((2, 1))), 0.5)
    assert list(model.staged_predict(np.zeros((2, 1)))) == []


def test_relaxed_rounds_continue_where_corrected_rounds_stop():
    X, Y = make_problem(n=150, seed=3)
    options = {"top_down": True, "inherit_mistakes": True, "n_estimators": 80}
    stopped = HierarchicalAdaBoostMHClassifier(TREE, **options).fit(X, Y)
    relaxed = HierarchicalAdaBoostMHClassifier(TREE, at_chance="relax", **options).fit(X, Y)
    assert stopped.stop_reason_ == "chance"
    assert relaxed.n_rounds_ > stopped.n_rounds_
    n = stopped.n_rounds_
    np.testing.assert_array_equal(relaxed.alphas_[:n], stopped.alphas_)
    follows = relaxed.rounds_.top_down.reshape(-1, TREE.n_labels)
    assert follows[:n].all()
    assert not follows[n].any()


def test_the_best_of_two_searches_continues_where_algorithm_1_stops():
    X, Y = make_problem(n=150, seed=3)
    options = {"n_estimators": 80, "inherit_mistakes": False}
    stopped = HierarchicalAdaBoostMHClassifier(TREE, top_down=True, **options).fit(X, Y)
    best = HierarchicalAdaBoostMHClassifier(TREE, **options).fit(X, Y)
    assert stopped.n_rounds_ < best.n_rounds_ == 80
    follows = best.rounds_.top_down.reshape(-1, TREE.n_labels)
    top = [TREE.index("a"), TREE.index("f")]
    assert not follows[:, top].any()
    assert 0 < follows.sum() < follows.size - 2 * len(follows)  # neither tree is always better


def test_early_stopping_keeps_the_rounds_with_the_smallest_loss():
    X, Y = make_problem(n=200)
    Y = Y[np.random.default_rng(0).permutation(200)]  # nothing to learn
    model = HierarchicalAdaBoostMHClassifier(
        TREE, n_estimators=200, early_stopping=True, n_iter_no_change=5, random_state=0
    ).fit(X, Y)
    assert model.stop_reason_ == "validation"
    losses = model.validation_losses_
    assert model.n_rounds_ == np.argmin(losses) + 1 == len(losses) - 5
    assert len(model.edges_) == len(model.alphas_) == model.n_rounds_


def test_validation_losses_are_computed_on_the_held_out_rows(problem):
    X, Y = problem
    model = HierarchicalAdaBoostMHClassifier(
        TREE, n_estimators=6, early_stopping=True, validation_fraction=0.2, random_state=1
    ).fit(X, Y)
    _, kept = model._split(np.arange(len(X)))
    assert len(kept) == 60
    expected = [
        hierarchical_hamming_loss(Y[kept], stage, hierarchy=TREE)
        for stage in model.staged_predict(X[kept], decide="separately")
    ]
    np.testing.assert_allclose(model.validation_losses_[: model.n_rounds_], expected)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="requires POSIX timers")
def test_ctrl_c_interrupts_native_code():
    def interrupt(*_):
        raise KeyboardInterrupt

    X, Y = make_problem(n=20_000, n_features=200)  # a round takes a while
    # Use SIGALRM, because SIGINT may be ignored if the tests run in the background.
    before = signal.signal(signal.SIGALRM, interrupt)
    model = AdaBoostMHClassifier(TREE, n_estimators=100_000, n_jobs=2)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.5, 5)  # Python ignores it inside a destructor
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, Y)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert not hasattr(model, "rounds_")


# ---- predictions ---------------------------------------------------------------------------


def test_probabilities_are_logistic_and_predictions_are_signs_of_margins(problem):
    X, Y = problem
    model = AdaBoostMHClassifier(TREE, n_estimators=40).fit(X, Y)
    margins = model.decision_function(X)
    scores = model.predict_proba(X)
    top = [TREE.index("a"), TREE.index("f")]
    np.testing.assert_allclose(scores[:, top], special.expit(2 * margins[:, top]))
    positive = margins >= 0
    for j, label in enumerate(TREE.labels):
        lineage = [j, *TREE.indices(TREE.ancestors(label))]
        predicted = model.predict(X, decide="separately").toarray()[:, j] > 0
        np.testing.assert_array_equal(predicted, positive[:, lineage].all(axis=1))


def test_last_stage_equals_the_prediction(problem):
    X, Y = problem
    model = HierarchicalAdaBoostMHClassifier(TREE, n_estimators=12).fit(X, Y)
    *_, margins = model.staged_decision_function(X)
    *_, scores = model.staged_predict_proba(X)
    *_, predicted = model.staged_predict(X)
    np.testing.assert_array_equal(margins, model.decision_function(X))
    np.testing.assert_array_equal(scores, model.predict_proba(X))
    np.testing.assert_array_equal(predicted.toarray(), model.predict(X).toarray())
    assert len(list(model.staged_predict(X))) == model.n_rounds_


def test_two_classes_have_one_margin_as_in_scikit_learn(problem):
    X = problem[0]
    y = np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, "yes", "no")
    model = AdaBoostMHClassifier(n_estimators=20).fit(X, y)
    decision = model.decision_function(X)
    assert decision.shape == (len(X),)
    np.testing.assert_array_equal(model.predict(X), np.where(decision > 0, "yes", "no"))
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


@pytest.mark.parametrize("shared_test", [False, True])
@pytest.mark.parametrize("max_depth", [1, 2])
def test_number_of_threads_does_not_change_the_model(shared_test, max_depth):
    hierarchy = Hierarchy.from_paths([f"{k % 5}/{k}" for k in range(40)])
    X, Y = make_problem(n=2500, n_features=8, hierarchy=hierarchy)
    X[::7, 3] = np.nan
    models = [
        HierarchicalAdaBoostMHClassifier(
            hierarchy, n_estimators=6, shared_test=shared_test, max_depth=max_depth, n_jobs=n_jobs
        ).fit(X, Y)
        for n_jobs in (1, 2, 3)
    ]
    for model in models[1:]:
        np.testing.assert_array_equal(model.alphas_, models[0].alphas_)
        np.testing.assert_array_equal(model.rounds_.threshold, models[0].rounds_.threshold)
        np.testing.assert_array_equal(model.decision_function(X), models[0].decision_function(X))


def test_single_precision_and_sparse_rows_give_the_same_predictions(problem):
    X, Y = problem
    X = np.where(abs(X) < 0.5, 0.0, X).astype(np.float32)
    model = AdaBoostMHClassifier(TREE, n_estimators=10).fit(X, Y)
    expected = model.decision_function(X)
    np.testing.assert_array_equal(model.decision_function(X.astype(np.float64)), expected)
    np.testing.assert_array_equal(model.decision_function(sparse.csr_matrix(X)), expected)


def test_rows_of_weight_0_are_ignored(problem):
    X, Y = problem
    weights = np.where(X[:, 2] > 0, 1.0, 0.0)
    model = AdaBoostMHClassifier(TREE, n_estimators=10).fit(X, Y, sample_weight=weights)
    less = AdaBoostMHClassifier(TREE, n_estimators=10).fit(X[weights > 0], Y[weights > 0])
    np.testing.assert_array_equal(model.decision_function(X), less.decision_function(X))


# ---- errors --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ("n_estimators", 0, "n_estimators must be an integer >= 1, got 0"),
        ("max_depth", 9, "max_depth must be an integer from 1 to 8, got 9"),
        ("max_bins", 0, "max_bins must be .*, got 0"),
        ("costs", "equal", "costs must be one of 'shared', 'uniform'.*got 'equal'"),
        ("costs", [1.0, 2.0], r"or an array of shape \(8,\), got shape \(2,\)"),
        ("costs", [0.0] * 8, "costs must be finite and positive, got 0.0"),
        ("at_chance", "flip", "at_chance must be .*, got 'flip'"),
        ("top_down", "always", "top_down must be 'best', True or False, got 'always'"),
    ],
)
def test_invalid_parameters_raise_errors(problem, parameter, value, message):
    model = HierarchicalAdaBoostMHClassifier(TREE).set_params(**{parameter: value})
    with pytest.raises(ValueError, match=message):
        model.fit(*problem)


def test_validation_fraction_must_select_rows(problem):
    model = AdaBoostMHClassifier(TREE, early_stopping=True, validation_fraction=0.001)
    with pytest.raises(ValueError, match=r"got 0\.001, which selects 0 of 300 rows"):
        model.fit(*problem)


def test_damaged_rounds_are_rejected(problem, tmp_path, monkeypatch):
    model = AdaBoostMHClassifier(TREE, n_estimators=3).fit(*problem)
    ramify.save(model, tmp_path / "good")
    assert ramify.load(tmp_path / "good").rounds_.n_rounds == 3
    rounds = vars(model.rounds_)
    for name, damage in [
        ("feature", rounds["feature"] + 100),
        ("threshold", rounds["threshold"][:-1]),
        ("sign", rounds["sign"][:-8]),
        ("category_indptr", rounds["category_indptr"] + 1),
        ("depth", 20),
    ]:
        model.rounds_ = Rounds(**{**rounds, name: damage})
        with monkeypatch.context() as patch:  # a file written by other means
            patch.setattr("ramify.saving.kinds._check_instance", lambda *_: None)
            ramify.save(model, tmp_path / "bad")
        with pytest.raises(ramify.ModelFileError):
            ramify.load(tmp_path / "bad")
