"""Promises of SelectiveClassifier: whether they are kept, and what they cost.

``python -m benchmarks.guarantees`` prints two tables; ``--write docs/benchmarks`` writes them to
the documentation, with a plot. `benchmarks.promised_answers` shows how specific answers are.

- *validity*: a model is fitted once, and its scores of rows that it has not seen are the
  population. Calibration rows are drawn from it again and again, with replacement, so the error of
  their thresholds is known exactly: it is that of the whole population. Without a confidence, the
  mean error over the draws is promised, which must not exceed the share by more than three
  standard errors; with one, the share of draws whose error is too large, whose 99.9 % interval
  (Clopper and Pearson) must not lie above the risk.
- *cost*: CPU time to predict one row, beside the `predict` of the model itself.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, stats

from benchmarks.problems import load_parts
from benchmarks.suite_report import COLOURS, write_csv
from ramify import (
    Hierarchy,
    PCTClassifier,
    PCTForestClassifier,
    SelectiveClassifier,
    make_hierarchical_classification,
)
from ramify.decision.guarantees import false_events, missed_events, pooled
from ramify.decision.paths import find_ends
from ramify.io.files import replacing
from ramify.meta.promises import CalibrationRows, PathPromise, root_of_each, safe_thresholds

CONFIDENCE = 0.9
SHARES = (0.05, 0.1, 0.2)


@dataclass(frozen=True)
class Pool:
    """Rows that a model has not seen, and its scores."""

    name: str
    hierarchy: Hierarchy
    scores: NDArray[np.float64]
    Y: Any
    candidates: NDArray[np.bool_]  # labels at which training rows end
    n_calibration: int

    def rows(self, chosen: NDArray[np.intp]) -> CalibrationRows:
        """Return some of the rows."""
        Y = sparse.csr_array(self.Y[chosen])
        return CalibrationRows(self.scores[chosen], Y, np.ones(len(chosen)), None)

    def only(self, kept: NDArray[np.bool_]) -> Pool:
        """Return the pool of some of the rows."""
        return replace(self, scores=self.scores[kept], Y=sparse.csr_array(self.Y[kept]))


def main() -> None:
    """Print the tables, and write them to the documentation."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--draws", type=int, default=1_000)
    parser.add_argument("--only", choices=("validity", "cost"))
    parser.add_argument("--write", type=Path, help="folder for guarantees*.csv and .svg")
    arguments = parser.parse_args()
    if arguments.only in (None, "validity"):
        found = []
        for row in validity(arguments.draws):
            print(*(f"{cell:>18}" for cell in row.cells()), flush=True)
            found.append(row)
        if arguments.write:
            write_csv(arguments.write / "guarantees.csv", HEADINGS, summary(found))
            draw(found, arguments.write / "guarantees.svg")
    if arguments.only in (None, "cost"):
        header = ("problem", "model", "its predict, µs", "with promise, µs", "ratio")
        rows = print_rows(header, _cost())
        if arguments.write:
            write_csv(arguments.write / "guarantees-cost.csv", header, rows)


def print_rows(header: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Print a table row by row, as it is computed, and return its rows."""
    found = []
    for row in chain([header], rows):
        print(
            f"{row[0]:22} {row[1]:16} " + " ".join(f"{cell:>22}" for cell in row[2:]), flush=True
        )
        found.append(row)
    return found[1:]


# ---- problems -------------------------------------------------------------------------------


def path_pools() -> Iterator[Pool]:
    """Yield problems with one path a row."""
    yield _made_up("tree", 150)
    yield _made_up("DAG", 150, dag_share=0.4)
    yield _made_up("few calibration rows", 25)
    yield _made_up("deep chains", 150, n_labels=24, depth=12, branching=2)
    yield _made_up("ties", 150, model=PCTClassifier(min_samples_leaf=60))
    yield _made_up("one class", 150, n_labels=1, depth=1)
    yield real_pool("imclef07a", 300)


def set_pools() -> Iterator[Pool]:
    """Yield problems with label sets."""
    yield _made_up("label sets, tree", 150, labels_per_row=2.5)
    yield _made_up("label sets, DAG", 150, labels_per_row=2.5, dag_share=0.4)
    yield _made_up("label sets, few rows", 25, labels_per_row=2.5)
    yield real_pool("cellcycle_FUN", 300)
    yield real_pool("enron_hmc", 200)


def _made_up(
    name: str, n_calibration: int, *, labels_per_row: float = 1, model: Any = None, **options: Any
) -> Pool:
    settings = {"n_labels": 30, "noise": 0.9, "random_state": 0} | options
    data = make_hierarchical_classification(4000, 8, labels_per_row=labels_per_row, **settings)
    model = PCTForestClassifier(n_estimators=15, random_state=0) if model is None else model
    model.set_params(hierarchy=data.hierarchy).fit(data.X[:1000], data.y[:1000])
    scores = model.predict_proba(data.X[1000:])
    ends = find_ends(data.y[:1000], data.hierarchy)
    return Pool(name, data.hierarchy, scores, data.y[1000:], ends, n_calibration)


def real_pool(name: str, n_calibration: int) -> Pool:
    """Return the test rows of a public data set, scored by a forest."""
    train, test = load_parts(name)
    assert test is not None
    scores = forest_of(train.hierarchy).fit(train.X, train.Y).predict_proba(test.X)
    ends = find_ends(train.Y, train.hierarchy)
    return Pool(name, train.hierarchy, scores, test.Y, ends, n_calibration)


def forest_of(hierarchy: Hierarchy) -> PCTForestClassifier:
    """Return the model of real problems."""
    return PCTForestClassifier(hierarchy, n_estimators=30, random_state=0)


# ---- validity -------------------------------------------------------------------------------

Draw = Callable[[np.random.Generator], NDArray[np.float64]]
"""Draws calibration rows, and returns the error for each share, or for each share and branch."""

HEADINGS = (
    *("problem", "calibration rows", "promise"),
    *(f"{what} at {share:.0%}" for share in SHARES for what in ("error", "draws above")),
    "kept",
)


@dataclass(frozen=True)
class Kept:
    """Whether a promise was kept over many draws."""

    problem: str
    n_calibration: int
    mode: str
    share: float
    confidence: float | None
    mean: float
    spread: float  # standard error of the mean
    n_above: int  # draws whose error is above the share
    n_draws: int

    @property
    def is_kept(self) -> bool:
        """Whether the errors exceed the promise by no more than chance explains."""
        if self.confidence is None:
            return self.mean <= self.share + 3 * self.spread
        return self.interval[0] <= 1 - self.confidence

    @property
    def interval(self) -> tuple[float, float]:
        """Bounds on the probability that a draw is above the share (99.9 %)."""
        found = stats.binomtest(self.n_above, self.n_draws).proportion_ci(0.999)
        return (float(found.low), float(found.high))

    def cells(self) -> tuple[str, ...]:
        """Return the row of the printed table."""
        low, high = self.interval
        return (
            *(self.problem[:18], self.mode[:18], f"{self.share:g}"),
            f"{self.mean:.4f} ± {3 * self.spread:.4f}",
            f"{self.n_above / self.n_draws:.3f} in {low:.3f}–{high:.3f}",
            "yes" if self.is_kept else "NO",
        )


def summary(rows: Sequence[Kept]) -> list[tuple[str, ...]]:
    """Return one row for each problem and promise."""
    found: dict[tuple[str, ...], list[Kept]] = {}
    for row in rows:
        found.setdefault((row.problem, str(row.n_calibration), row.mode), []).append(row)
    return [
        (
            *key,
            *chain(*((f"{k.mean:.3f}", f"{k.n_above / k.n_draws:.3f}") for k in kept)),
            "yes" if all(k.is_kept for k in kept) else "no",
        )
        for key, kept in found.items()
    ]


def validity(n_draws: int) -> Iterator[Kept]:
    """Simulate every promise on every problem."""
    for pool in path_pools():
        for mode, confidence, draw in _path_modes(pool):
            yield from _judge(pool, mode, confidence, draw, n_draws)
    tree = next(path_pools())
    yield from _judge(tree, "groups", None, _group_draws(tree), n_draws)
    yield from _judge(tree, "shift weights", None, _shift_draws(tree), n_draws)
    for mode, calibration in (("held out, refitted", 0.5), ("cross-validated", 5)):
        pool, draws = replace(tree, n_calibration=200), _refitted_draws(calibration)
        yield from _judge(pool, mode, None, draws, n_draws // 4)
    for pool in set_pools():
        for confidence in (None, CONFIDENCE):
            for errors in ("missed", "false"):
                draws = _set_draws(pool, errors, confidence)
                yield from _judge(pool, errors, confidence, draws, n_draws)
    yield from namespaces(n_draws)


def namespaces(n_draws: int) -> Iterator[Kept]:
    """Simulate a promise for each namespace of the Gene Ontology."""
    pool = real_pool("cellcycle_GO", 600)
    for confidence in (None, CONFIDENCE):
        draws = _namespace_draws(pool, confidence)
        yield from _judge(pool, "missed, per namespace", confidence, draws, n_draws)


def _path_modes(pool: Pool) -> Iterator[tuple[str, float | None, Draw]]:
    everything = learn(pool)
    for confidence in (None, CONFIDENCE):
        for for_sets in (False, True):
            mode = "sets of at most 3" if for_sets else "climb"
            yield mode, confidence, _path_draws(pool, everything, confidence, for_sets=for_sets)
    if pool.name in {"tree", "imclef07a"}:
        everything = learn(pool, per_branch=True)
        for confidence in (None, CONFIDENCE):
            yield "climb, per branch", confidence, _branch_draws(pool, everything, confidence)


def _judge(
    pool: Pool, mode: str, confidence: float | None, draw: Draw, n_draws: int
) -> Iterator[Kept]:
    rng = np.random.default_rng(0)
    every = np.stack([np.atleast_2d(draw(rng).T).T for _ in range(n_draws)])
    for share, errors in zip(SHARES, np.moveaxis(every, 1, 0), strict=True):
        found = []
        for part in errors.T:  # one, or the branches
            promised = part[np.isfinite(part)]
            if len(promised) < 50:  # seldom with enough rows for a threshold of its own
                continue
            spread = promised.std() / np.sqrt(len(promised))
            n_above = int((promised > share + 1e-9).sum())
            found.append(
                Kept(
                    *(pool.name, pool.n_calibration),
                    mode + ("" if confidence is None else f", {confidence:.0%} sure"),
                    *(share, confidence, float(promised.mean()), float(spread)),
                    *(n_above, len(promised)),
                )
            )
        if found:  # the branch that is the worst
            yield max(found, key=lambda k: k.mean if confidence is None else k.n_above / k.n_draws)


@dataclass(frozen=True)
class Everything:
    """What happens to the rows of a pool at a threshold, which does not depend on other rows."""

    promise: PathPromise

    def of(self, rows: NDArray[np.intp], confidence: float | None, **changed: Any) -> PathPromise:
        """Return the promise by some of the rows."""
        names = ("critical", "set_critical", "shares", "level_scores", "branches")
        per_row: dict[str, Any] = {name: getattr(self.promise, name)[rows] for name in names}
        per_row |= {"n_units": len(rows), "confidence": confidence}
        return replace(self.promise, **(per_row | changed))


def learn(pool: Pool, *, max_labels: int = 3, per_branch: bool = False) -> Everything:
    """Find out at which thresholds the rows of a pool go wrong."""
    promise = PathPromise.learn(
        pool.rows(np.arange(len(pool.scores))),
        pool.hierarchy,
        candidates=pool.candidates,
        confidence=None,
        max_labels=max_labels,
        per_branch=per_branch,
    )
    return Everything(promise)


NO_TOP = np.array([-1])


def _path_draws(
    pool: Pool, everything: Everything, confidence: float | None, *, for_sets: bool
) -> Draw:
    critical = everything.promise.set_critical if for_sets else everything.promise.critical

    def draw(rng: np.random.Generator) -> NDArray[np.float64]:
        promise = everything.of(rng.integers(0, len(critical), pool.n_calibration), confidence)
        limits = [promise.thresholds(NO_TOP, share, for_sets=for_sets)[0] for share in SHARES]
        return np.array([(critical >= limit).mean() for limit in limits])

    return draw


def _branch_draws(pool: Pool, everything: Everything, confidence: float | None) -> Draw:
    """Return errors among the rows of each branch, NaN where it has no threshold of its own."""
    critical, branches = everything.promise.critical, everything.promise.branches
    tops = np.unique(branches)

    def draw(rng: np.random.Generator) -> NDArray[np.float64]:
        promise = everything.of(rng.integers(0, len(critical), pool.n_calibration), confidence)
        found = np.full((len(SHARES), len(tops)), np.nan)
        for row, share in zip(found, SHARES, strict=True):
            own = promise.own_branches(share)
            for k, limit in enumerate(promise.thresholds(tops, share)):
                if tops[k] in own:
                    row[k] = (critical[branches == tops[k]] >= limit).mean()
        return found

    return draw


def _group_draws(pool: Pool) -> Draw:
    """Return errors of a new group; rows of a group go wrong at similar thresholds."""
    everything = learn(pool)
    rng = np.random.default_rng(1)
    critical = everything.promise.critical
    order = np.argsort(critical + rng.normal(scale=0.1, size=len(critical)))
    groups = np.split(order, np.cumsum(rng.integers(1, 9, len(order) // 5)))[:-1]
    sizes = np.array([len(group) for group in groups])

    def draw(rng: np.random.Generator) -> NDArray[np.float64]:
        chosen = rng.integers(0, len(groups), pool.n_calibration)
        rows = np.concatenate([groups[k] for k in chosen])
        shares = 1 / np.repeat(sizes[chosen], sizes[chosen])
        promise = everything.of(rows, None, shares=shares, n_units=len(chosen))
        limits = [promise.thresholds(NO_TOP, share)[0] for share in SHARES]
        return np.array(
            [np.mean([(critical[g] >= limit).mean() for g in groups]) for limit in limits]
        )

    return draw


def _shift_draws(pool: Pool) -> Draw:
    """Return errors where the rows of some branches are five times as frequent as before."""
    everything = learn(pool)
    critical = everything.promise.critical
    weights = 1.0 + 4 * (pool.Y[:, [0]].toarray().ravel() > 0)

    def draw(rng: np.random.Generator) -> NDArray[np.float64]:
        rows = rng.integers(0, len(critical), pool.n_calibration)
        promise = everything.of(rows, None, shares=weights[rows], is_weighted=1)
        tops = np.full(len(critical), -1)
        found = [critical >= promise.thresholds(tops, share, weights) for share in SHARES]
        return np.array([np.average(wrong, weights=weights) for wrong in found])

    return draw


def _refitted_draws(calibration: Any) -> Draw:
    """Return errors on other rows, with a tree fitted anew in each draw."""
    data = make_hierarchical_classification(
        4000, 8, n_labels=30, labels_per_row=1, noise=0.9, random_state=0
    )
    tree = PCTClassifier(data.hierarchy, min_samples_leaf=5)

    def draw(rng: np.random.Generator) -> NDArray[np.float64]:
        order = rng.permutation(4000)
        rows, others = order[:400], order[400:1400]
        seed = int(rng.integers(1 << 31))
        careful = SelectiveClassifier(tree, calibration=calibration, random_state=seed)
        careful.fit(data.X[rows], data.y[rows])
        answers = (careful.predict(data.X[others], max_error=share) for share in SHARES)
        wrong = [(found > data.y[others]).sum(axis=1) > 0 for found in answers]
        return np.array([each.mean() for each in wrong])

    return draw


def _set_draws(pool: Pool, errors: str, confidence: float | None) -> Draw:
    columns = np.arange(pool.hierarchy.n_labels)
    if errors == "missed":
        pool = pool.only(np.diff(sparse.csr_array(pool.Y).indptr) > 0)
        losses = events = missed_events(pool.scores, pool.Y, np.ones(len(columns)), columns)
    else:
        losses, events = (
            false_events(pool.scores, pool.Y, columns, monotone=monotone)
            for monotone in (False, confidence is None)
        )
    everything = pooled(losses, np.full(len(losses), 1 / len(losses)))

    def draw(rng: np.random.Generator) -> NDArray[np.float64]:
        chosen = rng.integers(0, len(losses), pool.n_calibration)
        limits = safe_thresholds(
            [events[k] for k in chosen],
            pool.rows(chosen),
            np.array(SHARES),
            confidence,
            missed=errors == "missed",
        )
        at = everything.at
        happens = [at < t if errors == "missed" else at >= t for t in limits]
        return np.array([everything.change[each].sum() for each in happens])

    return draw


def _namespace_draws(pool: Pool, confidence: float | None) -> Draw:
    """Return errors among the labels of each namespace, of the rows that have such labels."""
    roots = root_of_each(pool.hierarchy)
    costs = np.ones(len(roots))
    parts = []
    for root in np.unique(roots):
        columns = np.flatnonzero(roots == root)
        events = missed_events(pool.scores, pool.Y, costs, columns)
        has_any = np.array([len(row.at) > 0 for row in events])
        known = [events[k] for k in np.flatnonzero(has_any)]
        parts.append((events, has_any, pooled(known, np.full(len(known), 1 / len(known)))))

    def draw(rng: np.random.Generator) -> NDArray[np.float64]:
        chosen = rng.integers(0, len(pool.scores), pool.n_calibration)
        found = []
        for events, has_any, everything in parts:
            kept = chosen[has_any[chosen]]
            rows = [events[k] for k in kept]
            limits = safe_thresholds(
                rows, pool.rows(kept), np.array(SHARES), confidence, missed=True
            )
            found.append([everything.change[everything.at < limit].sum() for limit in limits])
        return np.array(found).T

    return draw


def draw(rows: Sequence[Kept], path: Path) -> None:
    """Draw the errors against the promises."""
    import matplotlib as mpl  # noqa: PLC0415 (optional)

    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415

    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "ramify"}):
        figure, (left, right) = plt.subplots(1, 2, figsize=(8.5, 4), layout="constrained")
        rng = np.random.default_rng(0)
        for row in rows:
            x = row.share * np.exp(rng.uniform(-0.12, 0.12))
            if row.confidence is None:
                left.errorbar(
                    x, row.mean, 3 * row.spread, fmt="o", color=COLOURS[0], ms=3, lw=0.8, alpha=0.7
                )
            else:
                low, high = row.interval
                share = row.n_above / row.n_draws
                bars = [[share - low], [high - share]]
                right.errorbar(x, share, bars, fmt="o", color=COLOURS[2], ms=3, lw=0.8, alpha=0.7)
        for share in SHARES:
            left.plot((share * 0.85, share * 1.18), (share, share), color="#22313a", lw=0.8)
        left.set(title="Promises on average", ylabel="mean error, ± 3 standard errors")
        right.axhline(1 - CONFIDENCE, color="#22313a", lw=0.8)
        right.set(
            title=f"Promises with {CONFIDENCE:.0%} confidence",
            ylabel="draws above the promise, 99.9 % interval",
        )
        for axes in (left, right):
            axes.set(xlabel="promised share of errors", xscale="log", ylim=(0, None))
            axes.set_xticks(SHARES, [f"{share:g}" for share in SHARES])
            axes.minorticks_off()
            axes.spines[["top", "right"]].set_visible(False)
        with replacing(path) as temporary:
            figure.savefig(temporary, format="svg", metadata={"Date": None})
        plt.close(figure)


# ---- cost -----------------------------------------------------------------------------------


def _cost() -> Iterator[tuple[str, ...]]:
    for name, labels_per_row, n_labels in (
        ("paths, 30 labels", 1, 30),
        ("paths, 300 labels", 1, 300),
        ("label sets, 30", 2.5, 30),
        ("label sets, 300", 2.5, 300),
    ):
        data = make_hierarchical_classification(
            2000, 10, n_labels=n_labels, labels_per_row=labels_per_row, noise=0.9, random_state=0
        )
        for model in (PCTClassifier(), PCTForestClassifier(n_estimators=50, random_state=0)):
            model.set_params(hierarchy=data.hierarchy)
            careful = SelectiveClassifier(model, random_state=0).fit(data.X, data.y)
            plain, promised = _seconds_in_turns(
                careful.estimator_.predict, careful.predict, data.X[:1]
            )
            ratio = np.median(promised / plain)  # neighbouring turns share what else the CPU does
            times = (f"{np.median(each) * 1e6:.0f}" for each in (plain, promised))
            yield (name, type(model).__name__, *times, f"{ratio:.2f}")


def _seconds_in_turns(*functions_and_row: Any) -> list[Any]:
    """Return the CPU times that each function takes for a row, in many short turns."""
    *functions, row = functions_and_row
    found: list[list[float]] = [[] for _ in functions]
    for _ in range(100):
        for times, function in zip(found, functions, strict=True):
            begin = time.process_time()
            for _ in range(10):
                function(row)
            times.append((time.process_time() - begin) / 10)
    return [np.array(times) for times in found]


if __name__ == "__main__":
    main()
