"""Run one cell of a study: fit a model, measure it, and record time, size and memory."""

from __future__ import annotations

import sys
import time
import traceback
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from joblib import parallel_config
from sklearn.base import clone
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.frozen import FrozenEstimator
from sklearn.utils import _safe_indexing

from ramify._base.classifier import StagedClassifier
from ramify.apps.studies.data import Rows, StudyData, load_data, split_rows
from ramify.apps.studies.models import build, choose_parameters, label_sets
from ramify.apps.studies.plan import Cell, CurveSpec, MeasureSpec, Study
from ramify.apps.studies.store import versions
from ramify.decision import nested_approximation
from ramify.inspection import export_text
from ramify.metrics import (
    get_scorer,
    get_scorer_names,
    label_imbalance,
    level_accuracy,
    overfit_score,
    record_fit,
)

_MOST_LINES = 200  # of the text of a model


def run_cell(study: Study, cell: Cell, key: str) -> dict[str, Any]:
    """Fit and measure the model of one cell; an error is recorded as its result."""
    record: dict[str, Any] = {
        "key": key,
        "dataset": cell.data.name,
        "model": cell.model.name,
        "repeat": cell.repeat,
        "fold": cell.fold,
        "seed": cell.seed,
        "started": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "versions": versions(),
    }
    begin, begin_cpu = time.perf_counter(), time.process_time()
    forget_peak()
    try:
        # A cluster backend would distribute the parts of a model to other workers.
        with parallel_config("sequential"):
            found = {"status": "done", **_learn_and_measure(study, cell)}
    except Exception as error:
        found = {
            "status": "failed",
            "error": f"{type(error).__name__}: {error}",
            "traceback": traceback.format_exc(limit=-6),
        }
    return {
        **record,
        **found,
        "seconds": time.perf_counter() - begin,
        "cpu_seconds": time.process_time() - begin_cpu,
        "peak_memory_mb": peak_memory(),
    }


def _learn_and_measure(study: Study, cell: Cell) -> dict[str, Any]:
    data = load_data(cell.data)
    protocol = study.protocol_of(cell.data)
    train, test = split_rows(data, protocol, cell.repeat, cell.fold, study.seed)
    model = cell.model
    begin, begin_cpu = time.perf_counter(), time.process_time()
    chosen: dict[str, Any] = {}
    if model.tune is not None:
        chosen = choose_parameters(model, data, train, cell.seed)
        model = replace(model, parameters={**model.parameters, **chosen})
    tuning_seconds = time.perf_counter() - begin
    X_train = _safe_indexing(data.X, train)
    record = record_fit(build(model, data, cell.seed), X_train, data.y[train])
    cpu_seconds = time.process_time() - begin_cpu
    begin = time.perf_counter()
    predictions = Predictions.of(record.model, _safe_indexing(data.X, test), test, study.measures)
    predict_seconds = time.perf_counter() - begin
    again = [measure for measure in study.measures if measure.train]
    seen = Predictions.of(record.model, X_train, train, again)
    imbalance = label_imbalance(data.y[train])
    scores = _values(study.measures, data, predictions, imbalance)
    train_scores = _values(again, data, seen, imbalance)
    return {
        "scores": scores,
        "train_scores": train_scores,
        "overfit": {name: _lost(seen, scores[name]) for name, seen in train_scores.items()},
        "chosen": chosen,
        "fit_seconds": record.learning_time + tuning_seconds,
        "fit_cpu_seconds": cpu_seconds,
        "predict_seconds": predict_seconds,
        "complexity": record.complexity,
        "n_train": len(train),
        "n_test": len(test),
        "data": data.facts(),
        **_drawn(cell, FittedCell(record.model, data, train, test)),
    }


def _values(
    measures: Sequence[MeasureSpec], data: StudyData, predictions: Predictions, imbalance: float
) -> dict[str, float | None]:
    return {
        one.name: value_of(one.measure, one.options, data, predictions, imbalance)
        for one in measures
    }


def _drawn(cell: Cell, fitted: FittedCell) -> dict[str, Any]:
    """Return curves and the text of the model, if the study asks for them."""
    found: dict[str, Any] = {}
    points = {curve.name: curve_points(curve, fitted) for curve in cell.model.curves}
    if known := {name: one for name, one in points.items() if one is not None}:
        found["curves"] = known
    if cell.model.show and cell.repeat == cell.fold == 0:
        lines = export_text(fitted.model).splitlines()
        rest = [f"… {len(lines) - _MOST_LINES} more lines"] if len(lines) > _MOST_LINES else []
        found["text"] = "\n".join([*lines[:_MOST_LINES], *rest])
    return found


def _lost(seen: float | None, unseen: float | None) -> float | None:
    return None if seen is None or unseen is None else overfit_score(seen, unseen)


def forget_peak() -> None:
    """Reset the record of peak memory, if the operating system supports it."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return


def peak_memory() -> float:
    """Return the peak memory of this process in megabytes since `forget_peak`."""
    try:
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    if sys.platform == "win32":
        return float("nan")
    import resource  # noqa: PLC0415 (not on Windows)

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (2**20 if sys.platform == "darwin" else 2**10)


# ---- scores ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Predictions:
    """Probabilities and label sets of some rows, as far as the measures need them."""

    rows: Rows  # row numbers
    scores: Any  # probabilities and label sets
    sets: Any

    @classmethod
    def of(cls, model: Any, X: Any, rows: Rows, measures: Sequence[MeasureSpec]) -> Predictions:
        """Predict what the measures need."""
        needed = {scorer_of(measure.measure).of_scores for measure in measures}
        scores = model.predict_proba(X) if True in needed else None
        return cls(rows, scores, label_sets(model, X) if False in needed else None)


def scorer_of(measure: str) -> Any:
    """Return the scorer of a measure, whether it is a score or a loss.

    >>> scorer_of("hmc_loss").sign
    -1
    """
    return get_scorer(measure if measure in get_scorer_names() else f"neg_{measure}")


def value_of(
    measure: str,
    options: Mapping[str, Any],
    data: StudyData,
    predictions: Predictions,
    imbalance: float,
) -> float | None:
    """Return the value of a measure; None where it is not defined, since JSON has no NaN."""
    scorer = scorer_of(measure)
    given = {name: imbalance if one == "imbalance" else one for name, one in options.items()}
    thresholds = given.get("thresholds")
    if isinstance(thresholds, int):
        given["thresholds"] = np.arange(thresholds) / (thresholds - 1)
    predicted = predictions.scores if scorer.of_scores else predictions.sets
    truth = data.y[predictions.rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        value = float(scorer.measure(truth, predicted, hierarchy=data.hierarchy, **given))
    return value if np.isfinite(value) else None


def higher_is_better(measure: MeasureSpec) -> bool:
    """Return whether the largest value is the best."""
    return bool(scorer_of(measure.measure).sign > 0)


# ---- points of curves -----------------------------------------------------------------------


Points = tuple[list[float], list[float | None]]


@dataclass(frozen=True)
class FittedCell:
    """A fitted model with the rows it was trained on and those it is tested on."""

    model: Any  # A fitted model
    data: StudyData  # the data set
    train: Rows  # row numbers
    test: Rows


def curve_points(curve: CurveSpec, cell: FittedCell) -> dict[str, Any] | None:
    """Return the points of a curve."""
    test = cell.test if curve.rows is None else cell.test[: curve.rows]
    cell = FittedCell(cell.model, cell.data, cell.train, test)
    points = _POINTS[curve.over](curve, cell)
    return None if points is None else {"x": points[0], "y": points[1]}


def _over_stages(curve: CurveSpec, cell: FittedCell) -> Points | None:
    """Measure after some rounds, and after the last."""
    of_scores = scorer_of(curve.measure).of_scores
    staged = getattr(cell.model, "staged_predict_proba" if of_scores else "staged_predict", None)
    if staged is None:
        return None
    if not of_scores and isinstance(cell.model, StagedClassifier):
        staged = partial(staged, decide="separately")
    xs: list[float] = []
    ys: list[float | None] = []
    stage, predicted = 0, None
    for stage, predicted in enumerate(staged(_safe_indexing(cell.data.X, cell.test)), start=1):
        if stage in curve.values:
            xs.append(stage)
            ys.append(_value(curve, cell, predicted))
    if stage and stage not in curve.values:
        xs.append(stage)
        ys.append(_value(curve, cell, predicted))
    return xs, ys


def _over_option(curve: CurveSpec, cell: FittedCell) -> Points | None:
    """Measure at several values of an option; models that have it as a parameter follow it."""
    follows = hasattr(cell.model, "get_params") and hasattr(cell.model, "estimator_")
    follows = follows and curve.option in cell.model.get_params(deep=False)
    fixed = None if follows else _predicted(curve, cell.model, cell)
    ys = []
    for value in curve.values:
        model = _told(cell, curve.option, value) if follows else cell.model
        predicted = _predicted(curve, model, cell) if follows else fixed
        ys.append(_value(curve, cell, predicted, {curve.option: value}))
    return list(curve.values), ys


def _told(cell: FittedCell, option: str, value: float) -> Any:
    """Return the model with another value of a parameter; the one inside is not fitted again."""
    changed = {option: value, "estimator": FrozenEstimator(cell.model.estimator_)}
    model = clone(cell.model).set_params(**changed)
    return model.fit(_safe_indexing(cell.data.X, cell.train), cell.data.y[cell.train])


def _over_levels(curve: CurveSpec, cell: FittedCell) -> Points | None:
    data = cell.data
    predicted = label_sets(cell.model, _safe_indexing(data.X, cell.test))
    found = level_accuracy(data.y[cell.test], predicted, hierarchy=data.hierarchy)
    return list(range(1, len(found) + 1)), _finite(found)


def _over_leaves(curve: CurveSpec, cell: FittedCell) -> Points | None:
    """Count nested best sets by the probabilities and, if it has one, the objective of a model."""
    X = _safe_indexing(cell.data.X, cell.test)
    ks = [int(k) for k in curve.values]
    options: dict[str, Any] = {}
    if getattr(cell.model, "objective", "map") == "risk":
        scores = cell.model.predict_proba(X)
        options = {"objective": "risk", "alpha": cell.model.alpha_, "costs": cell.model.costs}
    else:
        inner = getattr(cell.model, "estimator_", cell.model)
        conditional = options["conditional"] = hasattr(inner, "predict_conditional_proba")
        scores = inner.predict_conditional_proba(X) if conditional else cell.model.predict_proba(X)
    found = nested_approximation(scores, cell.data.hierarchy, ks, **options)
    return found.k.tolist(), _finite(found.share)


def _predicted(curve: CurveSpec, model: Any, cell: FittedCell) -> Any:
    X = _safe_indexing(cell.data.X, cell.test)
    of_scores = scorer_of(curve.measure).of_scores
    return model.predict_proba(X) if of_scores else label_sets(model, X)


def _value(
    curve: CurveSpec, cell: FittedCell, predicted: Any, more: dict[str, Any] | None = None
) -> float | None:
    predictions = Predictions(cell.test, predicted, predicted)
    imbalance = label_imbalance(cell.data.y[cell.train])
    options = {**curve.options, **(more or {})}
    return value_of(curve.measure, options, cell.data, predictions, imbalance)


def _finite(values: Any) -> list[float | None]:
    return [float(value) if np.isfinite(value) else None for value in values]


_POINTS = {
    "stages": _over_stages,
    "option": _over_option,
    "levels": _over_levels,
    "nested": _over_leaves,
}
