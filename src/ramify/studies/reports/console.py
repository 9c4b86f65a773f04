"""What a study found, as facts for machines (JSON) and as lines for people (rich)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ramify.studies.findings import headlines, left_out
from ramify.studies.results import StudyResults

__all__ = ["print_study", "study_facts"]


def study_facts(results: StudyResults, files: list[Path]) -> dict[str, Any]:
    """Return what `print_study` says, for machines.

    Parameters
    ----------
    results : StudyResults
        What was found.
    files : list of Path
        The reports.

    Returns
    -------
    dict
        Ready for JSON.
    """
    return {
        "finished": len(results.cells),
        "failed": len(results.failures),
        "waiting": results.n_waiting,
        "missing": {data["name"]: data["missing"] for data in results.missing},
        "left_out": left_out(results),
        "found": headlines(results),
        "files": [str(path) for path in files],
    }


def print_study(console: Any, results: StudyResults, files: list[Path]) -> None:
    """Tell a person what was found, what is missing, and where the report is.

    Parameters
    ----------
    console : rich.console.Console
        Where to.
    results : StudyResults
        What was found.
    files : list of Path
        The reports, the page first.
    """
    for style, text in _lines(results):
        console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)
    n_cells = f"{len(results.cells):,}"
    if results.n_waiting:
        n_cells += f" of {len(results.study['cells']):,}"
    text = f"{n_cells} cells; the report is in {files[0]}"
    console.print(text, markup=False, highlight=False, soft_wrap=True)


def _lines(results: StudyResults) -> list[tuple[str, str]]:
    """Return every line and its style."""
    lines = [("bold", str(results.study["title"]))]
    lines += [("", line) for line in headlines(results)]
    lines += [("yellow", f"missing {one['title']}: {one['missing']}") for one in results.missing]
    lines += [("yellow", f"left out {line}") for line in left_out(results)]
    for cell in results.failures:
        place = f"{cell['model']} on {cell['dataset']}, fold {cell['fold'] + 1}"
        lines.append(("red", f"failed {place}: {cell['error']}"))
    return lines
