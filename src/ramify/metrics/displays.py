"""Plots of curves, in the style of scikit-learn's displays."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ramify.labels.hierarchy import Hierarchy
from ramify.metrics.curves import By, precision_recall_curves, roc_curves
from ramify.metrics.inputs import LabelChoice
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
    try:
        import matplotlib.pyplot as plt  # noqa: PLC0415 (optional)
    except ImportError as error:
        raise ImportError(
            "matplotlib is required but not installed. Run: pip install 'ramify[plot]'"
        ) from error
    return plt.subplots(layout="constrained")[1]
