"""Read the dates of ARFF files, whose formats are written in the notation of Java."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from os import fspath
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify._cached import cached_property
from ramify.data.rows import compact
from ramify.io.errors import FormatError
from ramify.io.features import array_of_columns, frame_of_columns, import_pandas
from ramify.io.files import FilePath, read_chunks
from ramify.io.limits import ReadLimits

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_PARTS = {
    "yyyy": "%Y", "yy": "%y", "y": "%Y", "MMMM": "%B", "MMM": "%b", "MM": "%m", "M": "%m",
    "dd": "%d", "d": "%d", "D": "%j", "DDD": "%j", "EEEE": "%A", "EEE": "%a", "E": "%a",
    "HH": "%H", "H": "%H", "hh": "%I", "h": "%I", "a": "%p", "mm": "%M", "m": "%M",
    "ss": "%S", "s": "%S", "SSS": "%f", "Z": "%z", "X": "%z", "XX": "%z", "XXX": "%z",
}  # fmt: skip
"""The parts of a format of Java, and what Python calls them."""
_TOKEN = re.compile(r"(?P<quoted>'(?:[^']|'')*')|(?P<part>([A-Za-z])\3*)|(?P<other>.)", re.DOTALL)


def seconds_of_dates(
    path: str, name: str, cells: Sequence[str | None], form: str
) -> NDArray[np.float64]:
    """Return dates as seconds since the start of 1970, in UTC unless they name a zone, or NaN.

    >>> seconds_of_dates("a.arff", "day", ["02.01.1970", None], "dd.MM.yyyy")
    array([86400.,    nan])
    """
    pattern = _pattern(path, name, form)
    known: dict[str | None, float] = {None: float("nan")}
    for row, cell in enumerate(cells):
        if cell in known:
            continue
        try:
            found = datetime.strptime(str(cell), pattern)
        except (ValueError, re.error):
            raise FormatError(
                f"{path}: expected a date {form!r} for attribute {name!r}, found {cell!r} in data "
                f"row {row + 1}."
            ) from None
        aware = found if found.tzinfo else found.replace(tzinfo=timezone.utc)
        known[cell] = (aware - _EPOCH).total_seconds()
    return np.array([known[cell] for cell in cells], dtype=np.float64)


def _pattern(path: str, name: str, form: str) -> str:
    """Translate a format of Java to that of Python's strptime."""
    words = []
    for token in _TOKEN.finditer(form):
        if token["quoted"]:
            literal = token["quoted"][1:-1].replace("''", "'") or "'"
            words.append(literal.replace("%", "%%"))
        elif token["part"] and token["part"] in _PARTS:
            words.append(_PARTS[token["part"]])
        elif token["part"]:
            raise FormatError(
                f"{path}: the date format {form[:100]!r} of attribute {name!r} has the part "
                f"{token['part'][:20]!r}, which is not supported. Convert the dates to numbers "
                "first."
            )
        else:
            words.append(token["other"].replace("%", "%%"))
    return "".join(words)


# ---- access the attributes of a parsed ARFF file and build feature matrices from them


NamedPlace: TypeAlias = tuple[str, int, int]
"""A label and its line and column in the file."""

_KINDS = ("numeric", "nominal", "text", "labels")


@dataclass(frozen=True)
class LabelSets:
    """The label sets of the rows: row r has the labels numbers[indptr[r]:indptr[r + 1]]."""

    indptr: NDArray[np.int64]
    numbers: NDArray[np.int32]
    names: list[NamedPlace]


class ArffFile:
    """A parsed file. Positions number all attributes of the header from 0."""

    def __init__(self, parser: _core.ArffParser, path: str) -> None:
        names, kinds, domains = parser.attributes()
        values = parser.domains()
        self.path = path
        self.relation = parser.relation
        self.n_rows = parser.n_rows
        self.is_sparse = parser.is_sparse
        self.names = names
        self.kinds = [_KINDS[kind] for kind in kinds.tolist()]
        self.values: dict[int, tuple[str, ...]] = {
            at: values[domains[at]] for at in np.flatnonzero(domains >= 0).tolist()
        }
        self.date_formats = parser.date_formats()
        if self.date_formats and self.is_sparse:
            name = self.names[next(iter(self.date_formats))]
            raise FormatError(
                f"{path}: dates are not supported in sparse files, got attribute {name!r}. "
                "Convert it to numbers first."
            )
        for at in self.date_formats:
            self.kinds[at] = "date"
        self.weights: NDArray[np.float64] | None = parser.weights()
        self.declared_labels: list[NamedPlace] | None = parser.declared_labels()
        self.label_sets = LabelSets(*parser.label_sets())
        self._parser = parser

    @property
    def label_attribute(self) -> int | None:
        """The position of the hierarchical attribute, or None."""
        return self.kinds.index("labels") if "labels" in self.kinds else None

    @cached_property
    def _texts(self) -> dict[int, tuple[str | None, ...]]:
        """The string, key and date attributes by position."""
        places = [at for at, kind in enumerate(self.kinds) if kind in ("text", "date")]
        return dict(zip(places, map(tuple, self._parser.texts()), strict=True))

    @cached_property
    def strings(self) -> dict[str, tuple[str | None, ...]]:
        """The string and key attributes."""
        return {
            self.names[at]: cells for at, cells in self._texts.items() if self.kinds[at] == "text"
        }

    @cached_property
    def dates(self) -> dict[int, NDArray[np.float64]]:
        """The date attributes by position, in seconds."""
        return {
            at: seconds_of_dates(self.path, self.names[at], self._texts[at], form)
            for at, form in self.date_formats.items()
        }

    @cached_property
    def cell_positions(self) -> list[int]:
        """The positions of the numeric, nominal and date attributes."""
        kinds = ("numeric", "nominal", "date")
        return [at for at, kind in enumerate(self.kinds) if kind in kinds]

    @cached_property
    def cells(self) -> sparse.csr_array[np.float64]:
        """All cells of a sparse file, one column for each of `cell_positions`."""
        shape = (self.n_rows, len(self.cell_positions))
        found: sparse.csr_array[np.float64] = compact(
            sparse.csr_array(self._parser.cells(), shape=shape)
        )
        return found

    @cached_property
    def numbers(self) -> NDArray[np.float64]:
        """The numeric attributes of a dense file."""
        return self._parser.numbers().reshape(self.n_rows, self.kinds.count("numeric"))

    @cached_property
    def codes(self) -> dict[int, NDArray[Any]]:
        """The codes of the nominal attributes of a dense file by position; -1 is missing."""
        columns = {
            at: column
            for attributes, panel in self._parser.codes()
            for at, column in zip(attributes.tolist(), panel, strict=True)
        }
        return {at: columns[at] for at in sorted(columns)}

    def sparse_columns(self, positions: Sequence[int]) -> sparse.csr_array[np.float64]:
        """Return some attributes of a sparse file."""
        if list(positions) == self.cell_positions:
            return self.cells
        cells: Any = self.cells
        picked = cells[:, np.searchsorted(self.cell_positions, positions)]
        found: sparse.csr_array[np.float64] = compact(sparse.csr_array(picked))
        return found

    def dense_column(self, position: int) -> NDArray[np.float64]:
        """Return one attribute of a dense file; nominal values as codes, missing as NaN."""
        if position in self.codes:
            codes = self.codes[position].astype(np.float64)
            codes[codes < 0] = np.nan
            return codes
        return self.numbers[:, self.kinds[:position].count("numeric")]

    def features(self, positions: Sequence[int], as_frame: bool | None) -> Any:
        """Return attributes as a feature matrix in the layout selected by `as_frame`."""
        names = [self.names[at] for at in positions]
        if self.is_sparse:
            matrix = self.sparse_columns(positions)
            return _sparse_frame(matrix, names) if as_frame else matrix
        place = {position: at for at, position in enumerate(positions)}
        codes = {place[at]: column for at, column in self.codes.items() if at in place}
        numbers = self._numeric_features(place)
        if as_frame or (as_frame is None and codes):
            return frame_of_columns(names, numbers, codes, self.categories(positions))
        return array_of_columns(len(names), numbers, codes)

    def _numeric_features(self, place: dict[int, int]) -> NDArray[np.float64]:
        numeric = [at for at, kind in enumerate(self.kinds) if kind == "numeric"]
        wanted = [i for i, at in enumerate(numeric) if at in place]
        numbers = self.numbers if len(wanted) == len(numeric) else self.numbers[:, wanted]
        listed = [at for at in self.dates if at in place]
        if not listed:
            return numbers
        # Where each date belongs among the numbers before it.
        before = np.searchsorted([numeric[i] for i in wanted], listed)
        columns = np.column_stack([self.dates[at] for at in listed])
        return np.insert(numbers, before, columns, axis=1)

    def categories(self, positions: Sequence[int]) -> dict[str, tuple[str, ...]]:
        """Return the declared values of the nominal attributes among some positions."""
        return {self.names[at]: self.values[at] for at in positions if at in self.values}


def parse_arff(
    path: FilePath,
    *,
    index_base: int,
    rename_duplicates: bool,
    encoding: str,
    limits: ReadLimits | None = None,
) -> ArffFile:
    """Parse a file with the native parser."""
    parser = _core.ArffParser(index_base, rename_duplicates)
    try:
        for chunk in read_chunks(path, encoding, limits):
            parser.feed(chunk)
        parser.finish()
    except _core.ArffError as error:
        raise FormatError(f"{fspath(path)}, {error}") from None
    file = ArffFile(parser, fspath(path))
    limits = limits or ReadLimits()
    limits.check("max_columns", len(file.names), "the number of attributes", file.path)
    for at, values in file.values.items():
        what = f"the number of values of attribute {file.names[at]!r}"
        limits.check("max_categories", len(values), what, file.path)
    return file


def _sparse_frame(matrix: sparse.csr_array[np.float64], names: list[str]) -> Any:
    pandas = import_pandas(", or pass as_frame=False for a csr_array")
    return pandas.DataFrame.sparse.from_spmatrix(matrix, columns=names)
