"""The models of a study: build them, choose their parameters and select their rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import KFold
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import available_if

from ramify._base.classifier import HierarchicalClassifier
from ramify._base.foreign import wrapped_estimators
from ramify._validation import check_number
from ramify.apps.named_estimators import make_inner, make_model
from ramify.apps.studies.data import StudyData
from ramify.apps.studies.merging import BestOfLevels, BoostingAlong, ModelPerLevel
from ramify.apps.studies.plan import ModelSpec
from ramify.decision import make_coherent
from ramify.labels.hierarchy import Hierarchy
from ramify.metrics import get_scorer


class ScaledModel:
    """A model whose numeric features are scaled by the ranges of the training rows.

    Constant columns are only shifted; sparse ones are divided by their largest absolute value.
    """

    def __init__(self, estimator: Any, nominal: list[bool] | None) -> None:
        self.estimator_ = estimator
        self.nominal = nominal  # columns of an array that are not scaled; None for data frames

    def fit(self, X: Any, y: Any) -> ScaledModel:
        """Compute the ranges, then fit the estimator."""
        self._learn_ranges(X)
        self.estimator_.fit(self.scaled(X), y)
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities for the scaled rows."""
        return np.asarray(self.estimator_.predict_proba(self.scaled(X)))

    def predict(self, X: Any) -> Any:
        """Return the label sets for the scaled rows."""
        return label_sets(self.estimator_, self.scaled(X))

    def _learn_ranges(self, X: Any) -> None:
        self._names = None
        if hasattr(X, "iloc"):
            self._names = list(X.select_dtypes("number").columns)
            X = X[self._names]
        low, high = _sizes(X) if sparse.issparse(X) else _ranges(np.asarray(X, dtype=np.float64))
        low[~np.isfinite(low)] = 0.0
        width = np.where(high > low, high - low, 1.0)
        if self.nominal is not None and self._names is None:
            low[self.nominal], width[self.nominal] = 0.0, 1.0
        self.low_, self.width_ = low, width

    def scaled(self, X: Any) -> Any:
        """Return rows with their numeric columns scaled."""
        if self._names is not None:
            return X.assign(
                **{
                    name: (X[name] - low) / width
                    for name, low, width in zip(self._names, self.low_, self.width_, strict=True)
                }
            )
        if sparse.issparse(X):
            factors: Any = sparse.diags_array(1 / self.width_)
            return (X @ factors).tocsr()
        return (np.asarray(X, dtype=np.float64) - self.low_) / self.width_


def _ranges(X: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    missing = np.isnan(X)
    return np.where(missing, np.inf, X).min(axis=0), np.where(missing, -np.inf, X).max(axis=0)


def _sizes(X: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return np.zeros(X.shape[1]), np.asarray(abs(X).max(axis=0).todense()).ravel()


# ---- estimators by name ---------------------------------------------------------------------


class SharesModel:
    """Baseline that predicts frequencies of labels: `n_labels` of them, or those of half the rows.

    >>> y = np.array([[1, 0, 1], [1, 0, 0], [0, 1, 1]])
    >>> SharesModel(n_labels=2).fit(y, y).predict(y[:1])
    array([[1, 0, 1]], dtype=int32)
    """

    def __init__(self, n_labels: int | None = None) -> None:
        if n_labels is not None:
            check_number("n_labels", n_labels, 1, whole=True)
        self.n_labels = n_labels

    def fit(self, X: Any, y: Any) -> SharesModel:
        """Compute the frequencies."""
        self.shares_ = np.asarray(y.mean(axis=0)).ravel()
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the same frequencies for every row."""
        return np.tile(self.shares_, (X.shape[0], 1))

    def predict(self, X: Any) -> NDArray[np.int32]:
        """Return the same label set for every row."""
        is_chosen = self.shares_ >= 0.5
        if self.n_labels is not None:
            # A label is at least as frequent as its descendants, and comes before them.
            is_chosen = np.zeros(len(self.shares_), dtype=bool)
            is_chosen[np.argsort(-self.shares_, kind="stable")[: self.n_labels]] = True
        return np.tile(is_chosen.astype(np.int32), (X.shape[0], 1))


class LeafModel:
    """A model of the leaves as flat labels; inner labels get the maximum over their leaves."""

    def __init__(self, hierarchy: Hierarchy, estimator: Any) -> None:
        self.hierarchy = hierarchy
        self.estimator_ = estimator
        self.leaves = hierarchy.indices(hierarchy.leaves)

    def fit(self, X: Any, y: Any) -> LeafModel:
        """Fit the estimator to the columns of the leaves."""
        self.estimator_.fit(X, y[:, self.leaves])
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return a column for every label of the hierarchy."""
        scores = np.zeros((X.shape[0], self.hierarchy.n_labels))
        scores[:, self.leaves] = self.estimator_.predict_proba(X)
        return make_coherent(scores, self.hierarchy, "max")


class PathModel:
    """A model that is fitted on, and predicts, one path per row, as its most specific label."""

    def __init__(self, hierarchy: Hierarchy, estimator: Any) -> None:
        self.hierarchy = hierarchy
        self.estimator_ = estimator

    def fit(self, X: Any, y: Any) -> PathModel:
        """Fit the estimator to the last label of the path of every row."""
        self.estimator_.fit(X, last_labels(y, self.hierarchy))
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return a column for every label of the hierarchy."""
        return np.asarray(self.estimator_.predict_proba(X))

    def predict(self, X: Any) -> Any:
        """Return the labels of the predicted paths, as a binary matrix."""
        return self._encode(self.estimator_.predict(X, decide="separately"))

    @available_if(lambda model: hasattr(model.estimator_, "staged_predict"))  # type: ignore[untyped-decorator]
    def staged_predict(self, X: Any) -> Iterator[Any]:
        """Yield the same after each round of a boosted model."""
        found = self.estimator_.staged_predict(X, decide="separately")
        yield from map(self._encode, found)

    def _encode(self, paths: Any) -> Any:
        return self.hierarchy.encode([[label] for label in paths])


def last_labels(y: Any, hierarchy: Hierarchy) -> NDArray[np.object_]:
    """Return the most specific label of each row, which must have one path.

    >>> hierarchy = Hierarchy.from_paths(["a/b", "c"])
    >>> last_labels(hierarchy.encode([["a"], ["a/b"], ["c"]]), hierarchy).tolist()
    ['a', 'a/b', 'c']
    """
    sets = hierarchy.decode(y)
    for row, labels in enumerate(sets):
        if len(labels) != 1:
            raise ValueError(
                f'labels must not be "paths" unless every row has one path, got {len(labels)} '
                f'paths in row {row}. Use labels = "all".'
            )
    names = np.empty(len(sets), dtype=object)
    names[:] = [label for (label,) in sets]
    return names


def build(model: ModelSpec, data: StudyData, seed: int) -> Any:
    """Make an unfitted estimator that uses one thread."""
    if model.model == "shares":
        return SharesModel(**model.parameters)
    hierarchy = data.hierarchy
    if model.labels == "levels" and model.inside is not None:
        inside = model.inside
        return ModelPerLevel(
            hierarchy, lambda: make_inner(inside.model, _settings(inside), seed=seed)
        )
    own = hierarchy
    if model.labels not in ("all", "paths"):
        own = Hierarchy.from_labels(hierarchy.leaves if model.labels == "leaves" else own.labels)
    estimator = make_model(model.model, own, _settings(model), seed=seed, n_jobs=1)
    if model.inside is not None:
        inside = make_inner(model.inside.model, _settings(model.inside), seed=seed)
        estimator.set_params(estimator=inside)
    if data.nominal is not None and any(data.nominal):
        _tell_nominal(estimator, data.nominal)
    if model.scale:
        estimator = ScaledModel(estimator, data.nominal)
    if model.labels in ("any-parent", "every-parent"):
        any_parent = model.labels == "any-parent"
        return BoostingAlong.like(estimator, hierarchy, any_parent=any_parent)
    wrappers = {"leaves": LeafModel, "paths": PathModel, "best-of-levels": BestOfLevels}
    wrapped = wrappers.get(model.labels)
    return estimator if wrapped is None else wrapped(hierarchy, estimator)


def _tell_nominal(estimator: Any, nominal: list[bool]) -> None:
    """Pass the nominal columns to an estimator, or else to the estimators directly inside it."""
    if "categorical_features" in estimator.get_params(deep=False):
        estimator.set_params(categorical_features=nominal)
        return
    for part in wrapped_estimators(estimator):
        _tell_nominal(part, nominal)


def _settings(model: ModelSpec) -> list[str]:
    return [f"{name}={value!r}" for name, value in model.parameters.items()]


def label_sets(fitted: Any, X: Any) -> Any:
    """Return the label sets that a model predicts, decided as in the papers."""
    if isinstance(fitted, HierarchicalClassifier):
        return fitted.predict(X, decide="separately")
    if hasattr(fitted, "predict"):
        return fitted.predict(X)
    return (fitted.predict_proba(X) >= 0.5).astype(np.int32)


def choose_parameters(
    model: ModelSpec, data: StudyData, rows: NDArray[np.intp], seed: int
) -> dict[str, Any]:
    """Choose the parameters of ``tune`` by cross-validation on some rows."""
    tune = model.tune or {}
    scorer = get_scorer(tune["measure"])
    grid = tune["grid"]
    best: tuple[float, dict[str, Any]] = (-np.inf, {})
    for values in product(*grid.values()):
        chosen = dict(zip(grid, values, strict=True))
        candidate = replace(model, parameters={**model.parameters, **chosen}, tune=None)
        scores = []
        folds = KFold(tune["folds"], shuffle=True, random_state=seed).split(rows)
        for train, test in folds:
            fitted = build(candidate, data, seed)
            fitted.fit(_safe_indexing(data.X, rows[train]), data.y[rows[train]])
            scores.append(_score(scorer, fitted, data, rows[test]))
        if np.mean(scores) > best[0]:
            best = float(np.mean(scores)), chosen
    return best[1]


def _score(scorer: Any, fitted: Any, data: StudyData, rows: NDArray[np.intp]) -> float:
    X = _safe_indexing(data.X, rows)
    answer = fitted.predict_proba(X) if scorer.of_scores else label_sets(fitted, X)
    value = scorer.measure(data.y[rows], answer, hierarchy=data.hierarchy)
    return float(scorer.sign * value)
