"""Files of results and of predictions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from ramify import _core
from ramify.apps.clus.data import Attributes, Rows
from ramify.apps.clus.estimator import bootstraps, f_test_levels, heuristic
from ramify.apps.clus.hierarchical_target import HierarchicalErrors
from ramify.apps.clus.measures import Counts
from ramify.apps.clus.models import Evaluation, Learned, Model, describe, join
from ramify.apps.clus.options import OPTIONS, SECTIONS
from ramify.apps.clus.problem import Problem, Target, features_drawn
from ramify.apps.clus.settings import Settings
from ramify.apps.clus.trees import leaf_numbers, print_tree, reached_leaves
from ramify.apps.clus.values import items, java_double, java_doubles, number, number_of

_ALWAYS = (
    *("General", "Data", "Attributes", "Constraints", "Nominal", "Model", "Tree"),
    *("SemiSupervised", "Output"),
)


def underlined(title: str, mark: str) -> list[str]:
    """Return a title, a line below it and an empty line."""
    return [title, mark * len(title), ""]


def header_lines(
    problem: Problem, file_name: str, learned: Learned, *, after: bool = True
) -> list[str]:
    """Return the date, attributes and settings that begin a file.

    CLUS writes the header of a cross-validation before it chooses a pruning method and a level of
    the F-test (`after` is False then).
    """
    attributes = problem.attributes
    now = datetime.now()  # local time, as in CLUS
    half = "AM" if now.hour < 12 else "PM"
    date = f"{now.month}/{now.day}/{now:%y}, {(now.hour - 1) % 12 + 1}:{now:%M} {half}"
    return [
        *underlined(f"Clus run {attributes.quoted_relation}", "*"),
        f"Date: {date}",
        f"File: {file_name}",
        f"Attributes: {len(attributes.names)} (input: {len(attributes.descriptive)}, "
        f"output: {len(attributes.target)})",
        f"Missing values: {'Yes' if problem.has_missing else 'No'}",
        "",
        *settings_lines(problem.settings, _effective(problem, learned, after), _sections(problem)),
    ]


def _sections(problem: Problem) -> list[str]:
    """Return the sections that CLUS prints: those of every run, and those that the file names."""
    kinds = {"Multilabel", "Hierarchical"}  # printed only for targets of this kind
    wanted = {*_ALWAYS, *(problem.settings.sections - kinds), problem.target.section}
    if problem.switches.forest:
        wanted.add("Ensemble")
    return [section for section in SECTIONS if section in wanted]


def _effective(
    problem: Problem, learned: Learned, after: bool
) -> dict[tuple[str, str], str | None]:
    """Return the values that depend on the data or on other options."""
    settings, attributes = problem.settings, problem.attributes
    found: dict[tuple[str, str], str | None] = {
        ("Attributes", "Target"): column_text(attributes.target),
        ("Attributes", "Clustering"): column_text(attributes.clustering),
        ("Attributes", "Descriptive"): column_text(attributes.descriptive),
        ("Attributes", "Disable"): column_text(
            sorted(set(attributes.disabled) - {*attributes.target, *attributes.key})
        ),
        ("General", "ResourceInfoLoaded"): "No",  # CLUS lacks the library for most systems
        ("Tree", "Heuristic"): heuristic(settings, problem.target.kind),
        ("Tree", "PruningMethod"): problem.target.pruning(problem, after=after),
    }
    chosen = after or len(f_test_levels(settings)) == 1
    found["Tree", "FTest"] = java_double(learned.f_test if chosen else 1.0)
    if not settings.text("Data", "File"):
        found["Data", "File"] = f"{settings.application}.arff"
    if found["Tree", "PruningMethod"] == "M5":
        found["Tree", "M5PruningMult"] = java_double(settings.number("Tree", "M5PruningMult"))
    if settings.text("Data", "PruneSet") != "None":
        found["Data", "PruneSetMax"] = settings.text("Data", "PruneSetMax")
    found |= problem.target.effective(settings)
    if problem.switches.forest:
        if len(attributes.clustering) == 1 and settings.names("Ensemble", "FeatureRanking"):
            found["Ensemble", "FeatureRankingPerTarget"] = "No"  # CLUS says so when it ranks
        found["Ensemble", "EnsembleBootstrapping"] = "Yes" if bootstraps(settings) else "No"
        found["Ensemble", "SelectRandomSubspaces"] = str(features_drawn(problem))
        found["Output", "WriteOOBFile"] = "Yes"
        if "RForest" in settings.names("Ensemble", "FeatureRanking"):
            found["Ensemble", "OOBestimate"] = "Yes"
    elif not settings.given("Ensemble", "Iterations"):
        found["Ensemble", "Iterations"] = "0"  # CLUS sets the default when it grows a forest
    return found


def statistics_lines(problem: Problem, learned: Learned, number_of_run: int) -> list[str]:
    """Return the statistics of a run: times and sizes of the models."""
    return [
        *underlined(f"Run: {number_of_run:02}", "*"),
        *underlined("Statistics", "-"),
        f"FTValue (FTest): {java_double(learned.f_test)}",
        f"Induction Time: {seconds(learned.seconds)} sec",
        f"Pruning Time: {seconds(learned.pruning_seconds)} sec",
        *prediction_time_lines("ClusModel.Original"),
        *model_information(problem, learned.models),
        *target_statistics(problem, learned.models),
    ]


def target_statistics(problem: Problem, models: Sequence[Model]) -> list[str]:
    """Return further lines about the models; CLUS leaves them out if Relief has a section."""
    return [] if "Relief" in problem.settings.sections else problem.target.statistics(models)


def prediction_time_lines(what: str) -> list[str]:
    """Return the prediction time, which CLUS does not measure."""
    return [
        f"Prediction Time (total for {what}): ",
        "\t0 microsecs",
        "\t0 millisecs",
        "\t0 secs",
        "Prediction Time (average for ClusModel.Original): 0 microsecs",
    ]


def model_information(problem: Problem, models: Iterable[Model]) -> list[str]:
    """Return the sizes of models."""
    members = problem.switches.forest and problem.settings.yes_no("Ensemble", "PrintAllModelInfo")
    lines = ["Model information:"]
    for model in models:
        lines += describe(model, members=members)
    return [*lines, ""]


def seconds(value: float) -> str:
    """Return a time in seconds, rounded to milliseconds."""
    return number(round(value, 3), 4)


def model_lines(problem: Problem, models: Iterable[Model]) -> Iterator[str]:
    """Yield the models as text."""
    print_all = problem.switches.forest and problem.settings.yes_no("Ensemble", "PrintAllModels")
    for model in models:
        yield from underlined(f"{model.name} Model", "*")
        if not model.is_forest:
            yield from _tree_lines(problem, model, 0)
        elif print_all:
            for at in range(len(model.trees)):
                yield f"Model {at + 1}: "
                yield ""
                yield from _tree_lines(problem, model, at)
            yield ""
        else:
            yield f"Forest with {model.n_reported} models"
            yield ""


def _tree_lines(problem: Problem, model: Model, at: int) -> Iterator[str]:
    leaf = problem.target.leaf_of(model)
    nary = not problem.settings.yes_no("Tree", "BinarySplit")
    note = _test_notes(problem, model, at)
    yield from print_tree(model.trees[at], problem.attributes, leaf, nary=nary, note=note)
    yield ""


def _test_notes(problem: Problem, model: Model, at: int) -> Callable[[int], str]:
    """Return the function that writes the shares of the first branch and of missing values."""
    branch = problem.settings.yes_no("Output", "BranchFrequency")
    unknown = problem.settings.yes_no("Output", "UnknownFrequency")
    tree = model.trees[at]

    def note(node: int) -> str:
        text = ""
        if branch:
            text += f" ({number(100 * float(tree.share[tree.child_indptr[node]]), 1)}%)"
        if unknown:
            text += f" (miss: {number(100 * float(model.unknown[at][node]), 1)}%)"
        return text

    return note


# ---- runs and cross-validations -------------------------------------------------------------


Parts = dict[str, tuple[Rows, Evaluation]]


@dataclass(frozen=True)
class Fold:
    """A fold of a cross-validation."""

    learned: Learned  # the models
    train: tuple[Rows, Evaluation]  # rows and predictions
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
        "Training error": join([fold.train[1] for fold in folds]).by_place(),
        "Testing error": join([fold.test[1] for fold in folds]).by_place(),
    }
    return chain(*lines, error_lines(problem, joined))


def _summary_lines(folds: Sequence[Fold]) -> list[str]:
    means = []
    for at, name in enumerate(("Default", "Original", "Pruned")[: len(folds[0].learned.models)]):
        if name != "Default":
            found = [fold.learned.models[at] for fold in folds]
            sizes = [len(m.trees) if m.is_forest else m.sizes[0].nodes for m in found]
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


# ---- the settings in effect, at the beginning of result files -------------------------------


# Options that CLUS reads but does not print unless they matter.
_HIDDEN = {
    ("General", "Compatibility"),
    ("Data", "PruneSetMax"),
    ("Tree", "M5PruningMult"),
    ("Tree", "1-SE-Rule"),
}
# Options that CLUS prints as parts of the option before them.
_INDENTED = {("Rules", f"{kind}Weight") for kind in ("Target", "NonTarget", "Numeric", "Nominal")}


def settings_lines(
    settings: Settings, effective: Mapping[tuple[str, str], str | None], sections: Sequence[str]
) -> list[str]:
    """Return the settings as CLUS prints them, with an empty line after each section."""
    lines: list[str] = []
    for section in sections:
        lines.append(f"[{section}]")
        for place, name in OPTIONS:
            if place != section:
                continue
            known = effective.get((section, name), "")
            if known is None or ((section, name) in _HIDDEN and not known):
                continue
            indent = "  " if (section, name) in _INDENTED else ""
            lines.append(f"{indent}{name} = {known or value_text(settings, section, name)}")
        lines.append("")
    return lines


def value_text(settings: Settings, section: str, name: str) -> str:
    """Return a value as CLUS prints it."""
    text = settings.text(section, name)
    if not settings.given(section, name):
        return text
    kind = OPTIONS[section, name].kind
    if kind == "choices":
        return f"[{', '.join(items(text))}]" if text != "None" else "[]"
    if kind == "limit":
        return "Infinity" if settings.limit(section, name) is None else text
    if kind in ("number", "numbers"):
        return _numbers_text(text)
    if kind == "integers":
        found = items(text)
        return f"[{','.join(found)}]" if text[:1] in "[{" else text
    return text


def _numbers_text(text: str) -> str:
    try:
        found = [number_of(item) for item in items(text)]
    except ValueError:
        return text
    return java_doubles(found) if text[:1] in ("[", "{") else java_double(found[0])


def column_text(columns: Sequence[int]) -> str:
    """Return columns, counted from 0, as a range of columns counted from 1.

    >>> column_text((1, 2, 3, 7)), column_text(())
    ('2-4,8', 'None')
    """
    parts: list[list[int]] = []
    for column in sorted(columns):
        if parts and parts[-1][1] == column - 1:
            parts[-1][1] = column
        else:
            parts.append([column, column])
    texts = [f"{a + 1}" if a == b else f"{a + 1}-{b + 1}" for a, b in parts]
    return ",".join(texts) or "None"


# ---- files of predictions -------------------------------------------------------------------


def prediction_lines(
    attributes: Attributes,
    target: Target,
    parts: Sequence[tuple[Rows, Evaluation]],
    *,
    folds: bool = False,
) -> Iterator[str]:
    """Yield the lines of a prediction file."""
    models = shown_models(parts[0][1].models)
    yield f"@RELATION '{attributes.relation}-predictions'"
    yield ""
    columns = [(attributes.names[at], "key") for at in attributes.key]
    columns += target.truth_columns()
    for model in models:
        columns += [*target.prediction_columns(model.name), (f"{model.name}-models", "string")]
    for name, kind in columns:
        yield f"@ATTRIBUTE {name:<64} {kind}"
    yield ""
    yield "@DATA"
    for at, (rows, found) in enumerate(parts):
        if folds:
            yield f"! Fold = {at}"
        yield from _data_lines(target, rows, found)


def shown_models(models: Sequence[Model]) -> list[Model]:
    """Return the models that prediction files contain."""
    return [model for model in models if model.name != "Default" and model.threshold is None]


def _data_lines(target: Target, rows: Rows, found: Evaluation) -> Iterator[str]:
    models = shown_models(found.models)
    cells = [target.prediction_cells(found.predicted[model.name]) for model in models]
    leaves = [leaf_cells(model, rows) for model in models]
    for at, truth in enumerate(target.truth_cells(rows.y)):
        line = [*rows.keys[at], *truth]
        for predicted, reached in zip(cells, leaves, strict=True):
            line += [*predicted[at], f'"{reached[at]}"']
        yield ",".join(line)


def leaf_cells(model: Model, rows: Rows) -> list[str]:
    """Return the leaves that rows reach; CLUS does not number the leaves of forests."""
    if not model.is_forest:
        numbers = leaf_numbers(model.trees[0])
        return [
            "+".join(str(numbers[node]) for node in nodes)
            for nodes in _ordered(model.trees[0], rows, numbers)
        ]
    texts = [""] * len(rows)
    for tree in model.trees:
        for at, nodes in enumerate(reached_leaves(tree, rows.X)):
            texts[at] += "+0" * len(nodes)
    return [text[1:] for text in texts]


def _ordered(tree: _core.Tree, rows: Rows, numbers: dict[int, int]) -> Iterator[list[int]]:
    for nodes in reached_leaves(tree, rows.X):
        yield sorted(nodes, key=lambda node: numbers[node])


# ---- points of curves -----------------------------------------------------------------------


def precision_recall_lines(errors: HierarchicalErrors, names: tuple[str, ...]) -> Iterator[str]:
    """Yield the lines of a file of precision-recall curves."""
    yield "Class,Recall,Precision"
    for title, counts in _curves(errors, names):
        yield from _points(title, *counts.precision_recall())


def roc_lines(errors: HierarchicalErrors, names: tuple[str, ...]) -> Iterator[str]:
    """Yield the lines of a file of ROC curves."""
    yield "Class,FP,TP"
    for title, counts in _curves(errors, names):
        yield from _points(title, *counts.roc())


def _curves(errors: HierarchicalErrors, names: tuple[str, ...]) -> Iterator[tuple[str, Counts]]:
    for at, counts in zip(errors.chosen, errors.counts, strict=True):
        yield f'"{names[at]}"', counts
    yield "ALL", errors.pooled


def _points(title: str, x: NDArray[np.float64], y: NDArray[np.float64]) -> Iterator[str]:
    for a, b in zip(x.tolist(), y.tolist(), strict=True):
        yield f"{title},{java_double(a)},{java_double(b)}"
