"""Find the labels of one hierarchy in another: by identifier, name, place, children and rows."""

from __future__ import annotations

import difflib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ramify._cached import cached_property
from ramify._validation import Label
from ramify.labels.graph import LabelGraph, row_of

DECLARED = ("label", "alias", "replaced_by")
"""Reasons of links that are certain, because the files say so."""

# How much each kind of evidence can say; pieces of evidence are combined as if independent.
_NAME, _SYNONYM, _CHILDREN, _PLACE, _TOP, _ROWS = 0.85, 0.95, 0.9, 0.5, 0.3, 0.95
_AMBIGUOUS = 0.5  # factor of the evidence of a name that several labels have
_LITTLE = 0.2  # a common parent says nothing without this much other evidence
_OTHERS = 0.3  # factor of all other evidence where rows with both labels are known
_FEW_ROWS = 5
_STEPS = (0.9, 0.75, 0.6)  # the most certain links are made first, since others build on them
_N_CANDIDATES = 12
_COMMON = 200  # a word that more labels have does not find candidates
_SIBLINGS = 40
_NEAR = 0.85  # similarity of two words that count as one
_CONTAINED = 0.8  # the share of the rows of a label that its target must have
_CONSIDER, _INCLUDED = 0.5, 0.6
_WORD = re.compile(r"[^\W_]+")


class Link(NamedTuple):
    """A label of the old hierarchy, and one of the new hierarchy that takes its place."""

    old: int
    new: int
    reason: str
    score: float


def words_of(name: object) -> tuple[str, ...]:
    """Return the words of a name without case, marks and plural endings.

    >>> words_of("Cats & Dogs"), words_of("glass")
    (('cat', 'dog'), ('glass',))
    """
    found = _WORD.findall(str(name).casefold())
    return tuple(w[:-1] if len(w) > 3 and w[-1] == "s" and w[-2] != "s" else w for w in found)


@dataclass(frozen=True)
class Side:
    """One of two hierarchies, with what is known of its labels."""

    graph: LabelGraph
    own: Sequence[str]  # each label without the path of its parent
    names: Sequence[str]  # the names of labels that are identifiers, or else the same
    synonyms: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    Y: Any = None  # labels of rows that are labelled in both hierarchies

    @cached_property
    def words(self) -> list[tuple[str, ...]]:
        """The words of every name."""
        return [words_of(name) for name in self.names]

    @cached_property
    def parents(self) -> list[list[int]]:
        """The parents of every label."""
        return _as_lists(self.graph.parent_rows)

    @cached_property
    def children(self) -> list[list[int]]:
        """The children of every label."""
        return _as_lists(self.graph.child_rows)

    @cached_property
    def synonym_words(self) -> dict[int, set[tuple[str, ...]]]:
        """The words of the synonyms of labels that have some."""
        return {k: {words_of(name) for name in names} for k, names in self.synonyms.items()}

    @cached_property
    def n_rows(self) -> Any:
        """The number of rows with each label."""
        return np.bincount(self.Y.indices, minlength=self.graph.n_labels)


def own_names(graph: LabelGraph, separator: str) -> list[str]:
    """Return the labels; a path that starts with the path of a parent is cut there."""
    labels, names = graph.labels, []
    for label, above in zip(labels, _as_lists(graph.parent_rows), strict=True):
        text = str(label)
        if separator in text:
            starts = (f"{labels[p]}{separator}" for p in above)
            text = next((text.removeprefix(s) for s in starts if text.startswith(s)), text)
        names.append(text)
    return names


def match_labels(
    old: Side,
    new: Side,
    declared: Mapping[Label, Sequence[tuple[Label, str]]],
    min_score: float,
) -> list[Link]:
    """Return links from old labels to new ones, several of a label that was split or merged."""
    matching = _Matching(old, new)
    for label, k in old.graph.position.items():
        if label in new.graph.position:
            matching.add(k, new.graph.position[label], "label", 1.0)
    for label, successors in declared.items():
        if label in old.graph.position and not matching.targets[old.graph.position[label]]:
            k = old.graph.position[label]
            for successor, reason in successors:
                score = _CONSIDER if reason == "consider" else 1.0
                if successor in new.graph.position and score >= min_score:
                    matching.add(k, new.graph.position[successor], reason, score)
    matching.pair_unique_names(min_score)
    for step in (*(step for step in _STEPS if step > min_score), min_score):
        while matching.pair_best(step):
            pass
    matching.absorb(min_score)
    matching.turned().absorb(min_score)
    return sorted(matching.links)


class _Matching:
    """The links found so far, and the evidence for further ones."""

    def __init__(self, old: Side, new: Side) -> None:
        self.old, self.new = old, new
        self.links: list[Link] = []
        self.targets: list[list[int]] = [[] for _ in range(old.graph.n_labels)]
        self.sources: list[list[int]] = [[] for _ in range(new.graph.n_labels)]
        self.is_turned = False
        self._by_name: dict[tuple[int, int], tuple[float, str]] = {}

    def turned(self) -> _Matching:
        """Return the same links seen from the new hierarchy; both share what is added."""
        other = _Matching(self.new, self.old)
        other.links, other.targets, other.sources = self.links, self.sources, self.targets
        other.is_turned = not self.is_turned
        return other

    def add(self, a: int, b: int, reason: str, score: float) -> None:
        self.targets[a].append(b)
        self.sources[b].append(a)
        old, new = (b, a) if self.is_turned else (a, b)
        self.links.append(Link(old, new, reason, round(score, 3)))

    def free(self) -> tuple[list[int], list[int]]:
        """Return the labels of both sides without a link."""
        return (
            [k for k, found in enumerate(self.targets) if not found],
            [k for k, found in enumerate(self.sources) if not found],
        )

    @cached_property
    def idf(self) -> dict[str, float]:
        """The weight of every word: rare ones say more."""
        counts = Counter(w for side in (self.old, self.new) for ws in side.words for w in set(ws))
        total = self.old.graph.n_labels + self.new.graph.n_labels
        return {word: 1 + math.log(total / n) for word, n in counts.items()}

    @cached_property
    def shared(self) -> Any:
        """The number of rows with each pair of labels; None if they are not known."""
        if self.old.Y is None or self.new.Y is None:
            return None
        return sparse.csr_array(self.old.Y.T.astype(np.int64) @ self.new.Y.astype(np.int64))

    # ---- one label for one label ------------------------------------------------------------

    def pair_unique_names(self, min_score: float) -> None:
        """Link free labels whose name only one label of either hierarchy has."""
        places: tuple[dict[Any, list[int]], ...] = (defaultdict(list), defaultdict(list))
        for side, found in zip((self.old, self.new), places, strict=True):
            for k, words in enumerate(side.words):
                found[words].append(k)
        for words, olds in places[0].items():
            news = places[1].get(words, [])
            if words and len(olds) == len(news) == 1 and not self.targets[olds[0]]:
                if self.sources[news[0]]:
                    continue
                score = self.score(olds[0], news[0], Counter())[0]
                if score >= max(min_score, _NAME):
                    self.add(olds[0], news[0], "name", score)

    def pair_best(self, min_score: float) -> bool:
        """Link free labels that are best for each other; return whether there were any."""
        olds, news = self.free()
        if not olds or not news:
            return False
        often = _ambiguous(self.old.words, olds) | _ambiguous(self.new.words, news)
        found = [
            (score, -a, -b, reason)
            for a, b in self._candidates(olds, news)
            for score, reason in (self.score(a, b, often),)
            if score >= min_score
        ]
        added = False
        for score, a, b, reason in sorted(found, reverse=True):
            if not self.targets[-a] and not self.sources[-b]:
                self.add(-a, -b, reason, score)
                added = True
        return added

    def _candidates(self, olds: list[int], news: list[int]) -> Iterator[tuple[int, int]]:
        """Yield pairs of free labels that share a word, a child, a parent or rows."""
        is_free = set(news)
        by_word = _by_word(self.new, news)
        by_parent: dict[int, list[int]] = defaultdict(list)
        for b in news:
            for parent in self.new.parents[b] or [-1]:
                by_parent[parent].append(b)
        for a in olds:
            near = Counter[int]()
            for word in set(self.old.words[a]):
                for b in by_word.get(word, ()):
                    near[b] += self.idf[word]  # type: ignore[assignment]
            found = {b for b, _ in near.most_common(_N_CANDIDATES)}
            for child in self.old.children[a]:
                for below in self.targets[child]:
                    found.update(b for b in self.new.parents[below] if b in is_free)
            above = {t for p in self.old.parents[a] for t in self.targets[p]}
            for parent in above if self.old.parents[a] else {-1}:
                found.update(by_parent.get(parent, ())[:_SIBLINGS])
            if self.shared is not None:
                found.update(b for b in row_of_matrix(self.shared, a) if b in is_free)
            yield from ((a, b) for b in sorted(found))

    def score(self, a: int, b: int, often: Mapping[Any, int]) -> tuple[float, str]:
        """Return how likely two labels are the same, and the strongest reason."""
        if (a, b) not in self._by_name:
            self._by_name[a, b] = self._name_evidence(a, b)
        name, reason = self._by_name[a, b]
        if often.get(self.old.words[a], 1) > 1 or often.get(self.new.words[b], 1) > 1:
            name *= _AMBIGUOUS
        children = _CHILDREN * self._common_children(a, b)
        place = self._place_evidence(a, b) if max(name, children) >= _LITTLE else 0.0
        total = 1 - (1 - name) * (1 - children) * (1 - place)
        reason = "children" if children > name else reason
        if self.shared is None:
            return total, reason
        n_old, n_new = self.old.n_rows[a], self.new.n_rows[b]
        if min(n_old, n_new) < _FEW_ROWS:
            return total, reason
        both = self.shared[a, b]
        rows = _ROWS * both / (n_old + n_new - both)
        return 1 - (1 - rows) * (1 - _OTHERS * total), "rows" if rows > 0.5 else reason

    def _name_evidence(self, a: int, b: int) -> tuple[float, str]:
        mine, other = self.old.words[a], self.new.words[b]
        if mine == other:
            return (_NAME if mine else 0.0), "name"
        if other in self.old.synonym_words.get(a, ()) or mine in self.new.synonym_words.get(b, ()):
            return _NAME * _SYNONYM, "synonym"
        if "".join(mine) == "".join(other):  # "smartphones" and "smart phones"
            return _NAME * _SYNONYM, "similar name"
        return _NAME * self._similarity(mine, other) ** 2, "similar name"

    def _similarity(self, mine: tuple[str, ...], other: tuple[str, ...]) -> float:
        """Return the share of the words that two names have in common, by their weights."""
        common, left, right = _common_words(mine, other)
        idf = self.idf
        weight = 2 * sum(idf[w] for w in common)
        for word in left:  # words that are spelled alike
            alike = [other for other in right if other[0] == word[0]]
            near = difflib.get_close_matches(word, alike, n=1, cutoff=_NEAR) if alike else []
            if near:
                right.remove(near[0])
                weight += idf[word] + idf[near[0]]
        total = sum(idf[w] for w in set(mine)) + sum(idf[w] for w in set(other))
        return weight / total if total else 0.0

    def _common_children(self, a: int, b: int) -> float:
        """Return the share of the children of two labels that are linked to each other."""
        mine, other = self.old.children[a], set(self.new.children[b])
        if not mine or not other:
            return 0.0
        both = sum(any(t in other for t in self.targets[child]) for child in mine)
        return both / (len(mine) + len(other) - both)

    def _place_evidence(self, a: int, b: int) -> float:
        mine, other = self.old.parents[a], self.new.parents[b]
        if not mine and not other:
            return _TOP
        above = {t for p in mine for t in self.targets[p]}
        return _PLACE if above.intersection(other) else 0.0

    # ---- labels that became part of others --------------------------------------------------

    def absorb(self, min_score: float) -> None:
        """Link the free labels of the old side to labels that took them in."""
        free, _ = self.free()
        inner: dict[int, list[int]] = defaultdict(list)
        for b, above in enumerate(self.new.parents):
            for parent in above or [-1]:
                inner[parent].append(b)
        for a in free:
            found = [pair for pair in self._absorbers(a, inner) if pair[0] >= min_score]
            if found:
                score, b, reason = max(found, key=lambda one: (one[0], -one[1]))
                self.add(a, -b, reason, score)

    def _absorbers(
        self, a: int, inner: Mapping[int, list[int]]
    ) -> Iterator[tuple[float, int, str]]:
        """Yield scores, labels (negative, so that the first wins) and reasons."""
        above = self._images(a)
        is_above = set(above)
        waiting = list(above)
        while waiting:
            new = [p for p in self.new.parents[waiting.pop()] if p not in is_above]
            is_above.update(new)
            waiting += new
        if self.shared is not None and self.old.n_rows[a] >= _FEW_ROWS:
            yield from self._absorbers_by_rows(a, is_above)
            return
        children = Counter(
            b for child in self.old.children[a] for t in self.targets[child]
            for b in self.new.parents[t]
        )  # fmt: skip
        for b, n in children.items():
            # A label that is kept is not split because some of its children have moved.
            if b not in is_above and not (self.is_turned and self._keeps_name(b)):
                yield _CHILDREN * n / len(self.old.children[a]), -b, "children"
        mine = self.old.words[a]
        siblings = (b for p in (above or [-1]) for b in inner.get(p, ())[:_COMMON])
        for b in dict.fromkeys(siblings):
            if b in is_above or not mine:
                continue
            if mine in self.new.synonym_words.get(b, ()):
                yield _NAME * _SYNONYM, -b, "synonym"
            if not self._keeps_name(b) and set(mine) < set(self.new.words[b]):
                yield _INCLUDED, -b, "part of the name"

    def _keeps_name(self, b: int) -> bool:
        """Return whether a label of the new side has the same name or identifier as before."""
        mine, other = self.old, self.new
        return any(
            mine.words[a] == other.words[b] or mine.graph.labels[a] == other.graph.labels[b]
            for a in self.sources[b]
        )

    def _absorbers_by_rows(self, a: int, is_above: set[int]) -> Iterator[tuple[float, int, str]]:
        start, stop = self.shared.indptr[a : a + 2]
        n_rows = self.old.n_rows[a]
        for b, both in zip(
            self.shared.indices[start:stop].tolist(),
            self.shared.data[start:stop].tolist(),
            strict=True,
        ):
            if b not in is_above and both >= _CONTAINED * n_rows:
                # Of several labels with all rows, the smallest.
                yield _ROWS * both / n_rows - 1e-6 * self.new.n_rows[b] / n_rows, -b, "rows"

    def _images(self, a: int) -> list[int]:
        """Return the labels that the parents of a label became, or their parents."""
        found: list[int] = []
        waiting = list(self.old.parents[a])
        seen = set(waiting)
        while waiting:
            parent = waiting.pop()
            if self.targets[parent]:
                found += self.targets[parent]
                continue
            waiting += [p for p in self.old.parents[parent] if p not in seen]
            seen.update(self.old.parents[parent])
        return list(dict.fromkeys(found))


def row_of_matrix(matrix: Any, row: int) -> list[int]:
    """Return the columns of one row of a sparse matrix."""
    return row_of((matrix.indptr, matrix.indices), row)


def _as_lists(rows: tuple[Any, Any]) -> list[list[int]]:
    indptr, indices = rows[0].tolist(), rows[1].tolist()
    return [indices[a:b] for a, b in pairwise(indptr)]


def _ambiguous(words: Sequence[tuple[str, ...]], places: Iterable[int]) -> Counter[Any]:
    return Counter(words[k] for k in places)


def _by_word(side: Side, places: Iterable[int]) -> dict[str, list[int]]:
    """Return the labels with each word of their names and synonyms that is not too common."""
    found: dict[str, list[int]] = defaultdict(list)
    for k in places:
        words = set(side.words[k]).union(*side.synonym_words.get(k, ()))
        for word in words:
            found[word].append(k)
    return {word: labels for word, labels in found.items() if len(labels) <= _COMMON}


def _common_words(
    mine: tuple[str, ...], other: tuple[str, ...]
) -> tuple[list[str], list[str], list[str]]:
    """Return the words that two names share, and those that only one of them has."""
    both = set(mine) & set(other)
    return sorted(both), sorted(set(mine) - both), sorted(set(other) - both)
