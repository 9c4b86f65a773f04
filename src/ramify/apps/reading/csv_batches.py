"""Read a CSV file some rows at a time, for a model whose columns are known."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from os import fspath
from pathlib import Path
from typing import Any

from ramify._messages import import_extra
from ramify.apps.reading.cell_checks import check_date_features, check_numeric_features
from ramify.data.dates import with_dates
from ramify.io.csv_files import (
    csv_marks,
    declared_delimiter,
    pandas_options,
    read_header,
    with_line_feeds,
    without_groups,
)
from ramify.io.errors import FormatError
from ramify.io.features import read_features
from ramify.io.files import read_chunks
from ramify.io.formats import TextForm
from ramify.io.limits import ReadLimits
from ramify.io.tables import matrix_of

__all__ = [
    "CsvBatches",
    "NotInBatchesError",
]


class NotInBatchesError(ValueError):
    """Raised if the cells of some rows do not determine the type of a column of the file."""


class CsvBatches:
    """The rows of a CSV file, read some at a time and as often as necessary.

    Parameters
    ----------
    path : Path
        The file, plain or compressed.
    form : TextForm
        How its cells are written.
    limits : ReadLimits, optional
        Limits on the size of the file.

    Attributes
    ----------
    names : list of str
        The names of the columns.
    delimiter : str
        The delimiter of the cells.
    """

    def __init__(self, path: Path, form: TextForm, limits: ReadLimits | None = None) -> None:
        self.path, self.form, self.limits = path, form, limits or ReadLimits()
        with self._open() as (_, marks, names):
            self._marks, self.names = marks, names
        self.delimiter = marks["sep"]
        self.limits.check("max_columns", len(names), "the number of columns", fspath(path))

    @contextmanager
    def _open(self) -> Iterator[tuple[Any, dict[str, str], list[str]]]:
        """Open the text; skip its first line if it declares the delimiter."""
        chunks = with_line_feeds(read_chunks(self.path, self.form.encoding, self.limits))
        head = b""
        for chunk in chunks:
            head += chunk
            if head.count(b"\n") > 1:
                break
        head = head.removeprefix(codecs.BOM_UTF8)
        declared, start = declared_delimiter(head)
        marks = csv_marks(self.path, self.form, declared)
        names, _ = read_header(self.path, head[start:], marks["sep"], rename=True)
        with io.BufferedReader(_Text(chain([head[start:]], chunks))) as stream:
            yield stream, marks, names

    def _frames(self, batch_size: int, **options: Any) -> Iterator[Any]:
        pandas = import_extra("pandas", "tables")
        start = 0
        with (
            self._open() as (stream, _, _),
            pandas.read_csv(stream, chunksize=batch_size, **options) as reader,
        ):
            for frame in reader:
                if not isinstance(frame.index, pandas.RangeIndex) or frame.index.start != start:
                    raise FormatError(f"{fspath(self.path)}: a row has more cells than names.")
                start += len(frame)
                yield frame

    def cells(self, columns: Sequence[str], batch_size: int) -> Iterator[Any]:
        """Yield the texts of some columns as they are in the file."""
        options = pandas_options(self.names, self.form, self._marks, self.names)
        for frame in self._frames(batch_size, **(options | {"na_filter": False})):
            yield frame[list(columns)]

    def features(
        self, numbers: Sequence[str], texts: Sequence[str], dates: Sequence[str], batch_size: int
    ) -> Iterator[Any]:
        """Yield features in the form of `read_table`, as far as some rows determine them."""
        wanted = [name for name in self.names if name in {*numbers, *texts, *dates}]
        others = [name for name in self.names if name not in {*numbers, *dates}]
        options = pandas_options(self.names, self.form, self._marks, others)
        kinds: dict[str, str] = {}
        for whole in self._frames(batch_size, **options):
            frame = without_groups(whole[wanted], self.form, texts, self._marks["decimal"])
            frame = frame.reset_index(drop=True)
            frame, _ = with_dates(frame, texts)
            for name in (*numbers, *dates):
                kind = _kind_of(frame[name])
                if kind and kinds.setdefault(name, kind) != kind:
                    raise NotInBatchesError(f"{name!r} is {kinds[name]} at first, then {kind}.")
            X = matrix_of(read_features(frame), as_frame=True)
            check_numeric_features(self.path, X, self.form, numbers)
            check_date_features(self.path, X, dates)
            yield X


def _kind_of(column: Any) -> str:
    """Return what the cells of a column are; empty if all are missing."""
    kind = getattr(column.dtype, "kind", "O")
    if not column.notna().any():
        return ""
    if kind in "iuf":
        return "numbers"
    if kind in "bM":
        return str(column.dtype)
    raise NotInBatchesError(f"{column.name!r} has texts.")


class _Text(io.RawIOBase):
    """A stream of pieces of UTF-8, which are checked."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = memoryview(b"")
        self._decoder = codecs.getincrementaldecoder("utf-8")()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            piece = next(self._pieces, None)
            self._decoder.decode(piece or b"", final=piece is None)
            if piece is None:
                return 0
            self._rest = memoryview(piece)
        n_bytes = min(len(buffer), len(self._rest))
        buffer[:n_bytes] = self._rest[:n_bytes]
        self._rest = self._rest[n_bytes:]
        return n_bytes
