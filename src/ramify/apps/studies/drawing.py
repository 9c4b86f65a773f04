"""Curves and model texts for the reports of a study."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ramify.apps.studies.findings import Table, TableCell
from ramify.apps.studies.results import StudyResults


@dataclass(frozen=True)
class Curve:
    """One curve of all models on one data set."""

    name: str  # name in files, title in reports, and title of the horizontal axis
    title: str
    x_title: str
    data: dict[str, Any]  # the data set
    log: bool  # whether the horizontal axis is logarithmic
    # The values of all folds, by the title of a model and by x.
    lines: dict[str, dict[float, list[float]]]

    def means(self) -> dict[str, list[tuple[float, float]]]:
        """Return the points of every model: x, and the mean over the folds that reach it."""
        return {
            model: [(x, float(np.mean(values))) for x, values in sorted(points.items())]
            for model, points in self.lines.items()
        }


def drawn_curves(results: StudyResults) -> list[Curve]:
    """Return the curves that have points."""
    found = []
    for curve in results.study.get("curves", ()):
        for data in results.datasets:
            lines = dict(_lines(results, curve["name"], data["name"]))
            if lines:
                names = (curve["name"], curve["title"], curve["x_title"])
                found.append(Curve(*names, data, curve["log"], lines))
    return found


def _lines(
    results: StudyResults, curve: str, data: str
) -> Iterator[tuple[str, dict[float, list[float]]]]:
    for model in results.models:
        points: dict[float, list[float]] = defaultdict(list)
        for cell in results.cells_of(data, model["name"]):
            own = cell.get("curves", {}).get(curve, {"x": [], "y": []})
            for x, y in zip(own["x"], own["y"], strict=True):
                if y is not None:
                    points[x].append(y)
        if points:
            yield model["title"], dict(points)


def curve_table(curve: Curve) -> Table:
    """Return a curve as a table.

    Examples
    --------
    >>> data = {"name": "d", "title": "Data"}
    >>> curve = Curve("loss", "loss", "rounds", data, False, {"boosting": {1: [0.5, 0.7]}})
    >>> curve_table(curve).rows[0][1][0].text
    '0.600'
    """
    means = {model: dict(points) for model, points in curve.means().items()}
    xs = sorted({x for points in means.values() for x in points})
    rows = [
        (
            f"{x:g}",
            [
                TableCell(f"{points[x]:.3f}", points[x]) if x in points else TableCell("–")
                for points in means.values()
            ],
        )
        for x in xs
    ]
    return Table(f"{curve.title}, {curve.data['title']}", [curve.x_title, *means], rows)


def model_texts(results: StudyResults, data: str) -> list[tuple[str, str]]:
    """Return the models of the first fold that the study shows as text."""
    return [
        (model["title"], cell["text"])
        for model in results.models
        for cell in results.cells_of(data, model["name"])
        if cell.get("text")
    ]
