"""Run a settings file: learn its models, evaluate them and write the files of CLUS."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ramify.apps.clus.data import take_rows
from ramify.apps.clus.errors import SettingsError
from ramify.apps.clus.forest_files import forest_files, hierarchy_lines
from ramify.apps.clus.hierarchical_target import HierarchicalErrors, HierarchicalTarget
from ramify.apps.clus.learning import learn
from ramify.apps.clus.models import Learned, evaluate, join
from ramify.apps.clus.options import Switches
from ramify.apps.clus.problem import Problem, check_run, read_problem
from ramify.apps.clus.result_files import (
    Fold,
    Parts,
    precision_recall_lines,
    prediction_lines,
    result_lines,
    roc_lines,
    shown_models,
    validation_lines,
)
from ramify.apps.clus.settings import Settings
from ramify.io.files import writing_text
from ramify.trees.clus import clus_folds

Files = dict[str, Iterable[str]]

_COMPRESSED = (".out", ".xval", ".oob", ".arff")  # the files that GzipOutput compresses


def run(settings: Settings, switches: Switches) -> list[Path]:
    """Run a settings file."""
    _check_place(settings)
    problem = read_problem(settings, switches)
    check_run(problem)
    files = cross_validate(problem) if switches.xval else _single_run(problem)
    folder = settings.application.parent
    ending = ".gz" if settings.yes_no("Output", "GzipOutput") else ""
    return write_files(
        {
            folder / (name + ending if name.endswith(_COMPRESSED) else name): lines
            for name, lines in files.items()
        }
    )


def _check_place(settings: Settings) -> None:
    """Raise an error if results cannot be written, before anything is learnt."""
    folder = settings.application.parent
    for ending in (".out", ".out.gz"):
        _check_file(folder / f"{settings.application.name}{ending}")
    if not os.access(folder, os.W_OK):
        raise SettingsError(
            f"{folder}: the folder of the settings file must be writable, because the results are "
            "written there. Copy the file to another folder."
        )


def _check_file(path: Path) -> None:
    if path.is_dir():
        raise SettingsError(f"{path} must be a file, got a folder. Rename the settings file.")


def _single_run(problem: Problem) -> Files:
    """Learn once; return the lines of each file by name."""
    name, settings = problem.settings.application.name, problem.settings
    learned = learn(problem, problem.train, problem.prune)
    parts = _evaluate_parts(problem, learned)
    files: Files = {f"{name}.out": result_lines(problem, learned, parts, f"{name}.out")}
    files |= _extra_files(problem, learned, parts)
    wanted = settings.names("Output", "WritePredictions")
    for option, title, ending in (
        ("Train", "Training error", "train.1"),
        ("Test", "Testing error", "test"),
    ):
        # CLUS predicts the rows while it computes their errors.
        predicts = settings.yes_no("Output", f"{option}Errors")
        if option in wanted and predicts and title in parts:
            lines = prediction_lines(problem.attributes, problem.target, [parts[title]])
            files[f"{name}.{ending}.pred.arff"] = lines
    return files


def cross_validate(problem: Problem) -> Files:
    """Cross-validate, and learn on all rows; return the lines of each file by name."""
    name, settings = problem.settings.application.name, problem.settings
    every = np.arange(len(problem.train), dtype=np.int64)
    folds: list[Fold] = []
    for test in _test_rows(settings, len(problem.train)):
        seen = take_rows(problem.train, np.setdiff1d(every, test))
        unseen = take_rows(problem.train, test)
        learned = learn(problem, seen, None)
        train = evaluate(problem.target, learned.models, seen)
        folds.append(
            Fold(
                learned, (seen, train), (unseen, evaluate(problem.target, learned.models, unseen))
            )
        )
    whole = learn(problem, problem.train, None)
    trained = evaluate(problem.target, whole.models, problem.train)
    parts = {
        "Training error": (problem.train, trained),
        "Testing error": (problem.train, join([fold.test[1] for fold in folds])),
    }
    files: Files = {
        f"{name}.out": result_lines(problem, whole, parts, f"{name}.out"),
        f"{name}.xval": validation_lines(problem, folds, f"{name}.xval"),
    }
    files |= _extra_files(problem, whole, parts)
    wanted = settings.names("Output", "WritePredictions")
    if "Test" in wanted:
        lines = prediction_lines(
            problem.attributes, problem.target, [fold.test for fold in folds], folds=True
        )
        files[f"{name}.test.pred.arff"] = lines
    if "Train" in wanted and settings.yes_no("Output", "TrainErrors"):
        # The file of the first fold is overwritten with that of the model of all rows.
        trains = [parts["Training error"], *(fold.train for fold in folds[1:])]
        for at, found in enumerate(trains, 1):
            lines = prediction_lines(problem.attributes, problem.target, [found])
            files[f"{name}.train.{at}.pred.arff"] = lines
    return files


def _test_rows(settings: Settings, n_rows: int) -> list[NDArray[np.int64]]:
    """Return the test rows of each fold."""
    if settings.text("Data", "XVal") == "LOO":
        return list(np.arange(n_rows, dtype=np.int64)[:, None])
    n_folds = settings.integer("Data", "XVal")
    return clus_folds(n_rows, n_folds, settings.integer("General", "RandomSeed"))


def _extra_files(problem: Problem, learned: Learned, parts: Parts) -> Files:
    """Return the files about the labels, the curves and the forest."""
    name, settings = problem.settings.application.name, problem.settings
    files: Files = {}
    if isinstance(problem.target, HierarchicalTarget):
        counts = learned.train.weights @ problem.target.truth(learned.train.y)
        weighted = settings.text("Hierarchical", "WType") != "NoWeight"
        if not problem.switches.ssl:  # CLUS writes no such file then
            lines = hierarchy_lines(problem.target.labels, counts, weighted=weighted)
            files[f"{name}.hierarchy"] = lines
        if settings.yes_no("Output", "WriteCurves"):
            files |= _curve_files(problem.target, name, parts)
    if problem.switches.forest:
        files |= forest_files(problem, learned)
    return files


def _evaluate_parts(problem: Problem, learned: Learned) -> Parts:
    sets = {
        "Training error": learned.train,
        "Validation error": learned.prune,
        "Testing error": problem.test,
    }
    if problem.switches.ssl and problem.test is None:  # CLUS then reports errors of no row
        sets["Testing error"] = take_rows(learned.train, np.empty(0, dtype=np.int64))
    return {
        title: (rows, evaluate(problem.target, learned.models, rows))
        for title, rows in sets.items()
        if rows is not None
    }


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
    """Write text files; if one cannot be written, none is."""
    for path in files:
        _check_file(path)
    with ExitStack() as stack:
        for path, lines in files.items():
            stream = stack.enter_context(writing_text(path))
            stream.writelines(line + "\n" for line in lines)
    return list(files)
