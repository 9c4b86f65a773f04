"""Terms and relations of ontologies in OBO files, read by obonet."""

from __future__ import annotations

from collections.abc import Sequence
from lzma import LZMAError
from os import PathLike, fspath
from pathlib import Path
from typing import Any

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
    graph = _read_graph(obonet, Path(path))
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


def _read_graph(obonet: Any, path: Path) -> Any:
    """Read a file with obonet, which would download an address: an absolute path is none."""
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} does not exist. Pass the path of an OBO file; download it first if it is at "
            "a web address."
        )
    try:
        return obonet.read_obo(fspath(path.absolute()))
    except KeyError as error:
        raise ValueError(
            f"{path} is not a valid OBO file: a term has no {error.args[0]!r}. Add it."
        ) from None
    except (ValueError, AttributeError, IndexError, EOFError, LZMAError) as error:
        raise ValueError(f"{path} is not a valid OBO file: {error}.") from None
