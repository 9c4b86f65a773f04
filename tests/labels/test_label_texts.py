"""Labels as people write them: separators, names with marks, spellings and gaps in levels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify import PCTClassifier, as_levels, read_labels
from ramify.labels.texts import find_separator, normalize_path, similar_labels

SHOP = ["Home > Kitchen > Pans", "Home > Kitchen", "Home > Garden", "Office > Chairs", "Office"]


def test_paths_keep_the_separator_they_are_written_with() -> None:
    encoded = read_labels(SHOP)
    assert encoded.hierarchy.depth == 3
    assert encoded.hierarchy.separator == " > "
    assert encoded.format.write(encoded.Y).tolist() == SHOP


@pytest.mark.parametrize(
    "mark", [">", " > ", "|", "::", " → ", "/", " / ", "\\", "->", " => ", " >> ", " › "]
)
def test_every_separator_gives_the_same_tree(mark: str) -> None:
    paths = [mark.join(path.split(" > ")) for path in SHOP]
    hierarchy = read_labels(paths).hierarchy
    assert [label.split(mark) for label in hierarchy.labels] == [
        label.split(" > ") for label in read_labels(SHOP).hierarchy.labels
    ]


def test_single_letters_are_names() -> None:
    assert read_labels(["a/b", "a/c", "d", "e"]).hierarchy.labels == ("a", "a/b", "a/c", "d", "e")


def test_blanks_around_separators_make_no_labels() -> None:
    ragged = ["Home > Kitchen", "Home >Kitchen ", "Home> Garden", " Home > Attic"]
    assert read_labels(ragged).hierarchy.labels == (
        *("Home", "Home > Attic", "Home > Garden", "Home > Kitchen"),
    )
    model = PCTClassifier().fit([[0.0], [1.0], [2.0], [3.0]], ragged)
    assert model.score([[0.0]], ["Home>Kitchen"]) == 1


@pytest.mark.parametrize(
    "names",
    [
        ["Audio/Video", "Phones", "Cameras", "N/A"],
        ["w/o lid", "with lid", "w/o handle?", "other"],
        ["x@y.com", "z@y.com", "a@b.org"],
        ["a > b", "c", "d", "e"],
        ["R&B", "Rock|Pop", "Jazz", "Folk"],
        ["p > 0.05", "p > 0.01", "n.s."],
        ["size >= 5", "size >= 9", "none"],
        ["A -> B", "A -> C", "B -> A", "B -> C"],
        ["Oslo → Rome", "Rome → Oslo", "Oslo → Bergen"],
        ["A <-> B", "A <-> C"],
        ["http://schema.org/Person", "http://schema.org/Place", "http://example.org/x"],
    ],
)
def test_marks_within_names_split_nothing(names: list[str]) -> None:
    encoded = read_labels(names)
    assert set(encoded.hierarchy.labels) == set(names)
    assert encoded.format.write(encoded.Y).tolist() == names


def test_labels_joined_as_in_clus_are_split() -> None:
    assert read_labels(["red@small", "red", "blue@small"]).hierarchy.labels == (
        *("blue", "red", "small"),
    )
    assert read_labels(["1/1@2", "1/2"]).hierarchy.labels == ("1", "1/1", "1/2", "2")


def test_labels_that_differ_in_writing_are_named() -> None:
    with pytest.warns(UserWarning, match=r"'Frying Pan' and 'frying-pan'.*write them in the same"):
        read_labels(["Frying Pan", "frying-pan", "Pot"])
    assert similar_labels(["A/b c", "A/b-c", "AB/c"], "/") == []
    assert similar_labels(["Pans/Big one", "pans/big-one", "pansbig/one"], "/") == [
        ["Pans/Big one", "pans/big-one"]
    ]


def test_gaps_in_levels_are_refused_skipped_or_end_the_path() -> None:
    levels = [["I", "", "I10"], ["I", "heart", "I20"], ["II", "", ""], ["II", "", "C50"]]
    with pytest.raises(ValueError, match=r"gap in row 0, \['I', '', 'I10'\] and in 1 other row"):
        read_labels(np.array(levels, dtype=object))
    skipped = read_labels(as_levels(levels, gaps="skip"))
    assert "I/I10" in skipped.hierarchy.labels
    ended = read_labels(as_levels(levels, gaps="end"))
    assert ended.hierarchy.labels == ("I", "I/heart", "I/heart/I20", "II")
    with pytest.raises(ValueError, match="gaps must be one of"):
        as_levels(levels, gaps="fill")


def test_nested_lists_of_codes_that_extend_each_other_look_like_levels() -> None:
    with pytest.warns(UserWarning, match="look like the levels"):
        read_labels([["1"], ["2", "2.1"], ["3", "3.1", "3.1.1"]])


@given(
    st.lists(
        st.lists(st.sampled_from(["a", "b c", "d-e", "x.y", "1"]), min_size=1, max_size=4),
        min_size=4,
        max_size=12,
    ),
    st.sampled_from([" > ", ">", "/", "|", " :: "]),
)
def test_a_separator_that_is_found_gives_the_paths_back(
    paths: list[list[str]], separator: str
) -> None:
    texts = [separator.join(path) for path in paths]
    found = find_separator(texts)
    if found is None:
        return
    assert found == separator
    assert [text.split(found) for text in texts] == paths
    assert [normalize_path(text, found) for text in texts] == texts
