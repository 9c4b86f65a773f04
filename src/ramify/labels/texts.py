"""How labels are written in texts: paths, sets, and names that differ in their writing only."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence

SET_MARK = "@"
"""Joins the labels of a row in files of CLUS."""

# In the order in which they are tried. A point or a hyphen is as common within names.
_MARKS = ("/", "|", ">", "::", "→", "»", "\\", "->", "=>", ">>", "›")
_ARROWS = (">", "::", "→", "»", "->", "=>", ">>", "›")  # hardly ever within names
_OTHER_SIGN = re.compile(r"[-=<>]$|^[=>]")  # of names at the > of another sign, such as >= or ->
_NUMBER = re.compile(r"[-+]?\d[\d.,]*\s*%?")
_FEW = 4  # texts among which a slash is taken for a separator whatever they look like
_SLASHED = re.compile(r"\b(?:(?:and/or|n/a|w/o?)(?!\w)|\w+://\S+)", re.IGNORECASE)  # not paths
_WORD = re.compile(r"[^\W\d_]{3}")  # three letters in a row; shorter names are codes
_INNER_POINT = re.compile(r"(?<=\d)[.,:/-](?=\d)")
_RANK = re.compile(r"[A-Za-z]{1,2}__")  # as in k__Bacteria; p__Firmicutes
_UNIMPORTANT = re.compile(r"[\s_.,:;!?'\"`´’()\[\]{}/\\|>-]+")


def find_separator(texts: Iterable[str]) -> str | None:
    """Return what separates the names of a path in texts, or None if they are not paths.

    The separator includes the blanks around it if most texts have them.

    >>> find_separator(["Home > Kitchen > Pans", "Home > Garden", "Home > Kitchen", "Office"])
    ' > '
    >>> find_separator(["animal/bird", "animal/mammal", "plant"])
    '/'
    >>> find_separator(["Audio/Video", "Phones", "Cameras", "N/A"]) is None
    True
    """
    distinct = [text for text in dict.fromkeys(texts) if text.strip()]
    mark = next((mark for mark in _MARKS if _are_paths(distinct, mark)), None)
    return None if mark is None else _written(distinct, mark)


def find_chain_separator(texts: Iterable[str], mark: str = ";") -> str | None:
    """Return a mark that usually joins labels if it separates the names of paths in texts.

    In paths of three names or more, or of ranks such as k__Bacteria, each name stands in one
    place, below the same names, and some share the names above them.

    >>> find_chain_separator(["k__B;p__F;c__X", "k__B;p__F;c__Y", "k__B;p__P;c__Z", "k__A;p__E"])
    ';'
    >>> find_chain_separator(["red;small;old", "red;old;new", "small;new;blue", "blue;red;old"])
    """
    distinct = list(dict.fromkeys(texts))
    return _written(distinct, mark) if _are_chains(distinct, mark) else None


def _are_chains(texts: Sequence[str], mark: str) -> bool:
    parts = [[name.strip() for name in text.split(mark)] for text in texts]
    paths = [names for names in parts if len(names) > 1]
    have_ranks = all(_RANK.match(name) for names in paths for name in names)
    are_long = have_ranks or all(len(names) > 2 for names in paths)
    if len(parts) < _FEW or len(paths) < len(parts) or not are_long:
        return False
    above: defaultdict[str, set[tuple[str, ...]]] = defaultdict(set)
    for names in paths:
        for place, name in enumerate(names):
            if name and not _RANK.fullmatch(name):
                above[name].add(tuple(names[:place]))
    tops = {names[0] for names in paths}
    return len(tops) < len(parts) and all(len(found) == 1 for found in above.values())


def without_empty_ranks(path: str, separator: str) -> str:
    """Return a path without the ranks at its end that have no name, such as g__.

    >>> without_empty_ranks("k__Bacteria; p__Firmicutes; c__; o__", ";")
    'k__Bacteria; p__Firmicutes'
    """
    names = path.split(separator)
    while len(names) > 1 and (not names[-1].strip() or _RANK.fullmatch(names[-1].strip())):
        names.pop()
    return separator.join(names)


def free_separator(names: Collection[str]) -> str:
    """Return a separator that occurs in no name: "/" if possible."""
    marks = (mark for mark in _MARKS if not any(mark in name for name in names))
    return next(marks, _MARKS[0])


def _are_paths(texts: Sequence[str], mark: str) -> bool:
    """Return whether a mark separates names; a slash does unless there is reason to doubt it."""
    if mark != "/" or look_like_paths(texts, mark):
        return look_like_paths(texts, mark)
    parts = [_SLASHED.sub("", text).split(mark) for text in texts]
    tops = Counter(names[0].strip() for names in parts)
    paths = [names for names in parts if len(names) > 1]
    shared = any(tops[names[0].strip()] > 1 for names in paths)
    return bool(paths) and (shared or len(paths) == len(texts) or len(texts) < _FEW)


def look_like_paths(texts: Sequence[str], mark: str) -> bool:
    """Return whether most texts have a mark, and several begin with the same name before it."""
    parts = [[name.strip() for name in _SLASHED.sub("", text).split(mark)] for text in texts]
    paths = [names for names in parts if len(names) > 1]
    if 2 * len(paths) <= len(texts) or not all(map(all, parts)):
        return False
    tops = Counter(names[0] for names in parts)
    if not any(tops[names[0]] > 1 for names in paths):
        return False
    return _are_below(paths, mark) if mark in _ARROWS else 3 * len(tops) <= 2 * len(texts)


def _are_below(paths: Sequence[Sequence[str]], mark: str) -> bool:
    """Return whether arrows lead to a lower level: not to a number, nor from place to place.

    Labels such as p > 0.05 compare; in A -> B and B -> A, most tops stand below others as well.
    """
    if any(_OTHER_SIGN.search(name) for names in paths for name in names):
        return False
    if mark == ">" and all(
        _NUMBER.fullmatch(names[1]) and not _NUMBER.fullmatch(names[0]) for names in paths
    ):
        return False
    tops = {names[0] for names in paths}
    lower = {name for names in paths for name in names[1:] if not name.isdigit()}
    return 2 * len(tops & lower) <= len(tops)


def _written(texts: Sequence[str], mark: str) -> str:
    """Return a mark as it is written most often, with or without blanks around it."""
    pattern = re.compile(rf"[^\S\n]?{re.escape(mark)}[^\S\n]?")
    found = Counter(match for text in texts for match in pattern.findall(text.strip()))
    most = max(found.values(), default=0)
    return min((form for form, n in found.items() if n == most), key=len, default=mark)


def normalize_path(text: str, separator: str) -> str:
    """Return a path with the given separator between its names, without other blanks around them.

    >>> normalize_path("Home>Kitchen >  Pans ", " > ")
    'Home > Kitchen > Pans'
    """
    return separator.join(name.strip() for name in text.split(separator.strip() or separator))


def are_joined(texts: Collection[str], mark: str = SET_MARK) -> bool:
    """Return whether a mark joins the labels of a row: paths, or labels found in several places.

    In names that contain the mark, such as mail addresses, what precedes it never follows it.

    >>> are_joined(["red@small", "red", "blue@small"])
    True
    >>> are_joined(["ann@example.org", "bob@example.org", "eve@example.com"])
    False
    """
    if any(mark in text and "/" in text for text in texts):
        return True
    places: defaultdict[str, set[int]] = defaultdict(set)
    for text in dict.fromkeys(texts):
        parts = [part.strip() for part in text.split(mark)]
        for place, part in enumerate(parts):
            # A label on its own may stand anywhere.
            places[part].update((0, 1) if len(parts) == 1 else (place,))
    joined = {part.strip() for text in texts if mark in text for part in text.split(mark)}
    return any(len(places[part]) > 1 for part in joined)


def similar_labels(labels: Iterable[object], separator: str | None = None) -> list[list[str]]:
    """Return groups of labels that differ only in case, blanks or punctuation, within their names.

    >>> similar_labels(["Frying pan", "frying-pan", "Pot", "C", "C++", "1.1", "11"])
    [['Frying pan', 'frying-pan']]
    """
    groups: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    for label in labels:
        if isinstance(label, str):
            names = label.split(separator) if separator else [label]
            groups[tuple(map(_spelling, names))].append(label)
    return [group for group in groups.values() if len(group) > 1]


def _spelling(name: str) -> str:
    """Return what is left of a word without differences of writing; numbers and codes stay."""
    if not _WORD.search(name):
        return name
    folded = unicodedata.normalize("NFKC", name).casefold()
    kept = _INNER_POINT.sub("\x00", folded)
    return _UNIMPORTANT.sub("", kept) or folded


def similar_labels_note(labels: Iterable[object], separator: str | None = None) -> str | None:
    """Return a sentence on labels that are probably the same, or None if there are none."""
    groups = similar_labels(labels, separator)
    if not groups:
        return None
    examples = "; ".join(" and ".join(map(repr, group[:3])) for group in groups[:3])
    return (
        f"{len(groups)} group(s) of labels differ only in case, blanks or punctuation: "
        f"{examples}. If they mean the same, write them in the same way."
    )
