"""Plot of the graph of related labels of BR-DT."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ramify._messages import import_extra
from ramify._validation import check_number
from ramify.brdt.classifier import BRDTClassifier
from ramify.inspection.related_labels import RelatedLabels, relate_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_label_graph"]


def plot_label_graph(
    model: BRDTClassifier, *, ax: Axes | None = None, max_labels: int = 60
) -> Axes:
    """Plot which labels are related, as found by `BRDTClassifier`.

    The area of a node is proportional to the fraction of rows with the label. The more accurate
    the rules between two labels are, the darker and wider is their edge. Groups of related labels
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
    check_number("max_labels", max_labels, 1, whole=True)
    pyplot = import_extra("matplotlib.pyplot", "plot")
    related = relate_labels(model, max_labels)
    if ax is None:
        _, ax = pyplot.subplots(figsize=(9, 7), layout="constrained")
    _draw_edges(related, ax)
    _draw_labels(related, pyplot.get_cmap("tab10"), ax)
    title = (
        f"{len(model.classes_)} labels in {related.n_groups} group{'s' * (related.n_groups != 1)}"
    )
    left_out = f", the {len(related.labels)} most frequent labels" if related.n_left_out else ""
    ax.set_title(title + left_out)
    ax.set_axis_off()
    ax.set_aspect("equal")
    ax.margins(0.12)
    return ax


def _draw_edges(related: RelatedLabels, ax: Axes) -> None:
    """Draw edges by accuracy, the least accurate first, with a legend of both ends."""
    if not related.edges:
        return
    low, high = related.edges[0][2], related.edges[-1][2]
    for one, other, accuracy in related.edges:
        part = (accuracy - low) / (high - low) if high > low else 1.0
        ends = related.labels[one], related.labels[other]
        named = accuracy in (low, high) and f"{accuracy:.2f}" not in _legend_texts(ax)
        ax.plot(
            [label.x for label in ends],
            [label.y for label in ends],
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


def _draw_labels(related: RelatedLabels, colours: Any, ax: Axes) -> None:
    for label in related.labels:
        colour = colours(label.group % 10) if label.group >= 0 else "0.8"
        size = 60 + 2400 * label.share
        ax.scatter([label.x], [label.y], s=size, color=[colour], alpha=0.75, zorder=2)
        text = f"{label.name}\n{label.share:.0%}"
        ax.text(label.x, label.y, text, ha="center", va="center", fontsize=8, zorder=3)
