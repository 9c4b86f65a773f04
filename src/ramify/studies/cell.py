"""One cell of a study: learn, measure, and record what it cost."""

from __future__ import annotations

import sys
import time
import traceback
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np
from joblib import parallel_config
from sklearn.exceptions import UndefinedMetricWarning

from ramify.metrics import (
    get_scorer,
    get_scorer_names,
    label_imbalance,
    overfit_score,
    record_fit,
)
from ramify.studies.data import Rows, StudyData, load_data, split_rows
from ramify.studies.identity import versions
from ramify.studies.models import build, choose_parameters, label_sets, take
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
        # A cluster's backend would send the parts of a model on to other workers.
        with parallel_config("sequential"):
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
    answers = _Answers.of(record.model, take(data.X, test), test, study.measures)
    predict_seconds = time.perf_counter() - begin
    again = [measure for measure in study.measures if measure.train]
    seen = _Answers.of(record.model, X_train, train, again)
    imbalance = label_imbalance(data.y[train])
    scores = {one.name: _measure(one, data, answers, imbalance) for one in study.measures}
    train_scores = {one.name: _measure(one, data, seen, imbalance) for one in again}
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
    }


@dataclass(frozen=True)
class _Answers:
    """What a model says of some rows: probabilities and label sets, as far as measures ask."""

    rows: Rows
    scores: Any
    sets: Any

    @classmethod
    def of(cls, model: Any, X: Any, rows: Rows, measures: Sequence[MeasureSpec]) -> _Answers:
        asked = {get_scorer(_scorer_name(measure)).of_scores for measure in measures}
        scores = model.predict_proba(X) if True in asked else None
        return cls(rows, scores, label_sets(model, X) if False in asked else None)


def _lost(seen: float | None, unseen: float | None) -> float | None:
    return None if seen is None or unseen is None else overfit_score(seen, unseen)


def _measure(
    measure: MeasureSpec, data: StudyData, answers: _Answers, imbalance: float
) -> float | None:
    """Return a figure; None where it is not defined, for JSON has no NaN."""
    scorer = get_scorer(_scorer_name(measure))
    options = {
        name: imbalance if value == "imbalance" else value
        for name, value in measure.options.items()
    }
    thresholds = options.get("thresholds")
    if isinstance(thresholds, int):
        options["thresholds"] = np.arange(thresholds) / (thresholds - 1)
    answer = answers.scores if scorer.of_scores else answers.sets
    truth = data.y[answers.rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        value = float(scorer.measure(truth, answer, hierarchy=data.hierarchy, **options))
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
