"""Run a settings file: learn its models, evaluate them and write the files of CLUS."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from itertools import chain
from pathlib import Path

from ramify.clus.data import Rows
from ramify.clus.errors import SettingsError
from ramify.clus.evaluating import Evaluation, evaluate
from ramify.clus.inducing import learn
from ramify.clus.learned import Learned
from ramify.clus.problem import Problem, read_problem
from ramify.clus.settings import Settings
from ramify.clus.switches import Switches
from ramify.clus.targets.hierarchical import HierarchicalErrors, HierarchicalTarget
from ramify.clus.writers.curve_files import precision_recall_lines, roc_lines
from ramify.clus.writers.hierarchies import hierarchy_lines
from ramify.clus.writers.predictions import prediction_lines, shown_models
from ramify.clus.writers.results import header_lines, model_lines, statistics_lines
from ramify.io.files import writing_text

__all__ = ["run", "write_files"]

Files = dict[str, Iterable[str]]


def run(settings: Settings, switches: Switches) -> list[Path]:
    """Run a settings file.

    Parameters
    ----------
    settings : Settings
        The settings.
    switches : Switches
        The switches of the command line.

    Returns
    -------
    list of Path
        The files that were written. They are written at the end, all or none.
    """
    problem = read_problem(settings, switches)
    files = _single_run(problem)
    folder = settings.application.parent
    return write_files({folder / name: lines for name, lines in files.items()})


def _single_run(problem: Problem) -> Files:
    """Learn once; return the lines of each file by name."""
    name, settings = problem.settings.application.name, problem.settings
    learned = learn(problem, problem.train, problem.prune)
    parts = _evaluate_parts(problem, learned)
    files: Files = {f"{name}.out": _out_lines(problem, learned, parts, f"{name}.out")}
    if isinstance(problem.target, HierarchicalTarget):
        counts = learned.train.weights @ problem.target.truth(learned.train.y)
        files[f"{name}.hierarchy"] = hierarchy_lines(problem.target.labels, counts)
        if settings.yes_no("Output", "WriteCurves"):
            files |= _curve_files(problem.target, name, parts)
    wanted = settings.names("Output", "WritePredictions")
    for option, title, ending in (
        ("Train", "Training error", "train.1"),
        ("Test", "Testing error", "test"),
    ):
        if option in wanted and title in parts:
            lines = prediction_lines(problem.attributes, problem.target, [parts[title]])
            files[f"{name}.{ending}.pred.arff"] = lines
    return files


Parts = dict[str, tuple[Rows, Evaluation]]


def _evaluate_parts(problem: Problem, learned: Learned) -> Parts:
    sets = {
        "Training error": learned.train,
        "Validation error": learned.prune,
        "Testing error": problem.test,
    }
    return {
        title: (rows, evaluate(problem.target, learned.models, rows))
        for title, rows in sets.items()
        if rows is not None
    }


def _out_lines(problem: Problem, learned: Learned, parts: Parts, file_name: str) -> Iterable[str]:
    settings = problem.settings
    shown = {
        "Training error": settings.yes_no("Output", "TrainErrors"),
        "Validation error": settings.yes_no("Output", "ValidErrors"),
        "Testing error": settings.yes_no("Output", "TestErrors"),
    }
    with_errors = problem.target.calculates_errors(settings)
    errors = [
        found.lines(title, problem.target, errors=with_errors)
        for title, (_, found) in parts.items()
        if shown[title]
    ]
    return chain(
        header_lines(problem, file_name, learned),
        statistics_lines(problem, learned, 1),
        *errors,
        model_lines(problem, learned.shown),
    )


def _curve_files(target: HierarchicalTarget, name: str, parts: Parts) -> Files:
    files: Files = {}
    for title, ending in (("Training error", "train"), ("Testing error", "test")):
        if title in parts:
            found = parts[title][1]
            last = shown_models(found.models)[-1].name
            errors = HierarchicalErrors(found.truth, found.predicted[last], target.evaluated)
            names = target.labels.labels
            files[f"{name}.{ending}.pr.csv"] = precision_recall_lines(errors, names)
            files[f"{name}.{ending}.roc.csv"] = roc_lines(errors, names)
    return files


def write_files(files: dict[Path, Iterable[str]]) -> list[Path]:
    """Write text files; if one cannot be written, none is.

    Parameters
    ----------
    files : dict of Path to iterable of str
        The lines of each file.

    Returns
    -------
    list of Path
        The files.
    """
    for path in files:
        if path.is_dir():
            raise SettingsError(f"{path} must be a file, got a folder. Rename the settings file.")
    with ExitStack() as stack:
        for path, lines in files.items():
            stream = stack.enter_context(writing_text(path))
            stream.writelines(line + "\n" for line in lines)
    return list(files)
