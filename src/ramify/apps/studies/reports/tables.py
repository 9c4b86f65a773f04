"""Tables of a study as CSV, LaTeX and text for the console."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ramify.apps.studies.findings import (
    Table,
    TableCell,
    drawn_curves,
    headlines,
    left_out,
    score_table,
)
from ramify.apps.studies.results import StudyResults
from ramify.apps.studies.verdicts import check_claims, count_findings

_PLACE = ("dataset", "model", "repeat", "fold", "seed", "n_train", "n_test", "started", "key")


def to_scores_csv(results: StudyResults) -> str:
    """Write means and standard deviations."""
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
    """Write every cell with all its values, including failures."""
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
    """Write the points of all curves."""
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


# ---- LaTeX ----------------------------------------------------------------------------------


_SPECIAL = {
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def to_latex(results: StudyResults) -> str:
    r"""Write a table for each measure and cost."""
    lines = ["% \\usepackage{booktabs}", ""]
    for quantity in (*results.measures, *results.costs) if results.cells else ():
        for part in results.parts():
            table = score_table(part, quantity).upright()
            name = " ".join(filter(None, (quantity.name, part.family)))
            label = f"tab:{results.study['name']}-{re.sub('[^A-Za-z0-9]+', '-', name)}"
            lines += _float(table, f"{table.title}; {results.study['protocol']}.", label)
    return "\n".join(lines)


def _float(table: Table, caption: str, label: str) -> list[str]:
    columns = "l" + "r" * (len(table.header) - 1)
    return [
        r"\begin{table}",
        r"  \centering",
        f"  \\caption{{{_escape(caption[0].upper() + caption[1:])}}}",
        f"  \\label{{{label}}}",
        f"  \\begin{{tabular}}{{{columns}}}",
        r"    \toprule",
        f"    {' & '.join(map(_escape, table.header))} \\\\",
        r"    \midrule",
        *(
            f"    {' & '.join([_escape(name), *map(_cell, cells)])} \\\\"
            for name, cells in table.rows
        ),
        r"    \bottomrule",
        r"  \end{tabular}",
        r"\end{table}",
        "",
    ]


def _cell(cell: TableCell) -> str:
    text = _escape(cell.text).replace("±", r"$\pm$").replace("–", "--")
    return f"\\textbf{{{text}}}" if cell.best else text


def _escape(text: str) -> str:
    return "".join(_SPECIAL.get(sign, sign) for sign in text)


# ---- the command line -----------------------------------------------------------------------


def study_facts(results: StudyResults, files: list[Path]) -> dict[str, Any]:
    """Return the summary of `print_study` as a dict."""
    return {
        "finished": len(results.cells),
        "failed": len(results.failures),
        "waiting": results.n_waiting,
        "missing": {data["name"]: data["missing"] for data in results.missing},
        "left_out": left_out(results),
        "found": headlines(results),
        "claims": [asdict(verdict) for verdict in check_claims(results)],
        "files": [str(path) for path in files],
    }


def print_study(console: Any, results: StudyResults, files: list[Path]) -> None:
    """Print the main results, what is missing, and the path of the report."""
    for style, text in _lines(results):
        console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)
    n_cells = f"{len(results.cells):,}"
    if results.n_waiting:
        n_cells += f" of {len(results.study['cells']):,}"
    text = f"{n_cells} cells; the report is in {files[0]}"
    console.print(text, markup=False, highlight=False, soft_wrap=True)


def _lines(results: StudyResults) -> list[tuple[str, str]]:
    """Return the lines with their styles."""
    lines = [("bold", str(results.study["title"]))]
    counts = count_findings(check_claims(results))
    lines += [("", line) for line in (*headlines(results), counts) if line]
    lines += [("yellow", f"missing {one['title']}: {one['missing']}") for one in results.missing]
    lines += [("yellow", f"left out {line}") for line in left_out(results)]
    for cell in results.failures:
        place = f"{cell['model']} on {cell['dataset']}, fold {cell['fold'] + 1}"
        lines.append(("red", f"failed {place}: {cell['error']}"))
    return lines
