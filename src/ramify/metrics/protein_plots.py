"""Plots of precision against recall, and of remaining uncertainty against misinformation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ramify.metrics.protein_curves import ProteinCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
    try:
        import matplotlib.pyplot as plt  # noqa: PLC0415 (optional)
    except ImportError as error:
        raise ImportError(
            "matplotlib is required but not installed. Run: pip install 'ramify[plot]'"
        ) from error
    axes: Sequence[Axes] = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")[1]
    return axes
