"""Run one cell of a study: fit a model, measure it, and record time, size and memory."""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from joblib import parallel_config

from ramify.apps.studies.data import StudyData, load_data, split_rows
from ramify.apps.studies.identity import versions
from ramify.apps.studies.measuring import FittedCell, Predictions, curve_points, value_of
from ramify.apps.studies.models import build, choose_parameters, take
from ramify.apps.studies.plan import Cell, MeasureSpec, Study
from ramify.inspection import export_text
from ramify.metrics import label_imbalance, overfit_score, record_fit

__all__ = [
    "run_cell",
]


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
    X_train = take(data.X, train)
    record = record_fit(build(model, data, cell.seed), X_train, data.y[train])
    cpu_seconds = time.process_time() - begin_cpu
    begin = time.perf_counter()
    predictions = Predictions.of(record.model, take(data.X, test), test, study.measures)
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
