"""Public behaviour of PCTClassifier."""

from __future__ import annotations

import pickle
import signal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.class_weight import compute_class_weight

from ramify import (
    HierarchicalStratifiedKFold,
    Hierarchy,
    PCTBaggingClassifier,
    PCTClassifier,
    PCTForestClassifier,
    load_animals,
    make_hierarchical_classification,
)
from ramify._core import Tree
from tests.support.engine_trees import plain_arrays

PATHS = ["animal/cat", "animal/cat", "animal/dog", "plant"]
X4 = [[1.0, 0.0], [2.0, 0.0], [3.0, 1.0], [4.0, 1.0]]


def generated(**options):
    return make_hierarchical_classification(
        n_samples=120, n_features=6, n_labels=20, random_state=0, **options
    )


def test_root_split_equals_that_of_a_regression_tree_on_weighted_labels():
    data = generated()
    w = data.hierarchy.weights(0.75)
    ours = PCTClassifier(data.hierarchy, max_depth=1).fit(data.X, data.y).tree_
    peer = DecisionTreeRegressor(max_depth=1).fit(data.X, np.sqrt(w) * data.y.toarray()).tree_
    assert ours.feature[0] == peer.feature[0]
    assert ours.threshold[0] == pytest.approx(peer.threshold[0])


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_single_label_trees_equal_those_of_scikit_learn(criterion):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(300, 3)), rng.integers(0, 4, 300)
    # With leaves of this size no two tests tie; scikit-learn breaks ties at random.
    ours = PCTClassifier(criterion=criterion, min_samples_leaf=20).fit(X, y)
    peer = DecisionTreeClassifier(criterion=criterion, min_samples_leaf=20).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X))
    assert ours.get_n_leaves() == peer.get_n_leaves()
    assert ours.get_depth() == peer.get_depth()
    np.testing.assert_allclose(ours.feature_importances_, peer.feature_importances_)


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        (PATHS, ["animal/cat", "plant"]),
        ([{"animal/cat"}, {"animal/cat"}, {"animal/dog"}, {"plant"}], [{"animal/cat"}, {"plant"}]),
        (["animal/cat@plant"] * 2 + ["plant", "plant"], ["animal/cat@plant", "plant"]),
        ([1, 1, 2, 3], [1, 3]),
        (np.array([["a", "b"], ["a", "b"], ["a", "c"], ["d", ""]]), [["a", "b"], ["d", ""]]),
    ],
    ids=["paths", "sets", "clus", "classes", "levels"],
)
def test_predict_answers_in_the_format_of_y(y, expected):
    predicted = PCTClassifier().fit(X4, y).predict([X4[0], X4[3]])
    assert [p.tolist() if isinstance(p, np.ndarray) else p for p in predicted] == expected


def test_probabilities_are_coherent_and_do_not_depend_on_the_batch():
    data = generated(dag_share=0.3, missing_share=0.1)
    model = PCTClassifier(data.hierarchy, min_samples_leaf=3).fit(data.X, data.y)
    proba = model.predict_proba(data.X)
    indptr, parents = data.hierarchy.parent_rows
    children = np.repeat(np.arange(data.hierarchy.n_labels), np.diff(indptr))
    assert (proba[:, children] <= proba[:, parents] + 1e-12).all()
    alone = np.vstack([model.predict_proba(row[None]) for row in np.asarray(data.X)])
    np.testing.assert_array_equal(proba, alone)


def test_thresholds_must_respect_the_hierarchy():
    y = [[path] for path in PATHS]
    model = PCTClassifier(min_samples_leaf=2).fit(X4, y)
    assert model.predict([X4[3]], threshold=0.6) == [[]]
    assert model.predict([X4[3]], threshold=0.5) == [["animal/dog", "plant"]]
    assert model.predict([X4[3]], threshold={"animal/dog": 0.9}) == [["animal", "plant"]]
    with pytest.raises(ValueError, match=r"got 0.1 for 'animal/cat' and 0.5 for 'animal'"):
        model.predict(X4, threshold={"animal/cat": 0.1})
    with pytest.raises(ValueError, match="y had one label per row"):
        PCTClassifier().fit(X4, PATHS).predict(X4, threshold=0.3)


def test_pandas_and_polars_frames_give_the_same_tree():
    columns = {"size": [1.0, None, 3.0, 9.0], "diet": ["meat", "meat", "plants", None]}
    frame = pd.DataFrame(columns).astype({"diet": "category"})
    by_pandas = PCTClassifier().fit(frame, PATHS)
    by_polars = PCTClassifier().fit(pl.DataFrame(columns), PATHS)
    np.testing.assert_array_equal(by_pandas.tree_.feature, by_polars.tree_.feature)
    assert list(by_pandas.feature_names_in_) == ["size", "diet"]
    unseen = pd.DataFrame({"size": [2.0], "diet": ["stones"]})
    assert np.isfinite(by_pandas.predict_proba(unseen)).all()
    with pytest.raises(ValueError, match=r"X must be a data frame, got an array"):
        by_pandas.predict([[1.0, 0.0]])


def test_categorical_features_of_an_array_must_be_codes():
    X = np.array([[0.0], [1.0], [2.0], [0.0], [2.0], [np.nan]])
    y = [0, 1, 0, 0, 0, 1]
    tree = PCTClassifier(categorical_features=[0]).fit(X, y).tree_
    assert tree.category_branch.tolist() == [1, 0, 1]  # x = 1?
    with pytest.raises(ValueError, match=r"column 0 of X .* integer codes from 0 .*got 0.5"):
        PCTClassifier(categorical_features=[0]).fit([[0.5], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="must contain indices from 0 to 0, got 3"):
        PCTClassifier(categorical_features=[3]).fit(X, y)


def test_sparse_input_stays_sparse_and_predicts_the_same():
    data = generated(sparsity=0.8)
    X = sparse.csr_array(data.X)
    by_rows = PCTClassifier(data.hierarchy).fit(X, data.y)
    by_columns = PCTClassifier(data.hierarchy).fit(X.toarray(), data.y)
    np.testing.assert_array_equal(by_rows.predict_proba(X), by_columns.predict_proba(X.toarray()))
    np.testing.assert_array_equal(by_rows.apply(X), by_columns.apply(X.toarray()))


def test_values_that_differ_only_in_the_last_bits_are_separated():
    rng = np.random.default_rng(0)
    place = rng.permutation(600)
    X = (1 + place * np.finfo(float).eps)[:, None]
    y = np.where(place < 250, "low", np.where(place < 400, "middle", "high"))
    tree = PCTClassifier().fit(X, y)
    assert tree.get_n_leaves() == 3
    np.testing.assert_array_equal(tree.predict(X), y)


@pytest.mark.parametrize("splitter", ["best", "random"])
def test_one_seed_gives_one_tree_for_any_number_of_threads(splitter):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 70))  # large enough for several threads to share a node
    y = (X[:, :5] + rng.normal(size=(3000, 5)) > 0).astype(int)
    options = {"splitter": splitter, "max_features": 30, "random_state": 7, "min_samples_leaf": 5}
    one, many = (PCTClassifier(n_jobs=k, **options).fit(X, y).tree_ for k in (1, 4))
    for name in ("feature", "threshold", "child", "value_label", "value", "weight", "gain"):
        np.testing.assert_array_equal(getattr(one, name), getattr(many, name))
    other = PCTClassifier(**{**options, "random_state": 8}).fit(X, y).tree_
    assert not np.array_equal(one.threshold, other.threshold)


def test_smaller_f_test_levels_give_smaller_trees_and_a_list_is_searched():
    data = load_animals(as_frame=False)
    nominal = [name in data.categories for name in data.feature_names]
    models = [
        PCTClassifier(data.hierarchy, f_test=f, categorical_features=nominal, random_state=0)
        for f in (None, 0.05, 0.001, [0.05, 0.001])
    ]
    sizes = [model.fit(data.X, data.y).get_n_leaves() for model in models]
    assert sizes[0] > sizes[1] > sizes[2]
    chosen = models[3]
    assert set(chosen.f_test_scores_) == {0.05, 0.001}
    assert chosen.f_test_ == max(chosen.f_test_scores_, key=chosen.f_test_scores_.get)
    assert chosen.get_n_leaves() == sizes[1 if chosen.f_test_ == 0.05 else 2]


def test_levels_are_chosen_with_any_cv():
    data = generated()
    levels = [0.2, 0.01, 0.001]

    def scores(cv):
        model = PCTClassifier(data.hierarchy, f_test=levels, cv=cv, random_state=0)
        return model.fit(data.X, data.y).f_test_scores_

    splitter = KFold(4, shuffle=True, random_state=5)
    splits = list(splitter.split(data.X))
    assert scores(splitter) == scores(splits) == scores(iter(splits))
    assert scores(HierarchicalStratifiedKFold(3, random_state=0)).keys() == set(levels)
    for cv in (1, 2.5, "three", None):
        with pytest.raises(ValueError, match=f"cv must be an integer >= 2.*got {cv!r}"):
            scores(cv)


def test_validation_rows_choose_the_level_and_are_used_in_the_final_tree():
    data = generated()
    model = PCTClassifier(data.hierarchy, f_test=[0.1, 0.001])
    model.fit(data.X[:60], data.y[:60], X_val=data.X[60:], y_val=data.y[60:])
    assert model.tree_.n_samples[0] == 120
    with pytest.raises(ValueError, match=r"got rows with f_test=None\. Omit X_val"):
        PCTClassifier(data.hierarchy).fit(
            data.X[:60], data.y[:60], X_val=data.X[60:], y_val=data.y[60:]
        )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"criterion": "brier"}, "criterion must be one of 'variance'.*got 'brier'"),
        ({"w0": -1}, "w0 must be a number >= 0, got -1"),
        ({"w0": 1e300}, "w0 must give finite weights, got 1e[+]300"),
        ({"label_weight": [1e101] * 4}, "label weights of at most 1e[+]100, got 1e[+]101"),
        ({"max_depth": 1.5}, "max_depth must be an integer >= 0, got 1.5"),
        ({"min_samples_leaf": "5"}, "min_samples_leaf must be an integer >= 1 or .*got '5'"),
        ({"min_samples_leaf": 0}, "or a fraction of the rows between 0 and 1, got 0."),
        ({"min_samples_leaf": 1.5}, "min_samples_leaf must be .* got 1.5."),
        ({"min_samples_split": 1}, "min_samples_split must be an integer >= 2 or .* got 1."),
        ({"min_samples_split": True}, "min_samples_split must be .* got True."),
        ({"max_features": 0}, "max_features must be an integer >= 1, got 0"),
        ({"f_test": 2}, "f_test must be a number from.*got 2"),
        ({"f_test": []}, r"f_test must be .* non-empty list of levels, got \[\]"),
        (
            {"f_test": 0.1, "criterion": "entropy"},
            "f_test must be None with criterion='entropy', got 0.1",
        ),
        ({"label_weight": [1.0]}, r"label_weight must have shape \(4,\), got \(1,\)"),
        ({"label_weight": [1, 1, -2, 1]}, "must be finite and non-negative, got -2.0"),
        ({"label_weight": "even"}, "label_weight must be 'balanced', .* got 'even'"),
        ({"splitter": "random", "threshold_at": "observed"}, "threshold_at must be None with"),
        ({"splitter": "random", "nominal_tests": "single"}, "'subset' or 'nary' with splitter="),
        ({"splitter": "random", "clus_compat": True}, "splitter must be 'best' with clus_compat"),
        ({"nominal_tests": "all"}, "nominal_tests must be .*, got 'all'"),
    ],
)
def test_invalid_parameters_raise_errors(options, message):
    with pytest.raises(ValueError, match=message):
        PCTClassifier(**options).fit(X4, PATHS)


def test_invalid_data_raises_errors():
    with pytest.raises(ValueError, match="X has 4 rows, but y has 3"):
        PCTClassifier().fit(X4, PATHS[:3])
    with pytest.raises(ValueError, match="sample_weight is zero for every row"):
        PCTClassifier().fit(X4, PATHS, sample_weight=np.zeros(4))
    with pytest.raises(ValueError, match="unknown label 'mineral'"):
        PCTClassifier(Hierarchy.from_paths(["animal"])).fit(X4, [["mineral"]] * 4)
    with pytest.raises(ValueError, match="infinity"):
        PCTClassifier().fit([[np.inf], [1.0]], [0, 1])


@pytest.mark.parametrize("cls", [PCTClassifier, PCTForestClassifier, PCTBaggingClassifier])
def test_with_clus_compat_rows_without_labels_are_not_sufficient(cls):
    model = cls(Hierarchy.from_paths(["animal"]), clus_compat=True, random_state=0)
    with pytest.raises(ValueError, match=r"y must have a row with a label .* none in 4 row"):
        model.fit(X4, [[]] * 4)
    with pytest.raises(ValueError, match="y must have a row with a label and a positive weight"):
        model.fit(X4, [["animal"], [], [], []], sample_weight=[0, 1, 1, 1])


def test_label_weights_determine_the_split():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 3, dtype=float)
    y = X.astype(int)
    for label, feature in ((0, 0), (1, 1)):
        model = PCTClassifier(label_weight={label: 10.0}, max_depth=1).fit(X, y)
        assert model.tree_.feature[0] == feature


def test_balanced_label_weights_equal_those_of_scikit_learn():
    X = np.arange(10.0)[:, None]
    y = ["a"] * 6 + ["b"] * 3 + ["c"]
    found = PCTClassifier(label_weight="balanced").fit(X, y)
    weights = compute_class_weight("balanced", classes=np.array(["a", "b", "c"]), y=y)
    np.testing.assert_allclose(weights, [10 / 18, 10 / 9, 10 / 3])
    by_hand = PCTClassifier(label_weight=weights).fit(X, y)
    np.testing.assert_array_equal(found.tree_.feature, by_hand.tree_.feature)
    np.testing.assert_allclose(found.tree_.impurity, by_hand.tree_.impurity)
    p = np.array([0.6, 0.3, 0.1])
    assert found.tree_.impurity[0] == pytest.approx(weights @ (p * (1 - p)))


def test_balanced_label_weights_with_sample_weights_and_labels_without_rows():
    hierarchy = Hierarchy.from_labels(["a", "b", "never"])
    X, y, sample_weight = [[0.0], [1.0], [2.0]], [["a"], ["b"], ["b"]], [2.0, 1.0, 1.0]
    found = PCTClassifier(hierarchy, label_weight="balanced")
    found.fit(X, y, sample_weight=sample_weight)
    factors = {"a": 4 / (3 * 2), "b": 4 / (3 * 2), "never": 0}
    by_hand = PCTClassifier(hierarchy, label_weight=factors).fit(X, y, sample_weight=sample_weight)
    np.testing.assert_array_equal(found.tree_.impurity, by_hand.tree_.impurity)
    assert found.tree_.impurity[0] > 0


@pytest.mark.parametrize(
    ("share", "count"),
    [(0.3, 4), (0.25, 3), (0.1, 2), (0.01, 1)],  # of 12 rows: 3.6, 3, 1.2 and 0.12
)
def test_min_samples_leaf_below_1_is_a_fraction_rounded_up(share, count):
    X = np.arange(12.0)[:, None]
    y = ["a"] + ["b"] * 11
    by_share = PCTClassifier(min_samples_leaf=share).fit(X, y)
    by_count = PCTClassifier(min_samples_leaf=count).fit(X, y)
    assert by_share.tree_.n_samples.tolist() == by_count.tree_.n_samples.tolist()
    assert min(by_share.tree_.n_samples) == count  # "a" alone would be best
    peer = DecisionTreeClassifier(min_samples_leaf=share).fit(X, y)
    assert min(peer.tree_.n_node_samples) == count


@pytest.mark.parametrize(
    ("share", "n_nodes"),
    [(0.5, 3), (0.4, 3), (0.3, 5), (0.01, 5)],  # of 8 rows: 4, 3.2, 2.4 and 0.08
)
def test_min_samples_split_below_1_is_a_fraction_rounded_up(share, n_nodes):
    X = np.arange(8.0)[:, None]
    y = ["a"] * 5 + ["b"] * 2 + ["c"]  # split into 5 and 3 rows, and the latter into 2 and 1
    model = PCTClassifier(min_samples_split=share).fit(X, y)
    peer = DecisionTreeClassifier(min_samples_split=share, random_state=0).fit(X, y)
    assert len(model.tree_.feature) == peer.tree_.node_count == n_nodes


def test_fractions_ignore_rows_of_weight_0():
    X, y = np.arange(20.0)[:, None], ["a"] + ["b"] * 9 + ["c"] * 10
    weights = np.array([1.0] * 10 + [0.0] * 10)
    model = PCTClassifier(min_samples_leaf=0.35).fit(X, y, sample_weight=weights)
    assert min(model.tree_.n_samples) == 4  # of 10, not 7 of 20


def test_trees_can_be_pickled_and_damaged_arrays_are_rejected():
    model = PCTClassifier().fit(X4, PATHS)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X4), model.predict_proba(X4))
    arrays = plain_arrays(model.tree_)
    for name, position, value in [("child", 0, 0), ("child", 0, 99), ("value_label", 0, -5)]:
        damaged = {key: array.copy() for key, array in arrays.items()}
        damaged[name][position] = value
        with pytest.raises(ValueError, match="damaged tree"):
            Tree(damaged)
    with pytest.raises(ValueError, match="damaged tree: arrays differ in length"):
        Tree({**arrays, "gain": arrays["gain"][:-1]})


def test_very_deep_trees_are_supported():
    # Alternating classes are split off one row at a time, which gives thousands of levels.
    n = 4000
    X, y = np.arange(n, dtype=float)[:, None], np.arange(n) % 2
    model = PCTClassifier().fit(X, y)
    assert model.get_n_leaves() == n
    assert model.get_depth() > 1000
    assert (model.predict(X) == y).all()


def test_missing_values_in_a_very_deep_tree_match_a_sum_from_the_bottom():
    # The core combines so many tests for a few labels at a time.
    n, n_labels = 2000, 2500
    X = np.r_[np.arange(n, dtype=float), np.full(50, np.nan)][:, None]
    y = [[i % 2] for i in range(n)] + [[2 + 49 * i, i % 2] for i in range(50)]
    model = PCTClassifier(Hierarchy.from_labels(range(n_labels)), clus_compat=True).fit(X, y)
    tree = model.tree_
    assert model.get_depth() == n - 1
    scores = np.zeros((len(tree.feature), n_labels))
    for node in reversed(range(len(tree.feature))):
        own = slice(tree.value_indptr[node], tree.value_indptr[node + 1])
        scores[node, tree.value_label[own]] = tree.value[own]
        for k in range(tree.child_indptr[node], tree.child_indptr[node + 1]):
            scores[node] += tree.share[k] * scores[tree.child[k]]
    np.testing.assert_array_equal(model.predict_proba([[np.nan]]), scores[:1])


def test_very_large_trees_are_supported():
    rng = np.random.default_rng(0)
    X, y = rng.random((100_000, 1)), rng.integers(0, 50, 100_000)
    model = PCTClassifier(n_jobs=2).fit(X, y)
    assert len(model.tree_.feature) > 150_000
    assert (model.predict(X) == y).all()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="requires POSIX timers")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_signal_interrupts_fit(n_jobs):
    def interrupt(*_):
        raise KeyboardInterrupt

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100_000, 60)), (rng.random((100_000, 40)) < 0.3).astype(int)
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        # The fit would take minutes; the alarm goes off while it runs native code.
        signal.setitimer(signal.ITIMER_REAL, 0.5, 5)  # Python ignores it inside a destructor
        with pytest.raises(KeyboardInterrupt):
            PCTClassifier(n_jobs=n_jobs).fit(X, y)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_repeated_column_names_are_refused():
    frame = pd.DataFrame(np.zeros((4, 2)), columns=["a", "a"])
    with pytest.raises(ValueError, match="column names of X must be unique, got 'a' more than"):
        PCTClassifier().fit(frame, PATHS)
