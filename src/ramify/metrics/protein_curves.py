"""Averages over rows at every threshold, as the CAFA challenges define them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ramify._messages import import_extra
from ramify.metrics.reports import Report

if TYPE_CHECKING:
    from matplotlib.axes import Axes


Vector: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class ThresholdAverages:
    """Averages over rows, one entry per threshold; labels have weight 1 or their information.

    Attributes
    ----------
    n : ndarray
        Number of rows with a prediction.
    coverage : ndarray
        Fraction of the rows with a prediction.
    tp, fp, fn : ndarray
        Mean sum over the correctly predicted, the wrongly predicted and the missed labels.
    precision : ndarray
        Mean precision of the rows with a prediction; NaN if there is none.
    recall : ndarray
        Mean recall.
    """

    n: Vector
    coverage: Vector
    tp: Vector
    fp: Vector
    fn: Vector
    precision: Vector
    recall: Vector

    @property
    def f1(self) -> Vector:
        """Harmonic mean of precision and recall; 0 if nothing is predicted."""
        return _f1(self.precision, self.recall, self.coverage)

    @property
    def micro_precision(self) -> Vector:
        """Precision of all rows together; NaN if nothing is predicted."""
        return _ratio(self.tp, self.tp + self.fp, np.nan)

    @property
    def micro_recall(self) -> Vector:
        """Recall of all rows together."""
        return _ratio(self.tp, self.tp + self.fn, 0.0)

    @property
    def micro_f1(self) -> Vector:
        """Harmonic mean of the precision and recall of all rows together."""
        return _f1(self.micro_precision, self.micro_recall, self.coverage)

    @property
    def distance(self) -> Vector:
        """Euclidean length of (fn, fp)."""
        return np.hypot(self.fn, self.fp)


def _ratio(part: Vector, whole: Vector, empty: float) -> Vector:
    ratio = np.where(np.isnan(whole), np.nan, empty)
    np.divide(part, whole, out=ratio, where=whole > 0)
    return ratio


def _f1(precision: Vector, recall: Vector, coverage: Vector) -> Vector:
    """Return the harmonic mean: 0 if nothing is predicted, NaN if there are no rows."""
    precision = np.where(coverage == 0, 0.0, precision)
    recall = np.where(coverage == 0, 0.0, recall)
    total = precision + recall
    f1 = np.where(np.isnan(total), np.nan, 0.0)
    np.divide(2 * precision * recall, total, out=f1, where=total > 0)
    return f1


@dataclass(frozen=True)
class ProteinCurve:
    """Averages over rows at every threshold, as the CAFA challenges define them.

    Attributes
    ----------
    thresholds : ndarray
        Increasing thresholds. A label is predicted if its score is at least the threshold.
    plain : ThresholdAverages
        Averages in which every label has weight 1.
    weighted : ThresholdAverages
        Averages in which every label is weighted by its information content; labels without
        information do not count.
    """

    thresholds: Vector
    plain: ThresholdAverages
    weighted: ThresholdAverages

    @property
    def coverage(self) -> Vector:
        """Fraction of the rows that have a prediction."""
        return self.plain.coverage

    @property
    def precision(self) -> Vector:
        """Mean over the rows with a prediction; NaN if there is none."""
        return self.plain.precision

    @property
    def recall(self) -> Vector:
        """Mean over all rows that have labels."""
        return self.plain.recall

    @property
    def f1(self) -> Vector:
        """Harmonic mean of precision and recall; 0 if nothing is predicted."""
        return self.plain.f1

    @property
    def remaining_uncertainty(self) -> Vector:
        """Mean information content of the missed labels."""
        return self.weighted.fn

    @property
    def misinformation(self) -> Vector:
        """Mean information content of the wrongly predicted labels."""
        return self.weighted.fp

    @property
    def semantic_distance(self) -> Vector:
        """Euclidean length of (remaining uncertainty, misinformation)."""
        return self.weighted.distance

    def averages(self, *, weighted: bool = False) -> ThresholdAverages:
        """Return `weighted` or `plain`.

        Parameters
        ----------
        weighted : bool
            Whether to return `weighted`.

        Returns
        -------
        ThresholdAverages
            The averages.
        """
        return self.weighted if weighted else self.plain

    def f_max(self, *, weighted: bool = False, average: str = "samples") -> float:
        """Return the largest F1 over the thresholds with a prediction.

        Parameters
        ----------
        weighted : bool
            Whether labels are weighted by their information content.
        average : {"samples", "micro"}
            Whether precision and recall are those of the rows, averaged, or of all rows together.

        Returns
        -------
        float
            NaN if there are no rows.
        """
        return float(self._f1_of(weighted, average)[self._rows()].max())

    def best_threshold(self, *, weighted: bool = False, average: str = "samples") -> float:
        """Return the smallest threshold with the largest F1.

        Parameters
        ----------
        weighted, average
            As in `f_max`.

        Returns
        -------
        float
            A member of `thresholds`.
        """
        rows = self._rows()
        return float(self.thresholds[rows[int(self._f1_of(weighted, average)[rows].argmax())]])

    def _f1_of(self, weighted: bool, average: str) -> Vector:
        if average not in ("samples", "micro"):
            raise ValueError(f"average must be 'samples' or 'micro', got {average!r}.")
        averages = self.averages(weighted=weighted)
        return averages.f1 if average == "samples" else averages.micro_f1

    def s_min(self) -> float:
        """Return the smallest semantic distance over the thresholds with a prediction.

        Returns
        -------
        float
            If no threshold has a prediction, the distance of predicting nothing; NaN if there are
            no rows.
        """
        return float(self.semantic_distance[self._rows()].min())

    def _rows(self) -> NDArray[np.intp]:
        """Return the thresholds with a prediction, or all if there is none."""
        predicted = np.flatnonzero(self.plain.n > 0)
        return predicted if len(predicted) else np.arange(len(self.thresholds))

    def table(self) -> Report:
        """Return all figures, in the columns of CAFA's evaluator.

        Returns
        -------
        Report
            One row per threshold with a prediction. Columns tau (the threshold), n, tp, fp, fn,
            pr, rc, cov, mi, ru, f, s, pr_micro, rc_micro and f_micro, and the same again with
            labels weighted by their information, such as pr_w.
        """
        rows = np.flatnonzero(self.plain.n > 0)
        columns = {"tau": self.thresholds}
        for averages, suffix in ((self.plain, ""), (self.weighted, "_w")):
            columns |= {f"{k}{suffix}": v for k, v in _table_columns(averages).items()}
        return Report({name: values[rows].tolist() for name, values in columns.items()})


def _table_columns(averages: ThresholdAverages) -> dict[str, Vector]:
    """Return the columns of CAFA's evaluator, in which undefined values are 0."""
    a = averages
    columns = {
        "n": a.n,
        "tp": a.tp,
        "fp": a.fp,
        "fn": a.fn,
        "pr": a.precision,
        "rc": a.recall,
        "cov": a.coverage,
        "mi": a.fp,
        "ru": a.fn,
        "f": a.f1,
        "s": a.distance,
        "pr_micro": a.micro_precision,
        "rc_micro": a.micro_recall,
        "f_micro": a.micro_f1,
    }
    return {name: np.nan_to_num(values) for name, values in columns.items()}


# ---- plots ----------------------------------------------------------------------------------


def plot_protein_curves(
    curves: Mapping[str, ProteinCurve],
    *,
    weighted: bool = False,
    axes: Sequence[Axes] | None = None,
) -> Sequence[Axes]:
    """Plot precision-recall curves, and remaining uncertainty against misinformation.

    Dots mark the threshold of F-max on the left and of S-min on the right; dotted lines connect
    points of equal F1.

    Parameters
    ----------
    curves : mapping of str to ProteinCurve
        One curve per model or namespace, by name.
    weighted : bool
        Whether precision and recall weight labels by their information.
    axes : two matplotlib.axes.Axes, optional
        Axes to draw on. By default, a new figure is created.

    Returns
    -------
    sequence of two matplotlib.axes.Axes
        The axes drawn on.

    Examples
    --------
    >>> from ramify.metrics import plot_protein_curves, protein_curve
    >>> curve = protein_curve([[1, 1], [1, 0]], [[0.9, 0.4], [0.8, 0.5]])
    >>> left, right = plot_protein_curves({"model": curve})  # doctest: +SKIP
    """
    left, right = _new_axes() if axes is None else axes
    _draw_equal_f1(left)
    for name, curve in curves.items():
        rows = np.flatnonzero(curve.plain.n > 0)
        averages = curve.averages(weighted=weighted)
        f_max = curve.f_max(weighted=weighted)
        kind = "weighted " if weighted else ""
        label = f"{name} ({kind}F-max {f_max:.3f})"
        _draw(left, averages.recall[rows], averages.precision[rows], averages.f1[rows], label)
        label = f"{name} (S-min {curve.s_min():.2f})"
        missed, wrong = curve.remaining_uncertainty[rows], curve.misinformation[rows]
        _draw(right, missed, wrong, -curve.semantic_distance[rows], label)
    kind = "Weighted " if weighted else ""
    left.set(xlabel=f"{kind}recall".capitalize(), ylabel=f"{kind}precision".capitalize())
    left.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
    right.set(xlabel="Remaining uncertainty (bits)", ylabel="Misinformation (bits)")
    right.set_xlim(left=0)
    # At low thresholds, misinformation is many times the uncertainty, far from any best point.
    most = max(float(c.remaining_uncertainty.max()) for c in curves.values())
    right.set_ylim(0, min(right.get_ylim()[1], 2 * most) if most > 0 else None)
    for ax in (left, right):
        ax.legend(fontsize="small")
    return left, right


def _draw(ax: Axes, x: Any, y: Any, quality: Any, label: str) -> None:
    """Draw a curve and a dot where its quality is best."""
    (line,) = ax.plot(x, y, label=label)
    if len(x):
        best = int(np.nanargmax(quality))
        ax.plot(x[best], y[best], "o", color=line.get_color())


def _draw_equal_f1(ax: Axes) -> None:
    for f1 in (0.2, 0.4, 0.6, 0.8):
        recall = np.linspace(f1 / (2 - f1), 1, 100)
        ax.plot(recall, f1 * recall / (2 * recall - f1), ":", color="lightgray", lw=1, zorder=0)
        ax.annotate(f"{f1}", (1, f1 / (2 - f1)), fontsize="x-small", color="gray", ha="right")


def _new_axes() -> Sequence[Axes]:
    plt = import_extra("matplotlib.pyplot", "plot")
    axes: Sequence[Axes] = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")[1]
    return axes
