"""Hierarchies of labels: trees and directed acyclic graphs, their closure and their weights."""

from __future__ import annotations

import html
from collections.abc import Hashable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify._validation import Label, check_label_name, import_extra, shorten
from ramify.hierarchy.building import (
    OrderedGraph,
    Rows,
    edges_of_paths,
    order_graph,
    parents_of_edges,
    rows_from_lists,
    without_root,
)
from ramify.hierarchy.encoding import (
    close_matrix,
    decode_matrix,
    encode_label_sets,
    label_costs,
    label_weights,
)
from ramify.hierarchy.graph import LabelGraph, row_of
from ramify.hierarchy.obo import read_terms
from ramify.hierarchy.text import read_json, read_outline, write_json, write_outline


class Hierarchy:
    """A tree or directed acyclic graph of labels that never changes.

    Build one with a constructor that starts with ``from_``. The root is implicit: it stands
    above the top-level labels and is no label. Labels come in a fixed order, siblings sorted
    (names of digits only by value), depth first, every label after all its parents; the
    columns of every label matrix follow this order.

    Parameters
    ----------
    labels : iterable of labels
        Distinct, every label after its parents.
    parent_rows : (indptr, indices)
        Positions of the parents of every label, as sparse rows.
    separator : str
        What joins the segments of path names.
    aliases : mapping of label to label, optional
        Other names under which `encode` and `index` find a label.

    Attributes
    ----------
    labels : tuple of labels
        All labels, in order.
    n_labels : int
        How many there are.
    leaves : tuple of labels
        Labels without children.
    levels : tuple of tuples of labels
        The labels of every level from the top; a label's level is its longest path.
    depth : int
        The number of levels.
    is_tree : bool
        Whether every label has one parent at most.
    parent_rows, ancestor_rows, child_rows : (indptr int64, indices int32)
        The graph as read-only sparse rows, for kernels.

    Notes
    -----
    Two hierarchies are equal when they have the same labels in the same order and the same
    edges; aliases and separator do not count.

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> animals = Hierarchy.from_paths(["bird", "mammal/cat", "mammal/dog"])
    >>> animals
    Hierarchy(4 labels, tree, 2 levels: 'bird', 'mammal', 'mammal/cat', 'mammal/dog')
    >>> animals.encode([["mammal/cat"], ["bird", "mammal"]]).toarray()
    array([[0, 1, 1, 0],
           [1, 1, 0, 0]], dtype=int32)
    """

    def __init__(
        self,
        labels: Iterable[Label],
        parent_rows: Rows,
        separator: str = "/",
        aliases: Mapping[Label, Label] | None = None,
    ) -> None:
        object.__setattr__(self, "_graph", LabelGraph(labels, parent_rows, aliases))
        object.__setattr__(self, "separator", separator)

    _graph: LabelGraph
    separator: str

    @classmethod
    def from_paths(cls, paths: Iterable[Any], separator: str = "/") -> Hierarchy:
        """Build a tree from paths; every prefix of a path becomes a label.

        Parameters
        ----------
        paths : iterable of str, or of tuples of names
            Paths from the top, such as "animal/bird". A label's name is its full path.
        separator : str
            What joins the names of a path.

        Returns
        -------
        Hierarchy
            A tree.

        Examples
        --------
        >>> Hierarchy.from_paths(["01/01/03", "01/02"]).labels
        ('01', '01/01', '01/01/03', '01/02')
        """
        graph = order_graph(edges_of_paths(paths, separator), separator)
        return cls._of(graph, separator)

    @classmethod
    def from_edges(
        cls, edges: Iterable[Any], root: Hashable = None, *, tree: bool = False
    ) -> Hierarchy:
        """Build a tree or a directed acyclic graph from (parent, child) pairs.

        Parameters
        ----------
        edges : iterable of (parent, child)
            Labels are strings or integers; a name may contain any character.
        root : str or int, optional
            The name of the virtual root in `edges`; it becomes no label. An edge from the root
            to a label that has another parent as well adds nothing and is dropped.
        tree : bool
            Refuse labels with several parents.

        Returns
        -------
        Hierarchy
            Labels that are never a child are at the top.

        Examples
        --------
        >>> pets = Hierarchy.from_edges([("mammal", "dog"), ("pet", "dog")])
        >>> pets.ancestors("dog"), pets.is_tree
        (('mammal', 'pet'), False)
        """
        return cls._of(order_graph(parents_of_edges(edges, root, tree)))

    @classmethod
    def from_labels(cls, labels: Iterable[Label]) -> Hierarchy:
        """Build a flat hierarchy: all labels at the top, in the order given.

        Parameters
        ----------
        labels : iterable of str or numbers
            Distinct labels.

        Returns
        -------
        Hierarchy
            One level, no edges.

        Examples
        --------
        >>> Hierarchy.from_labels(["spam", "ham"]).labels
        ('spam', 'ham')
        """
        if isinstance(labels, str):
            raise TypeError(f"labels is the single string {labels!r}. Give a list: [{labels!r}].")
        kinds = (str, int, float)
        listed = [check_label_name(x, f"labels[{i}]", kinds) for i, x in enumerate(labels)]
        if not listed:
            raise ValueError("labels is empty. Give at least one label.")
        distinct = set(listed)
        if len(distinct) < len(listed):
            repeated = [label for label in distinct if listed.count(label) > 1]
            raise ValueError(f"labels lists {shorten(repeated)} more than once. Give each once.")
        return cls(listed, rows_from_lists([] for _ in listed))

    @classmethod
    def from_networkx(cls, graph: Any, root: Hashable = None, *, tree: bool = False) -> Hierarchy:
        """Build a hierarchy from a networkx graph whose edges point from parent to child.

        Parameters
        ----------
        graph : networkx.DiGraph or networkx.MultiDiGraph
            Parallel edges count once; nodes without edges are top-level labels.
        root : str or int, optional
            The node that is the virtual root and becomes no label.
        tree : bool
            Refuse labels with several parents.

        Returns
        -------
        Hierarchy
            Edges from child to parent? Give ``graph.reverse()``.

        Examples
        --------
        >>> import networkx
        >>> graph = networkx.DiGraph([("animal", "bird"), ("animal", "cat")])
        >>> Hierarchy.from_networkx(graph, root="animal").labels
        ('bird', 'cat')
        """
        if not graph.is_directed():
            raise ValueError(
                "graph is undirected, so parents cannot be told from children. Give a "
                "networkx.DiGraph with edges from parent to child."
            )
        nodes = [check_label_name(node, "a node of graph") for node in graph.nodes()]
        parents: dict[Label, list[Label]] = {node: [] for node in nodes}
        parents |= parents_of_edges(dict.fromkeys(graph.edges()), root, tree)
        return cls._of(order_graph(without_root(parents, root)))

    @classmethod
    def from_obo(
        cls,
        path: str | PathLike[str],
        root: Hashable = None,
        *,
        relations: Sequence[str] = ("is_a", "part_of"),
    ) -> Hierarchy:
        """Build a hierarchy from an ontology in an OBO file, e.g. the Gene Ontology.

        Obsolete terms are left out. Alternative identifiers become aliases, so that `encode`
        finds a term under its old names.

        Parameters
        ----------
        path : str or path
            An OBO file, plain or compressed (.gz, .bz2, .xz).
        root : str, optional
            The term that is the virtual root and becomes no label.
        relations : sequence of str
            Relations that lead from a term to its parents.

        Returns
        -------
        Hierarchy
            Labels are term identifiers such as "GO:0008150".

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "pets.obo")
        ...     _ = path.write_text('''ontology: pets
        ...
        ... [Term]
        ... id: P:1
        ... name: pet
        ...
        ... [Term]
        ... id: P:2
        ... name: cat
        ... alt_id: P:9
        ... is_a: P:1 ! pet
        ... ''')
        ...     pets = Hierarchy.from_obo(path)
        >>> pets.labels, pets.index("P:9")
        (('P:1', 'P:2'), 1)
        """
        parents, aliases = read_terms(path, relations)
        graph = order_graph(without_root(parents, root))
        aliases = {alias: term for alias, term in aliases.items() if term != root}
        return cls(graph.labels, graph.parent_rows, aliases=aliases)

    @classmethod
    def from_text(cls, text: str) -> Hierarchy:
        """Build a hierarchy from an outline: one label a line, children indented.

        Parameters
        ----------
        text : str
            The outline. Blank lines do not count. A label that stands under two parents has
            both, so an outline can describe a DAG.

        Returns
        -------
        Hierarchy
            Labels are the lines without their indentation.

        Examples
        --------
        >>> Hierarchy.from_text('''
        ... animal
        ...   bird
        ...   cat
        ... plant
        ... ''').labels
        ('animal', 'bird', 'cat', 'plant')
        """
        return cls._of(order_graph(read_outline(text)))

    @classmethod
    def from_json(cls, text: str) -> Hierarchy:
        """Read a hierarchy that `to_json` wrote.

        Parameters
        ----------
        text : str
            The JSON text, not the name of a file.

        Returns
        -------
        Hierarchy
            Equal to the one written, aliases and separator included.

        Examples
        --------
        >>> hierarchy = Hierarchy.from_paths(["a/b"])
        >>> Hierarchy.from_json(hierarchy.to_json()) == hierarchy
        True
        """
        graph, separator, aliases = read_json(text)
        return cls(graph.labels, graph.parent_rows, separator, aliases)

    @classmethod
    def _of(cls, graph: OrderedGraph, separator: str = "/") -> Hierarchy:
        return cls(graph.labels, graph.parent_rows, separator)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(
            f"cannot set {name!r}: a hierarchy never changes. Build a new one, e.g. with subset."
        )

    __delattr__ = __setattr__  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        arguments = (self.labels, self.parent_rows, self.separator, dict(self.aliases))
        return type(self), arguments

    def __copy__(self) -> Hierarchy:
        return self

    def __deepcopy__(self, memo: object) -> Hierarchy:
        return self

    def __eq__(self, other: object) -> bool:
        return self._graph == other._graph if isinstance(other, Hierarchy) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._graph)

    def __len__(self) -> int:
        return self.n_labels

    def __contains__(self, label: object) -> bool:
        return label in self._graph.position

    def __repr__(self) -> str:
        kind = "tree" if self.is_tree else "DAG"
        plural = "" if self.n_labels == 1 else "s"
        levels = "flat" if self.depth == 1 else f"{kind}, {self.depth} levels"
        first = ", ".join(repr(label) for label in self.labels[:4])
        more = ", …" if self.n_labels > 4 else ""
        return f"Hierarchy({self.n_labels} label{plural}, {levels}: {first}{more})"

    def _repr_html_(self) -> str:
        outline = html.escape(self.to_text(max_labels=30))
        return f"<p>{html.escape(repr(self))}</p><pre>{outline}</pre>"

    @property
    def labels(self) -> tuple[Label, ...]:
        """All labels, in order; the columns of every label matrix."""
        return self._graph.labels

    @property
    def n_labels(self) -> int:
        """Number of labels; the root is not counted."""
        return self._graph.n_labels

    @property
    def aliases(self) -> Mapping[Label, Label]:
        """Other names for labels, accepted by `encode`, `index` and `indices`."""
        return self._graph.aliases

    @property
    def parent_rows(self) -> Rows:
        """Parents of every label as sparse rows (indptr, indices), read-only."""
        return self._graph.parent_rows

    @property
    def child_rows(self) -> Rows:
        """Children of every label as sparse rows (indptr, indices), read-only."""
        return self._graph.child_rows

    @property
    def ancestor_rows(self) -> Rows:
        """All ancestors of every label as sparse rows (indptr, indices), read-only."""
        return self._graph.ancestor_rows

    @property
    def leaves(self) -> tuple[Label, ...]:
        """Labels without children."""
        return self._graph.leaves

    @property
    def label_levels(self) -> NDArray[np.int32]:
        """Level of every label: 1 at the top; in a DAG, the length of the longest path."""
        return self._graph.label_levels

    @property
    def levels(self) -> tuple[tuple[Label, ...], ...]:
        """Labels of every level, from the top down."""
        return self._graph.levels

    @property
    def depth(self) -> int:
        """Number of levels: 1 for a flat hierarchy."""
        return self._graph.depth

    @property
    def is_tree(self) -> bool:
        """Whether every label has at most one parent."""
        return self._graph.is_tree

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
        >>> Hierarchy.from_paths(["a/b", "c"]).index("c")
        2
        """
        return self._graph.index(label)

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
        >>> Hierarchy.from_paths(["a/b", "c"]).indices(["c", "a"])
        array([2, 0], dtype=int32)
        """
        return self._graph.indices(labels)

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
        >>> Hierarchy.from_edges([("a", "c"), ("b", "c")]).parents("c")
        ('a', 'b')
        """
        return self._graph.labels_in_row(self._graph.parent_rows, label)

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
        >>> Hierarchy.from_paths(["a/b", "a/c"]).children("a")
        ('a/b', 'a/c')
        """
        return self._graph.labels_in_row(self._graph.child_rows, label)

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
        >>> Hierarchy.from_paths(["a/b/c"]).ancestors("a/b/c")
        ('a', 'a/b')
        """
        return self._graph.labels_in_row(self._graph.ancestor_rows, label)

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
        >>> Hierarchy.from_paths(["a/b/c"]).descendants("a")
        ('a/b', 'a/b/c')
        """
        return self._graph.labels_in_row(self._graph.descendant_rows, label)

    def encode(self, label_sets: Iterable[Any]) -> sparse.csr_array[np.int32]:
        """Turn label sets into a label matrix that is closed upwards.

        Parameters
        ----------
        label_sets : iterable of iterables of labels
            One set per row, possibly empty. A string or number in place of a set is a set of
            one label.

        Returns
        -------
        csr_array of int32, shape (n, n_labels)
            1 where the row has the label or a descendant of it; sorted indices.

        Examples
        --------
        >>> Hierarchy.from_paths(["a/b", "c"]).encode([["a/b"], [], "c"]).toarray()
        array([[1, 1, 0],
               [0, 0, 0],
               [0, 0, 1]], dtype=int32)
        """
        return encode_label_sets(self._graph, label_sets)

    def close(self, Y: Any) -> sparse.csr_array[np.int32]:
        """Add to every row of a label matrix the ancestors of its labels.

        Parameters
        ----------
        Y : array-like or sparse matrix of shape (n, n_labels)
            Zeros and ones, columns in the order of `labels`.

        Returns
        -------
        csr_array of int32, shape (n, n_labels)
            The closed matrix.

        Examples
        --------
        >>> Hierarchy.from_paths(["a/b", "c"]).close([[0, 1, 0]]).toarray()
        array([[1, 1, 0]], dtype=int32)
        """
        return close_matrix(self._graph, Y)

    def decode(self, Y: Any, most_specific: bool = True) -> list[tuple[Label, ...]]:
        """Turn a label matrix into label sets.

        Parameters
        ----------
        Y : array-like or sparse matrix of shape (n, n_labels)
            Zeros and ones, columns in the order of `labels`.
        most_specific : bool
            Leave out labels that a descendant in the same row implies.

        Returns
        -------
        list of tuples of labels
            One tuple per row, in the order of `labels`.

        Examples
        --------
        >>> hierarchy = Hierarchy.from_paths(["a/b", "c"])
        >>> hierarchy.decode([[1, 1, 0], [1, 0, 1]])
        [('a/b',), ('a', 'c')]
        >>> hierarchy.decode([[1, 1, 0]], most_specific=False)
        [('a', 'a/b')]
        """
        return decode_matrix(self._graph, Y, most_specific)

    def weights(self, w0: float = 0.75, combine: str = "avg") -> NDArray[np.float64]:
        """Return the weight of every label: w0 times that of its parents; the root has 1.

        Parameters
        ----------
        w0 : float
            The factor from a level to the next; 1 gives all labels the same weight.
        combine : {"avg", "sum", "min", "max"}
            How the weights of several parents become one. All are equal in a tree.

        Returns
        -------
        ndarray of shape (n_labels,)
            w0 for top-level labels, w0² below them, and so on in a tree.

        Examples
        --------
        >>> Hierarchy.from_paths(["a/b"]).weights(w0=0.5)
        array([0.5 , 0.25])
        """
        return label_weights(self._graph, w0, combine)

    def costs(self) -> NDArray[np.float64]:
        """Return the cost of every label: its parent's, shared among the siblings.

        The root has cost 1; a label of a DAG sums what each of its parents hands down.

        Returns
        -------
        ndarray of shape (n_labels,)
            The costs; in a tree those of a parent's children sum to the parent's.

        Examples
        --------
        >>> Hierarchy.from_paths(["a/b", "a/c", "d"]).costs()
        array([0.5 , 0.25, 0.25, 0.5 ])
        """
        return label_costs(self._graph)

    def to_text(self, max_labels: int | None = None) -> str:
        """Write the hierarchy as an outline, which `from_text` reads.

        Parameters
        ----------
        max_labels : int, optional
            Show at most so many labels, those nearest to the root; lines with "…" count the
            rest. None shows all.

        Returns
        -------
        str
            One label a line, indented below its parent. A label with several parents stands
            under each of them, what is below it only once.

        Examples
        --------
        >>> print(Hierarchy.from_paths(["a/x", "a/y/z", "b"]).to_text(max_labels=3))
        a
          a/x
          … 2 more
        b
        """
        return write_outline(self._graph, max_labels)

    def to_json(self) -> str:
        """Write the hierarchy as JSON: labels in order, parents by position, aliases.

        Returns
        -------
        str
            JSON text for `from_json`.

        Examples
        --------
        >>> Hierarchy.from_paths(["a/b"]).to_json()
        '{"format": "ramify.hierarchy", "version": 1, "separator": "/", "labels": ["a", "a/b"], ...
        """
        return write_json(self._graph, self.separator)

    def to_networkx(self) -> Any:
        """Return the hierarchy as a networkx.DiGraph with edges from parent to child.

        Returns
        -------
        networkx.DiGraph
            Nodes in the order of `labels`; the root is no node.

        Examples
        --------
        >>> Hierarchy.from_paths(["a/b", "a/c"]).to_networkx().edges
        OutEdgeView([('a', 'a/b'), ('a', 'a/c')])
        """
        graph = import_extra("networkx", "obo").DiGraph()
        graph.add_nodes_from(self.labels)
        for position, label in enumerate(self.labels):
            parents = row_of(self.parent_rows, position)
            graph.add_edges_from((self.labels[p], label) for p in parents)
        return graph

    def subset(self, labels: Iterable[Label]) -> Hierarchy:
        """Keep some labels; their parents become the nearest kept labels along every path up.

        Parameters
        ----------
        labels : iterable of labels
            What to keep, in any order.

        Returns
        -------
        Hierarchy
            The kept labels in their present order. For the matrix of the subset take
            ``Y[:, hierarchy.indices(subset.labels)]``.

        Examples
        --------
        >>> hierarchy = Hierarchy.from_paths(["a/b/c", "d"])
        >>> kept = hierarchy.subset(["a/b/c", "a"])
        >>> kept.parents("a/b/c")
        ('a',)
        >>> hierarchy.encode([["a/b"], ["d"]])[:, hierarchy.indices(kept.labels)].toarray()
        array([[1, 0],
               [0, 0]], dtype=int32)
        """
        kept = sorted(set(self.indices(labels).tolist()))
        names = self._graph.labels_at(kept)
        aliases = {a: label for a, label in self.aliases.items() if label in set(names)}
        parent_rows = self._graph.nearest_parents(kept)
        return type(self)(names, parent_rows, self.separator, aliases)

    def prune(self, Y: Any, min_count: int = 1) -> Hierarchy:
        """Keep the labels that enough rows have; rows count for all ancestors of their labels.

        Parameters
        ----------
        Y : array-like or sparse matrix of shape (n, n_labels)
            Label matrix; it is closed upwards before counting.
        min_count : int
            The least number of rows.

        Returns
        -------
        Hierarchy
            A kept label keeps all its ancestors, so edges stay as they are. Its matrix is
            ``Y[:, hierarchy.indices(pruned.labels)]``.

        Examples
        --------
        >>> hierarchy = Hierarchy.from_paths(["a/b", "a/c"])
        >>> hierarchy.prune(hierarchy.encode([["a/b"], ["a/b"], ["a/c"]]), min_count=2).labels
        ('a', 'a/b')
        """
        counts = np.bincount(self.close(Y).indices, minlength=self.n_labels)
        kept = np.flatnonzero(counts >= min_count).tolist()
        if not kept:
            raise ValueError(
                f"min_count is {min_count}, but no label has more than {counts.max()} positive "
                "rows. Choose a smaller min_count."
            )
        return self.subset(self._graph.labels_at(kept))
