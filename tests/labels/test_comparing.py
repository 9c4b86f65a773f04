"""Comparison of two hierarchies: what changed, and which labels are held for the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify import Hierarchy, Ontology
from ramify.labels import Comparison
from tests.support.label_graphs import build, label_graphs

GRAPHS = label_graphs().map(build)
OLD = [
    "shop/audio/headphones",
    "shop/audio/speakers",
    "shop/phones/cases",
    "shop/phones/smartphones",
    "garden/tools/spades",
    "garden/tools/hoses & rakes",
    "garden/plants",
    "garden/ponds",
]
NEW = [
    "shop/sound/headphones",
    "shop/sound/speakers",
    "shop/accessories/cases",
    "shop/phones/smart phones",
    "garden/tools/spades",
    "garden/tools/hoses",
    "garden/tools/rakes",
    "garden/plants & ponds",
    "toys",
]


def changes(comparison: Comparison, kind: str) -> set[tuple[tuple[str, ...], tuple[str, ...]]]:
    return {(change.old, change.new) for change in comparison.of_kind(kind)}  # type: ignore[misc]


def test_every_kind_of_change_is_found_in_paths() -> None:
    found = Hierarchy.from_paths(OLD).compare(Hierarchy.from_paths(NEW))
    assert changes(found, "added") == {((), ("toys",)), ((), ("shop/accessories",))}
    assert changes(found, "removed") == set()
    assert changes(found, "moved") == {(("shop/phones/cases",), ("shop/accessories/cases",))}
    assert changes(found, "renamed") == {
        (("shop/audio",), ("shop/sound",)),
        (("shop/phones/smartphones",), ("shop/phones/smart phones",)),
    }
    assert changes(found, "split") == {
        (("garden/tools/hoses & rakes",), ("garden/tools/hoses", "garden/tools/rakes"))
    }
    assert changes(found, "merged") == {
        (("garden/plants", "garden/ponds"), ("garden/plants & ponds",))
    }
    # What is below a renamed label keeps its place: its path is another, and nothing else.
    pairs = {(s.old, s.new) for s in found.successors}
    assert ("shop/audio/speakers", "shop/sound/speakers") in pairs
    assert all(change.n_rows is None for change in found.changes)
    assert not any(c.is_certain for c in found.of_kind("renamed"))


def test_rows_in_both_hierarchies_find_what_names_cannot() -> None:
    old = Hierarchy.from_labels(["a", "b", "c", "d"])
    new = Hierarchy.from_labels(["p", "q", "r", "s"])
    y = ["a"] * 10 + ["b"] * 10 + ["c"] * 20 + ["d"] * 10
    y_new = ["p"] * 20 + ["q"] * 10 + ["r"] * 10 + ["s"] * 10
    assert changes(old.compare(new), "removed")
    found = old.compare(new, y, y_new)
    assert changes(found, "merged") == {(("a", "b"), ("p",))}
    assert changes(found, "split") == {(("c",), ("q", "r"))}
    assert changes(found, "renamed") == {(("d",), ("s",))}
    assert {c.reason for c in found.changes} == {"rows"}
    counts = {c.kind: c.n_rows for c in found.changes}
    assert counts == {"merged": 20, "split": 20, "renamed": 10}


def test_rows_speak_against_names() -> None:
    old = Hierarchy.from_paths(["a/cats", "b/dogs"])
    new = Hierarchy.from_paths(["a/dogs", "b/cats"])
    y = ["a/cats"] * 9 + ["b/dogs"] * 9
    y_new = ["a/dogs"] * 9 + ["b/cats"] * 9
    by_name = {(s.old, s.new) for s in old.compare(new).successors}
    by_rows = {(s.old, s.new) for s in old.compare(new, y, y_new).successors}
    assert ("a/cats", "b/cats") in by_name
    assert ("a/cats", "a/dogs") in by_rows


def test_counts_of_rows_with_one_of_the_labels() -> None:
    old, new = Hierarchy.from_paths(OLD), Hierarchy.from_paths(NEW)
    found = old.compare(new, [["garden/plants", "garden/ponds"], ["garden/ponds"], ["shop"]])
    (merged,), (renamed, _) = found.of_kind("merged"), found.of_kind("renamed")
    assert (merged.n_rows, renamed.n_rows) == (2, 0)
    assert "2 rows" in found.to_text()


def test_aliases_are_certain() -> None:
    old = Hierarchy(["P:1", "P:2"], ([0, 0, 0], []))
    new = Hierarchy(["P:2"], ([0, 0], []), aliases={"P:1": "P:2"}, version="2")
    found = old.compare(new)
    (merged,) = found.changes
    assert (merged.kind, merged.old, merged.new) == ("merged", ("P:1", "P:2"), ("P:2",))
    assert merged.is_certain
    assert found.to_text() == "merged (1)\n  P:1 + P:2 → P:2"
    swapped = Hierarchy(["P:1"], ([0, 0], []), aliases={"P:9": "P:1"})
    (renamed,) = swapped.compare(Hierarchy.from_labels(["P:9"])).changes
    assert (renamed.kind, renamed.reason) == ("renamed", "alias")


TERM = "[Term]\nid: {}\nname: {}\n{}\n"


def ontology(folder: Path, name: str, *terms: tuple[str, str, str]) -> Ontology:
    path = folder / name
    text = f"format-version: 1.2\ndata-version: {name}\n\n"
    path.write_text(text + "\n".join(TERM.format(*term) for term in terms), encoding="utf-8")
    return Ontology.from_obo(path)


def test_ontologies_say_what_replaces_terms(tmp_path: Path) -> None:
    old = ontology(
        tmp_path,
        "v1",
        ("P:1", "plant", ""),
        ("P:2", "tree", "is_a: P:1"),
        ("P:3", "shrub", "is_a: P:1"),
        ("P:4", "herb", "is_a: P:1"),
        ("P:5", "maize leaf", "is_a: P:1"),
        ("P:6", "moss", "is_a: P:1"),
    )
    new = ontology(
        tmp_path,
        "v2",
        ("P:1", "land plant", ""),
        ("P:2", "tree", "is_a: P:7"),
        ("P:7", "woody plant", "is_a: P:1"),
        ("P:3", "shrub", "is_obsolete: true\nreplaced_by: P:7"),
        ("P:4", "herb", "is_obsolete: true\nconsider: P:1\nconsider: P:7"),
        ("P:8", "Zea leaf", 'is_a: P:1\nsynonym: "maize leaf" EXACT []'),
    )
    assert (old.version, old.hierarchy().version) == ("v1", "v1")
    assert new.terms["P:8"].synonyms == ("maize leaf",)
    found = old.compare(new)
    by_kind = {c.kind: c for c in found.changes}
    assert changes(found, "removed") == {(("P:6",), ())}
    assert by_kind["split"].new == ("P:1", "P:7")
    assert by_kind["split"].reason == "consider"
    assert not by_kind["split"].is_certain
    assert ("P:5", "P:8", "synonym") in {(s.old, s.new, s.reason) for s in found.successors}
    text = found.to_text()
    assert "P:5 maize leaf → P:8 Zea leaf  (proposed: synonym" in text
    assert found.to_dict()["old"] == {"labels": 6, "version": "v1"}


def test_a_new_name_of_the_same_term(tmp_path: Path) -> None:
    old = ontology(tmp_path, "v1", ("P:1", "plant", ""), ("P:2", "tree", ""))
    new = ontology(tmp_path, "v2", ("P:1", "land plant", ""), ("P:2", "tree", "is_a: P:1"))
    text = old.compare(new).to_text()
    assert text.splitlines() == [
        "moved (1)",
        "  P:2 tree: from the top to P:1",
        "renamed (1)",
        "  P:1 plant: now land plant",
    ]


@given(GRAPHS)
def test_nothing_changes_without_a_change(graph: Hierarchy) -> None:
    found = graph.compare(graph)
    assert found.changes == ()
    assert [(s.old, s.new) for s in found.successors] == [(x, x) for x in graph.labels]
    assert found.to_text() == "no changes"


@given(GRAPHS, GRAPHS, st.sampled_from([0.3, 0.5, 1.0]))
def test_every_label_has_a_successor_or_is_removed(
    old: Hierarchy, new: Hierarchy, min_score: float
) -> None:
    found = old.compare(new, min_score=min_score)
    olds = [s.old for s in found.successors] + [c.old[0] for c in found.of_kind("removed")]
    news = [s.new for s in found.successors] + [c.new[0] for c in found.of_kind("added")]
    assert set(olds) == set(old.labels)
    assert set(news) == set(new.labels)
    assert all(s.score >= min_score for s in found.successors)
    several = {s.old for s in found.successors if olds.count(s.old) > 1}
    assert several == {c.old[0] for c in found.of_kind("split")}
    json.dumps(found.to_dict())


@given(GRAPHS)
def test_other_names_of_all_labels_are_found_from_rows(graph: Hierarchy) -> None:
    other = Hierarchy([f"x{k}" for k in range(graph.n_labels)], graph.parent_rows)
    y = [[label] for label in graph.labels for _ in range(9)]
    y_new = [[label] for label in other.labels for _ in range(9)]
    found = graph.compare(other, y, y_new)
    pairs = {(s.old, s.new) for s in found.successors}
    # Labels of which all rows have exactly the same other labels cannot be told apart.
    assert not found.of_kind("removed")
    assert not found.of_kind("added")
    leaves = {(label, f"x{graph.index(label)}") for label in graph.leaves}
    assert leaves <= pairs


def test_the_version_stays_with_the_hierarchy() -> None:
    hierarchy = Hierarchy(["a", "a/b"], ([0, 0, 1], [0]), version="2024-06-17")
    assert Hierarchy.from_json(hierarchy.to_json()).version == "2024-06-17"
    assert hierarchy.subset(["a"]).version == "2024-06-17"
    assert hierarchy == Hierarchy.from_paths(["a/b"])
    with pytest.raises(ValueError, match=r"of must be a version, got 3"):
        Hierarchy.from_json(hierarchy.to_json().replace('"2024-06-17"', "3"))


def test_wrong_arguments() -> None:
    old = Hierarchy.from_labels(["a"])
    with pytest.raises(TypeError, match=r"new must be a ramify.Hierarchy, got list"):
        old.compare(["a"])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"y must be given with y_new"):
        old.compare(old, y_new=["a"])
    with pytest.raises(ValueError, match=r"y_new has 2"):
        old.compare(old, ["a"], ["a", "a"])
    with pytest.raises(ValueError, match=r"min_score must be a number from 0.01 to 1"):
        old.compare(old, min_score=0)


def test_tables_and_pictures() -> None:
    pytest.importorskip("matplotlib").use("agg")
    found = Hierarchy.from_paths(OLD).compare(Hierarchy.from_paths(NEW))
    frame = found.to_frame()
    assert list(frame.columns) == ["kind", "old", "new", "reason", "score", "n_rows"]
    assert len(frame) == len(found.changes)
    assert "… 1 more" in found.to_text(max_changes=1)
    texts = [text.get_text() for text in found.plot().texts]
    assert {"+ toys", "↷ cases", "≈ audio", "before: 13 labels", "after: 15 labels"} <= set(texts)
    assert "broken line: proposed" in texts[-1]
    few = [text.get_text() for text in found.plot(max_labels=3).texts]
    assert any("changes not shown" in text for text in few)
    same = found.old.compare(found.old).plot()
    assert same.texts[-1].get_text() == "no changes"
    prices = [Hierarchy.from_labels([rf"from $5 to $\{x}$"]) for x in ("ten", "six")]
    prices[0].compare(prices[1]).plot().figure.canvas.draw()  # as it is, not as a formula
