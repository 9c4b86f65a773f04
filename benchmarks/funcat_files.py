"""The ARFF files of the FunCat data sets as text, to write data sets with other labels."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

from ramify.datasets.fetching import locate
from ramify.datasets.registry import find_entry

__all__ = ["read_lines"]


def read_lines(name: str) -> tuple[list[str], list[str]]:
    """Return the lines of the head, without @DATA, and of the rows of all files of a data set.

    Parameters
    ----------
    name : str
        Name of a FunCat set, such as "pheno".

    Returns
    -------
    head, rows : list of str
        Lines without line ends. Rows are in the order of `fetch`; the labels are their last field.
    """
    head: list[str] = []
    rows: list[str] = []
    for file in find_entry(f"{name}_FUN").needed:
        text, _, data = _read(file).partition("@DATA")
        head = head or [line.rstrip() for line in text.splitlines()]
        rows.extend(line.rstrip() for line in data.splitlines() if line.strip())
    return head, rows


def _read(file: Any) -> str:
    path = Path(locate(file))
    if path.suffix == ".gz":
        return gzip.decompress(path.read_bytes()).decode("utf-8", "replace")
    return path.read_text(encoding="utf-8", errors="replace")
