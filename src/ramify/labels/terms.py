"""Terms of an ontology: current identifiers, and the graph of some namespaces."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from types import MappingProxyType

from ramify._cached import cached_property
from ramify._messages import did_you_mean, shorten
from ramify._validation import Label, check_choice
from ramify.labels.building import OrderedGraph, order_graph, without_root
from ramify.labels.obo import Term

_SHORT_NAMES = {
    "biological_process": ("BP", "BPO", "P"),
    "molecular_function": ("MF", "MFO", "F"),
    "cellular_component": ("CC", "CCO", "C"),
}
_LONG_NAMES = {short: long for long, names in _SHORT_NAMES.items() for short in names}


class TermSet:
    """The terms of an ontology; base class of `Ontology`.

    Parameters
    ----------
    terms : mapping of str to Term
        All terms by identifier, including obsolete ones.
    """

    def __init__(self, terms: Mapping[str, Term]) -> None:
        self.terms: Mapping[str, Term] = MappingProxyType(dict(terms))

    @cached_property
    def namespaces(self) -> tuple[str, ...]:
        """The namespaces of the terms that are not obsolete, in order of appearance."""
        found = (term.namespace for term in self.terms.values() if not term.obsolete)
        return tuple(dict.fromkeys(found))

    @cached_property
    def alternatives(self) -> Mapping[str, str]:
        """The term of every alternative identifier."""
        return MappingProxyType(
            {
                other: identifier
                for identifier, term in self.terms.items()
                for other in term.alternatives
                if other not in self.terms and not term.obsolete
            }
        )

    def find_namespace(self, name: str) -> str:
        """Return the full name of a namespace.

        Parameters
        ----------
        name : str
            The name in the file, or one of the usual abbreviations of the Gene Ontology: "BP",
            "BPO" or "P", "MF", "MFO" or "F", and "CC", "CCO" or "C".

        Returns
        -------
        str
            A member of `namespaces`.

        Examples
        --------
        >>> from ramify.labels import Ontology, Term
        >>> term = Term("process", "biological_process", (), (), False, ())
        >>> Ontology({"GO:0008150": term}).find_namespace("BP")
        'biological_process'
        """
        for candidate in (name, _LONG_NAMES.get(str(name).upper())):
            if candidate in self.namespaces:
                return candidate
        known = [*self.namespaces, *(s for n in self.namespaces for s in _SHORT_NAMES.get(n, ()))]
        raise ValueError(
            f"namespace must be one of the namespaces of the ontology, {shorten(known, 12)}, got "
            f"{name!r}.{did_you_mean(name, known)}"
        )

    def current(self, identifier: str) -> str | None:
        """Return the term to use for an identifier that may be out of date.

        Parameters
        ----------
        identifier : str
            A term, an alternative identifier or an obsolete term.

        Returns
        -------
        str or None
            A term that is not obsolete: the term itself, the term of an alternative identifier,
            or the only replacement of an obsolete term. None if there is none.

        Examples
        --------
        >>> from ramify.labels import Ontology, Term
        >>> cat = Term("cat", "animal", (), ("P:22",), False, ())
        >>> old = Term("kitty", "animal", (), (), True, ("P:22",))
        >>> pets = Ontology({"P:2": cat, "P:9": old})
        >>> pets.current("P:22"), pets.current("P:9"), pets.current("P:7")
        ('P:2', 'P:2', None)
        """
        seen: set[str] = set()
        while identifier not in seen:
            seen.add(identifier)
            identifier = self.alternatives.get(identifier, identifier)
            term = self.terms.get(identifier)
            if term is None:
                return None
            if not term.obsolete:
                return identifier
            if len(term.replaced_by) != 1:
                return None
            identifier = term.replaced_by[0]
        return None

    def select(
        self,
        namespace: str | Sequence[str] | None = None,
        *,
        root: Hashable = None,
        relations: Sequence[str] = ("is_a", "part_of"),
        obsolete: str = "drop",
        cross_edges: bool = True,
    ) -> tuple[OrderedGraph, dict[Label, Label]]:
        """Return the graph of some terms, and the term of every other identifier.

        Parameters
        ----------
        namespace, root, relations, obsolete, cross_edges
            As in `Hierarchy.from_obo`.

        Returns
        -------
        graph : OrderedGraph
            The terms and their parents.
        aliases : dict of str to str
            The terms of alternative identifiers.
        """
        if isinstance(relations, str) or not relations:
            raise ValueError(
                f"relations must be a non-empty list of relations, got {relations!r}. Pass e.g. "
                "('is_a', 'part_of')."
            )
        check_choice("obsolete", obsolete, ("drop", "replace", "keep"))
        chosen = self._chosen(namespace, obsolete == "keep")
        if not chosen:
            raise ValueError(
                "all terms of the ontology are obsolete. Pass obsolete='keep' to use them."
            )
        parents: dict[Label, list[Label]] = {}
        for identifier, term in chosen.items():
            above = (
                other
                for relation, other in term.relations
                if relation in relations and other in chosen
                if cross_edges or chosen[other].namespace == term.namespace
            )
            parents[identifier] = list(dict.fromkeys(above))
        graph = order_graph(without_root(parents, root))
        aliases = self._aliases(chosen, obsolete == "replace")
        return graph, {alias: term for alias, term in aliases.items() if term != root}

    def _chosen(
        self, namespace: str | Sequence[str] | None, with_obsolete: bool
    ) -> dict[str, Term]:
        names = [namespace] if isinstance(namespace, str) else namespace
        wanted = None if names is None else {self.find_namespace(name) for name in names}
        return {
            identifier: term
            for identifier, term in self.terms.items()
            if with_obsolete or not term.obsolete
            if wanted is None or term.namespace in wanted
        }

    def _aliases(self, chosen: Mapping[str, Term], replace: bool) -> dict[Label, Label]:
        aliases: dict[Label, Label] = {
            other: term for other, term in self.alternatives.items() if term in chosen
        }
        for identifier, term in self.terms.items() if replace else ():
            current = self.current(identifier) if term.obsolete else None
            if current is not None and current in chosen:
                for name in (identifier, *term.alternatives):
                    if name not in chosen:
                        aliases.setdefault(name, current)
        return aliases
