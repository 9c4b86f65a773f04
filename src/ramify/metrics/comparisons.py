"""Plots that compare models: loss per boosting round, accuracy per level, one prediction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ramify.labels.encoding import read_labels
from ramify.labels.hierarchy import Hierarchy
from ramify.metrics.displays import _new_axes
from ramify.metrics.hierarchical import level_accuracy
from ramify.metrics.losses import hierarchical_hamming_loss

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_RIGHT, _MISSED, _WRONG, _NEITHER = "#2a7f62", "#3b6fb6", "#c8553d", "#d9d9d9"
_MOST_NAMES = 15  # with more labels, only those that are true or predicted are named


def plot_staged_loss(
    estimators: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    loss: Callable[..., float] = hierarchical_hamming_loss,
    every: int = 1,
    ax: Axes | None = None,
) -> Axes:
    """Plot the loss of boosted models against the number of boosting rounds.

    Parameters
    ----------
    estimators : mapping of name to estimator
        Fitted estimators with `staged_predict`.
    X : array-like
        Feature matrix of rows not used for training.
    y : label matrix or labels in any format
        True labels of the rows of X.
    loss : callable
        A function of (truth, predicted, hierarchy=…), such as the losses of `ramify.metrics`.
    every : int
        Compute the loss only every `every` rounds, and for the first and the last round.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on. By default, a new figure is created.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on, with one line per estimator.

    Examples
    --------
    >>> from ramify.metrics import plot_staged_loss
    >>> ax = plot_staged_loss({"AdaBoost.MH": fitted}, X_test, y_test)  # doctest: +SKIP
    """
    if every < 1:
        raise ValueError(f"every must be an integer >= 1, got {every!r}.")
    ax = _new_axes() if ax is None else ax
    for name, estimator in estimators.items():
        hierarchy = estimator.hierarchy_
        truth = read_labels(y, hierarchy).Y
        rounds, losses = [], []
        n_rounds = getattr(estimator, "n_rounds_", None) or estimator.n_iter_
        for k, predicted in enumerate(estimator.staged_predict(X), start=1):
            if k == 1 or k % every == 0 or k == n_rounds:
                rounds.append(k)
                sets = read_labels(predicted, hierarchy).Y
                losses.append(loss(truth, sets, hierarchy=hierarchy))
        ax.plot(rounds, losses, label=name)
    ax.set(xlabel="Rounds", ylabel=getattr(loss, "__name__", "loss").replace("_", " "))
    ax.legend(fontsize="small")
    return ax


def plot_level_accuracy(
    y_true: Any, predictions: Mapping[str, Any], *, hierarchy: Hierarchy, ax: Axes | None = None
) -> Axes:
    """Plot the accuracy on each level of the hierarchy, with one bar per model.

    Parameters
    ----------
    y_true : label matrix or labels in any format
        True label sets.
    predictions : mapping of name to label matrix or labels
        The predictions of each model.
    hierarchy : Hierarchy
        The label hierarchy.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on. By default, a new figure is created.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on; the bar heights are those of `level_accuracy`.

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> from ramify.metrics import plot_level_accuracy
    >>> animals = Hierarchy.from_paths(["bird", "mammal/cat", "mammal/dog"])
    >>> predictions = {"guess": [["bird"], ["mammal/cat"]]}
    >>> y_true = [["bird"], ["mammal/dog"]]
    >>> ax = plot_level_accuracy(y_true, predictions, hierarchy=animals)  # doctest: +SKIP
    """
    ax = _new_axes() if ax is None else ax
    levels = np.arange(1, hierarchy.depth + 1)
    width = 0.8 / max(1, len(predictions))
    for k, (name, predicted) in enumerate(predictions.items()):
        heights = level_accuracy(y_true, predicted, hierarchy=hierarchy, zero_division=0.0)
        ax.bar(levels + (k - (len(predictions) - 1) / 2) * width, heights, width, label=name)
    ax.set(xlabel="Level", ylabel="Accuracy", xticks=levels, ylim=(0, 1))
    ax.legend(fontsize="small")
    return ax


def plot_prediction(
    y_true: Any, y_pred: Any, *, hierarchy: Hierarchy, ax: Axes | None = None
) -> Axes:
    """Plot the true and the predicted labels of one row on the hierarchy.

    Labels that are true or predicted are drawn together with their siblings, level by level.

    Parameters
    ----------
    y_true, y_pred : label matrices of one row, or lists of one label set
        The true and the predicted labels; ancestors are added.
    hierarchy : Hierarchy
        The label hierarchy.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on. By default, a new figure is created.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on. Labels that are true and predicted are green, missed labels blue,
        wrongly predicted labels red and all others grey.

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> from ramify.metrics import plot_prediction
    >>> animals = Hierarchy.from_paths(["bird", "mammal/cat", "mammal/dog"])
    >>> truth, predicted = [["mammal/cat"]], [["mammal/dog"]]
    >>> ax = plot_prediction(truth, predicted, hierarchy=animals)  # doctest: +SKIP
    """
    true, predicted = (read_labels(y, hierarchy).Y for y in (y_true, y_pred))
    if true.shape[0] != 1 or predicted.shape[0] != 1:
        raise ValueError(
            f"y_true and y_pred must have one row each, got {true.shape[0]} and "
            f"{predicted.shape[0]}. Pass a single row."
        )
    ax = _new_axes() if ax is None else ax
    has, gets = (np.asarray(row.toarray()[0] > 0) for row in (true, predicted))
    places = _places(has | gets, hierarchy)
    for label, place in places.items():
        for parent in hierarchy.parents(label):
            if parent in places:
                both = [hierarchy.index(parent), hierarchy.index(label)]
                on_path = bool((has | gets)[both].all())
                (x0, y0), (x1, y1) = places[parent], place
                (line,) = ax.plot([x0, x1], [y0, y1], color=_NEITHER, lw=0.8, zorder=1)
                if on_path:
                    line.set(color="black", lw=1.5)
    for label, place in places.items():
        k = hierarchy.index(label)
        colour = (_RIGHT if gets[k] else _MISSED) if has[k] else (_WRONG if gets[k] else _NEITHER)
        size = 90 if has[k] or gets[k] else 25
        ax.scatter(*place, s=size, color=colour, zorder=2)
        if has[k] or gets[k] or len(places) <= _MOST_NAMES:
            name = str(label).rpartition("/")[2]  # the rest of the path is drawn above
            ax.annotate(name, place, (3, 6), textcoords="offset points", rotation=30, size=8)
    _finish(ax)
    return ax


def _places(marked: NDArray[np.bool_], hierarchy: Hierarchy) -> dict[Any, tuple[float, float]]:
    """Place marked labels and their siblings, one row per level, in the order of the labels."""
    shown: set[Any] = set()
    for label in np.asarray(hierarchy.labels, dtype=object)[marked]:
        parents = hierarchy.parents(label)
        siblings = [c for p in parents for c in hierarchy.children(p)] or hierarchy.levels[0]
        shown.update(siblings)
    places = {}
    for depth, level in enumerate(hierarchy.levels):
        row = [label for label in level if label in shown]
        for k, label in enumerate(row):
            places[label] = ((k + 0.5) / len(row), -float(depth))
    return places


def _finish(ax: Axes) -> None:
    names = {"correct": _RIGHT, "missed": _MISSED, "wrong": _WRONG}
    for name, colour in names.items():
        ax.scatter([], [], color=colour, label=name)
    ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
    ax.margins(0.08, 0.15)
    ax.set_axis_off()
