"""Turn the texts of a column into numbers: the weights of their words and parts of words."""

from __future__ import annotations

import math
import re
import unicodedata
from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify._cached import cached_property
from ramify._savable import savable
from ramify._schema import Array, Increasing, Maybe, Schema, Whole
from ramify._validation import is_missing
from ramify.data.rows import compact

_MAX_TERMS = 100_000  # of each kind that a column keeps, those of the most texts
_MANY_WORDS = 30.0  # per text, from which parts of words add cost, but hardly any accuracy
_PART_LENGTHS = (3, 4)
_MAX_IDF = 100.0  # more than of any number of texts that fits into memory
_LONGEST = 64  # characters of a term: whole sequences of letters are no words
_TEXTS_AT_ONCE = 50_000  # whose parts of words are counted, to limit memory
# Marks that `re` takes for no part of a word: vowel signs of Indic scripts, accents, points of
# Hebrew and Arabic.
_MARKS = (
    r"\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0963"
    r"\u0966-\u109f\u1780-\u17d3\u200c\u200d"
)
# Chinese and Japanese have no spaces between words: each character is a word, so that pairs of
# words are what scikit-learn calls n-grams of two characters. Emoji are words, too.
_IDEOGRAPHS = r"\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_EMOJI = r"\u2600-\u27bf\U0001f000-\U0001faff"
_WORD = re.compile(rf"[{_IDEOGRAPHS}{_EMOJI}]|(?:(?![{_IDEOGRAPHS}])[\w{_MARKS}])+")

_ASCII_WORD = re.compile(r"\w+", re.ASCII)  # much faster where it is the same


def are_texts(X: Any) -> bool:
    """Return whether X is a list, array or column of strings, some of which may be missing."""
    if sparse.issparse(X) or hasattr(X, "columns") or isinstance(X, str | bytes | dict | set):
        return False
    if not hasattr(X, "__len__") or getattr(X, "ndim", 1) != 1:
        return False
    kind = getattr(getattr(X, "dtype", None), "kind", "O")
    if kind not in "OUT" or not hasattr(X, "__iter__"):
        return False
    for value in X:
        value = value.as_py() if hasattr(value, "as_py") else value  # noqa: PLW2901 (pyarrow)
        if isinstance(value, str):
            return True
        if not is_missing(value):
            return False
    return False


def texts_of(values: Any, name: Any) -> list[str | None]:
    """Return the cells of a column of texts, None for missing ones, and numbers as digits."""
    cells = values.to_list() if hasattr(values, "to_list") else list(values)
    if hasattr(values, "to_pylist"):
        cells = values.to_pylist()
    if all(type(cell) is str for cell in cells):
        return cells
    found = [_text(cell, name) for cell in cells]
    if not any(isinstance(cell, str) for cell in cells) and any(found):
        first = next(cell for cell in cells if not is_missing(cell))
        raise _not_text(first, name)
    return found


def _text(cell: Any, name: Any) -> str | None:
    if isinstance(cell, str):
        return str(cell)
    if is_missing(cell):
        return None
    # A spreadsheet stores the title 1984 as a number.
    if isinstance(cell, int | np.integer):
        return str(int(cell))
    if isinstance(cell, float | np.floating):
        return f"{cell:.15g}"
    raise _not_text(cell, name)


def _not_text(cell: Any, name: Any) -> ValueError:
    return ValueError(
        f"column {name!r} of X must be text, as in fit, got {cell!r} of type "
        f"{type(cell).__name__}. Convert it to strings, e.g. with astype(str)."
    )


@dataclass(frozen=True)
class _Words:
    """The words of some texts."""

    words: list[str]  # the distinct words
    number: NDArray[np.int64]  # the number of each word of each text in `words`
    indptr: NDArray[np.int64]  # where the words of each text begin in `number`

    @classmethod
    def of(cls, texts: Iterable[str | None]) -> _Words:
        """Split texts into words, in lower case and with one spelling of each letter."""
        numbers: defaultdict[str, int] = defaultdict()
        numbers.default_factory = numbers.__len__  # the next number
        flat, ends = array("q"), array("q", [0])
        for text in texts:
            if text:
                flat.extend(map(numbers.__getitem__, _split(text)))
            ends.append(len(flat))
        return cls(list(numbers), np.array(flat, np.int64), np.array(ends, np.int64))

    @property
    def n_texts(self) -> int:
        """The number of texts."""
        return len(self.indptr) - 1

    @property
    def counts(self) -> sparse.csr_array[np.float64]:
        """How often each word occurs in each text, possibly in several cells."""
        parts = (np.ones(len(self.number)), self.number, self.indptr)
        return sparse.csr_array(parts, (self.n_texts, len(self.words)))

    @cached_property
    def text(self) -> NDArray[np.int64]:
        """The text of each word."""
        return np.repeat(np.arange(self.n_texts), np.diff(self.indptr))

    @cached_property
    def pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return the distinct pairs of adjacent words as keys, and key and text of each pair."""
        together = np.flatnonzero(self.text[1:] == self.text[:-1])
        keys = self.number[together] * len(self.words) + self.number[together + 1]
        distinct, number = np.unique(keys, return_inverse=True)
        return distinct, number.ravel().astype(np.int64), self.text[together]

    def pair(self, key: int) -> str:
        """Return a pair of words as a term."""
        first, second = divmod(key, len(self.words))
        return f"{self.words[first]} {self.words[second]}"


def _split(text: str) -> list[str]:
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    return _WORD.findall(unicodedata.normalize("NFKC", text).lower())


def _parts_of(word: str) -> list[str]:
    """Return the runs of three and four characters of a word between spaces.

    A word of one or two characters has no parts that would say more than the word does.
    """
    if len(word) < _PART_LENGTHS[0]:
        return []
    padded = f" {word} "
    return [
        padded[start : start + length]
        for length in _PART_LENGTHS
        for start in range(len(padded) - length + 1)
    ]


@dataclass(frozen=True)
class _Parts:
    """The parts of distinct words, each possibly several times."""

    lengths: NDArray[np.int64]  # the number of parts of each word
    number: NDArray[np.int64]  # the number of each part of each word, word by word
    letters: str  # of all words
    places: NDArray[np.int64]  # where each distinct part begins in `letters`
    sizes: NDArray[np.int64]  # and how many characters it has

    @classmethod
    def of(cls, words: Sequence[str]) -> _Parts:
        """Return what `_parts_of` returns for each word, with numbers for the parts."""
        letters = "".join(f" {word} " for word in words)
        codes = np.frombuffer(letters.encode("utf-32-le"), np.uint32).astype(np.int64)
        characters, key = np.unique(codes, return_inverse=True)
        lengths = np.fromiter(map(len, words), np.int64, len(words))
        word = np.repeat(np.arange(len(words)), lengths + 2)
        left = np.cumsum(lengths + 2)[word] - np.arange(len(codes))  # characters of the word
        is_long = lengths[word] >= _PART_LENGTHS[0]
        key, code, found = key.ravel(), key.ravel(), []
        for size in range(2, _PART_LENGTHS[-1] + 1):
            # Numbers of the runs that begin at each place, from those of one character less.
            key = key * len(characters) + np.append(code[size - 1 :], np.zeros(size - 1, np.int64))
            key = np.unique(key, return_inverse=True)[1].ravel()
            if size in _PART_LENGTHS:
                starts = np.flatnonzero(is_long & (left >= size))
                _, first, number = np.unique(key[starts], return_index=True, return_inverse=True)
                found.append((word[starts], number.ravel(), starts[first], size))
        owner = np.concatenate([owner for owner, *_ in found])
        places = np.concatenate([places for *_, places, _ in found])
        sizes = np.concatenate([np.full(len(places), size) for *_, places, size in found])
        shifts = np.cumsum([0, *(len(places) for *_, places, _ in found)])
        numbers = [own[1] + shift for own, shift in zip(found, shifts, strict=False)]
        order = np.argsort(owner, kind="stable")
        return cls(
            np.bincount(owner, minlength=len(words)),
            np.concatenate(numbers)[order],
            letters,
            places,
            sizes,
        )

    def names(self, numbers: NDArray[np.int64]) -> list[str]:
        """Return some parts as terms."""
        starts, ends = self.places[numbers], self.places[numbers] + self.sizes[numbers]
        return [self.letters[a:b] for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]

    def count(self, found: _Words) -> NDArray[np.int64]:
        """Return how many texts have each part."""
        n_parts = len(self.places)
        words = np.repeat(np.arange(len(self.lengths)), self.lengths)
        parts = _matrix(self.number, words, len(self.lengths), n_parts)
        counts = np.zeros(n_parts, dtype=np.int64)
        for start in range(0, found.n_texts, _TEXTS_AT_ONCE):
            some = found.counts[start : start + _TEXTS_AT_ONCE] @ parts
            counts += np.bincount(some.indices, minlength=n_parts)
        return counts


@dataclass(frozen=True)
class _Kept:
    """The terms of one kind that are kept, and the number of texts that contain each."""

    names: list[str]  # in order
    counts: NDArray[np.int64]
    columns: NDArray[np.int64]  # the place in `names` of every term that there was, or -1

    @classmethod
    def of(
        cls, names: list[str], counts: NDArray[np.int64], numbers: NDArray[np.int64], n_terms: int
    ) -> _Kept:
        """Keep the terms of the most texts; `numbers`: those of the named ones among `n_terms`."""
        places = [k for k, name in enumerate(names) if len(name) <= _LONGEST]
        if len(places) > _MAX_TERMS:
            least = np.partition(counts[places], -_MAX_TERMS)[-_MAX_TERMS]
            ties = sorted((k for k in places if counts[k] == least), key=names.__getitem__)
            above = [k for k in places if counts[k] > least]
            places = above + ties[: _MAX_TERMS - len(above)]
        places.sort(key=names.__getitem__)
        columns = np.full(n_terms, -1)
        columns[numbers[places]] = np.arange(len(places))
        return cls([names[k] for k in places], counts[places], columns)


def _keep_words(found: _Words) -> _Kept:
    """Keep words, and pairs of words that two texts have."""
    words = _count_texts(found.number, found.text, len(found.words))
    keys, number, text = found.pairs
    pairs = _count_texts(number, text, len(keys))
    frequent = np.flatnonzero(pairs > 1)
    names = [*found.words, *map(found.pair, keys[frequent].tolist())]
    numbers = np.concatenate([np.arange(len(words)), len(words) + frequent])
    counts = np.concatenate([words, pairs[frequent]])
    return _Kept.of(names, counts, numbers, len(words) + len(keys))


def _keep_parts(found: _Words, parts: _Parts) -> _Kept:
    """Keep the parts of words that two texts have."""
    counts = parts.count(found)
    frequent = np.flatnonzero(counts > 1)
    return _Kept.of(parts.names(frequent), counts[frequent], frequent, len(counts))


def _count_texts(
    number: NDArray[np.int64], text: NDArray[np.int64], n_terms: int
) -> NDArray[np.int64]:
    """Return in how many texts each term occurs."""
    distinct = np.unique(text * max(1, n_terms) + number)
    return np.bincount(distinct % max(1, n_terms), minlength=n_terms)


def _matrix(
    columns: NDArray[np.int64], rows: NDArray[np.int64], n_rows: int, n_columns: int
) -> sparse.csr_array[np.float64]:
    """Return how often each column occurs in each row."""
    ones = np.ones(len(columns))
    found: Any = sparse.coo_array((ones, (rows, columns)), shape=(n_rows, n_columns))
    return sparse.csr_array(found.tocsr())


@dataclass(frozen=True)
class _Columns:
    """The variables of the terms of some texts; -1 for a term without."""

    of_words: NDArray[np.int64]  # of the distinct words, followed by the distinct pairs
    lengths: NDArray[np.int64]  # the number of parts of each distinct word
    of_parts: NDArray[np.int64]  # of each part of each word, word by word

    def occurrences(self, found: _Words) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the text and the variable of each occurrence of a term."""
        _, pair, text = found.pairs
        columns = self.of_words[np.concatenate([found.number, len(found.words) + pair])]
        rows = np.concatenate([found.text, text])
        if len(self.of_parts):
            # The list of each word of each text, one after the other.
            repeats = self.lengths[found.number]
            ends = np.cumsum(repeats)
            moved = np.cumsum(self.lengths)[found.number] - ends
            places = np.repeat(moved, repeats) + np.arange(ends[-1] if len(ends) else 0)
            columns = np.concatenate([columns, self.of_parts[places]])
            rows = np.concatenate([rows, np.repeat(found.text, repeats)])
        is_known = columns >= 0
        return rows[is_known], columns[is_known]


@savable
@dataclass(frozen=True, eq=False)
class Terms:
    """The terms of a column of texts, each of which becomes a variable.

    Terms are words, pairs of adjacent words, and, if texts are short, parts of words. For trees, a
    variable is 1 if a text contains the term. For other models, it is the TF-IDF of the term,
    (1 + log tf) (1 + log ((1 + n) / (1 + df))): the term occurs tf times in the text and in df of
    n training texts. The words and pairs of a text are divided by their Euclidean norm, and so are
    the parts. A text without known terms, or a missing one, is all zeros.
    """

    letters: NDArray[np.uint8]  # all terms, one after the other, in UTF-8
    # Where each term ends, in characters. Words and pairs come first; both kinds are sorted.
    ends: NDArray[np.int64]
    n_words: int  # the number of words and pairs; the other terms are parts of words
    # 1 + log ((1 + n) / (1 + df)) of each term; None if variables only tell which terms occur.
    idf: NDArray[np.float64] | None

    _saved_schema: ClassVar[Schema] = {
        "letters": Array(("?",), "u1"),
        "ends": Increasing("n_terms", "i8", strictly=True),
        "n_words": Whole(0, "n_terms+1"),
        "idf": Maybe(Array(("n_terms",), low=0, high=_MAX_IDF)),
    }

    @classmethod
    def learn(cls, texts: Sequence[str | None], *, weighted: bool) -> Terms:
        """Choose the terms of training texts: parts of words only if the texts are short.

        `weighted`: whether variables are TF-IDF.
        """
        return cls._learn(texts, _Words.of(texts), weighted)[0]

    @classmethod
    def learn_and_weigh(
        cls, texts: Sequence[str | None], *, weighted: bool
    ) -> tuple[Terms, sparse.csr_array[np.float64]]:
        """Return the terms of training texts and the variables of these texts."""
        found = _Words.of(texts)
        terms, columns = cls._learn(texts, found, weighted)
        if len(texts) > _TEXTS_AT_ONCE:
            return terms, terms.weigh(texts)
        return terms, terms._weigh_occurrences(found, columns)

    @classmethod
    def _learn(
        cls, texts: Sequence[str | None], found: _Words, weighted: bool
    ) -> tuple[Terms, _Columns]:
        kept = [_keep_words(found)]
        none = np.zeros(0, dtype=np.int64)
        columns = _Columns(kept[0].columns, none, none)
        n_with_words = int(np.count_nonzero(np.diff(found.indptr)))
        if 0 < len(found.number) <= _MANY_WORDS * n_with_words:
            parts = _Parts.of(found.words)
            kept.append(_keep_parts(found, parts))
            own = kept[1].columns[parts.number]
            own[own >= 0] += len(kept[0].names)
            columns = _Columns(kept[0].columns, parts.lengths, own)
        n_known = sum(text is not None for text in texts)
        counts = np.concatenate([one.counts for one in kept])
        idf = 1 + np.log((1 + n_known) / (1 + counts)) if weighted else None
        terms = [name for one in kept for name in one.names]
        ends = np.cumsum(np.fromiter(map(len, terms), np.int64, len(terms)))
        letters = np.frombuffer("".join(terms).encode(), dtype=np.uint8)
        return cls(letters, ends, len(kept[0].names), idf), columns

    @classmethod
    def none(cls) -> Terms:
        """Return no terms, for texts that other estimators read."""
        return cls(np.zeros(0, np.uint8), np.zeros(0, np.int64), 0, None)

    def __len__(self) -> int:
        return len(self.ends)

    def __reduce__(self) -> tuple[Any, ...]:
        return Terms, (self.letters, self.ends, self.n_words, self.idf)

    def check(self) -> None:
        """Raise an error if the terms, e.g. from a file, are not distinct strings."""
        text = self.letters.tobytes().decode()
        if len(text) != (self.ends[-1] if len(self) else 0) or (len(self) and self.ends[0] < 1):
            raise ValueError("the letters and ends of terms do not fit together")
        n_distinct = len(self._number_of_word) + len(self._number_of_part)
        if n_distinct != len(self):
            raise ValueError("terms must be distinct")

    @cached_property
    def names(self) -> list[str]:
        """The terms; parts of words have a space where the word begins or ends."""
        text = self.letters.tobytes().decode()
        ends = self.ends.tolist()
        return [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]

    @cached_property
    def _number_of_word(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.names[: self.n_words])}

    @cached_property
    def _number_of_part(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.names[self.n_words :])}

    def weigh(self, texts: Sequence[str | None]) -> sparse.csr_array[np.float64]:
        """Return the variables of some texts; no text changes those of another by a bit."""
        if len(texts) <= _TEXTS_AT_ONCE:
            return self._weigh(texts)
        parts = [
            self._weigh(texts[start : start + _TEXTS_AT_ONCE])
            for start in range(0, len(texts), _TEXTS_AT_ONCE)
        ]
        return compact(sparse.vstack(parts, format="csr"))  # type: ignore[no-any-return]

    def _weigh(self, texts: Sequence[str | None]) -> sparse.csr_array[np.float64]:
        found = _Words.of(texts)
        return self._weigh_occurrences(found, self._columns_of(found))

    def _weigh_occurrences(
        self, found: _Words, all_columns: _Columns
    ) -> sparse.csr_array[np.float64]:
        rows, columns = all_columns.occurrences(found)
        keys, counts = np.unique(rows * len(self) + columns, return_counts=True)
        rows, columns = np.divmod(keys, max(1, len(self)))
        weights = np.ones(len(keys))
        if self.idf is not None:
            # Not numpy's logarithms, whose last bits depend on the machine.
            most = int(counts.max(initial=0))
            logarithms = np.array([0.0, *(1 + math.log(count) for count in range(1, most + 1))])
            weights = logarithms[counts] * self.idf[columns]
            kind = 2 * rows + (columns >= self.n_words)
            # Not a sum of slices: bincount adds the squares of a row one by one, in order.
            weights /= np.sqrt(np.bincount(kind, weights * weights))[kind]
        indptr = np.searchsorted(rows, np.arange(found.n_texts + 1))
        shape = (found.n_texts, len(self))
        return compact(sparse.csr_array((weights, columns, indptr), shape))  # type: ignore[no-any-return]

    def _columns_of(self, found: _Words) -> _Columns:
        """Look up the terms of some texts."""
        known = self._number_of_word
        names = chain(found.words, map(found.pair, found.pairs[0].tolist()))
        of_words = np.fromiter((known.get(name, -1) for name in names), np.int64)
        none = np.zeros(0, dtype=np.int64)
        if self.n_words == len(self):
            return _Columns(of_words, none, none)
        own, n_words = self._number_of_part, self.n_words
        lists = [
            [n_words + own[part] for part in _parts_of(word) if part in own]
            for word in found.words
        ]
        lengths = np.fromiter(map(len, lists), np.int64, len(lists))
        flat = np.fromiter(chain.from_iterable(lists), np.int64, int(lengths.sum()))
        return _Columns(of_words, lengths, flat)

    def describe(self, number: int) -> str:
        """Return a term as readers see it, with an ellipsis where a part of a word is cut.

        Examples
        --------
        >>> terms = Terms.learn(["red pan", "red pans"], weighted=False)
        >>> print(*(terms.describe(k) for k in range(len(terms))))
        'pan' 'pans' 'red' 'pa…' 'pan…' 're…' 'red…' '…ed' '…pan…' '…red…' '…red'
        """
        name = self.names[number]
        if number < self.n_words:
            return repr(name)
        start, end = ("" if name[at] == " " else "…" for at in (0, -1))
        return f"'{start}{name.strip()}{end}'"
