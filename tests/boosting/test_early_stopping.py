"""Early stopping, refitting and warm starts of gradient boosting."""

import numpy as np
import pytest
from sklearn import metrics
from sklearn.base import clone
from sklearn.datasets import load_iris

import ramify
from ramify import (
    Hierarchy,
    PCTGradientBoostingClassifier,
    load_animals,
    make_hierarchical_classification,
)
from ramify.metrics import get_scorer, plot_staged_loss, pooled_auprc


@pytest.fixture(scope="module")
def data():
    return make_hierarchical_classification(200, 6, n_labels=15, random_state=0, as_frame=False)


def boosted(**settings):
    return PCTGradientBoostingClassifier(
        **{"max_iter": 15, "max_depth": 3, "random_state": 0} | settings
    )


# ---- early stopping ------------------------------------------------------------------------


def test_the_model_keeps_the_best_round():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    labels = [["a"] if x + rng.normal() > 0 else ["b"] for x in X[:, 0]]  # noise to overfit
    model = boosted(max_iter=200, learning_rate=0.5, loss="logistic")
    model.fit(X[:80], labels[:80], X_val=X[80:], y_val=labels[80:])
    scores = model.validation_score_
    assert model.n_iter_ == np.argmax(scores) < 190
    assert len(scores) == model.n_iter_ + 1 + model.n_iter_no_change
    truth = Hierarchy.from_labels(["a", "b"]).encode(labels[80:]).toarray() > 0
    p = model.predict_proba(X[80:])
    loss = -np.where(truth, np.log(p), np.log(1 - p)).sum(axis=1).mean()
    assert loss == pytest.approx(-scores[model.n_iter_], rel=1e-4)


def test_held_out_rows_are_not_learnt(data):
    X, y = data.X, data.y
    model = boosted(hierarchy=data.hierarchy, n_iter_no_change=15, sketch_size=8)
    found = clone(model).fit(X[:150], y[:150], X_val=X[150:], y_val=y[150:])
    alone = model.set_params(max_iter=found.n_iter_).fit(X[:150], y[:150])
    assert found.baseline_.tolist() == alone.baseline_.tolist()
    np.testing.assert_array_equal(found.predict_proba(X), alone.predict_proba(X))


@pytest.mark.parametrize("given", [True, False])
def test_refit_learns_the_chosen_rounds_from_all_rows(data, given):
    X, y = data.X, data.y
    chooser = boosted(hierarchy=data.hierarchy, early_stopping=True, max_iter=12)
    model = clone(chooser).set_params(refit=True)
    for estimator in (chooser, model):
        if given:
            estimator.fit(X[:150], y[:150], X_val=X[150:], y_val=y[150:])
        else:
            estimator.fit(X, y)
    assert model.n_iter_ == chooser.n_iter_ > 0
    np.testing.assert_array_equal(model.validation_score_, chooser.validation_score_)
    everything = boosted(hierarchy=data.hierarchy, max_iter=model.n_iter_).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), everything.predict_proba(X))


def _own_scorer(estimator, X, y):
    scores = estimator.predict_proba(X)
    return pooled_auprc(y, scores, hierarchy=estimator.hierarchy_)


@pytest.mark.parametrize(
    ("scoring", "scorer"),
    [
        ("pooled_auprc", get_scorer("pooled_auprc")),
        ("neg_hamming_loss", get_scorer("neg_hamming_loss")),
        (get_scorer("mean_auprc"), get_scorer("mean_auprc")),
        (_own_scorer, _own_scorer),
    ],
)
def test_scoring_measures_the_held_out_rows(data, scoring, scorer):
    X, y = data.X, data.y
    model = boosted(hierarchy=data.hierarchy, scoring=scoring)
    model.fit(X[:150], y[:150], X_val=X[150:], y_val=y[150:])
    found = model.validation_score_[model.n_iter_]
    assert found == model.validation_score_.max()
    assert scorer(model, X[150:], y[150:]) == pytest.approx(found, rel=1e-12)


def test_weights_of_validation_rows_count(data):
    X, y = data.X, data.y
    weights = np.arange(50) % 3
    model = boosted(hierarchy=data.hierarchy, max_iter=3, scoring="pooled_auprc")
    model.fit(X[:150], y[:150], X_val=X[150:], y_val=y[150:], sample_weight_val=weights)
    scores = model.predict_proba(X[150:])
    expected = pooled_auprc(y[150:], scores, hierarchy=data.hierarchy, sample_weight=weights)
    assert model.validation_score_[model.n_iter_] == pytest.approx(expected, rel=1e-12)


def test_validation_rows_may_have_new_label_sets_and_categories():
    X = np.array([[0.0, 1], [1, 1], [2, 0]] * 10)
    X_val = np.array([[0.0, 7], [5, 1]])
    y, y_val = [["a"], ["b"], ["c"]] * 10, [["a", "b"], []]
    model = boosted(loss="softmax", categorical_features=[1], max_iter=5)
    with pytest.warns(UserWarning, match="no rounds are kept: in 5 rounds"):
        model.fit(X, y, X_val=X_val, y_val=y_val)
    assert np.isfinite(model.validation_score_).all()
    scores = model.predict_proba(X_val)
    assert ((scores >= 0) & (scores <= 1)).all()


def test_auto_holds_out_rows_if_there_are_many():
    X = np.random.default_rng(0).normal(size=(10_001, 1))
    y = np.where(X[:, 0] > 0, "a", "b")
    model = boosted(max_iter=2)
    assert len(clone(model).fit(X, y).validation_score_) == 3
    assert len(clone(model).fit(X[1:], y[1:]).validation_score_) == 0


def test_a_score_that_is_not_a_number_is_an_error(data):
    model = boosted(hierarchy=data.hierarchy, scoring=lambda *_: np.nan, early_stopping=True)
    with pytest.raises(ValueError, match="scoring must be a number on the held-out rows"):
        model.fit(data.X, data.y)


def test_a_model_without_rounds_predicts_shares_and_can_be_saved(tmp_path, data):
    model = boosted(hierarchy=data.hierarchy, early_stopping=True, scoring=lambda *_: 0.0)
    with pytest.warns(UserWarning, match=r"no rounds are kept: in 10 rounds, .* shares, 0\. Use"):
        model.fit(data.X, data.y)
    assert model.n_iter_ == 0
    scores = model.predict_proba(data.X)
    assert (scores == scores[0]).all()
    assert model.feature_importances_.tolist() == [0.0] * 6
    ramify.save(model.set_params(scoring="loss"), tmp_path / "model.ramify")
    loaded = ramify.load(tmp_path / "model.ramify")
    np.testing.assert_array_equal(loaded.predict_proba(data.X), scores)


def test_bad_validation_rows_are_named():
    X, y = np.arange(20.0)[:, None], ["a", "b"] * 10
    with pytest.raises(ValueError, match="y_val must be given with X_val"):
        boosted().fit(X, y, X_val=X)
    with pytest.raises(ValueError, match="X_val must be given with y_val"):
        boosted().fit(X, y, y_val=y)
    with pytest.raises(ValueError, match="early_stopping must be True or 'auto' if X_val"):
        boosted(early_stopping=False).fit(X, y, X_val=X, y_val=y)
    with pytest.raises(ValueError, match="X_val has 20 rows, but y_val has 19"):
        boosted().fit(X, y, X_val=X, y_val=y[1:])
    with pytest.raises(ValueError, match="validation_fraction must leave rows for both"):
        boosted(early_stopping=True, validation_fraction=0.01).fit(X, y)


def test_the_progress_bar_shows_the_score(data, capsys):
    pytest.importorskip("rich")
    boosted(hierarchy=data.hierarchy, early_stopping=True, verbose=True).fit(data.X, data.y)
    assert "validation score" in capsys.readouterr().err


def test_the_loss_by_rounds_is_plotted(data):
    pytest.importorskip("matplotlib")
    model = boosted(hierarchy=data.hierarchy, max_iter=10).fit(data.X, data.y)
    axes = plot_staged_loss({"boosting": model}, data.X, data.y, every=4)
    assert axes.lines[0].get_xdata().tolist() == [1, 4, 8, 10]


# ---- warm start ----------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["logistic", "softmax"])
def test_a_warm_start_equals_learning_at_once(data, loss):
    X, y = data.X, data.y
    model = boosted(hierarchy=data.hierarchy, loss=loss, sketch_size=8)
    once = clone(model).set_params(max_iter=12).fit(X, y)
    model.set_params(max_iter=5, warm_start=True).fit(X, y)
    earlier = model.trees_
    model.set_params(max_iter=12).fit(X, y)
    assert len(earlier) == 5
    np.testing.assert_array_equal(model.predict_proba(X), once.predict_proba(X))


def test_a_warm_start_with_early_stopping_continues_the_scores(data):
    X, y = data.X, data.y
    model = boosted(hierarchy=data.hierarchy, early_stopping=True, n_iter_no_change=50)
    once = clone(model).set_params(max_iter=12).fit(X, y)
    model.set_params(max_iter=5, warm_start=True).fit(X, y)
    model.set_params(max_iter=12).fit(X, y)
    np.testing.assert_allclose(model.validation_score_, once.validation_score_, rtol=1e-6)


def test_a_warm_start_needs_the_same_data(data):
    X, y = data.X, data.y
    model = boosted(hierarchy=data.hierarchy, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="X and y must have the same features and labels"):
        model.set_params(max_iter=20).fit(X[:, :4], y)
    with pytest.raises(ValueError, match="max_iter must be at least 15 with warm_start=True"):
        model.set_params(max_iter=3).fit(X, y)
    with pytest.raises(ValueError, match="loss must be 'logistic' as in the previous fit"):
        model.set_params(max_iter=20, loss="softmax").fit(X, y)
    with pytest.warns(UserWarning, match="warm_start=True adds no trees"):
        model.set_params(max_iter=15, loss="auto").fit(X, y)


def test_a_warm_start_of_softmax_needs_the_same_label_sets(data):
    model = boosted(warm_start=True).fit(data.X, [["a"], ["b"]] * 100)
    with pytest.raises(ValueError, match="y must have the same label sets"):
        model.set_params(max_iter=20).fit(data.X, [["a"], ["b"]] * 99 + [["a", "b"]] * 2)


def test_scores_of_some_rounds_are_those_of_all_rounds(data):
    X, y = data.X, data.y
    model = boosted(hierarchy=data.hierarchy, scoring="pooled_auprc", n_iter_no_change=15)
    dense = clone(model).fit(X[:150], y[:150], X_val=X[150:], y_val=y[150:])
    model = model.set_params(score_every=4).fit(X[:150], y[:150], X_val=X[150:], y_val=y[150:])
    scored = np.arange(0, 16, 4)
    assert np.flatnonzero(~np.isnan(model.validation_score_)).tolist() == scored.tolist()
    expected = dense.validation_score_[scored]
    np.testing.assert_array_equal(model.validation_score_[scored], expected)
    assert model.n_iter_ == scored[np.argmax(expected)]


def test_few_scores_stop_after_the_same_number_of_rounds_without_improvement():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    labels = [["a"] if x + rng.normal() > 0 else ["b"] for x in X[:, 0]]
    model = boosted(max_iter=200, learning_rate=0.5, loss="logistic", score_every=5)
    model.fit(X[:80], labels[:80], X_val=X[80:], y_val=labels[80:])
    assert len(model.validation_score_) == model.n_iter_ + 1 + model.n_iter_no_change


def test_score_every_is_checked(data):
    with pytest.raises(ValueError, match="score_every must be an integer >= 1, got 0"):
        boosted(hierarchy=data.hierarchy, score_every=0).fit(data.X, data.y)


# ---- scorers of scikit-learn, and scores that do not improve --------------------------------


@pytest.mark.parametrize("kind", ["classes", "paths", "sets"])
def test_scorers_of_scikit_learn_score_labels(data, kind):
    X, y = load_iris(return_X_y=True)
    hierarchy = None
    if kind == "sets":
        X, y, hierarchy = data.X, data.hierarchy.decode(data.y), data.hierarchy
    elif kind == "paths":
        y = np.array(["a/x", "a/y", "b"])[y]
    settings = {"hierarchy": hierarchy, "early_stopping": True, "validation_fraction": 0.3}
    theirs = boosted(scoring=metrics.make_scorer(metrics.f1_score, average="micro"), **settings)
    theirs.fit(X, y)
    assert theirs.validation_score_.max() > theirs.validation_score_[0]
    ours = boosted(scoring="subset_accuracy" if kind != "sets" else "micro_f1", **settings)
    np.testing.assert_allclose(ours.fit(X, y).validation_score_, theirs.validation_score_)


def test_scorers_that_cannot_score_paths_are_explained():
    X, y = load_iris(return_X_y=True)
    paths = np.array(["a/x", "a/y", "b"])[y]
    model = boosted(early_stopping=True, scoring=metrics.get_scorer("roc_auc_ovr"))
    with pytest.raises(ValueError, match=r"cannot score labels of this form.*get_scorer_names"):
        model.fit(X, paths)
    with pytest.raises(ValueError, match="scikit-learn's 'accuracy' is 'subset_accuracy' here"):
        model.set_params(scoring="accuracy").fit(X, paths)


@pytest.mark.parametrize("scoring", ["macro_f1", "hierarchical_f1", "micro_f1"])
def test_measures_of_label_sets_improve_from_the_first_rounds(scoring):
    data = load_animals(as_frame=False)
    model = PCTGradientBoostingClassifier(
        data.hierarchy, early_stopping=True, scoring=scoring, random_state=0
    )
    assert model.fit(data.X, data.y).n_iter_ > 5


def test_probabilities_of_flat_classes_sum_to_one():
    X, y = load_iris(return_X_y=True)
    scores = PCTGradientBoostingClassifier(max_iter=20, random_state=0).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(scores.sum(axis=1), 1, rtol=0, atol=1e-15)
    metrics.log_loss(y, scores)  # warns of sums that are not 1
