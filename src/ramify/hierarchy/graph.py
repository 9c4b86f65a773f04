"""The label graph itself: immutable structure and the questions one asks of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify import _core
from ramify._validation import Label, unknown_labels_error
from ramify.hierarchy.building import Rows


class LabelGraph:
    """Labels in topological order with their parents; nothing changes after construction.

    Parameters
    ----------
    labels : iterable of labels
        Distinct, every label after its parents.
    parent_rows : (indptr, indices)
        Positions of the parents of every label, as sparse rows.
    separator : str
        What joins the segments of path names.
    aliases : mapping of label to label, optional
        Other names under which a label may be given.
    """

    labels: tuple[Label, ...]
    separator: str
    aliases: Mapping[Label, Label]
    parent_rows: Rows

    def __init__(
        self,
        labels: Iterable[Label],
        parent_rows: Rows,
        separator: str = "/",
        aliases: Mapping[Label, Label] | None = None,
    ) -> None:
        indptr = _frozen(np.array(parent_rows[0], dtype=np.int64))
        indices = _frozen(np.array(parent_rows[1], dtype=np.int32))
        state = self.__dict__
        state["labels"] = tuple(labels)
        state["parent_rows"] = (indptr, indices)
        state["separator"] = separator
        state["aliases"] = MappingProxyType(dict(aliases or {}))
        state["_position"] = {label: i for i, label in enumerate(self.labels)}
        self._check()
        targets = {alias: self._position[label] for alias, label in self.aliases.items()}
        state["_lookup"] = targets | self._position

    _position: dict[Label, int]
    _lookup: dict[Label, int]

    def _check(self) -> None:
        indptr, indices = self.parent_rows
        if not self.labels:
            raise ValueError("the hierarchy is empty. Give at least one label.")
        if len(self._position) != len(self.labels) or len(indptr) != len(self.labels) + 1:
            raise ValueError("labels must be distinct, with one row of parents each.")
        owners = np.repeat(np.arange(len(self.labels)), np.diff(indptr))
        if len(owners) != len(indices) or (indices < 0).any() or (indices >= owners).any():
            raise ValueError(
                "parent_rows must hold positions of labels that come before the child. "
                "Hierarchy.from_edges puts labels in order."
            )
        strangers = [label for label in self.aliases.values() if label not in self._position]
        if strangers:
            raise unknown_labels_error(strangers, self.labels)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(
            f"cannot set {name!r}: a hierarchy never changes. Build a new one, e.g. with subset."
        )

    __delattr__ = __setattr__  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        arguments = (self.labels, self.parent_rows, self.separator, dict(self.aliases))
        return type(self), arguments

    def __copy__(self) -> LabelGraph:
        return self

    def __deepcopy__(self, memo: object) -> LabelGraph:
        return self

    def __eq__(self, other: object) -> bool:
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

    def __len__(self) -> int:
        return len(self.labels)

    def __contains__(self, label: object) -> bool:
        return label in self._position

    @property
    def n_labels(self) -> int:
        """How many labels there are; the root is none."""
        return len(self.labels)

    def index(self, label: Label) -> int:
        """Return the position of a label in `labels`, which is its column in every matrix.

        Parameters
        ----------
        label : str or int
            A label or an alias of one.

        Returns
        -------
        int
            The position.

        Examples
        --------
        >>> from ramify import Hierarchy
        >>> Hierarchy.from_paths(["a/b", "c"]).index("c")
        2
        """
        try:
            return self._lookup[label]
        except KeyError:
            raise unknown_labels_error([label], self.labels) from None

    def indices(self, labels: Iterable[Label]) -> NDArray[np.int32]:
        """Return the positions of several labels, e.g. to select columns of a matrix.

        Parameters
        ----------
        labels : iterable of labels
            Labels or aliases.

        Returns
        -------
        ndarray of int32
            Their positions, in the order given.

        Examples
        --------
        >>> from ramify import Hierarchy
        >>> Hierarchy.from_paths(["a/b", "c"]).indices(["c", "a"])
        array([2, 0], dtype=int32)
        """
        listed = list(labels)
        lookup = self._lookup
        unknown = [label for label in listed if label not in lookup]
        if unknown:
            raise unknown_labels_error(unknown, self.labels)
        return np.fromiter((lookup[label] for label in listed), np.int32, count=len(listed))

    def _named(self, positions: Iterable[int]) -> tuple[Label, ...]:
        return tuple(self.labels[i] for i in positions)

    @cached_property
    def child_rows(self) -> Rows:
        """Children of every label as sparse rows (indptr, indices), read-only."""
        return _transposed(self.parent_rows)

    @cached_property
    def ancestor_rows(self) -> Rows:
        """All ancestors of every label as sparse rows (indptr, indices), read-only."""
        indptr, indices = _core.ancestors(*self.parent_rows)
        return _frozen(indptr), _frozen(indices)

    @cached_property
    def _descendant_rows(self) -> Rows:
        return _transposed(self.ancestor_rows)

    def parents(self, label: Label) -> tuple[Label, ...]:
        """Return the direct parents of a label; none for a top-level label.

        Parameters
        ----------
        label : str or int
            A label.

        Returns
        -------
        tuple of labels
            One at most in a tree.

        Examples
        --------
        >>> from ramify import Hierarchy
        >>> Hierarchy.from_edges([("a", "c"), ("b", "c")]).parents("c")
        ('a', 'b')
        """
        return self._named(row_of(self.parent_rows, self.index(label)))

    def children(self, label: Label) -> tuple[Label, ...]:
        """Return the direct children of a label; none for a leaf.

        Parameters
        ----------
        label : str or int
            A label.

        Returns
        -------
        tuple of labels
            In the order of `labels`.

        Examples
        --------
        >>> from ramify import Hierarchy
        >>> Hierarchy.from_paths(["a/b", "a/c"]).children("a")
        ('a/b', 'a/c')
        """
        return self._named(row_of(self.child_rows, self.index(label)))

    def ancestors(self, label: Label) -> tuple[Label, ...]:
        """Return every label above a label, along every path, the label itself left out.

        Parameters
        ----------
        label : str or int
            A label.

        Returns
        -------
        tuple of labels
            In the order of `labels`, so parents come before their children.

        Examples
        --------
        >>> from ramify import Hierarchy
        >>> Hierarchy.from_paths(["a/b/c"]).ancestors("a/b/c")
        ('a', 'a/b')
        """
        return self._named(row_of(self.ancestor_rows, self.index(label)))

    def descendants(self, label: Label) -> tuple[Label, ...]:
        """Return every label below a label, the label itself left out.

        Parameters
        ----------
        label : str or int
            A label.

        Returns
        -------
        tuple of labels
            In the order of `labels`.

        Examples
        --------
        >>> from ramify import Hierarchy
        >>> Hierarchy.from_paths(["a/b/c"]).descendants("a")
        ('a/b', 'a/b/c')
        """
        return self._named(row_of(self._descendant_rows, self.index(label)))

    @cached_property
    def leaves(self) -> tuple[Label, ...]:
        """Labels without children."""
        return self._named(np.flatnonzero(np.diff(self.child_rows[0]) == 0).tolist())

    @cached_property
    def label_levels(self) -> NDArray[np.int32]:
        """The level of every label: 1 at the top; in a DAG the longest path from the root."""
        indptr, indices = (rows.tolist() for rows in self.parent_rows)
        levels: list[int] = []
        for start, stop in pairwise(indptr):
            levels.append(1 + max((levels[p] for p in indices[start:stop]), default=0))
        return _frozen(np.array(levels, dtype=np.int32))

    @cached_property
    def levels(self) -> tuple[tuple[Label, ...], ...]:
        """The labels of every level, from the top down."""
        return tuple(
            self._named(np.flatnonzero(self.label_levels == level).tolist())
            for level in range(1, self.depth + 1)
        )

    @cached_property
    def depth(self) -> int:
        """The number of levels: 1 for a flat hierarchy."""
        return int(self.label_levels.max())

    @cached_property
    def is_tree(self) -> bool:
        """Whether every label has one parent at most."""
        return bool((np.diff(self.parent_rows[0]) <= 1).all())


def row_of(rows: Rows, position: int) -> list[int]:
    """Return one row of sparse rows as a list."""
    indptr, indices = rows
    row: list[int] = indices[indptr[position] : indptr[position + 1]].tolist()
    return row


def _transposed(rows: Rows) -> Rows:
    """Swap the ends of every edge; rows come out sorted because the input is read in order."""
    indptr, indices = rows
    n = len(indptr) - 1
    owners = np.repeat(np.arange(n, dtype=np.int32), np.diff(indptr))
    counts = np.bincount(indices, minlength=n)
    turned = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return _frozen(turned), _frozen(owners[np.argsort(indices, kind="stable")])


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array
