"""The results of a study as CSV: cells, means and curves."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

import numpy as np

from ramify.studies.drawing import drawn_curves
from ramify.studies.results import StudyResults

__all__ = ["to_cells_csv", "to_curves_csv", "to_scores_csv"]

_PLACE = ("dataset", "model", "repeat", "fold", "seed", "n_train", "n_test", "started", "key")


def to_scores_csv(results: StudyResults) -> str:
    """Write means and standard deviations.

    Parameters
    ----------
    results : StudyResults
        Stored results.

    Returns
    -------
    str
        Columns dataset, model, quantity, mean, std, n_folds, published.
    """
    return _csv(
        ["dataset", "model", "quantity", "mean", "std", "n_folds", "published"],
        _means(results),
    )


def _means(results: StudyResults) -> Iterator[Any]:
    published = results.published
    for data in results.datasets:
        for model in results.models:
            for quantity in (*results.measures, *results.costs):
                place = (quantity.name, data["name"], model["name"])
                values = results.folds(*place)
                n_folds = int(np.isfinite(values).sum())
                if n_folds:
                    yield [
                        data["name"],
                        model["name"],
                        quantity.name,
                        results.mean(*place),
                        _known(results.spread(*place)),
                        n_folds,
                        published.get((data["name"], model["name"], quantity.name), ""),
                    ]


def _known(value: float) -> float | str:
    return value if np.isfinite(value) else ""


def to_cells_csv(results: StudyResults) -> str:
    """Write every cell with all its values.

    Parameters
    ----------
    results : StudyResults
        Stored results.

    Returns
    -------
    str
        A row for each cell, including failures.
    """
    measures = [one.name for one in results.measures]
    costs = ("fit_seconds", "fit_cpu_seconds", "predict_seconds", "complexity", "peak_memory_mb")
    header = [*_PLACE, "status", *measures, *(f"overfit:{name}" for name in measures), *costs]
    rows = (
        [
            *(cell.get(name, "") for name in _PLACE),
            cell["status"],
            *(cell.get("scores", {}).get(name, "") for name in measures),
            *(cell.get("overfit", {}).get(name, "") for name in measures),
            *(cell.get(name, "") for name in costs),
            cell.get("error", ""),
        ]
        for cell in (*results.cells, *results.failures)
    )
    return _csv([*header, "error"], rows)


def to_curves_csv(results: StudyResults) -> str:
    """Write the points of all curves.

    Parameters
    ----------
    results : StudyResults
        Stored results.

    Returns
    -------
    str
        Columns dataset, model, curve, x, mean, n_folds.
    """
    rows = (
        [curve.data["name"], model, curve.name, x, float(np.mean(values)), len(values)]
        for curve in drawn_curves(results)
        for model, points in curve.lines.items()
        for x, values in sorted(points.items())
    )
    return _csv(["dataset", "model", "curve", "x", "mean", "n_folds"], rows)


def _csv(header: list[str], rows: Any) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return file.getvalue()
