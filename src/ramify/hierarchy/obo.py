"""Terms and relations of ontologies in OBO files, read by obonet."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike, fspath

from ramify._validation import Label, import_extra


def read_terms(
    path: str | PathLike[str], relations: Sequence[str]
) -> tuple[dict[Label, list[Label]], dict[Label, Label]]:
    """Read the parents of every term in an OBO file, and alternative identifiers.

    Obsolete terms are left out, as are terms that the file refers to but does not define (they
    belong to other ontologies).
    """
    if isinstance(relations, str) or not relations:
        raise ValueError(
            f"relations must be a non-empty list of relations, got {relations!r}. Pass e.g. "
            "('is_a', 'part_of')."
        )
    obonet = import_extra("obonet", "obo")
    graph = obonet.read_obo(fspath(path))
    terms = {term: data for term, data in graph.nodes(data=True) if data}
    parents: dict[Label, list[Label]] = {term: [] for term in terms}
    # The edges of obonet point from child to parent, with the relation as key.
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
