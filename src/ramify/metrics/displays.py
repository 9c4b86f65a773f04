"""Plots of curves, of models beside each other, and of one prediction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ramify._messages import import_extra
from ramify._validation import check_choice
from ramify.labels.encoding import read_labels
from ramify.labels.hierarchy import Hierarchy
from ramify.metrics.answers import AnswerCurve, level_calibration
from ramify.metrics.curves import By, precision_recall_curves, roc_curves
from ramify.metrics.hierarchical import level_accuracy
from ramify.metrics.inputs import LabelChoice
from ramify.metrics.losses import hierarchical_hamming_loss
from ramify.metrics.scorers import hierarchy_of, scores_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_MOST_IN_LEGEND = 12
_Display = TypeVar("_Display", bound="CurveDisplay")


class CurveDisplay(ABC):
    """Base class of the displays below: curves on one plot.

    Parameters
    ----------
    curves : sequence of curves
        The curves to draw.
    """

    def __init__(self, curves: Sequence[Any]) -> None:
        self.curves = curves

    @classmethod
    def from_estimator(
        cls: type[_Display],
        estimator: Any,
        X: Any,
        y: Any,
        *,
        hierarchy: Hierarchy | None = None,
        labels: LabelChoice = "all",
        by: By = "pooled",
        sample_weight: ArrayLike | None = None,
        ax: Axes | None = None,
        **line_kw: Any,
    ) -> _Display:
        """Draw the curves of a fitted estimator.

        Parameters
        ----------
        estimator : estimator with predict_proba
            A fitted estimator.
        X : array-like
            Feature matrix.
        y : label matrix or labels in any format
            True labels of the rows of X.
        hierarchy : Hierarchy, optional
            By default, the estimator's ``hierarchy_``.
        labels : {"all", "leaves"}, int or sequence of labels
            The labels to evaluate.
        by : {"pooled", "label", "level"}
            Whether to draw one curve for all labels, one per label or one per level.
        sample_weight : array-like of shape (n,), optional
            Sample weights.
        ax : matplotlib.axes.Axes, optional
            Axes to draw on. By default, a new figure is created.
        **line_kw
            Passed to ``ax.plot``.

        Returns
        -------
        display
            The display object.
        """
        scores = scores_of(estimator, X)
        if hierarchy is None:
            hierarchy = hierarchy_of(estimator, y, scores.shape[1])
        return cls.from_predictions(
            y,
            scores,
            hierarchy=hierarchy,
            labels=labels,
            by=by,
            sample_weight=sample_weight,
            ax=ax,
            **line_kw,
        )

    @classmethod
    def from_predictions(
        cls: type[_Display],
        y_true: Any,
        y_score: Any,
        *,
        hierarchy: Hierarchy | None = None,
        labels: LabelChoice = "all",
        by: By = "pooled",
        sample_weight: ArrayLike | None = None,
        ax: Axes | None = None,
        **line_kw: Any,
    ) -> _Display:
        """Draw the curves of the given scores.

        Parameters
        ----------
        y_true, y_score, hierarchy, labels, by, sample_weight
            As in `precision_recall_curves`.
        ax : matplotlib.axes.Axes, optional
            Axes to draw on. By default, a new figure is created.
        **line_kw
            Passed to ``ax.plot``.

        Returns
        -------
        display
            The display object.
        """
        curves = cls._compute(
            y_true,
            y_score,
            hierarchy=hierarchy,
            labels=labels,
            by=by,
            sample_weight=sample_weight,
        )
        return cls(curves).plot(ax, **line_kw)

    def plot(self: _Display, ax: Axes | None = None, **line_kw: Any) -> _Display:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw on. By default, a new figure is created.
        **line_kw
            Passed to ``ax.plot``.

        Returns
        -------
        display
            This object.
        """
        self.ax_ = _new_axes() if ax is None else ax
        self.figure_ = self.ax_.figure
        self.lines_ = []
        for curve in self.curves:
            style = {"label": f"{curve.name} (area {curve.area:.3f})", **line_kw}
            self.lines_ += self.ax_.plot(*self._points(curve), **style)
        self._finish(self.ax_)
        return self

    @staticmethod
    @abstractmethod
    def _compute(*arguments: Any, **options: Any) -> Sequence[Any]:
        """Compute the curves from labels and scores."""

    @staticmethod
    @abstractmethod
    def _points(curve: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the x and y coordinates of a curve."""

    @abstractmethod
    def _finish(self, ax: Axes) -> None:
        """Label the axes and add reference lines and a legend."""

    def _frame(
        self, ax: Axes, x: str, y: str, place: Literal["lower left", "lower right"]
    ) -> None:
        ax.set(xlabel=x, ylabel=y, xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")
        # A legend of hundreds of labels would cover the plot.
        if 0 < len(self.curves) <= _MOST_IN_LEGEND:
            ax.legend(loc=place, fontsize="small")


class PrecisionRecallDisplay(CurveDisplay):
    """Precision-recall curves on one plot, with correct interpolation.

    Create it with `from_estimator` or `from_predictions`; `plot` draws the curves again. For a
    single curve, a dotted line shows the precision of a random ranking.

    Parameters
    ----------
    curves : sequence of PrecisionRecallCurve
        The curves to draw.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes drawn on.
    figure_ : matplotlib.figure.Figure
        Their figure.
    lines_ : list of matplotlib.lines.Line2D
        One line per curve.

    Examples
    --------
    >>> from ramify.metrics import PrecisionRecallDisplay
    >>> y_true, y_score = [[1, 1], [1, 0]], [[0.9, 0.4], [0.8, 0.5]]
    >>> display = PrecisionRecallDisplay.from_predictions(y_true, y_score)  # doctest: +SKIP
    """

    _compute = staticmethod(precision_recall_curves)

    @staticmethod
    def _points(curve: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return curve.recall, curve.precision

    def _finish(self, ax: Axes) -> None:
        if len(self.curves) == 1:
            ax.axhline(self.curves[0].prevalence, color="gray", linestyle=":", lw=1)
        self._frame(ax, "Recall", "Precision", "lower left")


class RocDisplay(CurveDisplay):
    """ROC curves on one plot.

    Create it with `from_estimator` or `from_predictions`; `plot` draws the curves again.

    Parameters
    ----------
    curves : sequence of RocCurve
        The curves to draw.

    Attributes
    ----------
    ax_, figure_, lines_
        As in `PrecisionRecallDisplay`.

    Examples
    --------
    >>> from ramify.metrics import RocDisplay
    >>> y_true, y_score = [[1, 1], [1, 0]], [[0.9, 0.4], [0.8, 0.5]]
    >>> display = RocDisplay.from_predictions(y_true, y_score)  # doctest: +SKIP
    """

    _compute = staticmethod(roc_curves)

    @staticmethod
    def _points(curve: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return curve.false_positive_rate, curve.true_positive_rate

    def _finish(self, ax: Axes) -> None:
        ax.plot([0, 1], [0, 1], color="gray", linestyle=":", lw=1)
        self._frame(ax, "False positive rate", "True positive rate", "lower right")


def _new_axes() -> Axes:
    ax: Axes = import_extra("matplotlib.pyplot", "plot").subplots(layout="constrained")[1]
    return ax


# ---- models beside each other ---------------------------------------------------------------


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


def plot_answer_curves(
    curves: AnswerCurve | Mapping[str, AnswerCurve],
    *,
    kind: Literal["levels", "coverage"] = "levels",
    ax: Axes | None = None,
) -> Axes:
    """Plot how specific answers are against how often they are wrong.

    Parameters
    ----------
    curves : AnswerCurve or mapping of name to AnswerCurve
        One curve, or those of several models.
    kind : {"levels", "coverage"}
        "levels": the share of rows with an answer on each level or below it, against the share of
        wrong answers. "coverage": the share of wrong answers against how specific answers are, one
        line per model (risk and coverage).
    ax : matplotlib.axes.Axes, optional
        Axes to draw on. By default, a new figure is created.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Examples
    --------
    >>> from ramify.metrics import answer_curve, plot_answer_curves
    >>> curve = answer_curve(y_test, scores, hierarchy)  # doctest: +SKIP
    >>> ax = plot_answer_curves(curve)  # doctest: +SKIP
    """
    check_choice("kind", kind, ("levels", "coverage"))
    ax = _new_axes() if ax is None else ax
    named = {"": curves} if isinstance(curves, AnswerCurve) else curves
    for name, curve in named.items():
        if kind == "coverage":
            area = f"{curve.aurc:.3f}"
            ax.plot(curve.coverage, curve.risk, label=f"{name} ({area})" if name else area)
            continue
        for level, reached in enumerate(curve.reached.T, start=1):
            ax.plot(curve.risk, reached, label=f"{name} level {level}".strip())
    ax.set(ylim=(0, None))
    if kind == "coverage":
        ax.set(xlabel="Coverage", ylabel="Share of wrong answers", xlim=(0, 1))
        ax.legend(fontsize="small", title="Area under the curve")
    else:
        ax.set(xlabel="Share of wrong answers", ylabel="Rows with an answer", xlim=(0, None))
        ax.legend(fontsize="small", title="Down to")
    return ax


def plot_level_calibration(
    y_true: Any,
    y_score: Any,
    *,
    hierarchy: Hierarchy,
    n_bins: int = 10,
    sample_weight: ArrayLike | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Plot how often the most probable label of each level is right, by its probability.

    Parameters
    ----------
    y_true, y_score, hierarchy, n_bins, sample_weight
        As in `level_calibration`.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on. By default, a new figure is created.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on, with one line per level. The legend shows the mean distance from the
        diagonal, weighted by the numbers of rows (expected calibration error).

    Examples
    --------
    >>> from ramify.metrics import plot_level_calibration
    >>> ax = plot_level_calibration(y_test, scores, hierarchy=hierarchy)  # doctest: +SKIP
    """
    report = level_calibration(
        y_true, y_score, hierarchy, n_bins=n_bins, sample_weight=sample_weight
    )
    ax = _new_axes() if ax is None else ax
    ax.plot([0, 1], [0, 1], color="grey", linestyle=":")
    found = {name: np.array(values) for name, values in report.columns.items()}
    for level in range(1, hierarchy.depth + 1):
        rows, means, right = (
            found[name][found["level"] == level] for name in ("rows", "probability", "right")
        )
        error = np.sum(rows * np.abs(means - right))
        ax.plot(means, right, "o-", label=f"level {level} ({error:.3f})")
    ax.set(xlabel="Probability", ylabel="Share that is right", xlim=(0, 1), ylim=(0, 1))
    ax.legend(fontsize="small", title="Calibration error")
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
            style: dict[str, Any] = {"rotation": 30, "size": 8, "parse_math": False}
            ax.annotate(name, place, (3, 6), textcoords="offset points", **style)
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
