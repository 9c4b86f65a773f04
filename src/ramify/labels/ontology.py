"""The class `Ontology`: terms with namespaces, several relations and former identifiers."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from os import PathLike

from ramify._messages import counted, shorten
from ramify.labels.hierarchy import Hierarchy
from ramify.labels.obo import read_terms
from ramify.labels.terms import TermSet


class Ontology(TermSet):
    """An ontology such as the Gene Ontology: terms, their namespaces and relations.

    Read one with `from_obo`, and build the hierarchy of one or all namespaces with `hierarchy`.

    Parameters
    ----------
    terms : mapping of str to Term
        All terms by identifier, including obsolete ones.

    Attributes
    ----------
    terms : mapping of str to Term
        All terms.
    namespaces : tuple of str
        The namespaces of the terms that are not obsolete, in order of appearance.
    alternatives : mapping of str to str
        The term of every alternative identifier.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from ramify import Ontology
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "pets.obo")
    ...     _ = path.write_text('''ontology: pets
    ...
    ... [Term]
    ... id: P:1
    ... namespace: animal
    ...
    ... [Term]
    ... id: P:2
    ... namespace: animal
    ... is_a: P:1 ! pet
    ...
    ... [Term]
    ... id: F:1
    ... namespace: food
    ... relationship: part_of P:1
    ... ''')
    ...     pets = Ontology.from_obo(path)
    >>> pets
    Ontology(3 terms, 2 namespaces: 'animal', 'food')
    >>> pets.hierarchy("animal").labels
    ('P:1', 'P:2')
    """

    @classmethod
    def from_obo(cls, path: str | PathLike[str]) -> Ontology:
        """Read an OBO file.

        Parameters
        ----------
        path : str or path
            An OBO file, plain or compressed (.gz, .bz2, .xz).

        Returns
        -------
        Ontology
            All terms of the file.
        """
        return cls(read_terms(path))

    def __repr__(self) -> str:
        terms = counted(sum(not term.obsolete for term in self.terms.values()), "term")
        namespaces = counted(len(self.namespaces), "namespace")
        return f"Ontology({terms}, {namespaces}: {shorten(self.namespaces)})"

    def hierarchy(
        self,
        namespace: str | Sequence[str] | None = None,
        *,
        root: Hashable = None,
        relations: Sequence[str] = ("is_a", "part_of"),
        obsolete: str = "drop",
        cross_edges: bool = True,
    ) -> Hierarchy:
        """Build the hierarchy of one, several or all namespaces.

        Parameters
        ----------
        namespace, root, relations, obsolete, cross_edges
            As in `Hierarchy.from_obo`.

        Returns
        -------
        Hierarchy
            Labels are term identifiers; alternative identifiers are aliases.
        """
        graph, aliases = self.select(
            namespace,
            root=root,
            relations=relations,
            obsolete=obsolete,
            cross_edges=cross_edges,
        )
        return Hierarchy(graph.labels, graph.parent_rows, aliases=aliases)
