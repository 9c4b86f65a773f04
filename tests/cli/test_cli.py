"""The command line with tables such as spreadsheets."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ramify import PCTForestClassifier, fetch, load, load_animals
from ramify.apps.named_estimators import MODELS
from ramify.decision import best_label_sets
from ramify.io import read_arff
from tests.support.cli_runs import QUICK, run
from tests.support.clus_data import requires_data


@pytest.fixture(scope="module")
def animals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a CSV with names, text columns, missing cells and a label column "A/B;C"."""
    data = load_animals(as_frame=True)
    frame = data.X.copy()
    frame.insert(0, "animal", data.names)
    frame["taxon"] = [";".join(labels) for labels in data.hierarchy.decode(data.y)]
    folder = tmp_path_factory.mktemp("animals")
    frame.iloc[::2].to_csv(folder / "train.csv", index=False)
    frame.iloc[1::2].to_csv(folder / "test.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def model(animals: Path) -> Path:
    result = run("train", animals / "train.csv", "-t", "taxon", "-o", animals / "m.ramify", *QUICK)
    assert result.exit_code == 0, result.output
    assert "left out: animal" in result.output
    assert "pooled AU(PRC)" in result.output
    assert "PCTForestClassifier" in result.output
    return animals / "m.ramify"


def test_train_saves_the_model_it_describes(model: Path) -> None:
    fitted = load(model)
    assert isinstance(fitted, PCTForestClassifier)
    assert len(fitted.trees_) == 5
    assert "animal" not in fitted.feature_names_in_


def test_predict_prints_and_writes_the_same_labels(model: Path, animals: Path) -> None:
    printed = run("predict", model, animals / "test.csv")
    assert printed.exit_code == 0
    out = animals / "p.csv"
    assert run("predict", model, animals / "test.csv", "-o", out).exit_code == 0
    written = pd.read_csv(out, keep_default_na=False)
    assert printed.output.splitlines() == written["taxon"].tolist()
    fitted = load(model)
    X = pd.read_csv(animals / "test.csv")[list(fitted.feature_names_in_)]
    best = best_label_sets(fitted.predict_proba(X), fitted.hierarchy_)
    expected = fitted.hierarchy_.decode(best)
    assert [tuple(cell.split(";")) for cell in written["taxon"]] == expected
    assert list(written) == ["row", "animal", "taxon"]  # rows keep their names
    assert written["animal"].tolist() == pd.read_csv(animals / "test.csv")["animal"].tolist()


def test_decide_separately_is_a_threshold_of_a_half(model: Path, animals: Path) -> None:
    given = ("predict", model, animals / "test.csv")
    apart = run(*given, "--decide", "separately")
    assert apart.output == run(*given, "--threshold", 0.5).output != run(*given).output
    out = animals / "apart.csv"
    run(*given, "--decide", "separately", "-o", out)
    written = pd.read_csv(out, keep_default_na=False)
    assert apart.output.splitlines() == written["taxon"].tolist()
    refused = run(*given, "--decide", "separately", "--threshold", 0.5)
    assert refused.exit_code == 2
    assert "--decide separately chooses the rule that --threshold 0.5 replaces" in refused.output
    assert "decide must be" in run(*given, "--decide", "alone").output


def test_unreadable_inputs_and_unwritable_outputs_fail_before_training(
    animals: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train = ("train", animals / "train.csv", "-t", "taxon", "-o", tmp_path / "m.ramify")
    (tmp_path / "h.json").write_text("no hierarchy [")
    result = run(*train, "-H", tmp_path / "h.json")
    assert result.exit_code == 2
    assert f"cannot read the hierarchy {tmp_path / 'h.json'}" in result.output

    def refuse(**_: object) -> None:
        raise PermissionError

    (tmp_path / "empty.csv").touch()
    result = run("train", tmp_path / "empty.csv", "-t", "taxon", "-o", tmp_path / "m.ramify")
    assert "empty.csv is not a table" in result.output
    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    result = run(*train)
    assert result.exit_code == 2
    assert f"Choose a folder other than {tmp_path}" in result.output


def test_train_rejects_binary_files(tmp_path: Path) -> None:
    path = tmp_path / "picture.csv"
    path.write_bytes(b"\x89PNG\r\n\x1a\n")
    result = run("train", path, "-o", tmp_path / "model.ramify")
    assert result.exit_code == 2
    assert "picture.csv is not a table" in result.output
    assert "0x89 at offset 0" in result.output
    assert not (tmp_path / "model.ramify").exists()


@pytest.mark.parametrize("name", ["p.csv.gz", "p.tsv", "p.parquet"])
def test_probabilities_are_written_sparsely(model: Path, animals: Path, name: str) -> None:
    out = animals / name
    result = run("predict", model, animals / "test.csv", "-o", out, "--probabilities", 0.3)
    assert result.exit_code == 0, result.output
    if name.endswith("parquet"):
        frame = pd.read_parquet(out)
    else:
        frame = pd.read_csv(out, sep="\t" if "tsv" in name else ",")
    assert frame.columns.tolist() == ["row", "animal", "label", "probability"]
    names = pd.read_csv(animals / "test.csv")["animal"]
    assert frame["animal"].tolist() == names[frame["row"]].tolist()
    assert frame["probability"].min() >= 0.3
    scores = load(model).predict_proba(
        pd.read_csv(animals / "test.csv")[list(load(model).feature_names_in_)]
    )
    assert len(frame) == int((scores >= 0.3).sum())


def test_predictions_require_a_known_file_format(model: Path, animals: Path) -> None:
    result = run("predict", model, animals / "test.csv", "-o", animals / "p.xlsx")
    assert result.exit_code == 2
    assert "--out must end in one of .csv, .tsv, .parquet" in result.output
    result = run("evaluate", model, animals / "test.csv", "-t", "taxon", "-o", model)
    assert f"--out must be a folder, got the file {model}" in result.output


def test_predictions_as_arff(model: Path, animals: Path) -> None:
    out = animals / "p.arff"
    assert run("predict", model, animals / "test.csv", "-o", out).exit_code == 0
    assert read_arff(out).X.shape[0] == len(pd.read_csv(animals / "test.csv"))


def test_evaluate_writes_measures_labels_and_a_curve(model: Path, animals: Path) -> None:
    folder = animals / "results"
    result = run(
        "evaluate", model, animals / "test.csv", "-t", "taxon", "-o", folder, "--ignore-unknown"
    )
    assert result.exit_code == 0, result.output
    measures = json.loads((folder / "measures.json").read_text())
    (pooled,) = (
        row["value"]
        for row in measures
        if (row["measure"], row["labels"]) == ("pooled_auprc", "all")
    )
    assert 0.5 < pooled < 1
    assert f"{pooled:.4f}" in result.output
    labels = pd.read_csv(folder / "labels.csv")
    assert set(labels["label"]) == set(load(model).hierarchy_.labels)
    assert (folder / "precision-recall.png").read_bytes()[1:4] == b"PNG"


def test_explore_writes_a_page(model: Path, animals: Path, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    assert run("explore", model, "-o", out, "--title", "Bare animals").exit_code == 0
    assert "Bare animals" in out.read_text(encoding="utf-8")
    fitted = load(model)
    frame = pd.read_csv(animals / "test.csv")
    known = [
        all(x in fitted.hierarchy_.labels for x in cell.split(";")) for cell in frame["taxon"]
    ]
    frame[known].to_csv(tmp_path / "rows.csv", index=False)
    result = run("explore", model, tmp_path / "rows.csv", "-t", "taxon", "-o", out)
    assert result.exit_code == 0, result.output
    data = json.loads(re.search(r'id="data">(.*?)</script>', out.read_text(), re.DOTALL)[1])
    assert len(data["rows"]["X"]) == sum(known)


def test_rules_are_printed_for_labels(model: Path) -> None:
    result = run("rules", model, "--label", "taxonomy/bird", "-n", 3)
    assert result.exit_code == 0, result.output
    first, *lines = result.output.splitlines()
    assert first.startswith("taxonomy/bird:")
    assert len(lines) == 3
    assert all(" IF " in line for line in lines)
    shares = [float(line.split()[2]) for line in lines]
    assert shares == sorted(shares, reverse=True)
    facts = json.loads(run("rules", model, "--label", "taxonomy/bird", "-n", 3, "--json").output)
    assert [[label["label"] for label in rule["then"]] for rule in facts] == [
        ["taxonomy/bird"]
    ] * 3
    scores = [rule["coverage"] * rule["then"][0]["lift"] for rule in facts]
    assert [f"{score:.2f}" for score in scores] == [line.split()[2] for line in lines]
    wrong = run("rules", model, "--label", "taxonomy/brid")
    assert wrong.exit_code == 2
    assert "taxonomy/bird" in wrong.output


def test_rules_of_all_labels_are_those_with_a_conclusion(model: Path) -> None:
    facts = json.loads(run("rules", model, "-n", 4, "--threshold", 0.8, "--json").output)
    assert len(facts) == 4
    assert all(rule["then"] for rule in facts)
    assert min(label["precision"] for rule in facts for label in rule["then"]) >= 0.8
    coverages = [rule["coverage"] for rule in facts]
    assert coverages == sorted(coverages, reverse=True)
    text = run("rules", model, "-n", 4, "--threshold", 0.8).output
    starts = [k for k, line in enumerate(text.splitlines()) if line.startswith("IF ")]
    assert len(starts) == 4
    assert all(text.splitlines()[k + 1].startswith("   ") for k in starts)


def test_json_output(animals: Path, tmp_path: Path) -> None:
    result = run(
        *("train", animals / "train.csv", "-t", "taxon", "-o", tmp_path / "m", "-m", "tree"),
        *("--folds", 2, "--json"),
    )
    facts = json.loads(result.output)
    assert facts["model"] == "PCTClassifier"
    assert facts["left_out"] == ["animal"]
    assert len(facts["scores"]["pooled_auprc"]) == 2
    assert facts["data"]["labels_per_row"] > 4


def test_results_do_not_depend_on_the_number_of_jobs(animals: Path, tmp_path: Path) -> None:
    scores = [
        json.loads(
            run(
                *("train", animals / "train.csv", "-t", "taxon", "-o", tmp_path / "m"),
                *(*QUICK, "--jobs", jobs, "--json"),
            ).output
        )["scores"]
        for jobs in (1, 2)
    ]
    assert scores[0] == scores[1]


@pytest.mark.parametrize("name", MODELS)
def test_every_model_trains_and_predicts(animals: Path, tmp_path: Path, name: str) -> None:
    out = tmp_path / "m"
    many = ("forest", "bagging", "extra-trees", "boosting", "adaboost-mh")
    settings = ("--set", "n_estimators=3") if name in many else ()
    settings = ("--set", "estimators=tree,per-edge") if name == "vote" else settings
    trained = run(
        *("train", animals / "train.csv", "-t", "taxon", "-o", out, "-m", name),
        *("--folds", 0, *settings),
    )
    assert trained.exit_code == 0, trained.output
    assert run("predict", out, animals / "test.csv").exit_code == 0


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("edges.csv", "parent,child\nroot,mammal\n,bird\nmammal,dog\n"),
        ("edges.tsv", "root\tmammal\nroot\tbird\nmammal\tdog\n"),
        ("outline.txt", "mammal\n  dog\nbird\n"),
    ],
)
def test_hierarchies_of_every_kind(tmp_path: Path, file: str, text: str) -> None:
    (tmp_path / file).write_text(text)
    sizes = np.linspace(1, 2, 12)
    pets = pd.DataFrame({"size": sizes, "labels": ["dog", "bird", "mammal"] * 4})
    pets.to_csv(tmp_path / "pets.csv", index=False)
    out = tmp_path / "m"
    result = run(
        "train", tmp_path / "pets.csv", "-H", tmp_path / file, "-o", out, "-m", "tree",
        "--folds", 0,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    hierarchy = load(out).hierarchy_
    assert hierarchy.n_labels == 3
    (leaf,) = (label for label in hierarchy.labels if str(label).endswith("dog"))
    assert [str(label) for label in hierarchy.ancestors(leaf)] == ["mammal"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "nothing.csv"], "nothing.csv does not exist"),
        (["train", "{train}"], "Pass the label column with --target"),
        (["train", "{train}", "-t", "taxon", "-m", "foret"], "Did you mean 'forest'"),
        (
            ["train", "{train}", "-t", "taxon", "-s", "max_dept=5"],
            "Did you mean 'max_depth'",
        ),
        (["train", "{train}", "-t", "taxon", "-s", "5"], "must have the form name=value"),
        (["train", "{train}", "-t", "taxon", "-o", "nowhere/m"], "Create the folder"),
        (["train", "{train}", "-t", "taxon", "--folds", "1000"], "Pass at most"),
        (
            ["train", "{train}", "-t", "taxon", "--drop", "nam"],
            "--drop must name columns of the table, got 'nam'",
        ),
        (
            ["train", "{train}", "-t", "taxon", "-H", "{train}"],
            "line 1: expected a parent and a child, found 15 cell",
        ),
        (["predict", "{train}", "{train}"], "train.csv"),
    ],
)
def test_user_errors_have_no_traceback(
    animals: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str],
    message: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    result = run(*(word.format(train=animals / "train.csv") for word in arguments))
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())
    assert "Traceback" not in result.output
    assert not list(tmp_path.iterdir())


def test_missing_columns_are_named(model: Path, animals: Path, tmp_path: Path) -> None:
    pd.read_csv(animals / "test.csv").drop(columns="mass_kg").to_csv(tmp_path / "t.csv")
    result = run("predict", model, tmp_path / "t.csv")
    assert result.exit_code == 2
    shown = " ".join(result.output.split())
    assert "must have the 13 columns that the model was trained on, got " in shown
    assert "Add the missing columns: 'mass_kg'" in shown


def test_data_sets_are_listed() -> None:
    found = json.loads(run("datasets", "--json").output)
    assert "cellcycle_FUN" in {entry["name"] for entry in found}
    assert "cellcycle_FUN" in run("datasets").output


def test_a_data_set_is_described_without_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a download")

    monkeypatch.setattr("ramify.datasets.fetching._download", refuse)
    monkeypatch.setenv("RAMIFY_CACHE", str(tmp_path))
    monkeypatch.delenv("RAMIFY_DATA", raising=False)
    result = run("datasets", "cellcycle_FUN")
    assert result.exit_code == 0, result.output
    assert result.output.startswith("cellcycle_FUN: ")
    facts = json.loads(run("datasets", "cellcycle_FUN", "--json").output)
    assert facts["files"] == []
    monkeypatch.setattr(
        "ramify.datasets.fetching._download", lambda file, cache: cache / file.path
    )
    fetched = run("datasets", "cellcycle_FUN", "--download").output.split()
    assert str(tmp_path / "cellcycle_FUN" / "cellcycle_FUN.train.arff.gz") in fetched
    assert run("datasets", "--download").exit_code == 2


@requires_data
def test_an_arff_file_of_clus(tmp_path: Path) -> None:
    from tests.support.clus_data import DATA

    path = DATA / "pheno_FUN" / "pheno_FUN.train.arff.gz"
    out = tmp_path / "m"
    trained = run("train", path, "-o", out, "-m", "tree", "--folds", 2)
    assert trained.exit_code == 0, trained.output
    test = DATA / "pheno_FUN" / "pheno_FUN.test.arff.gz"
    evaluated = run("evaluate", out, test, "--json")
    assert evaluated.exit_code == 0, evaluated.output
    facts = json.loads(evaluated.output)
    assert facts["data"]["rows"] == len(fetch("pheno_FUN").splits["test"])


def test_input_files_are_never_overwritten(animals: Path, model: Path, tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes((animals / "test.csv").read_bytes())
    for arguments in (("train", path, "-t", "taxon"), ("predict", model, path)):
        result = run(*arguments, "-o", path)
        assert result.exit_code == 2
        assert "--out must not be an input file" in result.output
    assert path.read_bytes() == (animals / "test.csv").read_bytes()


def test_brackets_and_colons_are_not_markup(animals: Path, tmp_path: Path) -> None:
    for name in ("taxon[red]", "taxon[/bold]", "taxon:x:"):
        result = run("train", animals / "train.csv", "-t", name, "-o", tmp_path / "m")
        assert result.exit_code == 2
        assert repr(name) in result.output
    out = tmp_path / "m[raw]:x:.ramify"
    data = tmp_path / "birds:x:.csv"
    data.write_bytes((animals / "train.csv").read_bytes())
    trained = run("train", data, "-t", "taxon", "-o", out, *QUICK)
    assert out.name in trained.output.replace("\n", "")
    assert "birds:x:: " in trained.output
    assert "none:x:.csv does not exist" in run("predict", out, "none:x:.csv").output


def test_models_without_trees_raise_a_clear_error(animals: Path, tmp_path: Path) -> None:
    out = tmp_path / "m.ramify"
    settings = ("-m", "ml-knn", "--folds", 0)
    assert run("train", animals / "train.csv", "-t", "taxon", "-o", out, *settings).exit_code == 0
    for command in ("explore", "rules"):
        result = run(command, out)
        assert result.exit_code == 2
        assert "MLkNN" in result.output


def test_demo_creates_its_folder_and_rejects_a_folder_as_output(tmp_path: Path) -> None:
    out = tmp_path / "results" / "demo.md"
    shown = run("demo", "-o", out)
    assert shown.exit_code == 0, shown.output
    assert out.is_file()
    refused = run("demo", "-o", tmp_path)
    assert refused.exit_code == 2
    assert "--out must be a file, got the folder" in refused.output
    assert [path.name for path in tmp_path.iterdir()] == ["results"]


def test_study_runs_and_reports_failures(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        'name = "mine"\n[protocol]\nfolds = 2\n[measures.pooled_auprc]\n'
        '[[datasets]]\nname = "animals"\n[[models]]\nname = "tree"\nmodel = "tree"\n'
        '[[models]]\nname = "bad"\nmodel = "tree"\nparameters = { max_depth = -1 }\n',
        "utf-8",
    )
    result = run("study", path, "-o", tmp_path / "out")
    assert result.exit_code == 1
    assert "Best by pooled auprc: tree on animals" in result.output
    assert "failed bad on animals, fold 1: ValueError" in result.output
    again = run("study", path, "-o", tmp_path / "out", "--report", "--json")
    assert json.loads(again.output)["finished"] == 2
    assert (tmp_path / "out" / "report.md").is_file()
    part = run("study", path, "-o", tmp_path / "out", "--report", "-d", "animals")
    assert part.exit_code == 2
    assert "Remove --report" in part.output


def test_study_on_some_of_its_data_sets(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        'name = "mine"\n[protocol]\nfolds = 2\n[measures.pooled_auprc]\n'
        '[[datasets]]\nname = "whole"\nfetch = "animals"\n'
        '[[datasets]]\nname = "top"\nfetch = "animals"\nmax_level = 1\n'
        '[[models]]\nname = "tree"\nmodel = "tree"\n',
        "utf-8",
    )
    assert run("study", path, "-o", tmp_path, "-d", "top").exit_code == 0
    assert "whole" not in (tmp_path / "scores.csv").read_text("utf-8")
    assert run("study", path, "-o", tmp_path, "-d", "whole").exit_code == 0
    assert run("study", path, "-o", tmp_path, "--report").exit_code == 0
    report = (tmp_path / "scores.csv").read_text("utf-8")
    assert "whole" in report
    assert "top" in report


def test_unknown_studies_and_data_sets_are_named() -> None:
    result = run("study", "levatic2051")
    assert result.exit_code == 2
    assert "animals, bi2012, brdt2015, chelmis2021, gjorgjioski, levatic2015" in result.output
    assert "has no data set 'enronn'" in run("study", "levatic2015", "-d", "enronn").output


def test_study_runs_a_variant_into_its_own_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        'name = "mine"\n[protocol]\nfolds = 2\n[measures.pooled_auprc]\n'
        '[[datasets]]\nname = "animals"\n[[models]]\nname = "tree"\nmodel = "tree"\n'
        "parameters = { max_depth = 1 }\n[variants.deep]\nparameters = { max_depth = 4 }\n",
        "utf-8",
    )
    monkeypatch.chdir(tmp_path)
    assert run("study", path).exit_code == 0
    assert run("study", path, "--variant", "deep").exit_code == 0
    means = {}
    for name in ("mine", "mine-deep"):
        text = (tmp_path / "results" / name / "scores.csv").read_text("utf-8")
        rows = csv.DictReader(text.splitlines())
        means[name] = next(row["mean"] for row in rows if row["quantity"] == "pooled_auprc")
    assert means["mine-deep"] > means["mine"]
    refused = run("study", path, "--variant", "deeep")
    assert refused.exit_code == 2
    assert "has no variant 'deeep'. Did you mean 'deep'" in refused.output


def test_a_study_without_data_has_failed(tmp_path: Path) -> None:
    plan = tmp_path / "gone.toml"
    plan.write_text(
        'name = "gone"\n[protocol]\nfolds = 3\n[measures.auprc]\nmeasure = "pooled_auprc"\n'
        '[[datasets]]\nname = "lost"\nmissing = "not public"\n'
        '[[models]]\nname = "tree"\nmodel = "tree"\n'
    )
    result = run("study", plan, "-o", tmp_path / "results")
    assert result.exit_code == 1
    assert "nothing was compared" in result.output


def test_help_names_every_command():

    lines = run("--help").output.splitlines()
    for name in ("look", "train", "datasets", "tree", "taxonomy", "serve", "clus"):
        assert any(line.lstrip("│ ").startswith(f"{name} ") for line in lines), name
