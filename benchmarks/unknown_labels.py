"""Hide labels of training rows: pooled AU(PRC) of three ways to treat the unknown ones.

``python -m benchmarks.unknown_labels diatoms --seeds 5`` hides labels "at random", all labels
"below" the top level in some rows, or those of whole "rows". Test rows keep their labels.
``--curve`` gives labels to few rows instead, and compares values of `supervision` of a forest or
a ``--model tree``. ``--speed`` prints times and memory of a tree on 4,000 made-up labels instead.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from ramify import (
    AdaBoostMHClassifier,
    GlobalNaiveBayes,
    Hierarchy,
    MLkNN,
    PartialLabels,
    PCTClassifier,
    PCTForestClassifier,
    PCTGradientBoostingClassifier,
    PerEdgeClassifier,
    PerParentClassifier,
    fetch,
    make_hierarchical_classification,
)
from ramify.labels.encoding import read_labels
from ramify.metrics import pooled_auprc

DATA = ("cellcycle_FUN", "enron_hmc", "imclef07a", "diatoms", "eisen_GO")
RATES = (0.1, 0.5, 0.9)
WAYS = ("negative", "dropped", "learnt")
Labels = np.ndarray
MODELS: dict[str, Callable[[Hierarchy, int, int], Any]] = {
    "forest": lambda h, n, seed: PCTForestClassifier(h, n_estimators=n, random_state=seed),
    "boosting": lambda h, n, seed: PCTGradientBoostingClassifier(
        h, loss="logistic", max_iter=5 * n, learning_rate=0.1, random_state=seed
    ),
    "per edge": lambda h, n, seed: PerEdgeClassifier(
        PCTForestClassifier(n_estimators=n), hierarchy=h, random_state=seed
    ),
    "per parent": lambda h, n, seed: PerParentClassifier(
        PCTForestClassifier(n_estimators=n), hierarchy=h, multilabel=True, random_state=seed
    ),
    "AdaBoost.MH": lambda h, n, seed: AdaBoostMHClassifier(h, n_estimators=5 * n),
    "ML-kNN": lambda h, n, seed: MLkNN(h),
    "naive Bayes": lambda h, n, seed: GlobalNaiveBayes(h, var_smoothing=0.01),
}


def at_random(Y: Labels, hierarchy: Hierarchy, rate: float, rng: Any) -> Labels:
    """Mark cells independently of each other."""
    return np.asarray(rng.random(Y.shape) < rate)


def below(Y: Labels, hierarchy: Hierarchy, rate: float, rng: Any) -> Labels:
    """Mark all labels below the top level, in some rows."""
    deep = hierarchy.label_levels > 1
    return (rng.random(len(Y)) < rate)[:, None] & deep


def whole_rows(Y: Labels, hierarchy: Hierarchy, rate: float, rng: Any) -> Labels:
    """Mark all labels of some rows."""
    return np.repeat((rng.random(len(Y)) < rate)[:, None], Y.shape[1], axis=1)


KINDS: dict[str, Callable[..., Labels]] = {
    "at random": at_random,
    "below": below,
    "rows": whole_rows,
}


def training_sets(X: Any, y: PartialLabels) -> Iterator[tuple[str, Any, Any]]:
    """Yield the rows and labels that each way learns from, if there are any."""
    Y = y.to_array()
    yield "negative", X, np.nan_to_num(Y)
    rows = np.flatnonzero(~np.isnan(Y).any(axis=1))
    if len(rows) > 1 and Y[rows].any():
        yield "dropped", _safe_indexing(X, rows), Y[rows]
    yield "learnt", X, y


def run(
    name: str, *, model: str, seeds: int, n_trees: int, n_rows: int
) -> Iterator[dict[str, Any]]:
    """Yield the result of every way, kind, rate and seed on one data set."""
    data = fetch(name)
    h = data.hierarchy
    truth = read_labels(data.y_test, h).Y.toarray()[:n_rows]
    X_test = _safe_indexing(data.X_test, np.arange(len(truth)))
    everything = read_labels(data.y_train, h).Y.toarray()
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        rows = np.sort(rng.permutation(len(everything))[:n_rows])
        X, Y = _safe_indexing(data.X_train, rows), everything[rows]

        def score(X: Any, y: Any, seed: int = seed) -> float:
            found = MODELS[model](h, n_trees, seed).fit(X, y).predict_proba(X_test)
            return pooled_auprc(truth, found, hierarchy=h)

        case = {"data": name, "seed": seed}
        yield {**case, "kind": "all known", "rate": 0.0, "way": "learnt", "score": score(X, Y)}
        for kind, hide in KINDS.items():
            for rate in RATES:
                marked = hide(Y, h, rate, rng)
                y = PartialLabels(np.where(marked, np.nan, Y), h)
                case |= {"kind": kind, "rate": rate}
                for way, rows_learnt, labels in training_sets(X, y):
                    yield {**case, "way": way, "score": score(rows_learnt, labels)}


def write_table(results: Sequence[dict[str, Any]]) -> str:
    """Return a Markdown table of means, with standard deviations over seeds."""
    lines = ["| data | hidden | " + " | ".join(WAYS) + " | learnt − best other |"]
    lines.append("|---|---|" + "---|" * (len(WAYS) + 1))
    cases = dict.fromkeys((r["data"], r["kind"], r["rate"]) for r in results)
    for data, kind, rate in cases:
        scores = {
            way: {
                r["seed"]: r["score"]
                for r in results
                if (r["data"], r["kind"], r["rate"], r["way"]) == (data, kind, rate, way)
            }
            for way in WAYS
        }
        cells = [_cell(list(found.values())) for found in scores.values()]
        # Ways that could not learn with some seed are not the best other.
        others = [way for way in WAYS[:2] if len(scores[way]) == len(scores["learnt"])]
        gap = ""
        if others:
            best = max(others, key=lambda way: np.mean(list(scores[way].values())))
            gaps = [scores["learnt"][seed] - scores[best][seed] for seed in scores["learnt"]]
            gap = f"{np.mean(gaps):+.3f} ± {np.std(gaps):.3f}"
        hidden = kind if rate == 0 else f"{kind}, {rate:.0%}"
        lines.append(f"| {data} | {hidden} | " + " | ".join(cells) + f" | {gap} |")
    return "\n".join(lines)


def _cell(scores: Sequence[float]) -> str:
    return f"{np.mean(scores):.3f} ± {np.std(scores):.3f}" if scores else "–"


# ---- rows without labels --------------------------------------------------------------------

SUPERVISIONS = (0.2, 0.5, 0.8, 1.0)
N_LABELLED = (50, 100, 200, 350, 500)


def run_curve(
    name: str, *, model: str, seeds: int, n_trees: int, n_rows: int
) -> Iterator[dict[str, Any]]:
    """Yield AU(PRC) with few labelled rows among `n_rows`, for each value of `supervision`."""
    data = fetch(name)
    h = data.hierarchy
    truth = read_labels(data.y_test, h).Y.toarray()[:n_rows]
    X_test = _safe_indexing(data.X_test, np.arange(len(truth)))
    everything = read_labels(data.y_train, h).Y.toarray().astype(float)

    def score(X: Any, y: Any, supervision: Any, seed: int) -> tuple[float, Any]:
        fitted: Any
        if model == "forest":
            fitted = PCTForestClassifier(
                h, n_estimators=n_trees, supervision=supervision, random_state=seed
            )
        else:
            fitted = PCTClassifier(
                h, min_samples_leaf=5, supervision=supervision, random_state=seed
            )
        scores = fitted.fit(X, y).predict_proba(X_test)
        chosen = getattr(fitted, "supervision_scores_", {})
        return pooled_auprc(truth, scores, hierarchy=h), chosen

    for seed in range(seeds):
        rows = np.random.default_rng(seed).permutation(len(everything))[:n_rows]
        X = _safe_indexing(data.X_train, rows)
        for n_labelled in N_LABELLED:
            if n_labelled >= len(rows):
                continue
            Y = everything[rows]
            Y[n_labelled:] = np.nan
            y = PartialLabels(Y, h)
            case = {"data": name, "model": model, "seed": seed, "labelled": n_labelled}
            for supervision in SUPERVISIONS:
                found, _ = score(X, y, supervision, seed)
                yield {**case, "supervision": supervision, "score": found}
            found, chosen = score(X, y, list(SUPERVISIONS), seed)
            held_out = {str(part): one for part, one in chosen.items()}
            yield {**case, "supervision": "chosen", "score": found, "held_out": held_out}


def write_curve(results: Sequence[dict[str, Any]]) -> str:
    """Return a Markdown table of means over seeds."""
    ways = [1.0, *SUPERVISIONS[:-1], "chosen"]
    lines = ["| data | model | labelled | " + " | ".join(map(str, ways)) + " | chosen − 1 |"]
    lines.append("|---|---|---|" + "---|" * (len(ways) + 1))
    for case in dict.fromkeys((r["data"], r["model"], r["labelled"]) for r in results):
        here = [r for r in results if (r["data"], r["model"], r["labelled"]) == case]
        scores = {way: [r["score"] for r in here if r["supervision"] == way] for way in ways}
        gaps = np.subtract(scores["chosen"], scores[1.0])
        cells = [f"{np.mean(scores[way]):.3f}" for way in ways]
        gap = f"{np.mean(gaps):+.3f} ± {np.std(gaps):.3f}"
        lines.append("| " + " | ".join(map(str, [*case, *cells, gap])) + " |")
    return "\n".join(lines)


def print_speed(n_rows: int = 1000, n_labels: int = 4000) -> None:
    """Print the time to fit a tree, and the memory of the labels, by what is unknown."""
    data = make_hierarchical_classification(n_rows, 20, n_labels=n_labels, random_state=0)
    h, Y = data.hierarchy, read_labels(data.y, data.hierarchy).Y
    ends = PartialLabels(Y, h, ends="unknown_below")
    cases: dict[str, Any] = {"all known": PartialLabels(Y, h), "below the ends": ends}
    rng = np.random.default_rng(0)
    for rate in (0.01, 0.5):
        hidden = rng.random(Y.shape) < rate
        cases[f"{rate:.0%} at random"] = PartialLabels(np.where(hidden, np.nan, Y.toarray()), h)
    cases["50% of rows"] = PartialLabels(
        [None if k % 2 else row for k, row in enumerate(h.decode(Y))], h
    )
    for name, y in cases.items():
        seconds = []
        for _ in range(3):
            started = time.process_time()
            PCTClassifier(h, min_samples_leaf=5).fit(data.X, y)
            seconds.append(time.process_time() - started)
        parts = [] if y.unknown is None else [y.unknown.of_row, y.unknown.patterns.indices]
        size = sum(part.nbytes for part in parts) / 1e6
        print(f"{name:16} {min(seconds):8.2f} s {size:8.2f} MB of unknown labels")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table, and write the results to a file if asked to."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.unknown_labels", description=__doc__
    )
    parser.add_argument("data", nargs="*", default=DATA)
    parser.add_argument("--model", choices=(*MODELS, "tree"), default="forest")
    parser.add_argument("--curve", action="store_true")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--trees", type=int, default=20)
    parser.add_argument("--rows", type=int, default=1000, help="training and test rows, at most")
    parser.add_argument("--out", type=Path, help="JSON lines to append the results to")
    options = parser.parse_args(arguments)
    if options.speed:
        print_speed()
        return 0
    results = []
    measure = run_curve if options.curve else run
    for name in options.data:
        results += measure(
            name,
            model=options.model,
            seeds=options.seeds,
            n_trees=options.trees,
            n_rows=options.rows,
        )
        if options.out:
            lines = [json.dumps(r) for r in results if r["data"] == name]
            with options.out.open("a") as file:
                file.write("\n".join(lines) + "\n")
    print(write_curve(results) if options.curve else write_table(results))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
