"""Mappings from an old taxonomy to a new one: files that people edit, and labels carried over."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from os import fspath
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify._cached import cached_property
from ramify._messages import counted, did_you_mean, import_extra, shorten
from ramify._savable import savable
from ramify._schema import Instance, Maybe, Number, Schema, Text, TupleOf
from ramify._schema import Label as LabelName
from ramify._validation import Label, check_number
from ramify.data.rows import as_label_rows, indicator, indicator_of_lists
from ramify.io.errors import FormatError, check_exists
from ramify.io.files import FilePath, read_utf8, writing_text
from ramify.io.formats import usual_delimiter
from ramify.io.limits import ReadLimits
from ramify.labels.comparing import Comparison
from ramify.labels.encoding import LabelFormat, PartialLabels, read_labels
from ramify.labels.formats import label_array
from ramify.labels.graph import row_of
from ramify.labels.hierarchy import Hierarchy
from ramify.labels.unknown import close_unknown

COLUMNS = ("old", "new", "change", "score", "reason")
"""The columns of mapping files; only the first two are required."""

STATUSES = ("kept", "remapped", "at a parent", "lost")


@savable
class MappingLine(NamedTuple):
    """A line of a mapping file: an old label and one that takes its place.

    Attributes
    ----------
    old : str, int or None
        The old label; None for a label that was added.
    new : str, int or None
        The new label; None if nothing takes the place of the old one.
    change : str
        What happened, for readers.
    score : float
        How likely the labels are the same, for readers.
    reason : str
        Why they are held for the same, for readers.
    """

    old: Label | None
    new: Label | None
    change: str = ""
    score: float = 1.0
    reason: str = ""


MappingLine._saved_parameters = {  # type: ignore[attr-defined] # NamedTuple has only fields
    "old": Maybe(LabelName()),
    "new": Maybe(LabelName()),
    "change": Text(),
    "score": Number(),
    "reason": Text(),
}


@savable
class LabelMapping:
    """Which labels of a new taxonomy take the place of the labels of an old one.

    Equal labels, and aliases of the new taxonomy, need no line. A path follows a label that it
    starts with: a line from "shop/audio" to "shop/sound" also maps "shop/audio/speakers" to
    "shop/sound/speakers", if there is such a label and no line for it.

    Parameters
    ----------
    old, new : Hierarchy
        The taxonomies.
    lines : iterable of (old, new, ...)
        Pairs of labels, or `MappingLine`. Several lines with the same old label split it, several
        with the same new label merge labels. None in place of the new label means that nothing
        takes the place of the old one.

    Attributes
    ----------
    old, new : Hierarchy
        The taxonomies.
    lines : tuple of MappingLine
        The lines, in the order of the labels.

    Examples
    --------
    >>> from ramify import Hierarchy, LabelMapping
    >>> old = Hierarchy.from_paths(["pets/cats", "pets/dogs", "food"])
    >>> new = Hierarchy.from_paths(["animals/cats", "animals/dogs/large", "animals/dogs/small"])
    >>> mapping = LabelMapping(old, new, [("pets", "animals"), ("food", None)])
    >>> mapping.successors("pets/cats")
    ('animals/cats',)
    >>> carried = mapping.apply([["pets/cats"], ["pets/dogs", "food"]])
    >>> carried.y
    [['animals/cats'], ['animals/dogs']]
    >>> carried.report[0]
    {'label': 'food', 'status': 'lost', 'n_rows': 1, 'carried_to': ()}
    """

    _saved_parameters: ClassVar[Schema] = {
        "old": Instance(Hierarchy),
        "new": Instance(Hierarchy),
        "lines": TupleOf(Instance(MappingLine)),
    }

    def __init__(self, old: Hierarchy, new: Hierarchy, lines: Iterable[Any]) -> None:
        self.old, self.new = old, new
        given = [_as_line(line, f"lines[{k}]") for k, line in enumerate(lines)]
        _check_lines(given, old, new, [f"lines[{k}]" for k in range(len(given))])
        self.lines = tuple(sorted(given, key=self._place))

    def _place(self, line: MappingLine) -> tuple[int, int, int]:
        old = self.old.n_labels if line.old is None else self.old.index(line.old)
        return (line.old is None, old, 0 if line.new is None else self.new.index(line.new))

    @classmethod
    def of(cls, comparison: Comparison) -> LabelMapping:
        """Make a mapping from a comparison; proposals are taken as they are.

        Parameters
        ----------
        comparison : Comparison
            The result of `Hierarchy.compare`.

        Returns
        -------
        LabelMapping
            Has lines for all labels that are not mapped without one, and for added labels.
        """
        old, new = comparison.old, comparison.new
        kinds: dict[Label, list[str]] = defaultdict(list)
        for change in comparison.changes:
            for label in change.old:
                kinds[label].append(change.kind)
        found: dict[Label, list[Any]] = defaultdict(list)
        for successor in comparison.successors:
            found[successor.old].append(successor)
        resolving = _Resolving(old, new)
        lines: list[MappingLine] = []
        for k, label in enumerate(old.labels):
            targets = tuple(new.index(s.new) for s in found[label])
            if targets != resolving.default(k):
                what = " and ".join(dict.fromkeys(kinds[label]))
                lines += [
                    MappingLine(label, s.new, what, s.score, s.reason) for s in found[label]
                ] or [MappingLine(label, None, what)]
            resolving.targets.append(targets)
        added = (change.new[0] for change in comparison.of_kind("added"))
        return cls(old, new, [*lines, *(MappingLine(None, label, "added") for label in added)])

    @classmethod
    def read(
        cls,
        path: FilePath,
        old: Hierarchy,
        new: Hierarchy,
        *,
        limits: ReadLimits | None = None,
    ) -> LabelMapping:
        """Read a mapping from a CSV file, and check it against both taxonomies.

        Parameters
        ----------
        path : path
            A file with a line of column names, of which "old" and "new" are required; tabs
            separate the cells if its name ends in ".tsv". An empty cell in "new" means that
            nothing takes the place of the label.
        old, new : Hierarchy
            The taxonomies.
        limits : ReadLimits, optional
            Limits on the size of the file.

        Returns
        -------
        LabelMapping
            The mapping.
        """
        check_exists(Path(path))
        text = read_utf8(path, limits=limits).decode()
        names: tuple[dict[str, Label], ...] = tuple(
            {str(label): label for label in (*side.aliases, *side.labels)} for side in (old, new)
        )
        lines, places = [], []
        file = StringIO(text, newline="")
        rows = csv.reader(file, delimiter=usual_delimiter(path), strict=True)
        try:
            header = [cell.strip().lower() for cell in next(rows, [])]
            if any(header.count(name) != 1 for name in ("old", "new")):
                raise FormatError(
                    f"{fspath(path)} must begin with a line of column names, with 'old' and "
                    f"'new' once each, got {shorten(header) or 'nothing'}."
                )
            for row in rows:
                where = f"{fspath(path)}, line {rows.line_num}"
                if any(cell.strip() for cell in row):
                    lines.append(_read_line(_by_column(header, row, where), names, where))
                    places.append(where)
        except csv.Error as error:
            raise FormatError(f"{fspath(path)}, line {rows.line_num}: {error}.") from None
        try:
            _check_lines(lines, old, new, places)
        except ValueError as error:
            raise FormatError(str(error)) from None
        return cls(old, new, lines)

    def write(self, path: FilePath) -> None:
        """Write the mapping as a CSV file for `read`; it replaces an existing file when complete.

        Parameters
        ----------
        path : path
            The file; its lines are in the order of the labels, so that versions of it can be
            compared.
        """
        with writing_text(path) as file:
            writer = csv.writer(file, delimiter=usual_delimiter(path), lineterminator="\n")
            writer.writerow(COLUMNS)
            for line in self.lines:
                old, new = ("" if label is None else label for label in line[:2])
                has_score = line.old is not None and line.new is not None
                score = f"{line.score:g}" if has_score else ""
                writer.writerow([old, new, line.change, score, line.reason])

    def __repr__(self) -> str:
        sizes = f"{self.old.n_labels:,} → {self.new.n_labels:,} labels"
        return f"LabelMapping({sizes}, {counted(len(self.lines), 'line')})"

    def successors(self, label: Label) -> tuple[Label, ...]:
        """Return the labels that take the place of an old one.

        Parameters
        ----------
        label : str or int
            A label of the old taxonomy.

        Returns
        -------
        tuple of labels
            None if nothing takes its place, several if it was split.
        """
        return tuple(self.new.labels[t] for t in self._targets[self.old.index(label)])

    @cached_property
    def _targets(self) -> list[tuple[int, ...]]:
        """The successors of every old label."""
        given: dict[int, set[int]] = {}
        for line in self.lines:
            if line.old is not None:
                targets = given.setdefault(self.old.index(line.old), set())
                targets.update([] if line.new is None else [self.new.index(line.new)])
        resolving = _Resolving(self.old, self.new)
        for k in range(self.old.n_labels):
            resolving.targets.append(
                tuple(sorted(given[k])) if k in given else resolving.default(k)
            )
        return resolving.targets

    @cached_property
    def _differences(self) -> tuple[Any, Any]:
        """The old labels that count for each new label, and those that count against it."""
        return _count_for_and_against(self._images, self.old.parent_rows)

    @cached_property
    def _images(self) -> sparse.csr_array[np.int32]:
        """What the rows with each old label are known to have, with all ancestors.

        That is what all successors have in common, or else the image of the parents.
        """
        closure = _Closure(self.new)
        rows: list[NDArray[np.int32]] = []
        for k, targets in enumerate(self._targets):
            found = closure.get(targets[0]) if targets else np.zeros(0, dtype=np.int32)
            for target in targets[1:]:
                found = np.intersect1d(found, closure.get(target), assume_unique=True)
            if not len(found):
                above = row_of(self.old.parent_rows, k)
                if above:
                    found = np.unique(np.concatenate([rows[p] for p in above]))
            rows.append(found.astype(np.int32))
        return indicator_of_lists(rows, self.new.n_labels)

    @cached_property
    def _open(self) -> sparse.csr_array[np.int32]:
        """The labels of which nothing is known in rows that end at an old label; not those below.

        They are the successors of a label that was split, and otherwise, if no label takes its
        place, those directly below what the parents became.
        """
        closure, (indptr, children) = _Closure(self.new), self.new.child_rows
        tops = np.flatnonzero(self.new.label_levels == 1).astype(np.int32)
        rows: list[NDArray[np.int32]] = []
        for k, targets in enumerate(self._targets):
            start, stop = self._images.indptr[k : k + 2]
            image = self._images.indices[start:stop]
            if len(targets) == 1:
                found = image[:0]
            elif targets:
                found = np.concatenate([closure.get(target) for target in targets])
            else:
                found = np.concatenate(
                    [tops[: len(tops) * (not len(image))]]
                    + [children[indptr[label] : indptr[label + 1]] for label in image]
                )
            rows.append(np.setdiff1d(found, image).astype(np.int32))
        return indicator_of_lists(rows, self.new.n_labels)

    def apply(self, y: Any) -> CarriedLabels:
        """Carry labels over to the new taxonomy.

        A row gets what the successors of its most specific labels have in common, with all
        ancestors: the nearest common ancestor of a label that was split, and the label that the
        parent became if nothing takes the place of a label.

        Parameters
        ----------
        y : array-like
            Labels of the old taxonomy, in any format accepted by `read_labels`.

        Returns
        -------
        CarriedLabels
            The labels, and a report of what happened to them.
        """
        encoded = read_labels(y, self.old)
        ends = indicator(
            _core.most_specific(as_label_rows(encoded.Y), self.old._parents), self.old.n_labels
        )
        found: Any = ends @ self._images
        Y = sparse.csr_array((np.ones_like(found.data), found.indices, found.indptr), found.shape)
        Y.sort_indices()
        return CarriedLabels(Y, self.new, encoded.format, self._report(ends), ends @ self._open)

    def _carried_ends(self, ends: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the new labels at which rows end that end at some of the old ones, as masks."""
        images: Any = self._images[np.flatnonzero(ends)]
        mask = np.zeros(self.new.n_labels, dtype=bool)
        mask[_core.most_specific(as_label_rows(images), self.new._parents)[1]] = True
        if not mask.any():
            raise ValueError(
                "mapping must have a successor of a label at which rows end, got none. Add lines "
                "to the mapping."
            )
        return mask

    def status(self, label: Label) -> str:
        """Return what becomes of an old label.

        Parameters
        ----------
        label : str or int
            A label of the old taxonomy.

        Returns
        -------
        {"kept", "remapped", "at a parent", "lost"}
            The same label, one other label, a label above it because it was split or removed, or
            no label at all.
        """
        k = self.old.index(label)
        targets = self._targets[k]
        if len(targets) == 1:
            return "kept" if self.new.labels[targets[0]] == self.old.labels[k] else "remapped"
        start, stop = self._images.indptr[k : k + 2]
        return "at a parent" if stop > start else "lost"

    def _report(self, ends: Any) -> list[dict[str, Any]]:
        counts = np.bincount(ends.indices, minlength=self.old.n_labels)
        labels = ((k, self.old.labels[k]) for k in np.flatnonzero(counts).tolist())
        changed = [(k, label) for k, label in labels if self.status(label) != "kept"]
        images = self.new.decode(self._images[[k for k, _ in changed]]) if changed else []
        return [
            {
                "label": label,
                "status": self.status(label),
                "n_rows": int(counts[k]),
                "carried_to": image,
            }
            for (k, label), image in zip(changed, images, strict=True)
        ]


@dataclass(frozen=True)
class CarriedLabels:
    """Labels carried over to a new taxonomy.

    Attributes
    ----------
    Y : csr_array of int32, shape (n, n_labels)
        The label matrix of the new taxonomy, with ancestors.
    hierarchy : Hierarchy
        The new taxonomy.
    report : list of dict
        What happened to the labels at which rows end, other than "kept": the label, its status as
        in `LabelMapping.status`, the number of rows, and the labels that they got instead.
    """

    Y: sparse.csr_array[np.int32]
    hierarchy: Hierarchy
    _format: LabelFormat
    report: list[dict[str, Any]]
    _open: Any  # a matrix whose stored entries mark labels that are not known

    @property
    def partial(self) -> PartialLabels:
        """The labels, of which those below a label that was split or removed are unknown."""
        unknown = close_unknown(self.hierarchy, self.Y, self._open, below=True)
        return PartialLabels.of(self.Y, self.hierarchy, unknown)

    @property
    def kept(self) -> NDArray[np.bool_]:
        """Which rows have a label."""
        return np.diff(self.Y.indptr) > 0

    @property
    def y(self) -> Any:
        """The labels in the format of the labels that were carried over."""
        if self._format.single_label and not self.kept.all():
            n_lost = int((~self.kept).sum())
            raise ValueError(
                f"{counted(n_lost, 'row')} lost the only label, which y must have in this format. "
                "Add lines to the mapping, or use the rows in kept of Y."
            )
        return renewed_format(self._format, self.hierarchy).write(self.Y)

    def to_frame(self) -> Any:
        """Return the report as a data frame.

        Returns
        -------
        pandas.DataFrame
            One row per old label that was not kept.
        """
        pandas = import_extra("pandas", "tables")
        return pandas.DataFrame(self.report, columns=["label", "status", "n_rows", "carried_to"])


def check_mapping(old: Hierarchy, new: Any, mapping: Any) -> LabelMapping:
    """Return a mapping after checking that it is one between two taxonomies; None has no lines."""
    if not isinstance(new, Hierarchy):
        raise TypeError(
            f"hierarchy must be a ramify.Hierarchy, got {type(new).__name__}. Build one, e.g. "
            "with Hierarchy.from_paths."
        )
    if mapping is None:
        return LabelMapping(old, new, [])
    if not isinstance(mapping, LabelMapping):
        raise TypeError(
            f"mapping must be a ramify.LabelMapping, got {type(mapping).__name__}. Make one with "
            "LabelMapping.of or LabelMapping.read."
        )
    for name, own, given in (("old", old, mapping.old), ("new", new, mapping.new)):
        if given != own:
            raise ValueError(
                f"mapping.{name} must be the {name} taxonomy, {own!r}, got {given!r}. Make the "
                "mapping between these two."
            )
    return mapping


def renewed_format(format_: LabelFormat, hierarchy: Hierarchy) -> LabelFormat:
    """Return a format for the labels of another hierarchy, which may be longer or of other types.

    >>> y = read_labels(["a", "b"])
    >>> renewed_format(y.format, Hierarchy.from_labels(["apple", "b"])).write([[1, 0]])
    array(['apple'], dtype='<U5')
    """
    changed: dict[str, Any] = {"hierarchy": hierarchy}
    settings = format_.settings()
    dtype = settings.get("dtype")
    if "n_levels" in settings:
        changed["n_levels"] = max(settings["n_levels"], hierarchy.depth)
    if dtype is not None and type(format_).__name__ != "IndicatorFormat":
        needed = label_array(hierarchy.labels).dtype.kind
        kind = np.dtype(dtype).kind
        changed["dtype"] = "U" if kind == needed == "U" else dtype if kind == needed else "O"
    return replace(format_, **changed)


class _Resolving:
    """The successors of old labels, found in the order of the labels."""

    def __init__(self, old: Hierarchy, new: Hierarchy) -> None:
        self._old, self._new = old, new
        self.targets: list[tuple[int, ...]] = []

    def default(self, k: int) -> tuple[int, ...]:
        """Return the successors of a label without a line: the same, or what its path becomes."""
        label, lookup = self._old.labels[k], self._new._graph.lookup
        if label in lookup:
            return (lookup[label],)
        for parent in row_of(self._old.parent_rows, k):
            start = f"{self._old.labels[parent]}{self._old.separator}"
            if not isinstance(label, str) or not label.startswith(start):
                continue
            rest = label.removeprefix(start)
            for target in self.targets[parent] if len(self.targets[parent]) == 1 else ():
                name = f"{self._new.labels[target]}{self._new.separator}{rest}"
                if name in lookup:
                    return (lookup[name],)
        return ()


class _Closure:
    """The ancestors of labels and the labels themselves, as sorted positions."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        self._indptr, self._indices = hierarchy.ancestor_rows

    def get(self, k: int) -> NDArray[np.int32]:
        """Return one label with its ancestors, which come before it."""
        above = self._indices[self._indptr[k] : self._indptr[k + 1]]
        return np.append(above, np.int32(k))


def _as_line(given: Any, where: str) -> MappingLine:
    try:
        return MappingLine(*(() if isinstance(given, str) else given))
    except TypeError:
        raise TypeError(
            f"{where} must be a MappingLine or a pair of an old and a new label, got {given!r}."
        ) from None


def _by_column(header: list[str], row: list[str], where: str) -> dict[str, str]:
    """Return the cells of a row by column; those after the labels may be missing."""
    needed = 1 + max(header.index("old"), header.index("new"))
    if len(row) < needed or any(cell.strip() for cell in row[len(header) :]):
        raise FormatError(
            f"{where}: expected {counted(len(header), 'cell')}, as in the first line, got "
            f"{len(row)}. Put labels with a delimiter in quotes, and leave the cell empty if "
            "nothing takes the place of a label."
        )
    return dict(zip(header, row, strict=False))


def _read_line(
    cells: dict[str, str], names: tuple[dict[str, Label], ...], where: str
) -> MappingLine:
    old, new = (
        _read_label(cells[column], column, known, where)
        for column, known in zip(("old", "new"), names, strict=True)
    )
    score = cells.get("score", "").strip()
    try:
        value = float(score) if score else 1.0
    except ValueError:
        raise FormatError(f"{where}: score must be a number, got {score!r}.") from None
    return MappingLine(old, new, cells.get("change", "").strip(), value, cells.get("reason", ""))


def _read_label(cell: str, column: str, known: dict[str, Label], where: str) -> Label | None:
    """Return the label of a cell; spaces around it count only if the label has them."""
    text = cell if cell in known else cell.strip()
    if text and text not in known:
        raise FormatError(
            f"{where}: {column} must be a label of the {column} taxonomy, got {text!r}."
            f"{did_you_mean(text, known)}"
        )
    return known[text] if text else None


def _check_lines(
    lines: Sequence[MappingLine], old: Hierarchy, new: Hierarchy, places: Sequence[str]
) -> None:
    """Raise an error for labels that are not known, and for lines that contradict each other."""
    seen: dict[tuple[Label | None, Label | None], str] = {}
    removed: dict[Label, str] = {}
    mapped: dict[Label, str] = {}
    for line, where in zip(lines, places, strict=True):
        for label, side in ((line.old, old), (line.new, new)):
            if label is not None:
                side.index(label)
        check_number(f"{where}: score", line.score, 0, 1)
        if not isinstance(line.change, str) or not isinstance(line.reason, str):
            raise TypeError(f"{where}: change and reason must be strings, got {tuple(line)!r}.")
        if line.old is None and line.new is None:
            raise ValueError(f"{where}: old and new must not both be empty. Remove the line.")
        first = seen.setdefault((line.old, line.new), where)
        if first != where:
            raise ValueError(f"{where} repeats {first}. Remove one of them.")
        if line.old is not None:
            (removed if line.new is None else mapped).setdefault(line.old, where)
    both = [label for label in removed if label in mapped]
    if both:
        raise ValueError(
            f"{removed[both[0]]} says that nothing takes the place of {both[0]!r}, but "
            f"{mapped[both[0]]} names a label. Remove one of them."
        )


def _count_for_and_against(images: Any, parent_rows: tuple[Any, Any]) -> tuple[Any, Any]:
    """Return the old labels that count for each new label, and those that count against it."""
    above: Any = indicator(parent_rows, images.shape[0]) @ images
    above.data[:] = 1
    both = images.multiply(above)
    found = []
    for part in (images - both, above - both):
        rows = sparse.csr_array(part.T)
        rows.eliminate_zeros()
        rows.sort_indices()
        found.append(rows)
    return found[0], found[1]
