"""Promises of SelectiveClassifier: whether they are kept, and how specific their answers are.

``python -m benchmarks.guarantees`` prints three tables.

- *validity*: a model is fitted once; its calibration rows are drawn again and again from rows that
  it has not seen, and the errors are those of the rest. Without a confidence, the mean error over
  the draws is promised; with one, the share of draws whose error is too large.
- *efficiency*: depth of the answers and size of the sets, beside flat conformal sets of leaves
  (LAC and APS of MAPIE, with the same probabilities; ``pip install mapie``), and a threshold on
  the probability that was tuned to the same error without a bound.
- *cost*: CPU time to predict one row, beside the `predict` of the model itself.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.problems import load_parts
from ramify import (
    Hierarchy,
    PCTClassifier,
    PCTForestClassifier,
    SelectiveClassifier,
    make_hierarchical_classification,
)
from ramify.decision import make_coherent
from ramify.decision.guarantees import climb, false_events, missed_events
from ramify.decision.paths import find_ends
from ramify.meta.promises import CalibrationRows, PathPromise, SetPromise

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


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--draws", type=int, default=1_000)
    parser.add_argument("--only", choices=("validity", "efficiency", "cost"))
    arguments = parser.parse_args()
    if arguments.only in (None, "validity"):
        print(
            f"Validity over {arguments.draws} draws, confidence {CONFIDENCE} where there is one\n"
        )
        header = ("problem", "promise", "share", "mean error", "+- 2 se", "draws above", "kept")
        _print_rows(header, _validity(arguments.draws))
    if arguments.only in (None, "efficiency"):
        print("\nEfficiency at 5 % and 10 % errors\n")
        header = ("problem", "share", "answers", "wrong", "mean depth", "labels", "leaves covered")
        _print_rows(header, _efficiency())
    if arguments.only in (None, "cost"):
        print("\nCPU time of one row, in microseconds\n")
        _print_rows(("problem", "model", "its predict", "with promise", "ratio"), _cost())


def _print_rows(header: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> None:
    """Print a table row by row, as it is computed."""
    for row in chain([header], rows):
        print(
            f"{row[0]:22} {row[1]:16} " + " ".join(f"{cell:>16}" for cell in row[2:]), flush=True
        )


# ---- problems -------------------------------------------------------------------------------


def path_pools() -> Iterator[Pool]:
    """Yield problems with one path a row."""
    yield _made_up("tree", 150)
    yield _made_up("DAG", 150, dag_share=0.4)
    yield _made_up("few calibration rows", 25)
    yield _made_up("deep chains", 150, n_labels=24, depth=12, branching=2)
    yield _made_up("ties", 150, model=PCTClassifier(min_samples_leaf=60))
    yield _made_up("one class", 150, n_labels=1, depth=1)
    yield _real("imclef07a", 300)


def set_pools() -> Iterator[Pool]:
    """Yield problems with label sets."""
    yield _made_up("label sets, tree", 150, labels_per_row=2.5)
    yield _made_up("label sets, DAG", 150, labels_per_row=2.5, dag_share=0.4)
    yield _made_up("label sets, few rows", 25, labels_per_row=2.5)
    yield _real("cellcycle_FUN", 300)
    yield _real("enron_hmc", 200)


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


def _real(name: str, n_calibration: int) -> Pool:
    train, test = load_parts(name)
    assert test is not None
    model = PCTForestClassifier(train.hierarchy, n_estimators=30, random_state=0)
    scores = model.fit(train.X, train.Y).predict_proba(test.X)
    ends = find_ends(train.Y, train.hierarchy)
    return Pool(name, train.hierarchy, scores, test.Y, ends, n_calibration)


# ---- validity -------------------------------------------------------------------------------


def _validity(n_draws: int) -> Iterator[tuple[str, ...]]:
    for pool in path_pools():
        everything = _learn(pool, pool.rows(np.arange(len(pool.scores))), None)
        for confidence in (None, CONFIDENCE):
            for for_sets in (False, True):
                kind = "sets of 3" if for_sets else "climb"
                draw = _path_draws(pool, everything, confidence, for_sets=for_sets)
                yield from _judge(pool, kind, confidence, draw, n_draws)
    for pool in set_pools():
        for confidence in (None, CONFIDENCE):
            for errors in ("missed", "false"):
                draw = _set_draws(pool, errors, confidence)
                yield from _judge(pool, errors, confidence, draw, n_draws)


Draw = Callable[[NDArray[np.intp], NDArray[np.intp]], NDArray[np.float64]]
"""From calibration and other rows to the errors of the others for each share."""


def _judge(
    pool: Pool, kind: str, confidence: float | None, draw: Draw, n_draws: int
) -> Iterator[tuple[str, ...]]:
    rng = np.random.default_rng(0)
    found = np.empty((n_draws, len(SHARES)))
    for k in range(n_draws):
        order = rng.permutation(len(pool.scores))
        found[k] = draw(order[: pool.n_calibration], order[pool.n_calibration :])
    for share, errors in zip(SHARES, found.T, strict=True):
        mean, chance = errors.mean(), 2 * errors.std() / np.sqrt(n_draws)
        above = (errors > share).mean()
        # The other rows of a draw are a sample, too: errors vary around their expectation.
        spread = np.sqrt(share * (1 - share) / (len(pool.scores) - pool.n_calibration))
        far = (errors > share + 2 * spread).mean()
        limit = 1 - CONFIDENCE + 2 * np.sqrt(CONFIDENCE * (1 - CONFIDENCE) / n_draws)
        kept = mean <= share + chance if confidence is None else far <= limit
        promise = f"{kind}, {'mean' if confidence is None else confidence}"
        numbers = (f"{share:g}", f"{mean:.4f}", f"{chance:.4f}", f"{above:.3f}")
        yield (pool.name, promise, *numbers, "yes" if kept else "NO")


def _learn(pool: Pool, rows: CalibrationRows, confidence: float | None) -> PathPromise:
    return PathPromise.learn(
        rows,
        pool.hierarchy,
        candidates=pool.candidates,
        confidence=confidence,
        max_labels=3,
        per_branch=False,
    )


def _path_draws(
    pool: Pool, everything: PathPromise, confidence: float | None, *, for_sets: bool
) -> Draw:
    def draw(calibration: NDArray[np.intp], others: NDArray[np.intp]) -> NDArray[np.float64]:
        # What happens to a row at a threshold does not depend on other rows.
        promise = PathPromise(
            confidence=confidence,
            max_labels=3,
            n_units=len(calibration),
            is_weighted=0,
            candidates=pool.candidates,
            critical=everything.critical[calibration],
            set_critical=everything.set_critical[calibration],
            shares=np.ones(len(calibration)),
            level_scores=everything.level_scores[calibration],
            branches=np.full(len(calibration), -1),
        )
        errors = []
        for share in SHARES:
            (limit,) = promise.thresholds(np.array([-1]), share, for_sets=for_sets)
            critical = everything.set_critical if for_sets else everything.critical
            errors.append((critical[others] >= limit).mean())
        return np.array(errors)

    return draw


def _set_draws(pool: Pool, errors: str, confidence: float | None) -> Draw:
    columns = np.arange(pool.hierarchy.n_labels)
    costs = np.ones(len(columns)) if errors == "missed" else None
    roots = np.zeros(len(columns), dtype=np.intp)
    has_labels = np.diff(sparse.csr_array(pool.Y).indptr) > 0
    by_row = (
        false_events(pool.scores, pool.Y, columns, monotone=False)
        if costs is None
        else missed_events(pool.scores, pool.Y, costs, columns)
    )
    at = np.concatenate([row.at for row in by_row])
    change = np.concatenate([row.change for row in by_row])
    owner = np.repeat(np.arange(len(by_row)), [len(row.at) for row in by_row])

    def draw(calibration: NDArray[np.intp], others: NDArray[np.intp]) -> NDArray[np.float64]:
        counted = others if costs is None else others[has_labels[others]]
        promise = SetPromise.learn(
            pool.rows(calibration), roots, share=0.1, costs=costs, confidence=confidence
        )
        weight = np.zeros(len(by_row))
        weight[counted] = 1 / len(counted)
        found = []
        for share in SHARES:
            limit = promise.at(share)[0]
            happens = at < limit if errors == "missed" else at >= limit
            found.append((weight[owner] * change)[happens].sum())
        return np.array(found)

    return draw


# ---- efficiency -----------------------------------------------------------------------------


def _efficiency() -> Iterator[tuple[str, ...]]:
    for pool in (_made_up("tree", 500), _real("imclef07a", 500), _real("diatoms", 500)):
        one_path = np.flatnonzero(_n_ends(pool) == 1)
        order = np.random.default_rng(0).permutation(one_path)
        calibration, others = order[: pool.n_calibration], order[pool.n_calibration :]
        promise = _learn(pool, pool.rows(calibration), None)
        chains = climb(pool.scores[others], pool.candidates, pool.hierarchy)
        for share in (0.05, 0.1):
            (limit,) = promise.thresholds(np.array([-1]), share)
            yield _described(pool, share, "climb", chains.answers(limit), others)
            tuned = np.append(np.sort(promise.critical)[::-1], -np.inf)
            limit = np.nextafter(tuned[int(share * len(calibration))], np.inf)
            yield _described(pool, share, "tuned, no bound", chains.answers(limit), others)
            yield from _flat_sets(pool, share, calibration, others)


def _n_ends(pool: Pool) -> NDArray[np.intp]:
    decoded = pool.hierarchy.decode(pool.Y)
    return np.array([len(labels) for labels in decoded])


def _described(
    pool: Pool, share: float, name: str, answers: NDArray[np.intp], rows: NDArray[np.intp]
) -> tuple[str, ...]:
    """Return how specific answers of one label are."""
    levels = np.append(pool.hierarchy.label_levels, 0)
    truth = sparse.csr_array(pool.Y[rows])
    given = answers >= 0
    right = np.asarray(truth[np.flatnonzero(given), answers[given]]).ravel() > 0
    wrong = (~right).sum() / len(answers)
    below = _leaves_below(pool)[answers]
    depth, leaves = levels[answers].mean(), below.mean()
    return (pool.name, f"{share:g}", name, f"{wrong:.3f}", f"{depth:.2f}", "1", f"{leaves:.1f}")


def _leaves_below(pool: Pool) -> NDArray[np.intp]:
    """Return the number of ends below each label; the last entry is that of no answer."""
    hierarchy, ends = pool.hierarchy, pool.candidates
    counts = [
        sum(bool(ends[k]) for k in hierarchy.indices([label, *hierarchy.descendants(label)]))
        for label in hierarchy.labels
    ]
    return np.array([*counts, int(ends.sum())])


def _flat_sets(
    pool: Pool, share: float, calibration: NDArray[np.intp], rows: NDArray[np.intp]
) -> Iterator[tuple[str, ...]]:
    """Yield the sets of our own promise and of flat conformal classifiers."""
    from ramify.decision.guarantees import Cover, set_scores  # noqa: PLC0415

    for size in (1, 2, 3, 5):
        promise = PathPromise.learn(
            pool.rows(calibration),
            pool.hierarchy,
            candidates=pool.candidates,
            confidence=None,
            max_labels=size,
            per_branch=False,
        )
        (limit,) = promise.thresholds(np.array([-1]), share, for_sets=True)
        cover = Cover(pool.hierarchy)
        ends = set_scores(pool.scores[rows], pool.candidates, pool.hierarchy)
        rows_of = zip(ends, pool.scores[rows], strict=True)
        sets = [cover.at(*row, size, limit) for row in rows_of]
        yield _described_sets(pool, share, f"sets of at most {size}", sets, rows)
    try:
        from mapie.classification import SplitConformalClassifier  # noqa: PLC0415
    except ImportError:
        return
    leaves = np.flatnonzero(pool.candidates)
    scores = set_scores(pool.scores, pool.candidates, pool.hierarchy)[:, leaves]
    scores = make_coherent(scores, Hierarchy.from_labels([str(k) for k in leaves]))
    scores = (scores + 1e-9) / (scores + 1e-9).sum(axis=1, keepdims=True)
    place = {label: k for k, label in enumerate(leaves)}
    decoded = pool.hierarchy.decode(pool.Y)
    truth = np.array(
        [place.get(pool.hierarchy.index(labels[0]), -1) if labels else -1 for labels in decoded]
    )
    calibration = calibration[truth[calibration] >= 0]
    for kind in ("lac", "aps"):
        flat = SplitConformalClassifier(
            _Given(len(leaves)), confidence_level=1 - share, conformity_score=kind, prefit=True
        )
        flat.conformalize(scores[calibration], truth[calibration])
        _, found = flat.predict_set(scores[rows])
        sets = [tuple(leaves[np.flatnonzero(row)]) for row in found[:, :, 0]]
        yield _described_sets(pool, share, f"flat {kind.upper()} (MAPIE)", sets, rows, flat=True)


class _Given:
    """A classifier whose rows are the probabilities of its classes."""

    def __init__(self, n_classes: int) -> None:
        self.classes_ = np.arange(n_classes)
        self.is_fitted_ = True

    def fit(self, X: Any, y: Any) -> _Given:
        return self

    def predict_proba(self, X: Any) -> Any:
        return X

    def predict(self, X: Any) -> Any:
        return np.argmax(X, axis=1)

    def __sklearn_is_fitted__(self) -> bool:
        return True


def _described_sets(
    pool: Pool,
    share: float,
    name: str,
    sets: list[tuple[int, ...]],
    rows: NDArray[np.intp],
    *,
    flat: bool = False,
) -> tuple[str, ...]:
    """Return how specific sets are; an empty one stands for all labels unless it is flat."""
    truth = pool.Y[rows].toarray() > 0
    wrong, labels, leaves, depth = 0, 0.0, 0.0, 0.0
    below = _leaves_below(pool)
    for row, chosen in zip(truth, sets, strict=True):
        everything = not chosen and not flat
        wrong += not everything and not row[list(chosen)].any()
        labels += len(chosen)
        leaves += below[-1] if everything else below[list(chosen)].sum()
        depth += pool.hierarchy.label_levels[list(chosen)].mean() if chosen else 0
    n = len(sets)
    return (
        pool.name,
        f"{share:g}",
        name,
        f"{wrong / n:.3f}",
        f"{depth / n:.2f}",
        f"{labels / n:.2f}",
        f"{leaves / n:.1f}",
    )


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
            numbers = (f"{plain * 1e6:.0f}", f"{promised * 1e6:.0f}", f"{promised / plain:.2f}")
            yield (name, type(model).__name__, *numbers)


def _seconds_in_turns(*functions_and_row: Any) -> list[float]:
    """Return the least CPU time that each function takes for a row, among five turns."""
    *functions, row = functions_and_row
    found = [float("inf")] * len(functions)
    for _ in range(5):
        for k, function in enumerate(functions):
            begin = time.process_time()
            for _ in range(200):
                function(row)
            found[k] = min(found[k], (time.process_time() - begin) / 200)
    return found


if __name__ == "__main__":
    main()
