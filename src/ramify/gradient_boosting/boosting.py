"""The loop of gradient boosting, and the margins of its trees."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify._base.features import FeatureSchema, csr_parts, make_dataset
from ramify._progress import track
from ramify.gradient_boosting.cuda import predicting
from ramify.gradient_boosting.cuda.booster import CudaBooster
from ramify.gradient_boosting.cuda.device import has_gpu
from ramify.gradient_boosting.rows import BoostingRows
from ramify.gradient_boosting.stopping import Course

__all__ = ["Booster", "add_margins", "learn_rounds", "make_booster", "total_gains"]


class Booster(Protocol):
    """Learns trees, on any device."""

    def learn(self, model: _core.BoostedTrees) -> None:
        """Append one tree to the model."""

    def loss(self, held_out: bool) -> float:
        """Return the mean loss of the training rows or of the held-out rows."""

    def copy_margins(self, rows: NDArray[np.int64], out: NDArray[np.float32]) -> None:
        """Copy the margins of rows."""

    def add_margins(self, margins: NDArray[np.float32]) -> None:
        """Add to the margins of all rows."""


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
    """Return a booster that is ready for the next round.

    Parameters
    ----------
    rows : BoostingRows
        All rows and their roles.
    schema : FeatureSchema
        Which features are nominal.
    outputs : csr_array of shape (n, n_outputs)
        The outputs of each row.
    margins : ndarray of float32, shape (n_outputs,) or (n, n_outputs)
        The margins so far: the same for all rows, or those of earlier trees.
    output_weights : ndarray of shape (n_outputs,)
        Weights of the outputs in the search for tests.
    max_bins : int
        Maximum number of bins of a feature.
    options : GradientBoostingOptions
        All other options.
    device : {"cpu", "cuda"}
        Where to learn.

    Returns
    -------
    Booster
        The booster, which has copies of everything it needs.
    """
    start = margins if margins.ndim == 1 else np.zeros(margins.shape[1])
    given = (
        outputs.indptr.astype(np.int64),
        outputs.indices.astype(np.int32),
        rows.learning,
        rows.held_out,
        rows.weights,
        output_weights,
        max_bins,
        options,
    )
    if sparse.issparse(rows.X):
        dataset = make_dataset(rows.X, schema, n_jobs=options.n_threads)
        plan = _core.BoostingPlan(dataset, *given)
    else:
        # Columns are binned directly, a few at a time: the ranks of all columns would take several
        # times as much memory.
        plan = _core.BoostingPlan(rows.X, schema.n_categories, *given)
    make: Any = CudaBooster if device == "cuda" else _core.GradientBooster
    booster: Booster = make(plan, start.astype(np.float64))
    if margins.ndim == 2:
        booster.add_margins(margins)
    return booster


def learn_rounds(
    booster: Booster,
    trees: _core.BoostedTrees,
    n_rounds: int,
    course: Course | None,
    *,
    verbose: bool,
) -> None:
    """Learn up to `n_rounds` trees; fewer if the score of the held-out rows stalls.

    Parameters
    ----------
    booster : Booster
        Learns the trees.
    trees : BoostedTrees
        Receives them.
    n_rounds : int
        Maximum number of trees.
    course : Course, optional
        Scores the held-out rows. If None, all trees are learnt.
    verbose : bool
        Whether to show a progress bar.
    """
    note = None if course is None else course.write
    for _ in track(range(n_rounds), n_rounds, "Boosting", shown=verbose, note=note):
        booster.learn(trees)
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
    """Add the values of the leaves that rows reach to their margins.

    Parameters
    ----------
    trees : BoostedTrees
        The trees.
    X : ndarray or sparse matrix
        Rows, as returned by `read_features`.
    out : ndarray of float32, shape (n, n_outputs)
        Receives the sums.
    first, last : int
        The range of trees, excluding `last`; all trees by default.
    n_threads : int
        Number of threads. The result does not depend on it.
    device : {"cpu", "cuda"}
        "cuda" uses a GPU for dense rows and all trees, if there is one.
    """
    if device == "cuda" and first == 0 and last is None and not sparse.issparse(X) and has_gpu():
        predicting.add_margins(trees, X, out)
        return
    last = len(trees) if last is None else last
    if sparse.issparse(X):
        trees.add_margins_csr(*csr_parts(X), first, last, n_threads, out)
    else:
        trees.add_margins(X, first, last, n_threads, out)


def total_gains(trees: _core.BoostedTrees) -> NDArray[np.float64]:
    """Return, for each feature, the sum of the gains of its tests."""
    total = np.zeros(trees.n_features)
    for number in range(len(trees)):
        arrays: Any = trees.arrays(number)
        tested = arrays["feature"] >= 0
        np.add.at(total, arrays["feature"][tested], arrays["gain"][tested])
    return total
