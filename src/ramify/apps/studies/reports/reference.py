"""Comparison with published results: scores, order of the models, time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from ramify.apps.studies.claims import Quantity
from ramify.apps.studies.findings import Table, TableCell, titled
from ramify.apps.studies.results import StudyResults
from ramify.stats.scores import rank_rows

FAR = 0.02
"""Larger differences from a published score are marked."""

Published = dict[tuple[str, str, str], float]


def _known(published: Published, wanted: list[Quantity]) -> list[Quantity]:
    names = {quantity for _, _, quantity in published}
    return [quantity for quantity in wanted if quantity.name in names]


def _compared_data(results: StudyResults, published: Published) -> list[dict[str, Any]]:
    names = {data for data, _, _ in published}
    return [data for data in results.datasets if data["name"] in names]


def reference_overviews(results: StudyResults) -> list[tuple[Table, str]]:
    """Compare every measure on all data sets with the published figures."""
    found = []
    for quantity in _known(results.published, results.measures):
        published = {
            place: value for place, value in results.published.items() if place[2] == quantity.name
        }
        for part in results.parts():
            data = _compared_data(part, published)
            if data:
                found.append(_overview(part, quantity, data, published))
    return found


def _overview(
    results: StudyResults, quantity: Quantity, data: list[dict[str, Any]], published: Published
) -> tuple[Table, str]:
    columns = [_overview_column(results, quantity, one["name"], published) for one in data]
    header = ["model", *(one["title"].removesuffix(f", {results.family}") for one in data)]
    ranks = _rank_columns(results, quantity, data, published)
    if ranks:
        header += ["rank", "published rank"]
        columns += ranks
    titles = [model["title"] for model in results.models]
    rows = [list(row) for row in zip(*columns, strict=True)]
    table = Table(titled(results, quantity.title), header, list(zip(titles, rows, strict=True)))
    compared = [] if results.study["quick"] else data
    words = [_agreement(results, one, quantity, published) for one in compared]
    return table, " ".join(filter(None, words))


def _overview_column(
    results: StudyResults, quantity: Quantity, data: str, published: Published
) -> list[TableCell]:
    cells = []
    for model in results.models:
        ours = results.mean(quantity.name, data, model["name"])
        theirs = published.get((data, model["name"], quantity.name), np.nan)
        text = quantity.show(ours)
        if np.isfinite(ours - theirs):
            difference = f"{round(ours - theirs, 3) + 0.0:+.3f}".replace("-", "−")  # no −0.000
            text += f" ({quantity.show(theirs)}, {difference})"
        if np.isfinite(ours) and not results.complete(data, model["name"]):
            text += f", {len(results.folds(quantity.name, data, model['name']))} folds"
        cells.append(TableCell(text, ours, marked=_is_far(results, ours - theirs)))
    return cells


def _is_far(results: StudyResults, difference: float) -> bool:
    """Return whether to mark a difference; in the quick form, large ones are expected."""
    return not results.study["quick"] and bool(abs(round(difference, 3)) > FAR)


def _rank_columns(
    results: StudyResults, quantity: Quantity, data: list[dict[str, Any]], published: Published
) -> list[list[TableCell]]:
    """Return our and the published average ranks within groups; empty if no group is complete."""
    names = [model["name"] for model in results.models]
    groups = list(results.study["groups"].values()) or [names]
    found = [{}, {}]  # type: list[dict[str, float]]
    known = {model for _, model, _ in published}
    for everyone in groups:
        group = [model for model in everyone if model in known]
        ours, theirs = _group_scores(results, quantity, group, data, published)
        for place, scores in enumerate((ours, theirs)):
            if len(scores):
                sign = 1 if quantity.higher_is_better else -1
                ranks = rank_rows(sign * scores).mean(axis=0)
                found[place] |= dict(zip(group, map(float, ranks), strict=True))
    if not found[0]:
        return []
    return [
        [TableCell(f"{ranks[name]:.2f}" if name in ranks else "–") for name in names]
        for ranks in found
    ]


def _group_scores(
    results: StudyResults,
    quantity: Quantity,
    group: list[str],
    data: list[dict[str, Any]],
    published: Published,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return a row for each data set on which a group was published and is finished here."""
    ours, theirs = [], []
    for one in data:
        known = [published.get((one["name"], model, quantity.name), np.nan) for model in group]
        if np.isfinite(known).all() and all(results.complete(one["name"], m) for m in group):
            ours.append([results.mean(quantity.name, one["name"], model) for model in group])
            theirs.append(known)
    return np.array(ours), np.array(theirs)


def _agreement(
    results: StudyResults, data: dict[str, Any], quantity: Quantity, published: Published
) -> str:
    pairs = []
    for model in results.models:
        ours = results.mean(quantity.name, data["name"], model["name"])
        theirs = published.get((data["name"], model["name"], quantity.name), np.nan)
        if np.isfinite(ours - theirs) and results.complete(data["name"], model["name"]):
            pairs.append((ours, theirs))
    if len(pairs) < 3:
        return ""
    ours_all, theirs_all = (np.array(column) for column in zip(*pairs, strict=True))
    differences = np.abs(np.round(ours_all - theirs_all, 3))
    text = (
        f"{data['title']}: {int((differences <= FAR).sum())} of {len(pairs)} within {FAR:g}, the "
        f"largest difference {differences.max():.3f}"
    )
    if np.ptp(ours_all) > 0 and np.ptp(theirs_all) > 0:
        order = float(scipy_stats.spearmanr(ours_all, theirs_all).statistic)
        text += f", order of the models by Spearman's ρ {order:.2f}".replace("-", "−")
    return text + "."


def reference_details(results: StudyResults) -> list[Table]:
    """Compare the first measure and the costs on every data set with the published figures."""
    published = {place: value for place, value in results.published.items() if place[1]}
    costs = _known(published, results.costs)
    if not costs:
        return []
    quantities = [*_known(published, results.measures[:1]), *costs]
    return [
        _detail(results, data, quantities, published)
        for data in _compared_data(results, published)
    ]


def _detail(
    results: StudyResults,
    data: dict[str, Any],
    quantities: list[Quantity],
    published: Published,
) -> Table:
    header = ["model"]
    for quantity in quantities:
        header += [quantity.title, "published"]
    rows = []
    for model in results.models:
        cells: list[TableCell] = []
        for quantity in quantities:
            ours = results.mean(quantity.name, data["name"], model["name"])
            theirs = published.get((data["name"], model["name"], quantity.name), np.nan)
            far = quantity.kind == "score" and _is_far(results, ours - theirs)
            cells += [
                TableCell(quantity.show(ours), ours, marked=far),
                TableCell(quantity.show(theirs), theirs),
            ]
        rows.append((model["title"], cells))
    return Table(data["title"], header, rows)


def time_words(results: StudyResults) -> str:
    """Compare the sums of learning times with the published ones, if the form is not quick."""
    if results.study["quick"]:
        return ""
    pairs = [
        (results.mean("fit_cpu_seconds", data, model), theirs)
        for (data, model, quantity), theirs in results.published.items()
        if quantity == "fit_cpu_seconds"
    ]
    known = np.array([pair for pair in pairs if np.isfinite(pair).all()])
    if not len(known):
        return ""
    quantity = results.quantity("fit_cpu_seconds")
    ours, theirs = known.sum(axis=0)
    return (
        f"Learning each of {len(known)} models on a data set once took {quantity.show(ours)} s of "
        f"CPU here and {quantity.show(theirs)} s as published, on other machines: "
        f"{theirs / ours:,.0f} times as long."
    )
