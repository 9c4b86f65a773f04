"""The classifier of gradient boosting: losses, equal answers, odd data, parameters."""

import copy
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import average_precision_score, log_loss

import ramify
from ramify import (
    Hierarchy,
    PCTGradientBoostingClassifier,
    load_animals,
    make_hierarchical_classification,
)


@pytest.fixture(scope="module")
def tree_data():
    return make_hierarchical_classification(200, 6, n_labels=15, random_state=0, as_frame=False)


@pytest.fixture(scope="module")
def dag_data():
    return make_hierarchical_classification(
        200, 6, n_labels=15, dag_share=0.3, random_state=1, as_frame=False
    )


def boosted(**settings):
    return PCTGradientBoostingClassifier(
        **{"max_iter": 15, "max_depth": 3, "random_state": 0} | settings
    )


# ---- losses --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loss", "coherence"),
    [("logistic", "max"), ("logistic", "min"), ("logistic", "isotonic"), ("softmax", "max")],
)
def test_probabilities_are_coherent_on_a_dag(dag_data, loss, coherence):
    X, y, hierarchy = dag_data.X, dag_data.y, dag_data.hierarchy
    model = boosted(hierarchy=hierarchy, loss=loss, coherence=coherence).fit(X, y)
    scores = model.predict_proba(X)
    assert ((scores >= 0) & (scores <= 1)).all()
    indptr, parents = hierarchy.parent_rows
    for label in range(hierarchy.n_labels):
        for parent in parents[indptr[label] : indptr[label + 1]]:
            assert (scores[:, label] <= scores[:, parent]).all()


def test_softmax_sums_the_probabilities_of_label_sets():
    y = ["a/b"] * 30 + ["a/c"] * 20 + ["d"] * 10
    X = np.random.default_rng(0).normal(size=(60, 2))
    X[:30, 0] += 3
    model = boosted().fit(X, y)
    assert model.loss_ == "softmax"
    a, b, c, d = (list(model.classes_).index(label) for label in ("a", "a/b", "a/c", "d"))
    scores = model.predict_proba(X)
    np.testing.assert_allclose(scores[:, a], scores[:, b] + scores[:, c], rtol=1e-12)
    np.testing.assert_allclose(scores[:, a] + scores[:, d], 1, rtol=1e-6)


@pytest.mark.parametrize(
    ("label_sets", "expected"),
    [
        ([["a/b"]] * 5 + [["d"]] * 4, "softmax"),
        ([["a/b"]] * 5 + [["a"]] * 4, "softmax"),
        ([["a/b", "a/c"]] * 5 + [["d"]] * 4, "logistic"),  # two labels in a row
        ([["a/b"]] * 5 + [[]] * 4, "logistic"),  # no label in a row
        ([["a/b"], ["a/c"], ["d"], ["a"]], "logistic"),  # a row per set
    ],
)
def test_auto_chooses_softmax_if_every_row_has_one_path(label_sets, expected):
    hierarchy = Hierarchy.from_paths(["a/b", "a/c", "d"])
    X = np.arange(len(label_sets), dtype=float)[:, None]
    assert boosted(hierarchy=hierarchy).fit(X, label_sets).loss_ == expected


def test_a_label_with_two_parents_is_one_path():
    hierarchy = Hierarchy.from_edges([("a", "c"), ("b", "c")])
    X = np.arange(12.0)[:, None]
    assert boosted(hierarchy=hierarchy).fit(X, [["c"]] * 6 + [["b"]] * 6).loss_ == "softmax"


def test_before_the_first_round_probabilities_are_shares():
    X = np.zeros((8, 1))
    y = [["a"]] * 6 + [["a", "b"]] * 2
    weights = np.array([1.0] * 6 + [3.0] * 2)
    model = boosted(loss="logistic", learning_rate=1e-9, max_iter=1)
    scores = model.fit(X, y, sample_weight=weights).predict_proba(X[:1])
    # "a" is in all rows: half a row away from 1.
    np.testing.assert_allclose(scores[0], [1 - 0.5 / 8, 0.5], rtol=1e-6)


def test_one_label_is_learnt_as_well_as_by_scikit_learn():
    X, y = make_classification(900, 10, n_informative=5, flip_y=0.1, random_state=3)
    shared = {"learning_rate": 0.1, "max_iter": 100, "max_depth": 3, "max_leaf_nodes": None}
    shared |= {"min_samples_leaf": 5, "l2_regularization": 1.0, "max_bins": 255}
    ours = PCTGradientBoostingClassifier(
        **shared, max_features=None, subsample=1.0, loss="logistic"
    )
    theirs = HistGradientBoostingClassifier(**shared, early_stopping=False)
    labels = [["a"] if value else [] for value in y]
    found = ours.fit(X[:500], labels[:500]).predict_proba(X[500:])[:, 0]
    expected = theirs.fit(X[:500], y[:500]).predict_proba(X[500:])[:, 1]
    assert log_loss(y[500:], found) == pytest.approx(log_loss(y[500:], expected), rel=0.05)


def test_classes_are_learnt():
    X, y = load_iris(return_X_y=True)
    model = boosted(max_iter=60).fit(X[::2], y[::2])
    assert model.loss_ == "softmax"
    assert model.score(X[1::2], y[1::2]) >= 0.92
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1, rtol=1e-6)


def test_labels_are_predicted_better_than_by_their_shares(tree_data):
    X, y = tree_data.X, tree_data.y
    model = boosted(hierarchy=tree_data.hierarchy, max_iter=60).fit(X[:150], y[:150])
    truth = y[150:].toarray().ravel()
    shares = np.tile(y[:150].toarray().mean(axis=0), 50)
    found = average_precision_score(truth, model.predict_proba(X[150:]).ravel())
    assert found > average_precision_score(truth, shares) + 0.1


# ---- the same answer -----------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["logistic", "softmax"])
def test_threads_batches_and_copies_change_nothing(dag_data, loss):
    X, y = dag_data.X, dag_data.y
    model = boosted(hierarchy=dag_data.hierarchy, loss=loss, sketch_size=4)
    scores = model.fit(X, y).predict_proba(X)
    threaded = clone(model).set_params(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(threaded.predict_proba(X), scores)
    batches = [model.predict_proba(X[:7]), model.predict_proba(X[7:])]
    np.testing.assert_array_equal(np.concatenate(batches), scores)
    np.testing.assert_array_equal(model.predict_proba(sparse.csr_matrix(X)), scores)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        np.testing.assert_array_equal(other.predict_proba(X), scores)


def test_sparse_rows_are_learnt_as_dense_ones(tree_data):
    X = np.where(np.abs(tree_data.X) < 0.7, 0.0, tree_data.X)
    model = boosted(hierarchy=tree_data.hierarchy)
    dense = clone(model).fit(X, tree_data.y)
    other = clone(model).fit(sparse.csc_matrix(X), tree_data.y)
    np.testing.assert_allclose(other.predict_proba(X), dense.predict_proba(X), atol=1e-5)


def test_single_precision_rows_work(tree_data):
    X = tree_data.X.astype(np.float32)
    model = boosted(hierarchy=tree_data.hierarchy).fit(X, tree_data.y)
    found = model.predict_proba(X.astype(np.float64))
    np.testing.assert_array_equal(model.predict_proba(X), found)


def test_stages_end_with_the_model(tree_data):
    model = boosted(hierarchy=tree_data.hierarchy, max_iter=5).fit(tree_data.X, tree_data.y)
    stages = list(model.staged_predict_proba(tree_data.X))
    assert len(stages) == model.n_iter_ == 5
    np.testing.assert_array_equal(stages[-1], model.predict_proba(tree_data.X))
    assert (stages[0] != stages[1]).any()
    sets = list(model.staged_predict(tree_data.X))
    assert (sets[-1] != model.predict(tree_data.X)).nnz == 0


@pytest.mark.parametrize("loss", ["logistic", "softmax"])
def test_a_saved_model_predicts_and_learns_the_same(tmp_path, dag_data, loss):
    X, y = dag_data.X, dag_data.y
    model = boosted(hierarchy=dag_data.hierarchy, loss=loss, max_iter=4, warm_start=True).fit(X, y)
    path = tmp_path / "model.ramify"
    ramify.save(model, path)
    loaded = ramify.load(path)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    more, loaded_more = (m.set_params(max_iter=6).fit(X, y) for m in (model, loaded))
    np.testing.assert_array_equal(loaded_more.predict_proba(X), more.predict_proba(X))


# ---- odd data ------------------------------------------------------------------------------


def test_rows_without_weight_change_nothing(tree_data):
    X, y = tree_data.X, tree_data.y
    weights = np.arange(200) % 4
    kept = weights > 0
    model = boosted(hierarchy=tree_data.hierarchy)
    found = clone(model).fit(X, y, sample_weight=weights)
    expected = clone(model).fit(X[kept], y[kept], sample_weight=weights[kept])
    np.testing.assert_array_equal(found.predict_proba(X), expected.predict_proba(X))


@pytest.mark.parametrize("loss", ["auto", "logistic", "softmax"])
@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[1.0]], [["a"]]),  # one row
        ([[1.0], [2.0]], [[], []]),  # no labels
        ([[1.0], [2.0], [3.0]], [["a"], [], ["a", "b"]]),
        ([[1.0, np.nan]] * 30, [["a"], ["b"], ["a"]] * 10),  # constant and all-missing columns
        ([[np.nan], [1.0]] * 20, [["a"], ["b"]] * 20),  # one value or none
    ],
)
def test_odd_data_give_probabilities(loss, X, y):
    hierarchy = Hierarchy.from_labels(["a", "b"])
    model = boosted(hierarchy=hierarchy, loss=loss).fit(X, y)
    scores = model.predict_proba([*X, [5.0] * len(X[0])])
    assert scores.shape == (len(X) + 1, 2)
    assert ((scores >= 0) & (scores <= 1)).all()


def test_one_label_in_all():
    hierarchy = Hierarchy.from_labels(["a"])
    X = np.arange(30.0)[:, None]
    for loss in ("logistic", "softmax"):
        model = boosted(hierarchy=hierarchy, loss=loss, max_features=None, max_iter=60)
        model.fit(X, [["a"]] * 15 + [[]] * 15)
        assert model.predict([[3.0], [20.0]]) == [["a"], []]


def test_a_missing_value_is_learnt():
    X = np.array([[np.nan], [1.0]] * 40)
    model = boosted(max_iter=60, subsample=1.0).fit(X, ["a", "b"] * 40)
    assert model.predict([[np.nan], [7.0]]).tolist() == ["a", "b"]


def test_labels_that_all_rows_or_none_have():
    X = np.random.default_rng(0).normal(size=(100, 3))
    hierarchy = Hierarchy.from_labels(["all", "none", "some"])
    labels = [["all", "some"] if x > 0 else ["all"] for x in X[:, 0]]
    scores = boosted(hierarchy=hierarchy, loss="logistic").fit(X, labels).predict_proba(X)
    assert scores[:, 0].min() > 0.99
    assert scores[:, 1].max() < 0.01


def test_more_categories_than_bins_and_unseen_ones():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 40, 400).astype(float)
    y = np.where(codes < 8, "a", "b")
    X = np.column_stack([codes, rng.normal(size=400)])
    model = boosted(categorical_features=[0], max_bins=30, max_iter=40, max_features=None)
    model.fit(X, y)
    assert model.score(X, y) > 0.9
    scores = model.predict_proba([[99.0, 0.0], [np.nan, 0.0]])
    np.testing.assert_array_equal(scores[0], scores[1])


def test_a_data_frame_with_nominal_columns():
    animals = load_animals()
    model = boosted(hierarchy=animals.hierarchy, min_samples_leaf=2, max_features=None)
    model.fit(animals.X, animals.y)
    assert model.feature_names_in_.tolist() == list(animals.X.columns)
    assert model.predict_proba(animals.X).shape == animals.y.shape
    assert model.feature_importances_.sum() == pytest.approx(1)


# ---- weights and importances ---------------------------------------------------------------


def test_the_feature_that_decides_is_the_most_important():
    X = np.random.default_rng(0).normal(size=(200, 5))
    model = boosted(max_features=None).fit(X, np.where(X[:, 3] > 0, "a", "b"))
    assert model.feature_importances_.argmax() == 3
    assert model.feature_importances_.sum() == pytest.approx(1)


@pytest.mark.parametrize(("label", "feature"), [("a", 0), ("b", 1)])
def test_label_weights_decide_which_tests_are_chosen(label, feature):
    X = np.random.default_rng(0).normal(size=(300, 2))
    labels = [[n for n, x in zip("ab", row, strict=True) if x > 0] for row in X]
    model = boosted(loss="logistic", max_depth=1, max_iter=1, max_features=None)
    model.set_params(label_weight={label: 100.0}).fit(X, labels)
    assert model.feature_importances_[feature] == 1


@pytest.mark.parametrize(("w0", "feature"), [(0.01, 0), (100.0, 1)])
def test_w0_weighs_labels_by_their_depth(w0, feature):
    # The first feature decides about "a", and the second one about "a/b" and little about "a".
    X = np.random.default_rng(0).normal(size=(300, 2))
    labels = [(["a"] if x > -1 else []) + (["a/b"] if z > 0 else []) for x, z in X]
    model = boosted(loss="logistic", max_depth=1, max_iter=1, max_features=None, w0=w0)
    model.set_params(hierarchy=Hierarchy.from_paths(["a/b"])).fit(X, labels)
    assert model.feature_importances_[feature] == 1


# ---- parameters ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"loss": "hinge"}, "loss must be one of 'auto', 'logistic', 'softmax', got 'hinge'"),
        ({"learning_rate": 0}, "learning_rate must be a number"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1, got 0"),
        ({"max_depth": 0}, "max_depth must be an integer >= 1, got 0"),
        ({"max_leaf_nodes": 1}, "max_leaf_nodes must be an integer >= 2, got 1"),
        ({"min_samples_leaf": 0}, "min_samples_leaf must be an integer >= 1 or a fraction"),
        ({"l2_regularization": -1}, "l2_regularization must be a number"),
        ({"max_features": 1.5}, "max_features must be a number from 0 to 1, got 1.5"),
        ({"subsample": 0}, "subsample must be a number"),
        ({"max_bins": 256}, "max_bins must be an integer from 2 to 255, got 256"),
        ({"sketch_size": 0}, "sketch_size must be an integer >= 1, got 0"),
        ({"coherence": "mean"}, "coherence must be one of 'max', 'min', 'isotonic', got 'mean'"),
        ({"early_stopping": "yes"}, "early_stopping must be True, False or 'auto', got 'yes'"),
        ({"n_iter_no_change": 0}, "n_iter_no_change must be an integer >= 1, got 0"),
        ({"scoring": "pooled_auprcc"}, r"got 'pooled_auprcc'. Did you mean 'pooled_auprc'\?"),
        ({"scoring": 3}, "scoring must be 'loss', a scorer or a name in"),
        ({"refit": True, "warm_start": True}, "refit must be False with warm_start=True"),
        ({"label_weight": "x"}, "label_weight must be 'balanced'"),
    ],
)
def test_bad_parameters_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        boosted(**settings).fit([[0.0], [1.0]], ["a", "b"])


def test_sizes_may_be_huge(tree_data):
    huge = dict.fromkeys(("max_depth", "max_leaf_nodes", "sketch_size"), 10**30)
    model = boosted(hierarchy=tree_data.hierarchy, max_iter=2, **huge)
    assert model.fit(tree_data.X, tree_data.y).feature_importances_.sum() == pytest.approx(1)
    model.set_params(min_samples_leaf=10**30)
    assert model.fit(tree_data.X, tree_data.y).feature_importances_.sum() == 0


def test_leaves_and_depth_are_limited(tree_data):
    for settings, n_leaves in (({"max_leaf_nodes": 3}, 3), ({"max_depth": 1}, 2)):
        model = boosted(hierarchy=tree_data.hierarchy, **{"max_depth": None} | settings)
        model.fit(tree_data.X, tree_data.y)
        found = [model.trees_.arrays(i)["leaf"].max() + 1 for i in range(model.n_iter_)]
        assert max(found) == n_leaves
