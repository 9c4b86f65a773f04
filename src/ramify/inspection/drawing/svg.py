"""Export trees as SVG and Graphviz files, without additional libraries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from ramify.inspection.drawing.layout import make_picture
from ramify.inspection.drawing.picture import (
    FONT_SIZE,
    LINE_HEIGHT,
    PADDING,
    Box,
    BoxLine,
    Edge,
    Picture,
    draw_boxes,
)
from ramify.inspection.outline import read_choice
from ramify.inspection.summary import summarise_labels

_STYLE = """
.ramify text{font-family:"DejaVu Sans",Verdana,sans-serif;fill:#1c2b33}
.ramify .note{fill:#5a6a72}.ramify .edge{fill:none;stroke:#8fa0a8}
.ramify .bar{fill:#1d7f8c;opacity:.22}.ramify .title{font-weight:bold}
.ramify .frame{stroke:#53656e;stroke-width:.8}.ramify .cut{stroke-dasharray:4 3}
"""


def export_svg(
    model: Any,
    path: Any = None,
    *,
    feature_names: Sequence[Any] | None = None,
    categories: Mapping[Any, Sequence[Any]] | None = None,
    threshold: float = 0.5,
    min_change: float | None = 0.35,
    max_labels: int | None = 8,
    labels: Sequence[Any] | None = None,
    max_depth: int | None = 4,
    max_trees: int | None = 9,
    sideways: bool | None = None,
) -> str:
    """Export a tree or a set of small trees as SVG.

    Parameters
    ----------
    model : PCTClassifier, ensemble, local architecture, or other set of trees
        A fitted model; see `summarise`.
    path : str or path, optional
        File to write the picture to.
    feature_names, categories, threshold, min_change
        As in `export_text`.
    max_labels, labels, max_depth, max_trees, sideways
        As in `plot_tree`.

    Returns
    -------
    str
        The SVG source. The tooltip of a node shows the conditions on its path.

    Examples
    --------
    >>> from ramify import PCTClassifier
    >>> tree = PCTClassifier().fit([[1.0], [2.0]], ["a/x", "b"])
    >>> export_svg(tree).startswith('<svg xmlns="http://www.w3.org/2000/svg"')
    True
    """
    summary = summarise_labels(model, feature_names, categories)
    choice = read_choice(summary.hierarchy, threshold, min_change, max_labels, labels)
    picture = make_picture(
        summary.trees[:max_trees], choice, max_depth=max_depth, sideways=sideways
    )
    text = "\n".join(_svg_lines(picture, summary.kind)) + "\n"
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")
    return text


def purity_colour(purity: float) -> str:
    """Return the colour of a node: white if it is as mixed as the root, green if it is pure.

    >>> purity_colour(0.0), purity_colour(1.0)
    ('#ffffff', '#b9e3d3')
    """
    ends = ((255, 255, 255), (185, 227, 211))
    mixed = (round(a + (b - a) * purity) for a, b in zip(*ends, strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _svg_lines(picture: Picture, kind: str) -> Iterator[str]:
    width, height = round(picture.width), round(picture.height)
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="ramify" role="img" '
        f'viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-size="{FONT_SIZE:g}" aria-label="{escape(kind)} as a picture">'
    )
    yield f"<style>{_STYLE}</style>"
    yield f'<rect width="{width}" height="{height}" fill="#ffffff"/>'
    for edge in picture.edges:
        yield from _svg_edge(picture, edge)
    for box in picture.boxes:
        yield from _svg_box(box)
    for text, x, y in picture.titles:
        yield f'<text class="title" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'
    yield "</svg>"


def _svg_edge(picture: Picture, edge: Edge) -> Iterator[str]:
    (x0, y0), (x1, y1) = edge_ends(picture, edge)
    bend = (
        f"{(x0 + x1) / 2:.1f} {y0:.1f} {(x0 + x1) / 2:.1f} {y1:.1f}"
        if picture.sideways
        else f"{x0:.1f} {(y0 + y1) / 2:.1f} {x1:.1f} {(y0 + y1) / 2:.1f}"
    )
    curve = f"M{x0:.1f} {y0:.1f}C{bend} {x1:.1f} {y1:.1f}"
    yield f'<path class="edge" d="{curve}" stroke-width="{0.8 + 4 * edge.share:.1f}"/>'
    x, y, anchor = answer_place(picture, edge)
    yield (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="note" '
        f'paint-order="stroke" stroke="#fff" stroke-width="2">{escape(edge.answer)}</text>'
    )


def edge_ends(picture: Picture, edge: Edge) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the points where an edge leaves the parent box and enters the child box."""
    above, below = picture.boxes[edge.above], picture.boxes[edge.below]
    if picture.sideways:
        return (above.x + above.width / 2, above.y), (below.x - below.width / 2, below.y)
    return (above.x, above.y + above.height / 2), (below.x, below.y - below.height / 2)


def answer_place(picture: Picture, edge: Edge) -> tuple[float, float, str]:
    """Return the position of the answer of an edge: near the child box."""
    (x0, y0), (x, y) = edge_ends(picture, edge)
    if picture.sideways:
        # On the side opposite to the incoming curve.
        return x - 6, y + (FONT_SIZE + 2 if y > y0 + 1 else -5), "end"
    if abs(x - x0) < 1:
        return x + 6, y - 6, "start"
    return (x - 6, y - 6, "end") if x < x0 else (x + 6, y - 6, "start")


def _svg_box(box: Box) -> Iterator[str]:
    left, top = box.x - box.width / 2, box.y - box.height / 2
    cut = " cut" if box.is_cut else ""
    corner = 3 if box.is_leaf or box.is_cut else 9
    yield f"<g><title>{escape(box.hint)}</title>"
    yield (
        f'<rect class="frame{cut}" x="{left:.1f}" y="{top:.1f}" width="{box.width:.1f}" '
        f'height="{box.height:.1f}" rx="{corner}" fill="{purity_colour(box.purity)}"/>'
    )
    for k, line in enumerate(box.lines):
        yield from _svg_line(box, line, left, top + PADDING + LINE_HEIGHT * k + FONT_SIZE - 2)
    yield "</g>"


def _svg_line(box: Box, line: BoxLine, left: float, y: float) -> Iterator[str]:
    if line.probability is not None:
        length = (box.width - 2) * line.probability
        yield (
            f'<rect class="bar" x="{left + 1:.1f}" y="{y - FONT_SIZE:.1f}" '
            f'width="{length:.1f}" height="{LINE_HEIGHT - 1:g}"/>'
        )
        yield (
            f'<text x="{left + box.width - PADDING:.1f}" y="{y:.1f}" text-anchor="end">'
            f"{line.probability:.2f}</text>"
        )
    text = escape(line.text).replace("  ", "\u00a0\u00a0")
    small = f' class="note" font-size="{0.9 * FONT_SIZE:g}"' if line.kind == "note" else ""
    if line.kind == "label":
        yield f'<text x="{left + PADDING:.1f}" y="{y:.1f}">{text}</text>'
    else:
        yield f'<text x="{box.x:.1f}" y="{y:.1f}" text-anchor="middle"{small}>{text}</text>'


def export_graphviz(
    model: Any,
    path: Any = None,
    *,
    feature_names: Sequence[Any] | None = None,
    categories: Mapping[Any, Sequence[Any]] | None = None,
    threshold: float = 0.5,
    min_change: float | None = 0.35,
    max_labels: int | None = 8,
    labels: Sequence[Any] | None = None,
    max_depth: int | None = None,
    max_trees: int | None = 9,
    sideways: bool = False,
) -> str:
    r"""Export a tree or a set of small trees in Graphviz format.

    Parameters
    ----------
    model : PCTClassifier, ensemble, local architecture, or other set of trees
        A fitted model; see `summarise`.
    path : str or path, optional
        File to write the source to.
    feature_names, categories, threshold, min_change
        As in `export_text`.
    max_labels, labels, max_depth, max_trees, sideways
        As in `plot_tree`.

    Returns
    -------
    str
        The Graphviz source, for example for ``dot -Tpdf``.

    Examples
    --------
    >>> from ramify import PCTClassifier
    >>> tree = PCTClassifier().fit([[1.0], [2.0]], ["cat", "dog"])
    >>> print(export_graphviz(tree))
    digraph ramify {
    ...
      "0.0" [label="x0 > 1.5\n2 rows\n", style="rounded,filled", fillcolor="#ffffff"];
      "0.1" [label="cat  0.00\ldog  1.00\l1 row\l", style="filled", fillcolor="#b9e3d3"];
      "0.2" [label="cat  1.00\ldog  0.00\l1 row\l", style="filled", fillcolor="#b9e3d3"];
      "0.0" -> "0.1" [label="yes", penwidth=2.8];
      "0.0" -> "0.2" [label="no", penwidth=2.8];
    }
    <BLANKLINE>
    """
    summary = summarise_labels(model, feature_names, categories)
    choice = read_choice(summary.hierarchy, threshold, min_change, max_labels, labels)
    lines = [
        "digraph ramify {",
        f"  rankdir={'LR' if sideways else 'TB'};",
        '  node [shape=box, fontname="sans-serif", fontsize=10];',
        '  edge [fontname="sans-serif", fontsize=9, color="#8fa0a8"];',
    ]
    for number, tree in enumerate(summary.trees[:max_trees]):
        picture = draw_boxes(tree, choice, max_depth)
        body = list(_dot_lines(picture, number))
        if tree.name:
            body = [
                f"  subgraph cluster_{number} {{",
                f"  label={_quoted(tree.name)}; color=white;",
                *body,
                "  }",
            ]
        lines.extend(body)
    text = "\n".join([*lines, "}"]) + "\n"
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")
    return text


def _dot_lines(picture: Picture, tree: int) -> Iterator[str]:
    for k, box in enumerate(picture.boxes):
        ends = box.is_leaf or box.is_cut
        break_ = "\\l" if ends else "\\n"
        label = "".join(_dot_text(line) + break_ for line in box.lines)
        style = "filled,dashed" if box.is_cut else "filled" if ends else "rounded,filled"
        colour = purity_colour(box.purity)
        yield f'  "{tree}.{k}" [label="{label}", style="{style}", fillcolor="{colour}"];'
    for edge in picture.edges:
        yield (
            f'  "{tree}.{edge.above}" -> "{tree}.{edge.below}" '
            f"[label={_quoted(edge.answer)}, penwidth={0.8 + 4 * edge.share:.1f}];"
        )


def _dot_text(line: BoxLine) -> str:
    figures = f"  {line.probability:.2f}" if line.probability is not None else ""
    text = f"{line.text}{figures}"
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
