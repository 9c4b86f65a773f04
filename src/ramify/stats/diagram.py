"""The average-rank (critical difference) diagram of Demšar (2006)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ramify._messages import import_extra
from ramify.stats.friedman_test import NemenyiResult, nemenyi
from ramify.stats.scores import Missing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW = 0.30  # inches between two names
_BAR = 0.11  # inches between two bars of groups


def rank_diagram(
    scores: Any,
    names: Sequence[str] | None = None,
    *,
    alpha: float = 0.05,
    higher_is_better: bool = True,
    missing: Missing = "drop",
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Plot the average ranks of methods and connect those that do not differ significantly.

    The best method is on the right. A bar connects methods whose average ranks differ by less
    than the critical difference of Nemenyi's test, which is drawn above the axis.

    Parameters
    ----------
    scores : array-like, data frame, mapping of method to column, or NemenyiResult
        Scores, with one row per data set (or fold) and one column per method.
    names : sequence of str, optional
        Names of the methods. By default, the column names, or "method 1", "method 2", ….
    alpha : float
        Significance level.
    higher_is_better : bool
        Whether higher scores are better.
    missing : {"drop", "worst", "raise"}
        How to handle NaN: drop the row, rank the method last in that row, or raise an error.
    title : str, optional
        Title of the diagram.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on. By default, a new figure of suitable size is created.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on; ``ax.figure.savefig("ranks.pdf")`` saves the figure.

    Examples
    --------
    >>> from ramify.stats import rank_diagram
    >>> scores = {"tree": [0.6, 0.5, 0.7], "bagging": [0.7, 0.8, 0.8], "forest": [0.8, 0.9, 0.9]}
    >>> ax = rank_diagram(scores)  # doctest: +SKIP
    """
    if isinstance(scores, NemenyiResult):
        result = scores
    else:
        result = nemenyi(
            scores, names, alpha=alpha, higher_is_better=higher_is_better, missing=missing
        )
    plan = plan_diagram(result)
    if ax is None:
        ax = _new_axes(plan)
    _draw_axis(ax, plan)
    _draw_critical_difference(ax, plan)
    for bar in plan.bars:
        ax.plot(bar[:2], [bar[2]] * 2, color="black", lw=3.5, solid_capstyle="round")
    for name in plan.names:
        _draw_name(ax, plan, name)
    if title:
        ax.set_title(title)
    return ax


@dataclass(frozen=True)
class _Name:
    text: str
    rank: float
    height: float
    on_right: bool


@dataclass(frozen=True)
class _Plan:
    """Layout of the diagram: x in ranks, y in inches (negative below the axis)."""

    n_methods: int
    critical_difference: float
    bars: list[tuple[float, float, float]]
    names: list[_Name]
    bottom: float


def plan_diagram(result: NemenyiResult) -> _Plan:
    """Return the positions of the names, ranks and bars of the diagram."""
    ordered = list(result.ranks.ordered())
    bars = _bars(result, dict(ordered))
    lowest_bar = min((bar[2] for bar in bars), default=0.0)
    n_right = len(ordered) // 2
    names = []
    for i, (text, rank) in enumerate(ordered):
        on_right = i < n_right
        # The best and the worst method have the outermost lines, so no two lines cross.
        row = i if on_right else len(ordered) - 1 - i
        names.append(_Name(text, rank, lowest_bar - _ROW * (row + 1), on_right))
    bottom = min(name.height for name in names)
    return _Plan(len(ordered), result.critical_difference, bars, names, bottom)


def _bars(result: NemenyiResult, ranks: dict[str, float]) -> list[tuple[float, float, float]]:
    """Place the bar of each group on the highest level where it overlaps no other bar."""
    overhang = 0.015 * (len(ranks) - 1)
    levels: list[float] = []
    bars = []
    for group in result.groups:
        best, worst = ranks[group[0]] - overhang, ranks[group[-1]] + overhang
        free = [level for level, end in enumerate(levels) if best > end + overhang]
        level = free[0] if free else len(levels)
        levels[level : level + 1] = [worst]
        bars.append((best, worst, -_BAR * (level + 1)))
    return bars


def _new_axes(plan: _Plan) -> Axes:
    # Names are drawn outside the axis; make room to keep long names from shrinking it.
    sides = [[n.text for n in plan.names if n.on_right == right] for right in (True, False)]
    names_width = sum(0.085 * (max(map(len, side)) + 8) for side in sides)
    size = (3.8 + names_width, 0.85 - plan.bottom)
    plt = import_extra("matplotlib.pyplot", "plot")
    ax: Axes = plt.subplots(figsize=size, layout="constrained")[1]
    return ax


def _draw_axis(ax: Axes, plan: _Plan) -> None:
    k = plan.n_methods
    ax.set_axis_off()
    ax.set_xlim(k, 1)
    ax.set_ylim(plan.bottom - 0.1, 0.65)
    ax.plot([k, 1], [0, 0], color="black", lw=1.2, clip_on=False)
    for tick in range(2, 2 * k + 1):
        whole = tick % 2 == 0
        size = 0.10 if whole else 0.05
        ax.plot([tick / 2] * 2, [0, size], color="black", lw=1.2, clip_on=False)
        if whole:
            ax.text(tick / 2, 0.13, str(tick // 2), ha="center", va="bottom")


def _draw_critical_difference(ax: Axes, plan: _Plan) -> None:
    begin, end = plan.n_methods, plan.n_methods - plan.critical_difference
    height = 0.45
    ax.plot([begin, end], [height] * 2, color="black", lw=1.2, clip_on=False)
    for x in (begin, end):
        ax.plot([x, x], [height - 0.04, height + 0.04], color="black", lw=1.2, clip_on=False)
    label = f"critical difference {plan.critical_difference:.2f}"
    ax.text((begin + end) / 2, height + 0.05, label, ha="center", va="bottom", fontsize="small")


def _draw_name(ax: Axes, plan: _Plan, name: _Name) -> None:
    edge = 1 if name.on_right else plan.n_methods
    ax.plot(
        [name.rank, name.rank, edge],
        [0, name.height, name.height],
        color="black",
        lw=0.9,
        clip_on=False,
        solid_joinstyle="miter",
    )
    text = (
        f"  {name.text} ({name.rank:.2f})" if name.on_right else f"{name.text} ({name.rank:.2f})  "
    )
    ax.text(edge, name.height, text, ha="left" if name.on_right else "right", va="center")
