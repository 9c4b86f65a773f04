"""Texts with one category each: ramify, HiClass and scikit-learn, in one run, one thread each.

``python -m benchmarks.text_categories`` makes up bags of words with categories of three levels,
fits every learner in a separate process and prints a table, which it also writes to
``build/benchmarks/text_categories.json``. Times are CPU seconds, and CPU milliseconds for the
prediction of one row; memory is the peak above that of the data; files are those of
``ramify.save`` or ``joblib.dump``. Learners stopped at the limit have no figures. HiClass is
measured if it is installed; the predictions of its architectures are compared with those of ours.

``--texts FILE ...`` reads real texts instead: CSV, TSV or JSON Lines files, or folders of them,
with the columns "text" and "label", a path such as "a/b" (``--columns`` if they have other names).
``python -m benchmarks.real_texts`` converts public collections. They are divided at random into
training and test rows, several times; figures are means, accuracies with 95 % intervals, which are
also given for the differences from the first learner on the same rows. All learners read the
texts: ours as they are, the others through scikit-learn's ``TfidfVectorizer``, which is part of
their times and files.
"""

from __future__ import annotations

import argparse
import math
import resource
import signal
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy import stats
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

import ramify
from benchmarks.clus import describe_machine, write_report
from benchmarks.trees import print_table

SHARES = (0.10, 0.09, 0.09)  # of the words of a text: those typical of its category of each level
OWN_WORDS = (400, 120, 40)
READERS = {".csv": ",", ".tsv": "\t"}  # and the marks between their columns
JSON_LINES = (".jsonl", ".ndjson")
SINGLE_ROWS = 50  # predicted one by one; the clock of some systems has steps of milliseconds


@dataclass(frozen=True)
class Texts:
    """Training and test rows: texts or weighted bags of words, and paths like "03/07/02"."""

    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray


@dataclass(frozen=True)
class Figure:
    """What was measured of one learner."""

    name: str
    fit_s: float
    predict_s: float
    one_row_ms: float
    leaf_accuracy: float
    top_accuracy: float
    memory_mib: float
    file_mib: float
    stopped: float
    """Share of answers at which no training text ends."""


def make_texts(n_rows: int, n_words: int, branching: Sequence[int], seed: int = 0) -> Texts:
    """Draw texts: words of the categories on a text's path among words of no category.

    Frequencies of words follow Zipf's law, within each category too. Four of five texts are for
    training.
    """
    rng = np.random.default_rng(seed)
    n_leaves = math.prod(branching)
    leaf = rng.choice(n_leaves, n_rows, p=rng.dirichlet(np.ones(n_leaves)))
    lengths = np.maximum(5, rng.lognormal(math.log(60), 0.5, n_rows).astype(int))
    row = np.repeat(np.arange(n_rows), lengths)
    word = rng.permutation(n_words)[_zipf(rng, n_words, len(row), 1.05)]
    source = rng.choice(4, len(row), p=[1 - sum(SHARES), *SHARES])
    below, segments = n_leaves, []
    for level, (size, n_own) in enumerate(zip(branching, OWN_WORDS, strict=True)):
        below //= size
        category = leaf // below
        n_categories = n_leaves // below
        own = np.stack([rng.choice(n_words, n_own, replace=False) for _ in range(n_categories)])
        chosen = np.flatnonzero(source == level + 1)
        word[chosen] = own[category[row[chosen]], _zipf(rng, n_own, len(chosen), 1.0)]
        segments.append(category % size)
    counts = sp.coo_matrix((np.ones(len(row)), (row, word)), shape=(n_rows, n_words)).tocsr()
    paths = zip(*segments, strict=True)
    y = np.array(["/".join(f"{segment:02d}" for segment in path) for path in paths])
    n_train = n_rows * 4 // 5
    weigh = TfidfTransformer(sublinear_tf=True).fit(counts[:n_train])
    X = weigh.transform(counts)
    return Texts(X[:n_train], y[:n_train], X[n_train:], y[n_train:])


def _zipf(rng: np.random.Generator, n: int, size: int, exponent: float) -> np.ndarray:
    p = 1 / np.arange(1, n + 1) ** exponent
    return rng.choice(n, size, p=p / p.sum())


def read_table(path: Path, columns: Sequence[str]) -> pd.DataFrame:
    """Read the texts and paths of a file."""
    if path.suffix in JSON_LINES:
        table = pd.read_json(path, lines=True, dtype=False)
    else:
        table = pd.read_csv(path, sep=READERS[path.suffix], dtype=str, keep_default_na=False)
    missing = [name for name in columns if name not in table]
    if missing:
        raise SystemExit(
            f"{path} has no column {missing[0]!r}, but {', '.join(map(str, table.columns))}. "
            "Name the columns of texts and paths with --columns."
        )
    return table.loc[:, list(columns)].set_axis(["text", "label"], axis=1).astype(str)


def divide(table: pd.DataFrame, seed: int, max_rows: int) -> Texts:
    """Divide texts at random; four of five are for training."""
    chosen = np.random.default_rng(seed).permutation(len(table))[:max_rows]
    train, test = np.split(chosen, [len(chosen) * 4 // 5])
    words, y = table["text"].to_numpy(object), table["label"].to_numpy(str)
    return Texts(words[train], y[train], words[test], y[test])


class ByLevels(BaseEstimator):
    """A classifier of HiClass, which takes and returns one column per level."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: Any, y: np.ndarray) -> ByLevels:
        """Fit on paths."""
        paths = [path.split("/") for path in y]
        depth = max(map(len, paths))
        self.model.fit(X, np.array([path + [""] * (depth - len(path)) for path in paths]))
        self.fitted_ = True  # as scikit-learn's pipelines ask
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return paths."""
        found = self.model.predict(X)
        # With one level, there is a row of answers instead of a column.
        rows = found.reshape(len(found), -1)
        return np.array(["/".join(map(str, row)).rstrip("/") for row in rows])


def learners(n_trees: int) -> dict[str, Callable[[], Any]]:
    """Return the learners by name."""
    found: dict[str, Callable[[], Any]] = {
        "LinearClassifier": ramify.LinearClassifier,
        "PerParentClassifier": ramify.PerParentClassifier,
        "PerParentClassifier, SGD": lambda: ramify.PerParentClassifier(linear()),
        "PerNodeClassifier, SGD": lambda: ramify.PerNodeClassifier(linear()),
        "PerLevelClassifier, SGD": lambda: ramify.PerLevelClassifier(linear()),
        "GlobalNaiveBayes": ramify.GlobalNaiveBayes,
        "PCTForestClassifier": lambda: ramify.PCTForestClassifier(
            n_estimators=n_trees, random_state=0
        ),
        "PCTForestClassifier(w0=10)": lambda: ramify.PCTForestClassifier(
            n_estimators=n_trees, w0=10.0, random_state=0
        ),
        "PCTForestClassifier(redraw=True)": lambda: ramify.PCTForestClassifier(
            n_estimators=n_trees, redraw=True, random_state=0
        ),
        "scikit-learn: LinearSVC, flat": lambda: LinearSVC(random_state=0),
        "scikit-learn: SGD, flat": linear,
        "scikit-learn: SGD with Huber loss, flat": huber,
        "scikit-learn: logistic regression, flat": lambda: LogisticRegression(C=10),
        "scikit-learn: forest, flat": lambda: RandomForestClassifier(n_trees, random_state=0),
    }
    if find_spec("hiclass"):
        theirs = import_module("hiclass")
        found |= {
            "HiClass: per parent, SGD": lambda: ByLevels(
                theirs.LocalClassifierPerParentNode(linear())
            ),
            "HiClass: per parent, LinearSVC": lambda: ByLevels(
                theirs.LocalClassifierPerParentNode(LinearSVC(random_state=0))
            ),
            "HiClass: per node, SGD": lambda: ByLevels(theirs.LocalClassifierPerNode(linear())),
            "HiClass: per parent, its default": lambda: ByLevels(
                theirs.LocalClassifierPerParentNode()
            ),
        }
    found |= {
        "SiblingLassoClassifier(alpha=0.1)": lambda: ramify.SiblingLassoClassifier(alpha=0.1),
        "PCTGradientBoostingClassifier": lambda: ramify.PCTGradientBoostingClassifier(
            random_state=0
        ),
    }
    return found


def text_learners(n_trees: int) -> dict[str, Callable[[], Any]]:
    """Return learners that read texts, by name; the first is the default of `ramify train`."""
    ours: dict[str, Callable[[], Any]] = {
        "LinearClassifier": ramify.LinearClassifier,
        "PerParentClassifier": ramify.PerParentClassifier,
    }
    others = {
        name: partial(after_words, make)
        for name, make in learners(n_trees).items()
        if name.startswith(("scikit-learn", "HiClass"))
    }
    return {
        **ours,
        **others,
        "scikit-learn: LinearSVC, flat, words, pairs and parts": lambda: make_pipeline(
            FeatureUnion(
                [
                    ("words", TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2))),
                    (
                        "parts",
                        TfidfVectorizer(sublinear_tf=True, analyzer="char_wb", ngram_range=(3, 4)),
                    ),
                ]
            ),
            LinearSVC(random_state=0),
        ),
    }


def after_words(make: Callable[[], Any]) -> Pipeline:
    """Return a learner that reads the TF-IDF of words."""
    return make_pipeline(TfidfVectorizer(sublinear_tf=True), make())


def linear() -> SGDClassifier:
    """Return the linear model that all architectures use."""
    return SGDClassifier(loss="log_loss", random_state=0)


def huber() -> SGDClassifier:
    """Return the most accurate variant of scikit-learn's stochastic linear models."""
    return SGDClassifier(loss="modified_huber", random_state=0)


def peak_mib() -> float:
    """Return the peak memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(name: str, make: Callable[[], Any], texts: Texts) -> tuple[Figure, np.ndarray]:
    """Fit a learner, predict all rows and single ones; return the figures and the answers."""
    X, X_test = texts.X, texts.X_test
    before, start = peak_mib(), time.process_time()
    model = make().fit(X, texts.y)
    fit_s, start = time.process_time() - start, time.process_time()
    answers = np.asarray(model.predict(X_test))
    predict_s, memory = time.process_time() - start, peak_mib() - before
    start = time.process_time()
    for k in range(SINGLE_ROWS):
        model.predict(X_test[[k]])
    one_row_s = (time.process_time() - start) / SINGLE_ROWS
    tops, expected = ([path.split("/")[0] for path in part] for part in (answers, texts.y_test))
    return Figure(
        name,
        fit_s,
        predict_s,
        1000 * one_row_s,
        float(np.mean(answers == texts.y_test)),
        float(np.mean(np.array(tops) == np.array(expected))),
        memory,
        file_mib(model),
        float(np.mean(~np.isin(answers, texts.y))),
    ), answers


def file_mib(model: Any) -> float:
    """Return the size of the model in a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        if type(model).__module__.startswith("ramify"):
            path = path.with_suffix(".ramify")
            ramify.save(model, path)
        else:
            joblib.dump(model, path)
        return path.stat().st_size / 2**20


def work(
    name: str, make: Callable[[], Any], texts: Texts, limit_s: float, sender: Connection
) -> None:
    """Send the figures and the answers of one learner."""
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(time.process_time() + limit_s),) * 2)
    with threadpool_limits(1):
        sender.send(measure(name, make, texts))


def measure_apart(
    name: str, make: Callable[[], Any], texts: Texts, limit_s: float
) -> tuple[Figure, np.ndarray] | None:
    """Measure in a process of its own; None if it needs more CPU time than allowed."""
    context = get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=work, args=(name, make, texts, limit_s, sender))
    process.start()
    sender.close()
    try:
        found: tuple[Figure, np.ndarray] = receiver.recv()
    except EOFError:
        process.join()
        if process.exitcode not in (-signal.SIGXCPU, -signal.SIGKILL):
            raise RuntimeError(f"{name} failed, see above") from None
        return None
    process.join()
    return found


HEADINGS = (
    *("learner", "fit s", "predict s", "one row ms", "leaf", "top", "ends early"),
    *("memory MiB", "file MiB"),
)


def cells(figure: Figure) -> list[str]:
    """Return a figure as a row of the printed table."""
    return [
        figure.name,
        f"{figure.fit_s:.1f}",
        f"{figure.predict_s:.2f}",
        f"{figure.one_row_ms:.1f}",
        f"{figure.leaf_accuracy:.3f}",
        f"{figure.top_accuracy:.3f}",
        f"{figure.stopped:.1%}",
        f"{figure.memory_mib:.0f}",
        f"{figure.file_mib:.1f}",
    ]


PAIRS = (
    ("PerParentClassifier, SGD", "HiClass: per parent, SGD"),
    ("PerNodeClassifier, SGD", "HiClass: per node, SGD"),
)


def interval(values: Sequence[float]) -> str:
    """Return the mean of values and its 95 % interval."""
    mean = float(np.mean(values))
    if len(values) < 2:
        return f"{mean:.3f}"
    half = stats.t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / math.sqrt(len(values))
    return f"{mean:.3f} ± {half:.3f}"


def mean_figure(figures: Sequence[Figure]) -> Figure:
    """Return the means of the figures of one learner."""
    numbers = [name for name in asdict(figures[0]) if name != "name"]
    means = {name: float(np.mean([getattr(one, name) for one in figures])) for name in numbers}
    return Figure(figures[0].name, **means)


def measure_splits(
    path: Path, names: Sequence[str], options: argparse.Namespace
) -> dict[str, list[Figure]]:
    """Measure learners on several divisions of a file, and print a table with intervals."""
    makers = text_learners(options.trees)
    table = read_table(path, options.columns)
    found: dict[str, list[Figure]] = {}
    left = list(names)
    for seed in range(options.splits):
        texts = divide(table, seed, options.rows)
        for name in tuple(left):
            result = measure_apart(name, makers[name], texts, options.limit)
            if result is None:
                left.remove(name)
                print(f"{name}: stopped after {options.limit:g} CPU seconds", flush=True)
            else:
                found.setdefault(name, []).append(result[0])
    found = {name: found[name] for name in left}
    print(
        f"\n{path.name.partition('.')[0]}: {len(texts.X)} + {len(texts.X_test)} texts, "
        f"{len(set(texts.y))} categories, {options.splits} splits\n"
    )
    first = next(iter(found.values()))
    rows = []
    for figures in found.values():
        differences = [
            [
                getattr(one, name) - getattr(own, name)
                for one, own in zip(figures, first, strict=True)
            ]
            for name in ("leaf_accuracy", "top_accuracy")
        ]
        own = cells(mean_figure(figures))
        own[4] = interval([one.leaf_accuracy for one in figures])
        own[5] = interval([one.top_accuracy for one in figures])
        rows.append([*own, *map(interval, differences)])
    print_table([(*HEADINGS, "leaf, difference", "top, difference"), *rows])
    return found


def compare(found: dict[str, tuple[Figure, np.ndarray]]) -> list[str]:
    """Return the ratios to HiClass and how many answers differ."""
    lines = []
    for ours, theirs in PAIRS:
        if ours in found and theirs in found:
            (a, answers), (b, others) = found[ours], found[theirs]
            ratios = (b.fit_s / a.fit_s, b.predict_s / a.predict_s, b.one_row_ms / a.one_row_ms)
            words = zip(("fit", "predict", "one row"), ratios, strict=True)
            lines.append(
                f"{theirs} takes, relative to {ours}: "
                + ", ".join(f"{word} {ratio:.2f} ×" for word, ratio in words)
                + f"; {np.sum(answers != others)} of {len(answers)} answers differ"
            )
    return lines


def run_on_files(options: argparse.Namespace) -> int:
    """Measure on real texts."""
    names = [
        name
        for name in text_learners(options.trees)
        if not options.only or any(part in name for part in options.only)
    ]
    print(describe_machine())
    files = [
        file
        for path in options.texts
        for file in (sorted(path.iterdir()) if path.is_dir() else [path])
        if file.suffix in (*READERS, *JSON_LINES)
    ]
    if not files:
        raise SystemExit(
            f"--texts {' '.join(map(str, options.texts))} has no file that ends in "
            f"{', '.join((*READERS, *JSON_LINES))}."
        )
    found = {file.name: measure_splits(file, names, options) for file in files}
    write_report(
        {
            "texts": {
                name: {
                    learner: [asdict(one) for one in figures] for learner, figures in own.items()
                }
                for name, own in found.items()
            }
        },
        "text_categories_real.json",
    )
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table and write it to a file."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.text_categories")
    parser.add_argument("--texts", type=Path, nargs="+", help="files of texts, or folders")
    parser.add_argument(
        "--columns", nargs=2, default=("text", "label"), help="columns of texts and paths"
    )
    parser.add_argument("--splits", type=int, default=5, help="divisions of every file")
    parser.add_argument("--rows", type=int, default=20_000, help="number of texts, at most")
    parser.add_argument("--words", type=int, default=50_000, help="size of the vocabulary")
    parser.add_argument("--branching", type=int, nargs=3, default=(10, 10, 10))
    parser.add_argument("--trees", type=int, default=100, help="trees of every forest")
    parser.add_argument("--limit", type=float, default=900, help="CPU seconds of one learner")
    parser.add_argument("--only", nargs="+", help="parts of the names of the learners")
    options = parser.parse_args(arguments)
    if options.texts:
        return run_on_files(options)
    texts = make_texts(options.rows, options.words, options.branching)
    names = ("scikit-learn", "hiclass") if find_spec("hiclass") else ("scikit-learn",)
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    print(
        f"{texts.X.shape[0]} + {texts.X_test.shape[0]} texts, {options.words} words, "
        f"{len(set(texts.y))} categories in training; {describe_machine()}; {versions}\n"
    )
    found, stopped = {}, []
    for name, make in learners(options.trees).items():
        if options.only and not any(part in name for part in options.only):
            continue
        result = measure_apart(name, make, texts, options.limit)
        if result is None:
            stopped.append(name)
            print(f"{name}: stopped after {options.limit:g} CPU seconds", flush=True)
        else:
            found[name] = result
            print(" | ".join(cells(result[0])), flush=True)
    print()
    print_table([HEADINGS, *(cells(figure) for figure, _ in found.values())])
    print("", *compare(found), sep="\n")
    report = {
        "options": vars(options),
        "versions": versions,
        "figures": [asdict(figure) for figure, _ in found.values()],
        "stopped": stopped,
    }
    write_report(report, "text_categories.json")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
