"""Tests of the multitask lasso and of the classifiers that use it."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from packaging.version import Version
from scipy import optimize, sparse
from scipy.special import expit, logit
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

from ramify import (
    Hierarchy,
    LevelPowerset,
    MandatoryLeafClassifier,
    MetaLabeler,
    PCTClassifier,
    SiblingLassoClassifier,
    make_hierarchical_classification,
)
from ramify.local.lasso import LassoProblem
from ramify.meta import make_leaf_classifier
from ramify.meta.mandatory_leaf import LEAF_METHODS

DATA = make_hierarchical_classification(150, 8, n_labels=12, labels_per_row=1.5, random_state=0)
X, Y = np.asarray(DATA.X), DATA.y


def rows(seed=0, n=60, p=9, k=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    B = np.zeros((p, k))
    B[:3] = rng.normal(size=(3, k))
    Y = (rng.random((n, k)) < expit(X @ B)).astype(float)
    return X, Y, rng.uniform(0.5, 2, n)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_solutions_satisfy_the_optimality_conditions(kind):
    dense, Y, weights = rows()
    problem = LassoProblem(kind(dense), Y, weights, tol=1e-9, max_iter=20_000)
    penalties = problem.largest_penalty * np.geomspace(1, 0.02, 6)
    share = weights / weights.sum()
    for penalty, fit in zip(penalties, problem.path(penalties), strict=True):
        slope = (expit(fit.decide(dense)) - Y) * share[:, None]
        np.testing.assert_allclose(slope.sum(axis=0), 0, atol=1e-6)
        gradient = dense.T @ slope
        unused = np.setdiff1d(np.arange(dense.shape[1]), fit.used)
        assert (np.linalg.norm(gradient[unused], axis=1) <= penalty * (1 + 1e-3)).all()
        norms = np.linalg.norm(fit.coef, axis=1, keepdims=True)
        np.testing.assert_allclose(gradient[fit.used], -penalty * fit.coef / norms, atol=1e-5)
    assert len(fit.used) >= 3


def test_no_feature_is_used_at_the_largest_penalty():
    X, Y, weights = rows()
    problem = LassoProblem(X, Y, weights, tol=1e-8, max_iter=5000)
    top = problem.largest_penalty
    (none,) = problem.path([top * 1.0001])
    assert none.used.size == 0
    np.testing.assert_allclose(none.intercept, logit(np.average(Y, axis=0, weights=weights)))
    some = list(problem.path([top, 0.9 * top]))[-1]
    assert some.used.size >= 1


def test_one_label_equals_scikit_learns_logistic_regression():
    X, Y, _ = rows(k=1)
    problem = LassoProblem(X, Y, np.ones(len(X)), tol=1e-10, max_iter=50_000)
    penalty = 0.2 * problem.largest_penalty
    *_, fit = problem.path([problem.largest_penalty, penalty])
    # scikit-learn 1.8 deprecates `penalty`, which selects the lasso in earlier versions.
    is_old = Version(sklearn.__version__) < Version("1.8")
    lasso = {"penalty": "l1"} if is_old else {"l1_ratio": 1}
    theirs = LogisticRegression(
        **lasso, solver="saga", C=1 / (penalty * len(X)), tol=1e-9, max_iter=100_000
    ).fit(X, Y[:, 0])
    ours = np.zeros(X.shape[1])
    ours[fit.used] = fit.coef[:, 0]
    np.testing.assert_allclose(ours, theirs.coef_[0], atol=1e-4)
    np.testing.assert_allclose(fit.intercept, theirs.intercept_, atol=1e-4)


def objective(coef, intercept, penalty, problem):
    X, Y, weights = problem
    z = X @ coef + intercept
    losses = (np.logaddexp(0, z) - Y * z).sum(axis=1)
    return np.average(losses, weights=weights) + penalty * np.linalg.norm(coef, axis=1).sum()


@pytest.mark.parametrize("share", [0.5, 0.05])
def test_no_other_solver_finds_a_smaller_objective(share):
    X, Y, weights = rows(seed=3)
    n_features, n_labels = X.shape[1], Y.shape[1]
    problem = LassoProblem(X, Y, weights, tol=1e-9, max_iter=20_000)
    penalty = share * problem.largest_penalty
    *_, fit = problem.path([penalty])

    def smoothed(numbers):
        """Return the objective, with norms smoothed to sqrt(norm² + 1e-10), and its gradient."""
        coef, intercept = np.split(numbers.reshape(-1, n_labels), [n_features])
        norms = np.sqrt((coef**2).sum(axis=1, keepdims=True) + 1e-10)
        z = X @ coef + intercept
        loss = np.average((np.logaddexp(0, z) - Y * z).sum(axis=1), weights=weights)
        slope = (expit(z) - Y) * (weights / weights.sum())[:, None]
        gradient = np.vstack([X.T @ slope + penalty * coef / norms, slope.sum(axis=0)])
        return loss + penalty * norms.sum(), gradient.ravel()

    found = optimize.minimize(
        smoothed,
        np.zeros((n_features + 1) * n_labels),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 20_000, "maxfun": 50_000, "ftol": 1e-14, "gtol": 1e-9},
    )
    coef = np.zeros((n_features, n_labels))
    coef[fit.used] = fit.coef
    ours = objective(coef, fit.intercept, penalty, (X, Y, weights))
    other, intercept = np.split(found.x.reshape(-1, n_labels), [n_features])
    theirs = objective(other, intercept[0], penalty, (X, Y, weights))
    assert ours <= theirs + 1e-9
    assert ours == pytest.approx(theirs, abs=1e-5)
    np.testing.assert_allclose(coef, other, atol=1e-2)


def test_the_tolerance_bounds_the_distance_from_the_optimum():
    X, Y, weights = rows(seed=1, n=80, p=30)
    exact = LassoProblem(X, Y, weights, tol=1e-10, max_iter=50_000)
    penalties = exact.largest_penalty * np.geomspace(1, 0.03, 5)
    base = logit(np.average(Y, axis=0, weights=weights))
    null = objective(np.zeros((30, 3)), base, 0, (X, Y, weights))
    best = list(exact.path(penalties))
    for tol in (1e-1, 1e-2, 1e-4):
        problem = LassoProblem(X, Y, weights, tol=tol, max_iter=5000)
        for penalty, fit, optimum in zip(penalties, problem.path(penalties), best, strict=True):
            values = []
            for each in (fit, optimum):
                coef = np.zeros((30, 3))
                coef[each.used] = each.coef
                values.append(objective(coef, each.intercept, penalty, (X, Y, weights)))
            assert -1e-9 <= values[0] - values[1] <= tol * null
        assert problem.converged


def test_too_few_steps_give_a_convergence_warning():
    hierarchy = DATA.hierarchy
    with pytest.warns(ConvergenceWarning, match=r"groups of siblings did not converge.*max_iter"):
        SiblingLassoClassifier(hierarchy, alpha=0.01, max_iter=1, tol=1e-6).fit(X, Y)
    assert SiblingLassoClassifier(hierarchy, alpha=0.01).fit(X, Y).n_iter_ > 1


def test_probabilities_are_products_and_groups_share_features():
    model = SiblingLassoClassifier(DATA.hierarchy, alpha=0.2).fit(X, Y)
    conditional = model.predict_conditional_proba(X[:5])
    scores = model.predict_proba(X[:5])
    for column, (parent, child) in enumerate(model.edges_):
        above = 1 if parent is None else scores[:, DATA.hierarchy.index(parent)]
        own = scores[:, DATA.hierarchy.index(child)]
        np.testing.assert_allclose(own, conditional[:, column] * above)
    for parent in {parent for parent, _ in model.edges_}:
        group = [k for k, (above, _) in enumerate(model.edges_) if above == parent]
        used = model.coef_[:, group].toarray() != 0
        learnt = used.any(axis=0)
        if not learnt.any():
            continue
        assert (used[:, learnt].all(axis=1) == used[:, learnt].any(axis=1)).all()


def test_conditional_probabilities_of_a_dag_are_per_edge():
    hierarchy = Hierarchy.from_edges([("a", "c"), ("b", "c"), ("a", "d")])
    y = [["c"], ["a", "d"], ["b"], ["c"], ["d"], ["a"], ["b"], ["c", "d"]]
    features = np.arange(16.0).reshape(8, 2) % 5
    model = SiblingLassoClassifier(hierarchy, alpha=0.5).fit(features, y)
    assert model.predict_conditional_proba(features).shape == (8, 5)
    mas = MandatoryLeafClassifier(model).fit(features, y)
    assert all(set(row) <= {"c", "d"} for row in mas.predict(features))


def test_sparse_and_dense_rows_get_the_same_predictions():
    wide = sparse.csr_array(np.where(X > 0.5, X, 0.0))
    model = SiblingLassoClassifier(DATA.hierarchy, alpha=0.1).fit(wide, Y)
    np.testing.assert_allclose(
        model.predict_proba(wide[:7]), model.predict_proba(wide[:7].toarray()), atol=1e-12
    )


@pytest.mark.parametrize("layout", [sparse.csr_array, sparse.csc_array, np.asfortranarray])
def test_the_layout_of_features_does_not_change_the_model(layout):
    wide = np.where(X > 0.5, X, 0.0)
    wide[0, 0] = np.nan
    one, two = (
        SiblingLassoClassifier(DATA.hierarchy, alpha=0.1).fit(rows, Y).predict_proba(rows)
        for rows in (wide, layout(wide))
    )
    np.testing.assert_array_equal(one, two)


def test_large_sparse_matrices_reach_the_same_optimum(monkeypatch):
    wide = np.where(X > 0.5, X, 0.0)
    wide[0, 0] = np.nan
    settings = {"alpha": 0.1, "tol": 1e-9, "max_iter": 100_000}
    one = SiblingLassoClassifier(DATA.hierarchy, **settings).fit(wide, Y)
    monkeypatch.setattr("ramify.local.lasso_groups._MOST_CELLS", 0)
    two = SiblingLassoClassifier(DATA.hierarchy, **settings).fit(sparse.csr_array(wide), Y)
    assert not one.features_.is_sparse
    assert two.features_.is_sparse
    np.testing.assert_allclose(one.predict_proba(wide), two.predict_proba(wide), atol=1e-4)


def test_the_chosen_penalty_does_not_depend_on_n_jobs():
    one, two = (
        SiblingLassoClassifier(DATA.hierarchy, random_state=0, n_jobs=n).fit(X, Y) for n in (1, 2)
    )
    assert one.alphas_ == two.alphas_
    assert one.alphas_[None] < 1
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


def test_cv_may_be_a_splitter_or_splits():
    splitter = KFold(3, shuffle=True, random_state=1)
    splits = list(splitter.split(X))
    chosen = [
        SiblingLassoClassifier(DATA.hierarchy, cv=cv, random_state=0).fit(X, Y).alphas_
        for cv in (splitter, splits, iter(splits))
    ]
    assert chosen[0] == chosen[1] == chosen[2]
    assert set(chosen[0].values()) != {1.0}


@pytest.mark.parametrize("method", LEAF_METHODS)
def test_predictions_of_leaf_methods_end_in_leaves(method):
    kept = [k for k, row in enumerate(DATA.hierarchy.decode(Y)) if
            set(row) <= set(DATA.hierarchy.leaves) and row]  # fmt: skip
    model = make_leaf_classifier(method, DATA.hierarchy, alpha=0.2, random_state=0)
    predicted = model.fit(X[kept], Y[kept]).predict(X[:20])
    assert all(set(row) <= set(DATA.hierarchy.leaves) and row
               for row in DATA.hierarchy.decode(predicted))  # fmt: skip
    assert (DATA.hierarchy.close(predicted) != predicted).nnz == 0


def test_level_powerset_predicts_sets_of_training_rows():
    model = LevelPowerset(PCTClassifier(random_state=0), hierarchy=DATA.hierarchy).fit(X, Y)
    assert model.score(X, Y) > 0.9
    seen = set(map(tuple, Y.toarray()))
    assert set(map(tuple, model.predict(X + 0.3).toarray())) <= seen
    scores = model.predict_proba(X)
    indptr, parents = DATA.hierarchy.parent_rows
    children = np.repeat(np.arange(12), np.diff(indptr))
    assert (scores[:, children] <= scores[:, parents]).all()


def test_level_powerset_sums_the_probabilities_of_sets_with_a_label():
    # Of ten rows, 8 have a, 3 + 2 have b, and 3 + 2 have c.
    y = [["a/b"]] * 3 + [["a/c"]] * 3 + [["a/b", "a/c"]] * 2 + [["d"]] * 2
    model = LevelPowerset(PCTClassifier()).fit(np.zeros((10, 1)), y)
    found = dict(zip(model.classes_, model.predict_proba([[0.0]])[0], strict=True))
    assert found == pytest.approx({"a": 0.8, "a/b": 0.5, "a/c": 0.5, "d": 0.2})


def test_level_powerset_uses_the_longest_paths_of_a_dag():
    dag = Hierarchy.from_edges([("a", "c"), ("b", "c"), ("a", "b")])
    y = [["c"], ["a"], ["b"], ["c"]] * 3
    features = [[1.0], [2.0], [3.0], [1.0]] * 3
    model = LevelPowerset(PCTClassifier(random_state=0), hierarchy=dag).fit(features, y)
    assert [set(row) for row in model.predict([[1.0], [2.0], [3.0]])] == [{"c"}, {"a"}, {"b"}]


def test_meta_labeler_predicts_the_predicted_number_of_leaves():
    counter = PCTClassifier(random_state=0)
    model = MetaLabeler(PCTClassifier(random_state=0), hierarchy=DATA.hierarchy, counter=counter)
    predicted = model.fit(X, Y).predict(X)
    leaves = DATA.hierarchy.indices(DATA.hierarchy.leaves)
    np.testing.assert_array_equal(predicted[:, leaves].sum(axis=1), model.predict_count(X))
    assert 0 <= model.score(X, Y) <= 1


def test_meta_labeler_can_fit_the_estimator_on_leaves_only():
    y = [["a/b"], ["a/c"], ["a/b", "d"], ["d"]] * 5
    features = np.tile(np.arange(4.0), 5)[:, None]
    counter = PCTClassifier(random_state=0)
    model = MetaLabeler(PCTClassifier(), counter=counter, leaves_only=True).fit(features, y)
    assert set(model.estimator_.classes_) == {"a/b", "a/c", "d"}
    assert model.predict(features[:4]) == y[:4]


def test_meta_labeler_does_not_learn_a_constant_number_of_leaves():
    y = [["a", "b"]] * 3 + [["b", "c"]] * 3
    counter = LogisticRegression()  # raises an error if there is only one class
    model = MetaLabeler(PCTClassifier(), counter=counter).fit(np.arange(6.0)[:, None], y)
    assert model.predict_count([[0.0], [9.0]]).tolist() == [2, 2]
    assert model.predict([[0.0], [9.0]]) == [y[0], y[-1]]


@pytest.mark.parametrize("model", [MetaLabeler(None), LevelPowerset(5)], ids=str)
def test_estimators_that_are_not_classifiers_are_rejected(model):
    with pytest.raises(TypeError, match=r"estimator must be a classifier.*got .*"):
        model.fit([[0.0], [1.0]], [["a"], ["b"]])


def test_errors_name_the_parameter_and_its_value():
    for settings, message in (
        ({"alpha": "best"}, "alpha must be one of 'cv'.*got 'best'"),
        ({"alpha": 2}, "alpha must be a number from 1e-06 to 1, got 2"),
        ({"n_alphas": 1}, "n_alphas must be .*, got 1"),
        ({"alpha_min": 0}, "alpha_min must be .*, got 0"),
        ({"cv": 1}, "cv must be an integer >= 2, got 1"),
        ({"tol": -1}, "tol must be .*, got -1"),
        ({"max_iter": 0}, "max_iter must be .*, got 0"),
    ):
        with pytest.raises(ValueError, match=message):
            SiblingLassoClassifier(**settings).fit(X, Y)
    with pytest.raises(ValueError, match=r"method must be one of 'mas'.*got 'svm'"):
        make_leaf_classifier("svm")
