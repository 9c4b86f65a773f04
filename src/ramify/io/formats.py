"""The formats of files by the ends of their names, and how the cells of text files are written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

# What the end of a name means depends on what a file is read for.
DATA = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arff": "arff",
    ".xlsx": "sheet",
    ".xlsm": "sheet",
    ".json": "records",
    ".jsonl": "records",
    ".ndjson": "records",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
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
    """How the cells of text files are written. None means that it is found from the file."""

    delimiter: str | None = None  # between the cells of a CSV file; a blank means runs of blanks
    decimal: str | None = None  # decimal mark of a CSV file
    encoding: str | None = None  # encoding of a CSV or ARFF file; for ARFF, None means UTF-8
    thousands: str | None = None  # mark between groups of three digits in a CSV file
    # Texts that mark a missing value, in addition to `MISSING_WORDS`.
    missing: tuple[str, ...] = ()
    header: str | None = None  # the line of the column names, or the two lines, as in "3-4"
    dates: str | None = None  # the order of dates such as 03/04/2024: one of `DATE_ORDERS`
    sheet: str | None = None  # the name of a sheet of a spreadsheet
    footer: str = "drop"  # what to do with totals and footnotes below the rows: "drop" or "keep"
    units: tuple[str, ...] = ()  # units of the numbers of columns, such as "mass=kg"
    # How the training data were found to be written, which decides where a file leaves it open.
    hint: TextForm | None = None

    def hinted(self, name: str) -> Any:
        """Return a setting, or else what was found in the training data."""
        given = getattr(self, name)
        return getattr(self.hint, name) if given in (None, ()) and self.hint else given
