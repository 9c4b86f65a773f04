"""Hierarchies of labels: trees and directed acyclic graphs, their closure and their weights."""

from __future__ import annotations

import html
from collections.abc import Hashable, Iterable, Sequence
from os import PathLike
from typing import Any

import numpy as np

from ramify._validation import Label, check_label_name, import_extra, shorten
from ramify.hierarchy.building import (
    OrderedGraph,
    edges_of_paths,
    order_graph,
    parents_of_edges,
    rows_from_lists,
    without_root,
)
from ramify.hierarchy.encoding import EncodedGraph
from ramify.hierarchy.graph import row_of
from ramify.hierarchy.obo import read_terms
from ramify.hierarchy.text import read_json, read_outline, write_json, write_outline


class Hierarchy(EncodedGraph):
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
        return write_outline(self, max_labels)

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
        return write_json(self)

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
        new_position = {old: new for new, old in enumerate(kept)}
        nearest: list[set[int]] = []
        rows = []
        for position in range(self.n_labels):
            above = set().union(*(nearest[p] for p in row_of(self.parent_rows, position)))
            nearest.append({position} if position in new_position else above)
            if position in new_position:
                rows.append([new_position[p] for p in above])
        names = self._named(kept)
        aliases = {a: label for a, label in self.aliases.items() if label in set(names)}
        return type(self)(names, rows_from_lists(rows), self.separator, aliases)

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
        return self.subset(self._named(kept))
