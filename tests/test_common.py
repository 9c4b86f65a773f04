"""What holds for every public estimator: scikit-learn's checks and our own."""

import ast
import copy
import inspect
import pickle
import re
import textwrap
from contextlib import nullcontext

import joblib
import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

import ramify
from ramify import HierarchicalStratifiedKFold, Hierarchy
from tests.support.estimators import (
    EXPECTED_FAILURES,
    expected_failures,
    make,
    multi_target_estimators,
    public_classifiers,
    public_estimators,
)

CLASSIFIERS = public_classifiers()
every_estimator = pytest.mark.parametrize("cls", public_estimators(), ids=lambda c: c.__name__)
every_classifier = pytest.mark.parametrize("cls", CLASSIFIERS, ids=lambda c: c.__name__)


@parametrize_with_checks(
    [make(cls) for cls in (*CLASSIFIERS, *multi_target_estimators())],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


def test_the_table_of_expected_failures_has_no_strangers():
    assert set(EXPECTED_FAILURES) <= {cls.__name__ for cls in public_estimators()}


# ---- how estimators are written ------------------------------------------------------------


@every_estimator
def test_the_docstring_documents_every_parameter_and_runs(cls):
    text = inspect.getdoc(cls)
    parameters = re.search(r"^Parameters\n-+\n(.*?)^\w[\w ]*\n-+\n", text, re.M | re.S)
    assert parameters, "no section Parameters"
    named = re.findall(r"^\S.*?(?= :|$)", parameters[1].replace("\\\n", ""), re.M)
    documented = {name.strip() for line in named for name in line.split(",")}
    assert documented == set(inspect.signature(cls).parameters)
    assert re.search(r"^Attributes\n-+$", text, re.M), "no section Attributes"
    assert ">>> " in text.partition("Examples\n--------")[2], "no example"


@every_estimator
def test_init_only_assigns(cls):
    (function,) = ast.parse(textwrap.dedent(inspect.getsource(cls.__init__))).body
    assigned = [ast.unparse(line) for line in function.body]
    first = function.body[0]
    if isinstance(first, ast.Expr):  # the base class assigns some, and nothing else
        call = ast.unparse(first)
        assert call.startswith("super().__init__("), call
        names = [ast.unparse(one) for one in first.value.args]
        names += [one.arg for one in first.value.keywords if one.arg == ast.unparse(one.value)]
        assert len(names) == len(first.value.args) + len(first.value.keywords)
        assert names == list(inspect.signature(cls.__base__.__init__).parameters)[1:]
        assigned[:1] = [f"self.{name} = {name}" for name in names]
    names = list(inspect.signature(cls).parameters)
    assert sorted(assigned) == sorted(f"self.{name} = {name}" for name in names)


# ---- small problems ------------------------------------------------------------------------

DAG = Hierarchy.from_edges(
    [("a", "b"), ("a", "c"), ("c", "d"), ("e", "d"), ("e", "f"), ("f", "g"), ("f", "h")]
)


@pytest.fixture(scope="module")
def problem():
    """Rows with unknown values and label sets of a DAG, some empty."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(90, 5))
    chosen = [["b"], ["d"], ["c", "h"], ["g"], ["e"], []]
    y = [chosen[int(abs(row[0] + row[1]) * 2) % len(chosen)] for row in X]
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


@pytest.fixture(scope="module")
def plain_problem():
    """Rows without unknown values and one path each."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(90, 5))
    paths = np.array(["a/b", "a/c", "d/e/f", "d/e/g", "h"])
    return X, paths[(abs(X[:, 0] + X[:, 1]) * 2).astype(int) % len(paths)]


@pytest.fixture(scope="module")
def fitted(problem):
    """One fitted model per class, made when first asked for."""
    models = {}

    def get(cls):
        if cls not in models:
            models[cls] = make(cls, hierarchy=DAG).fit(*problem)
        return models[cls]

    return get


# ---- copies --------------------------------------------------------------------------------


def saved(model, path):
    ramify.save(model, path)
    return ramify.load(path)


def dumped(model, path):
    joblib.dump(model, path)
    return joblib.load(path)


@every_classifier
@pytest.mark.parametrize(
    "keep",
    [
        saved,
        dumped,
        lambda model, path: pickle.loads(pickle.dumps(model)),
        lambda model, path: copy.deepcopy(model),
    ],
    ids=["save", "joblib", "pickle", "deepcopy"],
)
def test_kept_models_predict_the_same(cls, keep, fitted, problem, tmp_path):
    model = fitted(cls)
    kept = keep(model, tmp_path / "model")
    X, y = problem
    np.testing.assert_array_equal(kept.predict_proba(X), model.predict_proba(X))
    assert kept.predict(X) == model.predict(X)
    assert kept.score(X, y) == model.score(X, y)
    assert set(vars(kept)) == set(vars(model))
    assert repr(kept) == repr(model)


@every_classifier
def test_a_clone_learns_the_same(cls, fitted, problem):
    model = fitted(cls)
    copied = clone(model)
    with pytest.raises(NotFittedError):
        copied.predict(problem[0])
    learnt = copied.fit(*problem).predict_proba(problem[0])
    np.testing.assert_array_equal(learnt, model.predict_proba(problem[0]))


# ---- predictions ---------------------------------------------------------------------------


@every_classifier
def test_probabilities_are_one_coherent_array(cls, fitted, problem):
    model = fitted(cls)
    scores = model.predict_proba(problem[0])
    assert scores.shape == (len(problem[0]), DAG.n_labels)
    assert scores.dtype == np.float64
    assert list(model.classes_) == list(DAG.labels)
    assert scores.min() >= 0
    assert scores.max() <= 1
    for label in DAG.labels:
        for parent in DAG.parents(label):
            child, above = scores[:, DAG.index(label)], scores[:, DAG.index(parent)]
            assert (child <= above + 1e-12).all(), (label, parent)


@every_classifier
def test_one_class_per_row_has_probabilities_that_sum_to_1(cls, plain_problem):
    X, paths = plain_problem
    y = np.char.partition(paths, "/")[:, 0]  # the classes a, d and h, without a hierarchy
    scores = make(cls).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(scores.sum(axis=1), 1, rtol=1e-6)


@every_classifier
def test_a_row_is_predicted_alike_alone_and_in_a_batch(cls, fitted, problem):
    model = fitted(cls)
    X = problem[0]
    together = model.predict_proba(X)
    alone = np.vstack([model.predict_proba(row[None, :]) for row in X])
    np.testing.assert_array_equal(alone, together)
    np.testing.assert_array_equal(model.predict_proba(X[::-1]), together[::-1])


@every_classifier
def test_label_sets_are_closed_and_answer_in_the_format_given(cls, fitted, problem):
    predicted = fitted(cls).predict(problem[0])
    assert isinstance(predicted, list)
    closed = DAG.encode(predicted)
    assert DAG.decode(closed) == [tuple(sorted(row, key=DAG.index)) for row in predicted]


@pytest.mark.parametrize(
    "workers",
    [
        lambda: joblib.parallel_config("threading"),
        pytest.param(nullcontext, marks=pytest.mark.process),
    ],
    ids=["threads", "threads or processes"],
)
@every_classifier
def test_the_number_of_jobs_changes_nothing(cls, workers, fitted, problem):
    if "n_jobs" not in inspect.signature(cls).parameters:
        pytest.skip("it has no n_jobs")
    with workers():
        model = make(cls, hierarchy=DAG, n_jobs=2).fit(*problem)
    expected = fitted(cls).predict_proba(problem[0])
    np.testing.assert_array_equal(model.predict_proba(problem[0]), expected)


# ---- data frames ---------------------------------------------------------------------------


def to_frame(library, X, nominal):
    frames = pytest.importorskip(library)
    columns = {f"x{j}": X[:, j] for j in range(X.shape[1])}
    if library == "pandas":
        return frames.DataFrame({**columns, "n": frames.Categorical(nominal)})
    return frames.DataFrame({**columns, "n": frames.Series(nominal, dtype=frames.Categorical)})


@every_classifier
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frames_give_what_arrays_give(cls, library, plain_problem):
    X, y = plain_problem
    codes = (X[:, 2] > 0).astype(int) + (X[:, 3] > 1)
    nominal = np.array(["blue", "green", "red"])[codes]
    if "categorical_features" not in inspect.signature(cls).parameters:
        pytest.skip("it has no nominal features")
    frame = to_frame(library, X, nominal)
    array = np.column_stack([X, codes])
    expected = make(cls, categorical_features=[5]).fit(array, y)
    model = make(cls).fit(frame, y)
    np.testing.assert_array_equal(model.predict_proba(frame), expected.predict_proba(array))
    assert list(model.feature_names_in_) == ["x0", "x1", "x2", "x3", "x4", "n"]


@every_classifier
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_set_output_gives_frames(cls, library, plain_problem):
    frames = pytest.importorskip(library)
    X, y = plain_problem
    model = make(cls).fit(X, y)
    labels, scores = model.predict(X), model.predict_proba(X)
    model = clone(model.set_output(predict=library, predict_proba=library)).fit(X, y)
    found = model.predict_proba(X)
    assert isinstance(found, frames.DataFrame)
    assert list(found.columns) == list(model.classes_)
    np.testing.assert_array_equal(found.to_numpy(), scores)
    assert isinstance(model.predict(X), frames.Series)
    assert model.predict(X).to_list() == labels.tolist()
    assert isinstance(model.score(X, y), float)
    np.testing.assert_array_equal(
        model.set_output(predict="default", predict_proba="default").predict_proba(X), scores
    )


def test_frames_of_predictions_are_indexed_like_x(plain_problem):
    pandas = pytest.importorskip("pandas")
    X, y = plain_problem
    rows = pandas.DataFrame(X, index=np.arange(90) + 5)
    tree = ramify.PCTClassifier()
    levels = ramify.as_levels([path.split("/") for path in y])
    for labels, columns in (
        (y, None),
        (levels, ["level_1", "level_2", "level_3"]),
        (ramify.read_labels(y).Y, list(range(8))),
        ([{path} for path in y], None),
    ):
        model = tree.fit(rows, labels).set_output(predict="pandas")
        found = model.predict(rows)
        assert list(found.index) == list(rows.index)
        assert columns is None or list(found.columns) == columns
    assert isinstance(model.predict_proba(rows), np.ndarray)
    with pytest.raises(ValueError, match=r"predict must be one of None, 'default', 'pandas'"):
        model.set_output(predict="frame")


@every_classifier
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_y_may_be_a_column(cls, library, plain_problem):
    X, y = plain_problem
    column = pytest.importorskip(library).Series(y)
    expected = make(cls).fit(X, y).predict(X)
    np.testing.assert_array_equal(make(cls).fit(X, column).predict(X), expected)


# ---- scikit-learn's tools ------------------------------------------------------------------


@every_classifier
def test_it_works_in_a_pipeline(cls, plain_problem):
    X, y = plain_problem
    doubled = make_pipeline(FunctionTransformer(np.negative), make(cls)).fit(X, y)
    expected = make(cls).fit(-X, y)
    np.testing.assert_array_equal(doubled.predict_proba(X), expected.predict_proba(-X))
    np.testing.assert_array_equal(doubled.classes_, expected.classes_)
    assert doubled.score(X, y) == expected.score(-X, y)


@every_classifier
def test_it_works_in_a_grid_search(cls, problem):
    X, y = problem
    search = GridSearchCV(
        make(cls), {"hierarchy": [DAG]}, cv=HierarchicalStratifiedKFold(3, hierarchy=DAG)
    )
    search.fit(X, y)
    expected = make(cls, hierarchy=DAG).fit(X, y)
    assert search.predict(X) == expected.predict(X)


@every_classifier
@pytest.mark.parametrize("form", ["paths", "matrix", "sets"])
def test_it_works_in_cross_validation(cls, form, problem, plain_problem):
    if form == "paths":
        X, y = plain_problem
        found = cross_validate(make(cls), X, y, cv=3)
    else:
        X, y = problem
        # Sparse matrices of labels are refused by scikit-learn before they come to us.
        y = DAG.encode(y).toarray() if form == "matrix" else y
        folds = HierarchicalStratifiedKFold(3, hierarchy=DAG)
        found = cross_validate(make(cls, hierarchy=DAG), X, y, cv=folds)
    assert found["test_score"].shape == (3,)
    assert np.isfinite(found["test_score"]).all()


@every_classifier
def test_sample_weight_is_routed(cls, plain_problem):
    X, y = plain_problem
    weights = np.where(X[:, 0] > 0, 1.0, 5.0)
    if "sample_weight" not in inspect.signature(cls.fit).parameters:
        pytest.skip("it takes no weights")
    expected = make(cls).fit(X, y, sample_weight=weights).predict_proba(X)
    with sklearn.config_context(enable_metadata_routing=True):
        asking = (
            make(cls).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        )
        pipeline = make_pipeline(FunctionTransformer(), asking)
        pipeline.fit(X, y, sample_weight=weights)
        search = GridSearchCV(asking, {}, cv=3).fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(pipeline.predict_proba(X), expected)
    np.testing.assert_array_equal(search.predict_proba(X), expected)
