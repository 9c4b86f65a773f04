"""Write the reports of stored results in every format."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ramify.apps.studies.reports.html_page import to_html
from ramify.apps.studies.reports.markdown import to_markdown
from ramify.apps.studies.reports.tables import to_cells_csv, to_curves_csv, to_latex, to_scores_csv
from ramify.apps.studies.results import StudyResults
from ramify.io.files import writing_text

_WRITERS: dict[str, Callable[[StudyResults], str]] = {
    "report.html": to_html,
    "report.md": to_markdown,
    "tables.tex": to_latex,
    "scores.csv": to_scores_csv,
    "cells.csv": to_cells_csv,
}
_OF_CURVES: dict[str, Callable[[StudyResults], str]] = {"curves.csv": to_curves_csv}


def write_reports(folder: str | Path) -> list[Path]:
    """Write all reports of the results in a folder, without running anything.

    Parameters
    ----------
    folder : path
        The folder passed to `run_study` as `out`.

    Returns
    -------
    list of Path
        ``report.html``, ``report.md``, ``tables.tex``, ``scores.csv`` (means), ``cells.csv``
        (every fold) and, if the study has curves, ``curves.csv``.
    """
    folder = Path(folder)
    results = StudyResults.read(folder)
    writers = _WRITERS | (_OF_CURVES if results.study.get("curves") else {})
    texts = {folder / name: write(results) for name, write in writers.items()}
    for path, text in texts.items():
        with writing_text(path) as file:
            file.write(text)
    return list(texts)
