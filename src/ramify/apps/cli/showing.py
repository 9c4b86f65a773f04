"""The demo: compare models on the bundled animals, and show what the best one predicts."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import typer

from ramify._messages import counted
from ramify.apps.studies.comparing import compare_folds
from ramify.apps.studies.data import load_data
from ramify.apps.studies.findings import score_table
from ramify.apps.studies.models import build, label_sets
from ramify.apps.studies.plan import Study
from ramify.apps.studies.reading import load_study
from ramify.apps.studies.reports.markdown import table_lines
from ramify.apps.studies.reports.writing import write_reports
from ramify.apps.studies.results import StudyResults
from ramify.apps.studies.running import run_study
from ramify.datasets import load_animals
from ramify.inspection import export_text
from ramify.io.files import writing_text
from ramify.trees.classifier import PCTClassifier

_N_SHOWN = 4
_TREE_DEPTH = 2


def write_demo(path: Path) -> None:
    """Run the demo, write its report and print it."""
    folder = path.parent / "animals"
    study = load_study("animals")
    results = run_study(study, folder)
    page = write_reports(folder)[0]
    text = "\n".join(_report(study, results))
    path.parent.mkdir(parents=True, exist_ok=True)
    with writing_text(path) as file:
        file.write(text)
    typer.echo(textwrap.dedent(text))
    typer.echo(f"Report: {path.resolve()}")
    typer.echo(f"Study as an HTML page: {page.resolve()}")


def _report(study: Study, results: StudyResults) -> Iterator[str]:
    animals = load_animals()
    yield "# ramify: first steps with the animals"
    yield ""
    yield from _data_lines(animals)
    yield ""
    yield "## Which model is best?"
    yield ""
    quantity = results.measures[0]
    yield from table_lines(score_table(results, quantity))
    yield ""
    yield (
        f"{quantity.title} (1 is perfect), {results.study['protocol']}, means over the folds. The "
        "baseline, label shares, predicts the same for every animal. The results are stored; "
        "running the demo again does not compute them again."
    )
    yield ""
    (comparison,) = compare_folds(results, quantity, "animals")
    yield comparison.words
    yield ""
    means = [results.mean(quantity.name, "animals", model.name) for model in study.models]
    best = study.models[int(np.nanargmax(means))]
    yield f"## What the best model, {best.title}, predicts"
    yield ""
    yield from _examples(animals, study, best)
    yield "## A tree to read"
    yield ""
    yield from _tree_lines(animals, best.title)


def _data_lines(animals: Any) -> Iterator[str]:
    hierarchy = animals.hierarchy
    missing = float(animals.X.isna().to_numpy().mean())
    yield (
        f"{animals.X.shape[0]} animals, {animals.X.shape[1]} traits ({len(animals.categories)} of "
        f"them nominal, {missing:.0%} of the values missing)."
    )
    yield (
        f"{hierarchy.n_labels} labels on {counted(hierarchy.depth, 'level')}, "
        f"{len(hierarchy.leaves)} of them leaves; {animals.y.sum() / animals.y.shape[0]:.1f} "
        "labels per animal, including ancestors:"
    )
    yield ""
    yield "```"
    yield hierarchy.to_text(max_labels=18).rstrip()
    yield "```"


def _examples(animals: Any, study: Study, best: Any) -> Iterator[str]:
    """Compare predictions of the best model with the labels of animals that it has not seen."""
    data = load_data(study.data[0])
    n_rows = data.y.shape[0]
    shown = np.linspace(0, n_rows - 1, _N_SHOWN + 2).astype(int)[1:-1]
    others = np.setdiff1d(np.arange(n_rows), shown)
    fitted = build(best, data, study.seed).fit(data.X[others], data.y[others])
    predicted = data.hierarchy.decode(label_sets(fitted, data.X[shown]))
    true = data.hierarchy.decode(data.y[shown])
    yield f"It was trained on the other {len(others)} animals."
    yield ""
    for row, labels, found in zip(shown.tolist(), true, predicted, strict=True):
        yield f"**{animals.names[row]}**"
        yield f"- true: {', '.join(map(str, labels))}"
        yield f"- predicted: {', '.join(map(str, found)) or '(no label is probable enough)'}"
        yield ""


def _tree_lines(animals: Any, best: str) -> Iterator[str]:
    tree = PCTClassifier(animals.hierarchy, min_samples_leaf=2).fit(animals.X, animals.y)
    others = "is weaker" if best != "one tree" else "is the best model here"
    leaves = counted(tree.get_n_leaves(), "leaf", "leaves")
    yield (
        f"A single tree {others}, but people can read it: why an animal gets its labels is a few "
        f"questions. This one, of all animals, has {leaves}; the first questions are:"
    )
    yield ""
    yield "```"
    yield export_text(tree, max_depth=_TREE_DEPTH).rstrip()
    yield "```"
    yield ""
