"""The class `Ontology`: terms with namespaces, several relations and former identifiers."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from os import PathLike
from typing import Any

from ramify._messages import counted, shorten
from ramify._validation import Label
from ramify.labels.comparing import MIN_SCORE, Comparison, compare
from ramify.labels.hierarchy import Hierarchy
from ramify.labels.obo import Term, TermSet, read_terms


class Ontology(TermSet):
    """An ontology such as the Gene Ontology: terms, their namespaces and relations.

    Read one with `from_obo`, and build the hierarchy of one or all namespaces with `hierarchy`.

    Parameters
    ----------
    terms : mapping of str to Term
        All terms by identifier, including obsolete ones.
    version : str
        The version of the ontology, such as "releases/2024-06-17".

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
        return cls(*read_terms(path))

    def __init__(self, terms: Mapping[str, Term], version: str = "") -> None:
        super().__init__(terms)
        self.version = version

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
        return Hierarchy(graph.labels, graph.parent_rows, aliases=aliases, version=self.version)

    def compare(
        self,
        new: Ontology,
        y: Any = None,
        y_new: Any = None,
        *,
        min_score: float = MIN_SCORE,
        **options: Any,
    ) -> Comparison:
        """Compare the hierarchy of this ontology with that of a later version.

        Identifiers, alternative identifiers and "replaced_by" are certain. "consider", names,
        exact synonyms, places, children and rows give proposals, with a score.

        Parameters
        ----------
        new : Ontology
            The later version.
        y, y_new, min_score
            As in `Hierarchy.compare`.
        **options
            As in `hierarchy`: namespace, root, relations, obsolete, cross_edges.

        Returns
        -------
        Comparison
            The changes; ``old`` and ``new`` are the hierarchies.

        Examples
        --------
        >>> from ramify.labels import Ontology, Term
        >>> old = Ontology({"P:1": Term("cat", "", (), (), False, ())})
        >>> new = Ontology({"P:2": Term("domestic cat", "", (), ("P:1",), False, ())})
        >>> print(old.compare(new).to_text())
        renamed (1)
          P:1 cat → P:2 domestic cat
        """
        return compare(
            self.hierarchy(**options),
            new.hierarchy(**options),
            y,
            y_new,
            names=(self._names, new._names),
            synonyms=(self._synonyms, new._synonyms),
            declared=new._successors,
            min_score=min_score,
        )

    @property
    def _names(self) -> dict[Label, str]:
        return {identifier: term.name for identifier, term in self.terms.items()}

    @property
    def _synonyms(self) -> dict[Label, tuple[str, ...]]:
        return {k: term.synonyms for k, term in self.terms.items() if term.synonyms}

    @property
    def _successors(self) -> dict[Label, list[tuple[Label, str]]]:
        """The current terms that obsolete terms name, with the reasons."""
        found: dict[Label, list[tuple[Label, str]]] = {}
        for identifier, term in self.terms.items():
            replaced = [x for t in term.replaced_by if (x := self.current(t)) is not None]
            considered = [x for t in term.consider if (x := self.current(t)) is not None]
            reason = "replaced_by" if replaced else "consider"
            successors = [(x, reason) for x in dict.fromkeys(replaced or considered)]
            if term.obsolete and successors:
                for name in (identifier, *term.alternatives):
                    found.setdefault(name, list(successors))
        return found
