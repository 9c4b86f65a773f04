"""The answers of a model for many shares of errors, for the slider of the page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify._messages import counted
from ramify.decision.guarantees import climb
from ramify.decision.paths import find_ends
from ramify.meta.selective import SelectiveClassifier
from ramify.metrics.answers import answer_curve, has_one_path

SHARES = (0.001, 0.002, 0.005, *(k / 100 for k in range(1, 51)))
"""The shares of errors of the slider."""
_DIGITS = 4


def describe_certainty(
    model: Any, scores: NDArray[np.float64] | None, truth: Any, shown: NDArray[np.intp]
) -> dict[str, Any] | None:
    """Return how many rows have an answer on each level, for many shares of errors.

    Without a promise, thresholds are chosen on labelled rows. None if there are neither, or if
    rows have several paths.
    """
    hierarchy = model.hierarchy_
    promised = isinstance(model, SelectiveClassifier) and model.errors_ == "wrong"
    if promised and scores is None:
        n_rows = len(model.confidences_)
        reached = model.answer_depths(max_errors=SHARES)
        return _described(f"{counted(n_rows, 'row')} of the calibration", promised, reached)
    has_truth = truth is not None and has_one_path(truth, hierarchy)
    if scores is None or not (promised or has_truth):
        return None
    answers = (
        model._answers_for(scores, SHARES)
        if promised
        else _answers_without_promise(model, scores, truth)
    )
    levels, n_levels = np.append(hierarchy.label_levels, 0), hierarchy.depth + 1
    rows = np.arange(len(scores))
    reached, wrong, of_shown = [], [], []
    for each in answers:
        ends = np.bincount(levels[each], minlength=n_levels)
        reached.append(ends[::-1].cumsum()[::-1][1:] / len(scores))
        of_shown.append(each[shown])
        if has_truth:
            is_true = np.asarray(truth[rows, np.maximum(each, 0)]).ravel() > 0
            wrong.append(((each >= 0) & ~is_true).mean())
    found = _described(counted(len(scores), "row"), promised, reached, wrong or None)
    return found | {"rows": [_changes(row) for row in np.stack(of_shown, axis=1)]}


def _answers_without_promise(
    model: Any, scores: NDArray[np.float64], truth: Any
) -> Iterator[NDArray[np.intp]]:
    hierarchy, ends = model.hierarchy_, getattr(model, "ends_", None)
    ends = find_ends(truth, hierarchy) if ends is None else ends
    table = answer_curve(truth, scores, hierarchy, candidates=ends).at_errors(SHARES)
    chains = climb(scores, ends, hierarchy)
    return (chains.answers(limit) for limit in table.columns["threshold"])


def _described(
    about: str, promised: bool, reached: Any, wrong: list[float] | None = None
) -> dict[str, Any]:
    return {
        "about": about,
        "promised": promised,
        "shares": list(SHARES),
        "reached": np.round(reached, _DIGITS).tolist(),
        "wrong": None if wrong is None else np.round(wrong, _DIGITS).tolist(),
        "start": SHARES.index(0.05),
    }


def _changes(answers: NDArray[np.intp]) -> list[list[int]]:
    """Return the positions at which the answer of a row changes, and the answers."""
    first = np.flatnonzero(np.diff(answers, prepend=-2))
    return [[int(k), int(answers[k])] for k in first]
