"""How specific answers are that keep a promise, beside flat conformal sets and other rules.

``python -m benchmarks.promised_answers`` divides rows that a model has not seen into calibration
and test rows, ten times, and prints means over the divisions. All methods get the same scores.

- *paths*: `SelectiveClassifier`; `confident_path` with the threshold that makes the promised share
  of errors on the calibration rows, without a bound; the climbing rule of Goren et al. (2024) over
  the probabilities of the ends of paths, written here by its definition; and the sets of ends of
  LAC and APS.
- *label sets*: `SelectiveClassifier`; a threshold tuned without a bound; and the recall and
  precision control of MAPIE, with its grid of 100 thresholds.

LAC, APS and the control of recall and precision are those of MAPIE and are measured if it is
installed (``pip install mapie``).
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.guarantees import (
    CONFIDENCE,
    Pool,
    forest_of,
    learn,
    print_rows,
    real_pool,
)
from benchmarks.problems import load_parts
from benchmarks.suite_report import write_csv
from ramify import Hierarchy, PerParentClassifier, load_animals
from ramify.decision import confident_path
from ramify.decision.guarantees import (
    Cover,
    above,
    below,
    climb,
    false_events,
    missed_events,
    pooled,
    set_scores,
)
from ramify.decision.paths import find_ends
from ramify.meta.promises import SetPromise
from ramify.model_selection import cross_val_predict

SHARES = (0.05, 0.1)
PATHS = ("problem", "promise", "answers", "wrong", "depth", "labels", "ends covered")
SETS = ("problem", "promise", "threshold", "missed", "false", "labels")
MOST_LABELS_OF_MAPIE = 1000  # it holds all rows, labels and thresholds at once

Labels = NDArray[np.bool_]
"""The labels of each answer; of an answer that says nothing, all top-level labels."""


def main() -> None:
    """Print the tables, and write them to the documentation."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--divisions", type=int, default=10)
    parser.add_argument("--only", choices=("paths", "sets"))
    parser.add_argument("--write", type=Path, help="folder for guarantees-*.csv")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore", module="mapie")
    for name, header, rows_of in (("paths", PATHS, path_rows), ("sets", SETS, set_rows)):
        if arguments.only in (None, name):
            rows = print_rows(header, rows_of(arguments.divisions))
            if arguments.write:
                write_csv(arguments.write / f"guarantees-{name}.csv", header, rows)


def _divisions(pool: Pool, n_divisions: int) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """Yield calibration and test rows."""
    rng = np.random.default_rng(0)
    for _ in range(n_divisions):
        order = rng.permutation(len(pool.scores))
        yield order[: pool.n_calibration], order[pool.n_calibration :]


def _averaged(found: dict[tuple[str, str], list[tuple[float, ...]]], pool: Pool) -> Iterator[Any]:
    for (share, name), figures in found.items():
        means = np.mean(figures, axis=0)
        yield (pool.name, share, name, *(f"{m:.3f}" if m < 1 else f"{m:.3g}" for m in means))


# ---- one path a row -------------------------------------------------------------------------


def path_pools() -> Iterator[Pool]:
    """Yield problems with one path a row."""
    yield real_pool("imclef07a", 500)
    yield real_pool("diatoms", 500)
    yield _texts()
    yield _animals()


def _texts() -> Pool:
    train, test = load_parts("reuters")
    assert test is not None
    one, other = ((_n_ends(p.Y, p.hierarchy) == 1).nonzero()[0] for p in (train, test))
    model = PerParentClassifier(hierarchy=train.hierarchy).fit(train.X[one], train.Y[one])
    ends = find_ends(train.Y[one], train.hierarchy)
    scores, Y = model.predict_proba(test.X[other]), test.Y[other]
    return Pool("reuters, one topic", train.hierarchy, scores, Y, ends, 1000)


def _animals() -> Pool:
    data = load_animals()
    hierarchy = data.hierarchy.subset(data.hierarchy.descendants("taxonomy"))
    Y = sparse.csr_array(data.y[:, data.hierarchy.indices(hierarchy.labels)])
    scores = cross_val_predict(
        forest_of(hierarchy), data.X, Y, cv=5, method="predict_proba", random_state=0
    )
    return Pool("animals, taxonomy", hierarchy, scores, Y, find_ends(Y, hierarchy), 90)


def _n_ends(Y: Any, hierarchy: Hierarchy) -> NDArray[np.intp]:
    return np.array([len(labels) for labels in hierarchy.decode(Y)])


def path_rows(n_divisions: int) -> Iterator[tuple[str, ...]]:
    """Yield the figures of every method."""
    for pool in path_pools():
        found: dict[tuple[str, str], list[tuple[float, ...]]] = {}
        view = _View(pool)
        for calibration, test in _divisions(pool, n_divisions):
            for share in SHARES:
                for name, answers in view.methods(calibration, test, share):
                    described = view.described(answers, test)
                    found.setdefault((f"{share:g}", name), []).append(described)
        yield from _averaged(found, pool)


class _View:
    """What the methods need of a pool, computed once for all divisions."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        h = pool.hierarchy
        self.everything = {size: learn(pool, max_labels=size) for size in (1, 3)}
        self.chains = climb(pool.scores, pool.candidates, h)
        self.cover = Cover(h)
        self.ends = np.flatnonzero(pool.candidates)
        self.end_scores = set_scores(pool.scores, pool.candidates, h)
        flat = self.end_scores[:, self.ends] + 1e-6  # MAPIE ignores less
        self.flat = flat / flat.sum(axis=1, keepdims=True)
        indptr, above_them = h.ancestor_rows
        owner = np.repeat(np.arange(h.n_labels), np.diff(indptr))
        n = h.n_labels
        self.above = np.eye(n, dtype=bool)  # whether a label is another one or an ancestor of it
        self.above[owner, above_them] = True
        self.tops = np.diff(h.parent_rows[0]) == 0
        self.truth = pool.Y.toarray() > 0
        is_end = self.truth & ~((self.truth.astype(int) @ self.above.astype(int)) > 1)
        self.end_of = is_end.argmax(axis=1)
        grid = np.arange(201) / 200
        self.paths = [(t, confident_path(pool.scores, h, t).toarray() > 0) for t in grid]

    def methods(
        self, calibration: NDArray[Any], test: NDArray[Any], share: float
    ) -> Iterator[tuple[str, Labels]]:
        """Yield the answers of each method."""
        for confidence in (None, CONFIDENCE):
            promise = self.everything[1].of(calibration, confidence)
            (limit,) = promise.thresholds(np.array([-1]), share)
            kind = "climb" if confidence is None else f"climb, {confidence} sure"
            yield kind, self._of_labels(self.chains.answers(limit)[test])
        yield "confident_path, tuned", self._tuned(calibration, test, share)
        yield "published climbing rule", self._published(calibration, test, share)
        for size, everything in self.everything.items():
            if size == 1:
                continue
            promise = everything.of(calibration, None)
            (limit,) = promise.thresholds(np.array([-1]), share, for_sets=True)
            rows = zip(self.end_scores[test], self.pool.scores[test], strict=True)
            sets = [self.cover.at(*row, size, limit) for row in rows]
            yield f"sets of at most {size}", self._of_sets(sets)
        if find_spec("mapie"):
            yield from self._flat_sets(calibration, test, share)

    def _of_labels(self, answers: NDArray[np.intp]) -> Labels:
        return self._of_sets([(label,) if label >= 0 else () for label in answers])

    def _of_sets(self, sets: Sequence[tuple[int, ...]]) -> Labels:
        found = np.zeros((len(sets), len(self.tops)), dtype=bool)
        for row, labels in zip(found, sets, strict=True):
            row[list(labels) if labels else self.tops] = True
        return found

    def _tuned(self, calibration: NDArray[Any], test: NDArray[Any], share: float) -> Labels:
        """Paths down to the lowest threshold with few enough errors on the calibration rows."""
        errors = [
            (paths[calibration] & ~self.truth[calibration]).any(axis=1).mean()
            for _, paths in self.paths
        ]
        first = next(k for k, error in enumerate(errors) if error <= share)
        closed = self.paths[first][1][test]
        levels = np.where(closed, self.pool.hierarchy.label_levels, 0)
        return self._of_labels(np.where(closed.any(axis=1), levels.argmax(axis=1), -1))

    def _published(self, calibration: NDArray[Any], test: NDArray[Any], share: float) -> Labels:
        """Climb from the likeliest end until the sum of the ends below reaches a quantile."""
        above = self.above[self.ends]
        sums = self.flat @ above
        predicted = self.flat.argmax(axis=1)
        on_path = above[predicted]
        last_wrong = np.where(on_path & ~self.truth, sums, 0).max(axis=1)
        needed = np.sort(np.nextafter(last_wrong[calibration], 2) * (last_wrong[calibration] > 0))
        place = math.ceil((len(calibration) + 1) * (1 - share))
        limit = needed[place - 1] if place <= len(needed) else np.inf
        levels = np.where(on_path & (sums >= limit), self.pool.hierarchy.label_levels, 0)[test]
        return self._of_labels(np.where(levels.any(axis=1), levels.argmax(axis=1), -1))

    def _flat_sets(
        self, calibration: NDArray[Any], test: NDArray[Any], share: float
    ) -> Iterator[tuple[str, Labels]]:
        from mapie.classification import SplitConformalClassifier  # noqa: PLC0415

        place = np.full(len(self.tops), -1)
        place[self.ends] = np.arange(len(self.ends))
        known = calibration[place[self.end_of[calibration]] >= 0]
        for kind in ("lac", "aps"):
            flat = SplitConformalClassifier(
                _Given(len(self.ends)),
                confidence_level=1 - share,
                conformity_score=kind,
                prefit=True,
                random_state=0,
            )
            flat.conformalize(self.flat[known], place[self.end_of[known]])
            _, sets = flat.predict_set(self.flat[test])
            found = np.zeros((len(test), len(self.tops)), dtype=bool)
            found[:, self.ends] = sets[:, :, 0]
            yield f"{kind.upper()} (MAPIE)", found

    def described(self, answers: Labels, test: NDArray[Any]) -> tuple[float, ...]:
        """Return the share of wrong answers, the depth, and the numbers of labels and ends.

        The depth is that of the deepest common ancestor of the labels of an answer.
        """
        says_nothing = (answers == self.tops).all(axis=1) if self.tops.sum() > 1 else False
        size = answers.sum(axis=1)
        wrong = ~(answers & self.truth[test]).any(axis=1)
        common = (answers.astype(int) @ self.above.astype(int)) == size[:, None]
        levels = np.where(common & (size > 0)[:, None], self.pool.hierarchy.label_levels, 0)
        covered = (answers.astype(int) @ self.above[self.ends].T.astype(int)) > 0
        return (
            float((wrong & ~np.asarray(says_nothing)).mean()),
            float(levels.max(axis=1).mean()),
            float(np.where(says_nothing, 0, size).mean()),
            float(covered.sum(axis=1).mean()),
        )


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


# ---- label sets -----------------------------------------------------------------------------


def set_rows(n_divisions: int) -> Iterator[tuple[str, ...]]:
    """Yield the figures of every way to choose a threshold."""
    for name, n_calibration in (("cellcycle_FUN", 640), ("cellcycle_GO", 640), ("enron_hmc", 330)):
        pool = real_pool(name, n_calibration)
        found: dict[tuple[str, str], list[tuple[float, ...]]] = {}
        truth = pool.Y.toarray() > 0
        for calibration, test in _divisions(pool, n_divisions):
            for kind, choose in (("missed", _missed_thresholds), ("false", _false_thresholds)):
                for share in (0.1, 0.2):
                    for method, limit in choose(pool, calibration, share):
                        described = _described_sets(pool.scores[test] >= limit, truth[test])
                        found.setdefault((f"{share:g} {kind}", method), []).append(described)
        yield from _averaged(found, pool)


def _described_sets(predicted: Labels, truth: Labels) -> tuple[float, ...]:
    hits = (predicted & truth).sum(axis=1)
    n_true, n_predicted = truth.sum(axis=1), predicted.sum(axis=1)
    missed = 1 - hits[n_true > 0] / n_true[n_true > 0]
    false = (n_predicted - hits) / np.maximum(1, n_predicted)
    return (float(missed.mean()), float(false.mean()), float(n_predicted.mean()))


Thresholds = Iterator[tuple[str, float]]


def _missed_thresholds(pool: Pool, calibration: NDArray[Any], share: float) -> Thresholds:
    costs = np.ones(pool.hierarchy.n_labels)
    yield from _promised(pool, calibration, share, costs)
    columns = np.arange(len(costs))
    rows = pool.rows(calibration)
    events = pooled(missed_events(rows.scores, rows.Y, costs, columns), rows.weights)
    n = int((np.diff(rows.Y.indptr) > 0).sum())
    yield "tuned, no bound", float(below(events, share * n)[0])
    yield from _by_mapie(
        pool, calibration, 1 - share, "recall", ("crc", None), ("rcps", "hoeffding")
    )


def _false_thresholds(pool: Pool, calibration: NDArray[Any], share: float) -> Thresholds:
    yield from _promised(pool, calibration, share, None)
    columns = np.arange(pool.hierarchy.n_labels)
    rows = pool.rows(calibration)
    events = pooled(false_events(rows.scores, rows.Y, columns, monotone=False), rows.weights)
    yield "tuned, no bound", float(above(events, share * len(calibration))[0])
    yield from _by_mapie(pool, calibration, 1 - share, "precision", ("ltt", None))


def _promised(
    pool: Pool, calibration: NDArray[Any], share: float, costs: NDArray[np.float64] | None
) -> Thresholds:
    roots = np.zeros(pool.hierarchy.n_labels, dtype=np.intp)
    for confidence in (None, CONFIDENCE):
        rows = pool.rows(calibration)
        promise = SetPromise.learn(rows, roots, share=share, costs=costs, confidence=confidence)
        name = "mean" if confidence is None else f"{confidence} sure"
        yield f"SelectiveClassifier, {name}", float(promise.thresholds[0])


def _by_mapie(
    pool: Pool, calibration: NDArray[Any], level: float, risk: str, *methods: tuple[str, Any]
) -> Thresholds:
    if not find_spec("mapie") or pool.hierarchy.n_labels > MOST_LABELS_OF_MAPIE:
        return
    from mapie.risk_control import MultiLabelClassificationController  # noqa: PLC0415

    predict: Callable[[Any], Any] = np.asarray
    for method, bound in methods:
        controller = MultiLabelClassificationController(
            predict_function=predict,
            risk=risk,
            method=method,
            target_level=level,
            confidence_level=None if method == "crc" else CONFIDENCE,
            rcps_bound=bound,
        )
        truth = (pool.Y[calibration].toarray() > 0).astype(int)
        controller.calibrate(pool.scores[calibration], truth)
        (best,) = np.atleast_1d(controller.best_predict_param)
        name = f"MAPIE {method.upper()}" + ("" if method == "crc" else f", {CONFIDENCE} sure")
        yield name, math.inf if best is None or np.isnan(best) else np.nextafter(best, 2)


if __name__ == "__main__":
    main()
