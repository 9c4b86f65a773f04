"""A million short texts with a thousand categories, trained from a file on disk.

``python -m benchmarks.million_texts`` writes made-up titles of 5 to 17 words with categories of
three levels to a CSV file, reads it in parts, hashes the words of each, fits a model per parent on
two cores, and tells right answers for further titles, seconds, memory, and the time of one title
that arrives as a string. ``--as-texts`` fits ``LinearClassifier()`` to the texts themselves.
"""

from __future__ import annotations

import argparse
import math
import resource
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.feature_extraction.text import HashingVectorizer

from benchmarks.clus import BUILD, describe_machine
from ramify import LinearClassifier, PerParentClassifier, save

BRANCHING = (10, 10, 10)
OWN_WORDS = (400, 120, 40)  # of a category of each level
SHARES = (0.15, 0.15, 0.25)  # of the words of a title: those of its category of each level
N_WORDS = 50_000
PART = 100_000
SINGLE = 200


class Titles:
    """Draws titles, whose words follow Zipf's law, within categories too."""

    def __init__(self, seed: int = 0) -> None:
        self.rng = np.random.default_rng(seed)
        sizes = np.cumprod(BRANCHING)
        self.own = [
            self.rng.integers(N_WORDS, size=(size, n))
            for size, n in zip(sizes, OWN_WORDS, strict=True)
        ]
        self.shares = self.rng.dirichlet(np.ones(sizes[-1]))
        self.words = np.array([f"w{k}" for k in self.rng.permutation(N_WORDS)], dtype=object)

    def draw(self, n_rows: int) -> pd.DataFrame:
        """Return texts and paths."""
        leaf = self.rng.choice(len(self.shares), n_rows, p=self.shares)
        lengths = self.rng.integers(5, 18, n_rows)
        row = np.repeat(np.arange(n_rows), lengths)
        word = self._zipf(N_WORDS, len(row))
        source = self.rng.choice(4, len(row), p=[1 - sum(SHARES), *SHARES])
        below = math.prod(BRANCHING)
        segments = []
        for level, size in enumerate(BRANCHING):
            below //= size
            category = leaf // below
            chosen = np.flatnonzero(source == level + 1)
            own = self.own[level]
            word[chosen] = own[category[row[chosen]], self._zipf(own.shape[1], len(chosen))]
            segments.append(category % size)
        parts = np.split(self.words[word], np.cumsum(lengths)[:-1])
        paths = ["/".join(map(str, path)) for path in zip(*segments, strict=True)]
        return pd.DataFrame({"text": [" ".join(part) for part in parts], "label": paths})

    def _zipf(self, n: int, size: int) -> np.ndarray:
        p = 1 / np.arange(1, n + 1)
        return np.searchsorted(np.cumsum(p) / p.sum(), self.rng.random(size))


def write(path: Path, titles: Titles, n_rows: int) -> None:
    """Write titles to a file, part by part."""
    for start in range(0, n_rows, PART):
        part = titles.draw(min(PART, n_rows - start))
        part.to_csv(path, mode="a" if start else "w", header=not start, index=False)


def read(path: Path) -> Iterator[pd.DataFrame]:
    """Read a file part by part."""
    yield from pd.read_csv(path, dtype=str, chunksize=PART)


def fit_hashed(path: Path, hashing: HashingVectorizer) -> Any:
    """Fit a model per parent to all words of a file, of which only the numbers are kept."""
    parts, y = [], []
    for part in read(path):
        parts.append(hashing.transform(part["text"]))
        y += part["label"].tolist()
    return PerParentClassifier(n_jobs=-1).fit(sparse.vstack(parts, format="csr"), y)


def fit_texts(path: Path, hashing: None) -> Any:
    """Fit the default model of `ramify train` to the texts themselves."""
    table = pd.concat(read(path))
    return LinearClassifier(n_jobs=-1).fit(table["text"].tolist(), table["label"].tolist())


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what was measured."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.million_texts")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument(
        "--features", type=int, default=18, help="as a power of 2, of hashed words"
    )
    parser.add_argument("--as-texts", action="store_true", help="do not hash")
    options = parser.parse_args(arguments)
    folder = BUILD / "benchmarks"
    folder.mkdir(parents=True, exist_ok=True)
    path, titles = folder / f"titles-{options.rows}.csv", Titles()
    write(path, titles, options.rows)
    test = titles.draw(20_000)
    size = path.stat().st_size / 2**20
    print(f"{options.rows:,} titles, {size:.0f} MiB; {describe_machine()}")
    hashing: Any = HashingVectorizer(n_features=2**options.features, alternate_sign=False)
    fit: Any = fit_hashed
    if options.as_texts:
        fit, hashing = fit_texts, None

    def prepare(texts: Any) -> Any:
        return list(texts) if hashing is None else hashing.transform(texts)

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    cpu, wall = time.process_time(), time.perf_counter()
    model = fit(path, hashing)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10 - before
    found = model.predict(prepare(test["text"]))
    model.set_params(n_jobs=1)  # joblib takes half a millisecond to count the cores
    singles = test["text"].tolist()[:SINGLE]
    model.predict(prepare(singles[:1]))
    start = time.process_time()
    for text in singles:
        model.predict(prepare([text]))
    one = 1000 * (time.process_time() - start) / SINGLE
    tops = pd.Series(found).str.partition("/")[0].to_numpy()
    truth = test["label"].to_numpy()
    right = np.mean(tops == test["label"].str.partition("/")[0].to_numpy())
    file = folder / "titles.ramify"
    save(model, file)
    print(
        f"read, prepared and fitted in {cpu:.0f} CPU s, {wall:.0f} s; {memory:.0f} MiB more "
        f"memory; right categories {np.mean(found == truth):.3f}, right top levels "
        f"{right:.3f} of 20,000 further titles; one title {one:.1f} CPU ms; "
        f"file {file.stat().st_size / 2**20:.0f} MiB"
    )
    path.unlink()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
