"""Summary of the results of a study for the command line, as JSON or as text."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from ramify.studies.findings import headlines, left_out
from ramify.studies.results import StudyResults
from ramify.studies.verdicts import check_claims, count_findings

__all__ = ["print_study", "study_facts"]


def study_facts(results: StudyResults, files: list[Path]) -> dict[str, Any]:
    """Return the summary of `print_study` as a dict.

    Parameters
    ----------
    results : StudyResults
        The results.
    files : list of Path
        The reports.

    Returns
    -------
    dict
        JSON-serializable.
    """
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
    """Print the main results, what is missing, and the path of the report.

    Parameters
    ----------
    console : rich.console.Console
        The console to print to.
    results : StudyResults
        The results.
    files : list of Path
        The reports, the HTML page first.
    """
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
