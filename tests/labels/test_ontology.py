"""Ontologies in OBO files: namespaces, relations, alternative and obsolete terms."""

from __future__ import annotations

import bz2
import gzip
import lzma
from pathlib import Path

import numpy as np
import obonet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify import Hierarchy, Ontology
from ramify.labels import obo
from tests.support.ontologies import TOY, random_ontology


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    path = tmp_path / "toy.obo"
    path.write_text(TOY, encoding="utf-8")
    return path


def edges(hierarchy: Hierarchy) -> set[tuple[str, str]]:
    return {(str(p), str(c)) for c in hierarchy.labels for p in hierarchy.parents(c)}


def test_namespaces_and_edges_across_them(toy: Path) -> None:
    ontology = Ontology.from_obo(toy)
    assert ontology.namespaces == ("process", "function")
    assert repr(ontology) == "Ontology(5 terms, 2 namespaces: 'process', 'function')"
    inside = {("P:1", "P:2"), ("P:1", "P:3"), ("P:2", "P:3"), ("F:1", "F:2")}
    assert edges(Hierarchy.from_obo(toy)) == inside | {("P:3", "F:2")}
    assert edges(Hierarchy.from_obo(toy, cross_edges=False)) == inside
    assert Hierarchy.from_obo(toy, namespace="function").labels == ("F:1", "F:2")
    both = Hierarchy.from_obo(toy, namespace=["process", "function"])
    assert both == Hierarchy.from_obo(toy)
    assert edges(ontology.hierarchy("process", relations=["is_a"])) == {
        ("P:1", "P:2"),
        ("P:1", "P:3"),
    }
    assert ontology.hierarchy("process", root="P:1").labels == ("P:2", "P:3")


def test_alternative_and_obsolete_identifiers(toy: Path) -> None:
    ontology = Ontology.from_obo(toy)
    assert dict(ontology.hierarchy().aliases) == {"P:22": "P:2"}
    assert dict(ontology.hierarchy("function").aliases) == {}
    replaced = ontology.hierarchy(obsolete="replace")
    assert dict(replaced.aliases) == {"P:22": "P:2", "P:8": "P:2", "P:88": "P:2"}
    assert set(ontology.hierarchy("process", obsolete="keep").labels) == {
        "P:1", "P:2", "P:3", "P:8", "P:9",
    }  # fmt: skip
    found = [ontology.current(x) for x in ("P:2", "P:22", "P:8", "P:9", "Z:1")]
    assert found == ["P:2", "P:2", "P:2", None, None]


def test_replacements_that_go_round_have_no_current_term(tmp_path: Path) -> None:
    path = tmp_path / "round.obo"
    old = "[Term]\nid: {}\nis_obsolete: true\nreplaced_by: {}\n"
    path.write_text("[Term]\nid: A\n" + old.format("B", "C") + old.format("C", "B"))
    ontology = Ontology.from_obo(path)
    assert ontology.current("B") is None
    assert ontology.namespaces == ("",)


def test_abbreviations_of_the_gene_ontology(tmp_path: Path) -> None:
    path = tmp_path / "go.obo"
    path.write_text(
        "[Term]\nid: A\nnamespace: biological_process\n"
        "[Term]\nid: B\nnamespace: molecular_function\n"
    )
    ontology = Ontology.from_obo(path)
    for name in ("BP", "bp", "P", "BPO", "biological_process"):
        assert ontology.hierarchy(name).labels == ("A",)
    with pytest.raises(ValueError, match=r"namespace must be one of .*'BP'.*, got 'CC'"):
        ontology.hierarchy("CC")
    with pytest.raises(ValueError, match=r"got 'biological_proces'. Did you mean 'biological_pro"):
        ontology.hierarchy("biological_proces")


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed_files_whatever_their_name(tmp_path: Path, pack) -> None:
    path = tmp_path / "toy.data"
    path.write_bytes(pack(TOY.encode()))
    assert Ontology.from_obo(path).namespaces == ("process", "function")
    path.write_bytes(pack(TOY.encode())[:-20])
    with pytest.raises(ValueError, match=r"toy.data: the compressed file is damaged after \d+"):
        Ontology.from_obo(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[Term]\nname: x\n", "o.obo, line 1: not a valid OBO file: a term has no 'id'. Add it."),
        ("[Term]\nid: A\n\n[Term]\nid: A\n", "o.obo, line 4: the term 'A' is defined twice"),
        ("[Term]\nid: A\nis a B\n", "line 3: .* expected 'tag: value' .*, found 'is a B'"),
        ("[Term]\nid: A\nrelationship: part_of\n", "a relation and a term, got 'part_of'"),
        ("ontology: x\n", r"o.obo is not a valid OBO file: it has no \[Term\]"),
        ("[Term]\nid: A\nis_obsolete: true\n", "all terms of the ontology are obsolete"),
        ("[Term]\nid: A\nis_a: B\n[Term]\nid: B\nis_a: A\n", "cycle: 'A' → 'B' → 'A'"),
        ("[Term]\nid: A\nname: \xff\n", "line 3: .* byte 0xFF is not UTF-8"),
    ],
)
def test_broken_files_are_explained(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "o.obo"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ValueError, match=message):
        Hierarchy.from_obo(path)


def test_options_are_checked(toy: Path) -> None:
    with pytest.raises(ValueError, match="obsolete must be one of 'drop', 'replace', 'keep', got"):
        Hierarchy.from_obo(toy, obsolete="no")


def test_an_alternative_identifier_may_have_an_obsolete_entry(tmp_path: Path) -> None:
    path = tmp_path / "o.obo"
    merged = "[Term]\nid: P:9\nname: kitty\nis_obsolete: true\n"
    kept = "[Term]\nid: P:2\nname: cat\nalt_id: P:9\nalt_id: P:3\n"
    path.write_text(f"{merged}\n{kept}\n[Term]\nid: P:3\nname: dog\n")
    ontology = Ontology.from_obo(path)
    assert ontology.current("P:9") == "P:2"
    assert ontology.current("P:3") == "P:3"  # a term of its own
    assert ontology.hierarchy().aliases == {"P:9": "P:2"}
    with_old = ontology.hierarchy(obsolete="keep")
    assert "P:9" in with_old.labels
    assert with_old.aliases == {}


def test_endless_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "bomb.obo.gz"
    path.write_bytes(gzip.compress(b"[Term]\nid: A\n" + b"name: x\n" * 10_000))
    monkeypatch.setattr(obo, "_MOST_BYTES", 1 << 12)
    with pytest.raises(ValueError, match=r"bomb.obo.gz, line \d+: .* the text is too long"):
        Ontology.from_obo(path)


@given(st.integers(0, 2**32 - 1))
def test_terms_equal_those_of_obonet(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    path = tmp_path_factory.mktemp("obo") / "o.obo"
    path.write_text(random_ontology(np.random.default_rng(seed)).to_obo())
    terms = Ontology.from_obo(path).terms
    graph = obonet.read_obo(path, ignore_obsolete=False)
    assert set(terms) == set(graph.nodes)
    for identifier, data in graph.nodes(data=True):
        term = terms[identifier]
        assert (term.name, term.namespace) == (data["name"], data["namespace"])
        assert list(term.alternatives) == data.get("alt_id", [])
        assert term.obsolete == (data.get("is_obsolete") == "true")
        found = {
            (relation, other) for _, other, relation in graph.out_edges(identifier, keys=True)
        }
        assert set(term.relations) == found
