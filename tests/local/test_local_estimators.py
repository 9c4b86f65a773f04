"""Tests of local architectures as estimators: workers, seeds, pickling, searches and errors."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.tree import ExtraTreeClassifier

from ramify import (
    FlatClassifier,
    Hierarchy,
    PCTClassifier,
    PCTForestClassifier,
    PerEdgeClassifier,
    PerLevelClassifier,
    PerNodeClassifier,
    PerParentClassifier,
    load,
    save,
)
from ramify.local.learning import ConstantClassifier
from tests.support.local_cases import every_architecture, is_coherent, make_data, one_path_per_row


@every_architecture
@pytest.mark.parametrize(
    "estimator", [None, ExtraTreeClassifier()], ids=["ours", "scikit-learn's"]
)
def test_predictions_do_not_depend_on_n_jobs(model: Any, estimator: Any) -> None:
    data = make_data(n_labels=9)
    model = clone(model).set_params(
        hierarchy=data.hierarchy, estimator=estimator, random_state=3, n_jobs=1
    )
    expected = model.fit(data.X, data.y).predict_proba(data.X)
    several = clone(model).set_params(n_jobs=2)
    if estimator is not None:
        from joblib import parallel_config

        with parallel_config("threading"):  # starting processes would take longer
            several.fit(data.X, data.y)
    else:
        several.fit(data.X, data.y)
    np.testing.assert_array_equal(several.predict_proba(data.X), expected)


@pytest.mark.process
def test_local_models_can_be_fitted_in_other_processes() -> None:
    from joblib import parallel_config

    data = make_data()
    expected = (
        PerEdgeClassifier(hierarchy=data.hierarchy).fit(data.X, data.y).predict_proba(data.X)
    )
    with parallel_config("loky", n_jobs=2):
        model = PerEdgeClassifier(hierarchy=data.hierarchy).fit(data.X, data.y)
    np.testing.assert_array_equal(model.predict_proba(data.X), expected)


def test_random_state_seeds_every_local_model() -> None:
    data = make_data()
    model = PerEdgeClassifier(
        hierarchy=data.hierarchy, estimator=ExtraTreeClassifier(), random_state=0
    )
    fitted = model.fit(data.X, data.y).named_estimators_
    seeds = [e.random_state for e in fitted.values() if not isinstance(e, ConstantClassifier)]
    assert len(set(seeds)) == len(seeds)
    again = clone(model).fit(data.X, data.y)
    np.testing.assert_array_equal(again.predict_proba(data.X), model.predict_proba(data.X))


@every_architecture
def test_pickled_models_predict_the_same(model: Any) -> None:
    data = make_data(n_labels=6)
    model = clone(model).set_params(hierarchy=data.hierarchy).fit(data.X, data.y)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict_proba(data.X), model.predict_proba(data.X))


def test_grid_search_tunes_parameters_of_local_models() -> None:
    X, y = one_path_per_row()
    search = GridSearchCV(
        make_pipeline(StandardScaler(), PerEdgeClassifier(estimator=PCTClassifier())),
        {"peredgeclassifier__estimator__max_depth": [1, 4]},
        cv=KFold(3, shuffle=True, random_state=0),
    ).fit(X, y)
    assert search.best_params_["peredgeclassifier__estimator__max_depth"] in (1, 4)
    assert len(search.predict(X)) == len(X)


def test_classifiers_without_predict_proba_give_zeros_and_ones() -> None:
    X, y = one_path_per_row()
    for kind in (PerEdgeClassifier, PerParentClassifier):
        model = kind(estimator=Perceptron(random_state=0)).fit(X, y)
        assert set(np.unique(model.predict_proba(X))) <= {0.0, 1.0}


def test_the_level_of_the_f_test_is_chosen_for_each_edge() -> None:
    data = make_data(n_labels=5, n_nominal=1, as_frame=True)
    tree = PCTClassifier(f_test=[0.1, 0.01], random_state=0)
    model = PerEdgeClassifier(hierarchy=data.hierarchy, estimator=tree).fit(data.X, data.y)
    levels = {m.f_test_ for m in model.named_estimators_.values() if isinstance(m, PCTClassifier)}
    assert levels <= {0.1, 0.01}
    assert is_coherent(model.predict_proba(data.X), data.hierarchy)


def test_the_chosen_level_is_that_of_a_tree_fitted_on_the_rows_of_the_edge() -> None:
    X, y = one_path_per_row()
    tree = PCTClassifier(f_test=[0.2, 0.05, 0.001], random_state=3)
    model = PerEdgeClassifier(estimator=tree).fit(X, y)
    for (parent, child), local in model.named_estimators_.items():
        rows = np.array([parent is None or str(name).split("/")[0] == parent for name in y])
        has = [[int(name == child or str(name).startswith(f"{child}/"))] for name in y[rows]]
        flat = Hierarchy.from_labels([child])
        alone = clone(tree).set_params(hierarchy=flat).fit(X[rows], np.array(has))
        assert local.f_test_ == alone.f_test_
        assert local.f_test_scores_ == alone.f_test_scores_
        np.testing.assert_array_equal(local.predict_proba(X)[:, -1], alone.predict_proba(X)[:, -1])


def test_with_fewer_rows_than_folds_the_strictest_level_is_used() -> None:
    X = np.arange(12.0).reshape(-1, 1)
    y = np.array(["a/x", "a/y", *(["b/x", "b/y"] * 5)])  # two rows below "a", three folds
    tree = PCTClassifier(f_test=[0.1, 0.001, 0.01], random_state=0)
    model = PerEdgeClassifier(estimator=tree, random_state=0).fit(X, y)
    assert model.named_estimators_["a", "a/x"].f_test_ == 0.001
    assert model.named_estimators_["a", "a/x"].f_test_scores_ == {}
    assert model.named_estimators_["b", "b/x"].f_test_scores_.keys() == {0.1, 0.001, 0.01}
    split = [(np.arange(6), np.arange(6, 12))]
    with pytest.raises(ValueError, match="cv of estimator must be an integer or a splitter, got"):
        PerEdgeClassifier(clone(tree).set_params(cv=split)).fit(X, y)
    folds = PerEdgeClassifier(clone(tree).set_params(cv=KFold(3))).fit(X, y)
    assert folds.named_estimators_["a", "a/x"].f_test_scores_ == {}
    with pytest.raises(ValueError, match="cv must be at most the number of rows, 2, got 3"):
        clone(tree).fit(X[:2], y[:2])


@every_architecture
def test_a_custom_distance_gets_the_names_of_the_labels(model: Any) -> None:
    data = make_data(n_labels=9)
    seen: set[Any] = set()

    def differ(first: Any, second: Any) -> float:
        seen.update(first, second)
        return len(first ^ second) ** 0.5

    settings = {"hierarchy": data.hierarchy, "random_state": 0}
    by_function = PCTClassifier(criterion=differ, w0=1)
    model = clone(model).set_params(estimator=by_function, **settings).fit(data.X, data.y)
    assert seen <= set(data.hierarchy.labels)
    assert seen
    by_name = PCTClassifier(criterion="euclidean", w0=1)
    twin = clone(model).set_params(estimator=by_name, **settings).fit(data.X, data.y)
    np.testing.assert_array_equal(model.predict_proba(data.X), twin.predict_proba(data.X))


def test_nested_architectures_do_not_require_sample_weights() -> None:
    data = make_data(n_labels=6)
    inner = PerEdgeClassifier(estimator=KNeighborsClassifier(3))
    nested = PerEdgeClassifier(hierarchy=data.hierarchy, estimator=inner).fit(data.X, data.y)
    plain = PerEdgeClassifier(hierarchy=data.hierarchy, estimator=KNeighborsClassifier(3))
    expected = plain.fit(data.X, data.y).predict_proba(data.X)
    np.testing.assert_array_equal(nested.predict_proba(data.X), expected)


def test_progress_is_reported(capfd: pytest.CaptureFixture[str]) -> None:
    data = make_data(n_labels=5)
    PerEdgeClassifier(hierarchy=data.hierarchy, verbose=True).fit(data.X, data.y)
    output = capfd.readouterr()
    assert "Fitting local models" in output.err


def test_local_models_are_looked_up_by_name() -> None:
    X, y = one_path_per_row()
    models = PerEdgeClassifier().fit(X, y).named_estimators_
    assert len(models) == 5
    assert repr(models).startswith("<5 local models: (None, 'a'), ('a', 'a/x')")
    assert models["a", "a/x"].classes_.tolist() == ["a/x"]
    assert ("a", "b") not in models
    with pytest.raises(KeyError, match="nowhere"):
        models["nowhere"]


def test_pipelines_get_weights_by_metadata_routing() -> None:
    X, y = one_path_per_row()
    weights = np.random.default_rng(0).random(len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(MinMaxScaler(), GaussianNB().set_fit_request(sample_weight=True))
        model = PerEdgeClassifier(estimator=pipeline).fit(X, y, sample_weight=weights)
        alone = clone(pipeline).fit(X, np.char.startswith(y, "a"), sample_weight=weights)
    scores = model.predict_proba(X)[:, 0]
    np.testing.assert_allclose(scores, alone.predict_proba(X)[:, 1], rtol=0, atol=1e-12)


ERRORS = [
    (PerEdgeClassifier(estimator="tree"), TypeError, "estimator must be a cl.*got 'tree'"),
    (
        PerEdgeClassifier(estimator=PCTClassifier(Hierarchy.from_labels(["a"]))),
        ValueError,
        "the hierarchy of estimator must be None, got .* pass the hierarchy to the outer",
    ),
    (
        PerEdgeClassifier(estimator=KNeighborsClassifier()),
        TypeError,
        r"sample_weight is given, but KNeighborsClassifier\.fit takes none",
    ),
    (
        PerParentClassifier(estimator=LogisticRegression()),
        ValueError,
        r"estimator must support multi-label .*, got LogisticRegression. Use PerEdgeClassifier"
        r".*If every row is one path, .* pass ramify.as_levels\(y\)",
    ),
    (
        PerLevelClassifier(multilabel=False),
        ValueError,
        "at most one of the labels 'a', 'b', got 2 for row 0. Set multilabel=True",
    ),
    (PerNodeClassifier(policy="some"), ValueError, "policy must be one of.*got 'some'"),
    (FlatClassifier(labels="inner"), ValueError, "labels must be one of.*got 'inner'"),
]


@pytest.mark.parametrize(("model", "error", "message"), ERRORS)
def test_errors_name_the_argument_and_the_remedy(
    model: Any, error: type[Exception], message: str
) -> None:
    y = [["a", "b"], ["a"], ["b"], ["a"], ["b"]]
    with pytest.raises(error, match=message):
        model.fit(np.arange(5.0)[:, None], y, sample_weight=np.ones(5))


@pytest.mark.parametrize(
    "estimator",
    [None, PCTForestClassifier(n_estimators=2), GaussianNB()],
    ids=["trees", "forests", "scikit-learn's"],
)
@pytest.mark.parametrize("kind", [PerEdgeClassifier, PerNodeClassifier, FlatClassifier])
def test_architectures_are_saved_and_loaded(kind: type, estimator: Any, tmp_path: Any) -> None:
    if estimator is not None and not isinstance(estimator, PCTForestClassifier):
        pytest.importorskip("skops")
    data = make_data(n_labels=6)
    model = kind(estimator, hierarchy=data.hierarchy).fit(data.X, data.y)
    save(model, tmp_path / "model.ramify")
    loaded = load(tmp_path / "model.ramify")
    np.testing.assert_array_equal(loaded.predict_proba(data.X), model.predict_proba(data.X))
    assert list(loaded.named_estimators_) == list(model.named_estimators_)
