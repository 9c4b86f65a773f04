"""Mappings between taxonomies: files, and labels carried over."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify import Hierarchy, LabelMapping
from ramify.io.errors import FormatError
from tests.reference.carrying import carry_row, open_labels
from tests.support.label_graphs import build, label_graphs

OLD = Hierarchy.from_paths(["shop/audio/speakers", "shop/audio/radios", "shop/phones", "toys/old"])
NEW = Hierarchy.from_paths(
    ["shop/sound/speakers", "shop/sound/radios/fm", "shop/sound/radios/dab", "mobiles", "toys"]
)
LINES = [
    ("shop/audio", "shop/sound", "renamed", 0.9, "children"),
    ("shop/audio/radios", "shop/sound/radios/fm", "split", 0.6, "rows"),
    ("shop/audio/radios", "shop/sound/radios/dab", "split", 0.6, "rows"),
    ("shop/phones", "mobiles", "moved", 0.7, "rows"),
    ("toys/old", None, "removed"),
]


@st.composite
def mappings(draw: st.DrawFn) -> LabelMapping:
    old, new = (build(draw(label_graphs())) for _ in range(2))
    lines = []
    for label in draw(st.sets(st.sampled_from(old.labels))):
        targets = draw(st.sets(st.sampled_from(new.labels), max_size=3))
        lines += [(label, target) for target in targets] or [(label, None)]
    return LabelMapping(old, new, lines)


def test_paths_follow_their_ancestors_unless_they_have_lines() -> None:
    mapping = LabelMapping(OLD, NEW, LINES)
    assert mapping.successors("shop/audio/speakers") == ("shop/sound/speakers",)
    assert mapping.successors("shop/audio/radios") == (
        "shop/sound/radios/dab",
        "shop/sound/radios/fm",
    )
    assert mapping.successors("toys/old") == ()
    found = {label: mapping.status(label) for label in OLD.labels}
    assert found == {
        "shop": "kept",
        "shop/audio": "remapped",
        "shop/audio/radios": "at a parent",
        "shop/audio/speakers": "remapped",
        "shop/phones": "remapped",
        "toys": "kept",
        "toys/old": "at a parent",
    }
    assert repr(mapping) == "LabelMapping(7 → 8 labels, 5 lines)"


def test_labels_are_carried_with_a_report() -> None:
    y = [["shop/audio/speakers"], ["shop/audio/radios", "toys/old"], ["shop/phones"], []]
    carried = LabelMapping(OLD, NEW, LINES).apply(y)
    assert carried.y == [["shop/sound/speakers"], ["shop/sound/radios", "toys"], ["mobiles"], []]
    by_label = {row["label"]: row for row in carried.report}
    assert by_label["shop/audio/radios"] == {
        "label": "shop/audio/radios",
        "status": "at a parent",
        "n_rows": 1,
        "carried_to": ("shop/sound/radios",),
    }
    assert list(carried.to_frame()["label"]) == list(by_label)


def test_labels_below_a_split_are_not_known() -> None:
    carried = LabelMapping(OLD, NEW, LINES).apply([["shop/audio/radios"], ["shop/phones"]])
    first, second = carried.partial.to_array()
    unknown = [NEW.labels[k] for k in np.flatnonzero(np.isnan(first))]
    assert unknown == ["shop/sound/radios/dab", "shop/sound/radios/fm"]
    assert not np.isnan(second).any()


def test_what_nothing_takes_the_place_of_is_lost() -> None:
    old, new = Hierarchy.from_labels(["a", "b"]), Hierarchy.from_labels(["a"])
    carried = LabelMapping(old, new, []).apply(["a", "b", "b"])
    assert carried.kept.tolist() == [True, False, False]
    assert [(row["status"], row["n_rows"]) for row in carried.report] == [("lost", 2)]
    with pytest.raises(ValueError, match=r"2 rows lost the only label"):
        _ = carried.y


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        (["a", "b"], ["apple", "b"]),
        (np.array(["a", "b"]), ["apple", "b"]),
        (pd.Series(["a", "b"]), ["apple", "b"]),
        (["a@b", "b"], ["apple@b", "b"]),
        ([("a",), ("b",)], [("apple",), ("b",)]),
        (np.array([[1, 0], [0, 1]]), [[1, 0], [0, 1]]),
    ],
)
def test_the_format_of_labels_stays(y: object, expected: object) -> None:
    old, new = Hierarchy.from_labels(["a", "b"]), Hierarchy.from_labels(["apple", "b"])
    found = LabelMapping(old, new, [("a", "apple")]).apply(y).y
    assert (found.tolist() if isinstance(found, np.ndarray) else found) == expected


def test_numbers_become_names() -> None:
    old, new = Hierarchy.from_labels([1, 2]), Hierarchy.from_labels(["one", "two"])
    found = LabelMapping(old, new, [(1, "one"), (2, "two")]).apply([2, 1]).y
    assert found.tolist() == ["two", "one"]


@given(mappings(), st.data())
def test_carried_labels_are_those_of_the_slow_way(mapping: LabelMapping, data: st.DataObject):
    rows = data.draw(st.lists(st.sets(st.sampled_from(mapping.old.labels)), min_size=1))
    carried = mapping.apply([list(row) for row in rows])
    found = [set(row) for row in mapping.new.decode(carried.Y, most_specific=False)]
    assert found == [carry_row(mapping, row) for row in rows]
    closed = mapping.new.close(carried.Y)
    assert (closed != carried.Y).nnz == 0
    unknown = np.isnan(carried.partial.to_array())
    named = [{mapping.new.labels[k] for k in np.flatnonzero(row)} for row in unknown]
    assert named == [open_labels(mapping, row) for row in rows]


@given(mappings=mappings(), name=st.sampled_from(["m.csv", "m.tsv", "m.csv.gz"]))
def test_files_say_all(mappings: LabelMapping, name: str) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, name)
        mappings.write(path)
        found = LabelMapping.read(path, mappings.old, mappings.new)
    assert found.lines == mappings.lines
    assert found._targets == mappings._targets


@given(label_graphs().map(build), label_graphs().map(build))
def test_the_mapping_of_a_comparison_has_its_successors(old: Hierarchy, new: Hierarchy) -> None:
    comparison = old.compare(new, min_score=0.3)
    mapping = LabelMapping.of(comparison)
    for label in old.labels:
        expected = {s.new for s in comparison.successors if s.old == label}
        assert set(mapping.successors(label)) == expected


def test_equal_labels_and_followers_need_no_line() -> None:
    old = Hierarchy.from_paths(["a/b/c", "a/b/d", "e"])
    new = Hierarchy.from_paths(["x/b/c", "x/b/d", "e"])
    mapping = LabelMapping.of(old.compare(new))
    assert [line[:2] for line in mapping.lines] == [("a", "x")]
    assert mapping.successors("a/b/d") == ("x/b/d",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must begin with a line of column names"),
        ("before,after\na,b\n", "must begin with a line of column names"),
        ("old,new\nshop/audioo,toys\n", "line 2: old must be a label of the old .* Did you mean"),
        ("old,new\nshop,toyz\n", "line 2: new must be a label of the new taxonomy, got 'toyz'"),
        ("old,new,score\nshop,toys,high\n", "line 2: score must be a number, got 'high'"),
        ("old,new\nshop,toys\n\nshop,toys\n", "line 4 repeats .*line 2"),
        ("old,new\nshop,toys\nshop,\n", "line 3 says that nothing takes the place of 'shop'"),
        ('old,new\n"shop,toys\n', "line 2: unexpected end of data"),
        ("old,new,change\n,,added\n", "line 2: old and new must not both be empty"),
        ("old,new\nsh\0op,toys\n", "line"),
        ("old,new,old\nshop,toys,toys\n", "'old' and 'new' once each"),
        ("old,new\nshop\n", "line 2: expected 2 cells, as in the first line, got 1"),
        ("old,new\nshop,toys,games\n", "line 2: expected 2 cells, as in the first line, got 3"),
        ("old,new,score\nshop,toys,nan\n", "line 2: score must be a number from 0 to 1, got nan"),
    ],
)
def test_damaged_files(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "mapping.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=message):
        LabelMapping.read(path, OLD, NEW)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "mapping.csv"
    path.write_bytes(b"old,new\n\xff\xfe,toys\n")
    with pytest.raises(FormatError, match=r"expected text in utf-8"):
        LabelMapping.read(path, OLD, NEW)
    with pytest.raises(FileNotFoundError, match=r"Did you mean 'mapping.csv'"):
        LabelMapping.read(tmp_path / "maping.csv", OLD, NEW)


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "mapping.csv"
    path.write_text("precious")
    mapping = LabelMapping(OLD, NEW, LINES)
    mapping.lines = (*mapping.lines, None)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        mapping.write(path)
    assert path.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [path]


def test_lines_in_python_are_checked_as_well() -> None:
    with pytest.raises(ValueError, match=r"unknown label 'shoop'"):
        LabelMapping(OLD, NEW, [("shoop", "toys")])
    with pytest.raises(TypeError, match=r"lines\[0\] must be a MappingLine or a pair .*got 'ab'"):
        LabelMapping(OLD, NEW, ["ab"])
    with pytest.raises(ValueError, match=r"lines\[0\]: score must be a number from 0 to 1"):
        LabelMapping(OLD, NEW, [("shop", "toys", "", float("inf"))])
    with pytest.raises(TypeError, match=r"lines\[0\]: change and reason must be strings"):
        LabelMapping(OLD, NEW, [("shop", "toys", None)])


def test_unusual_labels_are_read_as_they_were_written(tmp_path: Path) -> None:
    labels = [" a", "a", "b ", "two\nlines", "u\u2028v", 'q"q', "x,y", "-"]
    old, new = Hierarchy.from_labels(labels), Hierarchy.from_labels([x + x for x in labels])
    mapping = LabelMapping(old, new, zip(old.labels, new.labels, strict=True))
    mapping.write(tmp_path / "mapping.csv")
    assert LabelMapping.read(tmp_path / "mapping.csv", old, new).lines == mapping.lines
