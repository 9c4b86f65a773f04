"""Write the predictions for the rows of a file, some rows at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing

from ramify._messages import counted, import_extra
from ramify._validation import check_number
from ramify.apps.predicting import (
    UnfamiliarRows,
    features_for,
    kinds_of_columns,
    label_cells,
    label_sets,
    level_cells,
    read_for,
)
from ramify.apps.reading.csv_batches import CsvBatches
from ramify.apps.reading.settings import DataOptions
from ramify.io import write_arff
from ramify.io.files import replacing, writing_text
from ramify.io.formats import DATA, format_of, usual_delimiter
from ramify.io.tables.table import Table
from ramify.metrics.inputs import LabelChoice

_CELLS_AT_A_TIME = 2**23  # of a block of probabilities
_READ_CELLS = 2**20  # of a block of features
_STREAMED_BYTES = 2**26  # size from which a file is not read as a whole
# Cells of a CSV file that a spreadsheet computes, or sends somewhere, unless they are numbers.
_FORMULA = r"[=@\t\r]|[+-](?!\d*[.,]?\d*(?:[eE][+-]?\d+)?\Z)"
_READ = ("sheet", "records")  # formats that are not written
_OUTPUTS = tuple(suffix for suffix, form in DATA.items() if form not in _READ)


class Written(NamedTuple):
    """What was written: numbers of rows, of lines, and of rows whose label set is empty."""

    rows: int
    lines: int
    empty: int = 0
    notes: Sequence[str] = ()  # on cells that the model could not use


@dataclass(frozen=True)
class Answer:
    """What is written for every row."""

    # Predict labels with at least this probability. If None, use the model's `predict`.
    threshold: float | None = None
    least: float | None = None  # write probabilities of at least this value instead of label sets
    # Write the probabilities of this number of labels instead of label sets.
    top: int | None = None
    among: LabelChoice = "leaves"  # the labels to choose the best ones from; an int is a level
    label_separator: str = ";"  # separator of the labels of a row
    # The column of label sets, or one column for each level of the labels.
    names: tuple[str, ...] = ("labels",)
    decide: str | None = None  # the rule of the model's `predict`; None for its default

    def check(self, path: Path) -> None:
        """Raise an error if the file to write has no known format."""
        if format_of(path) in (None, *_READ):
            raise ValueError(f"--out must end in one of {', '.join(_OUTPUTS)}, got {path}.")
        if self.top is not None:
            check_number("--top", self.top, 1, whole=True)
            if format_of(path) == "arff":
                raise ValueError(
                    f"--out must end in one of {', '.join(_OUTPUTS[:-1])} with --top, got {path}."
                )

    def columns(self, model: Any, X: Any) -> dict[str, Any]:
        """Return the columns to write for some rows; "row" counts from 0."""
        if self.top is not None:
            return self._best(model, X)
        if self.least is not None:
            return _probabilities(model, X, self.least)
        Y = label_sets(model, X, self.threshold, self.decide)
        rows = {"row": np.arange(Y.shape[0])}
        if len(self.names) == 1:
            return rows | {self.names[0]: label_cells(model, Y, self.label_separator)}
        levels = level_cells(model, Y, len(self.names), self.label_separator)
        return rows | dict(zip(self.names, levels, strict=True))

    def _best(self, model: Any, X: Any) -> dict[str, Any]:
        labels, scores = model.predict_top(X, self.top, labels=self.among)
        keep = np.ones(scores.size, bool) if self.least is None else scores.ravel() >= self.least
        return {
            "row": np.repeat(np.arange(len(scores)), scores.shape[1])[keep],
            "label": [str(label) for label in labels.ravel()[keep]],
            "probability": np.round(scores.ravel()[keep], 6),
        }


def _probabilities(model: Any, X: Any, least: float) -> dict[str, Any]:
    """List the probabilities of at least `least`, the largest of each row first."""
    rows: Any
    columns: Any
    if least > 0:
        cells = sparse.coo_array(model.predict_proba_sparse(X, min_proba=least))
        rows, columns, found = cells.row, cells.col, cells.data
    else:  # those of 0 are also written
        scores = np.asarray(model.predict_proba(X))
        rows, columns = np.nonzero(scores >= least)
        found = scores[rows, columns]
    order = np.lexsort((columns, -found, rows))
    names = [str(label) for label in model.hierarchy_.labels]
    return {
        "row": rows[order].astype(np.int64),
        "label": [names[c] for c in columns[order]],
        "probability": np.round(found[order], 6),
    }


def write_predictions(
    path: Path, model: Any, data: Table, *, answer: Answer, names: Any = None
) -> Written:
    """Predict and write the result to a file atomically."""
    answer.check(path)
    X = features_for(model, data)
    if format_of(path) == "arff":
        return _write_arff(path, model, data, X, answer)
    return _write_blocks(path, model, iter([X]), answer, names)


def _write_arff(path: Path, model: Any, data: Table, X: Any, answer: Answer) -> Written:
    if answer.least is not None:
        scores = model.predict_proba_sparse(X, min_proba=answer.least)
        labels = [str(label) for label in model.hierarchy_.labels]
        write_arff(path, scores, feature_names=labels, relation="probabilities")
        return Written(scores.shape[0], scores.shape[0])
    # A data frame defines its categories; an array does not.
    categories = None if hasattr(X, "columns") else data.categories
    Y = label_sets(model, X, answer.threshold, answer.decide)
    write_arff(path, X, Y, model.hierarchy_, categories=categories)
    return Written(Y.shape[0], Y.shape[0], int((np.diff(Y.indptr) == 0).sum()))


def _parts(X: Any, n_rows: int) -> Iterator[Any]:
    """Yield some rows of X at a time."""
    for start in range(0, X.shape[0], n_rows):
        rows = slice(start, start + n_rows)
        yield _safe_indexing(X, rows)


def _write_blocks(
    path: Path, model: Any, blocks: Iterator[Any], answer: Answer, names: Any
) -> Written:
    """Predict and write blocks of rows."""
    counts = [0, 0, 0]
    n_formulas = 0
    unfamiliar = UnfamiliarRows(model)
    width = model.hierarchy_.n_labels if answer.top is None else answer.top
    step = max(1, _CELLS_AT_A_TIME // width)

    def frames() -> Iterator[Any]:
        pandas = import_extra("pandas", "tables")
        for X in (part for block in blocks for part in _parts(block, step)):
            unfamiliar.count(X)
            frame = pandas.DataFrame(answer.columns(model, X))
            frame["row"] += counts[0]
            if answer.names[0] in frame.columns:
                counts[2] += int((frame[list(answer.names)] == "").all(axis=1).sum())
            if names is not None:
                name = "id" if names.name in frame.columns else names.name
                frame.insert(1, name, np.asarray(names)[frame["row"]])
            counts[0] += X.shape[0]
            counts[1] += len(frame)
            yield frame

    if format_of(path) == "parquet":
        import_extra("pyarrow", "tables")
        whole = import_extra("pandas", "tables").concat(list(frames()), ignore_index=True)
        with replacing(path) as temporary:
            whole.to_parquet(temporary, index=False)
    else:
        cells = usual_delimiter(path)
        with writing_text(path) as file:
            for number, frame in enumerate(frames()):
                n_formulas += _disarm(frame)
                frame.to_csv(file, index=False, sep=cells, lineterminator="\n", header=not number)
    notes = unfamiliar.notes()
    if n_formulas:
        notes.append(
            f"{counted(n_formulas, 'cell')} would be a formula in a spreadsheet; written with ' "
            "before it (.parquet files have the text as it is)"
        )
    return Written(counts[0], counts[1], counts[2], notes)


def _disarm(frame: Any) -> int:
    """Put ' before texts that a spreadsheet would compute, and return their number."""
    n_cells = 0
    for position in range(frame.shape[1]):
        cells = frame.iloc[:, position]
        if cells.dtype.kind in "biufM":
            continue
        texts = cells.astype(str)
        is_formula = cells.notna() & texts.str.match(_FORMULA)
        if is_formula.any():
            frame.isetitem(position, cells.astype(object).where(~is_formula, "'" + texts))
            n_cells += int(is_formula.sum())
    frame.columns = [f"'{n}" if re.match(_FORMULA, str(n)) else n for n in frame.columns]
    return n_cells


def stream_predictions(
    path: Path,
    model: Any,
    data: Path,
    options: DataOptions,
    *,
    answer: Answer,
) -> Written | None:
    """Read, predict and write some rows at a time; None if a file must be read as a whole.

    Columns that are not features are read as a whole: one of them may name the rows.
    """
    answer.check(path)
    if not _is_streamed(path, model, data) or options.embed is not None:
        return None
    try:
        rows = CsvBatches(data, options.form, options.limits)
        if options.id_column not in (None, *rows.names):
            return None
        kinds = kinds_of_columns(model) or {}
        features = [str(name) for name in model.feature_names_in_]
        names = _names_in_file(model, rows, options)
        found = rows.features(kinds, _rows_per_batch(rows))
        blocks = (frame[features] for frame in found)
        return _write_blocks(path, model, blocks, answer, names)
    except (ValueError, KeyError):
        # Reading the whole file gives the right types, or an error that names the row.
        return None


def _is_streamed(path: Path, model: Any, data: Path) -> bool:
    if not hasattr(model, "schema_") or not hasattr(model, "feature_names_in_"):
        return False
    if format_of(path) not in ("csv", "tsv") or not data.is_file():
        return False
    # A file without a known suffix is read as CSV.
    if format_of(data) not in ("csv", "tsv", None):
        return False
    return data.stat().st_size >= _STREAMED_BYTES


def _rows_per_batch(rows: CsvBatches) -> int:
    return max(1, _READ_CELLS // max(1, len(rows.names)))


def _names_in_file(model: Any, rows: CsvBatches, options: DataOptions) -> Any:
    """Return the identifiers of the rows of a file, as `row_names` does."""
    left_out = {*options.ignore, *map(str, model.feature_names_in_)}
    columns = [name for name in rows.names if name not in left_out]
    if options.id_column in rows.names:
        columns = [str(options.id_column)]
    if not columns:
        return None
    with TemporaryDirectory() as folder:
        narrow = Path(folder, "columns.csv")
        with narrow.open("w", encoding="utf-8", newline="") as file:
            for number, frame in enumerate(rows.cells(columns, _rows_per_batch(rows))):
                frame.to_csv(
                    file, index=False, sep=rows.delimiter, lineterminator="\n", header=not number
                )
        form = replace(options.form, delimiter=rows.delimiter, encoding="utf-8")
        narrow_options = replace(options, form=form)
        table = read_for(model, narrow, narrow_options, labelled=False)
        return row_names(model, narrow, narrow_options, table)


def row_names(model: Any, path: Path, options: DataOptions, data: Table) -> Any:
    """Return the identifiers of the rows of a file as a named column, or None."""
    if data.ids is not None:
        return data.ids
    pandas = import_extra("pandas", "tables")
    frame = data.X if hasattr(data.X, "columns") else pandas.DataFrame()
    texts = {name: pandas.Series(cells, name=name) for name, cells in data.strings.items()}
    features = getattr(model, "feature_names_in_", None)
    taken = {"row", "label", "labels", "probability", *(() if features is None else features)}
    others = [] if features is None else [frame[name] for name in frame.columns]
    found = [c for c in (*texts.values(), *others) if c.name not in taken and c.is_unique]
    named = [column for column in found if not _is_numeric(column)]
    if named or not found:
        return next(iter(named), None)
    # Numbers have been converted: 007 is 7.0.
    again = replace(options, id_column=str(found[0].name))
    return read_for(model, path, again, labelled=False).ids


def _is_numeric(column: Any) -> bool:
    return not hasattr(column, "cat") and column.dtype.kind in "biufM"
