"""Train the models of all local problems, and combine their probabilities."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from joblib import delayed, effective_n_jobs
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing, check_random_state

from ramify import _core
from ramify._base.foreign import ANSWERS, Question
from ramify._base.tree_models import ModelTree
from ramify._cached import cached_property
from ramify._parallel import in_parallel
from ramify._progress import track
from ramify._savable import savable
from ramify._schema import (
    AnyOf,
    Fitted,
    Maybe,
    Number,
    Part,
    Schema,
    Text,
    TreeOf,
    TupleOf,
    Whole,
)
from ramify.data.rows import as_rows
from ramify.labels.class_weight import find_factors, several_classes_error
from ramify.labels.hierarchy import Hierarchy
from ramify.local.linear import (
    LinearColumns,
    LinearModel,
    is_logistic,
    linear_predictions,
    logistic_probabilities,
    stack_weights,
)
from ramify.local.problems import ROOT, LocalProblem
from ramify.trees.tree_data import TreeData
from ramify.trees.views import as_model_tree

__all__ = [
    "ConstantClassifier",
    "Learner",
    "LocalModel",
    "LocalModels",
    "ModelLearner",
    "Queries",
    "label_columns",
    "learn_all",
    "multiply_down",
]


class Learner(ABC):
    """Learns local problems with clones of one estimator and holds their shared data."""

    prefer: str | None = None
    """Kind of workers that joblib should use."""

    columns: LinearColumns | None = None
    """The columns that all models learn from, if they are not those of X."""

    takes_unknown: bool = False
    """Whether problems may have rows that do not know some of the labels."""

    def __init__(self, estimator: Any, data: TreeData, hierarchy: Hierarchy) -> None:
        self.estimator = estimator
        self.data = data
        self.hierarchy = hierarchy

    def prepare(self) -> None:  # noqa: B027 (most have nothing to do)
        """Do the work that all problems share, before they are sent to workers."""

    @abstractmethod
    def learn(self, problem: LocalProblem, seed: int | None) -> LocalModel:
        """Learn one problem."""


class ModelLearner(Learner):
    """Fits a model to those labels of a problem that are not constant."""

    def learn(self, problem: LocalProblem, seed: int | None) -> LocalModel:
        """Learn one problem, or return a constant if there is nothing to learn; see `Learner`."""
        n_rows = len(problem.rows)
        n_known = [n_rows - len(part) for part in problem.unknown or ()] or [n_rows] * len(
            problem.labels
        )
        shares = tuple(
            None if 0 < len(positive) < n else float(len(positive) > 0)
            for positive, n in zip(problem.positives, n_known, strict=True)
        )
        constant = tuple(share for share in shares if share is not None)
        if len(constant) == len(shares):
            return LocalModel(ConstantClassifier(constant), problem.labels, shares)
        chosen = [k for k, share in enumerate(shares) if share is None]
        learnt = replace(
            problem,
            labels=tuple(problem.labels[k] for k in chosen),
            positives=tuple(problem.positives[k] for k in chosen),
            unknown=problem.unknown and tuple(problem.unknown[k] for k in chosen),
        )
        model, answer = self._fit(learnt, seed)
        return LocalModel(model, problem.labels, shares, answer)

    @abstractmethod
    def _fit(self, problem: LocalProblem, seed: int | None) -> tuple[Any, str]:
        """Fit a model to a problem without constant labels; also return its kind of answer."""

    def _names(self, problem: LocalProblem) -> list[Any]:
        return [self.hierarchy.labels[c] for c in problem.labels]

    def _class_factors(
        self, class_weight: Any, Y: sparse.csr_array[np.int32], problem: LocalProblem
    ) -> NDArray[np.float64]:
        """Return the class weights of rows; the classes are the labels, and to have none."""
        if len(problem.labels) > 1 and not problem.exclusive:
            raise several_classes_error(class_weight)
        if isinstance(class_weight, dict):
            given = {self.hierarchy.index(label): value for label, value in class_weight.items()}
            class_weight = {k: given.get(c, 1.0) for k, c in enumerate(problem.labels)}
        weights = np.zeros_like(self.data.weights)
        weights[problem.rows] = self.data.weights[problem.rows]
        columns = Hierarchy.from_labels(range(len(problem.labels)))
        return find_factors(class_weight, Y, columns, weights)


def label_columns(
    positives: tuple[NDArray[np.int64], ...], n_rows: int
) -> sparse.csr_array[np.int32]:
    """Return a label matrix from the positive rows of each column.

    >>> label_columns((np.array([0, 2]), np.array([1])), 3).toarray().tolist()
    [[1, 0], [0, 1], [1, 0]]
    """
    if len(positives) == 1:  # a fast path: there may be thousands of problems
        counts = np.zeros(n_rows + 1, dtype=np.int64)
        counts[positives[0] + 1] = 1
        zeros = np.zeros(len(positives[0]), dtype=np.int64)
        parts = (zeros.astype(np.int32) + 1, zeros, np.cumsum(counts))
        return sparse.csr_array(parts, shape=(n_rows, 1))
    indices = np.concatenate(positives)
    indptr = np.cumsum([0, *map(len, positives)])
    ones = np.ones(len(indices), dtype=np.int32)
    columns = sparse.csc_array((ones, indices, indptr), shape=(n_rows, len(positives)))
    rows: sparse.csr_array[np.int32] = columns.tocsr()
    return rows


def learn_all(
    learner: Learner,
    problems: list[LocalProblem],
    *,
    random_state: Any,
    n_jobs: int | None,
    verbose: bool,
) -> list[LocalModel]:
    """Learn all problems in parallel; the models do not depend on `n_jobs`."""
    seeds: list[int | None] = [None] * len(problems)
    if random_state is not None:
        draws = check_random_state(random_state).randint(np.iinfo(np.int32).max, size=len(seeds))
        seeds = [int(seed) for seed in draws]
    learner.prepare()
    # Learning a tree may be faster than sending it to a worker: problems are sent in bundles.
    n_bundles = min(len(problems), 16 * effective_n_jobs(n_jobs))
    bundles = [range(k, len(problems), n_bundles) for k in range(n_bundles)]
    tasks = (
        delayed(_learn_bundle)(learner, [(problems[i], seeds[i]) for i in bundle])
        for bundle in bundles
    )
    running = in_parallel(tasks, n_jobs=n_jobs, prefer=learner.prefer, shared=[learner])
    with closing(running) as learnt:
        found = list(track(learnt, n_bundles, "Fitting local models", shown=verbose))
    models: list[Any] = [None] * len(problems)
    for bundle, answers in zip(bundles, found, strict=True):
        for i, model in zip(bundle, answers, strict=True):
            models[i] = model
    return models


def _learn_bundle(
    learner: Learner, bundle: list[tuple[LocalProblem, int | None]]
) -> list[LocalModel]:
    return [learner.learn(problem, seed) for problem, seed in bundle]


# ---- local models and their predictions -----------------------------------------------------


@savable
class ConstantClassifier(BaseEstimator):  # type: ignore[misc]
    """Classifier that predicts constants, used if all training rows agree."""

    def __init__(self, probabilities: tuple[float, ...] = (0.0,)) -> None:
        self.probabilities = probabilities

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the same probabilities for every row."""
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        return np.tile(np.asarray(self.probabilities, dtype=np.float64), (n_rows, 1))


@savable
@dataclass(frozen=True)
class LocalModel:
    """A fitted local model and the labels that it predicts."""

    # The model; only the tree of a PCTClassifier, and the weights of a LinearClassifier.
    estimator: Any
    labels: tuple[int, ...]  # positions of the labels of the local problem
    # For each label, 0 or 1 if all training rows agree, in which case the model is not used; None
    # if the model has learnt the label.
    shares: tuple[float | None, ...]
    # Form of the predictions: "columns" for one column per learnt label, as classifiers of ramify
    # return them, or a form of `ramify._base.foreign.Question`.
    answer: str = "columns"

    _saved_schema: ClassVar[Schema] = {
        "labels": TupleOf(Whole(0, "n_labels"), "n_own"),
        "shares": TupleOf(Maybe(Number(0, 1)), "n_own"),
        "estimator": AnyOf(
            TreeOf("n_variables", "n_own"),
            Part(LinearModel),
            Fitted("n_features", method=None, n_variables="n_variables"),
        ),
        "answer": Text(("columns", *ANSWERS)),
    }

    @property
    def learnt(self) -> list[int]:
        """The labels that the model has learnt."""
        pairs = zip(self.labels, self.shares, strict=True)
        return [label for label, share in pairs if share is None]

    @property
    def tree(self) -> _core.Tree | None:
        """The model if it is only a tree."""
        return self.estimator if isinstance(self.estimator, _core.Tree) else None

    @property
    def linear(self) -> LinearModel | None:
        """The model if it is only the weights of a linear one."""
        return self.estimator if isinstance(self.estimator, LinearModel) else None

    def named_trees(self, name: str) -> list[ModelTree]:
        """Return the trees of the model, named after it; none if their leaves hold no shares."""
        learnt = np.array(self.learnt, dtype=np.int64)
        if self.tree is not None:
            return [as_model_tree(name, self.tree, learnt)]
        found = self.estimator._as_trees() if hasattr(self.estimator, "_as_trees") else None
        if (
            found is None
            or found.unit != "probability"
            or found.outputs != "labels"
            or found.made_features
        ):
            return []
        return [
            replace(
                one, name=", ".join(filter(None, (name, one.name))), outputs=learnt[one.outputs]
            )
            for one in found.trees
        ]

    def check(self, n_labels: int) -> None:
        """Raise an error if a model, e.g. from a file, does not fit the labels of a hierarchy."""
        if (
            not all(type(label) is int and 0 <= label < n_labels for label in self.labels)
            or not all(share is None or isinstance(share, float) for share in self.shares)
            or len(self.shares) != len(self.labels)
            or self.answer not in ("columns", *ANSWERS)
            or not isinstance(self.estimator, BaseEstimator | _core.Tree | LinearModel)
            or (self.answer != "columns" and not isinstance(self.estimator, BaseEstimator))
            or (
                self.tree is not None and self.tree.value_label.max(initial=-1) >= len(self.learnt)
            )
        ):
            raise ValueError(f"a local model does not fit {n_labels} labels")


class LocalModels(dict[Any, LocalModel]):
    """The local models of a classifier by key, in the order of their answers."""

    def __reduce__(self) -> Any:
        return LocalModels, (dict(self),)

    @cached_property
    def labels(self) -> NDArray[np.int64]:
        """The label of each answer, of all models."""
        return np.array([c for model in self.values() for c in model.labels], dtype=np.int64)

    def split(self, answers: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """Return the answers of each model."""
        return np.split(answers, np.cumsum([len(model.labels) for model in self.values()])[:-1])

    @cached_property
    def are_logistic(self) -> bool:
        """Whether all models are logistic ones of scikit-learn, whose answers are never 0."""
        learnt = [model for model in self.values() if model.learnt]
        return bool(learnt) and all(is_logistic(model.estimator) for model in learnt)

    @cached_property
    def stack(self) -> LinearStack | None:
        """All models as one, if they are linear, apart from constants."""
        models = list(self.values())
        is_linear = [model.linear is not None for model in models]
        if not any(is_linear) or any(m.learnt and m.linear is None for m in models):
            return None
        return LinearStack(models)


class LinearStack:
    """Linear models as one, which answers for a row about as fast as a single one of them."""

    def __init__(self, models: list[LocalModel]) -> None:
        source, second, constants = [], [], []
        n_outputs = 0
        for model in models:
            linear, n_learnt = model.linear, 0
            for share in model.shares:
                constants.append(np.nan if share is None else share)
                is_pair = linear is not None and linear.pair and share is None
                source.append(n_outputs + (0 if is_pair else n_learnt))
                second.append(is_pair and n_learnt == 1)
                n_learnt += share is None
            n_outputs += 0 if linear is None else len(linear.intercepts)
        self._weights = stack_weights([m.linear for m in models if m.linear is not None])
        self._n_outputs = n_outputs
        self._constants = np.array(constants)[:, None]
        self._constant = np.flatnonzero(~np.isnan(self._constants))
        self._source = np.array(source, dtype=np.intp)
        self._source[self._constant] = 0
        self._second = np.flatnonzero(second)

    def predict(self, rows: _core.Rows, n_rows: int, n_threads: int) -> NDArray[np.float64]:
        """Return the answers of all models, of shape (answers, n)."""
        found = np.empty((n_rows, self._n_outputs))
        self._weights.predict(rows, n_threads, found)
        answers = np.take(found.T, self._source, axis=0)
        answers[self._second] = 1 - answers[self._second]
        answers[self._constant] = self._constants[self._constant]
        return answers


class Queries:
    """Rows for which many local models predict."""

    def __init__(
        self,
        X: Any,
        given: Any,
        hierarchy: Hierarchy,
        *,
        clus: bool = False,
        columns: LinearColumns | None = None,
    ) -> None:
        self.X = X
        self.given = given
        self.hierarchy = hierarchy
        self.clus = clus
        self.columns = columns
        self._rows = as_rows(X if columns is None else columns.transform(X))

    def predict_all(self, stack: LinearStack, n_threads: int) -> NDArray[np.float64]:
        """Return the answers of all models, of shape (answers, n)."""
        return stack.predict(self._rows, self.X.shape[0], n_threads)

    def take(self, rows: NDArray[np.intp]) -> Queries:
        """Return some of the rows, given in increasing order."""
        if len(rows) == self.X.shape[0]:
            return self
        X = self.X[rows]
        given = X if self.given is self.X else _safe_indexing(self.given, rows)
        return Queries(X, given, self.hierarchy, clus=self.clus, columns=self.columns)

    def predict(self, model: LocalModel) -> NDArray[np.float64]:
        """Return the probabilities of a model's labels, of shape (labels of the model, n)."""
        found = np.empty((len(model.labels), self.X.shape[0]))
        learnt = [k for k, share in enumerate(model.shares) if share is None]
        for row, share in zip(found, model.shares, strict=True):
            if share is not None:
                row[:] = share
        if learnt:
            found[learnt] = np.clip(self._predict_learnt(model), 0.0, 1.0).T
        return found

    def _predict_learnt(self, model: LocalModel) -> NDArray[np.float64]:
        """Return the predictions for the learnt labels, of shape (n, n_learnt)."""
        if model.answer == "columns":
            return self._predict_own(model)
        names = [self.hierarchy.labels[label] for label in model.learnt]
        question = Question(model.answer, names)
        found = logistic_probabilities(model.estimator, self.given)
        if found is not None:
            return question.read_probabilities(model.estimator, found)
        predicted = linear_predictions(model.estimator, self.given)
        if predicted is not None:
            return question.read_predictions(predicted)
        return question.read(model.estimator, self.given)

    def _predict_own(self, model: LocalModel) -> NDArray[np.float64]:
        tree = model.tree
        if model.linear is not None:
            return model.linear.predict(self._rows, self.X.shape[0], len(model.learnt))
        if tree is None:
            return np.asarray(model.estimator._predict_scores(self.X), dtype=np.float64)
        scores = np.zeros((self.X.shape[0], len(model.learnt)))
        tree.predict(self._rows, scores, 1.0, self.clus)
        return scores


# ---- probabilities of all labels from the conditional probabilities of local models


def multiply_down(
    conditional: NDArray[np.float64], parents: Any, children: Any, hierarchy: Hierarchy
) -> NDArray[np.float64]:
    """Compute P(c) = min over parents p of P(c|p) P(p), from the top down, one product per edge.

    Coherent: a product of factors in [0, 1] exceeds none of them.

    >>> pets = Hierarchy.from_edges([("mammal", "dog"), ("pet", "dog")])
    >>> conditional = np.array([[0.5], [0.8], [0.8], [0.4]])
    >>> multiply_down(conditional, [-1, -1, 0, 1], [0, 1, 2, 2], pets).ravel().round(2)
    array([0.5 , 0.8 , 0.32])
    """
    found = np.full((hierarchy.n_labels, conditional.shape[1]), np.inf)
    parents, children = np.asarray(parents), np.asarray(children)
    levels = hierarchy.label_levels[children]
    for level in np.unique(levels):  # all parents are on levels above
        here = np.flatnonzero(levels == level)
        above = conditional[here]
        below_labels = parents[here] != ROOT
        above[below_labels] *= found[parents[here[below_labels]]]
        np.minimum.at(found, children[here], above)
    by_row: NDArray[np.float64] = found.T
    return by_row
