"""The formats of files by the ends of their names, and how the cells of text files are written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

# What the end of a name means depends on what a file is read for.
DATA = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arff": "arff",
    ".xlsx": "sheet",
    ".xlsm": "sheet",
}
HIERARCHIES = {
    ".obo": "ontology",
    ".json": "json",
    ".csv": "edges",
    ".tsv": "edges",
    ".txt": "lines",
    ".xml": "mulan",
}
ANNOTATIONS = {".gaf": "gaf", ".gpad": "gpad", ".gpa": "gpad"}


def format_of(path: str | PathLike[str], known: Mapping[str, str] = DATA) -> str | None:
    """Return the format that the last known suffix of a name says, as in data.csv.gz.

    Examples
    --------
    >>> format_of("rows.ARFF.gz"), format_of("rows.dat")
    ('arff', None)
    """
    suffixes = (suffix.lower() for suffix in reversed(Path(path).suffixes))
    return next((known[suffix] for suffix in suffixes if suffix in known), None)


def is_gzip(path: str | PathLike[str]) -> bool:
    """Return whether the name of a file to write asks for gzip."""
    return Path(path).suffix.lower() == ".gz"


def usual_delimiter(path: str | PathLike[str]) -> str:
    """Return the delimiter of the cells of a text file with this name."""
    return "\t" if format_of(path) == "tsv" else ","


@dataclass(frozen=True)
class TextForm:
    """How cells are written in text files."""

    # Delimiter of the cells of a CSV file. None means the delimiter declared in a first line such
    # as ``sep=;``, or else a tab in .tsv files and a comma in other files.
    delimiter: str | None = None
    decimal: str = "."  # decimal point of a CSV file
    encoding: str = "utf-8"  # encoding of a CSV or ARFF file
    thousands: str | None = None  # mark between groups of three digits in a CSV file
    # Texts of a CSV file that mark a missing value, in addition to `MISSING_WORDS`.
    missing: tuple[str, ...] = ()
