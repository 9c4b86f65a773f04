"""The result files of single runs and of cross-validations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from ramify.clus.data import Rows
from ramify.clus.evaluating import Evaluation, join
from ramify.clus.learned import Learned
from ramify.clus.numbers import number
from ramify.clus.problem import Problem
from ramify.clus.writers.results import (
    header_lines,
    model_lines,
    prediction_time_lines,
    seconds,
    statistics_lines,
    underlined,
)

__all__ = ["Fold", "Parts", "result_lines", "validation_lines"]

Parts = dict[str, tuple[Rows, Evaluation]]


@dataclass(frozen=True)
class Fold:
    """A fold of a cross-validation.

    Attributes
    ----------
    learned : Learned
        The models.
    train, test : tuple (Rows, Evaluation)
        Rows and predictions.
    """

    learned: Learned
    train: tuple[Rows, Evaluation]
    test: tuple[Rows, Evaluation]


def result_lines(
    problem: Problem, learned: Learned, parts: Parts, file_name: str
) -> Iterable[str]:
    """Return the lines of the result file of a run."""
    return chain(
        header_lines(problem, file_name, learned),
        statistics_lines(problem, learned, 1),
        error_lines(problem, {title: found for title, (_, found) in parts.items()}),
        model_lines(problem, learned.shown),
    )


def validation_lines(problem: Problem, folds: Sequence[Fold], file_name: str) -> Iterable[str]:
    """Return the lines of the result file of a cross-validation."""
    lines: list[Iterable[str]] = [header_lines(problem, file_name, folds[0].learned, after=False)]
    all_errors = problem.settings.yes_no("Output", "AllFoldErrors")
    for at, fold in enumerate(folds, 1):
        lines.append(statistics_lines(problem, fold.learned, at))
        if all_errors:
            lines.append(error_lines(problem, {"Testing error": fold.test[1]}))
        if problem.settings.yes_no("Output", "AllFoldModels"):
            lines.append(model_lines(problem, fold.learned.shown))
    lines.append(_summary_lines(folds))
    joined = {
        "Training error": join([fold.train[1] for fold in folds]).renamed("Original"),
        "Testing error": join([fold.test[1] for fold in folds]).renamed("Original"),
    }
    return chain(*lines, error_lines(problem, joined))


def _summary_lines(folds: Sequence[Fold]) -> list[str]:
    means = []
    for at, model in enumerate(folds[0].learned.models):
        if model.name != "Default" and model.threshold is None:
            found = [fold.learned.models[at] for fold in folds]
            sizes = [len(m.trees) if m.is_forest else m.sizes[0].nodes for m in found]
            name = "Original" if model.is_forest else model.name
            means.append(f"     {name}: {number(sum(sizes) / len(sizes), 1)}")
    return [
        *underlined("Summary", "*"),
        f"Runs: {len(folds)}",
        f"Induction time: {seconds(sum(fold.learned.seconds for fold in folds))} sec",
        "Preprocessing time: 0 sec",
        *prediction_time_lines(f"ClusModel.Original, {len(folds)} runs, 0 examples"),
        "Mean number of tests",
        *means,
        "",
    ]


def error_lines(problem: Problem, parts: dict[str, Evaluation]) -> list[str]:
    """Return the error sections that the settings ask for."""
    settings = problem.settings
    shown = {
        "Training error": settings.yes_no("Output", "TrainErrors"),
        "Validation error": settings.yes_no("Output", "ValidErrors"),
        "Testing error": settings.yes_no("Output", "TestErrors"),
    }
    with_errors = problem.target.calculates_errors(settings)
    return [
        line
        for title, found in parts.items()
        if shown[title]
        for line in found.lines(title, problem.target, errors=with_errors)
    ]
