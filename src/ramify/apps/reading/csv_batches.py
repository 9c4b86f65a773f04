"""Read a CSV file some rows at a time, for a model whose columns are known."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from os import fspath
from pathlib import Path
from typing import Any

from ramify._messages import import_extra
from ramify.data.columns import TEXT
from ramify.data.dates import with_dates
from ramify.io.errors import FormatError
from ramify.io.features import read_features
from ramify.io.files import encoding_of, read_chunks
from ramify.io.formats import TextForm, usual_delimiter
from ramify.io.limits import ReadLimits
from ramify.io.tables.cells import read_cells
from ramify.io.tables.csv_files import (
    check_marks,
    declared_delimiter,
    end_of_line,
    pandas_marks,
    pandas_options,
    unique_names,
    with_line_feeds,
)
from ramify.io.tables.layout import BLANKS, Layout, find_layout
from ramify.io.tables.table import matrix_of

_HEAD_BYTES = 1 << 16


class NotInBatchesError(ValueError):
    """Raised if the cells of some rows do not determine the type of a column of the file."""


class CsvBatches:
    """The rows of a CSV file, read some at a time and as often as necessary."""

    def __init__(self, path: Path, form: TextForm, limits: ReadLimits | None = None) -> None:
        self.path, self.form, self.limits = path, form, limits or ReadLimits()
        self._encoding = form.encoding or self._find_encoding()
        with self._open() as (_, layout):
            self._layout = layout
        if layout.is_open or layout.n_names > 1 or "" in layout.names:
            raise NotInBatchesError("the cells of all rows are needed to read the columns.")
        self.names, _ = unique_names(layout.names)
        self.delimiter = "," if layout.delimiter == BLANKS else layout.delimiter
        self.limits.check("max_columns", len(self.names), "the number of columns", fspath(path))

    def _find_encoding(self) -> str:
        start = (
            next(read_chunks(self.path, "latin-1", self.limits), b"").decode().encode("latin-1")
        )
        return encoding_of(self.path, start, is_whole=False)[0]

    @contextmanager
    def _open(self) -> Iterator[tuple[Any, Layout]]:
        """Open the rows below the column names."""
        chunks = with_line_feeds(read_chunks(self.path, self._encoding, self.limits))
        head = b""
        for chunk in chunks:
            head += chunk
            if len(head) > _HEAD_BYTES and b"\n" in chunk:
                break
        head = head.removeprefix(codecs.BOM_UTF8)
        declared, start = declared_delimiter(head)
        form = self.form
        if declared and form.delimiter is None:
            form = replace(form, delimiter=declared)
        check_marks(form)
        layout = find_layout(self.path, head[start:], form, usual_delimiter(self.path))
        body = head[start:][end_of_line(head[start:], layout.n_lines) :]
        with io.BufferedReader(_Text(chain([body], chunks))) as stream:
            yield stream, layout

    def _options(self, as_text: Sequence[str]) -> dict[str, Any]:
        marks = pandas_marks(self._layout, self.form)
        return pandas_options(self.names, self.form, marks, as_text)

    def _frames(self, batch_size: int, **options: Any) -> Iterator[Any]:
        pandas = import_extra("pandas", "tables")
        start = 0
        with (
            self._open() as (stream, _),
            pandas.read_csv(stream, chunksize=batch_size, **options) as reader,
        ):
            for frame in reader:
                if not isinstance(frame.index, pandas.RangeIndex) or frame.index.start != start:
                    raise FormatError(f"{fspath(self.path)}: a row has more cells than names.")
                start += len(frame)
                yield frame

    def cells(self, columns: Sequence[str], batch_size: int) -> Iterator[Any]:
        """Yield the texts of some columns as they are in the file."""
        options = self._options(self.names)
        for frame in self._frames(batch_size, **(options | {"na_filter": False})):
            yield frame[list(columns)]

    def features(self, kinds: Mapping[str, str], batch_size: int) -> Iterator[Any]:
        """Yield features in the form of `read_table`, as far as some rows determine them.

        `kinds`: what the features of the model are.
        """
        wanted = [name for name in self.names if name in kinds]
        plain = [name for name in wanted if kinds[name] in ("number", "date")]
        texts = [name for name in wanted if kinds[name] == TEXT]
        others = [name for name in self.names if name not in plain]
        found_kinds: dict[str, str] = {}
        for whole in self._frames(batch_size, **self._options(others)):
            frame = whole[wanted].reset_index(drop=True)
            decimal = self._layout.decimal
            frame, found = read_cells(frame, self.form, kinds, (), decimal, trained=True)
            if found.problems or found.units or found.missing:
                raise NotInBatchesError("some cells need a note that counts them in all rows.")
            frame, _ = with_dates(frame, others)
            for name in plain:
                kind = _kind_of(frame[name])
                if kind and found_kinds.setdefault(name, kind) != kind:
                    raise NotInBatchesError(f"{name!r} is {found_kinds[name]} first, then {kind}.")
            X = matrix_of(read_features(frame.drop(columns=texts)), as_frame=True)
            yield X.assign(**{name: frame[name] for name in texts})


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
