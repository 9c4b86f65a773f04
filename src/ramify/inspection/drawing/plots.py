"""Plot trees with matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ramify._messages import import_extra
from ramify._validation import check_number
from ramify.inspection.drawing.layout import make_picture
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
from ramify.inspection.summary import summarise

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_tree"]

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
    summary = summarise(model, feature_names=feature_names, categories=categories)
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
        self.ax.text(x, y, text, **{**style, **settings})

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
