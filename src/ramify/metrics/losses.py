"""Hierarchical losses: HMC-loss, symmetric loss, H-loss, hierarchical Hamming loss."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ramify import _core
from ramify.data.rows import as_label_rows, indicator
from ramify.labels.hierarchy import Hierarchy
from ramify.metrics.inputs import (
    LabelChoice,
    LabelMatrices,
    Truth,
    choose_labels,
    read_label_matrices,
    read_truth,
    read_weights,
    unknown_cells,
    width,
    without_cells,
)

Costs: TypeAlias = Literal["shared", "uniform"] | ArrayLike


def hmc_loss(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy | None = None,
    labels: LabelChoice = "all",
    alpha: float = 1.0,
    beta: float = 1.0,
    costs: Costs = "shared",
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""HMC-loss: every wrong label has a cost, which is higher near the top of the hierarchy.

    .. math:: \frac{1}{n} \sum_i \Big( \alpha \sum_{c \in Y_i \setminus \hat Y_i} c_c +
              \beta \sum_{c \in \hat Y_i \setminus Y_i} c_c \Big)

    For labels without positive rows and for rows without labels, the cost of all predicted labels
    is added.

    Parameters
    ----------
    y_true, y_pred : label matrices or labels in any format
        True and predicted label sets, one per row.
    hierarchy : Hierarchy, optional
        Required if `costs` is "shared".
    labels : {"all", "leaves"}, int or sequence of labels
        The labels to evaluate; an int is a level, counted from 1 at the top.
    alpha, beta : float
        Weights of a missed and of a wrongly predicted label. The usual choice is alpha + beta =
        2 and alpha = lambda beta, where lambda is the `label_imbalance` of the training labels.
    costs : {"shared", "uniform"} or array-like of shape (n_labels,)
        "shared": the cost of a parent is divided among its children, starting with 1 at the
        root (see `Hierarchy.costs`); "uniform": 1 for every label.
    sample_weight : array-like of shape (n,), optional
        Sample weights.

    Returns
    -------
    float
        0 is best; there is no fixed upper bound.

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> from ramify.metrics import hmc_loss
    >>> animals = Hierarchy.from_paths(["bird", "mammal/cat", "mammal/dog"])
    >>> hmc_loss([[0, 1, 1, 0]], [[0, 1, 0, 1]], hierarchy=animals)
    0.5
    >>> hmc_loss([[0, 1, 1, 0]], [[1, 0, 0, 0]], hierarchy=animals)
    1.25
    """
    pair = read_label_matrices(y_true, y_pred, hierarchy)
    truth, predicted = pair.truth, without_cells(pair.predicted, pair.unknown)
    cost = _costs_of(costs, hierarchy, labels, truth.shape[1])
    shared = truth.multiply(predicted)
    losses = alpha * ((truth - shared) @ cost) + beta * ((predicted - shared) @ cost)
    return _row_mean(losses, sample_weight, pair, choose_labels(labels, hierarchy, len(cost)))


def symmetric_loss(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy | None = None,
    labels: LabelChoice = "all",
    alpha: float = 1.0,
    costs: Costs = "shared",
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Symmetric loss weighted by the hierarchy and by the kind of mistake.

    .. math:: \frac{1}{n} \sum_i \Big( \sum_{c \in \hat Y_i \setminus Y_i} \frac{2 c_c}{1 + \alpha}
              + \sum_{c \in Y_i \setminus \hat Y_i} \frac{2 \alpha c_c}{1 + \alpha} \Big)

    This is the HMC-loss with the weights :math:`2\alpha/(1+\alpha)` and :math:`2/(1+\alpha)`.

    Parameters
    ----------
    y_true, y_pred, hierarchy, labels, costs, sample_weight
        As in `hmc_loss`.
    alpha : float
        Weight of a missed label relative to a wrongly predicted one. The usual choice is the
        `label_imbalance` of the training labels.

    Returns
    -------
    float
        0 is best; there is no fixed upper bound.

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> from ramify.metrics import symmetric_loss
    >>> animals = Hierarchy.from_paths(["bird", "mammal/cat", "mammal/dog"])
    >>> symmetric_loss([[0, 1, 1, 0]], [[0, 1, 0, 0]], hierarchy=animals, alpha=3)
    0.375
    """
    if not alpha >= 0:
        raise ValueError(f"alpha must be a number >= 0, got {alpha!r}.")
    return hmc_loss(
        y_true,
        y_pred,
        hierarchy=hierarchy,
        labels=labels,
        alpha=2 * alpha / (1 + alpha),
        beta=2 / (1 + alpha),
        costs=costs,
        sample_weight=sample_weight,
    )


def label_imbalance(y: Any, *, hierarchy: Hierarchy | None = None) -> float:
    """Return the number of negative (row, label) cells per positive cell.

    Parameters
    ----------
    y : label matrix or labels in any format
        Training labels.
    hierarchy : Hierarchy, optional
        Required if `y` is not a matrix.

    Returns
    -------
    float
        Infinity if there is no positive cell.

    Examples
    --------
    >>> from ramify.metrics import label_imbalance
    >>> label_imbalance([[1, 0, 0], [1, 0, 0]])
    2.0
    """
    truth, partial = read_truth(y, hierarchy, width(y, hierarchy), "y")
    unknown = unknown_cells(partial)
    n_cells = truth.shape[0] * truth.shape[1] - (0 if unknown is None else unknown.nnz)
    return float((n_cells - truth.nnz) / truth.nnz) if truth.nnz else np.inf


def h_loss(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy | None = None,
    labels: LabelChoice = "all",
    costs: Costs = "shared",
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""H-loss: only the first error on each path from the top has a cost.

    .. math:: \frac{1}{n} \sum_i \sum_c c_c \,
              [\hat y_{ic} \ne y_{ic} \wedge \hat y_{ia} = y_{ia} \;\forall a \in anc(c)]

    Parameters
    ----------
    y_true, y_pred, hierarchy, labels, costs, sample_weight
        As in `hmc_loss`. Errors of labels that are not chosen still count as errors of ancestors.

    Returns
    -------
    float
        0 is best.

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> from ramify.metrics import h_loss
    >>> animals = Hierarchy.from_paths(["bird", "mammal/cat", "mammal/dog"])
    >>> h_loss([[0, 1, 1, 0]], [[1, 0, 0, 0]], hierarchy=animals)
    1.0
    """
    pair = read_label_matrices(y_true, y_pred, hierarchy)
    truth, predicted = pair.truth, without_cells(pair.predicted, pair.unknown)
    cost = _costs_of(costs, hierarchy, labels, truth.shape[1])
    losses = []
    for wrong, inherited in _mistakes(truth, predicted, hierarchy):
        first = wrong - wrong.multiply(inherited)
        losses.append(first @ cost)
    chosen = choose_labels(labels, hierarchy, len(cost))
    return _row_mean(np.concatenate(losses), sample_weight, pair, chosen)


def hierarchical_hamming_loss(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy | None = None,
    labels: LabelChoice = "all",
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Hierarchy-aware Hamming loss: a label is wrong if it or any ancestor is wrong.

    .. math:: \frac{1}{n C} \sum_i \sum_c
              [\hat y_{ic} \ne y_{ic} \vee \exists a \in anc(c): \hat y_{ia} \ne y_{ia}]

    Parameters
    ----------
    y_true, y_pred, hierarchy, labels, sample_weight
        As in `hmc_loss`. Errors of labels that are not chosen are inherited as well.

    Returns
    -------
    float
        0 is best, 1 is worst. It is never below `hamming_loss`.

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> from ramify.metrics import hierarchical_hamming_loss
    >>> animals = Hierarchy.from_paths(["bird", "mammal/cat", "mammal/dog"])
    >>> hierarchical_hamming_loss([[0, 1, 1, 0]], [[0, 0, 0, 0]], hierarchy=animals)
    0.75
    """
    pair = read_label_matrices(y_true, y_pred, hierarchy)
    truth, predicted = pair.truth, without_cells(pair.predicted, pair.unknown)
    chosen = choose_labels(labels, hierarchy, truth.shape[1])
    counted = np.zeros(truth.shape[1])
    counted[chosen] = 1.0 / len(chosen)
    losses: list[Any] = []
    unknown, start = pair.unknown, 0
    for wrong, inherited in _mistakes(truth, predicted, hierarchy):
        either = wrong + inherited - wrong.multiply(inherited)
        if unknown is not None:
            either = without_cells(either, unknown[start : start + either.shape[0]])
        losses.append(either @ counted)
        start += either.shape[0]
    if unknown is None:
        return _row_mean(np.concatenate(losses), sample_weight, pair, chosen)
    weights, n_known = pair.row_weights(sample_weight, chosen)
    n_cells = float(weights @ n_known)
    wrong_cells = len(chosen) * float(weights @ np.concatenate(losses))
    return wrong_cells / n_cells if n_cells > 0 else np.nan


_CELLS_AT_A_TIME = 4_000_000


def _mistakes(
    truth: Truth, predicted: Truth, hierarchy: Hierarchy | None
) -> Iterator[tuple[Any, Any]]:
    """Yield 0/1 matrices: the label is wrong; an ancestor of it is wrong.

    The second can be nearly dense; blocks of rows bound its size.
    """
    n_rows, n_labels = truth.shape
    if hierarchy is None:
        hierarchy = Hierarchy.from_labels(range(n_labels))
    children = indicator(hierarchy.child_rows, n_labels)
    step = max(1, _CELLS_AT_A_TIME // n_labels)
    for start in range(0, n_rows, step):
        part, other = truth[start : start + step], predicted[start : start + step]
        wrong = part + other - 2 * part.multiply(other)
        below = wrong @ children
        below.eliminate_zeros()
        rows = _core.close_upwards(
            as_label_rows(below), _core.LabelRows(*hierarchy.child_rows, n_labels)
        )
        yield wrong, indicator(rows, n_labels)


def _costs_of(
    costs: Costs, hierarchy: Hierarchy | None, labels: LabelChoice, n_labels: int
) -> NDArray[np.float64]:
    """Return one cost per column, 0 for labels that are not chosen."""
    if isinstance(costs, str) and costs == "shared":
        if hierarchy is None:
            raise ValueError(
                "costs='shared' requires a hierarchy, got hierarchy=None. Pass hierarchy, or use "
                "costs='uniform'."
            )
        values = hierarchy.costs()
    elif isinstance(costs, str) and costs == "uniform":
        values = np.ones(n_labels)
    else:
        values = _cost_array(costs, n_labels)
    chosen = choose_labels(labels, hierarchy, n_labels)
    counted = np.zeros(n_labels)
    counted[chosen] = values[chosen]
    return counted


def _cost_array(costs: ArrayLike, n_labels: int) -> NDArray[np.float64]:
    if isinstance(costs, str):
        raise ValueError(f"costs must be 'shared', 'uniform' or an array, got {costs!r}.")
    values = np.asarray(costs, dtype=np.float64)
    if values.shape != (n_labels,):
        raise ValueError(
            f"costs must have shape ({n_labels},), got {values.shape}. Pass one cost per label."
        )
    return values


def _row_mean(
    values: Any, sample_weight: ArrayLike | None, pair: LabelMatrices, chosen: NDArray[np.int32]
) -> float:
    """Return the mean over the rows that know one of the chosen labels; NaN if there are none."""
    if pair.partial is None:
        return float(np.average(values, weights=read_weights(sample_weight, len(values))))
    weights, _ = pair.row_weights(sample_weight, chosen)
    return float(np.average(values, weights=weights)) if weights.any() else np.nan
