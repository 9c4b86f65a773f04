"""The public surface: which names there are, and that they mean the same everywhere."""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import BaseCrossValidator
from sklearn.tree import DecisionTreeClassifier

import ramify
from ramify import (
    BinaryRelevance,
    FlatClassifier,
    Hierarchy,
    HierarchyBinarizer,
    LabelPowerset,
    PCTClassifier,
    PCTForestClassifier,
    PerNodeClassifier,
    make_hierarchical_classification,
)
from tests.support.estimators import (
    make,
    multi_target_estimators,
    public_classifiers,
    public_estimators,
)

CLASSIFIERS = public_classifiers()
every_estimator = pytest.mark.parametrize("cls", public_estimators(), ids=lambda c: c.__name__)
every_classifier = pytest.mark.parametrize("cls", CLASSIFIERS, ids=lambda c: c.__name__)
SOURCE = Path(inspect.getfile(ramify)).parent

# One name for one idea, in all constructors. A new parameter uses a name of this table, or adds
# an idea that the table lacks.
VOCABULARY = {
    # data and labels
    "hierarchy": "the label graph",
    "categorical_features": "which features are nominal",
    "label_weight": "factors on the weights of labels",
    "class_weight": "factors on the weights of the rows of each class",
    "w0": "the weight of a label relative to its parent",
    "weighting": "how the weights of several parents are combined",
    "costs": "the costs of labels in a loss",
    "labels": "which labels have a model",
    "multilabel": "whether a row may have several labels of one model",
    "sparse_output": "whether a matrix is returned as a sparse one",
    "target_weight": "factors on the weights of targets",
    "normalize": "whether the scales of targets are removed",
    # models inside models
    "estimator": "the classifier that is wrapped",
    "estimators": "the classifiers that are wrapped, with names",
    "weights": "the weights of members",
    "counter": "the classifier that predicts a number of leaves",
    "n_estimators": "the number of members",
    "policy": "which rows are negative for a label",
    "group_size": "the number of labels in a group",
    "n_groups": "the number of groups of labels",
    "overlapping": "whether groups of labels may overlap",
    "voting": "how members vote",
    "leaves_only": "whether the estimator learns the leaves alone",
    # rows
    "bootstrap": "whether members draw rows with replacement",
    "max_samples": "the number or share of rows to draw",
    "oob_score": "the measure of out-of-bag predictions",
    "balancing": "whether trees grow on balanced samples",
    "cv": "the folds of an internal cross-validation",
    "time_limit": "the seconds that fit may take",
    "scoring": "the measure that is maximised on held-out rows",
    "validation_fraction": "the share of rows that are held out",
    "early_stopping": "whether held-out rows decide when to stop",
    "n_iter_no_change": "the number of rounds without improvement before stopping",
    # trees
    "criterion": "what a test reduces",
    "squared_distances": "whether distances between label sets are squared",
    "prototype": "what a leaf predicts",
    "splitter": "how thresholds are searched",
    "max_depth": "the largest number of tests on a path",
    "min_samples_split": "rows below which a node is a leaf",
    "min_samples_leaf": "rows on each side of a test",
    "min_weight": "sample weight on each side of a test",
    "min_impurity_decrease": "the least gain of a test",
    "max_features": "the number or share of features that a node searches",
    "redraw": "whether a node without a test draws more features",
    "threshold_at": "where thresholds lie between two values",
    "nominal_tests": "the tests of nominal features",
    "missing": "where rows with missing values go",
    "supervision": "how much labels count in the impurity, and features for the rest",
    "f_test": "the significance level that a test must pass",
    "pruning": "how a tree is pruned",
    "pruning_confidence": "the confidence of pessimistic pruning",
    "pruning_factor": "the cost of a node in M5 pruning",
    "pruning_measure": "the measure of reduced-error pruning",
    "prune_trees": "whether trees over X are pruned",
    "prune_relations": "whether trees over labels are pruned",
    "unreached": "how labels of a leaf are set that no rule reaches",
    "variant": "defaults of BR-DT as in the paper",
    "clus_compat": "whether to compute as CLUS does",
    # boosting
    "loss": "what boosting minimises",
    "learning_rate": "the factor on the values of a tree",
    "max_leaf_nodes": "the largest number of leaves of a tree",
    "l2_regularization": "what is added to the second derivatives in a leaf",
    "subsample": "the share of rows that a tree draws",
    "sketch_size": "the size of the gradients in the search for tests",
    "score_every": "the number of rounds from one score to the next",
    "refit": "whether all rows are learnt again after a choice on held-out ones",
    "max_bins": "the number of bins of a numeric feature",
    "shared_test": "whether all labels share the tests of a round",
    "top_down": "whether votes below a negative vote are negative, or where that is better",
    "inherit_mistakes": "whether votes below a wrong vote are wrong",
    "at_chance": "what happens in a round that is no better than chance",
    # linear models, naive Bayes, neighbours
    "alpha": "the strength of regularisation; in decisions, the weight of missed labels",
    "C": "the cost of errors",
    "max_classes": "the largest number of classes that one model separates",
    "n_alphas": "the number of values of alpha to search",
    "alpha_min": "the smallest alpha to search",
    "tol": "the tolerance at which steps end",
    "max_iter": "the largest number of steps",
    "candidates": "the labels at which paths may end",
    "smoothing": "what is added to every count",
    "var_smoothing": "the part of the largest variance that is added to all variances",
    "n_neighbors": "the number of neighbours",
    "metric": "the distance between rows",
    # decisions
    "goal": "what thresholds are chosen for",
    "per": "what has a threshold of its own",
    "max_error": "the largest share of errors that is promised",
    "errors": "which errors a promise is about",
    "confidence": "the probability with which a promise is kept",
    "max_labels": "the largest number of labels in an answer",
    "calibration": "the rows on which a promise is calibrated",
    "min_precision": "the least precision of the goal 'precision'",
    "beta": "the weight of wrongly predicted labels",
    "method": "how scores are calibrated",
    "min_positives": "the least number of rows for a calibration",
    "coherence": "how scores are made coherent",
    "objective": "what the predicted set optimises",
    "solver": "how the predicted set is searched",
    "k": "the number of leaves of a prediction",
    # running
    "device": "where to learn: on the processor or on a GPU",
    "n_jobs": "the number of threads or processes",
    "random_state": "the seed",
    "verbose": "whether to show a progress bar",
    "warm_start": "whether fit keeps the members of an earlier fit",
}


# ---- constructors --------------------------------------------------------------------------


@every_estimator
def test_what_is_wrapped_comes_first_and_else_the_hierarchy(cls):
    first, *others = inspect.signature(cls).parameters.values()
    if cls in multi_target_estimators():  # have no hierarchy
        assert {p.kind for p in (first, *others)} == {inspect.Parameter.KEYWORD_ONLY}
        return
    wrapped = {"estimator", "estimators"} & set(inspect.signature(cls).parameters)
    if wrapped:
        assert {first.name} == wrapped
        assert inspect.signature(cls).parameters["hierarchy"].default is None
    else:
        assert (first.name, first.default) == ("hierarchy", None)
    assert first.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert {other.kind for other in others} <= {inspect.Parameter.KEYWORD_ONLY}


def test_splitters_take_the_number_of_splits_first_as_in_scikit_learn():
    found = [getattr(ramify, name) for name in ramify.__all__]
    splitters = [c for c in found if inspect.isclass(c) and issubclass(c, BaseCrossValidator)]
    assert len(splitters) == 2
    for cls in splitters:
        first, *others = inspect.signature(cls).parameters.values()
        assert first.name == "n_splits"
        assert {other.kind for other in others} == {inspect.Parameter.KEYWORD_ONLY}
        assert "hierarchy" in {other.name for other in others}


@every_estimator
def test_parameters_use_the_words_of_the_table(cls):
    assert set(inspect.signature(cls).parameters) <= set(VOCABULARY)


def test_the_table_has_no_word_that_nothing_uses():
    used = {name for cls in public_estimators() for name in inspect.signature(cls).parameters}
    assert set(VOCABULARY) == used


@every_classifier
def test_a_hierarchy_as_estimator_is_refused_with_the_remedy(cls):
    first = next(iter(inspect.signature(cls).parameters))
    if first == "hierarchy":
        pytest.skip("wraps nothing")
    hierarchy = Hierarchy.from_paths(["a/b", "c"])
    with pytest.raises(TypeError, match=r"got a Hierarchy. Pass it as hierarchy="):
        make(cls, **{first: hierarchy}).fit([[0.0], [1.0]], [["a/b"], ["c"]])


@every_estimator
def test_flags_are_true_or_false(cls):
    for name, parameter in inspect.signature(cls).parameters.items():
        if isinstance(parameter.default, bool) and name not in ("verbose", "oob_score"):
            data = (
                ([["a/b"], ["c"]],) if cls is HierarchyBinarizer else ([[0.0], [1.0]], ["a", "b"])
            )
            with pytest.raises(ValueError, match=f"{name} must be True or False, got 'false'"):
                make(cls, **{name: "false"}).fit(*data)


# ---- methods -------------------------------------------------------------------------------


@every_classifier
def test_predict_takes_a_threshold_second(cls):
    parameters = list(inspect.signature(cls.predict).parameters.values())
    assert [p.name for p in parameters[:3]] == ["self", "X", "threshold"]
    assert parameters[2].default is None
    assert {p.kind for p in parameters[3:]} <= {inspect.Parameter.KEYWORD_ONLY}


def test_no_predict_has_another_signature_than_the_base_class():
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"def predict\(.*type: ignore", text), path


@pytest.fixture(scope="module")
def problem():
    data = make_hierarchical_classification(60, 4, n_labels=6, random_state=0, as_frame=False)
    return data.X, data.y


@every_classifier
def test_estimators_is_a_list_and_a_mapping_has_another_name(cls, problem):
    model = make(cls).fit(*problem)
    if hasattr(model, "estimators_"):
        assert isinstance(model.estimators_, list)
    if hasattr(model, "named_estimators_"):
        named = model.named_estimators_
        assert isinstance(named, Mapping)
        assert [type(m) for m in named.values()] == [type(m) for m in model.estimators_]


@every_classifier
def test_a_threshold_is_heeded_or_refused(cls, problem):
    X, y = problem
    model = make(cls).fit(X, y)
    if cls is ramify.MandatoryLeafClassifier:
        with pytest.raises(ValueError, match=r"threshold must be None, got 0.2"):
            model.predict(X, 0.2)
        return
    expected = model.predict_proba(X) >= 0.2
    np.testing.assert_array_equal(model.predict(X, 0.2).toarray() > 0, expected)


def test_label_powersets_pass_their_threads_on():
    X, y = [[0.0], [1.0], [2.0]], [["a"], ["a", "b"], ["b"]]
    forest = PCTForestClassifier(n_estimators=2, random_state=0)
    (model,) = LabelPowerset(forest, n_jobs=2).fit(X, y).estimators_
    assert (model.n_jobs, forest.n_jobs) == (2, None)
    (model,) = LabelPowerset(LogisticRegression(n_jobs=None), n_jobs=None).fit(X, y).estimators_
    assert model.n_jobs is None
    with parallel_config("threading"):
        LabelPowerset(DecisionTreeClassifier(), n_jobs=2).fit(X, y)  # has no n_jobs


# ---- three names of one model --------------------------------------------------------------


@pytest.mark.parametrize("estimator", [None, PCTClassifier(max_features=2), LogisticRegression()])
def test_binary_relevance_has_three_spellings(estimator):
    data = make_hierarchical_classification(
        80, 4, n_labels=8, dag_share=0.3, random_state=1, as_frame=False
    )
    settings = {"hierarchy": data.hierarchy, "random_state": 3}
    models = [
        BinaryRelevance(estimator, **settings),
        FlatClassifier(estimator, labels="all", **settings),
        PerNodeClassifier(estimator, policy="all", **settings),
    ]
    weights = np.arange(80) % 3  # rows without weight among them
    first, *others = [m.fit(data.X, data.y, sample_weight=weights) for m in models]
    for other in others:
        assert list(other.named_estimators_) == list(first.named_estimators_)
        np.testing.assert_array_equal(other.predict_proba(data.X), first.predict_proba(data.X))


# ---- exports -------------------------------------------------------------------------------


def _public_packages():
    names = [info.name for info in pkgutil.iter_modules(ramify.__path__)]
    public = [f"ramify.{name}" for name in names if not name.startswith("_")]
    return [importlib.import_module(name) for name in ("ramify", *public)]


@pytest.mark.parametrize("package", _public_packages(), ids=lambda p: p.__name__)
def test_packages_export_what_is_there_and_no_helpers(package):
    for name in package.__all__:
        exported = getattr(package, name)
        assert not name.startswith(("_", "check_"))
        if inspect.isclass(exported) and issubclass(exported, BaseEstimator):
            assert name in ramify.__all__, f"{name} is an estimator that ramify does not export"


@pytest.mark.parametrize(
    "name",
    [
        "ramify.local.LocalClassifier",
        "ramify.local.ConstantClassifier",
        "ramify.labels.LabelFormat",
        "ramify.labels.format_from_settings",
    ],
)
def test_helpers_are_not_exported(name):
    package, _, own = name.rpartition(".")
    assert not hasattr(importlib.import_module(package), own)


@pytest.mark.parametrize(
    "name",
    [
        "labels.balance_score",
        "labels.balance_weights",
        "labels.flatten_level",
        "meta.make_leaf_classifier",
        "trees.distinct_label_sets",
    ],
)
def test_helpers_are_in_their_packages_only(name):
    package, _, own = name.partition(".")
    assert own in getattr(ramify, package).__all__
    assert not hasattr(ramify, own)


def test_readers_and_splitters_are_at_the_top():
    assert ramify.read_labels is ramify.labels.read_labels
    splitter = ramify.model_selection.HierarchicalStratifiedShuffleSplit
    assert ramify.HierarchicalStratifiedShuffleSplit is splitter
