"""Prediction and information files of the CAFA challenges."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from ramify import Hierarchy, Ontology
from ramify.io import FormatError, read_cafa, read_information, write_cafa, write_information
from tests.support.label_graphs import graphs_and_scores
from tests.support.ontologies import TOY

PETS = Hierarchy.from_edges([("pet", "cat"), ("pet", "dog"), ("cat", "lion")])


@given(graphs_and_scores(), st.booleans(), st.sampled_from([None, "max", "fill"]))
def test_scores_survive_a_file(
    tmp_path_factory: pytest.TempPathFactory, problem, packed: bool, propagation
) -> None:
    hierarchy, scores = problem
    path = tmp_path_factory.mktemp("cafa") / ("p.tsv.gz" if packed else "p.tsv")
    ids = [f"t{k}" for k in range(len(scores))]
    n_lines = write_cafa(path, ids, scores, hierarchy, propagation=propagation)
    expected = scores if propagation is None else hierarchy.propagate(scores, propagation)
    rounded = np.round(np.asarray(sparse.csr_array(expected).toarray()), 3)
    found = read_cafa(path, hierarchy, ids=ids)
    np.testing.assert_array_equal(found.scores.toarray(), rounded)
    assert found.scores.has_canonical_format
    assert n_lines == np.count_nonzero(rounded) == found.report.n_used


def test_the_best_terms_are_written_ancestors_first(tmp_path: Path) -> None:
    path = tmp_path / "p.tsv"
    scores = [[0.9, 0.9, 0.2, 0.9], [0.5, 0.4999, 0.3, 0.0004]]
    assert write_cafa(path, ["a", 7], scores, PETS, max_terms=2, author="me", keywords=["x"]) == 4
    assert path.read_text() == (
        "AUTHOR me\nMODEL 1\nKEYWORDS x.\n"
        "a\tpet\t0.900\na\tcat\t0.900\n7\tpet\t0.500\n7\tcat\t0.500\nEND\n"
    )
    assert read_cafa(path, PETS).ids == ("a", "7")
    assert write_cafa(path, ["a", "b"], scores, PETS, max_terms=None, digits=4) == 8


def test_blocks_of_rows_give_the_same_file(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    scores = rng.random((700, 4))
    ids = [f"t{k}" for k in range(700)]
    write_cafa(tmp_path / "a", ids, scores, PETS)
    blocks = (sparse.csr_array(scores[k : k + 100]) for k in range(0, 700, 100))
    write_cafa(tmp_path / "b", iter(ids), blocks, PETS)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["a"], [[0.1, 0.2]]), r"one column per label, 4, got the shape \(1, 2\)"),
        ((["a"], [[0.1, 0.2, 1.5, 0]]), "scores must be from 0 to 1, got 1.5"),
        ((["a"], [[0.1, 0.2, np.nan, 0]]), "scores must be from 0 to 1, got nan"),
        ((["a b"], [[0.1, 0, 0, 0]]), "ids must contain names without white space, got 'a b'"),
        ((["a"], np.zeros((2, 4))), "scores has more rows than ids"),
        ((["a", "b"], np.zeros((1, 4))), "ids has more targets than scores has rows"),
    ],
)
def test_a_mistake_leaves_the_old_file(tmp_path: Path, arguments, message: str) -> None:
    path = tmp_path / "p.tsv"
    path.write_text("old")
    with pytest.raises(ValueError, match=message):
        write_cafa(path, *arguments, PETS)
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["p.tsv"]


def test_every_kind_of_line_is_counted(tmp_path: Path) -> None:
    (tmp_path / "toy.obo").write_text(TOY, encoding="utf-8")
    ontology = Ontology.from_obo(tmp_path / "toy.obo")
    path = tmp_path / "p.tsv"
    path.write_text(
        "AUTHOR x y\nMODEL 1\nKEYWORDS a, b.\n"
        "a P:2 0.5\na\tP:22\t0.75\r\na\tP:2\t0.6\n\nb F:2 1\nb P:9 0.5\nb Z:1 0.5\n"
        "c P:1 0.1\na P:3 0\nb P:3 1e-2\nEND\n"
    )
    found = read_cafa(path, ontology, ids=["a", "b"])
    dense = dict(zip(found.hierarchy.labels, found.scores.toarray().T.tolist(), strict=True))
    assert dense["P:2"] == [0.75, 0]
    assert dense["F:2"] == [0, 1]
    assert dense["P:3"] == [0, 0.01]
    assert found.scores.nnz == 3
    assert found.report.left_out == {
        "obsolete term": 1,
        "unknown term": 1,
        "other target": 1,
        "score of 0": 1,
    }
    assert repr(found) == "CafaPredictions(2 rows, 5 labels, 3 scores)"
    assert read_cafa(path, ontology).ids == ("a", "b", "c")


def test_the_first_terms_of_every_namespace(tmp_path: Path) -> None:
    (tmp_path / "toy.obo").write_text(TOY, encoding="utf-8")
    ontology = Ontology.from_obo(tmp_path / "toy.obo")
    path = tmp_path / "p.tsv"
    path.write_text("a P:1 0.1\na F:1 0.2\na P:1 0.3\na P:2 0.4\na P:3 0.5\na P:1 0.6\n")
    found = read_cafa(path, ontology, max_terms=2)
    cells = dict(zip(found.hierarchy.labels, found.scores.toarray()[0].tolist(), strict=True))
    assert cells == {"P:1": 0.3, "P:2": 0.4, "P:3": 0, "F:1": 0.2, "F:2": 0}
    assert found.report.left_out == {"beyond max_terms": 2}
    with pytest.raises(ValueError, match="max_terms must be an integer >= 1, got 0"):
        read_cafa(path, ontology, max_terms=0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a cat 0.5\na cat\n",
            "p.tsv, line 2: expected a target, a term and a score, got 'a cat'",
        ),
        ("a cat 0.5\na cat high\n", "line 2: expected a target, a term and a score"),
        ("a cat 1.5\n", "line 1: the score must be a number from 0 to 1, got 1.5"),
        ("a cat -1\n", "line 1: the score must be a number from 0 to 1, got -1"),
        ("a cat nan\n", "line 1: the score must be a number from 0 to 1, got nan"),
    ],
)
def test_broken_predictions(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "p.tsv"
    path.write_text(text)
    with pytest.raises(FormatError, match=message):
        read_cafa(path, PETS)


def test_a_header_is_skipped_and_repeated_ids_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "p.tsv"
    path.write_text("target\tterm\tscore\na\tcat\t0.5\n")
    assert read_cafa(path, PETS).ids == ("a",)
    with pytest.raises(ValueError, match="ids must be distinct"):
        read_cafa(path, PETS, ids=["a", "a"])


def test_information_survives_a_file(tmp_path: Path) -> None:
    path = tmp_path / "ia.tsv.gz"
    bits = [0.0, 1 / 3, 2.5, 1e-20]
    write_information(path, bits, PETS)
    np.testing.assert_array_equal(read_information(path, PETS), bits)
    path.write_bytes(gzip.compress(b"cat nan\ndog inf\n\nfish 3\nlion 4\n"))
    assert read_information(path, PETS).tolist() == [0, 0, 4, 0]
    path.write_bytes(gzip.compress(b"term\tia\ncat\t2\n"))  # with a line of headings
    assert read_information(path, PETS)[PETS.index("cat")] == 2
    with pytest.raises(ValueError, match=r"information must have shape \(4,\), .* got \(2,\)"):
        write_information(path, [1, 2], PETS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cat\n", "ia.tsv, line 1: expected a term and its information, got 'cat'"),
        ("cat 1\nterm ia\n", "line 2: expected a term and its information, got 'term ia'"),
        ("cat much\n", "line 1: expected a term and its information, got 'cat much'"),
        ("cat 1\ndog -2\n", "line 2: the information of 'dog' must not be negative, got -2"),
    ],
)
def test_broken_information(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "ia.tsv"
    path.write_text(text)
    with pytest.raises(FormatError, match=message):
        read_information(path, PETS)
