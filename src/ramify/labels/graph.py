"""The structure of a hierarchy: sorted labels, the edges between them, and closed label sets."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, pairwise
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify._cached import cached_property
from ramify._messages import did_you_mean, shorten
from ramify._validation import (
    Label,
    UnknownLabelsError,
    check_choice,
    check_label_matrix,
    check_label_name,
    unknown_labels_error,
)
from ramify.data.rows import as_label_rows, indicator
from ramify.labels.building import Rows, rows_from_lists

_MAX_ANCESTORS = 250_000_000


class LabelGraph:
    """Labels, each after its parents, aliases and edges; not changed after construction."""

    def __init__(
        self,
        labels: Iterable[Label],
        parent_rows: Rows,
        aliases: Mapping[Label, Label] | None = None,
    ) -> None:
        self.labels: tuple[Label, ...] = tuple(labels)
        self.n_labels = len(self.labels)
        self.parent_rows: Rows = (
            _frozen(np.array(parent_rows[0], dtype=np.int64)),
            _frozen(np.array(parent_rows[1], dtype=np.int32)),
        )
        self.aliases: Mapping[Label, Label] = MappingProxyType(dict(aliases or {}))
        self.position = {label: i for i, label in enumerate(self.labels)}
        self._check()
        targets = {alias: self.position[label] for alias, label in self.aliases.items()}
        self.lookup = targets | self.position

    def _check(self) -> None:
        indptr, indices = self.parent_rows
        if not self.labels:
            raise ValueError("the hierarchy is empty. Pass at least one label.")
        if len(self.position) != len(self.labels) or len(indptr) != len(self.labels) + 1:
            raise ValueError(
                f"labels must be distinct with one row of parents each, got {len(self.labels)} "
                f"labels, {len(self.position)} of them distinct, and {len(indptr) - 1} rows."
            )
        owners = np.repeat(np.arange(self.n_labels), np.diff(indptr))
        if len(owners) != len(indices) or (indices < 0).any() or (indices >= owners).any():
            raise ValueError(
                "parent_rows must contain positions of labels that come before the child. Use "
                "Hierarchy.from_edges, which sorts the labels."
            )
        strangers = [label for label in self.aliases.values() if label not in self.position]
        if strangers:
            raise unknown_labels_error(strangers, self.labels)

    def __eq__(self, other: object) -> bool:
        """Compare labels and edges; aliases are ignored."""
        if not isinstance(other, LabelGraph):
            return NotImplemented
        return self is other or (
            self.labels == other.labels
            and np.array_equal(self.parent_rows[0], other.parent_rows[0])
            and np.array_equal(self.parent_rows[1], other.parent_rows[1])
        )

    @cached_property
    def _hash(self) -> int:
        edges = hashlib.sha256(self.parent_rows[0].tobytes() + self.parent_rows[1].tobytes())
        return hash((self.labels, edges.digest()))

    def __hash__(self) -> int:
        return self._hash

    def index(self, label: Label) -> int:
        """Return the position of a label or alias."""
        try:
            return self.lookup[label]
        except KeyError:
            raise unknown_labels_error([label], self.labels) from None

    def find(self, name: Label, separator: str) -> Label:
        """Return the only label with a name, or whose path ends in it."""
        if name in self.lookup:
            return self.labels[self.lookup[name]]
        text = f"{separator}{name}"
        ends = [label for label in self.labels if f"{separator}{label}".endswith(text)]
        # Only if no label is written exactly so: "lutra lutra" for "…/Lutra lutra".
        folded = text.casefold()
        ends = ends or [
            label for label in self.labels if f"{separator}{label}".casefold().endswith(folded)
        ]
        if not ends:
            raise UnknownLabelsError(
                f"unknown label {name!r}: no label is or ends in it.{self._similar(name)}", [name]
            )
        if len(ends) > 1:
            raise ValueError(
                f"the label {name!r} is ambiguous: {len(ends)} labels end in it, {shorten(ends)}. "
                "Pass more of its path."
            )
        return ends[0]

    def _similar(self, name: Label) -> str:
        """Suggest labels that contain a name, or are spelled like it."""
        folded = str(name).casefold()
        near = dict.fromkeys(x for x in self.labels if folded in str(x).casefold()).keys()
        # The names of descendants contain it, too.
        rows = self.parent_rows
        first = [
            x for x in self.labels if x in near and near.isdisjoint(self.labels_in_row(rows, x))
        ]
        return f" Similar labels: {shorten(first)}." if near else did_you_mean(name, self.labels)

    def indices(self, labels: Iterable[Label]) -> NDArray[np.int32]:
        """Return the positions of several labels or aliases, in the order given."""
        listed = list(labels)
        lookup = self.lookup
        unknown = [label for label in listed if label not in lookup]
        if unknown:
            raise unknown_labels_error(unknown, self.labels)
        return np.fromiter((lookup[label] for label in listed), np.int32, count=len(listed))

    def labels_at(self, positions: Iterable[int]) -> tuple[Label, ...]:
        """Return the labels at some positions."""
        return tuple(self.labels[i] for i in positions)

    def labels_in_row(self, rows: Rows, label: Label) -> tuple[Label, ...]:
        """Return the labels in one row of `parent_rows` or `child_rows`."""
        return self.labels_at(row_of(rows, self.index(label)))

    @cached_property
    def parents(self) -> _core.LabelRows:
        """The parents of every label in the form of the core."""
        return _core.LabelRows(*self.parent_rows, len(self.labels))

    @cached_property
    def child_rows(self) -> Rows:
        """Children of every label."""
        return _transposed(self.parent_rows)

    @cached_property
    def ancestor_rows(self) -> Rows:
        """All ancestors of every label: up to n² / 2 of them in a deep hierarchy."""
        try:
            indptr, indices = _core.ancestors(self.parents, _MAX_ANCESTORS)
        except ValueError:
            raise MemoryError(
                f"the labels of this hierarchy have more than {_MAX_ANCESTORS} ancestors "
                f"together, in {self.depth} levels. Use a hierarchy with fewer levels, or "
                "ancestors(label) for single labels."
            ) from None
        return _frozen(indptr), _frozen(indices)

    def ancestors_of(self, position: int) -> list[int]:
        """Return the positions of all ancestors of one label."""
        return _reachable(self.parent_rows, position)

    def descendants_of(self, position: int) -> list[int]:
        """Return the positions of all descendants of one label."""
        return _reachable(self.child_rows, position)

    @cached_property
    def leaves(self) -> tuple[Label, ...]:
        """Labels without children."""
        return self.labels_at(np.flatnonzero(np.diff(self.child_rows[0]) == 0).tolist())

    @cached_property
    def label_levels(self) -> NDArray[np.int32]:
        """Level of every label: 1 at the top; in a DAG, the length of the longest path."""
        indptr, indices = (rows.tolist() for rows in self.parent_rows)
        levels: list[int] = []
        for start, stop in pairwise(indptr):
            levels.append(1 + max((levels[p] for p in indices[start:stop]), default=0))
        return _frozen(np.array(levels, dtype=np.int32))

    @cached_property
    def levels(self) -> tuple[tuple[Label, ...], ...]:
        """Labels of every level, from the top down."""
        order = np.argsort(self.label_levels, kind="stable")
        ends = np.cumsum(np.bincount(self.label_levels)).tolist()
        return tuple(self.labels_at(order[a:b].tolist()) for a, b in pairwise(ends))

    @cached_property
    def depth(self) -> int:
        """Number of levels."""
        return int(self.label_levels.max())

    @cached_property
    def is_tree(self) -> bool:
        """Whether every label has at most one parent."""
        return bool((np.diff(self.parent_rows[0]) <= 1).all())

    def nearest_parents(self, kept: Sequence[int]) -> Rows:
        """Return the nearest kept labels above each kept label, as positions in `kept`, sorted."""
        new_position = {old: new for new, old in enumerate(kept)}
        nearest: list[set[int]] = []
        rows = []
        for position in range(self.n_labels):
            above = set().union(*(nearest[p] for p in row_of(self.parent_rows, position)))
            nearest.append({position} if position in new_position else above)
            if position in new_position:
                rows.append([new_position[p] for p in above])
        return rows_from_lists(rows)


def row_of(rows: Rows, position: int) -> list[int]:
    """Return one row of sparse rows as a list."""
    indptr, indices = rows
    row: list[int] = indices[indptr[position] : indptr[position + 1]].tolist()
    return row


def _reachable(edges: Rows, position: int) -> list[int]:
    """Return the positions that can be reached from a position, sorted, without the position."""
    found: set[int] = set()
    waiting = [position]
    while waiting:
        new = [other for other in row_of(edges, waiting.pop()) if other not in found]
        found.update(new)
        waiting.extend(new)
    return sorted(found)


def _transposed(rows: Rows) -> Rows:
    """Reverse every edge; rows are sorted because the sort is stable."""
    indptr, indices = rows
    n = len(indptr) - 1
    owners = np.repeat(np.arange(n, dtype=np.int32), np.diff(indptr))
    counts = np.bincount(indices, minlength=n)
    turned = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return _frozen(turned), _frozen(owners[np.argsort(indices, kind="stable")])


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array


# ---- closed label sets ----------------------------------------------------------------------


_MAX_CLOSED = 500_000_000

_COMBINE: dict[str, Callable[[list[float]], float]] = {
    "avg": lambda weights: sum(weights) / len(weights),
    "sum": sum,
    "min": min,
    "max": max,
}


def encode_label_sets(graph: LabelGraph, label_sets: Iterable[Any]) -> sparse.csr_array[np.int32]:
    """Return the label matrix of label sets, with ancestors; see `Hierarchy.encode`."""
    if isinstance(label_sets, str):
        raise TypeError(
            f"label_sets must be a list of label sets, got the string {label_sets!r}. Pass "
            f"[[{label_sets!r}]]."
        )
    rows = [row if type(row) is tuple else _label_set(row) for row in label_sets]
    indptr = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, rows), np.int64, count=len(rows)), out=indptr[1:])
    lookup = graph.lookup.__getitem__
    try:
        indices = np.fromiter(
            map(lookup, chain.from_iterable(rows)), np.int32, count=int(indptr[-1])
        )
    except (KeyError, TypeError):
        raise _encoding_error(graph, rows) from None
    return _closed(graph, _core.LabelRows(indptr, indices, graph.n_labels))


def _label_set(row: Any) -> tuple[Any, ...]:
    """Return the labels of a row, which may be a single label."""
    if type(row) is list:  # much faster to tell than a scalar
        return tuple(row)
    return (row,) if isinstance(row, str) or row is None or np.isscalar(row) else tuple(row)


def _encoding_error(graph: LabelGraph, rows: Sequence[tuple[Any, ...]]) -> Exception:
    """Find the label that could not be encoded; slow, so only done after a failure."""
    unknown = []
    for i, row in enumerate(rows):
        for label in row:
            try:
                check_label_name(label, f"a label of row {i}", (str, int, float))
            except (TypeError, ValueError) as error:
                return error
            if label not in graph.lookup:
                unknown.append(label)
    return unknown_labels_error(unknown, graph.labels)


def close_matrix(graph: LabelGraph, Y: Any) -> sparse.csr_array[np.int32]:
    """Return a label matrix with the ancestors of its labels; see `Hierarchy.close`."""
    return _closed(graph, as_label_rows(check_label_matrix(Y, graph.labels)))


def _closed(graph: LabelGraph, rows: _core.LabelRows) -> sparse.csr_array[np.int32]:
    try:
        indptr, indices = _core.close_upwards(rows, graph.parents, _MAX_CLOSED)
    except ValueError:
        raise MemoryError(
            f"the {rows.n_rows} rows have more than {_MAX_CLOSED} labels together with their "
            f"ancestors, in {graph.depth} levels. Use a hierarchy with fewer levels, or fewer "
            "rows at a time."
        ) from None
    # scipy converts both index arrays to the wider type; 32 bits take half the memory.
    if len(indices) <= np.iinfo(np.int32).max:
        indptr = indptr.astype(np.int32)
    return indicator((indptr, indices), graph.n_labels)


def decode_matrix(graph: LabelGraph, Y: Any, most_specific: bool) -> list[tuple[Label, ...]]:
    """Return the label sets of a label matrix; see `Hierarchy.decode`."""
    matrix = check_label_matrix(Y, graph.labels)
    indptr: Any = matrix.indptr
    indices: Any = matrix.indices
    if most_specific:
        indptr, indices = _core.most_specific(as_label_rows(matrix), graph.parents)
    labels = graph.labels
    names = [labels[i] for i in indices.tolist()]
    bounds = indptr.tolist()
    return [tuple(names[a:b]) for a, b in pairwise(bounds)]


def label_weights(graph: LabelGraph, w0: float, combine: str) -> NDArray[np.float64]:
    """Return the weight of every label; see `Hierarchy.weights`."""
    if not np.isscalar(w0) or isinstance(w0, str) or not 0 < w0 < np.inf:
        raise ValueError(f"w0 must be a positive number, got {w0!r}. Pass e.g. w0=0.75.")
    if combine not in _COMBINE:
        raise ValueError(f"combine must be one of {list(_COMBINE)}, got {combine!r}.")
    reduce = _COMBINE[combine]
    indptr, indices = (rows.tolist() for rows in graph.parent_rows)
    weights: list[float] = []
    for start, stop in pairwise(indptr):
        if start == stop:
            weights.append(float(w0))
        elif stop - start == 1:
            weights.append(w0 * weights[indices[start]])
        else:
            weights.append(w0 * reduce([weights[p] for p in indices[start:stop]]))
    if not np.isfinite(weights).all():
        raise ValueError(
            f"w0 must give finite weights, got {w0!r}, whose powers over the {graph.depth} levels "
            "of the hierarchy do not. Pass a smaller number, e.g. w0=0.75."
        )
    return np.array(weights)


def label_costs(graph: LabelGraph) -> NDArray[np.float64]:
    """Return the cost of every label; see `Hierarchy.costs`."""
    indptr, indices = (rows.tolist() for rows in graph.parent_rows)
    n_children = np.diff(graph.child_rows[0]).tolist()
    n_top = sum(start == stop for start, stop in pairwise(indptr))
    costs: list[float] = []
    for start, stop in pairwise(indptr):
        shares = [costs[p] / n_children[p] for p in indices[start:stop]]
        costs.append(sum(shares) if shares else 1.0 / n_top)
    return np.array(costs, dtype=np.float64)


# ---- sparse scores of ancestors -------------------------------------------------------------


def propagate_scores(graph: LabelGraph, scores: Any, how: str) -> sparse.csr_array[np.float64]:
    """Return scores for labels and their ancestors; see `Hierarchy.propagate`."""
    check_choice("how", how, ("max", "fill"))
    rows = sparse.csr_array(scores)
    n_labels = graph.n_labels
    if rows.ndim != 2 or rows.shape[1] != n_labels:
        raise ValueError(
            f"scores must have one column per label, {n_labels}, got the shape {rows.shape}. Pass "
            "columns in the order of hierarchy.labels."
        )
    if rows.dtype.kind not in "biuf" or not np.isfinite(rows.data).all():
        raise ValueError("scores must be finite numbers, got others. Replace NaN and infinity.")
    if rows.nnz and rows.data.min() < 0:
        raise ValueError(
            f"scores must not be negative, got {rows.data.min()}. Labels without a score are 0."
        )
    indptr, indices, data = _core.propagate(
        as_label_rows(rows), np.ascontiguousarray(rows.data, dtype=np.float64), graph.parents, how
    )
    # scipy converts both index arrays to the wider type; 32 bits take half the memory.
    if len(indices) <= np.iinfo(np.int32).max:
        indptr = indptr.astype(np.int32)
    return sparse.csr_array((data, indices, indptr), shape=rows.shape)
