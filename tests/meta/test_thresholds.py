"""Tests of TunedThresholdClassifierCV around classifiers of all kinds."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, RepeatedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import LinearSVC

from ramify import (
    CalibratedHierarchicalClassifier,
    HierarchicalStratifiedKFold,
    Hierarchy,
    PCTClassifier,
    PCTForestClassifier,
    TunedThresholdClassifierCV,
    load_animals,
)
from ramify.decision import apply_threshold, choose_thresholds
from ramify.metrics import get_scorer, hmc_loss, micro_f1, micro_precision_recall_f1

TREE = Hierarchy.from_paths(["a/b/c", "a/b/d", "a/e", "f/g", "f/h"])


@pytest.fixture(scope="module")
def problem():
    """Label sets that a classifier can learn, but not perfectly."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 4))
    scores = X @ rng.normal(size=(4, TREE.n_labels)) + rng.normal(size=(150, TREE.n_labels))
    leaves = TREE.indices(TREE.leaves)
    Y = np.zeros((150, TREE.n_labels), dtype=int)
    Y[:, leaves] = scores[:, leaves] > 1
    return X, TREE.close(Y)


@pytest.fixture(scope="module")
def paths():
    """One path per row."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(150, 3))
    names = np.array(["a/b", "a/c", "a", "d"])
    return X, names[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0) + (X[:, 2] > 0.5)]


def tree(**settings):
    return PCTClassifier(TREE, min_samples_leaf=5, random_state=0, **settings)


@pytest.mark.parametrize("goal", ["micro_f1", "macro_f1", "precision", "cost"])
@pytest.mark.parametrize("per", ["all", "level", "label"])
def test_thresholds_are_chosen_on_held_out_rows(problem, goal, per):
    X, Y = problem
    options = {"goal": goal, "per": per, "min_precision": 0.6, "alpha": 2.0, "costs": "uniform"}
    tuned = TunedThresholdClassifierCV(tree(), cv=3, random_state=1, **options).fit(X, Y)
    scores, rows = [], []
    for train, test in KFold(3, shuffle=True, random_state=1).split(X):
        scores.append(tree().fit(X[train], Y[train]).predict_proba(X[test]))
        rows.append(test)
    order = np.concatenate(rows)
    expected = choose_thresholds(Y[order], np.concatenate(scores), TREE, **options)
    np.testing.assert_array_equal(tuned.thresholds_, expected)
    np.testing.assert_array_equal(tuned.predict_proba(X), tree().fit(X, Y).predict_proba(X))
    chosen = apply_threshold(tuned.predict_proba(X), expected, TREE)
    assert (tuned.predict(X) != chosen).nnz == 0


@pytest.mark.parametrize("goal", ["micro_f1", "precision", "cost"])
def test_best_score_is_the_score_of_the_thresholds(problem, goal):
    X, Y = problem
    options = {"goal": goal, "min_precision": 0.5, "per": "label"}
    tuned = TunedThresholdClassifierCV(tree(), **options)
    tuned.fit(X[:100], Y[:100], X_val=X[100:], y_val=Y[100:])
    predicted = tuned.predict(X[100:])
    expected = {
        "micro_f1": micro_f1(Y[100:], predicted),
        "precision": micro_precision_recall_f1(Y[100:], predicted)[1],
        "cost": -hmc_loss(Y[100:], predicted, hierarchy=TREE),
    }
    assert tuned.best_score_ == pytest.approx(expected[goal])


def test_validation_rows_replace_cross_validation(problem):
    X, Y = problem
    tuned = TunedThresholdClassifierCV(tree()).fit(X[:90], Y[:90], X_val=X[90:], y_val=Y[90:])
    alone = tree().fit(X[:90], Y[:90])
    np.testing.assert_array_equal(tuned.predict_proba(X), alone.predict_proba(X))
    expected = choose_thresholds(Y[90:], alone.predict_proba(X[90:]), TREE)
    np.testing.assert_array_equal(tuned.thresholds_, expected)


def test_a_frozen_estimator_is_not_fitted_again(problem):
    X, Y = problem
    fitted = tree().fit(X[:90], Y[:90])
    tuned = TunedThresholdClassifierCV(FrozenEstimator(fitted), random_state=0).fit(X[90:], Y[90:])
    np.testing.assert_array_equal(tuned.predict_proba(X), fitted.predict_proba(X))
    # The model is the same in each fold, so the folds only change the order of the rows.
    expected = choose_thresholds(Y[90:], fitted.predict_proba(X[90:]), TREE)
    np.testing.assert_array_equal(tuned.thresholds_, expected)


@pytest.mark.parametrize(
    "estimator",
    [
        RandomForestClassifier(10, random_state=0),  # a list of arrays
        OneVsRestClassifier(LogisticRegression()),  # one array
        KNeighborsClassifier(),
        PCTForestClassifier(n_estimators=10, random_state=0),
        make_pipeline(FunctionTransformer(), PCTClassifier(random_state=0)),
        GridSearchCV(PCTClassifier(TREE, random_state=0), {"max_depth": [2, 4]}, cv=2),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_any_multilabel_classifier_can_be_wrapped(problem, estimator):
    X, Y = problem
    y = Y.toarray()
    tuned = TunedThresholdClassifierCV(estimator, hierarchy=TREE, per="label", random_state=0)
    predicted = tuned.fit(X[:100], y[:100]).predict(X[100:])
    np.testing.assert_array_equal(TREE.close(predicted).toarray(), predicted)
    assert micro_f1(y[100:], predicted) > 0.45
    scores = tuned.predict_proba(X)
    np.testing.assert_allclose(scores[7:8], tuned.predict_proba(X[7:8]), atol=1e-12)


def test_a_label_may_be_absent_from_a_fold(problem):
    X, _ = problem
    y = np.zeros((len(X), TREE.n_labels), dtype=int)
    y[0] = TREE.encode([["f/h"]]).toarray()
    y[1:80] = TREE.encode([["a/e"]]).toarray()
    forest = RandomForestClassifier(5, random_state=0)
    tuned = TunedThresholdClassifierCV(forest, hierarchy=TREE, cv=3, random_state=0).fit(X, y)
    assert tuned.predict_proba(X).shape == y.shape


@pytest.mark.parametrize(
    "estimator", [LogisticRegression(), PCTClassifier(random_state=0)], ids=["plain", "ours"]
)
def test_with_one_path_per_row_one_path_is_predicted(paths, estimator):
    X, y = paths
    tuned = TunedThresholdClassifierCV(estimator, per="level", random_state=0).fit(X, y)
    predicted = tuned.predict(X)
    assert set(predicted) <= {"a", "a/b", "a/c", "d"}
    assert np.mean(predicted == y) > 0.6
    assert tuned.score(X, y) == np.mean(predicted == y)
    scores = tuned.predict_proba(X)
    np.testing.assert_allclose(scores[:, [0, 3]].sum(axis=1), 1)
    with pytest.raises(ValueError, match="y had one label per row in fit"):
        tuned.predict(X, threshold=0.3)


def test_probabilities_of_classes_are_added_to_their_ancestors(paths):
    X, y = paths
    tuned = TunedThresholdClassifierCV(LogisticRegression(), random_state=0).fit(X, y)
    alone = LogisticRegression().fit(X, y)
    own = alone.predict_proba(X)  # a, a/b, a/c, d
    expected = np.column_stack([own[:, :3].sum(axis=1), own[:, 1], own[:, 2], own[:, 3]])
    np.testing.assert_allclose(tuned.predict_proba(X), expected, rtol=1e-12)


@pytest.mark.parametrize("form", ["sets", "levels", "joined", "one label"])
def test_y_in_other_formats(problem, form):
    X, Y = problem
    if form == "sets":
        y = [set(row) for row in TREE.decode(Y)]
    elif form == "levels":
        y = np.array([["a", "b"], ["a", ""], ["f", ""]] * 50)
    elif form == "joined":
        y = ["@".join(row) for row in TREE.decode(Y)]
    else:
        y = np.array([["x"], [""]] * 75, dtype=object)[:, 0].tolist()
        y = [[label] if label else [] for label in y]
    tuned = TunedThresholdClassifierCV(PCTClassifier(random_state=0), random_state=0).fit(X, y)
    predicted = tuned.predict(X[:3])
    assert type(predicted) is (np.ndarray if form in ("levels", "joined") else list)
    assert len(predicted) == 3


@pytest.mark.parametrize(
    "cv",
    [
        HierarchicalStratifiedKFold(3, hierarchy=TREE, random_state=0),
        RepeatedKFold(n_splits=2, n_repeats=2, random_state=0),
        [(np.arange(100), np.arange(100, 150))],
    ],
    ids=["stratified", "repeated", "one split"],
)
def test_cv_may_be_a_splitter_or_a_list_of_splits(problem, cv):
    X, Y = problem
    tuned = TunedThresholdClassifierCV(tree(), cv=cv).fit(X, Y.toarray())
    assert 0 < tuned.thresholds_[0] < 1


def test_sample_weights_are_used_by_the_estimator_and_the_goal(problem):
    X, Y = problem
    weights = np.where(np.arange(150) < 100, 1.0, 0.0)
    tuned = TunedThresholdClassifierCV(tree(), cv=[(np.arange(80), np.arange(80, 150))])
    weighted = tuned.fit(X, Y, sample_weight=weights).thresholds_
    expected = tree().fit(X, Y, sample_weight=weights).predict_proba(X)
    np.testing.assert_array_equal(tuned.predict_proba(X), expected)
    tuned.cv = [(np.arange(80), np.arange(80, 100))]
    np.testing.assert_array_equal(tuned.fit(X[:100], Y[:100]).thresholds_, weighted)


def test_sample_weights_of_a_pipeline_need_metadata_routing(problem):
    X, Y = problem
    weights = np.linspace(0.5, 2, 150)
    asking = tree()
    pipeline = make_pipeline(FunctionTransformer(), asking)
    tuned = TunedThresholdClassifierCV(pipeline, random_state=0)
    with pytest.raises(
        TypeError, match=r"Pipeline\.fit takes none.* enable scikit-learn's metadata r"
    ):
        tuned.fit(X, Y, sample_weight=weights)
    with sklearn.config_context(enable_metadata_routing=True):
        asking.set_fit_request(sample_weight=True)
        tuned.fit(X, Y, sample_weight=weights)
    plain = TunedThresholdClassifierCV(tree(), random_state=0).fit(X, Y, sample_weight=weights)
    np.testing.assert_array_equal(tuned.thresholds_, plain.thresholds_)


def test_a_calibrated_classifier_can_be_tuned(problem):
    X, Y = problem
    calibrated = CalibratedHierarchicalClassifier(tree(), cv=3, random_state=0)
    tuned = TunedThresholdClassifierCV(calibrated, cv=3, per="label", random_state=0).fit(X, Y)
    assert micro_f1(Y, tuned.predict(X)) > 0.6


def test_grid_search_over_per_and_nested_parameters(problem):
    X, Y = problem
    search = GridSearchCV(
        TunedThresholdClassifierCV(tree(), cv=3, random_state=0),
        {"per": ["all", "level"], "estimator__max_depth": [2, 5]},
        scoring=get_scorer("micro_f1"),
        cv=3,
    )
    search.fit(X, Y.toarray())
    assert search.best_params_["estimator__max_depth"] in (2, 5)


def test_data_frames_with_nominal_columns():
    data = load_animals()
    model = PCTForestClassifier(data.hierarchy, n_estimators=20, redraw=True, random_state=0)
    gains = []
    for part in range(3):  # one division of so few rows says little
        test = np.arange(len(data.names)) % 3 == part
        tuned = TunedThresholdClassifierCV(model, per="level", cv=3, random_state=0)
        tuned.fit(data.X[~test], data.y[~test])
        found = micro_f1(data.y[test], tuned.predict(data.X[test]))
        gains.append(found - micro_f1(data.y[test], tuned.predict(data.X[test], threshold=0.5)))
    assert min(gains) > 0.01
    assert np.mean(gains) > 0.02
    assert list(tuned.feature_names_in_) == list(data.X.columns)


def test_errors_name_the_parameter_and_its_value(problem):
    X, Y = problem
    with pytest.raises(ValueError, match=r"goal must be one of.*got 'accuracy'"):
        TunedThresholdClassifierCV(tree(), goal="accuracy").fit(X, Y)
    with pytest.raises(ValueError, match=r"per must be one of.*got 'depth'"):
        TunedThresholdClassifierCV(tree(), per="depth").fit(X, Y)
    with pytest.raises(ValueError, match=r"coherence must be one of.*got 'mean'"):
        TunedThresholdClassifierCV(tree(), coherence="mean").fit(X, Y)
    with pytest.raises(ValueError, match="cv must be an integer >= 2, got 1"):
        TunedThresholdClassifierCV(tree(), cv=1).fit(X, Y)
    with pytest.raises(ValueError, match="number of rows, got cv=5 and n_samples=3"):
        TunedThresholdClassifierCV(tree()).fit(X[:3], Y[:3])
    with pytest.raises(ValueError, match="X has 150 rows, but y has 149"):
        TunedThresholdClassifierCV(tree()).fit(X, Y[:149])
    with pytest.raises(TypeError, match="estimator must have predict_proba, got LinearSVC"):
        TunedThresholdClassifierCV(LinearSVC(), hierarchy=Hierarchy.from_labels([0, 1])).fit(
            X, (X[:, 0] > 0).astype(int)
        )
    with pytest.raises(ValueError, match="Pass the hierarchy in one place only"):
        TunedThresholdClassifierCV(tree(), hierarchy=Hierarchy.from_labels(["z"])).fit(X, Y)
    with pytest.raises(TypeError, match=r"KNeighborsClassifier\.fit takes none"):
        TunedThresholdClassifierCV(KNeighborsClassifier(), hierarchy=TREE).fit(
            X, Y, sample_weight=np.ones(150)
        )
