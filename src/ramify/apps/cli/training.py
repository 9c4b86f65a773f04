"""Train a model on a table: cross-validate or choose, fit on all rows, and summarise."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from ramify._progress import track
from ramify.apps.predicting import label_sets
from ramify.decision.best_sets import Answers
from ramify.inspection.page.performance import MEASURES, LabelCounts, Performance, measure
from ramify.io.tables.table import Table
from ramify.labels.encoding import PartialLabels
from ramify.labels.hierarchy import Hierarchy
from ramify.labels.unknown import known_shares
from ramify.meta.selective import SelectiveClassifier
from ramify.meta.thresholds import make_splits
from ramify.metrics.inputs import unknown_cells, without_cells
from ramify.model_selection import ModelChoice, choose_model
from ramify.model_selection.candidates import BASELINE

__all__ = [
    "MEASURES",
    "TrainingSummary",
    "cross_validate",
    "known_labels",
    "labels_of",
    "repeats_note",
    "train",
    "train_best",
]


_FEW_REPEATS = 0.01  # the share of repeated rows that is not worth a note


@dataclass(frozen=True)
class TrainingSummary:
    """The result of training."""

    data: Table  # the training data
    model: Any  # the model, fitted on all rows
    # The values of each measure per fold; empty without cross-validation.
    scores: dict[str, list[float]]
    # The means of the same measures for predicting the label frequencies of the training rows.
    baseline: dict[str, float]
    # Feature importances, the most important first; empty if the model has none.
    importances: list[tuple[str, float]]
    seconds: float  # time to fit the model on all rows, in seconds
    choice: ModelChoice | None = None  # how the model was chosen, if it was
    counts: LabelCounts | None = None  # of the labels of all test rows, if they were kept

    @property
    def performance(self) -> Performance:
        """What the model file says of the performance."""
        Y = labels_of(self.data)
        n_folds = max(map(len, self.scores.values()), default=0)
        means = {name: _mean_defined(values) for name, values in self.scores.items()}
        rows = np.bincount(Y.indices, minlength=Y.shape[1])
        return Performance(Y.shape[0], n_folds, means, self.baseline, rows, self.counts)

    @property
    def is_below_baseline(self) -> bool:
        """Return whether the model is no better than the baseline by the first measure."""
        values = self.scores.get(MEASURES[0], [])
        return bool(values) and not _mean_defined(values) > self.baseline[MEASURES[0]]


def train(
    data: Table, model: Any, *, folds: int = 5, seed: int = 0, progress: bool = False
) -> TrainingSummary:
    """Cross-validate a model and fit it on all rows.

    `model`: the model, which is fitted in place.
    """
    n_rows = labels_of(data).shape[0]
    if folds > n_rows:
        raise ValueError(
            f"--folds must not exceed the number of rows, {n_rows}, got {folds}. Pass "
            f"{f'at most {n_rows}' if n_rows > 1 else '0 for no cross-validation'}."
        )
    scores: dict[str, list[float]] = {}
    baseline: dict[str, float] = {}
    counts = None
    if folds >= 2:
        scores, baseline, counts = cross_validate(data, model, folds, seed, progress=progress)
    started = time.perf_counter()
    model.fit(data.X, known_labels(data), **_weights(data), **_groups(data, model))
    seconds = time.perf_counter() - started
    found = _importances(data, model)
    return TrainingSummary(data, model, scores, baseline, found, seconds, counts=counts)


def train_best(
    data: Table,
    *,
    folds: int = 5,
    time_limit: float | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: bool = False,
) -> TrainingSummary:
    """Choose a model by cross-validation within a time limit, and fit it on all rows."""
    choice = choose_model(
        data.X,
        labels_of(data),
        hierarchy=data.hierarchy,
        groups=data.groups,
        scoring=MEASURES,
        cv=folds,
        time_limit=time_limit,
        n_jobs=n_jobs,
        random_state=seed,
        verbose=progress,
        **_weights(data),
    )
    trial, plain = choice.trial(choice.name), choice.trial(BASELINE)
    return TrainingSummary(
        data=data,
        model=choice.model,
        scores=trial.scores,
        baseline={name: plain.mean(name) for name in MEASURES},
        importances=_importances(data, choice.model),
        seconds=choice.fit_seconds,
        choice=choice,
    )


def repeats_note(repeated: int, n_rows: int) -> str | None:
    """Return a note on rows that repeat others, which make cross-validation too optimistic."""
    if repeated <= n_rows * _FEW_REPEATS:
        return None
    return (
        f"{repeated} of {n_rows} rows have the same features as another row. Models are "
        "tested on rows that they have seen, so that the scores below are too good for new rows. "
        "Drop repeated rows, or pass --groups COLUMN to keep rows of one site, person or product "
        "together"
    )


def labels_of(data: Table) -> Any:
    """Return the labels of a table, or raise an error if it has none."""
    if data.y is None:
        raise ValueError(f"{data.name} has no labels. Pass the label column with --target.")
    return data.y


def known_labels(data: Table) -> Any:
    """Return the labels of a table: PartialLabels if some are not known."""
    Y = labels_of(data)
    if data.unknown is None:
        return Y
    return PartialLabels.of(Y, cast("Hierarchy", data.hierarchy), data.unknown)


def cross_validate(
    data: Table, model: Any, folds: int, seed: int, *, progress: bool = False
) -> tuple[dict[str, list[float]], dict[str, float], LabelCounts]:
    """Compute the cross-validated scores of a model, with the label sets that it predicts."""
    Y, y = labels_of(data), known_labels(data)
    splits = make_splits(folds, data.X, Y, Y.shape[0], seed, groups=data.groups)
    found: list[dict[str, float]] = []
    plain: list[dict[str, float]] = []
    counts = []
    for fit_rows, test_rows in track(splits, folds, "Cross-validating", shown=progress):
        part = clone(model).fit(
            _safe_indexing(data.X, fit_rows), y[fit_rows], **_weights(data, fit_rows)
        )
        truth, X = y[test_rows], _safe_indexing(data.X, test_rows)
        chosen = label_sets(part, X)
        partial = truth if isinstance(truth, PartialLabels) else None
        counts.append(LabelCounts.of(Y[test_rows], without_cells(chosen, unknown_cells(partial))))
        found.append(measure(truth, part.predict_proba(X), chosen, data.hierarchy))
        shares = np.tile(_label_shares(Y[fit_rows], y[fit_rows]), (len(test_rows), 1))
        like = Answers.like(Y[fit_rows], part.hierarchy_, np.ones(len(fit_rows)), is_path=False)
        likely = like.decide(shares, part.hierarchy_, is_path=False)
        plain.append(measure(truth, shares, likely, data.hierarchy))
    scores = {name: [fold[name] for fold in found] for name in MEASURES}
    baseline = {name: _mean_defined([fold[name] for fold in plain]) for name in MEASURES}
    return scores, baseline, reduce(add, counts)


def _label_shares(Y: Any, y: Any) -> NDArray[np.float64]:
    """Return the share of each label among rows."""
    if isinstance(y, PartialLabels) and y.unknown is not None:
        return known_shares(y.hierarchy, Y, y.unknown, np.ones(len(y)))
    return np.asarray(Y.mean(axis=0), dtype=np.float64).ravel()


def _mean_defined(values: list[float]) -> float:
    return float("nan") if np.isnan(values).all() else float(np.nanmean(values))


def _weights(data: Table, rows: NDArray[np.intp] | None = None) -> dict[str, Any]:
    if data.sample_weight is None:
        return {}
    return {"sample_weight": data.sample_weight if rows is None else data.sample_weight[rows]}


def _groups(data: Table, model: Any) -> dict[str, Any]:
    """Return the groups of rows for a model that divides rows itself."""
    is_careful = isinstance(model, SelectiveClassifier) and data.groups is not None
    return {"groups": data.groups} if is_careful else {}


def _importances(data: Table, model: Any) -> list[tuple[str, float]]:
    inside = model.estimator_ if isinstance(model, SelectiveClassifier) else model
    importances = getattr(inside, "feature_importances_", None)
    if importances is None:
        return []
    order = np.argsort(-np.asarray(importances), kind="stable")
    pairs = [(data.feature_names[k], float(importances[k])) for k in order]
    return [(name, share) for name, share in pairs if share > 0]
