"""Ontologies in OBO files: terms and relations out, through obonet."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike, fspath

from ramify._validation import Label, import_extra


def read_terms(
    path: str | PathLike[str], relations: Sequence[str]
) -> tuple[dict[Label, list[Label]], dict[Label, Label]]:
    """Read the terms of an OBO file: the parents of each, and its alternative identifiers.

    Obsolete terms are left out, and so are terms that the file refers to but does not describe
    (they belong to other ontologies).
    """
    if isinstance(relations, str) or not relations:
        raise ValueError(
            f"relations is {relations!r}, but it must list relations, e.g. ('is_a', 'part_of')."
        )
    obonet = import_extra("obonet", "obo")
    graph = obonet.read_obo(fspath(path))
    terms = {term: data for term, data in graph.nodes(data=True) if data}
    parents: dict[Label, list[Label]] = {term: [] for term in terms}
    # obonet's edges point from child to parent, one for each relation.
    for child, parent, relation in graph.edges(keys=True):
        known = child in terms and parent in terms
        if known and relation in relations and parent not in parents[child]:
            parents[child].append(parent)
    aliases: dict[Label, Label] = {
        alias: term
        for term, data in terms.items()
        for alias in data.get("alt_id", ())
        if alias not in terms
    }
    return parents, aliases
