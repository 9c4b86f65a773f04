"""One cell of a study: learn, measure, and record what it cost."""

from __future__ import annotations

import sys
import time
import traceback
import warnings
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from ramify.metrics import get_scorer, get_scorer_names, overfit_score, record_fit
from ramify.studies.data import Rows, StudyData, load_data, split_rows
from ramify.studies.identity import versions
from ramify.studies.models import build, choose_parameters, take
from ramify.studies.plan import Cell, MeasureSpec, Study

__all__ = ["higher_is_better", "run_cell"]


def run_cell(study: Study, cell: Cell, key: str) -> dict[str, Any]:
    """Learn and measure one cell; an error becomes its result.

    Parameters
    ----------
    study : Study
        Its protocol and measures.
    cell : Cell
        Which model on which part of which data.
    key : str
        The checksum of all that the result depends on.

    Returns
    -------
    dict
        Ready for JSON; "status" is "done" or "failed".
    """
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
    begin = time.perf_counter()
    forget_peak()
    try:
        found = {"status": "done", **_learn_and_measure(study, cell)}
    except Exception as error:
        found = {
            "status": "failed",
            "error": f"{type(error).__name__}: {error}",
            "traceback": traceback.format_exc(limit=-6),
        }
    seconds = time.perf_counter() - begin
    return {**record, **found, "seconds": seconds, "peak_memory_mb": peak_memory()}


def _learn_and_measure(study: Study, cell: Cell) -> dict[str, Any]:
    data = load_data(cell.data)
    train, test = split_rows(data, study.protocol, cell.repeat, cell.fold, study.seed)
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
    scores = record.model.predict_proba(take(data.X, test))
    predict_seconds = time.perf_counter() - begin
    train_scores = None
    if any(measure.train for measure in study.measures):
        train_scores = record.model.predict_proba(X_train)
    return {
        "scores": _measured(study, data, test, scores),
        **_overfit(study, data, (train, train_scores), (test, scores)),
        "chosen": chosen,
        "fit_seconds": record.learning_time + tuning_seconds,
        "fit_cpu_seconds": cpu_seconds,
        "predict_seconds": predict_seconds,
        "complexity": record.complexity,
        "n_train": len(train),
        "n_test": len(test),
        "data": data.facts(),
    }


def _measured(study: Study, data: StudyData, rows: Rows, scores: Any) -> dict[str, float | None]:
    return {one.name: _measure(one, data, rows, scores) for one in study.measures}


def _overfit(
    study: Study, data: StudyData, train: tuple[Rows, Any], test: tuple[Rows, Any]
) -> dict[str, dict[str, float | None]]:
    found: dict[str, dict[str, float | None]] = {"train_scores": {}, "overfit": {}}
    for measure in study.measures:
        if measure.train:
            seen, unseen = _measure(measure, data, *train), _measure(measure, data, *test)
            found["train_scores"][measure.name] = seen
            lost = None if seen is None or unseen is None else overfit_score(seen, unseen)
            found["overfit"][measure.name] = lost
    return found


def _measure(measure: MeasureSpec, data: StudyData, rows: Rows, scores: Any) -> float | None:
    """Return a figure; None where it is not defined, for JSON has no NaN."""
    scorer = get_scorer(_scorer_name(measure))
    options = dict(measure.options)
    thresholds = options.get("thresholds")
    if isinstance(thresholds, int):
        options["thresholds"] = np.arange(thresholds) / (thresholds - 1)
    answer = scores if scorer.of_scores else (scores >= 0.5).astype(np.int32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        value = float(scorer.measure(data.y[rows], answer, hierarchy=data.hierarchy, **options))
    return value if np.isfinite(value) else None


def _scorer_name(measure: MeasureSpec) -> str:
    name = measure.measure
    return name if name in get_scorer_names() else f"neg_{name}"


def higher_is_better(measure: MeasureSpec) -> bool:
    """Tell whether the largest value is the best.

    Parameters
    ----------
    measure : MeasureSpec
        The measure.

    Returns
    -------
    bool
        False for losses.
    """
    return get_scorer(_scorer_name(measure)).sign > 0


def forget_peak() -> None:
    """Start a new record of the most memory used, where the operating system can."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return


def peak_memory() -> float:
    """Return the most memory that this process has used, in megabytes, since `forget_peak`.

    Returns
    -------
    float
        Since the process began where the operating system cannot forget.
    """
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
