"""The command line with annotations of an ontology and CAFA's files and measures."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ramify import Ontology, load
from ramify.io import read_annotations, read_cafa
from ramify.metrics import protein_curve
from tests.support.cli_runs import run

GUIDE = Path(__file__).parents[2] / "docs" / "gene-ontology.md"
TERMS = [
    ("GO:1", "biological_process", ""),
    ("GO:2", "biological_process", "is_a: GO:1"),
    ("GO:3", "biological_process", "is_a: GO:1\nalt_id: GO:33"),
    ("GO:4", "biological_process", "is_a: GO:2\nrelationship: part_of GO:3"),
    ("GO:5", "molecular_function", ""),
    ("GO:6", "molecular_function", "is_a: GO:5\nrelationship: part_of GO:2"),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write an ontology, annotations and features to the current folder."""
    monkeypatch.chdir(tmp_path)
    stanzas = [f"[Term]\nid: {t}\nname: {t}\nnamespace: {n}\n{more}\n" for t, n, more in TERMS]
    Path("go.obo").write_text("format-version: 1.2\n\n" + "\n".join(stanzas))
    rng = np.random.default_rng(0)
    kinds = np.arange(60) % 3
    X = pd.DataFrame({"gene": [f"g{k}" for k in range(60)], "a": rng.normal(size=60) + 3 * kinds})
    X["b"] = rng.normal(size=60)
    X[:45].to_csv("train.csv", index=False)
    X[40:].to_csv("test.csv", index=False)
    lines = ["!gaf-version: 2.2"]
    for gene, kind in zip(X["gene"][:55], kinds[:55], strict=True):
        for term, evidence in [(["GO:2", "GO:4", "GO:33"][kind], "IDA"), ("GO:6", "IEA")]:
            cells = ["DB", gene, gene.upper(), "involved_in", term, "PMID:1", evidence, "", "P"]
            more = ["", "", "protein", "taxon:1", "20260101", "DB", "", ""]
            lines.append("\t".join(cells + more))
    Path("genes.gaf").write_text("\n".join(lines) + "\n")
    tested = [line for line in lines[1:] if line.split("\t")[1] in set(X["gene"][40:])]
    Path("test-genes.gaf").write_text("\n".join([lines[0], *tested]) + "\n")
    return tmp_path


TRAIN = (
    *("train", "train.csv", "--annotations", "genes.gaf", "--ontology", "go.obo"),
    *("--folds", 0, "--set", "n_estimators=5"),
)


def test_the_commands_of_the_guide_run(folder: Path) -> None:
    commands = re.findall(r"^    ramify (.*)$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(commands) == 4
    outputs = []
    for command in commands:
        result = run(*shlex.split(command))
        assert result.exit_code == 0, result.output
        outputs.append(result.output)
    assert "45 of 45 rows have annotations, with 4 labels" in outputs[0]
    assert "other namespace" in outputs[0]
    assert load("go.ramify").hierarchy_.labels == ("GO:1", "GO:2", "GO:3", "GO:4")
    assert outputs[2].splitlines()[-5].split()[:2] == ["namespace", "f_max"]
    # All targets have predictions; a model is evaluated on the rows of the table.
    assert outputs[2].splitlines()[-4].split()[-1] == "1.0000"
    assert outputs[3].splitlines()[-1].split()[-1] == "1.0000"
    assert {file.name for file in Path("results").iterdir()} == {
        "evaluation_all.tsv", "evaluation_best.tsv", "curves.png",
    }  # fmt: skip


def test_targets_without_a_prediction_are_not_covered(folder: Path) -> None:
    assert run(*TRAIN, "-o", "m.ramify").exit_code == 0
    assert run("predict", "m.ramify", "test.csv", "--format", "cafa", "-o", "p.tsv").exit_code == 0
    shared = ("--cafa", "--ontology", "go.obo", "--namespace", "BP")
    shown = run("evaluate", "p.tsv", "genes.gaf", *shared).output
    # 15 of the 55 annotated genes have predictions.
    assert shown.splitlines()[-1].split()[-1] == "0.2727"


def test_a_model_has_the_figures_of_its_predictions(folder: Path) -> None:
    assert run(*TRAIN, "-o", "m.ramify").exit_code == 0
    assert run("predict", "m.ramify", "test.csv", "--format", "cafa", "-o", "p.tsv").exit_code == 0
    tested = [f"\tg{k}\t" for k in range(40, 60)]
    lines = Path("genes.gaf").read_text().splitlines()
    kept = [line for line in lines if line[0] == "!" or any(gene in line for gene in tested)]
    Path("tested.gaf").write_text("\n".join(kept) + "\n")
    cafa = ("--cafa", "--ontology", "go.obo", "--json")
    of_file = run("evaluate", "p.tsv", "tested.gaf", *cafa)
    of_model = run("evaluate", "m.ramify", "test.csv", "--annotations", "tested.gaf", *cafa)
    assert of_model.exit_code == 0, of_model.output
    found = [json.loads(result.stdout)["figures"] for result in (of_file, of_model)]
    assert found[0] == found[1]
    Path("other.tsv").write_text("x\tGO:2\n")
    other = run("evaluate", "m.ramify", "test.csv", "--annotations", "other.tsv", *cafa)
    assert other.exit_code == 2
    assert "no row of test.csv has annotations: it has 'g40'" in other.output


def test_max_terms_uses_the_first_terms_of_a_target(folder: Path) -> None:
    Path("p.tsv").write_text("g40\tGO:2\t0.5\ng40\tGO:3\t0.9\n")
    shared = ("evaluate", "p.tsv", "genes.gaf", "--cafa", "--ontology", "go.obo")
    shown = run(*shared, "--max-terms", 1)
    assert shown.exit_code == 0, shown.output
    assert "beyond max_terms" in shown.output
    assert "beyond max_terms" not in run(*shared, "--max-terms", 2).output
    assert "--max-terms must be an integer >= 1, got 0" in run(*shared, "--max-terms", 0).output


def test_figures_are_those_of_the_library(folder: Path) -> None:
    assert run(*TRAIN, "-o", "m.ramify").exit_code == 0
    assert run("predict", "m.ramify", "test.csv", "--format", "cafa", "-o", "p.tsv").exit_code == 0
    arguments = ("evaluate", "p.tsv", "genes.gaf", "--cafa", "--ontology", "go.obo")
    result = run(*arguments, "--normalization", "gt", "--no-roots", "--step", 0.1, "--json")
    found = {row["namespace"]: row for row in json.loads(result.stdout)["figures"]}
    ontology = Ontology.from_obo("go.obo")
    truth = read_annotations("genes.gaf", ontology)
    scores = read_cafa("p.tsv", ontology, ids=truth.ids).scores
    assert set(found) == {"biological_process", "molecular_function"}
    for namespace, row in found.items():
        curve = protein_curve(
            truth.y,
            scores,
            hierarchy=truth.hierarchy,
            labels=ontology.hierarchy(namespace).labels,
            propagation="max",
            normalization="gt",
            roots=False,
            thresholds=0.1,
        )
        assert row["f_max"] == curve.f_max()
        assert row["weighted_f_max"] == curve.f_max(weighted=True)
        assert row["s_min"] == curve.s_min()
        assert row["coverage"] == pytest.approx(15 / 55)


def test_known_annotations_and_terms_of_interest(folder: Path) -> None:
    Path("p.tsv").write_text("a GO:4 0.5\nb GO:3 0.5\nb GO:2 0.9\n")
    Path("t.tsv").write_text("a\tGO:4\nb\tGO:3\n")
    Path("known.tsv").write_text("b\tGO:3\n")
    Path("terms.txt").write_text("GO:33\nGO:2\n")
    arguments = ("evaluate", "p.tsv", "t.tsv", "--cafa", "--ontology", "go.obo", "--json")

    def f_max(*more: object) -> float:
        result = run(*arguments, *more)
        assert result.exit_code == 0, result.output
        return float(json.loads(result.stdout)["figures"][0]["f_max"])

    # b's annotations were all known before, and only a remains.
    assert f_max("--known", "known.tsv") == 1.0
    # For GO:2 and GO:3: precision 1 and 1/2, recall 1 and 1.
    assert f_max("--terms", "terms.txt") == pytest.approx(2 * 0.75 / 1.75)


def test_evidence_min_count_and_row_ids(folder: Path) -> None:
    result = run(*TRAIN, "-o", "m.ramify", "--evidence", "-electronic", "--min-count", 20)
    assert result.exit_code == 0, result.output
    assert load("m.ramify").hierarchy_.labels == ("GO:1", "GO:2", "GO:3")
    result = run(*TRAIN, "-o", "m.ramify", "--row-ids", "symbol")
    assert result.exit_code == 2
    assert "no row of train has annotations: the column 'gene' has 'g0'" in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("train", "train.csv", "--annotations", "genes.gaf"), "requires --ontology"),
        (("train", "train.csv", "--namespace", "BP"), "--namespace requires --annotations"),
        (
            (*TRAIN, "--id", "gen"),
            "--id must be a column of train, got 'gen'. Did you mean 'gene'?",
        ),
        ((*TRAIN, "--namespace", "XX"), "namespace must be one of the namespaces"),
        ((*TRAIN, "--limit", "max_bytes=2000"), "genes.gaf: the size of the content in bytes"),
        (
            ("evaluate", "t.tsv", "t.tsv", "--cafa"),
            "pass the terms with --ontology",
        ),
        (("predict", "m", "t.tsv", "--format", "cafa"), "--format must be cafa, with a file in"),
        (
            ("predict", "m", "t.tsv", "--format", "cafa", "-o", "p", "--threshold", 0.5),
            "Omit --threshold",
        ),
        (
            ("evaluate", "empty.tsv", "t.tsv", "--cafa", "--ontology", "go.obo"),
            "no namespace has both true annotations and predictions",
        ),
        (
            ("evaluate", "t.tsv", "empty.tsv", "--cafa", "--ontology", "go.obo"),
            "empty.tsv has no annotations to evaluate",
        ),
    ],
)
def test_mistakes_are_explained(folder: Path, arguments, message: str) -> None:
    Path("t.tsv").write_text("g1\tGO:2\t0.5\n")
    Path("empty.tsv").write_text("\n")
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())


def test_annotations_are_evaluated_without_the_option_cafa(folder: Path) -> None:
    assert run(*TRAIN, "-o", "m.ramify").exit_code == 0
    assert run("predict", "m.ramify", "test.csv", "--format", "cafa", "-o", "p.tsv").exit_code == 0
    of_model = ("evaluate", "m.ramify", "test.csv", "--annotations", "genes.gaf")
    for command in ((*of_model, "--ontology", "go.obo"), ("evaluate", "p.tsv", "genes.gaf",
                                                          "--ontology", "go.obo")):  # fmt: skip
        told = run(*command, "--json")
        assert told.exit_code == 0, told.output
        assert "evaluated with the measures of CAFA" in told.stderr
        found, expected = (json.loads(r.stdout) for r in (told, run(*command, "--cafa", "--json")))
        assert found == expected


def test_evaluate_says_what_annotations_need(folder: Path) -> None:
    assert run(*TRAIN, "-o", "m.ramify").exit_code == 0
    assert run("predict", "m.ramify", "test.csv", "--format", "cafa", "-o", "p.tsv").exit_code == 0
    told = run("evaluate", "p.tsv", "genes.gaf")
    assert told.exit_code == 2
    assert "p.tsv lists predicted terms, not a model" in told.output
    assert "pass the terms with --ontology" in told.output
    told = run("evaluate", "m.ramify", "test-genes.gaf")
    assert told.exit_code == 2
    assert "is a file of annotations. Pass it with --annotations" in told.output
    alone = run("evaluate", "m.ramify", "test.csv", "--annotations", "genes.gaf")
    assert "--ontology is required" in alone.output


def test_terms_of_another_version_are_named(folder: Path) -> None:
    text = Path("go.obo").read_text()
    Path("go.obo").write_text(text.replace("\n\n", "\ndata-version: 2025-01-01\n\n", 1))
    assert run(*TRAIN, "-o", "m.ramify").exit_code == 0
    command = ("evaluate", "m.ramify", "test.csv", "--annotations", "test-genes.gaf")
    assert "version" not in run(*command, "--ontology", "go.obo").output
    later = text.replace("\n\n", "\ndata-version: 2026-01-01\n\n", 1)
    later = later.replace("id: GO:4", "id: GO:44")
    Path("later.obo").write_text(later.replace("alt_id: GO:33", "alt_id: GO:33\nalt_id: GO:4"))
    shown = " ".join(run(*command, "--ontology", "later.obo").output.split())
    assert "trained on version 2025-01-01 of the terms" in shown
    assert "version 2026-01-01, which does not have 1 term of the model" in shown
    Path("later.obo").write_text(text.replace("\n\n", "\ndata-version: 2026-02-01\n\n", 1))
    shown = " ".join(run(*command, "--ontology", "later.obo").output.split())
    assert "version 2026-02-01, which has all terms of the model" in shown
