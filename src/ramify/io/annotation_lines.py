"""Lines of annotation files: GAF, GPAD and tables of targets and terms."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from os import fspath
from pathlib import Path
from typing import NamedTuple

from ramify._validation import check_choice
from ramify.io.files import FilePath, FormatError
from ramify.io.limits import ReadLimits
from ramify.io.text_lines import numbered_lines

FORMATS = ("gaf", "gpad", "tsv")
_HEADINGS = {"term", "terms", "term_id", "go", "go_id", "go_term", "goterm", "label", "labels"}

ECO = {
    "ECO:0000269": "EXP",
    "ECO:0000314": "IDA",
    "ECO:0000353": "IPI",
    "ECO:0000315": "IMP",
    "ECO:0000316": "IGI",
    "ECO:0000270": "IEP",
    "ECO:0006056": "HTP",
    "ECO:0007005": "HDA",
    "ECO:0007001": "HMP",
    "ECO:0007003": "HGI",
    "ECO:0007007": "HEP",
    "ECO:0000318": "IBA",
    "ECO:0000319": "IBD",
    "ECO:0000320": "IKR",
    "ECO:0000321": "IRD",
    "ECO:0000250": "ISS",
    "ECO:0000266": "ISO",
    "ECO:0000247": "ISA",
    "ECO:0000255": "ISM",
    "ECO:0000317": "IGC",
    "ECO:0000245": "RCA",
    "ECO:0000304": "TAS",
    "ECO:0000303": "NAS",
    "ECO:0000305": "IC",
    "ECO:0000307": "ND",
    "ECO:0000501": "IEA",
    "ECO:0007669": "IEA",
    "ECO:0000256": "IEA",
    "ECO:0000265": "IEA",
}
"""Evidence codes of the Gene Ontology for terms of the Evidence and Conclusion Ontology."""


class AnnotationLine(NamedTuple):
    """What a line says: an object has, or does not have, a term."""

    database: str
    object_id: str
    symbol: str
    term: str
    negated: bool
    evidence: str
    taxon: str


@dataclass(frozen=True)
class Layout:
    """The columns of a format.

    Attributes
    ----------
    name : str
        The name of the format.
    fewest, most : int
        The number of columns.
    parse : callable
        Turns the cells of a line into an `AnnotationLine`.
    """

    name: str
    fewest: int
    most: int
    parse: Callable[[list[str]], AnnotationLine]


def _gaf(cells: list[str]) -> AnnotationLine:
    negated = "NOT" in cells[3].split("|")
    taxon = cells[12].split("|", 1)[0].removeprefix("taxon:")
    return AnnotationLine(cells[0], cells[1], cells[2], cells[4], negated, cells[6], taxon)


def _gpad_1(cells: list[str]) -> AnnotationLine:
    negated = "NOT" in cells[2].split("|")
    evidence = _gpad_evidence(cells)
    return AnnotationLine(cells[0], cells[1], "", cells[3], negated, evidence, "")


def _gpad_2(cells: list[str]) -> AnnotationLine:
    database, _, object_id = cells[0].partition(":")
    negated = cells[1].strip() == "NOT"
    return AnnotationLine(database, object_id, "", cells[3], negated, _gpad_evidence(cells), "")


def _gpad_evidence(cells: list[str]) -> str:
    """Return the evidence code of the Gene Ontology, which GPAD has only among the properties."""
    for item in cells[11].split("|") if len(cells) > 11 else ():
        if item.startswith("go_evidence="):
            return item.removeprefix("go_evidence=")
    return ECO.get(cells[5], cells[5])


def _tsv(cells: list[str]) -> AnnotationLine:
    return AnnotationLine("", cells[0], "", cells[1], False, "", "")


_GAF = Layout("GAF", 15, 17, _gaf)
_GPAD_1 = Layout("GPAD 1", 10, 12, _gpad_1)
_GPAD_2 = Layout("GPAD 2", 10, 12, _gpad_2)
_TSV = Layout("two-column", 2, 1000, _tsv)


def annotation_lines(
    path: FilePath, file_format: str | None, limits: ReadLimits | None = None
) -> Iterator[tuple[int, AnnotationLine | str]]:
    """Yield every annotation of a file with its line number.

    Parameters
    ----------
    path : path
        A GAF 2 or GPAD file, or a table of targets and terms, plain or gzip.
    file_format : {"gaf", "gpad", "tsv"}, optional
        By default, the format is inferred from the first lines or the file name.
    limits : ReadLimits, optional
        Limits on the size of the file.

    Yields
    ------
    int
        The line number.
    AnnotationLine or str
        The annotation, or what is wrong with the line.
    """
    check_choice("format", file_format, (*FORMATS, None))
    layout = {"gaf": _GAF, "gpad": _GPAD_1, "tsv": _TSV, None: None}[file_format]
    for number, line in numbered_lines(path, limits):
        if line.startswith("!"):
            layout = _declared(line) or layout
            continue
        if not line.strip():
            continue
        cells = line.split("\t")
        if layout is None:
            layout = _guessed(path, cells, number)
        if layout is _TSV and number == 1 and len(cells) > 1 and cells[1].lower() in _HEADINGS:
            continue
        yield number, _parsed(layout, cells)


def _parsed(layout: Layout, cells: list[str]) -> AnnotationLine | str:
    if not layout.fewest <= len(cells) <= layout.most:
        wanted = f"{layout.fewest} to {layout.most}" if layout is not _TSV else "at least 2"
        return (
            f"a line of a {layout.name} file must have {wanted} columns separated by tabs, got "
            f"{len(cells)}"
        )
    line = layout.parse(cells)
    if not line.object_id.strip() or not line.term.strip():
        return "the identifier of the object or of the term is empty"
    return line


def _declared(line: str) -> Layout | None:
    """Return the layout that a comment declares, such as "!gaf-version: 2.2"."""
    tag, _, version = line[1:].partition(":")
    tag, version = tag.strip().lower(), version.strip()
    if tag == "gaf-version":
        return _GAF
    if tag in {"gpa-version", "gpad-version"}:
        return _GPAD_1 if version.startswith("1") else _GPAD_2
    return None


def _guessed(path: FilePath, cells: list[str], number: int) -> Layout:
    suffixes = {suffix.lower() for suffix in Path(path).suffixes}
    if ".gaf" in suffixes or _GAF.fewest <= len(cells) <= _GAF.most:
        return _GAF
    if suffixes & {".gpad", ".gpa"} or _GPAD_1.fewest <= len(cells) <= _GPAD_1.most:
        return _GPAD_2 if ":" in cells[0] else _GPAD_1
    if 2 <= len(cells) <= 4:
        return _TSV
    raise FormatError(
        f"{fspath(path)}, line {number}: cannot tell the format from a line of {len(cells)} "
        "columns separated by tabs. Pass format='gaf', 'gpad' or 'tsv'."
    )
