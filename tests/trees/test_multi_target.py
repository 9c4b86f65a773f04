"""Trees and forests for several targets: parameters, formats of y, missing targets, forests."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import r2_score
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import ramify
from ramify import (
    PCTClassifier,
    PCTForestRegressor,
    PCTMultiTargetClassifier,
    PCTMultiTargetForestClassifier,
    PCTRegressor,
)
from ramify.inspection import export_text
from tests.support.tree_problems import assert_equal_trees

FORESTS = [PCTForestRegressor, PCTMultiTargetForestClassifier]
CLASSIFIERS = [PCTMultiTargetClassifier, PCTMultiTargetForestClassifier]
ALL = [PCTRegressor, *FORESTS, PCTMultiTargetClassifier]


def quick(cls, **settings):
    return cls(**({"n_estimators": 6, "random_state": 0} if cls in FORESTS else {}), **settings)


def make_problem(cls, n=120, missing=0.0, seed=3):
    """Return X with a nominal column and missing values, and two targets for the class."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).astype(np.float32).astype(float)
    y = np.column_stack([X[:, 0] * 3 + X[:, 1], 100 * (X[:, 1] > 0) + rng.normal(size=n)])
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["kind"] = np.where(X[:, 3] > 0.3, "high", "low")
    frame.loc[::9, "b"] = np.nan
    if cls in CLASSIFIERS:
        y = np.column_stack([np.digitize(y[:, 0], [-2, 2]), y[:, 1] > 50]).astype(object)
        y[:, 1] = np.where(y[:, 1].astype(bool), "on", "off")
        y[rng.random(y.shape) < missing] = None
    else:
        y[rng.random(y.shape) < missing] = np.nan
    return frame, y


# ---- against scikit-learn ------------------------------------------------------------------


@pytest.mark.parametrize("n_targets", [1, 3])
def test_regression_trees_predict_as_those_of_scikit_learn(n_targets):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5)).astype(np.float32).astype(float)
    y = rng.normal(size=(300, n_targets)) + X[:, :1]
    ours = PCTRegressor(normalize=False, min_samples_leaf=4).fit(X, y)
    theirs = DecisionTreeRegressor(min_samples_leaf=4, random_state=0).fit(X, y)
    assert ours.get_n_leaves() == theirs.get_n_leaves()
    # Tests of different features may divide the training rows alike, but not other rows.
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X).reshape(300, n_targets))


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_classification_trees_predict_as_those_of_scikit_learn(criterion):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 4)).astype(np.float32).astype(float)
    y = np.column_stack([np.digitize(X[:, 0] + rng.normal(size=300), [-1, 1]), X[:, 1] > 0])
    settings = {"criterion": criterion, "min_samples_leaf": 20, "max_depth": 3}  # without ties
    ours = PCTMultiTargetClassifier(normalize=False, **settings)
    theirs = DecisionTreeClassifier(random_state=0, **settings)
    found, expected = ours.fit(X, y).predict_proba(X), theirs.fit(X, y).predict_proba(X)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b)


# ---- formats of y --------------------------------------------------------------------------


def test_one_dimensional_targets_are_predicted_in_one_dimension():
    X = [[1.0], [2.0], [3.0]]
    assert PCTRegressor().fit(X, [1.0, 2.0, 4.0]).predict(X).tolist() == [1.0, 2.0, 4.0]
    tree = PCTMultiTargetClassifier().fit(X, ["a", "b", "b"])
    assert tree.predict(X).tolist() == ["a", "b", "b"]
    assert tree.predict_proba(X).shape == (3, 2)
    assert tree.classes_.tolist() == ["a", "b"]


def test_targets_of_different_types_are_kept():
    X = [[1.0], [2.0], [3.0]]
    y = pd.DataFrame({"colour": ["red", "red", "blue"], "size": [1, 2, 2]})
    tree = PCTMultiTargetClassifier().fit(X, y)
    assert tree.target_names_.tolist() == ["colour", "size"]
    assert tree.predict(X).tolist() == [["red", 1], ["red", 2], ["blue", 2]]
    assert tree.score(X, y) == 1.0


def test_weights_of_targets_go_by_name():
    X, y = make_problem(PCTRegressor)
    named = pd.DataFrame(y, columns=["slope", "step"])
    by_name = PCTRegressor(target_weight={"step": 0.0}, max_depth=3).fit(X, named)
    by_place = PCTRegressor(target_weight=[1.0, 0.0], max_depth=3).fit(X, y)
    alone = PCTRegressor(max_depth=3).fit(X, y[:, 0])
    assert_equal_trees(by_name.tree_, by_place.tree_)
    np.testing.assert_array_equal(by_name.tree_.feature, alone.tree_.feature)


def test_scales_of_targets_do_not_matter_when_normalized():
    X, y = make_problem(PCTRegressor)
    scaled = y * [1e-6, 1e6] + [5.0, -3.0]
    one, other = PCTRegressor(max_depth=4).fit(X, y), PCTRegressor(max_depth=4).fit(X, scaled)
    np.testing.assert_array_equal(one.tree_.feature, other.tree_.feature)
    alike = PCTRegressor(max_depth=4, normalize=False).fit(X, scaled)
    assert alike.tree_.feature.tolist() != one.tree_.feature.tolist()


def test_constant_targets_are_not_split():
    X = np.arange(50.0)[:, None]
    tree = PCTRegressor().fit(X, np.full((50, 2), 0.1))
    assert tree.get_n_leaves() == 1
    np.testing.assert_allclose(tree.predict(X), 0.1)
    # Nor is a node in which the targets are constant.
    y = np.where(X < 20, 0.1, 0.7)
    assert PCTRegressor().fit(X, y).get_n_leaves() == 2


# ---- missing targets -----------------------------------------------------------------------


@pytest.mark.parametrize("cls", ALL, ids=lambda cls: cls.__name__)
def test_missing_targets_are_left_out(cls):
    X, y = make_problem(cls, missing=0.3)
    predicted = quick(cls).fit(X, y).predict(X)
    assert not pd.isna(predicted).any()
    known = ~pd.isna(y)
    if cls in CLASSIFIERS:
        assert (predicted[known] == y[known]).mean() > 0.8
    else:
        assert r2_score(y[known[:, 0], 0], predicted[known[:, 0], 0]) > 0.7


def test_a_leaf_without_a_known_target_predicts_as_the_node_above():
    X = np.arange(8.0)[:, None]
    y = np.array([[0, 1], [0, 1], [0, 3], [0, 3], [9, np.nan], [9, np.nan], [5, 4], [5, 6]])
    tree = PCTRegressor().fit(X, y)
    assert tree.predict([[4.0]]).tolist() == [[9.0, 5.0]]
    compatible = PCTRegressor(clus_compat=True, min_weight=2).fit(X, y)
    assert compatible.predict([[4.0]]).tolist() == [[9.0, 0.0]]


def test_rows_without_any_target_change_nothing():
    X, y = make_problem(PCTRegressor)
    with_rows = np.vstack([y, np.full((10, 2), np.nan)])
    tree = PCTRegressor().fit(pd.concat([X, X.head(10)]), with_rows)
    assert_equal_trees(tree.tree_, PCTRegressor().fit(X, y).tree_)


# ---- forests -------------------------------------------------------------------------------


@pytest.mark.parametrize("compatible", [False, True])
@pytest.mark.parametrize("cls", FORESTS, ids=lambda cls: cls.__name__)
def test_forests_do_not_depend_on_the_number_of_threads(cls, compatible):
    X, y = make_problem(cls, missing=0.1)
    settings = {"clus_compat": compatible, "min_weight": 3}
    one = quick(cls, n_jobs=1, **settings).fit(X, y)
    two = quick(cls, n_jobs=2, **settings).fit(X, y)
    for a, b in zip(one.trees_, two.trees_, strict=True):
        assert_equal_trees(a, b)
    np.testing.assert_array_equal(one.predict(X), two.predict(X))


@pytest.mark.parametrize("cls", FORESTS, ids=lambda cls: cls.__name__)
def test_warm_starts_add_trees(cls):
    X, y = make_problem(cls)
    forest = quick(cls, warm_start=True).fit(X, y)
    more = forest.set_params(n_estimators=9).fit(X, y)
    whole = quick(cls).set_params(n_estimators=9).fit(X, y)
    np.testing.assert_array_equal(more.predict(X), whole.predict(X))
    with pytest.warns(UserWarning, match="adds no trees"):
        more.fit(X, y)
    with pytest.raises(ValueError, match="same features and targets as in the previous fit"):
        more.set_params(n_estimators=12).fit(X, y[:, 0])


@pytest.mark.parametrize("compatible", [False, True])
@pytest.mark.parametrize("cls", FORESTS, ids=lambda cls: cls.__name__)
def test_out_of_bag_predictions_leave_the_trees_of_a_row_out(cls, compatible):
    X, y = make_problem(cls)
    forest = cls(n_estimators=40, oob_score=True, random_state=0, clus_compat=compatible)
    forest.fit(X, y)
    assert 0.6 < forest.oob_score_ < 1.0
    found = getattr(forest, "oob_prediction_", None)
    columns = [found] if found is not None else forest.oob_decision_function_
    assert not any(np.isnan(column).any() for column in columns)
    with pytest.warns(UserWarning, match="have no out-of-bag prediction"):
        quick(cls, oob_score=True).set_params(n_estimators=1).fit(X, y)


def test_the_mean_of_the_trees_is_the_prediction_of_the_forest():
    X, y = make_problem(PCTForestRegressor)
    forest = quick(PCTForestRegressor).fit(X, y)
    rows = forest.apply(X)
    values = [
        np.stack([tree.value[tree.value_indptr[leaf]] for leaf in leaves])
        for tree, leaves in zip(forest.trees_, rows.T, strict=True)
    ]
    whole = ~X["b"].isna()
    np.testing.assert_allclose(forest.predict(X)[whole, 0], np.mean(values, axis=0)[whole])


# ---- saving, inspection, errors ------------------------------------------------------------


@pytest.mark.parametrize("cls", ALL, ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("flat", [False, True])
def test_saved_models_predict_the_same(cls, flat, tmp_path):
    X, y = make_problem(cls)
    y = y[:, 1] if flat else pd.DataFrame(y, columns=["p", "q"])
    settings = {"oob_score": True} if cls in FORESTS else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = quick(cls, **settings).fit(X, y)
    ramify.save(model, tmp_path / "model")
    loaded = ramify.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert set(vars(loaded)) == set(vars(model))


def test_trees_are_printed_with_their_targets():
    X = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0]})
    y = pd.DataFrame({"height": [1.0, 1.0, 2.5, 2.5], "colour": ["red", "red", "blue", "blue"]})
    text = export_text(PCTRegressor().fit(X, y[["height"]]))
    assert text.splitlines() == [
        "size > 2.5?  4 rows",
        "├─ yes: 2 rows",
        "│     height   2.5",
        "└─ no: 2 rows",
        "      height   1",
    ]
    assert "colour=blue" in export_text(PCTMultiTargetClassifier().fit(X, y[["colour"]]))
    forest = PCTForestRegressor(n_estimators=2, random_state=0).fit(X, y["height"])
    assert export_text(forest).count("# tree") == 2


@pytest.mark.parametrize("cls", ALL, ids=lambda cls: cls.__name__)
def test_importances_sum_to_one(cls):
    X, y = make_problem(cls)
    importances = quick(cls).fit(X, y).feature_importances_
    assert importances.shape == (5,)
    assert importances.sum() == pytest.approx(1.0)
    assert importances[:2].sum() > importances[2:].sum()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"pruning": "c4.5"}, "pruning must be one of None, 'm5', got 'c4.5'"),
        ({"pruning_factor": -1}, "pruning_factor must be a number >= 0, got -1"),
        ({"target_weight": [1.0]}, "target_weight must have one number per target, got 1 numbers"),
        ({"target_weight": [0, 0]}, "target_weight must not be zero for all targets"),
        ({"target_weight": {"x": 1}}, "unknown target 'x': y has no column names"),
        ({"target_weight": "x"}, "target_weight must be None, one number >= 0 per target"),
        ({"f_test": [0.1, 0.2]}, "f_test must be a single level, got"),
        ({"redraw": True, "clus_compat": True}, "redraw must be False with clus_compat=True"),
        ({"min_samples_leaf": 0}, "min_samples_leaf must be an integer >= 1 or a fraction"),
    ],
)
def test_wrong_parameters_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        PCTRegressor(**settings).fit([[1.0], [2.0]], [[1.0, 2.0], [3.0, 4.0]])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([["a", "b"], ["c", "d"]], "y must be numeric, got 'a', 'c' in column 0 of y"),
        ([[1.0, np.nan], [2.0, np.nan]], "contains NaN only in column 1 of y"),
        ([[1.0], [np.inf]], "contains infinity or a value too large in column 0 of y"),
        (
            [[1.0], [-1e101]],
            r"y must be between -1e\+100 and 1e\+100, got a value of size 1e\+101",
        ),
        (pd.DataFrame(index=[0, 1]), "y must have a column for each target"),
        ([[[1.0]], [[2.0]]], r"y must have shape \(n,\) or \(n, n_targets\), got shape"),
        ([1.0, 2.0, 3.0], "X has 2 rows, but y has 3"),
    ],
)
def test_wrong_targets_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        PCTRegressor().fit([[1.0], [2.0]], y)


def test_masked_targets_are_missing():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40, 3)), rng.normal(size=(40, 2))
    masked, missing = np.ma.masked_array(Y, mask=Y > 1), np.where(Y > 1, np.nan, Y)
    found = PCTRegressor(random_state=0).fit(X, masked).predict(X)
    np.testing.assert_array_equal(found, PCTRegressor(random_state=0).fit(X, missing).predict(X))
    classes = np.ma.masked_array((Y > 0).astype(int), mask=Y > 1)
    model = PCTMultiTargetClassifier(random_state=0)
    expected = model.fit(X, np.where(Y > 1, None, classes.data)).predict(X)
    np.testing.assert_array_equal(model.fit(X, classes).predict(X), expected)
    with pytest.raises(ValueError, match="sample_weight must not have masked values"):
        model.fit(X, classes, np.ma.masked_array(np.ones(40), mask=X[:, 0] > 1))


def test_numbers_are_no_classes():
    with pytest.raises(ValueError, match=r"must have classes, got the numbers 0.5, 1.5"):
        PCTMultiTargetClassifier().fit([[1.0], [2.0]], [[0.5], [1.5]])
    with pytest.raises(ValueError, match=r"f_test must be None with criterion='entropy', got 0.1"):
        PCTMultiTargetClassifier(criterion="entropy", f_test=0.1).fit([[1.0], [2.0]], ["a", "b"])
    with pytest.raises(ValueError, match="all values are missing"):
        PCTMultiTargetClassifier().fit([[1.0], [2.0]], [["a", None], ["b", None]])


def test_forests_without_samples_refuse_what_needs_them():
    for name, value in (("oob_score", True), ("max_samples", 5)):
        with pytest.raises(ValueError, match=f"{name} must be .* with bootstrap=False"):
            PCTForestRegressor(bootstrap=False, **{name: value}).fit([[1.0], [2.0]], [1.0, 2.0])


@pytest.mark.parametrize("criterion", ["entropy", "gain_ratio"])
@pytest.mark.parametrize("seed", range(5))
def test_labels_and_binary_targets_give_the_same_tree_as_clus_grows_it(criterion, seed):
    """Weights of classes that rounding makes negative rule out tests, for labels too."""
    random = np.random.default_rng(seed)
    X = random.integers(-20, 20, size=(100, 4)) / 10
    Y = (X @ random.normal(size=(4, 3)) + random.normal(size=(100, 3)) > 0).astype(int)
    X[random.random(X.shape) < 0.2] = np.nan
    options = {"criterion": criterion, "min_weight": 2, "clus_compat": True}
    labels = PCTClassifier(**options).fit(X, Y).tree_
    targets = PCTMultiTargetClassifier(**options).fit(X, Y).tree_
    np.testing.assert_array_equal(labels.feature, targets.feature)
    np.testing.assert_array_equal(labels.threshold, targets.threshold)
