"""Plot of the graph of related labels of BR-DT."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ramify._validation import check_number, import_extra
from ramify.brdt.classifier import BRDTClassifier

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_label_graph"]


def plot_label_graph(
    model: BRDTClassifier, *, ax: Axes | None = None, max_labels: int = 60
) -> Axes:
    """Plot which labels are related, as found by `BRDTClassifier`.

    The area of a node is proportional to the share of rows with the label. Edges between labels
    are darker and wider the more accurate the rules between them are. Groups of related labels
    have one colour each; labels that are related to no other are grey.

    Parameters
    ----------
    model : BRDTClassifier
        A fitted model.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on. By default, a new figure is created.
    max_labels : int
        Maximum number of labels; the most frequent ones are shown.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Examples
    --------
    >>> from ramify import BRDTClassifier
    >>> from ramify.inspection import plot_label_graph
    >>> X = [[float(i)] for i in range(12)]
    >>> model = BRDTClassifier().fit(X, [["cat", "purrs"]] * 6 + [["dog", "barks"]] * 6)
    >>> plot_label_graph(model).get_title()
    '4 labels in 1 group'
    """
    if not isinstance(model, BRDTClassifier):
        raise TypeError(f"model must be a BRDTClassifier, got {type(model).__name__}.")
    check_is_fitted(model)
    check_number("max_labels", max_labels, 1, whole=True)
    pyplot = import_extra("matplotlib.pyplot", "plot")
    graph = model.to_networkx()
    shown = sorted(graph, key=lambda label: -graph.nodes[label]["share"])[:max_labels]
    graph = graph.subgraph(shown)
    groups = [part for part in model.components_ if len(part) > 1]
    if ax is None:
        _, ax = pyplot.subplots(figsize=(9, 7), layout="constrained")
    places = _place(shown, groups)
    _draw_edges(graph, places, ax)
    _draw_labels(graph, places, groups, pyplot.get_cmap("tab10"), ax)
    n_groups = len(model.components_)
    title = f"{len(model.classes_)} labels in {n_groups} group{'s' * (n_groups != 1)}"
    left_out = len(model.classes_) - len(shown)
    ax.set_title(title + (f", the {len(shown)} most frequent labels" if left_out else ""))
    ax.set_axis_off()
    ax.set_aspect("equal")
    ax.margins(0.12)
    return ax


def _place(shown: list[Any], groups: list[Any]) -> dict[Any, tuple[float, float]]:
    """Place every group on a circle of its own, and unrelated labels in rows below."""
    places: dict[Any, tuple[float, float]] = {}
    left = 0.0
    for group in groups:
        part = [label for label in shown if label in group]
        radius = max(0.35, 0.09 * len(part))
        for k, label in enumerate(part):
            angle = np.pi / 2 - 2 * np.pi * k / len(part)
            x, y = radius * np.cos(angle), radius * np.sin(angle)
            places[label] = (left + radius + x, y)
        left += 2 * radius + 0.5
    bottom = min((y for _, y in places.values()), default=0.0)
    alone = [label for label in shown if label not in places]
    n_across = max(8, int(left / 0.3))
    for k, label in enumerate(alone):
        places[label] = (0.3 * (k % n_across), bottom - 0.4 - 0.3 * (k // n_across))
    return places


def _draw_edges(graph: Any, places: Any, ax: Axes) -> None:
    """Draw edges by accuracy, the least accurate first, with a legend of both ends."""
    edges = sorted(graph.edges(data="accuracy", default=1.0), key=lambda edge: edge[2])
    if not edges:
        return
    low, high = edges[0][2], edges[-1][2]
    for one, other, accuracy in edges:
        part = (accuracy - low) / (high - low) if high > low else 1.0
        (x0, y0), (x1, y1) = places[one], places[other]
        named = accuracy in (low, high) and f"{accuracy:.2f}" not in _legend_texts(ax)
        ax.plot(
            [x0, x1],
            [y0, y1],
            color=str(0.75 - 0.6 * part),
            linewidth=0.6 + 2.4 * part,
            zorder=1,
            label=f"{accuracy:.2f}" if named else None,
        )
    ax.legend(
        title="accuracy of the rules", loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False
    )


def _legend_texts(ax: Axes) -> list[str]:
    return ax.get_legend_handles_labels()[1]


def _draw_labels(graph: Any, places: Any, groups: list[Any], colours: Any, ax: Axes) -> None:
    group_of = {label: k for k, part in enumerate(groups) for label in part}
    for label, share in graph.nodes(data="share"):
        colour = colours(group_of[label] % 10) if label in group_of else "0.8"
        x, y = places[label]
        ax.scatter([x], [y], s=60 + 2400 * share, color=[colour], alpha=0.75, zorder=2)
        ax.text(x, y, f"{label}\n{share:.0%}", ha="center", va="center", fontsize=8, zorder=3)
