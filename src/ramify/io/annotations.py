"""Read annotations of genes or proteins with the terms of an ontology."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import fspath
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ramify._messages import did_you_mean, shorten
from ramify._validation import check_choice
from ramify.data.rows import indicator_of_cells
from ramify.io.errors import FormatError
from ramify.io.files import FilePath, numbered_lines
from ramify.io.formats import ANNOTATIONS, format_of
from ramify.io.limits import ReadLimits
from ramify.labels.encoding import PartialLabels
from ramify.labels.hierarchy import Hierarchy
from ramify.labels.ontology import Ontology

EVIDENCE_GROUPS: Mapping[str, tuple[str, ...]] = {
    "experimental": ("EXP", "IDA", "IPI", "IMP", "IGI", "IEP"),
    "high-throughput": ("HTP", "HDA", "HMP", "HGI", "HEP"),
    "phylogenetic": ("IBA", "IBD", "IKR", "IRD"),
    "computational": ("ISS", "ISO", "ISA", "ISM", "IGC", "RCA"),
    "author": ("TAS", "NAS"),
    "curator": ("IC", "ND"),
    "electronic": ("IEA",),
}
"""The evidence codes of the Gene Ontology by group."""

_SHOWN = 3


@dataclass
class AnnotationReport:
    """What was read from a file, and what was left out and why.

    Attributes
    ----------
    n_lines : int
        Number of annotations in the file.
    n_used : int
        Number of annotations that were used.
    left_out : dict of str to int
        Number of annotations that were left out, by reason.
    changed : dict of str to int
        Number of used annotations whose term was replaced, or that repeat another one.
    examples : dict of str to list of str
        The first few lines for every reason.
    """

    n_lines: int = 0
    n_used: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)

    def leave_out(self, reason: str, number: int, what: str) -> None:
        """Count a line that is left out."""
        self.left_out[reason] += 1
        self._show(reason, number, what)

    def change(self, reason: str, number: int, what: str) -> None:
        """Count a line that is used, but changed."""
        self.changed[reason] += 1
        self._show(reason, number, what)

    def _show(self, reason: str, number: int, what: str) -> None:
        shown = self.examples.setdefault(reason, [])
        if len(shown) < _SHOWN:
            shown.append(f"line {number}: {what}")

    def __str__(self) -> str:
        lines = [f"{self.n_lines:,} annotations read, {self.n_used:,} used"]
        for title, counts in (("left out", self.left_out), ("used, but", self.changed)):
            for reason, count in sorted(counts.items()):
                lines.append(f"  {title}: {count:,} {reason} ({'; '.join(self.examples[reason])})")
        return "\n".join(lines)


@dataclass(frozen=True, repr=False)
class Annotations:
    """The terms of genes or proteins.

    Attributes
    ----------
    ids : tuple of str
        The identifier of every row, in order of appearance.
    y : csr_array of int32, shape (n, n_labels)
        The terms, including ancestors.
    hierarchy : Hierarchy
        The terms of the columns.
    report : AnnotationReport
        What was left out and why.
    negated : csr_array of int32, shape (n, n_labels)
        The terms of annotations with the qualifier NOT, without those that `y` has.
    """

    ids: tuple[str, ...]
    y: sparse.csr_array[np.int32]
    hierarchy: Hierarchy
    report: AnnotationReport
    negated: sparse.csr_array[np.int32]

    def __repr__(self) -> str:
        return f"Annotations({len(self.ids)} rows, {self.hierarchy.n_labels} labels)"

    def partial_labels(self, ids: Iterable[object] | None = None) -> PartialLabels:
        """Return labels of which nothing is known below the most specific terms of each row.

        Annotations with the qualifier NOT say that a row does not have a term, nor those below.

        Parameters
        ----------
        ids : iterable, optional
            Identifiers, as in `rows`; by default, all. Nothing is known about those without
            annotations.

        Returns
        -------
        PartialLabels
            One row per identifier.
        """
        chosen = self._places(self.ids if ids is None else ids)
        negative = self.hierarchy.decode(chosen @ self.negated, most_specific=False)
        y = sparse.csr_array(chosen @ self.y)
        return PartialLabels(y, self.hierarchy, ends="unknown_below", negative=negative)

    def rows(self, ids: Iterable[object]) -> sparse.csr_array[np.int32]:
        """Return the label matrix of given rows, e.g. those of a table of features.

        Parameters
        ----------
        ids : iterable
            Identifiers. Those without annotations get empty rows.

        Returns
        -------
        csr_array of int32, shape (n, n_labels)
            One row per identifier.
        """
        return sparse.csr_array(self._places(ids) @ self.y)

    def _places(self, ids: Iterable[object]) -> Any:
        """Return a matrix that chooses the rows of identifiers."""
        position = {name: k for k, name in enumerate(self.ids)}
        places = np.array([position.get(str(name), -1) for name in ids], dtype=np.int64)
        found = np.flatnonzero(places >= 0)
        return indicator_of_cells(found, places[found], (len(places), len(self.ids)))


def read_annotations(
    path: FilePath,
    ontology: Ontology | Hierarchy,
    hierarchy: Hierarchy | None = None,
    *,
    namespace: str | None = None,
    format: str | None = None,
    evidence: Sequence[str] | None = None,
    exclude_evidence: Sequence[str] = (),
    taxa: Sequence[object] | None = None,
    row_ids: str = "object",
    obsolete: str = "replace",
    malformed: str = "raise",
    limits: ReadLimits | None = None,
) -> Annotations:
    r"""Read annotations from a GAF or GPAD file, or from a table of targets and terms.

    Annotations with the qualifier NOT are kept apart, alternative identifiers are replaced with
    their terms, and the ancestors of every term are added.

    Parameters
    ----------
    path : path
        A GAF 2 or GPAD file, or the ground truth of a CAFA challenge: lines with a target and a
        term, separated by a tab. Plain or gzip.
    ontology : Ontology or Hierarchy
        The terms.
    hierarchy : Hierarchy, optional
        The labels. By default, the terms of `namespace`, without edges across namespaces.
    namespace : str, optional
        Use only the terms of this namespace, e.g. "biological_process" or "BP". By default, use
        all terms.
    format : {"gaf", "gpad", "tsv"}, optional
        By default, the format is inferred from the first lines or the file name.
    evidence : sequence of str, optional
        Evidence codes and groups of `EVIDENCE_GROUPS` to use, e.g. ("experimental", "TAS"). By
        default, use all codes.
    exclude_evidence : sequence of str
        Evidence codes and groups to leave out.
    taxa : sequence of str or int, optional
        Use only annotations of these taxa, e.g. (9606,).
    row_ids : {"object", "symbol", "database"}
        What identifies a row: "object" is the identifier ("P12345"), "symbol" the symbol of a GAF
        file, and "database" the identifier with its database ("UniProtKB:P12345").
    obsolete : {"replace", "drop"}
        "replace" uses the replacement of an obsolete term, if it has exactly one.
    malformed : {"raise", "skip"}
        Whether to raise an error for a line that violates the format, or to report it.
    limits : ReadLimits, optional
        Limits on the size of the file.

    Returns
    -------
    Annotations
        Label matrix, row identifiers and a report. Rows whose annotations are all left out are
        not included.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from ramify import Hierarchy
    >>> from ramify.io import read_annotations
    >>> pets = Hierarchy.from_edges([("pet", "cat"), ("pet", "dog")])
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "owners.tsv")
    ...     _ = path.write_text("ann\tcat\nbob\tdog\nbob\tfish\n")
    ...     annotations = read_annotations(path, pets)
    >>> annotations.ids, annotations.y.toarray().tolist()
    (('ann', 'bob'), [[1, 1, 0], [1, 0, 1]])
    >>> print(annotations.report)
    3 annotations read, 2 used
      left out: 1 unknown term (line 3: fish)
    """
    check_choice("row_ids", row_ids, ("object", "symbol", "database"))
    check_choice("malformed", malformed, ("raise", "skip"))
    terms = TermFinder(ontology, hierarchy, namespace, obsolete)
    chosen = _Choice(path, evidence, exclude_evidence, taxa)
    report = AnnotationReport()
    position: dict[str, int] = {}
    seen: set[int] = set()
    rows, columns = array("q"), array("i")
    negated: list[tuple[str, int]] = []
    n_labels = terms.hierarchy.n_labels
    for number, line in annotation_lines(path, format, limits):
        report.n_lines += 1
        if isinstance(line, str):
            if malformed == "raise":
                raise FormatError(
                    f"{fspath(path)}, line {number}: {line}. Correct the line, or pass "
                    "malformed='skip'."
                )
            report.leave_out("malformed", number, line)
            continue
        reason = chosen.reason(line)
        if reason:
            report.leave_out(reason, number, f"{line.object_id} {line.term}")
            if reason == _NOT:
                denied = terms.find(line.term, AnnotationReport(), number)
                if denied is not None:
                    negated.append((_row_id(line, row_ids, path, number), denied))
            continue
        column = terms.find(line.term, report, number)
        if column is None:
            continue
        row = position.setdefault(_row_id(line, row_ids, path, number), len(position))
        cell = row * n_labels + column
        if cell in seen:
            report.change("repeated", number, f"{line.object_id} {line.term}")
        else:
            seen.add(cell)
            rows.append(row)
            columns.append(column)
        report.n_used += 1
    places = (np.asarray(rows, dtype=np.int64), np.asarray(columns, dtype=np.int32))
    Y = terms.hierarchy.close(indicator_of_cells(*places, (len(position), n_labels)))
    cells = [(position[name], at) for name, at in negated if name in position]
    return Annotations(tuple(position), Y, terms.hierarchy, report, _without(cells, Y))


def _without(
    cells: list[tuple[int, int]], Y: sparse.csr_array[np.int32]
) -> sparse.csr_array[np.int32]:
    """Return a matrix of cells, without those that are in another one."""
    rows = np.array([row for row, _ in cells], dtype=np.int64)
    columns = np.array([column for _, column in cells], dtype=np.int64)
    marks = indicator_of_cells(rows, columns, Y.shape)
    marks.data[:] = 1
    found = sparse.csr_array(marks - marks.multiply(Y))
    found.eliminate_zeros()
    return found


class TermFinder:
    """Finds the column of a term, and counts terms without one."""

    def __init__(
        self,
        ontology: Ontology | Hierarchy,
        hierarchy: Hierarchy | None,
        namespace: str | None,
        obsolete: str,
    ) -> None:
        check_choice("obsolete", obsolete, ("replace", "drop"))
        if isinstance(ontology, Hierarchy):
            if hierarchy is not None or namespace is not None:
                raise ValueError(
                    "hierarchy and namespace require an Ontology, got a Hierarchy as ontology. "
                    "Read it with Ontology.from_obo."
                )
            self.hierarchy, self.ontology = ontology, Ontology({})
        elif isinstance(ontology, Ontology):
            self.hierarchy = hierarchy or ontology.hierarchy(namespace, cross_edges=False)
            self.ontology = ontology
        else:
            raise TypeError(
                f"ontology must be an Ontology or a Hierarchy, got a {type(ontology).__name__}. "
                "Read it with Ontology.from_obo."
            )
        self._replace = obsolete == "replace"
        self._columns = {str(label): k for k, label in enumerate(self.hierarchy.labels)}
        index, aliases = self.hierarchy.index, self.hierarchy.aliases
        self._aliases = {str(alias): index(label) for alias, label in aliases.items()}

    def find(self, term: str, report: AnnotationReport, number: int) -> int | None:
        """Return the column of a term or None; count what is special about it."""
        column = self._columns.get(term)
        if column is not None:
            return column
        column = self._aliases.get(term)
        if column is not None:
            report.change("alternative identifier replaced", number, term)
            return column
        entry = self.ontology.terms.get(term)
        current = self.ontology.current(term)
        if entry is not None and entry.obsolete:
            column = self._columns.get(current) if current and self._replace else None
            if column is not None:
                report.change("obsolete term replaced", number, f"{term} by {current}")
                return column
            if current is None or not self._replace:
                report.leave_out("obsolete term", number, term)
                return None
        if current is None:
            report.leave_out("unknown term", number, term)
        else:
            report.leave_out("other namespace", number, term)
        return None


_NOT = "qualifier NOT"


class _Choice:
    """The evidence codes and taxa to use."""

    def __init__(
        self,
        path: FilePath,
        evidence: Sequence[str] | None,
        exclude_evidence: Sequence[str],
        taxa: Sequence[object] | None,
    ) -> None:
        self._path = path
        self._kept = None if evidence is None else _codes("evidence", evidence)
        self._excluded = _codes("exclude_evidence", exclude_evidence)
        if isinstance(taxa, str | int):
            taxa = [taxa]
        self._taxa = None if taxa is None else {str(t).removeprefix("taxon:") for t in taxa}

    def reason(self, line: AnnotationLine) -> str:
        """Return why a line is left out, or an empty string."""
        if self._taxa is not None and line.taxon not in self._taxa:
            if not line.taxon:
                raise ValueError(
                    f"taxa requires a GAF file, got {fspath(self._path)}, which has no column of "
                    "taxa. Omit taxa."
                )
            return "other taxon"
        if self._kept is not None and line.evidence not in self._kept:
            return "other evidence"
        if line.evidence in self._excluded:
            return "excluded evidence"
        return _NOT if line.negated else ""


def _codes(name: str, given: Sequence[str]) -> set[str]:
    listed = [given] if isinstance(given, str) else list(given)
    known = {code for codes in EVIDENCE_GROUPS.values() for code in codes}
    codes: set[str] = set()
    for code in listed:
        if code in EVIDENCE_GROUPS:
            codes.update(EVIDENCE_GROUPS[code])
        elif str(code).upper() in known or str(code).startswith("ECO:"):
            codes.add(str(code).upper())
        else:
            choices = [*EVIDENCE_GROUPS, *sorted(known)]
            raise ValueError(
                f"{name} must contain evidence codes or groups, got {code!r}."
                f"{did_you_mean(code, choices)} The groups are {shorten(EVIDENCE_GROUPS, 9)}."
            )
    return codes


def _row_id(line: AnnotationLine, row_ids: str, path: FilePath, number: int) -> str:
    if row_ids == "object":
        return line.object_id
    found = line.symbol if row_ids == "symbol" else line.database
    if not found:
        raise ValueError(
            f"{fspath(path)}, line {number}: row_ids={row_ids!r} requires a file with a {row_ids} "
            "in every line. Pass row_ids='object'."
        )
    return found if row_ids == "symbol" else f"{line.database}:{line.object_id}"


# ---- lines of annotation files: GAF, GPAD and tables of targets and terms -------------------


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
    """The columns of a format."""

    name: str  # the name of the format
    fewest: int  # the number of columns
    most: int
    # Turns the cells of a line into an `AnnotationLine`.
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
    """Yield every annotation of a file with its line number."""
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
    named = format_of(path, ANNOTATIONS)
    if named == "gaf" or _GAF.fewest <= len(cells) <= _GAF.most:
        return _GAF
    if named == "gpad" or _GPAD_1.fewest <= len(cells) <= _GPAD_1.most:
        return _GPAD_2 if ":" in cells[0] else _GPAD_1
    if 2 <= len(cells) <= 4:
        return _TSV
    raise FormatError(
        f"{fspath(path)}, line {number}: cannot tell the format from a line of {len(cells)} "
        "columns separated by tabs. Pass format='gaf', 'gpad' or 'tsv'."
    )
