"""Base classes of the classifiers that combine local models."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, cast

import numpy as np
from joblib import delayed
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ramify._base.classifier import USUAL, Asked, HierarchicalClassifier
from ramify._base.foreign import copy_input_tags, reads_texts, takes_labels
from ramify._base.relearning import Relearning
from ramify._base.tree_models import TreeModel
from ramify._messages import shorten
from ramify._parallel import count_threads, in_parallel
from ramify._schema import (
    AnyOf,
    Anything,
    Estimator,
    IfPresent,
    ListOf,
    MapOf,
    Maybe,
    Part,
    Schema,
)
from ramify._validation import check_same_length, check_sample_weight
from ramify.data.features import given_features, read_features
from ramify.data.rows import by_rows
from ramify.decision.best_sets import ROW_KINDS
from ramify.labels.encoding import EncodedLabels, read_labels
from ramify.labels.hierarchy import Hierarchy
from ramify.local.learning import Learner, LocalModel, LocalModels, Queries, learn_all
from ramify.local.linear import LinearColumns
from ramify.local.linear_classifier import LinearClassifier
from ramify.local.partial import PartLearner, moved, united
from ramify.local.problems import ROOT, LabelRows, LocalProblem, position_of
from ramify.local.trees import LevelLearner, make_learner, name_linear, name_tree
from ramify.local.walking import StepsDown, predict_paths
from ramify.trees.forests import PCTForestClassifier
from ramify.trees.tree_data import LabelTargets, TreeData

__all__ = [
    "LocalArchitecture",
    "LocalClassifier",
]


_NEW = -2  # stands for a label that no old one has become unchanged
N_TREES = 50
"""The number of trees of a local model of dense rows, if `estimator` is None."""


class LocalClassifier(HierarchicalClassifier):
    """Base class of classifiers that combine local models.

    Subclasses learn the models and define how to combine their predictions.
    """

    n_jobs: int | None
    random_state: Any
    verbose: bool
    local_models_: LocalModels
    columns_: LinearColumns

    _saved_schema: ClassVar[Schema] = {
        "local_models_": MapOf(
            Anything(),
            Part(
                LocalModel,
                n_features="n_features_in_",
                n_variables="n_variables",
                n_labels="n_labels",
            ),
        ),
        "columns_": IfPresent(Part(LinearColumns, n_features="n_variables")),
    }

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LocalClassifier:
        """Fit the local models.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Training rows, or texts. NaN marks missing values; string and categorical columns of a
            data frame are nominal, unless they are texts. Estimators of other libraries get data
            frames and texts unchanged, or numbers if they cannot read texts.
        y : array-like
            Labels of the n rows, in any format accepted by `ramify.labels.read_labels`.
        sample_weight : array-like of shape (n,), optional
            Sample weights.

        Returns
        -------
        LocalClassifier
            The fitted classifier.
        """
        given = X
        X, encoded, weights = self._read_training(X, y, sample_weight)
        targets = LabelTargets(encoded.Y, unknown=encoded.unknown, hierarchy=encoded.hierarchy)
        weighted = sample_weight is not None
        self._learn_local(self._data(X, given, targets, weights, weighted=weighted))
        return self

    def _data(
        self,
        X: Any,
        given: Any,
        targets: LabelTargets,
        weights: NDArray[np.float64],
        *,
        weighted: bool,
    ) -> TreeData:
        """Return training data; `weighted` if the user passed sample weights."""
        return TreeData(
            X,
            self.schema_,
            targets,
            weights,
            weighted=weighted,
            given=self._given(given, X),
            feature_names=getattr(self, "feature_names_in_", None),
            n_jobs=self.n_jobs,
        )

    def _text_form(self) -> str:
        return _text_form_of(self._local_estimator())

    def _given(self, given: Any, X: Any) -> Any:
        """Return X for local models of other libraries, which may not read texts and vectors."""
        has_wide = bool(self.schema_.texts or self.schema_.vectors)
        reads = self._text_form() == "passed" or not has_wide
        return given_features(given, X) if reads else by_rows(X)

    @abstractmethod
    def _learn_local(self, data: TreeData) -> None:
        """Learn the models and set `local_models_`."""

    @abstractmethod
    def _local_estimator(self, data: TreeData | None = None) -> Any:
        """Return the estimator whose clones are the local models; before `fit`, of the data."""

    def _estimator_of(self, model: LocalModel | LocalProblem) -> Any:
        """Return the estimator that a model is a clone of."""
        return self._local_estimator()

    @abstractmethod
    def _combine(self, answers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return probabilities of shape (n, n_labels) from the answers of all models."""

    @property
    def estimators_(self) -> list[Any]:
        """The fitted local models, in the order of `named_estimators_`."""
        return list(self.named_estimators_.values())

    @property
    def named_estimators_(self) -> LocalEstimators:
        """The fitted local models by the labels they predict."""
        check_is_fitted(self)
        return LocalEstimators(self)

    def _as_estimator(self, model: LocalModel) -> Any:
        labels = self._targets().labels
        learnt = [labels[c] for c in model.learnt]
        fitted: Any
        if model.tree is not None:
            fitted = name_tree(self._estimator_of(model), model.tree, learnt)
        elif model.linear is not None:
            columns = self.columns_
            fitted = name_linear(self._estimator_of(model), model.linear, columns, learnt)
        else:
            return model.estimator
        fitted.schema_, fitted.n_features_in_ = self.schema_, self.n_features_in_
        if hasattr(self, "feature_names_in_"):
            fitted.feature_names_in_ = self.feature_names_in_
        return fitted

    def _as_trees(self) -> TreeModel:
        names = self._readable_targets()
        trees = []
        for key, model in self.local_models_.items():
            parts = key if isinstance(key, tuple) else (key,)
            name = " → ".join(str(part) for part in parts if part is not None) or "root"
            trees += model.named_trees(name)
        return TreeModel(
            tuple(trees),
            names,
            self._predict_scores,
            combination=None,
            outputs="labels" if names is self.hierarchy_ else "label sets",
        )

    def _targets(self) -> Hierarchy:
        """Return the targets of the local models: the labels, unless a subclass changes them."""
        return self.hierarchy_

    def _readable_targets(self) -> Hierarchy:
        """Return the targets of the local models under readable names."""
        return self._targets()

    def _score_given(self, given: Any, X: Any) -> NDArray[np.float64]:
        return self._score(X, self._given(given, X))

    def _predict_scores(self, X: Any) -> NDArray[np.float64]:
        return self._score(X, X)

    def _score(self, X: Any, given: Any) -> NDArray[np.float64]:
        return np.ascontiguousarray(self._combine(self._predict_local(X, given)))

    def _predict_local(self, X: Any, given: Any) -> NDArray[np.float64]:
        """Return the answers of all models, of shape (answers, n)."""
        queries = self._queries(X, given)
        if self.local_models_.stack is not None:
            return queries.predict_all(self.local_models_.stack, count_threads(self.n_jobs))
        models = list(self.local_models_.values())
        n_bundles = min(len(models), count_threads(self.n_jobs))
        # Threads are used: sending rows and models to a cluster would take longer than predicting.
        tasks = (delayed(_predict_bundle)(queries, models[k::n_bundles]) for k in range(n_bundles))
        answers: list[Any] = [None] * len(models)
        with closing(in_parallel(tasks, n_jobs=n_bundles, require="sharedmem")) as found:
            for k, bundle in enumerate(found):
                answers[k::n_bundles] = bundle
        return np.concatenate(answers)

    def _queries(self, X: Any, given: Any) -> Queries:
        estimators = as_list(getattr(self, "estimator", None))
        clus = any(getattr(one, "clus_compat", False) for one in estimators)
        columns = getattr(self, "columns_", None)
        return Queries(X, given, self._targets(), clus=clus, columns=columns)

    def _get_saved_state(self) -> dict[str, Any]:
        state = super()._get_saved_state()
        if "local_models_" in state:
            state["local_models_"] = dict(self.local_models_)
        return state

    def _set_saved_state(self, state: Mapping[str, Any]) -> None:
        super()._set_saved_state(state)
        if "local_models_" not in state:
            return
        self.local_models_ = LocalModels(self.local_models_)
        for model in self.local_models_.values():
            model.check(self._targets().n_labels)
            if model.linear is not None:
                model.linear.check(self.columns_.n_columns, len(model.learnt))
        # Keys and labels of the models must give a probability for every label.
        found = self._combine(np.full((len(self.local_models_.labels), 1), 0.5))
        if found.shape != (1, self.hierarchy_.n_labels) or not np.isfinite(found).all():
            raise ValueError("the local models do not fit the labels")


def _takes_parts(architecture: Any) -> bool:
    """Return whether a classifier can learn from one part of the rows after the other."""
    given = as_list(architecture.estimator)
    return architecture._by_level and all(hasattr(one, "partial_fit") for one in given)


class LocalArchitecture(LocalClassifier):
    """Base class of classifiers whose local models are clones of `estimator`.

    Subclasses define the problems that the models learn.
    """

    estimator: Any

    _joint: ClassVar[bool] = False
    """Whether one local model may have to predict several labels at once."""

    _by_level: ClassVar[bool] = False
    """Whether `estimator` may be a list of one for each level."""

    _saved_parameters: ClassVar[Schema] = {
        "estimator": Maybe(AnyOf(Estimator(), ListOf(Maybe(Estimator()))))
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        hierarchy: Hierarchy | None = None,
        categorical_features: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.estimator = estimator
        self.hierarchy = hierarchy
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        given = [one for one in as_list(self.estimator) if hasattr(one, "__sklearn_tags__")]
        if given:
            copy_input_tags(tags, *given)
            tags.classifier_tags.multi_label = not self._joint or all(map(takes_labels, given))
        return tags

    def _why_not_unknown(self) -> str | None:
        return None

    @abstractmethod
    def _problems(self, rows: LabelRows) -> list[LocalProblem]:
        """Return the problems that the local models learn."""

    def _make_learner(self, data: TreeData) -> Learner:
        """Return the learner of the problems."""
        estimator = self._local_estimator(data)
        if self._by_level and isinstance(estimator, list):
            forms = self._text_forms()
            if self.schema_.texts and "passed" in forms and len(forms) > 1:
                raise ValueError(
                    "estimator must be a list of classifiers that all read texts, or none, got "
                    f"{self.estimator!r}. Leave vectorizers out, or begin each with one."
                )
            return LevelLearner(estimator, data, self._targets())
        return make_learner(estimator, data, self._targets())

    def _learn_local(self, data: TreeData) -> None:
        unknown = cast("LabelTargets", data.targets).unknown
        problems = self._problems(LabelRows(data.Y, self.hierarchy_, data.weights, unknown))
        self._learn_problems(data, problems, {})

    def _learn_problems(
        self,
        data: TreeData,
        problems: list[LocalProblem],
        kept: dict[Any, LocalModel],
        columns: LinearColumns | None = None,
    ) -> None:
        """Set `local_models_`: those that are kept, by the key of the problem, and learnt ones."""
        learner = self._make_learner(data)
        learner.columns = columns
        new = [problem for problem in problems if problem.key not in kept]
        if not learner.takes_unknown:
            new = [problem.without_unknown() for problem in new]
        learnt = self._learn_all(learner, new)
        if learner.columns is not None:
            self.columns_ = learner.columns
        found = {problem.key: model for problem, model in zip(new, learnt, strict=True)} | kept
        self.local_models_ = LocalModels((p.key, found[p.key]) for p in problems)

    def _learn_all(self, learner: Learner, problems: list[LocalProblem]) -> list[LocalModel]:
        return learn_all(
            learner,
            problems,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            verbose=bool(self.verbose),
        )

    @available_if(_takes_parts)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> LocalArchitecture:
        """Learn from more rows, e.g. the next part of a file.

        The estimator must have ``partial_fit``, like scikit-learn's SGDClassifier, and only learns
        from the new rows. If `hierarchy` is None, labels that appear later become part of the
        hierarchy: `PerNodeClassifier` and `PerEdgeClassifier` begin a model for each of them. A
        classifier with models of several classes must be told all labels by `hierarchy`.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Training rows, with the same features in all calls. Texts must be hashed, e.g. by
            scikit-learn's HashingVectorizer.
        y : array-like
            Labels of the n rows, in the same format in all calls.
        sample_weight : array-like of shape (n,), optional
            Sample weights.

        Returns
        -------
        LocalArchitecture
            The fitted classifier.
        """
        learner: Any = object.__new__(type(self))
        learner.__dict__.update(self.__dict__)
        learner._learn_part(X, y, sample_weight)
        self.__dict__ = learner.__dict__  # all or nothing, as in `fit`
        return self

    def _learn_part(self, X: Any, y: Any, sample_weight: Any) -> None:
        given = X
        models: dict[Any, LocalModel] = {}
        if not hasattr(self, "format_"):
            X, encoded, weights = self._read_training(X, y, sample_weight)
        else:
            X = read_features(self, X, self.schema_)
            encoded, weights = self._read_part(X, y, sample_weight, models)
        if self.schema_.texts or self.schema_.has_nominal or encoded.unknown is not None:
            raise ValueError(
                "partial_fit requires X of numbers and known labels, because later rows may have "
                "other words and categories. Hash texts with HashingVectorizer, and encode "
                "categories."
            )
        weighted = sample_weight is not None
        data = self._data(X, given, LabelTargets(encoded.Y), weights, weighted=weighted)
        problems = self._problems(LabelRows(data.Y, self.hierarchy_, weights))
        estimators = {problem.key: self._estimator_of(problem) for problem in problems}
        learner = PartLearner(estimators, data, self.hierarchy_, models)
        learnt = self._learn_all(learner, problems)
        self.local_models_ = LocalModels(
            (problem.key, model) for problem, model in zip(problems, learnt, strict=True)
        )

    def _read_part(
        self, X: Any, y: Any, sample_weight: Any, models: dict[Any, LocalModel]
    ) -> tuple[EncodedLabels, NDArray[np.float64]]:
        """Read later labels, describe all labels, and fill `models` with those so far."""
        old, kind, ends = self.hierarchy_, self.row_kind_, getattr(self, "ends_", None)
        encoded = read_labels(y, self.hierarchy)
        if self.hierarchy is None:
            encoded = read_labels(y, united(old, encoded.hierarchy))
        if encoded.format.single_label != self.format_.single_label:
            raise ValueError(
                "y must have the same format in all calls of partial_fit: label sets or one label "
                f"or path per row, got {type(encoded.format).__name__} after "
                f"{type(self.format_).__name__}."
            )
        check_same_length(X.shape[0], encoded.Y.shape[0])
        weights = check_sample_weight(sample_weight, X.shape[0])
        hierarchy = encoded.hierarchy
        self._describe_labels(encoded, weights)
        self.format_ = encoded.format
        if ROW_KINDS.index(kind) > ROW_KINDS.index(self.row_kind_):
            self.row_kind_ = kind
        if self.row_kind_ == "path" and ends is not None:
            self.ends_ = self.ends_.copy()
            self.ends_[hierarchy.indices([old.labels[c] for c in np.flatnonzero(ends)])] = True
        elif hasattr(self, "ends_"):
            del self.ends_
        for key, model in self.local_models_.items():
            models[key] = moved(model, old, hierarchy)
        return encoded, weights

    def _scope(self, hierarchy: Hierarchy, key: Any, labels: tuple[int, ...]) -> set[int]:
        """Return the labels that decide which rows a problem has, by position; `ROOT`: all."""
        raise NotImplementedError

    def _relearn(self, old: Any, task: Relearning) -> NDArray[np.str_]:
        if type(self)._scope is LocalArchitecture._scope:
            return super()._relearn(old, task)
        rows = LabelRows(task.Y, self.hierarchy_, task.weights)
        problems = self._problems(rows)
        kept = self._unchanged(old, task, problems)
        targets = LabelTargets(task.Y)
        data = self._data(task.X, task.given, targets, task.weights, weighted=task.weighted)
        self._learn_problems(data, problems, kept, getattr(old, "columns_", None))
        learnt = np.zeros(self.hierarchy_.n_labels, dtype=bool)
        for problem in problems:
            learnt[list(problem.labels)] |= problem.key not in kept
        return task.statuses_after(learnt, forgets=True)

    def _unchanged(
        self, old: Any, task: Relearning, problems: list[LocalProblem]
    ) -> dict[Any, LocalModel]:
        """Return the old models of problems all of whose labels have become one label each."""
        own = {
            (frozenset(m.labels), frozenset(self._scope(old.hierarchy_, key, m.labels))): m
            for key, m in old.local_models_.items()
        }
        copied = task.copied
        old_of = {ROOT: ROOT} | {t: k if k >= 0 else _NEW for t, k in enumerate(copied.tolist())}
        kept = {}
        for problem in problems:
            scope = self._scope(self.hierarchy_, problem.key, problem.labels)
            labels_before, scope_before = (
                frozenset(old_of[t] for t in part) for part in (problem.labels, scope)
            )
            model = own.get((labels_before, scope_before))
            new_of = {old_of[t]: t for t in problem.labels}
            if model is None or len(new_of) < len(problem.labels):
                continue
            labels = tuple(new_of[k] for k in model.labels)
            names = [self.hierarchy_.labels[t] for t in labels]
            same = names == [old.hierarchy_.labels[k] for k in model.labels]
            if model.answer == "columns" or same:  # others know classes by name
                kept[problem.key] = replace(model, labels=labels)
        return kept

    def _position(self, key: Any) -> int:
        """Return the position of a label in the keys of the models."""
        return position_of(self.hierarchy_, key)

    def _key(self, label: int) -> Any:
        """Return the name of a label in the keys of the models; that of the root is None."""
        return None if label == ROOT else self.hierarchy_.labels[label]

    def _set_saved_state(self, state: Mapping[str, Any]) -> None:
        super()._set_saved_state(state)
        steps = self._steps_down() if "local_models_" in state else None
        if steps is not None:
            steps.check(self.local_models_, self.hierarchy_)

    def _steps_down(self) -> StepsDown | None:
        """Return how to compute probabilities from the top down; None if all models are needed."""
        return None

    def _predict_sets(self, X: Any, asked: Asked = USUAL) -> sparse.csr_array[np.int32]:
        check_is_fitted(self)
        steps = self._steps_down() if self.format_.single_label else None
        # Asking all linear models is faster than finding out which of them count.
        models = self.local_models_
        asks_all = models.stack is not None or (asked.decide == "jointly" and models.are_logistic)
        if steps is None or asks_all:
            return super()._predict_sets(X, asked)
        coded = read_features(self, X, self.schema_)
        return predict_paths(
            self.local_models_,
            self._queries(coded, self._given(X, coded)),
            self.hierarchy_,
            steps,
            decide=partial(self._decide, asked=asked) if asked.decide == "jointly" else None,
            ends=self._ends(asked.candidates),
            n_jobs=self.n_jobs,
        )

    def _local_estimator(self, data: TreeData | None = None) -> Any:
        is_linear = hasattr(self, "columns_") if data is None else sparse.issparse(data.X)
        if self.estimator is None:
            return self._default_estimator(is_linear=is_linear)
        if not self._by_level or not isinstance(self.estimator, list):
            return self.estimator
        return [
            self._default_estimator(is_linear=is_linear) if one is None else one
            for one in self.estimator
        ]

    def _estimator_of(self, model: LocalModel | LocalProblem) -> Any:
        found = self._local_estimator()
        if not isinstance(found, list):
            return found
        level = int(self.hierarchy_.label_levels[list(model.labels)].min())
        if level > len(found):
            raise ValueError(
                f"estimator must be a classifier or a list of one per level, got {len(found)} and "
                f"labels on level {level}. Add classifiers to the list."
            )
        return found[level - 1]

    def _text_form(self) -> str:
        # Texts are sparse, and what is fitted to sparse rows by default is linear.
        forms = self._text_forms()
        return forms.pop() if len(forms) == 1 else "weights"

    def _text_forms(self) -> set[str]:
        given = as_list(self.estimator)
        return {"weights" if one is None else _text_form_of(one) for one in given}

    def _default_estimator(self, *, is_linear: bool) -> Any:
        """Return what is fitted if `estimator` is None; `is_linear` for sparse X."""
        if is_linear:
            return LinearClassifier()
        return PCTForestClassifier(n_estimators=N_TREES, random_state=0)


class LocalEstimators(Mapping[Any, Any]):
    """Read-only dict of the fitted local models of an architecture.

    Local trees are stored without their estimator; looking one up creates a fitted PCTClassifier.
    """

    def __init__(self, architecture: LocalClassifier) -> None:
        self._architecture = architecture

    def __getitem__(self, key: Any) -> Any:
        return self._architecture._as_estimator(self._architecture.local_models_[key])

    def __iter__(self) -> Iterator[Any]:
        return iter(self._architecture.local_models_)

    def __len__(self) -> int:
        return len(self._architecture.local_models_)

    def __repr__(self) -> str:
        return f"<{len(self)} local models: {shorten(self)}>"


def as_list(estimator: Any) -> list[Any]:
    """Return the estimators of a parameter that is one, None, or a list of one per level."""
    return estimator if isinstance(estimator, list) else [estimator]


def _text_form_of(estimator: Any) -> str:
    if isinstance(estimator, HierarchicalClassifier):
        form = estimator._text_form()
        return "weights" if form == "passed" else form  # local models get variables
    return "passed" if reads_texts(estimator) else "weights"


def _predict_bundle(queries: Queries, models: list[LocalModel]) -> list[NDArray[np.float64]]:
    return [queries.predict(model) for model in models]
