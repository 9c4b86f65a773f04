"""Prediction files of the CAFA challenges."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from os import fspath
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from ramify._validation import check_number
from ramify.io.annotations import AnnotationReport, TermFinder
from ramify.io.errors import FormatError
from ramify.io.files import FilePath, numbered_lines, writing_text
from ramify.io.limits import ReadLimits
from ramify.labels.hierarchy import Hierarchy
from ramify.labels.ontology import Ontology

Scores: TypeAlias = "sparse.csr_array[np.float64]"

_HEADINGS = {"AUTHOR", "MODEL", "KEYWORDS", "ACCURACY", "END"}
_ROWS_AT_A_TIME = 256


@dataclass(frozen=True, repr=False)
class CafaPredictions:
    """Scores of targets and terms.

    Attributes
    ----------
    ids : tuple of str
        The target of every row.
    scores : csr_array of float64, shape (n, n_labels)
        The scores; those that are not stored were not predicted. They are not propagated.
    hierarchy : Hierarchy
        The terms of the columns.
    report : AnnotationReport
        What was left out and why.
    """

    ids: tuple[str, ...]
    scores: Scores
    hierarchy: Hierarchy
    report: AnnotationReport

    def __repr__(self) -> str:
        return (
            f"CafaPredictions({len(self.ids)} rows, {self.hierarchy.n_labels} labels, "
            f"{self.scores.nnz} scores)"
        )


def read_cafa(
    path: FilePath,
    ontology: Ontology | Hierarchy,
    hierarchy: Hierarchy | None = None,
    *,
    ids: Sequence[str] | None = None,
    max_terms: int | None = None,
    limits: ReadLimits | None = None,
) -> CafaPredictions:
    r"""Read predictions in the format of the CAFA challenges: target, term and score.

    Parameters
    ----------
    path : path
        Lines with a target, a term and a score between 0 and 1, separated by white space, plain
        or gzip. The lines AUTHOR, MODEL, KEYWORDS and END of the first challenges are skipped. If
        a term is repeated, its largest score is used.
    ontology : Ontology or Hierarchy
        The terms. Alternative identifiers are replaced; unknown and obsolete terms are reported.
    hierarchy : Hierarchy, optional
        The labels. By default, all terms, without edges across namespaces.
    ids : sequence of str, optional
        The targets of the rows, e.g. the ``ids`` of the true annotations; other targets are left
        out. By default, all targets in order of appearance.
    max_terms : int, optional
        Use only the first terms of every target and namespace.
    limits : ReadLimits, optional
        Limits on the size of the file.

    Returns
    -------
    CafaPredictions
        The scores as a sparse matrix.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from ramify import Hierarchy
    >>> from ramify.io import read_cafa
    >>> pets = Hierarchy.from_edges([("pet", "cat"), ("pet", "dog")])
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "predictions.tsv")
    ...     _ = path.write_text("ann\tcat\t0.9\nann\tdog\t0.25\n")
    ...     predictions = read_cafa(path, pets)
    >>> predictions.ids, predictions.scores.toarray()
    (('ann',), array([[0.  , 0.9 , 0.25]]))
    """
    if max_terms is not None:
        check_number("max_terms", max_terms, 1, whole=True)
    terms = TermFinder(ontology, hierarchy, None, "drop")
    report = AnnotationReport()
    position = {} if ids is None else {str(name): k for k, name in enumerate(ids)}
    if ids is not None and len(position) < len(ids):
        raise ValueError("ids must be distinct, got some more than once. Drop duplicates.")
    count = None if max_terms is None else _FirstTerms(terms, max_terms)
    rows, columns, values = array("q"), array("i"), array("d")
    for number, target, term, score in _prediction_lines(path, limits):
        report.n_lines += 1
        row = position.get(target, -1)
        if row < 0:
            if ids is not None:
                report.leave_out("other target", number, target)
                continue
            row = position[target] = len(position)
        column = terms.find(term, report, number)
        if column is None:
            continue
        if score == 0:
            report.leave_out("score of 0", number, f"{target} {term}")
            continue
        if count is not None and not count.accepts(row, column):
            report.leave_out("beyond max_terms", number, f"{target} {term}")
            continue
        rows.append(row)
        columns.append(column)
        values.append(score)
    report.n_used = len(rows)
    shape = (len(position), terms.hierarchy.n_labels)
    scores = _largest(np.asarray(rows), np.asarray(columns), np.asarray(values), shape)
    return CafaPredictions(tuple(position), scores, terms.hierarchy, report)


class _FirstTerms:
    """Accepts lines until a target has enough distinct terms of a namespace."""

    def __init__(self, terms: TermFinder, most: int) -> None:
        entries = terms.ontology.terms
        spaces = [
            entries[str(label)].namespace if str(label) in entries else ""
            for label in terms.hierarchy.labels
        ]
        self._namespaces = spaces
        self._most = most
        self._seen: dict[tuple[int, str], set[int]] = {}

    def accepts(self, row: int, column: int) -> bool:
        """Return whether a line is among the first ones."""
        seen = self._seen.setdefault((row, self._namespaces[column]), set())
        if len(seen) >= self._most:
            return False
        seen.add(column)
        return True


def _prediction_lines(
    path: FilePath, limits: ReadLimits | None
) -> Iterator[tuple[int, str, str, float]]:
    for number, line in numbered_lines(path, limits):
        cells = line.split()
        if not cells or (cells[0] in _HEADINGS and len(cells) != 3):
            continue
        try:
            target, term, text = cells
            score = float(text)
        except ValueError:
            if cells[0] in _HEADINGS or (number == 1 and len(cells) == 3):
                continue
            raise FormatError(
                f"{fspath(path)}, line {number}: expected a target, a term and a score, got "
                f"{line[:80]!r}. Correct the line."
            ) from None
        if not 0 <= score <= 1:
            raise FormatError(
                f"{fspath(path)}, line {number}: the score must be a number from 0 to 1, got "
                f"{text}. Scale the scores."
            )
        yield number, target, term, score


def _largest(
    rows: NDArray[np.int64],
    columns: NDArray[np.int32],
    values: NDArray[np.float64],
    shape: tuple[int, int],
) -> Scores:
    """Build a matrix; for repeated cells, the largest value counts."""
    scores = sparse.csr_array((values, (rows, columns)), shape=shape)
    scores.sum_duplicates()
    if scores.nnz < len(values):
        order = np.lexsort((-values, columns, rows))
        rows, columns, values = rows[order], columns[order], values[order]
        first = np.append(True, (np.diff(rows) != 0) | (np.diff(columns) != 0))
        scores = sparse.csr_array((values[first], (rows[first], columns[first])), shape=shape)
    scores.sort_indices()
    return scores


def write_cafa(
    path: FilePath,
    ids: Iterable[object],
    scores: Any,
    hierarchy: Hierarchy,
    *,
    max_terms: int | None = 500,
    digits: int = 3,
    propagation: str | None = None,
    author: str | None = None,
    model: int = 1,
    keywords: Sequence[str] = (),
) -> int:
    r"""Write predictions in the format of the CAFA challenges: target, term and score.

    The scores of a target are sorted, and those that round to 0 are left out. If more than
    `max_terms` remain, the best are written; among equal scores, ancestors come before
    descendants.

    Parameters
    ----------
    path : path
        The file, which is replaced when it is complete; gzip if the name ends in .gz.
    ids : iterable
        The targets.
    scores : array-like or sparse matrix of shape (n, n_labels), or iterable of such blocks
        Scores between 0 and 1, one row per target. With blocks of rows, the whole matrix is never
        in memory.
    hierarchy : Hierarchy
        The terms of the columns.
    max_terms : int, optional
        Maximum number of terms per target; None writes all terms.
    digits : int
        Number of digits after the decimal point.
    propagation : {"max", "fill"}, optional
        How to give scores to the ancestors of predicted terms, as in `Hierarchy.propagate`. By
        default, the scores are written as they are.
    author, model, keywords : str, int, sequence of str
        If `author` is given, the file starts with the lines AUTHOR, MODEL and KEYWORDS and ends
        with END.

    Returns
    -------
    int
        Number of predictions written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from ramify import Hierarchy
    >>> from ramify.io import write_cafa
    >>> pets = Hierarchy.from_edges([("pet", "cat"), ("pet", "dog")])
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "predictions.tsv")
    ...     n_lines = write_cafa(path, ["ann"], [[0.9, 0.7, 0.0001]], pets)
    ...     print(path.read_text().replace("\t", " "))
    ann pet 0.900
    ann cat 0.700
    <BLANKLINE>
    """
    if max_terms is not None:
        check_number("max_terms", max_terms, 1, whole=True)
    check_number("digits", digits, 1, 15, whole=True)
    names = [check_name("hierarchy", label) for label in hierarchy.labels]
    targets = (check_name("ids", target) for target in ids)
    n_lines = 0
    with writing_text(path) as file:
        if author is not None:
            file.write(f"AUTHOR {author}\nMODEL {model}\n")
            file.write(f"KEYWORDS {', '.join(keywords)}.\n" if keywords else "")
        for rows in _row_blocks(scores, hierarchy, propagation):
            for columns, values in _best(rows, max_terms, digits):
                target = next(targets, None)
                if target is None:
                    raise ValueError("scores has more rows than ids. Pass one target per row.")
                lines = zip(columns.tolist(), values.tolist(), strict=True)
                file.writelines(f"{target}\t{names[c]}\t{v:.{digits}f}\n" for c, v in lines)
                n_lines += len(columns)
        if next(targets, None) is not None:
            raise ValueError("ids has more targets than scores has rows. Pass one per row.")
        if author is not None:
            file.write("END\n")
    return n_lines


def check_name(argument: str, value: object) -> str:
    """Return a name as text, or raise an error if it would break a line of a file."""
    name = str(value)
    if not name or name.split() != [name]:
        raise ValueError(
            f"{argument} must contain names without white space, got {name!r}. Replace spaces, "
            "e.g. with '_'."
        )
    return name


def _row_blocks(scores: Any, hierarchy: Hierarchy, propagation: str | None) -> Iterator[Scores]:
    """Yield blocks of rows as sparse matrices."""
    is_matrix = sparse.issparse(scores) or hasattr(scores, "shape") or isinstance(scores, list)
    for given in [scores] if is_matrix else scores:
        whole = _rows_of(given)
        if whole.ndim != 2 or whole.shape[1] != hierarchy.n_labels:
            raise ValueError(
                f"scores must have one column per label, {hierarchy.n_labels}, got the shape "
                f"{whole.shape}. Pass columns in the order of hierarchy.labels."
            )
        for start in range(0, whole.shape[0], _ROWS_AT_A_TIME):
            rows = sparse.csr_array(whole[start : start + _ROWS_AT_A_TIME])
            if not ((rows.data >= 0) & (rows.data <= 1)).all():
                bad = rows.data[~((rows.data >= 0) & (rows.data <= 1))][0]
                raise ValueError(f"scores must be from 0 to 1, got {bad}. Scale the scores.")
            yield rows if propagation is None else hierarchy.propagate(rows, propagation)


def _rows_of(matrix: Any) -> Any:
    return matrix.tocsr() if hasattr(matrix, "tocsr") else np.asarray(matrix)


def best_scores(
    blocks: Iterable[Any], max_terms: int | None = 500, digits: int = 3
) -> Iterator[Scores]:
    """Yield the scores of blocks of rows that `write_cafa` would write."""
    for block in blocks:
        rows = sparse.csr_array(_rows_of(block))
        chosen = list(_best(rows, max_terms, digits))
        sizes = np.array([len(columns) for columns, _ in chosen])
        places = (np.repeat(np.arange(len(chosen)), sizes), np.concatenate([c for c, _ in chosen]))
        values = np.concatenate([v for _, v in chosen])
        yield sparse.csr_array((values, places), shape=rows.shape)


def _best(
    rows: Scores, max_terms: int | None, digits: int
) -> Iterator[tuple[NDArray[np.int32], NDArray[np.float64]]]:
    """Yield the columns and rounded scores of every row, best first."""
    rows.sort_indices()
    for r in range(rows.shape[0]):
        part = slice(rows.indptr[r], rows.indptr[r + 1])
        values: NDArray[np.float64] = rows.data[part].astype(np.float64).round(digits)
        order = np.argsort(-values, kind="stable")
        kept = order[: np.count_nonzero(values)][:max_terms]
        yield rows.indices[part][kept], values[kept]


# ---- files with the information content of terms, as in the CAFA challenges -----------------


def read_information(
    path: FilePath, hierarchy: Hierarchy, *, limits: ReadLimits | None = None
) -> NDArray[np.float64]:
    r"""Read the information content (information accretion) of terms.

    Parameters
    ----------
    path : path
        Lines with a term and its information, separated by white space, plain or gzip. A line of
        headings at the start is skipped.
    hierarchy : Hierarchy
        The labels. Other terms are ignored.
    limits : ReadLimits, optional
        Limits on the size of the file.

    Returns
    -------
    ndarray of shape (n_labels,)
        The information of every label: 0 for labels that are not in the file, and for NaN and
        infinity.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from ramify import Hierarchy
    >>> from ramify.io import read_information
    >>> pets = Hierarchy.from_edges([("pet", "cat"), ("pet", "dog")])
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "IA.tsv")
    ...     _ = path.write_text("cat\t1.5\ndog\tinf\n")
    ...     read_information(path, pets)
    array([0. , 1.5, 0. ])
    """
    information = np.zeros(hierarchy.n_labels)
    columns = {str(label): k for k, label in enumerate(hierarchy.labels)}
    for alias, label in hierarchy.aliases.items():
        columns.setdefault(str(alias), hierarchy.index(label))
    for number, line in numbered_lines(path, limits):
        cells = line.split()
        if not cells:
            continue
        try:
            term, text = cells
            bits = float(text)
        except ValueError:
            if number == 1 and len(cells) == 2 and cells[0] not in columns:
                continue
            raise FormatError(
                f"{fspath(path)}, line {number}: expected a term and its information, got "
                f"{line[:80]!r}. Correct the line."
            ) from None
        if bits < 0:
            raise FormatError(
                f"{fspath(path)}, line {number}: the information of {term!r} must not be "
                f"negative, got {text}. Compute it with information_content."
            )
        if term in columns and np.isfinite(bits):
            information[columns[term]] = bits
    return information


def write_information(path: FilePath, information: ArrayLike, hierarchy: Hierarchy) -> None:
    r"""Write the information content of terms for `read_information` and CAFA's evaluator.

    Parameters
    ----------
    path : path
        The file, which is replaced when it is complete; gzip if the name ends in .gz.
    information : array-like of shape (n_labels,)
        The result of `information_content`.
    hierarchy : Hierarchy
        The labels.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from ramify import Hierarchy
    >>> from ramify.io import write_information
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "IA.tsv")
    ...     write_information(path, [0, 1.5], Hierarchy.from_edges([("pet", "cat")]))
    ...     path.read_text()
    'pet\t0.0\ncat\t1.5\n'
    """
    bits = np.asarray(information, dtype=np.float64)
    if bits.shape != (hierarchy.n_labels,):
        raise ValueError(
            f"information must have shape ({hierarchy.n_labels},), one value per label, got "
            f"{bits.shape}. Compute it with information_content."
        )
    with writing_text(path) as file:
        for label, value in zip(hierarchy.labels, bits.tolist(), strict=True):
            file.write(f"{check_name('hierarchy', label)}\t{value!r}\n")
