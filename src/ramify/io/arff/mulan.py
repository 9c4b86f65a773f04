"""Read Mulan data sets: an ARFF file and an XML file that lists the labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from os import fspath
from typing import Any, NoReturn
from xml.parsers import expat

from ramify.io.arff.reader import read_arff
from ramify.io.errors import FormatError
from ramify.io.files import FilePath, read_bytes
from ramify.io.limits import ReadLimits
from ramify.io.tables.table import Table
from ramify.labels.hierarchy import Hierarchy

_ROOT = "\0root"  # a name that no XML attribute can have


def read_mulan(
    arff: FilePath,
    xml: FilePath,
    *,
    duplicate_names: str = "error",
    as_frame: bool | None = None,
    encoding: str = "utf-8",
    limits: ReadLimits | None = None,
) -> Table:
    """Read a Mulan data set.

    Parameters
    ----------
    arff : path
        The data, plain or gzip. Labels are attributes with the values 0 and 1.
    xml : path
        The labels. Nested ``<label>`` elements form a hierarchy; in a flat list, the labels have
        no hierarchy.
    duplicate_names : {"error", "rename"}
        As in `read_arff`.
    as_frame : bool, optional
        As in `read_arff`.
    encoding : str
        Encoding of the ARFF file. An XML file declares its own encoding.
    limits : ReadLimits, optional
        As in `read_arff`.

    Returns
    -------
    Table
        The labels are named as in the XML file. Flat labels keep its order; nested labels have the
        order of `Hierarchy`. Rows also have the ancestors of their labels.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     arff, xml = Path(folder, "pets.arff"), Path(folder, "pets.xml")
    ...     _ = arff.write_text('''@relation pets
    ... @attribute size numeric
    ... @attribute mammal {0,1}
    ... @attribute dog {0,1}
    ... @data
    ... 3.5,0,1
    ... 0.2,0,0
    ... ''')
    ...     _ = xml.write_text('''<labels xmlns="http://mulan.sourceforge.net/labels">
    ... <label name="mammal"><label name="dog"/></label>
    ... </labels>''')
    ...     pets = read_mulan(arff, xml)
    >>> pets.hierarchy.labels
    ('mammal', 'dog')
    >>> pets.y.toarray()
    array([[1, 1],
           [0, 0]], dtype=int32)
    """
    edges = _read_edges(xml, limits)
    return read_arff(
        arff,
        target=[child for _, child in edges],
        hierarchy=_hierarchy_of(edges),
        duplicate_names=duplicate_names,
        as_frame=as_frame,
        encoding=encoding,
        limits=limits,
    )


def _hierarchy_of(edges: list[tuple[str, str]]) -> Hierarchy:
    if all(parent == _ROOT for parent, _ in edges):
        return Hierarchy.from_labels([child for _, child in edges])
    return Hierarchy.from_edges(edges, root=_ROOT)


@dataclass
class _LabelDocument:
    """Collects (parent, child) pairs while expat parses the document."""

    path: str
    edges: list[tuple[str, str]] = field(default_factory=list)
    open_elements: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        # Elements of a namespace are passed as "address name".
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.StartDoctypeDeclHandler = self.refuse_doctype

    def fail(self, what: str) -> NoReturn:
        line, column = self.parser.CurrentLineNumber, self.parser.CurrentColumnNumber + 1
        raise FormatError(f"{self.path}, line {line}, column {column}: {what}")

    def refuse_doctype(self, *_: Any) -> None:
        # Entities, which can expand without bound, can only be declared in a DOCTYPE.
        self.fail("expected no DOCTYPE, because it could define entities; remove it")

    def start(self, element: str, attributes: dict[str, str]) -> None:
        name = element.rsplit(" ", 1)[-1]
        expected = "label" if self.open_elements else "labels"
        if name != expected:
            self.fail(f"expected an element <{expected}>, found <{name}>")
        if name == "labels":
            self.open_elements.append(_ROOT)
            return
        label = attributes.get("name", "")
        if not label:
            self.fail("expected an attribute name of <label>, found none")
        if label in self.seen:
            self.fail(f"expected unique labels, found {label!r} more than once")
        self.seen.add(label)
        self.edges.append((self.open_elements[-1], label))
        self.open_elements.append(label)

    def end(self, _: str) -> None:
        self.open_elements.pop()


def _read_edges(path: FilePath, limits: ReadLimits | None) -> list[tuple[str, str]]:
    document = _LabelDocument(fspath(path))
    try:
        document.parser.Parse(read_bytes(path, limits), True)
    except expat.ExpatError as error:
        raise FormatError(
            f"{fspath(path)}, line {error.lineno}, column {error.offset + 1}: expected "
            f"well-formed XML, found an error: {expat.ErrorString(error.code)}"
        ) from None
    except FormatError:
        raise
    except (LookupError, ValueError) as error:  # encodings that Python or expat do not support
        raise FormatError(
            f"{fspath(path)}: the declared encoding cannot be read: {error}. Save the file in "
            "UTF-8."
        ) from None
    if not document.edges:
        raise FormatError(f"{fspath(path)}: expected at least one <label>, found none")
    n_labels = len(document.edges)
    (limits or ReadLimits()).check("max_labels", n_labels, "the number of labels", fspath(path))
    return document.edges
