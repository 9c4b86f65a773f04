"""Content of the reports, independent of their format: tables, sentences and curves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ramify.apps.studies.claims import Quantity
from ramify.apps.studies.comparing import join
from ramify.apps.studies.results import StudyResults
from ramify.stats.scores import rank_rows

_NAMED = 8  # data sets that a headline names one by one
_WIDE = 8  # columns that fit on a page


@dataclass(frozen=True)
class TableCell:
    """A cell of a table: text, value, and whether it is the best of its column."""

    text: str
    value: float = float("nan")
    best: bool = False
    marked: bool = False


@dataclass(frozen=True)
class Table:
    """A table with named rows."""

    title: str  # title of the table
    header: list[str]  # titles of the columns; the first column has the names
    rows: list[tuple[str, list[TableCell]]]  # name and cells

    @property
    def is_wide(self) -> bool:
        """Whether the table is easier to read transposed."""
        return len(self.header) > _WIDE and len(self.header) > len(self.rows)

    def upright(self) -> Table:
        """Return the table, transposed if it is wide."""
        if not self.is_wide:
            return self
        columns = zip(*(cells for _, cells in self.rows), strict=True)
        rows = [(name, list(cells)) for name, cells in zip(self.header[1:], columns, strict=True)]
        return Table(self.title, ["", *(name for name, _ in self.rows)], rows)


def score_table(results: StudyResults, quantity: Quantity) -> Table:
    """Return a table of models by data sets: means, standard deviations and average ranks."""
    data = results.datasets
    columns = [_score_column(results, quantity, one["name"]) for one in data]
    header = ["model", *short_titles(results)]
    if len(data) > 1 and quantity.kind != "megabytes":
        header.append("average rank")
        columns.append(_rank_column(results, quantity))
    titles = [model["title"] for model in results.models]
    rows = [list(row) for row in zip(*columns, strict=True)]
    return Table(titled(results, quantity.title), header, list(zip(titles, rows, strict=True)))


def titled(results: StudyResults, text: str) -> str:
    """Return a title followed by the family of data sets."""
    return f"{text}, {results.family}" if results.family else text


def short_titles(results: StudyResults) -> list[str]:
    """Return the titles of data sets without the name of their family."""
    return [data["title"].removesuffix(f", {results.family}") for data in results.datasets]


def _score_column(results: StudyResults, quantity: Quantity, data: str) -> list[TableCell]:
    cells = []
    for model in results.models:
        mean = results.mean(quantity.name, data, model["name"])
        spread = results.spread(quantity.name, data, model["name"])
        text = quantity.show(mean)
        if quantity.kind == "score" and np.isfinite(spread):
            text += f" ± {spread:.3f}"
        if np.isfinite(mean) and not results.complete(data, model["name"]):
            text += f" ({len(results.folds(quantity.name, data, model['name']))} folds)"
        cells.append(TableCell(text, mean))
    return _mark_best(cells, quantity)


def _mark_best(cells: list[TableCell], quantity: Quantity) -> list[TableCell]:
    """Mark the best cells; means with equal text are ties."""
    values = [cell.value for cell in cells if np.isfinite(cell.value)]
    if not values or quantity.kind == "megabytes":  # mostly that of Python itself
        return cells
    best = quantity.show(max(values) if quantity.higher_is_better else min(values))
    return [TableCell(cell.text, cell.value, quantity.show(cell.value) == best) for cell in cells]


def _rank_column(results: StudyResults, quantity: Quantity) -> list[TableCell]:
    names = [model["name"] for model in results.models]
    values = np.array(
        [
            [results.mean(quantity.name, data["name"], name) for name in names]
            for data in results.datasets
        ]
    )
    values = values[~np.isnan(values).any(axis=1)]
    if not len(values):
        return [TableCell("–") for _ in names]
    sign = 1 if quantity.higher_is_better else -1
    ranks = rank_rows(sign * values).mean(axis=0)
    best = ranks.min()
    return [TableCell(f"{rank:.2f}", float(rank), bool(rank == best)) for rank in ranks]


def data_table(results: StudyResults) -> Table:
    """Return a table of the sizes of the data sets."""
    titles = {
        **{name: name for name in ("rows", "features", "labels", "leaves", "levels")},
        "leaf_labels_per_row": "leaf labels per row",
    }
    rows = []
    for data in results.datasets:
        facts = next(cell["data"] for cell in results.cells if cell["dataset"] == data["name"])
        cells = []
        for name in titles:
            theirs = results.published.get((data["name"], "", name))
            text = _fact(facts[name], name)
            text += "" if theirs is None else f" ({_fact(theirs, name)})"
            cells.append(TableCell(text, facts[name]))
        rows.append((data["title"], cells))
    return Table("The data", ["data set", *titles.values()], rows)


def _fact(value: float, name: str) -> str:
    return f"{value:.2f}" if name == "leaf_labels_per_row" else f"{value:,.0f}"


def data_notes(results: StudyResults) -> list[tuple[str, str]]:
    """Return the notes on data sets, and their protocols where they differ."""
    found = []
    for data in results.datasets:
        own = data.get("protocol")
        texts = [f"{own[:1].upper()}{own[1:]}." if own else "", data["note"]]
        text = " ".join(filter(None, texts))
        if text:
            found.append((data["title"], text))
    return found


def left_out(results: StudyResults) -> list[str]:
    """Return which models are not run on which data sets, with the reasons."""
    titles = {model["name"]: model["title"] for model in results.models}
    found: dict[tuple[str, str], list[str]] = {}
    for data in results.study["datasets"]:
        for model, reason in {} if data["missing"] else data.get("without", {}).items():
            found.setdefault((titles[model], reason), []).append(data["title"])
    return [f"{title} on {join(where)}: {reason}" for (title, reason), where in found.items()]


def headlines(results: StudyResults) -> list[str]:
    """Return the best model of every data set in sentences."""
    found = []
    for quantity in results.measures:
        for part in results.parts():
            winners = _winners(part, quantity)
            if winners:
                parts = [f"{best} on {where}" for best, where in winners.items()]
                found.append(f"Best by {titled(part, quantity.title)}: {'; '.join(parts)}.")
    return found


def _winners(results: StudyResults, quantity: Quantity) -> dict[str, str]:
    """Return the data sets won by every best model: their names, or their number if many."""
    won: dict[str, list[str]] = {}
    for data, title in zip(results.datasets, short_titles(results), strict=True):
        means = {
            model["title"]: results.mean(quantity.name, data["name"], model["name"])
            for model in results.models
        }
        known = {name: value for name, value in means.items() if np.isfinite(value)}
        if known:
            pick = max if quantity.higher_is_better else min
            best = pick(known, key=lambda name, known=known: known[name])  # type: ignore[misc]
            won.setdefault(best, []).append(f"{title} ({quantity.show(known[best])})")
    n_data = sum(map(len, won.values()))
    if n_data <= _NAMED:
        return {best: join(where) for best, where in won.items()}
    ordered = sorted(won, key=lambda best: -len(won[best]))
    return {best: f"{len(won[best])} of {n_data} data sets" for best in ordered}


def facts_of_run(results: StudyResults) -> list[tuple[str, str]]:
    """Return the protocol, seed, versions, time and memory of the run."""
    study = results.study
    every = (*results.cells, *results.failures)
    seconds = sum(cell["seconds"] for cell in every)
    # Results from before the CPU time of whole cells was recorded only have that of learning.
    cpu = sum(cell.get("cpu_seconds", cell.get("fit_cpu_seconds", 0.0)) for cell in every)
    memory = max((cell["peak_memory_mb"] or 0 for cell in results.cells), default=0)
    counts = f"{len(results.cells):,} finished"
    if results.failures:
        counts += f", {len(results.failures):,} failed"
    if results.n_waiting:
        counts += f", {results.n_waiting:,} not run yet"
    used = ", ".join(f"{name} {text}" for name, text in study["versions"].items() if text)
    return [
        ("protocol", study["protocol"] + (" (quick form)" if study["quick"] else "")),
        ("cells", counts),
        ("CPU time", f"{_duration(cpu)} in all cells, {_duration(seconds)} by the clock"),
        ("peak memory", f"{memory:,.0f} MB"),
        ("seed", str(study["seed"])),
        ("versions", used),
        ("results version", str(study["results_version"])),
    ]


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    if seconds < 3600:
        return f"{seconds / 60:.1f} min"
    return f"{seconds / 3600:.1f} h"


# ---- curves and the text of models ----------------------------------------------------------


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
