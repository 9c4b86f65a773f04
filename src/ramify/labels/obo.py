"""Terms of ontologies: OBO files, current identifiers, and the graph of some namespaces."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import zlib
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any

from ramify._cached import cached_property
from ramify._messages import did_you_mean, shorten
from ramify._validation import Label, check_choice
from ramify.labels.building import OrderedGraph, order_graph, without_root

_PACKED: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}
_MOST_BYTES = 1 << 30  # decompressed; the largest ontologies have a few hundred MiB
_MOST_BYTES_PER_LINE = 1 << 20
_TRUE = "true"
_VERSIONS = ("data-version", "date")
_EXACT_SYNONYM = re.compile(r'"((?:[^"\\]|\\.)*)"\s+EXACT\b')


@dataclass(frozen=True)
class Term:
    """A term of an ontology.

    Attributes
    ----------
    name : str
        The name; empty if the file has none.
    namespace : str
        The namespace; empty if the file has none.
    relations : tuple of (str, str)
        Relations to other terms, such as ("is_a", "GO:0008150"), in the order of the file.
    alternatives : tuple of str
        Alternative identifiers.
    obsolete : bool
        Whether the term should no longer be used.
    replaced_by : tuple of str
        The terms to use instead of an obsolete one.
    consider : tuple of str
        Terms that may be used instead of an obsolete one.
    synonyms : tuple of str
        Other names with exactly the same meaning.
    """

    name: str
    namespace: str
    relations: tuple[tuple[str, str], ...]
    alternatives: tuple[str, ...]
    obsolete: bool
    replaced_by: tuple[str, ...]
    consider: tuple[str, ...] = ()
    synonyms: tuple[str, ...] = ()


def read_terms(path: str | PathLike[str]) -> tuple[dict[str, Term], str]:
    """Read all terms of an OBO file in its order, also obsolete ones, and its version or ""."""
    file = Path(path)
    if not file.is_file():
        raise FileNotFoundError(
            f"{path} does not exist. Pass the path of an OBO file; download it first if it is at "
            "a web address."
        )
    terms: dict[str, Term] = {}
    default_namespace = version = ""
    for kind, number, tags in _stanzas(file):
        if kind == "":
            default_namespace = _word(tags.get("default-namespace", [""])[0])
            version = next((tags[tag][0] for tag in _VERSIONS if tags.get(tag, [""])[0]), "")
        elif kind == "Term":
            identifier = _word(tags.get("id", [""])[0])
            if not identifier:
                raise ValueError(
                    f"{file}, line {number}: not a valid OBO file: a term has no 'id'. Add it."
                )
            if identifier in terms:
                raise ValueError(
                    f"{file}, line {number}: the term {identifier!r} is defined twice. Remove one "
                    "of the definitions."
                )
            terms[identifier] = _term(tags, default_namespace, f"{file}, line {number}")
    if not terms:
        raise ValueError(f"{file} is not a valid OBO file: it has no [Term].")
    return terms, version


def _term(tags: dict[str, list[str]], default_namespace: str, where: str) -> Term:
    relations = [("is_a", _word(value)) for value in tags.get("is_a", ())]
    for value in tags.get("relationship", ()):
        words = value.split(None, 2)
        if len(words) < 2:
            raise ValueError(
                f"{where}: relationship must be a relation and a term, got {value!r}. Correct it."
            )
        relations.append((words[0], words[1]))
    return Term(
        name=tags.get("name", [""])[0],
        namespace=_word(tags.get("namespace", [default_namespace])[0]),
        relations=tuple(relations),
        alternatives=tuple(_word(value) for value in tags.get("alt_id", ())),
        obsolete=_word(tags.get("is_obsolete", [""])[0]) == _TRUE,
        replaced_by=tuple(_word(value) for value in tags.get("replaced_by", ())),
        consider=tuple(_word(value) for value in tags.get("consider", ())),
        synonyms=tuple(
            found[1] for value in tags.get("synonym", ()) if (found := _EXACT_SYNONYM.match(value))
        ),
    )


def _word(value: str) -> str:
    """Return the first word: identifiers have no spaces, and modifiers and comments follow."""
    words = value.split(None, 1)
    return words[0] if words else ""


def _stanzas(file: Path) -> Iterator[tuple[str, int, dict[str, list[str]]]]:
    """Yield the kind of every stanza ("" for the header), its first line and its tags."""
    kind, first, tags = "", 1, dict[str, list[str]]()
    for number, line in enumerate(_lines(file), 1):
        if line.startswith("[") and line.endswith("]"):
            yield kind, first, tags
            kind, first, tags = line[1:-1], number, {}
        elif line and not line.startswith("!"):
            tag, colon, value = line.partition(":")
            if not colon:
                raise ValueError(
                    f"{file}, line {number}: not a valid OBO file: expected 'tag: value' or "
                    f"'[Term]', found {line[:80]!r}."
                )
            tags.setdefault(tag.strip(), []).append(value.strip())
    yield kind, first, tags


def _lines(file: Path) -> Iterator[str]:
    """Yield the lines of a file without leading and trailing spaces."""
    n_bytes = number = 0
    with file.open("rb") as raw:
        start = raw.peek(6)[:6]
        opener = next((open_ for mark, open_ in _PACKED.items() if start.startswith(mark)), None)
        stream: IO[bytes] = raw if opener is None else opener(raw, "rb")
        try:
            while line := stream.readline(_MOST_BYTES_PER_LINE):
                number += 1
                n_bytes += len(line)
                if n_bytes > _MOST_BYTES or len(line) == _MOST_BYTES_PER_LINE:
                    raise ValueError(
                        f"{file}, line {number}: not a valid OBO file: the text is too long, at "
                        f"most {_MOST_BYTES >> 20} MiB and {_MOST_BYTES_PER_LINE >> 20} MiB per "
                        "line are read. Check the file."
                    )
                yield line.decode().removeprefix("\ufeff").strip()
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{file}, line {number}: not a valid OBO file: byte "
                f"0x{error.object[error.start]:02X} is not UTF-8. Save the file as UTF-8."
            ) from None
        except (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError) as error:
            raise ValueError(
                f"{file}: the compressed file is damaged after {n_bytes} bytes of text ({error}). "
                "Copy or download it again."
            ) from None
        except OSError as error:
            if opener is None:
                raise
            raise ValueError(
                f"{file}: the compressed file is damaged after {n_bytes} bytes of text ({error}). "
                "Copy or download it again."
            ) from None


# ---- the terms of an ontology ---------------------------------------------------------------


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
        """The term of every alternative identifier, also of those with an obsolete entry."""
        current = {name for name, term in self.terms.items() if not term.obsolete}
        return MappingProxyType(
            {
                other: identifier
                for identifier, term in self.terms.items()
                for other in term.alternatives
                if other not in current and not term.obsolete
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
            other: term
            for other, term in self.alternatives.items()
            if term in chosen and other not in chosen
        }
        for identifier, term in self.terms.items() if replace else ():
            current = self.current(identifier) if term.obsolete else None
            if current is not None and current in chosen:
                for name in (identifier, *term.alternatives):
                    if name not in chosen:
                        aliases.setdefault(name, current)
        return aliases
