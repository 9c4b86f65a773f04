"""Tests of local architectures: comparison with explicit loops, coherence, formats of X and y."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from ramify import (
    FlatClassifier,
    Hierarchy,
    PCTBaggingClassifier,
    PCTClassifier,
    PCTExtraTreesClassifier,
    PCTForestClassifier,
    PerEdgeClassifier,
    PerLevelClassifier,
    PerNodeClassifier,
    PerParentClassifier,
)
from ramify.local.learning import ConstantClassifier
from ramify.local.problems import POLICIES
from tests.support.budget import budget
from tests.support.local_cases import every_architecture, is_coherent, make_data, one_path_per_row


class ShareClassifier(ClassifierMixin, BaseEstimator):
    """Predicts the class frequencies of its training rows, so that rules are easy to check."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ShareClassifier:
        self.classes_, counts = np.unique(y, return_counts=True)
        self.shares_ = counts / counts.sum()
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        return np.tile(self.shares_, (len(X), 1))

    def predict(self, X: Any) -> np.ndarray:
        return np.full(len(X), self.classes_[self.shares_.argmax()])


# ---- comparison with explicit loops --------------------------------------------------------


def positive_share(model: Any, X: np.ndarray) -> np.ndarray:
    return model.predict_proba(X)[:, list(model.classes_).index(1)]


def fitted_share(rows: np.ndarray, target: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Return P(target) for all rows of X, by a tree fitted on some of them."""
    if not rows.any() or target[rows].min() == target[rows].max():
        return np.full(len(X), float(rows.any() and target[rows].max()))
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X[rows], target[rows])
    return positive_share(tree, X)


@pytest.mark.parametrize("dag_share", [0.0, 0.4])
def test_per_edge_equals_a_loop_with_the_product_rule(dag_share: float) -> None:
    data = make_data(dag_share=dag_share)
    Y, hierarchy = data.y.toarray(), data.hierarchy
    expected = np.ones(Y.shape)
    for child, name in enumerate(hierarchy.labels):
        products = []
        for parent in hierarchy.parents(name) or (None,):
            above = None if parent is None else hierarchy.index(parent)
            rows = np.ones(len(Y), bool) if above is None else Y[:, above] == 1
            product = fitted_share(rows, Y[:, child], data.X)
            products.append(product if above is None else product * expected[:, above])
        expected[:, child] = np.min(products, axis=0)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    model = PerEdgeClassifier(hierarchy=hierarchy, estimator=tree).fit(data.X, data.y)
    np.testing.assert_array_equal(model.predict_proba(data.X), expected)
    assert len(model.named_estimators_) == sum(
        max(1, len(hierarchy.parents(c))) for c in hierarchy.labels
    )


@pytest.mark.parametrize("labels", ["leaves", "all"])
def test_flat_equals_a_loop_over_labels(labels: str) -> None:
    data = make_data()
    Y, hierarchy = data.y.toarray(), data.hierarchy
    everything = np.ones(len(Y), bool)
    shares = np.stack([fitted_share(everything, y, data.X) for y in Y.T], axis=1)
    order = range(hierarchy.n_labels)
    if labels == "leaves":
        inner = [c for c in order if hierarchy.children(hierarchy.labels[c])]
        shares[:, inner] = 0
        for parent in reversed(inner):
            below = [hierarchy.index(c) for c in hierarchy.children(hierarchy.labels[parent])]
            shares[:, parent] = shares[:, below].max(axis=1)
    else:
        for child in order:
            for parent in hierarchy.parents(hierarchy.labels[child]):
                above = shares[:, hierarchy.index(parent)]
                shares[:, child] = np.minimum(shares[:, child], above)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    model = FlatClassifier(hierarchy=hierarchy, estimator=tree, labels=labels).fit(data.X, data.y)
    np.testing.assert_array_equal(model.predict_proba(data.X), shares)


def test_per_parent_learns_one_multiclass_model_per_parent() -> None:
    X, y = one_path_per_row()
    knn = KNeighborsClassifier(7)
    model = PerParentClassifier(estimator=knn).fit(X, y)
    top = clone(knn).fit(X, [path[0] for path in y])
    below = clone(knn).fit(X[np.char.startswith(y, "a")], [c for c in y if c.startswith("a")])
    p_a = top.predict_proba(X)[:, 0]
    p_ax = p_a * below.predict_proba(X)[:, list(below.classes_).index("a/x")]
    scores = model.predict_proba(X)
    np.testing.assert_array_equal(scores[:, [0, 1]], np.stack([p_a, p_ax], axis=1))
    assert list(model.named_estimators_) == [None, "a", "b"]
    assert model.named_estimators_["a"].classes_.tolist() == ["", "a/x", "a/y"]


def test_per_level_learns_one_multiclass_model_per_level() -> None:
    X, y = one_path_per_row()
    knn = KNeighborsClassifier(7)
    model = PerLevelClassifier(estimator=knn).fit(X, y)
    top = clone(knn).fit(X, [path[0] for path in y])
    below = clone(knn).fit(X, [path if "/" in path else "" for path in y])
    p_a = top.predict_proba(X)[:, 0]
    p_ax = below.predict_proba(X)[:, list(below.classes_).index("a/x")]
    scores = model.predict_proba(X)
    np.testing.assert_array_equal(scores[:, 0], p_a)
    np.testing.assert_array_equal(scores[:, 1], np.minimum(p_a, p_ax))
    assert model.named_estimators_[1].classes_.tolist() == ["", "a/x", "a/y", "b/z"]


@pytest.mark.parametrize(
    "estimator",
    [
        RandomForestClassifier(5, random_state=0),
        MLPClassifier((3,), max_iter=5, random_state=0),
        MultiOutputClassifier(LogisticRegression()),
        make_pipeline(StandardScaler(), KNeighborsClassifier()),
    ],
    ids=lambda e: type(e).__name__,
)
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
@pytest.mark.parametrize("kind", [PerParentClassifier, PerLevelClassifier])
def test_several_labels_per_row_make_multilabel_models(kind: type, estimator: Any) -> None:
    data = make_data()
    model = kind(estimator, hierarchy=data.hierarchy).fit(data.X, data.y)
    key = next(iter(model.named_estimators_))
    Y = data.y.toarray()[:, data.hierarchy.indices(data.hierarchy.levels[0])]
    alone = clone(estimator).fit(data.X, Y).predict_proba(data.X)
    alone = np.stack([p[:, 1] for p in alone], 1) if isinstance(alone, list) else alone
    found = model.predict_proba(data.X)
    columns = data.hierarchy.indices(data.hierarchy.levels[0])
    np.testing.assert_allclose(found[:, columns], alone, rtol=0, atol=1e-12)
    assert key in (None, 0)
    assert is_coherent(found, data.hierarchy)


def test_per_edge_with_pct_equals_a_loop_of_fits() -> None:
    data = make_data(missing_share=0.1, n_nominal=2, as_frame=False, n_samples=150)
    nominal = [name in data.categories for name in data.feature_names]
    tree = PCTClassifier(min_samples_leaf=3)
    model = PerEdgeClassifier(
        hierarchy=data.hierarchy, estimator=tree, categorical_features=nominal
    )
    model.fit(data.X, data.y)
    Y = data.y.toarray()
    for (parent, child), local in model.named_estimators_.items():
        rows = (
            np.ones(len(Y), bool) if parent is None else Y[:, model.hierarchy_.index(parent)] > 0
        )
        y = Y[rows][:, [model.hierarchy_.index(child)]]
        if isinstance(local, ConstantClassifier):
            assert set(y.ravel()) <= {local.probabilities[0]}
            continue
        alone = PCTClassifier(
            Hierarchy.from_labels([child]), min_samples_leaf=3, categorical_features=nominal
        ).fit(data.X[rows], y)
        np.testing.assert_allclose(
            local.predict_proba(data.X), alone.predict_proba(data.X), rtol=0, atol=1e-12
        )


@pytest.mark.parametrize(
    "forest",
    [
        PCTForestClassifier(n_estimators=3, random_state=1),
        PCTBaggingClassifier(n_estimators=3, max_samples=0.5, random_state=1),
        PCTExtraTreesClassifier(n_estimators=3, random_state=1),
    ],
    ids=lambda forest: type(forest).__name__,
)
def test_per_edge_with_an_ensemble_equals_a_loop_of_fits(forest: Any) -> None:
    data = make_data(missing_share=0.1, n_samples=150)
    model = PerEdgeClassifier(hierarchy=data.hierarchy, estimator=forest).fit(data.X, data.y)
    scores = model.predict_proba(data.X)
    assert is_coherent(scores, data.hierarchy)
    Y = data.y.toarray()
    (parent, child), local = next(
        (edge, local)
        for edge, local in model.named_estimators_.items()
        if edge[0] is not None and not isinstance(local, ConstantClassifier)
    )
    rows = Y[:, data.hierarchy.index(parent)] > 0
    alone = clone(forest).set_params(hierarchy=Hierarchy.from_labels([child]))
    alone.fit(data.X[rows], Y[rows][:, [data.hierarchy.index(child)]])
    np.testing.assert_allclose(
        local.predict_proba(data.X), alone.predict_proba(data.X), rtol=0, atol=1e-12
    )
    np.testing.assert_array_equal(
        model.named_estimators_[None, data.hierarchy.labels[0]].predict_proba(data.X)[:, 0],
        scores[:, 0],
    )


# ---- rules ---------------------------------------------------------------------------------


def test_a_label_with_several_parents_takes_the_smallest_product() -> None:
    hierarchy = Hierarchy.from_edges([("m", "dog"), ("p", "dog"), ("r", "m"), ("r", "p")])
    y = [["dog"]] * 3 + [["m"]] * 3 + [["p"], ["r"]]
    model = PerEdgeClassifier(hierarchy=hierarchy, estimator=ShareClassifier()).fit(
        np.zeros((8, 1)), y
    )
    scores = dict(zip(hierarchy.labels, model.predict_proba([[0.0]])[0], strict=True))
    # P(dog|m) P(m) = 3/6 * 6/8 equals P(dog|p) P(p) = 3/4 * 4/8, as frequencies must.
    assert scores == pytest.approx({"r": 1.0, "m": 6 / 8, "p": 4 / 8, "dog": 3 / 8})
    model.local_models_["m", "dog"].estimator.shares_ = np.array([0.9, 0.1])
    scores = dict(zip(hierarchy.labels, model.predict_proba([[0.0]])[0], strict=True))
    assert scores["dog"] == pytest.approx(0.1 * 6 / 8)


# Hierarchy: a (with children x and y) and b. The rows end at a, x, y, b, and both x and b.
POLICY_ROWS = {
    # policy: rows of a, positives of a, rows of a/x, positives of a/x
    "siblings": ("01234", "0124", "124", "14"),
    "all": ("01234", "0124", "01234", "14"),
    "less_inclusive": ("01234", "0124", "01234", "14"),
    "inclusive": ("01234", "0124", "1234", "14"),
    "exclusive": ("01234", "0", "01234", "14"),
    "less_exclusive": ("03", "0", "01234", "14"),
    "exclusive_siblings": ("03", "0", "124", "14"),
}


@pytest.mark.parametrize("policy", POLICIES)
def test_policies_choose_rows(policy: str) -> None:
    class Spy(ShareClassifier):
        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            self.rows_ = X[:, 0].astype(int)
            self.positives_ = self.rows_[y == 1]
            return super().fit(X, y)

    y = [["a"], ["a/x"], ["a/y"], ["b"], ["a/x", "b"]]
    model = PerNodeClassifier(estimator=Spy(), policy=policy).fit(np.arange(5)[:, None], y)
    rows_a, positive_a, rows_x, positive_x = (
        {int(digit) for digit in digits} for digits in POLICY_ROWS[policy]
    )
    a, x = model.named_estimators_["a"], model.named_estimators_["a/x"]
    assert (set(a.rows_), set(a.positives_)) == (rows_a, positive_a)
    assert (set(x.rows_), set(x.positives_)) == (rows_x, positive_x)


def test_policies_decide_how_probabilities_are_combined() -> None:
    y = [["a"], ["a/x"], ["a/y"], ["b"]]
    X = np.zeros((4, 1))

    def scores(policy: str) -> dict[Any, float]:
        model = PerNodeClassifier(estimator=ShareClassifier(), policy=policy).fit(X, y)
        return dict(zip(model.classes_, model.predict_proba(X[:1])[0], strict=True))

    assert scores("siblings") == {"a": 0.75, "a/x": 0.375, "a/y": 0.375, "b": 0.25}
    assert scores("all") == {"a": 0.75, "a/x": 0.25, "a/y": 0.25, "b": 0.25}
    assert scores("exclusive") == {"a": 0.25, "a/x": 0.25, "a/y": 0.25, "b": 0.25}


def test_edges_with_one_class_are_constants() -> None:
    hierarchy = Hierarchy.from_paths(["a/always", "a/never", "b/below_never/seen", "c"])
    y = [["a/always"], ["a/always"], ["c"], ["c"]]
    model = PerEdgeClassifier(hierarchy=hierarchy).fit([[0.0], [1.0], [2.0], [3.0]], y)
    constants = {
        child: local.probabilities
        for (_, child), local in model.named_estimators_.items()
        if isinstance(local, ConstantClassifier)
    }
    assert constants == {
        "a/always": (1.0,),
        "a/never": (0.0,),
        "b": (0.0,),
        "b/below_never": (0.0,),
        "b/below_never/seen": (0.0,),
    }
    assert model.predict([[0.5]]) == [["a/always"]]
    assert is_coherent(model.predict_proba([[0.5], [9.0]]), hierarchy)


def test_a_single_class_gives_constant_models() -> None:
    model = PerParentClassifier(estimator=LogisticRegression()).fit([[1.0], [2.0]], ["a/b"] * 2)
    assert model.predict([[7.0]]).tolist() == ["a/b"]
    assert model.predict_proba([[7.0]]).tolist() == [[1.0, 1.0]]
    assert model.named_estimators_["a"].predict_proba([[7.0]]).tolist() == [[1.0]]


# ---- coherence and independence ------------------------------------------------------------


@st.composite
def problems(draw: st.DrawFn) -> tuple[Hierarchy, np.ndarray, np.ndarray, np.ndarray]:
    """Draw a tree or DAG, features with ties and missing values, label sets and weights."""
    n_labels = draw(st.integers(1, 7))
    edges = []
    for child in range(n_labels):
        above = draw(st.sets(st.integers(0, max(0, child - 1)), max_size=2)) if child else set()
        edges += [(f"l{p}", f"l{child}") for p in above] or [("root", f"l{child}")]
    hierarchy = Hierarchy.from_edges(edges, root="root")
    n_rows = draw(st.integers(2, 14))
    cells = st.sampled_from([0.0, 1.0, 2.0, 2.5, np.nan])
    X = np.array(draw(st.lists(st.tuples(cells, cells), min_size=n_rows, max_size=n_rows)))
    flags = st.lists(st.booleans(), min_size=n_labels, max_size=n_labels)
    rows = draw(st.lists(flags, min_size=n_rows, max_size=n_rows))
    Y = hierarchy.close(sparse.csr_array(np.array(rows, dtype=np.int32)))
    weights = st.lists(st.sampled_from([0.5, 1.0, 2.0]), min_size=n_rows, max_size=n_rows)
    return hierarchy, X, Y, np.array(draw(weights))


@every_architecture
@budget(25)
@given(problem=problems())
def test_probabilities_are_coherent_and_rows_independent(model: Any, problem: Any) -> None:
    hierarchy, X, Y, weights = problem
    model = clone(model).set_params(hierarchy=hierarchy).fit(X, Y, sample_weight=weights)
    scores = model.predict_proba(X)
    assert is_coherent(scores, hierarchy)
    alone = np.concatenate([model.predict_proba(row[None]) for row in X])
    np.testing.assert_array_equal(alone, scores)


@every_architecture
@budget(10)
@given(problem=problems())
def test_probabilities_of_other_classifiers_are_coherent(model: Any, problem: Any) -> None:
    hierarchy, X, Y, weights = problem
    X = np.nan_to_num(X)
    estimator = DecisionTreeClassifier(max_depth=2, random_state=0)
    model = clone(model).set_params(hierarchy=hierarchy, estimator=estimator)
    scores = model.fit(X, Y, sample_weight=weights).predict_proba(X)
    assert is_coherent(scores, hierarchy)
    alone = np.concatenate([model.predict_proba(row[None]) for row in X])
    np.testing.assert_allclose(alone, scores, rtol=0, atol=1e-12)


# ---- X, y and weights ----------------------------------------------------------------------


@every_architecture
def test_sparse_and_dense_features_give_the_same(model: Any) -> None:
    data = make_data(n_labels=8, sparsity=0.6)
    dense = data.X.toarray() if sparse.issparse(data.X) else data.X
    model = clone(model).set_params(hierarchy=data.hierarchy)
    expected = model.fit(dense, data.y).predict_proba(dense)
    found = clone(model).fit(sparse.csr_array(dense), data.y)
    np.testing.assert_array_equal(found.predict_proba(sparse.csr_array(dense)), expected)


def test_other_classifiers_get_sparse_features_unchanged() -> None:
    data = make_data(sparsity=0.6)
    rows = sparse.csr_array(data.X)
    model = PerEdgeClassifier(hierarchy=data.hierarchy, estimator=LogisticRegression())
    expected = clone(model).fit(rows.toarray(), data.y).predict_proba(rows.toarray())
    found = model.fit(rows, data.y).predict_proba(rows)
    np.testing.assert_allclose(found, expected, atol=1e-3)


def test_trees_use_nominal_columns_of_data_frames() -> None:
    data = make_data(n_nominal=2, missing_share=0.05, as_frame=True)
    tree = PCTClassifier()
    model = PerEdgeClassifier(tree, hierarchy=data.hierarchy).fit(data.X, data.y)
    coded = make_data(n_nominal=2, missing_share=0.05, as_frame=False)
    nominal = [name in coded.categories for name in coded.feature_names]
    twin = PerEdgeClassifier(tree, hierarchy=coded.hierarchy, categorical_features=nominal).fit(
        coded.X, coded.y
    )
    np.testing.assert_array_equal(model.predict_proba(data.X), twin.predict_proba(coded.X))
    assert model.feature_names_in_.tolist() == list(data.X.columns)
    local = next(m for m in model.named_estimators_.values() if isinstance(m, PCTClassifier))
    assert local.predict_proba(data.X).shape == (80, 1)


def test_other_classifiers_get_data_frames_unchanged() -> None:
    data = make_data(n_nominal=2, as_frame=True)
    nominal = list(data.categories)
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), nominal), remainder="passthrough"
    )
    pipeline = make_pipeline(encode, GaussianNB())
    model = PerEdgeClassifier(hierarchy=data.hierarchy, estimator=pipeline).fit(data.X, data.y)
    Y = data.y.toarray()
    alone = clone(pipeline).fit(data.X, Y[:, 0])
    np.testing.assert_array_equal(model.predict_proba(data.X)[:, 0], positive_share(alone, data.X))


def test_polars_data_frames_are_accepted() -> None:
    polars = pytest.importorskip("polars")
    X, y = one_path_per_row()
    frame = polars.DataFrame(X, schema=list("pqrs"))
    for estimator in (None, GaussianNB()):
        model = PerEdgeClassifier(estimator=estimator)
        expected = clone(model).fit(X, y).predict_proba(X)
        np.testing.assert_array_equal(model.fit(frame, y).predict_proba(frame), expected)


FORMATS = {
    "paths": (["a/x", "a/y", "b"], ["a/x", "a/y", "b"]),
    "sets": ([["a/x"], ["a/y", "b"], ["b"]], [["a/x"], ["a/y", "b"], ["b"]]),
    "clus": (["a/x", "a/y@b", "b"], ["a/x", "a/y@b", "b"]),
    "levels": (np.array([["a", "x"], ["a", "y"], ["b", ""]]), [["a", "x"], ["a", "y"], ["b", ""]]),
    "matrix": (np.array([[1, 1, 0, 0], [1, 0, 1, 1], [0, 0, 0, 1]]), None),
    "numbers": (np.array([3, 5, 7]), [3, 5, 7]),
}


@pytest.mark.parametrize("name", FORMATS)
@every_architecture
def test_predictions_come_in_the_format_of_y(model: Any, name: str) -> None:
    y, expected = FORMATS[name]
    hierarchy = Hierarchy.from_paths(["a/x", "a/y", "b"]) if name == "matrix" else None
    model = clone(model).set_params(hierarchy=hierarchy)
    found = model.fit([[0.0], [1.0], [2.0]], y).predict([[0.0], [1.0], [2.0]])
    expected = y.tolist() if expected is None else expected
    assert (found.tolist() if isinstance(found, np.ndarray) else found) == expected


@every_architecture
@pytest.mark.parametrize("estimator", [None, GaussianNB()], ids=str)
def test_rows_of_weight_zero_are_ignored(model: Any, estimator: Any) -> None:
    data = make_data(n_labels=6, n_samples=60)
    if estimator is not None and isinstance(model, PerParentClassifier | PerLevelClassifier):
        estimator = RandomForestClassifier(3, bootstrap=False, max_features=None, random_state=0)
    weights = np.random.default_rng(0).integers(0, 3, size=60).astype(float)
    model = clone(model).set_params(hierarchy=data.hierarchy, estimator=estimator)
    found = clone(model).fit(data.X, data.y, sample_weight=weights).predict_proba(data.X)
    kept = np.flatnonzero(weights)
    expected = model.fit(data.X[kept], data.y[kept], sample_weight=weights[kept])
    np.testing.assert_allclose(found, expected.predict_proba(data.X), rtol=0, atol=1e-12)


def test_missing_values_are_passed_to_classifiers_that_support_them() -> None:
    data = make_data(missing_share=0.2)
    for estimator in (None, DecisionTreeClassifier(random_state=0)):
        model = PerEdgeClassifier(hierarchy=data.hierarchy, estimator=estimator).fit(
            data.X, data.y
        )
        assert is_coherent(model.predict_proba(data.X), data.hierarchy)
