"""The class `Hierarchy`: a tree or directed acyclic graph of labels."""

from __future__ import annotations

import html
import json
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify._messages import counted, import_extra, shorten
from ramify._validation import Label, check_label_name
from ramify.labels.building import (
    OrderedGraph,
    Rows,
    edges_of_paths,
    order_graph,
    parents_of_edges,
    rows_from_lists,
    without_root,
)
from ramify.labels.graph import (
    LabelGraph,
    close_matrix,
    decode_matrix,
    encode_label_sets,
    label_costs,
    label_weights,
    propagate_scores,
    row_of,
)
from ramify.labels.obo import TermSet, read_terms
from ramify.labels.text_formats import (
    from_content,
    read_json,
    read_outline,
    to_content,
    write_outline,
)

if TYPE_CHECKING:
    from ramify.labels.comparing import Comparison


class Hierarchy:
    """An immutable tree or directed acyclic graph of labels.

    Build one with a constructor such as `from_paths` or `from_edges`. The root is implicit: it is
    the parent of the top-level labels and not itself a label. Labels are sorted depth first, with
    siblings in alphabetical order (names made of digits by value) and every label after all its
    parents. The columns of every label matrix follow this order.

    Parameters
    ----------
    labels : iterable of labels
        Distinct labels, each after its parents.
    parent_rows : (indptr, indices)
        Positions of the parents of every label, as sparse rows. Required.
    separator : str
        Separator between the names of a path.
    aliases : mapping of label to label, optional
        Other names for labels, accepted by `encode`, `index` and `indices`.
    version : str
        The version of the taxonomy that the labels are from, such as "2024-06-17".

    Attributes
    ----------
    labels : tuple of labels
        All labels, in order.
    n_labels : int
        Number of labels.
    leaves : tuple of labels
        Labels without children.
    levels : tuple of tuples of labels
        Labels of every level, from the top down; the level of a label is the length of its longest
        path.
    depth : int
        Number of levels.
    is_tree : bool
        Whether every label has at most one parent.
    parent_rows, ancestor_rows, child_rows : (indptr int64, indices int32)
        The graph as read-only sparse rows.

    Notes
    -----
    Two hierarchies are equal if they have the same labels in the same order and the same edges;
    aliases, separator and version are ignored.

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
        parent_rows: Rows | None = None,
        separator: str = "/",
        aliases: Mapping[Label, Label] | None = None,
        version: str = "",
    ) -> None:
        if parent_rows is None:
            raise TypeError(
                "Hierarchy must be built from labels and parent_rows, got no parent_rows. Use "
                "Hierarchy.from_edges for pairs (parent, child), Hierarchy.from_paths for paths "
                "or Hierarchy.from_labels for labels without edges."
            )
        object.__setattr__(self, "_graph", LabelGraph(labels, parent_rows, aliases))
        object.__setattr__(self, "separator", separator)
        object.__setattr__(self, "version", version)

    _graph: LabelGraph
    separator: str
    version: str

    @classmethod
    def from_paths(cls, paths: Iterable[Any], separator: str = "/") -> Hierarchy:
        """Build a tree from paths; every prefix of a path becomes a label.

        Parameters
        ----------
        paths : iterable of str, or of tuples of names
            Paths from the top, such as "animal/bird". A label's name is its full path.
        separator : str
            Separator between the names of a path.

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
            Labels are strings or integers.
        root : str or int, optional
            The name of the root in `edges`, which does not become a label. An edge from the root
            to a label with another parent is dropped.
        tree : bool
            Whether to raise an error if a label has several parents.

        Returns
        -------
        Hierarchy
            Labels without parents are at the top level.

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
            raise TypeError(
                f"labels must be a list of labels, got the string {labels!r}. Pass [{labels!r}]."
            )
        kinds = (str, int, float)
        listed = [check_label_name(x, f"labels[{i}]", kinds) for i, x in enumerate(labels)]
        if not listed:
            raise ValueError("labels is empty. Pass at least one label.")
        counts = Counter(listed)
        if len(counts) < len(listed):
            repeated = [label for label, count in counts.items() if count > 1]
            raise ValueError(f"labels must be distinct, got {shorten(repeated)} more than once.")
        return cls(listed, rows_from_lists([] for _ in listed))

    @classmethod
    def from_networkx(cls, graph: Any, root: Hashable = None, *, tree: bool = False) -> Hierarchy:
        """Build a hierarchy from a networkx graph whose edges point from parent to child.

        Parameters
        ----------
        graph : networkx.DiGraph or networkx.MultiDiGraph
            Parallel edges are merged; nodes without edges become top-level labels.
        root : str or int, optional
            The node that is the root, which does not become a label.
        tree : bool
            Whether to raise an error if a label has several parents.

        Returns
        -------
        Hierarchy
            The hierarchy. If edges point from child to parent, pass ``graph.reverse()``.

        Examples
        --------
        >>> import networkx
        >>> graph = networkx.DiGraph([("animal", "bird"), ("animal", "cat")])
        >>> Hierarchy.from_networkx(graph, root="animal").labels
        ('bird', 'cat')
        """
        if not graph.is_directed():
            raise ValueError(
                f"graph must be directed, got {type(graph).__name__}. Pass a networkx.DiGraph "
                "with edges from parent to child."
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
        namespace: str | Sequence[str] | None = None,
        relations: Sequence[str] = ("is_a", "part_of"),
        obsolete: str = "drop",
        cross_edges: bool = True,
    ) -> Hierarchy:
        """Build a hierarchy from an ontology in an OBO file, e.g. the Gene Ontology.

        Alternative identifiers become aliases; `encode` therefore accepts former identifiers of a
        term. Use `Ontology.from_obo` to build several hierarchies from one file.

        Parameters
        ----------
        path : str or path
            An OBO file, plain or compressed (.gz, .bz2, .xz).
        root : str, optional
            The term that is the root, which does not become a label.
        namespace : str or sequence of str, optional
            Use only the terms of these namespaces, e.g. "biological_process" or its abbreviation
            "BP". By default, use all terms.
        relations : sequence of str
            Relations from a term to its parents.
        obsolete : {"drop", "replace", "keep"}
            "drop" leaves out obsolete terms. "replace" does too, but makes obsolete terms with one
            replacement aliases of the replacement. "keep" keeps them as labels.
        cross_edges : bool
            Whether to keep edges between terms of different namespaces.

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
        terms, version = read_terms(path)
        graph, aliases = TermSet(terms).select(
            namespace,
            root=root,
            relations=relations,
            obsolete=obsolete,
            cross_edges=cross_edges,
        )
        return cls(graph.labels, graph.parent_rows, aliases=aliases, version=version)

    @classmethod
    def from_text(cls, text: str) -> Hierarchy:
        """Build a hierarchy from an outline: one label per line, children indented.

        Parameters
        ----------
        text : str
            The outline. Blank lines are ignored. A label listed under several parents has all of
            these parents, so an outline can describe a DAG.

        Returns
        -------
        Hierarchy
            Its labels are the lines without indentation.

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
        """Read a hierarchy written by `to_json`.

        Parameters
        ----------
        text : str
            The JSON text, not a file name.

        Returns
        -------
        Hierarchy
            Equal to the one written, with the same aliases, separator and version.

        Examples
        --------
        >>> hierarchy = Hierarchy.from_paths(["a/b"])
        >>> Hierarchy.from_json(hierarchy.to_json()) == hierarchy
        True
        """
        return cls._from_content(read_json(text))

    @classmethod
    def _from_content(cls, content: Any) -> Hierarchy:
        """Build a hierarchy from the output of `_to_content`, which may be damaged."""
        graph, separator, aliases, version = from_content(content)
        return cls(graph.labels, graph.parent_rows, separator, aliases, version)

    @classmethod
    def _of(cls, graph: OrderedGraph, separator: str = "/") -> Hierarchy:
        return cls(graph.labels, graph.parent_rows, separator)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(
            f"cannot set {name!r}: a Hierarchy is immutable. Build a new one, e.g. with subset."
        )

    __delattr__ = __setattr__  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self.labels, self.parent_rows, self.separator, dict(self.aliases), self.version)
        return type(self), parts

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
        levels = "flat" if self.depth == 1 else f"{kind}, {self.depth} levels"
        first = ", ".join(repr(label) for label in self.labels[:4])
        more = ", …" if self.n_labels > 4 else ""
        return f"Hierarchy({counted(self.n_labels, 'label')}, {levels}: {first}{more})"

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
    def _parents(self) -> _core.LabelRows:
        return self._graph.parents

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
        """Return the position of a label in `labels`, its column in every label matrix.

        Parameters
        ----------
        label : str or int
            A label or an alias.

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
        """Return the positions of several labels, e.g. to select columns of a label matrix.

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

    def find(self, name: Label) -> Label:
        """Return the label with a name: the label itself, an alias or the end of its path.

        Parameters
        ----------
        name : str or int
            A label or an alias; else the last names of a path, if only one label ends in them.
            Upper and lower case are only distinguished if labels differ in nothing else.

        Returns
        -------
        str or int
            The label.

        Examples
        --------
        >>> animals = Hierarchy.from_paths(["mammal/cat", "mammal/dog", "toy/dog"])
        >>> animals.find("Cat"), animals.find("toy/dog")
        ('mammal/cat', 'toy/dog')
        >>> animals.find("dog")
        Traceback (most recent call last):
            ...
        ValueError: the label 'dog' is ambiguous: 2 labels end in it, 'mammal/dog', 'toy/dog'. Pass
        more of its path.
        """
        return self._graph.find(name, self.separator)

    def parents(self, label: Label) -> tuple[Label, ...]:
        """Return the parents of a label; none for a top-level label.

        Parameters
        ----------
        label : str or int
            A label.

        Returns
        -------
        tuple of labels
            At most one in a tree.

        Examples
        --------
        >>> Hierarchy.from_edges([("a", "c"), ("b", "c")]).parents("c")
        ('a', 'b')
        """
        return self._graph.labels_in_row(self._graph.parent_rows, label)

    def children(self, label: Label) -> tuple[Label, ...]:
        """Return the children of a label; none for a leaf.

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
        """Return all ancestors of a label, without the label itself.

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
        graph = self._graph
        return graph.labels_at(graph.ancestors_of(graph.index(label)))

    def descendants(self, label: Label) -> tuple[Label, ...]:
        """Return all descendants of a label, without the label itself.

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
        graph = self._graph
        return graph.labels_at(graph.descendants_of(graph.index(label)))

    def encode(self, label_sets: Iterable[Any]) -> sparse.csr_array[np.int32]:
        """Convert label sets to a label matrix, with ancestors added.

        Parameters
        ----------
        label_sets : iterable of iterables of labels
            One set per row, possibly empty. A single string or number is a set of one label.

        Returns
        -------
        csr_array of int32, shape (n, n_labels)
            1 if the row has the label or a descendant of it; indices are sorted.

        Examples
        --------
        >>> Hierarchy.from_paths(["a/b", "c"]).encode([["a/b"], [], "c"]).toarray()
        array([[1, 1, 0],
               [0, 0, 0],
               [0, 0, 1]], dtype=int32)
        """
        return encode_label_sets(self._graph, label_sets)

    def close(self, Y: Any) -> sparse.csr_array[np.int32]:
        """Add the ancestors of the labels of every row to a label matrix.

        Parameters
        ----------
        Y : array-like or sparse matrix of shape (n, n_labels)
            Zeros and ones, with columns in the order of `labels`.

        Returns
        -------
        csr_array of int32, shape (n, n_labels)
            The label matrix with ancestors.

        Examples
        --------
        >>> Hierarchy.from_paths(["a/b", "c"]).close([[0, 1, 0]]).toarray()
        array([[1, 1, 0]], dtype=int32)
        """
        return close_matrix(self._graph, Y)

    def propagate(self, scores: Any, how: str = "max") -> sparse.csr_array[np.float64]:
        """Propagate scores to the ancestors of labels, without dense matrices.

        Parameters
        ----------
        scores : array-like or sparse matrix of shape (n, n_labels)
            Scores, with columns in the order of `labels`; 0 means that a label has no score.
        how : {"max", "fill"}
            "max": every label gets the largest score of itself and its descendants. "fill": a
            label without a score gets the largest score of its children; other scores are kept.

        Returns
        -------
        csr_array of float64, shape (n, n_labels)
            The scores; labels without a score are not stored.

        Examples
        --------
        >>> hierarchy = Hierarchy.from_paths(["a/b/c", "d"])
        >>> hierarchy.propagate([[0, 0.2, 0.5, 0]]).toarray()
        array([[0.5, 0.5, 0.5, 0. ]])
        >>> hierarchy.propagate([[0, 0.2, 0.5, 0]], "fill").toarray()
        array([[0.2, 0.2, 0.5, 0. ]])
        """
        return propagate_scores(self._graph, scores, how)

    def decode(self, Y: Any, most_specific: bool = True) -> list[tuple[Label, ...]]:
        """Convert a label matrix to label sets.

        Parameters
        ----------
        Y : array-like or sparse matrix of shape (n, n_labels)
            Zeros and ones, with columns in the order of `labels`.
        most_specific : bool
            Whether to leave out labels with a descendant in the same row.

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
        """Return the weight of every label: w0 times the weight of its parents.

        Parameters
        ----------
        w0 : float
            Factor from one level to the next; with 1, all labels have the same weight.
        combine : {"avg", "sum", "min", "max"}
            How to combine the weights of several parents; has no effect in a tree.

        Returns
        -------
        ndarray of shape (n_labels,)
            Weights; in a tree, w0 for top-level labels, w0² on the second level, and so on.

        Examples
        --------
        >>> Hierarchy.from_paths(["a/b"]).weights(w0=0.5)
        array([0.5 , 0.25])
        """
        return label_weights(self._graph, w0, combine)

    def costs(self) -> NDArray[np.float64]:
        """Return the cost of every label: the cost of its parent, divided equally among siblings.

        The root has cost 1. In a DAG, the shares from all parents are added.

        Returns
        -------
        ndarray of shape (n_labels,)
            Costs; in a tree, the costs of a label's children add up to the cost of the label.

        Examples
        --------
        >>> Hierarchy.from_paths(["a/b", "a/c", "d"]).costs()
        array([0.5 , 0.25, 0.25, 0.5 ])
        """
        return label_costs(self._graph)

    def to_text(self, max_labels: int | None = None) -> str:
        """Write the hierarchy as an outline for `from_text`.

        Parameters
        ----------
        max_labels : int, optional
            Maximum number of labels to show, nearest to the root first; lines with "…" give the
            number of hidden labels. None shows all.

        Returns
        -------
        str
            One label per line, indented below its parent. A label with several parents is listed
            under each of them, its descendants only once.

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
        return json.dumps(self._to_content(), ensure_ascii=False)

    def _to_content(self) -> dict[str, Any]:
        """Return what describes the hierarchy as a JSON object."""
        return to_content(self._graph, self.separator, self.version)

    def to_networkx(self) -> Any:
        """Return the hierarchy as a networkx.DiGraph with edges from parent to child.

        Returns
        -------
        networkx.DiGraph
            Nodes are in the order of `labels`, without the root.

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
        """Keep some labels; their parents become the nearest kept ancestors on every path.

        Parameters
        ----------
        labels : iterable of labels
            Labels to keep, in any order.

        Returns
        -------
        Hierarchy
            The kept labels in the same order. The label matrix of the subset is
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
        return type(self)(names, parent_rows, self.separator, aliases, self.version)

    def compare(
        self, new: Hierarchy, y: Any = None, y_new: Any = None, *, min_score: float = 0.5
    ) -> Comparison:
        """Compare with a later version: labels added, removed, moved, renamed, split and merged.

        Equal labels and aliases are the same for certain. For other labels, the comparison
        proposes successors, with a score, from names, places, children and rows. To compare
        ontologies, use `Ontology.compare`, which knows names, synonyms and replaced terms.

        Parameters
        ----------
        new : Hierarchy
            The later version.
        y : array-like, optional
            Labels of rows in this hierarchy, in any format accepted by `read_labels`. The changes
            then say how many rows they affect.
        y_new : array-like, optional
            Labels of the same rows in the new hierarchy. They are the strongest evidence that
            labels are the same.
        min_score : float
            The smallest score of a successor that is proposed.

        Returns
        -------
        Comparison
            The changes.

        Examples
        --------
        >>> old = Hierarchy.from_paths(["pets/cats", "pets/dogs"])
        >>> new = Hierarchy.from_paths(["pets/cats", "pets/dogs/large", "pets/dogs/small"])
        >>> print(old.compare(new).to_text())
        added (2)
          pets/dogs/large
          pets/dogs/small
        """
        from ramify.labels.comparing import compare  # noqa: PLC0415 (imports this module)

        return compare(self, new, y, y_new, min_score=min_score)

    def prune(self, Y: Any, min_count: int = 1) -> Hierarchy:
        """Keep labels with enough rows; a row counts for all ancestors of its labels.

        Parameters
        ----------
        Y : array-like or sparse matrix of shape (n, n_labels)
            Label matrix; ancestors are added before counting.
        min_count : int
            Minimum number of rows per label.

        Returns
        -------
        Hierarchy
            The kept labels with the same edges, since ancestors are kept too. Its label matrix is
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
                f"min_count must be at most {counts.max()}, the largest number of rows of a "
                f"label, got {min_count}."
            )
        return self.subset(self._graph.labels_at(kept))
