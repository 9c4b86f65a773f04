"""Figures of a report as SVG: rank diagrams, curves, and folds as dots on a line."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from ramify.apps.studies.claims import Quantity
from ramify.apps.studies.results import StudyResults
from ramify.stats import NemenyiResult
from ramify.stats.diagram import plan_diagram

_INCH = 78  # the layout of rank diagrams is in inches
_LETTER, _CAPITAL = 7.0, 9.5  # pixels of an average letter at 13 px
_ROW = 40
_PANEL = 260
_EDGE = 22  # room for half a number at both ends of a panel
_CURVE_LEFT, _CURVE_TOP, _CURVE_WIDTH, _CURVE_HEIGHT = 52.0, 14.0, 520.0, 260.0
_COLOURS = 10


def rank_svg(result: NemenyiResult, title: str, *, narrow: bool = False) -> str:
    """Draw average ranks, with the best on the right; a bar joins models that do not differ.

    Names are at both sides; if `narrow`, they are below the axis, which then fits on a phone.
    """
    plan = plan_diagram(result)
    k = plan.n_methods
    longest = max(_width(name.text) for name in plan.names) + 8 * _LETTER
    margin, span = (8.0, 300.0) if narrow else (longest, max(320.0, 70.0 * (k - 1)))
    width, top = span + 2 * margin, 62.0

    def x(rank: float) -> float:
        return margin + span * (k - rank) / (k - 1)

    def y(height: float) -> float:
        return top - _INCH * height

    parts = [_line(x(k), top, x(1), top, "axis")]
    for rank in range(1, k + 1):
        parts.append(_line(x(rank), top - 7, x(rank), top, "axis"))
        parts.append(_text(x(rank), top - 12, str(rank), "middle", "tick"))
    end = k - min(plan.critical_difference, k - 1)
    parts.append(_line(x(k), 22, x(end), 22, "critical"))
    note = f"critical difference {plan.critical_difference:.2f}"
    parts.append(_text(x(k), 14, note, "start", "tick"))
    for best, worst, height in plan.bars:
        parts.append(_line(x(worst), y(height), x(best), y(height), "bar"))
    if narrow:
        lowest = max((y(height) for _, _, height in plan.bars), default=top)
        names = sorted(plan.names, key=lambda name: name.rank)
        rows = [lowest + 24.0 * (place + 1) for place in range(k)]
        parts += [
            f'<path class="lead" d="M{x(name.rank):.1f} {top} V{row:.1f}"/>'
            for name, row in zip(names, rows, strict=True)
        ]
        for name, row in zip(names, rows, strict=True):
            on_right = x(name.rank) > width / 2
            shift, anchor = (-6, "end") if on_right else (6, "start")
            text = f"{name.text} {name.rank:.2f}"
            parts.append(_text(x(name.rank) + shift, row, text, anchor, "name over"))
        return _svg(width, rows[-1] + 12, title, parts)
    for name in plan.names:
        edge = x(1) + 12 if name.on_right else x(k) - 12
        path = f"M{x(name.rank):.1f} {top} V{y(name.height):.1f} H{edge:.1f}"
        parts.append(f'<path class="lead" d="{path}"/>')
        anchor, shift = ("start", 5) if name.on_right else ("end", -5)
        text = f"{name.text} {name.rank:.2f}"
        parts.append(_text(edge + shift, y(name.height) + 4, text, anchor, "name"))
    return _svg(width, y(plan.bottom) + 16, title, parts)


def dots_svgs(results: StudyResults, data: str, quantities: Sequence[Quantity]) -> list[str]:
    """Draw each quantity as a narrow panel, with a row for each model, best first.

    The name of a model is above its dots, so that panels fit on a phone, one below the other.
    """
    first = quantities[0]
    means = {m["name"]: results.mean(first.name, data, m["name"]) for m in results.models}
    sign = -1 if first.higher_is_better else 1
    known = [model for model in results.models if np.isfinite(means[model["name"]])]
    known.sort(key=lambda model: sign * means[model["name"]])
    titles = [model["title"] for model in known]
    figures = []
    for quantity in quantities:
        rows = [results.folds(quantity.name, data, model["name"]) for model in known]
        parts = list(_panel(quantity, titles, [row[np.isfinite(row)] for row in rows]))
        height = 34 + _ROW * len(known) + 26
        figures.append(_svg(_PANEL + 2 * _EDGE, height, f"{data}: {quantity.title}", parts))
    return figures


def lines_svg(
    lines: Mapping[str, Sequence[tuple[float, float]]], title: str, x_title: str, *, log: bool
) -> str:
    """Draw a line for each model, with names on the right in the order of the last points."""
    axes = _Axes.around([point for own in lines.values() for point in own], log)
    parts = list(axes.draw(x_title))
    order = sorted(lines, key=lambda name: -lines[name][-1][1])
    for number, (name, points) in enumerate(lines.items()):
        colour = f"c{number % _COLOURS}"
        path = " L".join(f"{axes.x(a):.1f} {axes.y(b):.1f}" for a, b in points)
        parts.append(f'<path class="line {colour}" d="M{path}"/>')
        parts += [_dot(axes.x(a), axes.y(b), 2.5, colour, f"{name}: {b:.3f}") for a, b in points]
        row = _CURVE_TOP + 10 + 20 * order.index(name)
        start = _CURVE_LEFT + _CURVE_WIDTH + 16
        parts.append(_line(start, row, start + 18, row, f"line {colour}"))
        parts.append(_text(start + 24, row + 4, name, "start", "name"))
    width = _CURVE_LEFT + _CURVE_WIDTH + 56 + max(map(_width, lines))
    height = _CURVE_TOP + max(_CURVE_HEIGHT + 44, 20 * len(lines) + 10)
    return _svg(width, height, title, parts)


@dataclass(frozen=True)
class _Axes:
    """Positions of points in the frame of a curve."""

    low: float
    high: float
    x_ticks: list[float]
    y_ticks: list[float]
    log: bool

    @classmethod
    def around(cls, points: Sequence[tuple[float, float]], log: bool) -> _Axes:
        xs, ys = (np.array(part) for part in zip(*points, strict=True))
        low, high = float(xs.min()), float(xs.max())
        whole = bool((xs == np.round(xs)).all())  # levels and rounds have no halves
        ticks = [
            tick
            for tick in (_log_ticks(xs) if log else _ticks(xs))
            if low <= tick <= high and (tick.is_integer() or not whole)
        ]
        return cls(low, high, ticks, _ticks(ys), log)

    def x(self, value: float) -> float:
        if self.low == self.high:
            return _CURVE_LEFT + _CURVE_WIDTH / 2
        share = (value - self.low) / (self.high - self.low)
        if self.log:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        return _CURVE_LEFT + _CURVE_WIDTH * share

    def y(self, value: float) -> float:
        top, bottom = self.y_ticks[-1], self.y_ticks[0]
        return _CURVE_TOP + _CURVE_HEIGHT * (top - value) / (top - bottom)

    def draw(self, x_title: str) -> Iterator[str]:
        right, bottom = _CURVE_LEFT + _CURVE_WIDTH, _CURVE_TOP + _CURVE_HEIGHT
        for tick in self.y_ticks:
            yield _line(_CURVE_LEFT, self.y(tick), right, self.y(tick), "grid")
            yield _text(_CURVE_LEFT - 8, self.y(tick) + 4, f"{tick:g}", "end", "tick")
        for tick in self.x_ticks:
            yield _text(self.x(tick), bottom + 16, _short(tick), "middle", "tick")
        yield _text((_CURVE_LEFT + right) / 2, bottom + 34, x_title, "middle", "head")


def _width(text: str) -> float:
    """Estimate the width of a text in pixels."""
    return sum(_CAPITAL if letter.isupper() else _LETTER for letter in text)


def _panel(quantity: Quantity, titles: list[str], rows: list[np.ndarray]) -> Iterator[str]:
    """Draw a line for each model: faint dots for folds, a strong one for the mean."""
    logs = quantity.kind in ("seconds", "nodes", "megabytes")
    values = np.concatenate(rows) if rows else np.array([])
    yield _text(_EDGE, 14, quantity.title, "start", "head")
    if not values.size:
        return
    ticks = _log_ticks(values) if logs else _ticks(values)
    low, high = ticks[0], ticks[-1]

    def x(value: float) -> float:
        if logs:
            share = math.log(max(value, low) / low) / math.log(high / low)
        else:
            share = (value - low) / (high - low)
        return _EDGE + _PANEL * share

    bottom = 34 + _ROW * len(rows)
    for tick in ticks:
        yield _line(x(tick), 26, x(tick), bottom, "grid")
        yield _text(x(tick), bottom + 15, _short(tick), "middle", "tick")
    for place, (title, row) in enumerate(zip(titles, rows, strict=True)):
        y = 34 + _ROW * place + 28
        yield _text(_EDGE, y - 13, title, "start", "name over")
        if row.size:
            yield _line(x(row.min()), y, x(row.max()), y, "range")
            yield from (_dot(x(value), y, 3, "fold") for value in row)
            best = " best" if place == 0 and not logs else ""
            mean = float(row.mean())
            yield _dot(x(mean), y, 5.5, f"mean{best}", quantity.show(mean))


def _ticks(values: np.ndarray) -> list[float]:
    """Return four to seven round numbers that enclose the values."""
    spread = max(float(values.max() - values.min()), 1e-3)
    step = 10.0 ** math.floor(math.log10(spread))
    while spread / step > 5:
        step *= 2
    while spread / step < 2.5:
        step /= 2
    low = math.floor(values.min() / step)
    high = max(math.ceil(values.max() / step), low + 1)
    return [round(step * place, 10) for place in range(low, high + 1)]


def _log_ticks(values: np.ndarray) -> list[float]:
    """Return powers of ten that enclose the values."""
    values = np.maximum(values, 1e-6)
    low = math.floor(math.log10(values.min()))
    high = max(math.ceil(math.log10(values.max())), low + 1)
    return [10.0**power for power in range(low, high + 1)]


def _short(value: float) -> str:
    if value >= 1e6:
        return f"{value / 1e6:g}M"
    return f"{value / 1e3:g}k" if value >= 1e3 else f"{value:g}"


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<path class="{kind}" d="M{x1:.1f} {y1:.1f} L{x2:.1f} {y2:.1f}"/>'


def _dot(x: float, y: float, radius: float, kind: str, tip: str = "") -> str:
    inner = f"<title>{escape(tip)}</title>" if tip else ""
    return f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{radius}">{inner}</circle>'


def _text(x: float, y: float, text: str, anchor: str, kind: str) -> str:
    return (
        f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">'
        f"{escape(text)}</text>"
    )


def _svg(width: float, height: float, title: str, parts: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" role="img" '
        f'aria-label="{escape(title)}" xmlns="http://www.w3.org/2000/svg">{"".join(parts)}</svg>'
    )
