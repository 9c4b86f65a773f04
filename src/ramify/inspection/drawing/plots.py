"""Plot trees with matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ramify._messages import counted, import_extra
from ramify._validation import check_number
from ramify.inspection.drawing.layout import RelatedLabels, make_picture, relate_labels
from ramify.inspection.drawing.picture import (
    FONT_SIZE,
    LINE_HEIGHT,
    PADDING,
    Box,
    BoxLine,
    Edge,
    Picture,
)
from ramify.inspection.drawing.svg import answer_place, edge_ends, purity_colour
from ramify.inspection.outline import read_choice
from ramify.inspection.summary import summarise_labels
from ramify.local.brdt import BRDTClassifier

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_INK, _GREY, _LINE, _BAR = "#1c2b33", "#5a6a72", "#8fa0a8", "#1d7f8c"
_POINTS_PER_INCH = 72


def plot_tree(
    model: Any,
    *,
    ax: Axes | None = None,
    feature_names: Sequence[Any] | None = None,
    categories: Mapping[Any, Sequence[Any]] | None = None,
    threshold: float = 0.5,
    min_change: float | None = 0.35,
    max_labels: int | None = 8,
    labels: Sequence[Any] | None = None,
    max_depth: int | None = 4,
    max_trees: int | None = 9,
    sideways: bool | None = None,
) -> Axes:
    """Plot a tree or a set of small trees with matplotlib.

    Purer nodes are greener. A leaf shows part of the hierarchy with probabilities as numbers and
    bars. A test shows the number of training rows with a missing value and how they were divided
    among the branches. The width of a branch is proportional to its share of the rows.

    Parameters
    ----------
    model : PCTClassifier, ensemble, local architecture, or other set of trees
        A fitted model; see `summarise`.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on. By default, a new figure is created, large enough for 10-point text.
    feature_names, categories, threshold, min_change
        As in `export_text`.
    max_labels : int, optional
        Maximum number of labels per leaf; those that differ most from the root are shown.
    labels : sequence of labels, optional
        Show exactly these labels in every leaf instead.
    max_depth : int, optional
        Maximum depth to show. Nodes with hidden tests below them have a dashed frame.
    max_trees : int, optional
        Maximum number of trees to show.
    sideways : bool, optional
        Whether to put the root on the left instead of at the top. If None, it is on the left if a
        tree has many leaves.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Examples
    --------
    >>> from ramify import PCTClassifier, load_animals
    >>> animals = load_animals()
    >>> tree = PCTClassifier(animals.hierarchy, max_depth=2).fit(animals.X, animals.y)
    >>> ax = plot_tree(tree)
    >>> ax.figure.savefig("tree.pdf")  # doctest: +SKIP
    """
    if max_trees is not None:
        check_number("max_trees", max_trees, 1, whole=True)
    summary = summarise_labels(model, feature_names, categories)
    choice = read_choice(summary.hierarchy, threshold, min_change, max_labels, labels)
    picture = make_picture(
        summary.trees[:max_trees], choice, max_depth=max_depth, sideways=sideways
    )
    scale = 1.0
    if ax is None:
        pyplot = import_extra("matplotlib.pyplot", "plot")
        size = (picture.width / _POINTS_PER_INCH, picture.height / _POINTS_PER_INCH)
        ax = pyplot.figure(figsize=size).add_axes((0, 0, 1, 1))
    else:
        room = ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
        scale = min(
            room.width * _POINTS_PER_INCH / picture.width,
            room.height * _POINTS_PER_INCH / picture.height,
        )
    _Brush(ax, scale).draw(picture)
    return ax


class _Brush:
    """Draws on axes whose units are points of the picture; text is scaled accordingly."""

    def __init__(self, ax: Axes, scale: float) -> None:
        self.ax = ax
        self.scale = scale

    def draw(self, picture: Picture) -> None:
        self.ax.set_xlim(0, picture.width)
        self.ax.set_ylim(picture.height, 0)
        self.ax.set_aspect("equal")
        self.ax.axis("off")
        for edge in picture.edges:
            self._edge(picture, edge)
        for box in picture.boxes:
            self._box(box)
        for text, x, y in picture.titles:
            self._write(x, y, text, weight="bold", va="baseline")

    def _write(self, x: float, y: float, text: str, **settings: Any) -> None:
        style = {"fontsize": FONT_SIZE * 0.92 * self.scale, "color": _INK, "va": "baseline"}
        self.ax.text(x, y, text, parse_math=False, **{**style, **settings})

    def _edge(self, picture: Picture, edge: Edge) -> None:
        patches = import_extra("matplotlib.patches", "plot")
        path = import_extra("matplotlib.path", "plot").Path
        (x0, y0), (x1, y1) = edge_ends(picture, edge)
        if picture.sideways:
            bends = [((x0 + x1) / 2, y0), ((x0 + x1) / 2, y1)]
        else:
            bends = [(x0, (y0 + y1) / 2), (x1, (y0 + y1) / 2)]
        curve = path([(x0, y0), *bends, (x1, y1)], [path.MOVETO] + 3 * [path.CURVE4])
        width = (0.8 + 4 * edge.share) * self.scale
        self.ax.add_patch(patches.PathPatch(curve, fill=False, edgecolor=_LINE, linewidth=width))
        x, y, anchor = answer_place(picture, edge)
        effects = import_extra("matplotlib.patheffects", "plot")
        halo = [effects.withStroke(linewidth=2 * self.scale, foreground="white")]
        side = {"end": "right", "start": "left"}[anchor]
        self._write(x, y, edge.answer, ha=side, color=_GREY, path_effects=halo)

    def _box(self, box: Box) -> None:
        patches = import_extra("matplotlib.patches", "plot")
        left, top = box.x - box.width / 2, box.y - box.height / 2
        corner = 3 if box.is_leaf or box.is_cut else 9
        frame = patches.FancyBboxPatch(
            (left, top),
            box.width,
            box.height,
            boxstyle=f"round,pad=0,rounding_size={corner}",
            facecolor=purity_colour(box.purity),
            edgecolor="#53656e",
            linewidth=0.8 * self.scale,
            linestyle="--" if box.is_cut else "-",
        )
        self.ax.add_patch(frame)
        for k, line in enumerate(box.lines):
            self._line(box, line, left, top + PADDING + LINE_HEIGHT * k + FONT_SIZE - 2)

    def _line(self, box: Box, line: BoxLine, left: float, y: float) -> None:
        if line.kind != "label":
            small = 0.9 if line.kind == "note" else 1.0
            colour = _GREY if line.kind == "note" else _INK
            size = FONT_SIZE * 0.92 * small * self.scale
            self._write(box.x, y, line.text, ha="center", fontsize=size, color=colour)
            return
        self._write(left + PADDING, y, line.text)
        if line.probability is not None:
            patches = import_extra("matplotlib.patches", "plot")
            corner, length = (left + 1, y - FONT_SIZE), (box.width - 2) * line.probability
            self.ax.add_patch(patches.Rectangle(corner, length, 13, color=_BAR, alpha=0.22, lw=0))
            right = left + box.width - PADDING
            self._write(right, y, f"{line.probability:.2f}", ha="right")


# ---- the graph of related labels of BR-DT ---------------------------------------------------


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
        raise TypeError(
            f"model must be a BRDTClassifier, got {type(model).__name__}. Use plot_tree to show "
            "trees; only BRDTClassifier learns which labels are related."
        )
    check_number("max_labels", max_labels, 1, whole=True)
    pyplot = import_extra("matplotlib.pyplot", "plot")
    related = relate_labels(model, max_labels)
    if ax is None:
        _, ax = pyplot.subplots(figsize=(9, 7), layout="constrained")
    _draw_edges(related, ax)
    _draw_labels(related, pyplot.get_cmap("tab10"), ax)
    title = f"{counted(len(model.classes_), 'label')} in {counted(related.n_groups, 'group')}"
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
        place: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 8, "zorder": 3}
        ax.text(label.x, label.y, text, parse_math=False, **place)
