"""Forests, bagging and extra trees: samples, votes, out-of-bag scores and public behaviour."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from ramify import (
    Hierarchy,
    PCTBaggingClassifier,
    PCTClassifier,
    PCTExtraTreesClassifier,
    PCTForestClassifier,
    _core,
    make_hierarchical_classification,
)
from ramify.decision import best_label_sets
from ramify.metrics import hierarchical_f1, mean_auprc, pooled_auprc
from ramify.trees.sampling import Sampling
from tests.support.engine_trees import value

ENSEMBLES = [PCTForestClassifier, PCTBaggingClassifier, PCTExtraTreesClassifier]
on_every_ensemble = pytest.mark.parametrize("ensemble", ENSEMBLES)
LAYOUTS: dict[str, dict[str, Any]] = {
    "dense": {},
    "sparse": {"sparsity": 0.8},
    "missing": {"missing_share": 0.15},
    "nominal": {"n_nominal": 3, "missing_share": 0.05},
    "dag": {"dag_share": 0.4},
}
on_every_layout = pytest.mark.parametrize("layout", LAYOUTS)


def make(layout: str = "dense", n_samples: int = 120, **more: Any) -> Any:
    return make_hierarchical_classification(
        n_samples, 8, n_labels=15, random_state=3, **{**LAYOUTS[layout], **more}
    )


def same_trees(a: Any, b: Any) -> bool:
    return pickle.dumps(a.trees_) == pickle.dumps(b.trees_)


@on_every_ensemble
@on_every_layout
def test_number_of_threads_does_not_change_the_forest(ensemble, layout) -> None:
    data = make(layout)
    models = [
        ensemble(data.hierarchy, n_estimators=7, n_jobs=n_jobs, random_state=0).fit(data.X, data.y)
        for n_jobs in (1, 2, 5)
    ]
    expected = models[0].predict_proba(data.X)
    for model in models[1:]:
        assert same_trees(models[0], model)
        assert (model.predict_proba(data.X) == expected).all()


@on_every_ensemble
@on_every_layout
def test_prediction_is_the_mean_of_the_members(ensemble, layout) -> None:
    data = make(layout)
    model = ensemble(data.hierarchy, n_estimators=6, random_state=1).fit(data.X, data.y)
    votes = [member.predict_proba(data.X) for member in model.estimators_]
    np.testing.assert_allclose(model.predict_proba(data.X), np.mean(votes, axis=0), atol=1e-14)
    assert [len(member.tree_.feature) for member in model.estimators_] == [
        len(tree.feature) for tree in model.trees_
    ]


@on_every_ensemble
@on_every_layout
def test_probabilities_are_coherent_and_independent_of_the_batch(ensemble, layout) -> None:
    data = make(layout)
    model = ensemble(data.hierarchy, n_estimators=5, random_state=2).fit(data.X, data.y)
    scores = model.predict_proba(data.X)
    indptr, parents = data.hierarchy.parent_rows
    children = np.repeat(np.arange(data.hierarchy.n_labels), np.diff(indptr))
    assert (scores[:, children] <= scores[:, parents]).all()
    assert scores.min() >= 0
    assert scores.max() <= 1
    alone = data.X[7:8] if not hasattr(data.X, "iloc") else data.X.iloc[7:8]
    assert (model.predict_proba(alone)[0] == scores[7]).all()


def test_trees_equal_those_grown_on_repeated_rows() -> None:
    data = make()
    forest = PCTBaggingClassifier(data.hierarchy, n_estimators=4, random_state=5)
    forest.fit(data.X, data.y)
    sampling = Sampling(120, 120)
    for seed, tree in zip(sampling.seeds(forest._seed, 4), forest.trees_, strict=True):
        counts, _ = sampling.draw(seed)
        assert counts.sum() == 120
        drawn = np.repeat(np.arange(120), counts)
        # A repeated row and a row of twice the weight give the same tree.
        repeated = PCTClassifier(data.hierarchy).fit(data.X[drawn], data.y[drawn]).tree_
        np.testing.assert_array_equal(tree.feature, repeated.feature)
        np.testing.assert_allclose(tree.threshold, repeated.threshold)
        np.testing.assert_allclose(value(tree, 0, 15), value(repeated, 0, 15))
        np.testing.assert_allclose(tree.value, repeated.value)


def test_bootstrap_draws_uniformly() -> None:
    counts = _core.bootstrap(7, 10, 100_000)
    assert counts.sum() == 100_000
    assert abs(counts - 10_000).max() < 500
    assert (counts == _core.bootstrap(7, 10, 100_000)).all()
    assert (counts != _core.bootstrap(8, 10, 100_000)).any()


@pytest.mark.parametrize(("max_samples", "expected"), [(None, 120), (30, 30), (0.25, 30)])
def test_max_samples_sets_the_number_of_draws(max_samples, expected) -> None:
    data = make()
    forest = PCTForestClassifier(data.hierarchy, n_estimators=3, max_samples=max_samples)
    forest.fit(data.X, data.y)
    assert [tree.weight[0] for tree in forest.trees_] == [expected] * 3


@pytest.mark.parametrize("weights", ["integers", "zeros"])
def test_weights_equal_repeated_rows_without_bootstrap(weights) -> None:
    data = make()
    rng = np.random.default_rng(0)
    weight = rng.integers(0 if weights == "zeros" else 1, 4, 120)
    settings = {"n_estimators": 5, "bootstrap": False, "max_features": 3, "random_state": 0}
    weighted = PCTForestClassifier(data.hierarchy, **settings)
    weighted.fit(data.X, data.y, sample_weight=weight)
    rows = np.repeat(np.arange(120), weight)
    repeated = PCTForestClassifier(data.hierarchy, **settings).fit(data.X[rows], data.y[rows])
    for a, b in zip(weighted.trees_, repeated.trees_, strict=True):
        np.testing.assert_array_equal(a.feature, b.feature)
    np.testing.assert_allclose(
        weighted.predict_proba(data.X), repeated.predict_proba(data.X), atol=1e-12
    )


# ---- out of bag ------------------------------------------------------------------------------


def out_of_bag(forest: Any, X: Any) -> np.ndarray:
    """Compute the mean prediction of the trees that did not draw a row, one tree at a time."""
    sampling = Sampling(len(X), len(X))
    seeds = sampling.seeds(forest._seed, len(forest.trees_))
    votes = np.stack([member.predict_proba(X) for member in forest.estimators_])
    out = np.stack([sampling.draw(seed)[0] == 0 for seed in seeds])
    with np.errstate(invalid="ignore"):
        return (votes * out[..., None]).sum(axis=0) / out.sum(axis=0)[:, None]


@pytest.mark.parametrize("ensemble", [PCTForestClassifier, PCTBaggingClassifier])
def test_out_of_bag_predictions(ensemble) -> None:
    data = make("missing")
    forest = ensemble(data.hierarchy, n_estimators=30, oob_score=True, random_state=0)
    forest.fit(data.X, data.y)
    np.testing.assert_allclose(
        forest.oob_decision_function_, out_of_bag(forest, data.X), atol=1e-14
    )
    assert forest.oob_score_ == pooled_auprc(data.y, forest.oob_decision_function_)
    assert forest.oob_score_ < pooled_auprc(data.y, forest.predict_proba(data.X)) - 0.05


def test_rows_drawn_by_every_tree_have_no_out_of_bag_prediction() -> None:
    data = make()
    forest = PCTForestClassifier(data.hierarchy, n_estimators=2, oob_score=True, random_state=0)
    with pytest.warns(UserWarning, match="of 120 rows were drawn by every tree"):
        forest.fit(data.X, data.y)
    missing = np.isnan(forest.oob_decision_function_)
    assert (missing.any(axis=1) == missing.all(axis=1)).all()
    assert 0 < missing[:, 0].sum() < 120


@pytest.mark.parametrize(
    "measure", ["mean_auprc", mean_auprc, hierarchical_f1, "hierarchical_f1", lambda y, s: 0.25]
)
def test_out_of_bag_score_accepts_any_measure(measure) -> None:
    data = make()
    forest = PCTForestClassifier(
        data.hierarchy, n_estimators=25, oob_score=measure, random_state=0
    )
    forest.fit(data.X, data.y)
    scores = forest.oob_decision_function_
    if measure in ("mean_auprc", mean_auprc):
        expected = mean_auprc(data.y, scores)
    elif measure in ("hierarchical_f1", hierarchical_f1):
        expected = hierarchical_f1(
            data.y, best_label_sets(scores, data.hierarchy), hierarchy=data.hierarchy
        )
    else:
        expected = 0.25
    assert forest.oob_score_ == expected


# ---- warm start, parameters, stopping ---------------------------------------------------------


@on_every_ensemble
def test_fractions_refer_to_all_rows_not_to_the_sample(ensemble) -> None:
    data = make(n_samples=50)
    settings = {"n_estimators": 5, "random_state": 0}
    by_share, by_count = (
        ensemble(data.hierarchy, min_samples_leaf=rows, **settings).fit(data.X, data.y)
        for rows in (0.15, 8)  # 7.5 of 50 rows; a bootstrap sample has about 32 distinct rows
    )
    assert same_trees(by_share, by_count)
    assert min(min(tree.n_samples) for tree in by_share.trees_) >= 8


@on_every_ensemble
def test_a_list_of_levels_is_rejected(ensemble) -> None:
    with pytest.raises(ValueError, match=r"f_test must be a single level, got \[0.1"):
        ensemble(f_test=[0.1, 0.01]).fit([[0.0], [1.0]], ["a", "b"])


@on_every_ensemble
def test_warm_start_gives_the_same_forest_as_a_single_fit(ensemble) -> None:
    data = make()
    at_once = ensemble(data.hierarchy, n_estimators=9, random_state=4).fit(data.X, data.y)
    steps = ensemble(data.hierarchy, n_estimators=2, random_state=4, warm_start=True)
    for n_estimators in (2, 3, 9):
        steps.set_params(n_estimators=n_estimators).fit(data.X, data.y)
        assert len(steps.trees_) == n_estimators
    assert same_trees(at_once, steps)
    first = steps.trees_[0]
    assert steps.set_params(n_estimators=10).fit(data.X, data.y).trees_[0] is first


def test_warm_start_keeps_the_seed_and_out_of_bag_predictions() -> None:
    data = make()
    forest = PCTForestClassifier(data.hierarchy, n_estimators=40, warm_start=True, oob_score=True)
    forest.fit(data.X, data.y)
    forest.set_params(n_estimators=45).fit(data.X, data.y)
    np.testing.assert_allclose(
        forest.oob_decision_function_, out_of_bag(forest, data.X), atol=1e-14
    )


def test_warm_start_rejects_fewer_trees_and_other_data() -> None:
    data = make()
    forest = PCTForestClassifier(data.hierarchy, n_estimators=3, warm_start=True)
    forest.fit(data.X, data.y)
    with pytest.warns(UserWarning, match="adds no trees: there are 3 trees already"):
        forest.fit(data.X, data.y)
    with pytest.raises(ValueError, match=r"n_estimators must be at least 3 with .* got 2"):
        forest.set_params(n_estimators=2).fit(data.X, data.y)
    with pytest.raises(ValueError, match="X and y must have the same features and labels"):
        forest.set_params(n_estimators=4).fit(data.X[:, :5], data.y)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_estimators": 0}, "n_estimators must be an integer >= 1, got 0"),
        ({"max_samples": 0}, "max_samples must be a number >= 1, got 0"),
        ({"max_samples": 1.5}, "max_samples must be a number from 0 to 1, got 1.5"),
        ({"max_features": "cube"}, "max_features must be .*, got 'cube'"),
        ({"max_features": 2.0}, "max_features must be .*, got 2.0"),
        ({"oob_score": "auprc"}, "oob_score must be True, False, .*got 'auprc'"),
        (
            {"oob_score": True, "bootstrap": False},
            "oob_score must be False with bootstrap=F",
        ),
        ({"criterion": "mse"}, "criterion must be .*, got 'mse'"),
        ({"f_test": 1.5}, "f_test must be .*, got 1.5"),
        ({"max_samples": 0.5, "bootstrap": False}, "max_samples must be None with bootstrap=F"),
        (
            {"clus_compat": True, "random_state": np.random.RandomState(0)},
            "must be an integer or None",
        ),
        ({"clus_compat": True, "redraw": True}, "redraw must be False with clus_compat=True"),
    ],
)
def test_invalid_parameters_raise_errors(settings, message) -> None:
    data = make()
    with pytest.raises(ValueError, match=message):
        PCTForestClassifier(data.hierarchy, **settings).fit(data.X, data.y)


INTERRUPTED = """
import os, signal, threading, time
from ramify import PCTBaggingClassifier, make_hierarchical_classification

data = make_hierarchical_classification(20_000, 30, n_labels=100, random_state=0)
forest = PCTBaggingClassifier(data.hierarchy, n_estimators=10_000, n_jobs={n_jobs})
signal.signal(signal.SIGINT, signal.default_int_handler)  # the parent process may have ignored it
threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    forest.fit(data.X, data.y)
except KeyboardInterrupt:
    while threading.active_count() > 1:
        time.sleep(0.01)
    print("stopped")
"""


@pytest.mark.process
@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for one process")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_stops_all_threads(n_jobs) -> None:
    script = INTERRUPTED.format(n_jobs=n_jobs)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    # A tree of this size takes seconds, so the whole forest would take hours.
    assert done.stdout == "stopped\n"


def test_progress_bar(capsys) -> None:
    data = make()
    PCTForestClassifier(data.hierarchy, n_estimators=3, verbose=True).fit(data.X, data.y)
    assert "Growing trees" in capsys.readouterr().err


# ---- importances, formats, pickling ----------------------------------------------------------


@on_every_ensemble
def test_importances_identify_the_informative_feature(ensemble) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    y = np.where(X[:, 2] > 0, "a/b", "c")
    model = ensemble(n_estimators=20, random_state=0).fit(X, y)
    assert model.feature_importances_.argmax() == 2
    assert model.feature_importances_.sum() == pytest.approx(1)
    members = [member.feature_importances_ for member in model.estimators_]
    np.testing.assert_allclose(model.feature_importances_, np.mean(members, axis=0))


@pytest.mark.parametrize("ensemble", [PCTForestClassifier, PCTExtraTreesClassifier])
def test_redraw_finds_the_only_feature_that_can_be_split(ensemble) -> None:
    rng = np.random.default_rng(0)
    X = np.zeros((60, 20))
    X[:, 7] = rng.normal(size=60)  # all other columns are constant
    y = (X[:, 7] > 0).astype(int)
    settings = {"max_features": 1, "n_estimators": 20, "random_state": 0}
    redrawn = ensemble(redraw=True, **settings).fit(X, y)
    assert all(tree.feature[0] == 7 for tree in redrawn.trees_)
    drawn_once = ensemble(**settings).fit(X, y)
    sizes = [tree.feature.size for tree in drawn_once.trees_]
    assert sizes.count(1) > 10  # 19 of 20 draws give a constant feature


@on_every_ensemble
def test_sparse_and_dense_give_the_same_forest(ensemble) -> None:
    data = make("sparse")
    X = sparse.csr_array(data.X)
    a = ensemble(data.hierarchy, n_estimators=5, random_state=0, oob_score=False).fit(X, data.y)
    b = ensemble(data.hierarchy, n_estimators=5, random_state=0).fit(X.toarray(), data.y)
    assert same_trees(a, b)
    assert (a.predict_proba(X) == b.predict_proba(X.toarray())).all()
    assert (a.apply(X) == b.apply(X.toarray())).all()
    assert a.apply(X).shape == (120, 5)


def test_frames_with_nominal_columns() -> None:
    data = make("nominal", as_frame=True)
    forest = PCTForestClassifier(data.hierarchy, n_estimators=10, random_state=0)
    forest.fit(data.X, data.y)
    assert list(forest.feature_names_in_) == list(data.X.columns)
    assert forest.predict_proba(data.X.iloc[::-1])[0] == pytest.approx(
        forest.predict_proba(data.X)[-1], abs=0
    )


@on_every_ensemble
def test_predictions_have_the_format_of_y(ensemble) -> None:
    X = [[1.0], [2.0], [3.0], [4.0]]
    paths = ["animal/cat", "animal/cat", "animal/dog", "plant"]
    assert list(ensemble(n_estimators=30, random_state=0).fit(X, paths).predict(X)) == paths
    sets = [("cat", "pet"), ("cat",), ("dog",), ()]
    hierarchy = Hierarchy.from_labels(["cat", "dog", "pet"])
    model = ensemble(hierarchy, n_estimators=200, random_state=0).fit(X, sets)
    assert model.predict(X)[1:3] == [("cat",), ("dog",)]


@on_every_ensemble
@on_every_layout
def test_pickles_predict_the_same(ensemble, layout) -> None:
    data = make(layout)
    model = ensemble(data.hierarchy, n_estimators=4, random_state=0).fit(data.X, data.y)
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict_proba(data.X) == model.predict_proba(data.X)).all()
    assert (again.feature_importances_ == model.feature_importances_).all()
