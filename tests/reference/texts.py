"""Terms of texts and their weights, computed one text and one term at a time."""

from __future__ import annotations

import math
import re
import unicodedata
from itertools import pairwise

# The characters of words in the texts of the tests: letters, digits, accents, vowel signs.
_CHARACTERS = re.compile(r"[^\W]|[\u0300-\u036f\u0900-\u0963\u0966-\u097f]")
_SINGLE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\u2600-\u27bf\U0001f000-\U0001faff]")


def split_words(text):
    words, word = [], ""
    for character in unicodedata.normalize("NFKC", text).lower():
        if _SINGLE.fullmatch(character):
            words += [word, character]
            word = ""
        elif _CHARACTERS.fullmatch(character):
            word += character
        else:
            words.append(word)
            word = ""
    return [word for word in [*words, word] if word]


def count_terms(text):
    """Return how often words, pairs and parts of words occur in a text."""
    words = split_words(text or "")
    found = {}, {}
    for word in [*words, *(f"{a} {b}" for a, b in pairwise(words))]:
        found[0][word] = found[0].get(word, 0) + 1
    for word in words:
        for length in (3, 4):
            padded = f" {word} "
            for start in range(len(padded) - length + 1 if len(word) > 2 else 0):
                part = padded[start : start + length]
                found[1][part] = found[1].get(part, 0) + 1
    return found


def learn_terms(texts):
    """Return the number of texts of each term: words and pairs, and parts."""
    counts = [count_terms(text) for text in texts]
    n_words = [len(split_words(text or "")) for text in texts]
    kept = []
    for kind in (0, 1):
        df = {}
        for found in counts:
            for term in found[kind]:
                df[term] = df.get(term, 0) + 1
        # A word need not occur twice.
        often = {t: n for t, n in df.items() if n > 1 or (kind == 0 and " " not in t)}
        kept.append({term: often[term] for term in sorted(often) if len(term) <= 64})
    if sum(n_words) > 30 * sum(n > 0 for n in n_words):
        kept[1] = {}
    return kept


def weigh_terms(texts, training):
    """Return the TF-IDF of the terms of training texts in some texts, as a list of dicts."""
    n = sum(text is not None for text in training)
    rows = []
    for text in texts:
        row = []
        for counts, df in zip(count_terms(text), learn_terms(training), strict=True):
            weights = {
                term: (1 + math.log(counts[term])) * (1 + math.log((1 + n) / (1 + df[term])))
                for term in df
                if term in counts
            }
            norm = math.sqrt(sum(weight**2 for weight in weights.values()))
            row.append({term: weight / norm for term, weight in weights.items()})
        rows.append(tuple(row))
    return rows
