"""What `look` says of a table: kinds, leaks, labels, rows; as text, JSON and a page."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ramify
from ramify.inspection import TableSummary
from ramify.io import read_table
from tests.support.cli_runs import run
from tests.support.messy_tables import plants


def table(n_rows: int = 90) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    kinds = rng.choice(["animal/cat", "animal/dog", "plant/oak", "plant/Oak tree"], n_rows)
    return pd.DataFrame(
        {
            "nr": [f"S{k:03d}" for k in range(n_rows)],
            "size": rng.normal(size=n_rows).round(3),
            "species": [kind.partition("/")[2] for kind in kinds],
            "code": [{"c": 11, "d": 12}.get(kind[7], 10 + len(kind)) for kind in kinds],
            "colour": rng.choice(["red", "blue", None], n_rows),
            "day": pd.date_range("2024-01-01", periods=n_rows),
            "land": "DE",
            "note": [f"seen near the {w} by {k}" for k, w in enumerate(["lake", "wood"] * 45)],
            "kind": kinds,
        }
    )


def facts(summary: TableSummary) -> dict[str, Any]:
    return {column.name: column for column in summary.columns}


def test_what_each_column_is_taken_for_and_why() -> None:
    summary = ramify.look(table(), target="kind")
    found = facts(summary)
    expected = {
        "nr": ("category", "left out"),
        "size": ("number", "feature"),
        "species": ("category", "feature"),
        "colour": ("category", "feature"),
        "day": ("date", "feature"),
        "land": ("constant", "feature"),
        "kind": ("category", "label"),
    }
    assert {name: (found[name].kind, found[name].role) for name in expected} == expected
    assert found["note"].kind == "text"
    assert found["nr"].reason.startswith("identifiers: 90 of 90 values differ")
    assert found["colour"].n_missing == int(table()["colour"].isna().sum())
    assert sum(found["size"].bins) == 90
    assert found["day"].low == "2024-01-01"
    assert dict(found["species"].values) == table()["species"].value_counts().to_dict()


def test_features_that_name_or_determine_the_labels_are_told() -> None:
    summary = ramify.look(table(), target="kind")
    told = " ".join(summary.leaks)
    assert "column 'species' names a label in 100% of its rows" in told
    assert "column 'code' determines the labels" in told
    assert "drop=['code']" in told
    assert "'size'" not in told
    assert "'colour'" not in told
    assert ramify.look(table().drop(columns=["species", "code"]), target="kind").leaks == []


def test_labels_that_need_care_are_counted() -> None:
    frame = table()
    frame.loc[0, "kind"] = "animal/bird/owl"
    frame.loc[1, "kind"] = ""
    labels = ramify.look(frame, target="kind").labels
    assert labels is not None
    assert (labels.kind, labels.levels) == ("tree", [2, 5, 1])
    assert labels.rare == [("animal/bird/owl", 1)]
    assert labels.only_children == ["animal/bird/owl"]
    assert labels.n_unlabelled == 1
    lines = {line.name: line for line in labels.lines}
    assert lines["animal"].rows == sum(lines[name].rows for name in ("cat", "dog", "bird"))
    assert (lines["animal"].ends, lines["owl"].ends) == (0, 1)
    twins = frame.assign(kind=["plant/Oak" if k % 2 else "plant/oak" for k in range(90)])
    found = ramify.look(twins, target="kind").labels
    assert found is not None
    assert found.similar == [["plant/Oak", "plant/oak"]]


def test_repeated_and_contradicting_rows_are_counted() -> None:
    frame = pd.DataFrame({"x": [1, 1, 2, 2, 3], "labels": ["a", "b", "a", "a", "b"]})
    summary = ramify.look(frame)
    assert (summary.n_repeated, summary.n_contradicting) == (4, 2)
    assert "4 rows of 5 have the same features as another row; the labels of 2" in str(summary)


def test_columns_that_may_be_labels_are_proposed() -> None:
    proposals = ramify.look(table()).proposals
    assert proposals[0].columns == ["kind"]
    assert "paths, whose names are separated by '/'" in proposals[0].reason
    levels = table()["kind"].str.split("/", expand=True)
    frame = table()[["size", "colour"]].assign(order=levels[0], family=levels[1])
    assert ramify.look(frame).proposals[0].columns == ["order", "family"]
    assert "--target order --target family" in ramify.look(frame).command


def test_what_cannot_be_read_is_shown_and_not_an_error(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x;labels\n1.234;a\n5.678;b\n")
    summary = ramify.look(path)
    assert "'1.234' can be 1.234 or 1234" in summary.problems[0]
    assert "Cannot be read for certain" in str(summary)


@pytest.mark.parametrize("kind", ["frame", "file", "table", "sparse"])
def test_a_summary_survives_json(kind: str, tmp_path: Path) -> None:
    data: Any = table()
    if kind == "sparse":
        data = tmp_path / "t.svm"
        data.write_text("1,3 1:0.5 4:1\n2 2:2.5\n")
    elif kind != "frame":
        table().to_csv(tmp_path / "t.csv", index=False)
        data = tmp_path / "t.csv"
    if kind == "table":
        summary = ramify.look(read_table(data, target="kind"))
    else:
        summary = ramify.look(data, target=None if kind == "sparse" else "kind")
    content = json.loads(json.dumps(summary.to_dict(), allow_nan=False))
    assert TableSummary.from_dict(content) == summary
    assert summary._repr_html_().startswith("<iframe srcdoc=")
    for broken in ({**content, "n_rows": -1}, {**content, "x": 1}, [], {**content, "notes": [1]}):
        with pytest.raises(ValueError, match=r"must|belong"):
            TableSummary.from_dict(broken)  # type: ignore[arg-type]


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        names = {name for name, _ in attrs}
        assert not names & {"src", "onclick", "onload"}
        if tag not in ("meta", "link", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_the_page_is_whole_and_harmless(tmp_path: Path) -> None:
    frame = table().rename(columns={"size": "<script>alert(1)</script>"})
    frame["colour"] = "<img src=x onerror=alert(1)>"
    path = ramify.look(frame, target="kind").to_html(tmp_path / "look.html")
    page = _Page()
    page.feed(path.read_text("utf-8"))
    assert page.open == []
    assert "script" not in page.tags
    assert "img" not in page.tags
    shown = " ".join(page.words)
    for part in ("Check before training", "Columns (9)", "Labels", "ramify.read_table", "median"):
        assert part in shown


def test_a_model_shows_what_it_was_trained_on(tmp_path: Path) -> None:
    messy, out = plants(tmp_path), tmp_path / "m.ramify"
    trained = run("train", messy.path, "-t", "Familie", "-o", out, "-m", "tree", "--folds", 0)
    assert trained.exit_code == 0, trained.output
    looked = run("look", out)
    assert looked.exit_code == 0, looked.output
    assert looked.output == run("look", messy.path, "-t", "Familie").output
    ramify.save(ramify.load(out), tmp_path / "bare.ramify")
    bare = run("look", tmp_path / "bare.ramify")
    assert bare.exit_code == 2
    assert "has no summary of its training data" in bare.output


def test_train_tells_of_leaks(tmp_path: Path) -> None:
    table().to_csv(tmp_path / "t.csv", index=False)
    told = run(
        "train", tmp_path / "t.csv", "-t", "kind", "-o", tmp_path / "m.ramify", "-m", "tree"
    )
    words = " ".join(told.output.split())
    assert "Note: column 'species' names a label in 100% of its rows." in words
    assert "--drop 'species'" in words


def test_the_command_names_the_hierarchy_and_the_columns_to_keep(tmp_path: Path) -> None:
    edges, path = tmp_path / "edges.csv", tmp_path / "pets.csv"
    edges.write_text("parent,child\nroot,animal\nroot,pet\nanimal,cat\npet,cat\n")
    path.write_text("nr,label\n" + "".join(f"N{k},cat\n" for k in range(30)))
    looked = run("look", path, "-t", "label", "-H", edges, "--keep", "nr")
    assert looked.exit_code == 0, looked.output
    told = looked.output.splitlines()[-1].strip()
    assert told == f"ramify train {path} --target label --keep nr --hierarchy {edges}"
    hierarchy = ramify.Hierarchy.from_edges([("animal", "cat"), ("pet", "cat")])
    assert "hierarchy=hierarchy" in ramify.look(path, target="label", hierarchy=hierarchy).python


def test_look_leaves_out_what_train_leaves_out() -> None:
    frame = pd.DataFrame({"nr": range(30), "label": list("abc") * 10})
    assert read_table(frame, target="label").feature_names == ("nr",)
    assert ramify.look(frame, target="label").columns[1].role == "feature"
