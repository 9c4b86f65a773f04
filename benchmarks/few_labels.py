"""Forests and extra trees on two classes, ten classes and some labels, against scikit-learn's.

``python -m benchmarks.few_labels`` fits ten trees to 20,000 made-up rows (5,000 with 30 labels)
with one thread and predicts 10,000 others, in turns, and one row by local linear models per parent
beside HiClass if it is installed. If RAMIFY_DATA is set, so it does with enron_hmc and
cellcycle_FUN, whose training rows are also predicted. CPU seconds, best of two; below 1, ramify is
slower.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier

from benchmarks.problems import load
from ramify import PCTExtraTreesClassifier, PCTForestClassifier, PerParentClassifier

PROBLEMS = {
    "two classes": (20_000, 20, 1),
    "ten classes": (20_000, 20, 10),
    "30 labels": (5_000, 50, 30),
}
SETS = ("enron_hmc", "cellcycle_FUN")
PAIRS = (
    (PCTForestClassifier, RandomForestClassifier),
    (PCTExtraTreesClassifier, ExtraTreesClassifier),
)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--repeat", type=int, default=2, help="runs of which the best counts")
    repeat = parser.parse_args().repeat
    print(f"scikit-learn {sklearn.__version__}")
    print(f"{'problem':<14}{'model':<25}{'fit s':>8}{'ratio':>7}{'predict s':>11}{'ratio':>7}")
    for name, (n_rows, n_features, n_outputs) in PROBLEMS.items():
        X, y = make(n_rows, n_features, n_outputs)
        compare(name, X, y, np.random.default_rng(1).normal(size=(10_000, n_features)), repeat)
    for name in SETS if os.environ.get("RAMIFY_DATA") else ():
        problem = load(name)
        X = np.nan_to_num(problem.X.toarray() if issparse(problem.X) else problem.X)
        compare(name, X, problem.Y.toarray(), X, repeat)
    if find_spec("hiclass") is not None:
        compare_one_row(repeat)


def compare(name: str, X: NDArray[Any], y: NDArray[Any], rows: NDArray[Any], repeat: int) -> None:
    """Print the times of both forests, in turns, for one problem."""
    for own, peer in PAIRS:
        models = [
            kind(n_estimators=10, max_features="sqrt", random_state=0) for kind in (own, peer)
        ]
        models[0].set_params(min_samples_leaf=1)
        fits = in_turns([partial(m.fit, X, y) for m in models], repeat)
        answers = in_turns([partial(m.predict_proba, rows) for m in models], repeat)
        print(
            f"{name:<14}{own.__name__:<25}{fits[0]:>8.2f}{fits[1] / fits[0]:>7.2f}"
            f"{answers[0]:>11.4f}{answers[1] / answers[0]:>7.2f}",
            flush=True,
        )


def make(n_rows: int, n_features: int, n_outputs: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return rows, and classes or labels that depend on sums of all features."""
    random = np.random.default_rng(0)
    X = random.normal(size=(n_rows, n_features))
    scores = np.sin(X @ random.normal(size=(n_features, n_outputs)))
    scores += 0.7 * random.normal(size=scores.shape)
    if n_outputs == 1:
        return X, (scores[:, 0] > 0).astype(int)
    return X, scores.argmax(axis=1) if n_outputs == 10 else (scores > 0.5).astype(int)


def in_turns(calls: list[Callable[[], Any]], repeat: int) -> list[float]:
    """Return the least CPU seconds of each call."""
    best = [float("inf")] * len(calls)
    for _ in range(repeat):
        for k, call in enumerate(calls):
            start = time.process_time()
            call()
            best[k] = min(best[k], time.process_time() - start)
    return best


def compare_one_row(repeat: int) -> None:
    """Print the time of one row by local models per parent: 100 ends of paths in three levels."""
    from hiclass import LocalClassifierPerParentNode  # noqa: PLC0415 (may not be installed)

    print(f"HiClass {version('hiclass')}")

    random = np.random.default_rng(0)
    ends = [
        (f"a{a}", f"b{a}{b}", f"c{a}{b}{c}") for a in range(5) for b in range(4) for c in range(5)
    ]
    chosen = random.integers(len(ends), size=3_000)
    X = random.normal(size=(100, 50))[chosen] + 1.5 * random.normal(size=(3_000, 50))
    y = np.array(ends, dtype=object)[chosen]
    for estimator in (LogisticRegression(max_iter=50), SGDClassifier(random_state=0)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            own = PerParentClassifier(estimator).fit(X, y)
            peer = LocalClassifierPerParentNode(estimator).fit(X, y)
        calls = [partial(predict_often, model, X[:1]) for model in (own, peer)]
        times = in_turns(calls, repeat)
        name = type(estimator).__name__
        print(
            f"one row per parent, {name}: {10 * times[0]:.2f} ms, HiClass {10 * times[1]:.2f} ms"
        )


def predict_often(model: Any, row: NDArray[Any]) -> None:
    """Predict one row a hundred times."""
    for _ in range(100):
        model.predict(row)


if __name__ == "__main__":
    main()
