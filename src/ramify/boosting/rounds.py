"""The rounds of gradient boosting on one machine, and the rows that they learn from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify._progress import track
from ramify.boosting.cuda import predicting
from ramify.boosting.cuda.booster import CudaBooster
from ramify.boosting.cuda.device import has_gpu
from ramify.boosting.stopping import Course
from ramify.data.features import FeatureSchema
from ramify.data.rows import as_columns, as_label_rows, as_rows, by_rows, dense
from ramify.labels.unknown import UnknownLabels
from ramify.saving.boosted_trees import join_arrays


class Learner(Protocol):
    """Learns trees, one per round."""

    def learn(self, model: _core.BoostedTrees) -> None:
        """Append one tree to the model."""


class Booster(Learner, Protocol):
    """Learns trees from rows in the memory of this process, on any device."""

    def loss(self, held_out: bool) -> float:
        """Return the mean loss of the training rows or of the held-out rows."""

    def copy_margins(self, rows: NDArray[np.int64], out: NDArray[np.float32]) -> None:
        """Copy the margins of rows."""

    def add_margins(self, margins: NDArray[np.float32]) -> None:
        """Add to the margins of all rows."""

    def hide(self, of_row: NDArray[np.uint32], patterns: _core.LabelRows) -> None:
        """Learn nothing from outputs that are not known."""


def make_booster(
    rows: BoostingRows,
    schema: FeatureSchema,
    outputs: sparse.csr_array[np.int32],
    margins: NDArray[np.float32],
    output_weights: NDArray[np.float64],
    *,
    max_bins: int,
    options: _core.GradientBoostingOptions,
    device: str = "cpu",
) -> Booster:
    """Return a booster that is ready for the next round."""
    start = margins if margins.ndim == 1 else np.zeros(margins.shape[1])
    plan = _core.BoostingPlan(
        as_columns(rows.X),
        schema.n_categories,
        as_label_rows(outputs),
        rows.learning,
        rows.held_out,
        rows.weights,
        output_weights,
        max_bins,
        options,
    )
    make: Any = CudaBooster if device == "cuda" else _core.GradientBooster
    booster: Booster = make(plan, start.astype(np.float64))
    if margins.ndim == 2:
        booster.add_margins(margins)
    if rows.unknown is not None:
        booster.hide(rows.unknown.of_row, as_label_rows(rows.unknown.patterns))
    return booster


def learn_rounds(
    learner: Learner,
    trees: _core.BoostedTrees,
    n_rounds: int,
    course: Course | None,
    *,
    verbose: bool,
    note: Callable[[], str] | None = None,
) -> None:
    """Learn up to `n_rounds` trees; fewer if the score of the held-out rows stalls."""
    if note is None and course is not None:
        note = course.write
    for _ in track(range(n_rounds), n_rounds, "Boosting", shown=verbose, note=note):
        learner.learn(trees)
        if course is not None:
            course.record()
            if course.has_stalled:
                break


def add_margins(
    trees: _core.BoostedTrees,
    X: Any,
    out: NDArray[np.float32],
    *,
    first: int = 0,
    last: int | None = None,
    n_threads: int = 1,
    device: str = "cpu",
) -> None:
    """Add the values of the leaves that rows reach to their margins."""
    if device == "cuda" and first == 0 and last is None and not sparse.issparse(X) and has_gpu():
        predicting.add_margins(trees, X, out)
        return
    last = len(trees) if last is None else last
    trees.add_margins(as_rows(X), first, last, n_threads, out)


def total_gains(trees: _core.BoostedTrees) -> NDArray[np.float64]:
    """Return, for each feature, the sum of the gains of its tests."""
    total = np.zeros(trees.n_features)
    arrays = join_arrays(trees)
    tested = arrays["feature"] >= 0
    np.add.at(total, arrays["feature"][tested], arrays["gain"][tested])
    return total


# ---- rows to learn from, and rows held out --------------------------------------------------


@dataclass(frozen=True)
class BoostingRows:
    """Rows with positive weights, and their roles."""

    X: Any  # features, as returned by `read_training_features`
    Y: sparse.csr_array[np.int32]  # labels, including all ancestors
    weights: NDArray[np.float64]  # sample weights
    # The rows to learn from and those held out, both in increasing order.
    learning: NDArray[np.int64]
    held_out: NDArray[np.int64]
    unknown: UnknownLabels | None = None  # labels that are not known, which are 0 in Y

    @classmethod
    def of(
        cls,
        X: Any,
        Y: sparse.csr_array[np.int32],
        weights: NDArray[np.float64],
        unknown: UnknownLabels | None = None,
    ) -> BoostingRows:
        """Return the rows with positive weights, all of them to learn from."""
        X = by_rows(X)
        rows = np.flatnonzero(weights > 0)
        if len(rows) < len(weights):
            X, Y, weights = X[rows], Y[rows], weights[rows]
            unknown = None if unknown is None else unknown.take(rows)
        everything = np.arange(len(rows), dtype=np.int64)
        return cls(X, Y, weights, everything, everything[:0], unknown)

    def hold_out(self, fraction: float, random: np.random.RandomState) -> BoostingRows:
        """Hold out a random fraction of the rows."""
        n_rows = len(self.weights)
        n_held = round(fraction * n_rows)
        if not 0 < n_held < n_rows:
            raise ValueError(
                "validation_fraction must leave rows for both training and validation, got "
                f"{fraction!r}, which selects {n_held} of {n_rows} rows. Pass another fraction, "
                "pass validation rows to fit, or set early_stopping=False."
            )
        drawn = random.permutation(n_rows).astype(np.int64)
        return replace(self, learning=np.sort(drawn[n_held:]), held_out=np.sort(drawn[:n_held]))

    def with_validation(self, other: BoostingRows, schema: FeatureSchema) -> BoostingRows:
        """Add held-out rows."""
        n_rows, n_held = len(self.weights), len(other.weights)
        return BoostingRows(
            _stack(self.X, without_new_categories(other.X, schema)),
            sparse.csr_array(sparse.vstack([self.Y, other.Y], format="csr")),
            np.concatenate([self.weights, other.weights]),
            self.learning,
            np.arange(n_rows, n_rows + n_held, dtype=np.int64),
            None if self.unknown is None else self.unknown.with_known_rows(n_held),
        )

    def all_learning(self) -> BoostingRows:
        """Return the same rows, all of them to learn from."""
        everything = np.arange(len(self.weights), dtype=np.int64)
        return replace(self, learning=everything, held_out=everything[:0])


def _stack(X: Any, other: Any) -> Any:
    if sparse.issparse(X):
        both: Any = [X, sparse.csr_array(other)]
        return sparse.vstack(both, format="csr")
    return np.concatenate([X, dense(other)])


def without_new_categories(X: Any, schema: FeatureSchema) -> Any:
    """Replace codes of an array that are not in the schema with missing values."""
    nominal = np.flatnonzero(schema.n_categories)
    if not nominal.size:
        return X
    n_categories = schema.n_categories.astype(np.float64)
    if sparse.issparse(X):
        rows: Any = cast("Any", X).copy()
        codes, limit = rows.data, n_categories[rows.indices]
        rows.data = np.where((limit > 0) & ~_is_code(codes, limit), np.nan, codes)
        return rows
    X = X.copy()
    codes = X[:, nominal]
    X[:, nominal] = np.where(_is_code(codes, n_categories[nominal]), codes, np.nan)
    return X


def _is_code(values: NDArray[Any], n_categories: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.asarray((values >= 0) & (values < n_categories) & (values == np.floor(values)))
