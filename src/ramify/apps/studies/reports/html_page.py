"""The report of a study as one self-contained HTML page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from importlib.resources import files

import numpy as np

from ramify.apps.studies.claims import Quantity
from ramify.apps.studies.comparing import Comparison, compare_folds, compare_overall
from ramify.apps.studies.findings import (
    Table,
    TableCell,
    curve_table,
    data_notes,
    data_table,
    drawn_curves,
    facts_of_run,
    headlines,
    left_out,
    model_texts,
    score_table,
)
from ramify.apps.studies.reports.figures import dots_svgs, lines_svg, rank_svg
from ramify.apps.studies.reports.markdown import FOLDS_NOTE, QUICK_NOTE, REFERENCE_NOTE
from ramify.apps.studies.reports.reference import (
    reference_details,
    reference_overviews,
    time_words,
)
from ramify.apps.studies.results import StudyResults
from ramify.apps.studies.verdicts import check_claims, count_findings

_SCRIPT = """
const root = document.documentElement, button = document.querySelector("button.theme");
const dark = () => (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches
  ? "dark" : "light")) === "dark";
const name = () => { button.textContent = dark() ? "Light" : "Dark"; };
button.addEventListener("click", () => {
  root.dataset.theme = dark() ? "light" : "dark";
  name();
});
addEventListener("beforeprint", () => document.querySelectorAll("details.data")
  .forEach((part) => { part.open = true; }));
name();
"""

_CODE = r"<code>\1</code>"
_RANK = "average rank"


def to_html(results: StudyResults) -> str:
    """Write the report of a study as one page, with light, dark and print styles."""
    sections = [
        ("found", "What was found", _found(results)),
        ("scores", "Scores", _scores(results)),
        ("ranks", "Ranks and tests", _ranks(results)),
        ("reference", f"Beside {results.study['reference_name']}", _reference(results)),
        ("curves", "Curves", _curves(results)),
        ("datasets", "Data set by data set", _drill_down(results)),
        ("costs", "Time, size and overfitting", _costs(results)),
        ("data", "The data", _data(results)),
        ("failures", "Failures", _failures(results)),
        ("run", "How it was run", _run(results)),
    ]
    written = [(name, title, "".join(parts)) for name, title, parts in sections]
    shown = [section for section in written if section[2]]
    links = "".join(f'<a href="#{name}">{escape(title)}</a>' for name, title, _ in shown)
    body = "".join(
        f'<section id="{name}"><h2>{escape(title)}</h2>{text}</section>'
        for name, title, text in shown
    )
    style = files("ramify.apps.studies.reports").joinpath("page.css").read_text(encoding="utf-8")
    title = escape(results.study["title"])
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="icon" href="data:,"><title>{title}</title><style>\n{style}</style></head>'
        f"<body><main><header><div><h1>{title}</h1>{_subtitle(results)}</div>"
        f'<button class="theme" type="button">Dark</button></header><nav>{links}</nav>{body}'
        f"</main><script>{_SCRIPT}</script></body></html>\n"
    )


def _subtitle(results: StudyResults) -> str:
    parts = escape(results.study["text"]).split("\n\n")
    text = "".join(f"<p>{re.sub('`([^`]+)`', _CODE, part)}</p>" for part in parts)
    counts = (
        f"{len(results.models)} models on {_count(len(results.datasets), 'data set')}, "
        f"{results.study['protocol']}"
    )
    if results.n_waiting:
        counts += f"; {_count(results.n_waiting, 'cell')} not run yet"
    return f'<p class="sub">{escape(counts)}.</p>{text if results.study["text"] else ""}'


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def _found(results: StudyResults) -> Iterator[str]:
    lines = headlines(results)
    if not lines:
        yield "<p>No cell has a result yet.</p>"
        return
    if results.study["quick"]:
        yield f'<p class="note">{QUICK_NOTE}</p>'
    yield '<div class="cards">'
    for line in lines:
        head, _, rest = line.partition(": ")
        yield f'<div class="card"><span class="chip winner">{escape(head)}</span>'
        yield "".join(f"<p>{escape(part)}</p>" for part in rest.rstrip(".").split("; ")) + "</div>"
    verdicts = check_claims(results)
    for verdict in verdicts:
        kind = verdict.outcome.replace(" ", "-")
        yield f'<div class="card"><span class="chip {kind}">{escape(verdict.outcome)}</span>'
        yield f"<p>{escape(verdict.text)}</p>"
        yield f'<p class="note">{escape(verdict.explanation)}</p></div>'
    yield "</div>"
    if counts := count_findings(verdicts):
        yield f"<p>{escape(counts)}</p>"


def _scores(results: StudyResults) -> Iterator[str]:
    if results.cells:
        yield '<p class="note">Mean ± standard deviation over folds; the best in bold.</p>'
        for quantity in results.measures:
            arrow = "higher" if quantity.higher_is_better else "lower"
            for part in results.parts():
                table = score_table(part, quantity)
                yield _table(table, f"{table.title}, {arrow} is better", quantity)


def _ranks(results: StudyResults) -> Iterator[str]:
    if not results.cells:
        return
    quantity = results.measures[0]
    overall = compare_overall(results, quantity)
    if not overall and results.datasets:
        overall = compare_folds(results, quantity, results.datasets[0]["name"])
    yield (
        f'<p class="note">By {escape(quantity.title)}; the best on the right. A bar joins models '
        "that Nemenyi's test cannot tell apart.</p>"
    )
    for comparison in overall:
        yield _comparison(comparison)


def _comparison(comparison: Comparison) -> str:
    figure = ""
    if comparison.nemenyi is not None:
        title = f"Average ranks of {comparison.group}"
        figure = (
            f'<div class="scroll wide">{rank_svg(comparison.nemenyi, title)}</div>'
            f'<div class="scroll narrow">{rank_svg(comparison.nemenyi, title, narrow=True)}</div>'
        )
    head = comparison.group[:1].upper() + comparison.group[1:]
    return f"<h3>{escape(head)}</h3>{figure}<p>{escape(comparison.words)}</p>"


def _reference(results: StudyResults) -> Iterator[str]:
    overviews = reference_overviews(results)
    if not overviews:
        return
    yield f'<p class="note">{escape(REFERENCE_NOTE)}</p>'
    for table, words in overviews:
        yield _table(table, table.title)
        yield f"<p>{escape(words)}</p>" if words else ""
    words = time_words(results)
    yield f"<p>{escape(words)}</p>" if words else ""
    for table in reference_details(results):
        yield f'<details class="data"><summary>{escape(table.title)} in detail</summary>'
        yield _table(table, "") + "</details>"


def _curves(results: StudyResults) -> Iterator[str]:
    curves = drawn_curves(results)
    if curves:
        yield '<p class="note">Means over folds.</p>'
    for curve in curves:
        title = f"{curve.title}, {curve.data['title']}"
        svg = lines_svg(curve.means(), title, curve.x_title, log=curve.log)
        yield f'<h3>{escape(title)}</h3><div class="scroll">{svg}</div>'
        yield '<details class="data"><summary>As a table</summary>'
        yield _table(curve_table(curve), "") + "</details>"


def _drill_down(results: StudyResults) -> Iterator[str]:
    if not results.cells:
        return
    quantities = [results.measures[0]]
    quantities += [results.quantity(name) for name in ("fit_cpu_seconds", "complexity")]
    yield (
        f'<p class="note">A faint dot is a fold, a strong one the mean. {escape(FOLDS_NOTE)}</p>'
    )
    for place, data in enumerate(results.datasets):
        winner = next(iter(_best(results, data["name"])), "")
        opened = " open" if place == 0 else ""
        yield f'<details class="data"{opened}><summary>{escape(data["title"])}'
        yield f'<span class="sub">{escape(winner)}</span></summary>'
        figures = dots_svgs(results, data["name"], quantities)
        yield f'<div class="panels">{"".join(figures)}</div>'
        for comparison in compare_folds(results, quantities[0], data["name"]):
            yield _comparison(comparison)
        for title, text in model_texts(results, data["name"]):
            yield f"<details><summary>{escape(title)}, fold 1</summary>"
            yield f"<pre>{escape(text)}</pre></details>"
        yield "</details>"


def _best(results: StudyResults, data: str) -> Iterator[str]:
    quantity = results.measures[0]
    means = [results.mean(quantity.name, data, model["name"]) for model in results.models]
    if np.isfinite(means).any():
        place = int(np.nanargmax(means) if quantity.higher_is_better else np.nanargmin(means))
        yield f"{results.models[place]['title']} leads with {quantity.show(means[place])}"


def _costs(results: StudyResults) -> Iterator[str]:
    if results.cells:
        for quantity in results.costs:
            for part in results.parts():
                table = score_table(part, quantity)
                yield _table(table, table.title)


def _data(results: StudyResults) -> Iterator[str]:
    if results.cells:
        yield _table(data_table(results), "")
    notes = [f"{escape(title)}: {escape(text)}" for title, text in data_notes(results)]
    gaps = [
        f"<strong>Missing</strong> {escape(one['title'])}: {escape(one['missing'])}"
        for one in results.missing
    ]
    gaps += [f"<strong>Left out</strong> {escape(line)}" for line in left_out(results)]
    if notes or gaps:
        yield "<ul>" + "".join(f"<li>{line}</li>" for line in (*notes, *gaps)) + "</ul>"


def _failures(results: StudyResults) -> Iterator[str]:
    titles = {model["name"]: model["title"] for model in results.models}
    for cell in results.failures:
        place = f"{titles[cell['model']]} on {cell['dataset']}, fold {cell['fold'] + 1}"
        text = escape(f"{place}: {cell['error']}")
        yield f'<details><summary class="failed">{text}</summary>'
        yield f"<pre>{escape(cell.get('traceback', ''))}</pre></details>"


def _run(results: StudyResults) -> Iterator[str]:
    facts = facts_of_run(results)
    yield "<dl>"
    yield from (f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in facts)
    yield "</dl>"


def _table(table: Table, caption: str, quantity: Quantity | None = None) -> str:
    shares = _shares(table, quantity) if quantity is not None else {}
    if table.is_wide:
        shares = {(column, row): share for (row, column), share in shares.items()}
        table = table.upright()
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in table.header)
    kinds = (("tight", len(table.header) > 7), ("ranked", table.header[-1] == _RANK))
    named = " ".join(kind for kind, on in kinds if on)
    attribute = f' class="{named}"' if named else ""
    body = "".join(
        f'<tr><th scope="row">{escape(name)}</th>'
        + "".join(_td(cell, shares.get((row, column))) for column, cell in enumerate(cells))
        + "</tr>"
        for row, (name, cells) in enumerate(table.rows)
    )
    label = f"<caption>{escape(caption)}</caption>" if caption else ""
    return (
        f'<div class="scroll"><table{attribute}>{label}<thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _shares(table: Table, quantity: Quantity) -> dict[tuple[int, int], float]:
    """Return the values scaled within each column: 1 for the best, 0 for the worst."""
    found: dict[tuple[int, int], float] = {}
    n_columns = len(table.header) - 1
    for column in range(n_columns):
        values = np.array([cells[column].value for _, cells in table.rows])
        known = values[np.isfinite(values)]
        if known.size < 2 or known.max() == known.min():
            continue
        is_rank = table.header[column + 1] == _RANK
        rising = quantity.higher_is_better and not is_rank
        share = (values - known.min()) / (known.max() - known.min())
        for row, value in enumerate(share if rising else 1 - share):
            if np.isfinite(value):
                found[row, column] = float(value)
    return found


def _td(cell: TableCell, share: float | None) -> str:
    kinds = " ".join(kind for kind, on in (("best", cell.best), ("far", cell.marked)) if on)
    attributes = f' class="{kinds}"' if kinds else ""
    if share is not None:
        attributes += f' style="--share:{share:.2f}"'
    mean, space, rest = cell.text.partition(" ")  # a standard deviation or a difference
    text = escape(mean) + (f' <span class="spread">{escape(rest)}</span>' if space else "")
    return f"<td{attributes}>{text}{'&nbsp;†' if cell.marked else ''}</td>"
