"""Cells of every study that are quick to compute and need no data set outside the package."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ramify import datasets
from ramify.apps.reading.settings import ReadingSettings
from ramify.apps.studies.cell import run_cell
from ramify.apps.studies.plan import Cell, DataSpec, Protocol
from ramify.studies import Study, load_study

STUDIES = ("animals", "bi2012", "brdt2015", "chelmis2021", "gjorgjioski", "levatic2015")
_ANIMALS = DataSpec("animals", "Animals", fetch="animals")
_ONE_PATH = DataSpec(
    "animals",
    "Animals",
    file=str(Path(datasets.__file__).with_name("animals.csv")),
    target="taxonomy",
    reading=ReadingSettings(drop=("animal", "habitat")),
)


def small_form(name: str) -> Study:
    """Return the quick form of a study on the animals, divided in three."""
    data = _ONE_PATH if name == "chelmis2021" else _ANIMALS
    return replace(load_study(name, quick=True), data=(data,), protocol=Protocol(folds=3))


def quick_cells(study: Study) -> Iterator[Cell]:
    """Yield the first cell of every model whose scores do not depend on scikit-learn."""
    for cell in study.cells(study.data[0]):
        inside = cell.model.inside
        foreign = inside is not None and inside.model.startswith("sklearn.")
        if cell.repeat == cell.fold == 0 and not foreign:
            yield cell


def compute_scores(name: str) -> dict[str, dict[str, float]]:
    """Return the scores of the quick cells of a study by model."""
    study = small_form(name)
    found = {}
    for cell in quick_cells(study):
        record = run_cell(study, cell, "key")
        assert record["status"] == "done", record["error"]
        found[cell.model.name] = record["scores"]
    return found
