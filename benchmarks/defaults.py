"""What users get who set nothing: ramify, scikit-learn and HiClass with default settings.

``python -m benchmarks.defaults`` fits every learner to twelve problems with one class or path per
row and prints the share of test rows whose class, the end of the path, is right, and CPU seconds
of one thread for fit and predict. Figures are means over draws: made-up problems are made anew
with the next seed, rows of real ones are divided anew. HiClass is measured if it is installed.

``--multi-label`` compares the decisions of `predict` on ten sets with several labels per row: 0.5,
what a classifier does by default, and the single threshold that is best on the test rows.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_digits, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, OrdinalEncoder, StandardScaler
from threadpoolctl import threadpool_limits

import ramify
from benchmarks.trees import print_table
from ramify.labels.encoding import read_labels
from ramify.metrics import example_f1, micro_f1, subset_accuracy

N_TEST = 3000  # test rows of made-up problems


@dataclass(frozen=True)
class Problem:
    """Training and test rows with a class or a path like "1/3" each."""

    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray


# ---- problems ------------------------------------------------------------------------------


def paths_of(shape: Sequence[int]) -> np.ndarray:
    """Return all paths of a tree whose nodes on level k have `shape[k]` children.

    >>> paths_of([2, 2]).tolist()
    ['0/0', '0/1', '1/0', '1/1']
    """
    codes = np.indices(shape).reshape(len(shape), -1).T
    return np.array(["/".join(map(str, code)) for code in codes])


def cut(X: Any, y: np.ndarray, n_rows: int) -> Problem:
    """Take the first rows for training and the others for the test."""
    return Problem(X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:])


def divided(X: Any, y: Any, seed: int, share: float) -> Problem:
    """Divide the rows of a real problem at random."""
    y = np.asarray(y).astype(str)
    X, X_test, y, y_test = train_test_split(X, y, test_size=share, stratify=y, random_state=seed)
    return Problem(X, y, X_test, y_test)


def gaussians(
    seed: int,
    shape: Sequence[int],
    n_rows: int,
    *,
    n_features: int = 20,
    n_noise: int = 0,
    spread: float = 1.0,
    skew: float = 0.0,
    n_clusters: int = 1,
) -> Problem:
    """Draw rows around centres that children inherit from their parents.

    The k-th of K classes is drawn with a probability proportional to (k + 1) ** -skew. With
    several clusters, each class is a mixture of as many centres.
    """
    rng = np.random.default_rng(seed)
    paths = paths_of(shape)
    centres = np.zeros((1, n_features))
    for n_children in [*shape, n_clusters] if n_clusters > 1 else shape:
        own = spread * rng.normal(size=(len(centres) * n_children, n_features))
        centres = np.repeat(centres, n_children, axis=0) + own
    shares = rng.permutation(np.arange(1.0, len(paths) + 1) ** -skew)
    k = rng.choice(len(paths), n_rows + N_TEST, p=shares / shares.sum())
    cluster = n_clusters * k + rng.integers(n_clusters, size=len(k))
    X = centres[cluster] + 1.5 * rng.normal(size=(len(k), n_features))
    X = np.hstack([X, rng.normal(size=(len(k), n_noise))])
    return cut(X, paths[k], n_rows)


def bags_of_words(seed: int, n_rows: int = 1500, n_words: int = 1500) -> Problem:
    """Draw words, some of which are typical of a class or its parent; count them."""
    rng = np.random.default_rng(seed)
    paths = paths_of([5, 6])
    k = rng.integers(len(paths), size=n_rows + N_TEST)
    usual = 1.0 / np.arange(1, n_words + 1)
    usual /= usual.sum()
    of_parent = rng.integers(n_words, size=(5, 60))
    of_class = rng.integers(n_words, size=(30, 25))
    counts = sp.lil_array((len(k), n_words))
    for row, end in enumerate(k):
        length = rng.integers(15, 60)
        words = rng.choice(n_words, length, p=usual)
        drawn = rng.random(length)
        words = np.where(drawn < 0.2, rng.choice(of_parent[end // 6], length), words)
        words = np.where(drawn < 0.1, rng.choice(of_class[end], length), words)
        found, times = np.unique(words, return_counts=True)
        counts[row, found] = times
    return cut(sp.csr_array(counts), paths[k], n_rows)


def texts(seed: int) -> Problem:
    """Write the words of bags down, as a column of a data frame."""
    bags = bags_of_words(seed)

    def write(X: Any) -> pd.DataFrame:
        letters = np.array(list("abcdefghij"))
        spelled = ["".join(letters[list(map(int, f"{w:04}"))]) for w in range(X.shape[1])]
        words = np.array(spelled)[np.repeat(X.indices, X.data.astype(int))]
        ends = np.cumsum(X.sum(axis=1)).astype(int)
        return pd.DataFrame({"text": [" ".join(row) for row in np.split(words, ends[:-1])]})

    return Problem(write(bags.X), bags.y, write(bags.X_test), bags.y_test)


def nominal(seed: int, n_rows: int = 2000, missing: float = 0.2) -> Problem:
    """Draw categories; the class depends on the sum of a value per class of some of them."""
    rng = np.random.default_rng(seed)
    sizes = [3, 4, 5, 6, 8, 12, 20, 30]
    paths = paths_of([3, 3])
    codes = np.stack([rng.integers(size, size=n_rows + N_TEST) for size in sizes], axis=1)
    scores = 0.3 * rng.gumbel(size=(len(codes), len(paths)))
    for j, size in enumerate(sizes):
        of_parent = np.repeat(rng.normal(size=(size, 3)), 3, axis=1)
        scores += (of_parent + rng.normal(size=(size, len(paths))))[codes[:, j]]
    columns = {}
    for j, size in enumerate(sizes):
        hidden = rng.random(len(codes)) < missing
        columns[f"x{j}"] = pd.Categorical.from_codes(
            np.where(hidden, -1, codes[:, j]), [f"c{c}" for c in range(size)]
        )
    return cut(pd.DataFrame(columns), paths[scores.argmax(axis=1)], n_rows)


def informative_missing(seed: int, n_rows: int = 2000) -> Problem:
    """Draw numbers that say little about the class; which of them are missing says more."""
    rng = np.random.default_rng(seed)
    paths = paths_of([4, 3])
    k = rng.integers(len(paths), size=n_rows + N_TEST)
    X = 0.5 * rng.normal(size=(len(paths), 12))[k] + rng.normal(size=(len(k), 12))
    rates = rng.choice([0.05, 0.2, 0.6], size=(len(paths), 12))
    X[rng.random(X.shape) < rates[k]] = np.nan
    return cut(X, paths[k], n_rows)


def checkerboard(seed: int, n_rows: int = 2000) -> Problem:
    """Colour the fields of a board; four other features are noise."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 4, size=(n_rows + N_TEST, 6))
    column, row = X[:, :2].astype(int).T
    field = (column + 2 * row) % 4
    return cut(X, paths_of([2, 2])[field], n_rows)


def imclef(seed: int) -> Problem:
    """Read the published rows, which have one path each."""
    data = ramify.fetch("imclef07d")
    parts = [(data.X_train, data.y_train), (data.X_test, data.y_test)]
    found: list[Any] = []
    for X, y in parts:
        Y = read_labels(y, data.hierarchy).Y.toarray()
        depth = np.asarray(data.hierarchy.label_levels)
        ends = (Y * depth).argmax(axis=1)
        found += [np.asarray(X), np.asarray(data.hierarchy.labels)[ends].astype(str)]
    return Problem(*found)


@dataclass(frozen=True)
class Source:
    """How to draw a problem, and how often."""

    draw: Callable[[int], Problem]
    n_draws: int


PROBLEMS: dict[str, Source] = {
    "digits": Source(lambda seed: divided(*load_digits(return_X_y=True), seed, 0.5), 5),
    "wine": Source(lambda seed: divided(*load_wine(return_X_y=True), seed, 0.5), 20),
    "wide tree": Source(lambda seed: gaussians(seed, [6, 8], 2000), 1),
    "deep tree": Source(lambda seed: gaussians(seed, [2] * 5, 2000, spread=0.8, n_noise=10), 1),
    "rare classes": Source(
        lambda seed: gaussians(seed, [4, 5], 2000, skew=1.5, n_clusters=3, n_features=10), 1
    ),
    "bags of words": Source(bags_of_words, 1),
    "texts": Source(texts, 1),
    "nominal, missing": Source(nominal, 1),
    "informative missing": Source(informative_missing, 1),
    "checkerboard": Source(checkerboard, 1),
    "200 rows": Source(lambda seed: gaussians(seed, [3, 4], 200), 10),
    "imclef07d": Source(imclef, 1),
}


# ---- learners ------------------------------------------------------------------------------


class Ours:
    """An estimator of ramify, which gets the rows as they are."""

    def __init__(self, make: Callable[[int, Any], Any]) -> None:
        self.make = make

    def answer(self, problem: Problem, seed: int) -> np.ndarray:
        """Fit and return the paths of the test rows."""
        model = self.make(seed, problem).fit(problem.X, problem.y)
        return np.asarray(model.predict(problem.X_test)).astype(str)


def as_train(seed: int, problem: Problem) -> Any:
    """Return the estimator that ``ramify train`` takes without ``--model``."""
    # Absent in older versions:
    from ramify.apps.default_model import default_model  # noqa: PLC0415
    from ramify.apps.named_estimators import make_model  # noqa: PLC0415
    from ramify.io.tables.table import Table  # noqa: PLC0415

    labels = read_labels(problem.y)
    X = problem.X
    columns = X.columns if isinstance(X, pd.DataFrame) else range(X.shape[1])
    table = Table(X, labels.Y, labels.hierarchy, tuple(map(str, columns)))
    return make_model(default_model(table)[0], None, seed=seed, n_jobs=1)


class Peer:
    """A classifier of scikit-learn for the classes, alone or in every parent by HiClass.

    What its users have to do anyway is done for it: categories become codes or indicators, missing
    values are filled in and columns scaled where it does not accept them as they are.
    """

    def __init__(self, classifier: str, *, hiclass: bool = False) -> None:
        self.classifier = classifier
        self.hiclass = hiclass

    def answer(self, problem: Problem, seed: int) -> np.ndarray:
        """Fit and return the paths of the test rows."""
        X, X_test, is_nominal = as_numbers(problem)
        if self.hiclass and not sp.issparse(X):
            fill = filled(is_nominal).fit(X)
            X, X_test = fill.transform(X), fill.transform(X_test)
        local = self._make(X, is_nominal, seed)
        if not self.hiclass:
            return np.asarray(local.fit(X, problem.y).predict(X_test))
        from hiclass import LocalClassifierPerParentNode  # noqa: PLC0415 (optional)

        levels = [path.split("/") for path in problem.y]
        depth = max(map(len, levels))
        y = np.array([path + [""] * (depth - len(path)) for path in levels])
        model = LocalClassifierPerParentNode(local_classifier=local).fit(
            X, y[:, 0] if depth == 1 else y
        )
        found = model.predict(X_test)
        if depth == 1:
            return np.ravel(found).astype(str)
        return np.array(["/".join(filter(None, map(str, path))) for path in found])

    def _make(self, X: Any, is_nominal: np.ndarray, seed: int) -> BaseEstimator:
        if self.classifier == "forest":
            return RandomForestClassifier(random_state=seed)
        if self.classifier == "boosting":
            dense = HistGradientBoostingClassifier(
                categorical_features=np.flatnonzero(is_nominal), random_state=seed
            )
            return make_pipeline(_Dense(), dense) if sp.issparse(X) else dense
        logistic = LogisticRegression(max_iter=1000)
        if sp.issparse(X):
            return make_pipeline(MaxAbsScaler(), logistic)
        return make_pipeline(encoded(is_nominal), logistic)


class _Dense(BaseEstimator):
    """Make sparse rows dense."""

    def fit(self, X: Any, y: Any = None) -> _Dense:
        return self

    def transform(self, X: Any) -> Any:
        return X.toarray() if sp.issparse(X) else X

    def __sklearn_is_fitted__(self) -> bool:
        return True


def as_numbers(problem: Problem) -> tuple[Any, Any, np.ndarray]:
    """Return the rows as numbers, and which columns are codes of categories."""
    X, X_test = problem.X, problem.X_test
    if not isinstance(X, pd.DataFrame):
        return X, X_test, np.zeros(X.shape[1], dtype=bool)
    if "text" in X:
        words = TfidfVectorizer().fit(X["text"])
        X, X_test = words.transform(X["text"]), words.transform(X_test["text"])
        return X, X_test, np.zeros(X.shape[1], dtype=bool)
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan).fit(X)
    return codes.transform(X), codes.transform(X_test), np.ones(X.shape[1], dtype=bool)


def filled(is_nominal: np.ndarray) -> ColumnTransformer:
    """Fill missing numbers with medians, and missing categories with a category of their own."""
    numbers, categories = np.flatnonzero(~is_nominal), np.flatnonzero(is_nominal)
    return ColumnTransformer(
        [
            ("numbers", SimpleImputer(strategy="median"), numbers),
            ("categories", SimpleImputer(strategy="constant", fill_value=200), categories),
        ]
    )


def encoded(is_nominal: np.ndarray) -> ColumnTransformer:
    """Fill and scale numbers; make indicators of categories."""
    numbers, categories = np.flatnonzero(~is_nominal), np.flatnonzero(is_nominal)
    return ColumnTransformer(
        [
            (
                "numbers",
                make_pipeline(SimpleImputer(strategy="median"), StandardScaler()),
                numbers,
            ),
            ("categories", OneHotEncoder(handle_unknown="ignore"), categories),
        ]
    )


OURS: dict[str, Ours] = {
    "forest": Ours(lambda seed, _: ramify.PCTForestClassifier(random_state=seed)),
    "extra trees": Ours(lambda seed, _: ramify.PCTExtraTreesClassifier(random_state=seed)),
    "boosting": Ours(lambda seed, _: ramify.PCTGradientBoostingClassifier(random_state=seed)),
    "per parent": Ours(lambda seed, _: ramify.PerParentClassifier(random_state=seed)),
    "linear": Ours(lambda *_: ramify.LinearClassifier()),
    "train": Ours(as_train),
}
PEERS: dict[str, Peer] = {
    "sklearn forest": Peer("forest"),
    "sklearn boosting": Peer("boosting"),
    "sklearn logistic": Peer("logistic"),
    "HiClass forest": Peer("forest", hiclass=True),
    "HiClass boosting": Peer("boosting", hiclass=True),
    "HiClass logistic": Peer("logistic", hiclass=True),
}
LEARNERS: dict[str, Ours | Peer] = {**OURS, **PEERS}


# ---- measuring -----------------------------------------------------------------------------


def measure(problem: str, learner: str, seed: int) -> dict[str, Any]:
    """Return the accuracy and the CPU time of a learner on one draw of a problem."""
    data = PROBLEMS[problem].draw(seed)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # peers warn about what is done for them here
        started = time.process_time()
        answer = LEARNERS[learner].answer(data, seed)
        seconds = time.process_time() - started
    right = float(np.mean(answer == data.y_test))
    return {"problem": problem, "learner": learner, "seed": seed, "right": right, "s": seconds}


def report(results: Sequence[dict[str, Any]], learners: Sequence[str]) -> None:
    """Print a table of accuracies, with CPU seconds in brackets."""
    frame = pd.DataFrame(results)
    means = frame.groupby(["problem", "learner"])[["right", "s"]].mean()
    rows = [["problem", *learners, "best of ours − best of others"]]
    for problem in dict.fromkeys(frame["problem"]):
        found = means.loc[problem]
        ours, others = (
            found["right"].reindex([x for x in learners if x in group]).max()
            for group in (OURS, PEERS)
        )
        cells = [
            f"{found.right[x]:.3f} ({found.s[x]:.1f})" if x in found.index else ""
            for x in learners
        ]
        rows.append([problem, *cells, f"{ours - others:+.3f}"])
    print_table(rows)


# ---- label sets ----------------------------------------------------------------------------

MEASURES: dict[str, Callable[[Any, Any], float]] = {
    "micro-F1": micro_f1,
    "example F1": example_f1,
    "exact": subset_accuracy,
    "empty": lambda _, answers: float((answers.sum(axis=1) == 0).mean()),
}
SETS = (
    *("emotions", "medical", "enron_hmc", "slovenian_rivers", "diatoms", "imclef07d"),
    *("derisi_FUN", "cellcycle_FUN", "eisen_FUN", "cellcycle_GO"),
)
THRESHOLDS = np.linspace(0.02, 0.8, 40)


def score_decisions(name: str, model: str) -> Iterator[list[str]]:
    """Yield, for each measure, its value at 0.5, by default, and at the best threshold."""
    data = ramify.fetch(name)
    make = {"forest": ramify.PCTForestClassifier, "boosting": ramify.PCTGradientBoostingClassifier}
    fitted = make[model](data.hierarchy, random_state=0).fit(data.X_train, data.y_train)
    truth = read_labels(data.y_test, data.hierarchy).Y.toarray()
    scores = fitted.predict_proba(data.X_test)
    usual = read_labels(fitted.predict(data.X_test), data.hierarchy).Y.toarray()
    for measure, score in MEASURES.items():
        at = [score(truth, (scores >= t).astype(int)) for t in THRESHOLDS]
        best = "" if measure == "empty" else f"{max(at):.3f}"
        half = score(truth, (scores >= 0.5).astype(int))
        yield [name, model, measure, f"{half:.3f}", f"{score(truth, usual):.3f}", best]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table, and write the results to a file if asked to."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.defaults", description=__doc__)
    parser.add_argument("problems", nargs="*", help=f"of {', '.join(PROBLEMS)}; by default, all")
    parser.add_argument("--learners", nargs="+", choices=LEARNERS, default=None)
    parser.add_argument("--draws", type=int, help="instead of those of each problem")
    parser.add_argument("--seed", type=int, default=0, help="of the first draw")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--multi-label", action="store_true", help="decisions about label sets")
    parser.add_argument("--out", type=Path, help="JSON lines to append the results to")
    options = parser.parse_args(arguments)
    if options.multi_label:
        rows = [["set", "model", "measure", "0.5", "by default", "best threshold"]]
        for name in options.problems or SETS:
            rows += [
                row for model in ("forest", "boosting") for row in score_decisions(name, model)
            ]
        print_table(rows)
        return
    learners = options.learners or [
        x for x in LEARNERS if not x.startswith("HiClass") or find_spec("hiclass")
    ]
    cases = [
        (problem, learner, options.seed + draw)
        for problem in options.problems or PROBLEMS
        for learner in learners
        for draw in range(min(options.draws or 1000, PROBLEMS[problem].n_draws))
    ]
    results = []
    for result in Parallel(options.jobs, return_as="generator")(
        delayed(measure)(*case) for case in cases
    ):
        results.append(result)
        if options.out:
            with options.out.open("a") as file:
                file.write(json.dumps(result) + "\n")
    report(results, learners)


if __name__ == "__main__":
    main()
