"""Annotation files: GAF, GPAD and tables of targets and terms."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from ramify import Hierarchy, Ontology
from ramify.io import EVIDENCE_GROUPS, FormatError, ReadLimits, read_annotations
from tests.support.ontologies import TOY


@pytest.fixture(scope="module")
def ontology(tmp_path_factory: pytest.TempPathFactory) -> Ontology:
    path = tmp_path_factory.mktemp("obo") / "toy.obo"
    path.write_text(TOY, encoding="utf-8")
    return Ontology.from_obo(path)


def gaf(
    gene: str,
    term: str,
    evidence: str = "IDA",
    relation: str = "involved_in",
    taxon: str = "taxon:9606",
) -> str:
    cells = ["DB", gene, gene.lower(), relation, term, "PMID:1", evidence, "", "P", "name", ""]
    return "\t".join([*cells, "protein", taxon, "20260101", "DB", "", ""])


LINES = [
    "!gaf-version: 2.2",
    "!a comment",
    gaf("A", "P:2"),  # line 3
    gaf("A", "P:2", "IEA"),  # repeated with other evidence
    gaf("A", "P:3", "IDA", "NOT|involved_in"),
    gaf("B", "P:22"),  # alternative identifier
    gaf("B", "P:8"),  # obsolete, replaced by the alternative identifier of P:2
    gaf("C", "P:9"),  # obsolete without a replacement
    gaf("C", "Z:1"),  # unknown
    gaf("D", "F:2", "HDA"),
    gaf("D", "P:3", "IEA", taxon="taxon:10090|taxon:9606"),
    "",
    gaf("D", "P:3", "ND"),
]


def write(folder: Path, lines: list[str], name: str = "genes.gaf") -> Path:
    path = folder / name
    text = ("\n".join(lines) + "\n").encode()
    path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    return path


def label_sets(annotations) -> dict[str, set[str]]:
    rows = annotations.hierarchy.decode(annotations.y, most_specific=False)
    return {name: set(row) for name, row in zip(annotations.ids, rows, strict=True)}


@pytest.mark.parametrize("name", ["genes.gaf", "genes.gaf.gz", "genes"])
def test_every_kind_of_line_is_counted(tmp_path: Path, ontology: Ontology, name: str) -> None:
    found = read_annotations(write(tmp_path, LINES, name), ontology)
    assert label_sets(found) == {
        "A": {"P:1", "P:2"},
        "B": {"P:1", "P:2"},
        "D": {"F:1", "F:2", "P:1", "P:2", "P:3"},
    }
    assert found.report.left_out == {"qualifier NOT": 1, "obsolete term": 1, "unknown term": 1}
    assert found.report.changed == {
        "repeated": 3,
        "alternative identifier replaced": 1,
        "obsolete term replaced": 1,
    }
    assert (found.report.n_lines, found.report.n_used) == (10, 7)
    text = str(found.report)
    assert text.startswith("10 annotations read, 7 used\n")
    assert "left out: 1 unknown term (line 9: Z:1)" in text
    assert "used, but: 1 obsolete term replaced (line 7: P:8 by P:2)" in text
    assert repr(found) == "Annotations(3 rows, 5 labels)"


def test_namespace_evidence_and_taxa(tmp_path: Path, ontology: Ontology) -> None:
    path = write(tmp_path, LINES)
    process = read_annotations(path, ontology, namespace="process")
    assert process.hierarchy.labels == ("P:1", "P:2", "P:3")
    assert process.report.left_out["other namespace"] == 1
    experimental = read_annotations(path, ontology, evidence=["experimental"])
    assert label_sets(experimental) == {"A": {"P:1", "P:2"}, "B": {"P:1", "P:2"}}
    assert experimental.report.left_out["other evidence"] == 4
    manual = read_annotations(path, ontology, exclude_evidence=["electronic", "ND"])
    assert label_sets(manual)["D"] == {"F:1", "F:2"}
    assert manual.report.left_out["excluded evidence"] == 3
    human = read_annotations(path, ontology, taxa=[9606])
    assert human.report.left_out["other taxon"] == 1
    both = read_annotations(path, ontology, taxa=["taxon:9606", 10090])
    assert "other taxon" not in both.report.left_out
    dropped = read_annotations(path, ontology, obsolete="drop")
    assert dropped.report.left_out["obsolete term"] == 2
    crossed = read_annotations(path, ontology, ontology.hierarchy())
    assert label_sets(crossed)["D"] == {"F:1", "F:2", "P:1", "P:2", "P:3"}


def test_rows_by_other_identifiers(tmp_path: Path, ontology: Ontology) -> None:
    path = write(tmp_path, LINES)
    assert read_annotations(path, ontology, row_ids="symbol").ids == ("a", "b", "d")
    assert read_annotations(path, ontology, row_ids="database").ids == ("DB:A", "DB:B", "DB:D")
    table = write(tmp_path, ["A\tP:2"], "t.tsv")
    with pytest.raises(ValueError, match=r"t.tsv, line 1: row_ids='symbol' requires a file with"):
        read_annotations(table, ontology, row_ids="symbol")
    with pytest.raises(ValueError, match=r"taxa requires a GAF file, got .*t.tsv"):
        read_annotations(table, ontology, taxa=[9606])


def test_rows_of_a_table_of_features(tmp_path: Path, ontology: Ontology) -> None:
    found = read_annotations(write(tmp_path, LINES), ontology, namespace="process")
    matrix = found.rows(["D", "unknown", "A", "D"])
    assert matrix.toarray().tolist() == [[1, 1, 1], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    assert matrix.dtype == np.int32


GPAD_1 = [
    "!gpa-version: 1.1",
    "DB\tA\tinvolved_in\tP:2\tPMID:1\tECO:0000314\t\t\t20260101\tDB\t\tgo_evidence=IDA",
    "DB\tA\tNOT|involved_in\tP:3\tPMID:1\tECO:0000314\t\t\t20260101\tDB\t\t",
    "DB\tB\tinvolved_in\tP:3\tPMID:1\tECO:0000256\t\t\t20260101\tDB\t\tgo_evidence=IEA",
]
GPAD_2 = [
    "!gpad-version: 2.0",
    "DB:A\t\tRO:0002331\tP:2\tPMID:1\tECO:0000314\t\t\t2026-01-01\tDB\t\t",
    "DB:A\tNOT\tRO:0002331\tP:3\tPMID:1\tECO:0000314\t\t\t2026-01-01\tDB\t\t",
    "DB:B\t\tRO:0002331\tP:3\tPMID:1\tECO:0000501\t\t\t2026-01-01\tDB\t\t",
]


@pytest.mark.parametrize("lines", [GPAD_1, GPAD_2, GPAD_1[1:], GPAD_2[1:]])
def test_gpad(tmp_path: Path, ontology: Ontology, lines: list[str]) -> None:
    path = write(tmp_path, lines, "genes.gpad")
    found = read_annotations(path, ontology)
    assert label_sets(found) == {"A": {"P:1", "P:2"}, "B": {"P:1", "P:2", "P:3"}}
    assert found.report.left_out == {"qualifier NOT": 1}
    assert read_annotations(path, ontology, evidence=["IDA"]).ids == ("A",)
    assert read_annotations(path, ontology, evidence=["electronic"]).ids == ("B",)
    assert read_annotations(path, ontology, row_ids="database").ids == ("DB:A", "DB:B")


@pytest.mark.parametrize("first", [[], ["EntryID\tterm\taspect"], ["!comment"]])
def test_tables_of_targets_and_terms(tmp_path: Path, ontology: Ontology, first: list[str]) -> None:
    path = write(tmp_path, [*first, "A\tP:2\tBPO", "B\tF:2\tMFO"], "truth.tsv")
    found = read_annotations(path, ontology)
    assert label_sets(found) == {"A": {"P:1", "P:2"}, "B": {"F:1", "F:2"}}
    assert not found.report.left_out
    hierarchy = Hierarchy.from_edges([("P:1", "P:2")])
    flat = read_annotations(path, hierarchy)
    assert label_sets(flat) == {"A": {"P:1", "P:2"}}
    assert flat.report.left_out == {"unknown term": 1}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("A\tP:2", "line 14: a line of a GAF file must have 15 to 17 columns .* got 2"),
        (gaf("A", "P:2") + "\tx\ty", "line 14: .* got 19. Correct the line, or pass malformed="),
        (gaf("", "P:2"), "line 14: the identifier of the object or of the term is empty"),
        (gaf("A", " "), "line 14: the identifier of the object or of the term is empty"),
    ],
)
def test_broken_lines(tmp_path: Path, ontology: Ontology, line: str, message: str) -> None:
    path = write(tmp_path, [*LINES, line, gaf("E", "P:2")])
    with pytest.raises(FormatError, match=message):
        read_annotations(path, ontology)
    found = read_annotations(path, ontology, malformed="skip")
    assert found.report.left_out["malformed"] == 1
    assert "E" in found.ids


def test_files_that_are_no_annotations(tmp_path: Path, ontology: Ontology) -> None:
    with pytest.raises(FormatError, match=r"line 1: cannot tell the format from a line of 1 col"):
        read_annotations(write(tmp_path, ["hello"], "x"), ontology)
    bad = tmp_path / "bad.gaf"
    bad.write_bytes(gaf("A", "P:2").encode() + b"\n\xff\n")
    with pytest.raises(FormatError, match=r"bad.gaf, line 2: byte 0xFF is not UTF-8"):
        read_annotations(bad, ontology)
    bad.write_bytes(b"x" * 3_000_000)
    with pytest.raises(FormatError, match=r"bad.gaf, line 1: the line is longer than 1 MiB"):
        read_annotations(bad, ontology)
    packed = write(tmp_path, LINES * 100, "big.gaf.gz")
    with pytest.raises(FormatError, match="max_bytes"):
        read_annotations(packed, ontology, limits=ReadLimits(max_bytes=1000))
    empty = read_annotations(write(tmp_path, ["!gaf-version: 2.2"]), ontology)
    assert empty.ids == ()
    assert empty.y.shape == (0, 5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"evidence": ["experimentel"]}, "got 'experimentel'. Did you mean 'experimental'"),
        ({"exclude_evidence": ["XYZ"]}, "exclude_evidence must contain evidence codes .* 'XYZ'"),
        ({"row_ids": "name"}, "row_ids must be one of 'object', 'symbol', 'database', got"),
        ({"malformed": "keep"}, "malformed must be one of 'raise', 'skip', got 'keep'"),
        ({"obsolete": "keep"}, "obsolete must be one of 'replace', 'drop', got 'keep'"),
        ({"format": "csv"}, "format must be one of 'gaf', 'gpad', 'tsv', None, got 'csv'"),
        ({"namespace": "proces"}, "got 'proces'. Did you mean 'process'"),
    ],
)
def test_options_are_checked(tmp_path: Path, ontology: Ontology, options, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_annotations(write(tmp_path, LINES), ontology, **options)


def test_a_hierarchy_has_no_namespaces(tmp_path: Path) -> None:
    hierarchy = Hierarchy.from_edges([("P:1", "P:2")])
    with pytest.raises(ValueError, match="hierarchy and namespace require an Ontology"):
        read_annotations(write(tmp_path, LINES), hierarchy, namespace="process")
    with pytest.raises(TypeError, match="ontology must be an Ontology or a Hierarchy, got a str"):
        read_annotations(write(tmp_path, LINES), "go.obo")  # type: ignore[arg-type]


def test_evidence_groups_are_disjoint() -> None:
    codes = [code for group in EVIDENCE_GROUPS.values() for code in group]
    assert len(set(codes)) == len(codes)


def test_not_is_known_where_nothing_else_is(tmp_path: Path) -> None:
    pets = Hierarchy.from_edges([("pet", "cat"), ("pet", "dog"), ("cat", "tom")])
    lines = [
        gaf("ann", "pet"),
        gaf("ann", "cat", relation="NOT|enables"),
        gaf("bob", "tom"),
        gaf("bob", "cat", relation="NOT"),
        gaf("eve", "dog", relation="NOT"),
    ]
    path = tmp_path / "owners.gaf"
    path.write_text("!gaf-version: 2.2\n" + "\n".join(lines) + "\n")
    found = read_annotations(path, pets)
    assert found.ids == ("ann", "bob")
    assert found.report.left_out["qualifier NOT"] == 3
    known = found.partial_labels(["ann", "bob", "joe"]).to_array()
    assert np.isnan(known[2]).all()
    known = known[:2]
    np.testing.assert_array_equal(known, found.partial_labels().to_array())
    by_label = {name: known[:, pets.index(name)].tolist() for name in pets.labels}
    assert by_label["pet"] == [1, 1]
    assert by_label["cat"] == by_label["tom"] == [0, 1]  # what bob has counts more
    np.testing.assert_array_equal(by_label["dog"], [np.nan, 0])
