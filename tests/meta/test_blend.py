import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.model_selection import ShuffleSplit
from sklearn.preprocessing import StandardScaler

import ramify
from ramify import BlendClassifier, Hierarchy, make_hierarchical_classification
from ramify.data.scaling import Components, Scaling
from ramify.inspection import explain, export_text
from ramify.meta.members import MemberInputs
from ramify.metrics import micro_f1, pooled_auprc
from ramify.saving.container import ModelFileError
from tests.support.budget import budget
from tests.support.local_cases import is_coherent


def problem(n_rows=150, **settings):
    return make_hierarchical_classification(
        n_rows, 6, n_labels=9, random_state=0, as_frame=False, **settings
    )


def paths(n_rows=120):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 4))
    ends = np.array(["a/b", "a/c", "d"])
    return X, ends[(X[:, 0] > 0) + (X[:, 1] > 0.5).astype(int)]


def blend(data, **settings):
    return BlendClassifier(data.hierarchy, random_state=0, **settings).fit(data.X, data.y)


# ---- the mean ------------------------------------------------------------------------------


def test_probabilities_are_the_weighted_mean_of_the_members():
    data = problem()
    model = blend(data, cv=2)
    parts = [member.predict_proba(data.X) for member in model.estimators_]
    expected = np.average(parts, axis=0, weights=model.weights_)
    assert_allclose(model.predict_proba(data.X), expected, atol=1e-12)
    assert is_coherent(model.predict_proba(data.X), data.hierarchy)
    assert list(model.named_estimators_) == ["boosting", "extra trees", "neighbours"]


def test_the_blend_is_no_worse_on_held_out_rows_than_any_member():
    data = problem()
    model = blend(data)
    assert model.best_score_ >= max(model.member_scores_.values())
    assert set(model.member_scores_) == set(model.named_estimators_)


def test_the_score_is_that_of_validation_rows_if_there_are_any():
    data = problem()
    model = BlendClassifier(data.hierarchy, random_state=0)
    model.fit(data.X[:100], data.y[:100], X_val=data.X[100:], y_val=data.y[100:])
    found = pooled_auprc(data.y[100:], model.predict_proba(data.X[100:]))
    assert model.best_score_ == pytest.approx(found)
    boosting = model.named_estimators_["boosting"].estimator_
    assert boosting.n_iter_ < len(boosting.validation_score_)


def test_any_scorer_is_maximised():
    data = problem()
    model = BlendClassifier(data.hierarchy, scoring="micro_f1", random_state=0)
    model.fit(data.X[:100], data.y[:100], X_val=data.X[100:], y_val=data.y[100:])
    assert model.best_score_ == pytest.approx(micro_f1(data.y[100:], model.predict(data.X[100:])))


def test_rows_are_predicted_alone_as_in_a_batch_with_any_number_of_threads():
    data = problem()
    one, two = blend(data, cv=2, n_jobs=1), blend(data, cv=2, n_jobs=2)
    together = one.predict_proba(data.X)
    assert_array_equal(together, two.predict_proba(data.X))
    alone = np.vstack([one.predict_proba(row[None]) for row in data.X])
    assert_array_equal(together, alone)


# ---- the members ---------------------------------------------------------------------------


def test_linear_models_are_members_for_paths_and_for_sparse_rows():
    X, y = paths()
    assert "linear" in BlendClassifier(cv=2, random_state=0).fit(X, y).named_estimators_
    data = problem()
    dense = blend(data, cv=2)
    assert "label sets" in dense.left_out_["linear"]
    model = BlendClassifier(data.hierarchy, cv=2, random_state=0)
    model.fit(sparse.csr_array(data.X), data.y)
    assert list(model.named_estimators_) == ["boosting", "extra trees", "neighbours", "linear"]


def test_extra_trees_have_the_leaves_that_are_better_on_held_out_rows():
    rng = np.random.default_rng(0)
    few = np.repeat(rng.normal(size=(20, 3)), 4, axis=0), np.repeat(np.arange(20), 4)
    X = rng.normal(size=(200, 2))
    noisy = X, X[:, 0] + rng.normal(size=200) > 0
    for (X, y), size in ((few, 1), (noisy, 3)):
        model = BlendClassifier(cv=4, random_state=0).fit(X, y.astype(int))
        assert model.named_estimators_["extra trees"].estimator_.min_samples_leaf == size


def test_neighbours_are_left_out_with_weights_that_differ():
    data = problem()
    model = BlendClassifier(data.hierarchy, cv=2, random_state=0)
    model.fit(data.X, data.y, sample_weight=np.full(150, 2.0))
    assert "neighbours" in model.named_estimators_
    model.fit(data.X, data.y, sample_weight=1.0 + np.arange(150) % 2)
    assert "weights" in model.left_out_["neighbours"]


def test_rows_of_weight_0_do_not_count():
    data = problem()
    weights = np.where(np.arange(150) < 100, 1.0, 0.0)
    splits = [(np.arange(0, 150, 2), np.arange(1, 150, 2))]
    model = BlendClassifier(data.hierarchy, cv=splits, random_state=0)
    found = model.fit(data.X, data.y, sample_weight=weights).predict_proba(data.X)
    model.set_params(cv=[(np.arange(0, 100, 2), np.arange(1, 100, 2))])
    assert_array_equal(found, model.fit(data.X[:100], data.y[:100]).predict_proba(data.X))


def test_any_splitter_holds_out_rows():
    data = problem()
    model = blend(data, cv=ShuffleSplit(1, test_size=0.5, random_state=0))
    assert 0 < model.best_score_ <= 1


def test_a_time_limit_makes_members_smaller_and_leaves_out_others():
    from ramify.meta import members

    data = problem()
    model = BlendClassifier(data.hierarchy, time_limit=1_000.0, cv=2, random_state=0)
    full = model.fit(data.X, data.y)
    assert full.estimators_[1].estimator_.n_estimators == 100
    names = ("boosting", "extra trees", "extra trees with small leaves", "neighbours")
    found = members.Members({name: _Sized() for name in names})
    # Three fits of 80, 20, 20 and 16 seconds: neighbours take more than a quarter of the time.
    members.fit_within(found, 60.0, 3, 100, lambda name, estimator, n_rows: 1.0)
    assert tuple(found.estimators) == names[:3]
    assert found.left_out["neighbours"] == "it would take about 48 s"
    assert found.estimators["boosting"].max_iter == 2_000 * 60 // 360
    assert found.estimators["extra trees"].n_estimators == 100 * 60 // 360


class _Sized(ramify.PCTGradientBoostingClassifier):
    def __init__(self, n_estimators=100, max_iter=2_000):
        self.n_estimators = n_estimators
        self.max_iter = max_iter


# ---- what rows may be ----------------------------------------------------------------------


@pytest.mark.parametrize("n_rows", [1, 2, 3, 7])
def test_few_rows_are_enough(n_rows):
    X, y = paths()
    model = BlendClassifier(random_state=0).fit(X[:n_rows], y[:n_rows])
    assert model.weights_.sum() == pytest.approx(1)
    assert math.isnan(model.best_score_) == (n_rows == 1)
    assert is_coherent(model.predict_proba(X), model.hierarchy_)


def test_frames_with_texts_dates_categories_and_missing_values(tmp_path):
    X, y = paths()
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    frame.loc[::5, "a"] = None
    frame["kind"] = np.where(X[:, 1] > 0.5, "big", "small")
    frame["day"] = pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(len(X)), unit="D")
    numeric = BlendClassifier(cv=2, random_state=0).fit(frame, y)
    words = rng.choice(["old", "new", "red", "blue", "large", "small"], size=(len(X), 3))
    frame["title"] = [
        f"{end.replace('/', ' ')} {' '.join(w)}" for end, w in zip(y, words, strict=True)
    ]
    texts = BlendClassifier(cv=2, random_state=0).fit(frame, y)
    assert texts.schema_.texts
    for model, used in ((numeric, frame.drop(columns="title")), (texts, frame)):
        assert model.feature_importances_.shape == (used.shape[1],)
        assert model.feature_importances_.sum() == pytest.approx(1)
        ramify.save(model, tmp_path / "model.ramify")
        loaded = ramify.load(tmp_path / "model.ramify")
        assert_array_equal(loaded.predict_proba(used), model.predict_proba(used))
        assert (model.predict(used) == y).mean() > 0.9


def test_words_beside_large_numbers_and_missing_values_count_for_all_members():
    rng = np.random.default_rng(0)
    y = rng.choice(["home/pots", "home/pans", "garden/pots"], size=150)
    told = [f"{end.replace('/', ' ')} no {number}" for number, end in enumerate(y)]
    price = np.where(rng.random(150) < 0.2, np.nan, rng.lognormal(5, 1, 150))
    day = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 2_000, 150), unit="D")
    shop = rng.choice(list("abc"), 150)
    X = pd.DataFrame({"text": told, "price": price, "day": day, "shop": shop})
    X.loc[::10, "text"] = None
    known = X[100:].dropna(subset="text")
    y_known = y[known.index]
    model = BlendClassifier(cv=2, random_state=0).fit(X[:100], y[:100])
    for name, member in model.named_estimators_.items():
        assert (member.predict(known) == y_known).mean() > 0.9, name


def test_a_measure_that_is_undefined_leaves_equal_weights():
    X = np.arange(10.0)[:, None]
    Y = np.zeros((10, 2), dtype=int)
    model = BlendClassifier(Hierarchy.from_paths(["a", "b"]), cv=2, random_state=0).fit(X, Y)
    assert_allclose(model.weights_, 1 / 3)
    assert math.isnan(model.best_score_)


def test_labels_must_be_known():
    X = np.arange(4.0)[:, None]
    with pytest.raises(ValueError, match="BlendClassifier requires all labels"):
        BlendClassifier().fit(X, np.array([[0.0, 1], [1, np.nan], [1, 1], [0, 0]]))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"time_limit": -1}, "time_limit"),
        ({"scoring": "accuracy"}, "subset_accuracy"),
        ({"cv": 1}, "cv"),
    ],
)
def test_parameters_are_checked(settings, message):
    with pytest.raises(ValueError, match=message):
        BlendClassifier(**settings).fit([[1.0], [2.0]], ["a", "b"])


def scaled_inputs(n_columns):
    return MemberInputs(Scaling(np.zeros(n_columns), np.ones(n_columns)), None)


# ---- files ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "damage",
    [
        lambda model: model.weights_.__setitem__(0, 5.0),
        lambda model: setattr(model.estimators_[0], "name", "linear"),
        lambda model: model.estimators_.__setitem__(0, model.estimators_[1]),
        lambda model: setattr(model.estimators_[0], "inputs_", MemberInputs(None, None)),
        lambda model: setattr(model.estimators_[2], "inputs_", scaled_inputs(6)),
        lambda model: setattr(model.estimators_[2], "inputs_", scaled_inputs(3)),
    ],
    ids=["weights", "names", "twice", "no inputs", "other inputs", "means"],
)
def test_files_that_do_not_fit_together_are_refused(tmp_path, damage):
    data = problem()
    model = blend(data, cv=2)
    damage(model)
    ramify.save(model, tmp_path / "model.ramify")
    with pytest.raises(ModelFileError):
        ramify.load(tmp_path / "model.ramify")


# ---- scaling and components ----------------------------------------------------------------


@given(
    st.integers(1, 30),
    st.integers(1, 4),
    st.integers(0, 99),
    st.sampled_from([1.0, 1e-300, 1e300]),
)
@budget(40)
def test_scaled_numbers_are_those_of_scikit_learn(n_rows, n_columns, seed, size):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (n_rows, n_columns)) * size
    weights = rng.integers(1, 4, n_rows).astype(float)
    found = Scaling.learn(X, weights).apply(X)
    repeated = np.repeat(X / size, weights.astype(int), axis=0)
    expected = StandardScaler().fit(repeated).transform(X / size)
    assert_allclose(found, expected, atol=1e-6)
    missing = np.where(rng.random(X.shape) < 0.3, np.nan, X)
    filled = Scaling.learn(missing, weights).apply(missing)
    assert (filled[np.isnan(missing)] == 0).all()


def test_components_are_those_of_scikit_learn():
    X = np.random.default_rng(0).normal(size=(60, 5)) @ np.diag([5.0, 3, 2, 1, 0.5])
    X -= X.mean(axis=0)
    found = Components.learn(X, np.ones(60), 3)
    expected = PCA(3).fit_transform(X)
    assert_allclose(np.abs(found.apply(X)), np.abs(expected), atol=1e-4)
    shares = found.spread(np.array([1.0, 2.0, 3.0]))
    assert shares.sum() == pytest.approx(6)
    assert json.dumps(found.axes.shape) == "[5, 3]"


# ---- the members by name -------------------------------------------------------------------


def test_members_by_name_get_what_the_blend_gets(tmp_path):
    data = make_hierarchical_classification(120, 6, n_labels=9, random_state=0, as_frame=True)
    model = BlendClassifier(data.hierarchy, cv=2, random_state=0).fit(data.X, data.y)
    members = model.named_estimators_
    parts = [member.predict_proba(data.X) for member in members.values()]
    assert_allclose(np.average(parts, axis=0, weights=model.weights_), model.predict_proba(data.X))
    assert list(members.values()) == model.estimators_
    boosting = members["boosting"]
    told = export_text(boosting, max_trees=None)
    assert "component 1 >" in told
    assert f"{model.feature_names_in_[0]} >" in told
    trees = members["extra trees"]
    found = explain(trees, data.X.iloc[0])
    assert_allclose(found.prediction, trees.predict_proba(data.X)[0], atol=1e-9)
    assert_allclose(found.baseline + found.contributions.sum(axis=0), found.prediction, atol=1e-9)
    ramify.save(boosting, tmp_path / "member.ramify")
    assert_array_equal(ramify.load(tmp_path / "member.ramify").predict_proba(data.X), parts[0])
    refitted = clone(boosting).fit(data.X, data.y)
    assert refitted.n_features_in_ == 6
    assert boosting.feature_importances_.sum() == pytest.approx(1)
