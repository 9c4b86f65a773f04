"""Draw two hierarchies beside each other, with the changes marked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product, zip_longest
from typing import TYPE_CHECKING, Any

from ramify._messages import counted, import_extra
from ramify._validation import Label
from ramify.labels.hierarchy import Hierarchy

if TYPE_CHECKING:
    from ramify.labels.comparing import Change, Comparison

# The colour and the mark of each kind; the marks tell them apart without colours, too.
_STYLES = {
    "removed": ("#b2182b", "−"),
    "added": ("#1b7837", "+"),
    "moved": ("#2166ac", "↷"),
    "renamed": ("#8c510a", "≈"),
    "split": ("#762a83", "⋔"),
    "merged": ("#01665e", "⋎"),
}
_PLAIN = "#555555"
_WIDEST = 38  # characters of a name that is written out
_LEFT = (0.0, 0.56)
_INDENT, _DEEPEST = 0.035, 6
_PER_LETTER = 0.0076  # the width of a letter, roughly
_INCHES_PER_LINE, _LEAST_LINES = 0.24, 6


def plot_comparison(comparison: Comparison, max_labels: int, ax: Any = None) -> Any:
    """Draw the changed labels with their ancestors, at most `max_labels` of each hierarchy."""
    sides = [_Outline(comparison, k) for k in range(2)]
    n_left_out = 0
    for change in _in_turn(comparison.changes):
        wanted = [
            side.with_ancestors(labels)
            for side, labels in zip(sides, (change.old, change.new), strict=True)
        ]
        if any(len(s.shown | w) > max_labels for s, w in zip(sides, wanted, strict=True)):
            n_left_out += 1
            continue
        for side, labels in zip(sides, wanted, strict=True):
            side.shown |= labels
    n_lines = max(_LEAST_LINES, *(len(side.lines) for side in sides)) + 1
    if ax is None:
        pyplot = import_extra("matplotlib.pyplot", "plot")
        size = (10.0, 1.0 + _INCHES_PER_LINE * n_lines)
        ax = pyplot.subplots(figsize=size, layout="constrained")[1]
    ax.set(xlim=(0, 1), ylim=(n_lines + 0.5, -1.5))
    ax.axis("off")
    for side, title in zip(sides, ("before", "after"), strict=True):
        text = f"{title}: {counted(side.hierarchy.n_labels, 'label')}"
        ax.text(side.x, -1, text, weight="bold", va="center")
        side.write(ax)
    _connect(ax, comparison.changes, sides)
    _explain(ax, sides, n_left_out, n_lines)
    return ax


def _in_turn(changes: Sequence[Change]) -> Iterator[Change]:
    """Yield the first change of each kind, then the second of each kind, and so on."""
    kinds = dict.fromkeys(change.kind for change in changes)
    columns = ([change for change in changes if change.kind == kind] for kind in kinds)
    yield from (change for row in zip_longest(*columns) for change in row if change is not None)


class _Outline:
    """The lines of one hierarchy: changed labels below their ancestors."""

    def __init__(self, comparison: Comparison, number: int) -> None:
        self.hierarchy: Hierarchy = (comparison.old, comparison.new)[number]
        self.names = comparison.names[number]
        self.x = _LEFT[number]
        self.shown: set[Label] = set()
        self.kinds: dict[Label, list[str]] = {}
        for change in comparison.changes:
            for label in (change.old, change.new)[number]:
                self.kinds.setdefault(label, []).append(change.kind)

    @property
    def lines(self) -> list[Label]:
        """The labels to write, in order."""
        return sorted(self.shown, key=self.hierarchy.index)

    def with_ancestors(self, labels: Iterable[Label]) -> set[Label]:
        """Return labels with one path to the top of each."""
        return {x for label in labels for x in (label, *self._path(label))}

    def _path(self, label: Label) -> list[Label]:
        """Return the first parent of a label, its first parent and so on."""
        path: list[Label] = []
        while parents := self.hierarchy.parents(path[-1] if path else label):
            path.append(parents[0])
        return path

    def _name(self, label: Label) -> str:
        name = self.names.get(label) or str(label)
        for parent in self.hierarchy.parents(label):
            name = name.removeprefix(f"{parent}{self.hierarchy.separator}")
        return name if len(name) <= _WIDEST else f"{name[: _WIDEST - 1]}…"

    def write(self, ax: Any) -> None:
        """Write the lines, and keep where they start and stop."""
        self.ends: dict[Label, tuple[float, float, int]] = {}
        for k, label in enumerate(self.lines):
            kinds = self.kinds.get(label, ())
            colour = next((c for kind, (c, _) in _STYLES.items() if kind in kinds), _PLAIN)
            marks = "".join(mark for kind, (_, mark) in _STYLES.items() if kind in kinds)
            start = self.x + min(len(self._path(label)), _DEEPEST) * _INDENT
            text = f"{marks} {self._name(label)}".strip()
            ax.text(start, k, text, color=colour, va="center", clip_on=True, parse_math=False)
            self.ends[label] = (start - 0.008, start + _PER_LETTER * (len(text) + 1), k)


def _connect(ax: Any, changes: Sequence[Change], sides: Sequence[_Outline]) -> None:
    """Draw a line from each changed label to the labels that took its place."""
    before, after = (side.ends for side in sides)
    drawn: set[tuple[Label, Label]] = set()
    for change in changes:
        for old, new in product(change.old, change.new):
            if (old, new) in drawn or old not in before or new not in after:
                continue
            drawn.add((old, new))
            x, y = (before[old][1], after[new][0]), (before[old][2], after[new][2])
            style = "-" if change.is_certain else "--"
            colour = _STYLES[change.kind][0]
            ax.plot(x, y, color=colour, linewidth=0.9, linestyle=style, alpha=0.6)


def _explain(ax: Any, sides: Sequence[_Outline], n_left_out: int, n_lines: int) -> None:
    """Write what marks, colours and broken lines mean, and how many changes are not shown."""
    kinds = {kind for side in sides for label in side.shown for kind in side.kinds.get(label, ())}
    notes = [f"{mark} {kind}" for kind, (_, mark) in _STYLES.items() if kind in kinds]
    if any(line.get_linestyle() == "--" for line in ax.lines):
        notes.append("broken line: proposed")
    if n_left_out:
        notes.append(f"{counted(n_left_out, 'change')} not shown")
    text = "   ".join(notes) or "no changes"
    ax.text(0, n_lines, text, color=_PLAIN, fontsize="small", va="center")
