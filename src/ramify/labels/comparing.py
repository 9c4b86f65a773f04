"""Compare two hierarchies: which labels were added, removed, moved, renamed, split or merged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product, zip_longest
from typing import Any

import numpy as np

from ramify._messages import counted, import_extra
from ramify._validation import Label, check_number, check_same_length
from ramify.labels.encoding import read_labels
from ramify.labels.hierarchy import Hierarchy
from ramify.labels.matching import DECLARED, Side, match_labels, own_names

KINDS = ("added", "removed", "moved", "renamed", "split", "merged")
"""Kinds of changes, in the order in which they are shown."""

MIN_SCORE = 0.5
"""Links that are less likely are not proposed."""


@dataclass(frozen=True)
class Change:
    """One change between two hierarchies.

    Attributes
    ----------
    kind : {"added", "removed", "moved", "renamed", "split", "merged"}
        What happened. A label may be both moved and renamed, which makes two changes.
    old : tuple of labels
        The labels of the old hierarchy; none if a label was added.
    new : tuple of labels
        The labels of the new hierarchy; none if a label was removed.
    reason : str
        Why the labels are held for the same: "label", "alias" and "replaced_by" are certain;
        "consider", "name", "synonym", "similar name", "part of the name", "children" and "rows"
        are proposals.
    score : float
        How likely the labels are the same, from 0 to 1.
    n_rows : int or None
        The number of rows with one of the old labels, or with the new label if there is none.
        None if no rows were given.
    """

    kind: str
    old: tuple[Label, ...]
    new: tuple[Label, ...]
    reason: str = ""
    score: float = 1.0
    n_rows: int | None = None

    @property
    def is_certain(self) -> bool:
        """Whether the files declare it, so that it is no proposal."""
        return self.kind in ("added", "removed") or self.reason in DECLARED


@dataclass(frozen=True)
class Successor:
    """A label of the new hierarchy that takes the place of an old one."""

    old: Label
    new: Label
    reason: str
    score: float


@dataclass(frozen=True)
class Comparison:
    """The differences between two hierarchies, as returned by `Hierarchy.compare`.

    Attributes
    ----------
    old, new : Hierarchy
        The hierarchies.
    successors : tuple of Successor
        All pairs of an old label and one that takes its place, including equal labels.
    changes : tuple of Change
        All changes, by kind.
    names : pair of mappings of label to str
        The names of labels that are identifiers, in the old and in the new hierarchy.

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> old = Hierarchy.from_paths(["pets/cats", "pets/dogs", "food"])
    >>> new = Hierarchy.from_paths(["animals/cats", "animals/dogs", "animals/birds", "food/dry"])
    >>> comparison = old.compare(new)
    >>> comparison
    Comparison(4 → 6 labels: 2 added, 1 renamed)
    >>> print(comparison.to_text())
    added (2)
      animals/birds
      food/dry
    renamed (1)
      pets → animals  (proposed: children, 0.72)
    """

    old: Hierarchy
    new: Hierarchy
    successors: tuple[Successor, ...]
    changes: tuple[Change, ...]
    names: tuple[Mapping[Label, str], Mapping[Label, str]] = ({}, {})

    def __repr__(self) -> str:
        counts = ", ".join(f"{n:,} {kind}" for kind, n in self.counts().items() if n)
        sizes = f"{self.old.n_labels:,} → {self.new.n_labels:,} labels"
        return f"Comparison({sizes}: {counts or 'no changes'})"

    def of_kind(self, kind: str) -> tuple[Change, ...]:
        """Return the changes of one kind.

        Parameters
        ----------
        kind : str
            One of the kinds of `Change`.

        Returns
        -------
        tuple of Change
            The changes, in the order of the labels.
        """
        return tuple(change for change in self.changes if change.kind == kind)

    def counts(self) -> dict[str, int]:
        """Return the number of changes of each kind.

        Returns
        -------
        dict of str to int
            The numbers, including zeros.
        """
        return {kind: len(self.of_kind(kind)) for kind in KINDS}

    def _write(self, labels: Sequence[Label], side: int) -> str:
        names = self.names[side]
        return " + ".join(f"{x} {names[x]}" if names.get(x) else f"{x}" for x in labels)

    def _line(self, change: Change) -> str:
        sides = [self._write(found, k) for k, found in enumerate((change.old, change.new))]
        text = " → ".join(side for side in sides if side)
        if change.old == change.new:
            text = f"{sides[0]}: {self._difference(change)}"
        notes = []
        if not change.is_certain:
            notes.append(f"proposed: {change.reason}, {change.score:.2f}")
        if change.n_rows is not None:
            notes.append(counted(change.n_rows, "row"))
        return f"  {text}" + (f"  ({'; '.join(notes)})" if notes else "")

    def _difference(self, change: Change) -> str:
        """Say what is different about a label that is called the same."""
        (label,) = change.old
        if change.kind == "renamed":
            return f"now {self.names[1].get(label) or label}"
        before, after = (
            " + ".join(map(str, side.parents(label))) or "the top" for side in (self.old, self.new)
        )
        return f"from {before} to {after}"

    def to_text(self, max_changes: int | None = None) -> str:
        """Write the changes, one per line, below their kinds.

        Parameters
        ----------
        max_changes : int, optional
            The largest number of changes to write of each kind. None writes all.

        Returns
        -------
        str
            The lines.
        """
        if max_changes is not None:
            check_number("max_changes", max_changes, 1, whole=True)
        lines = []
        for kind in KINDS:
            found = self.of_kind(kind)
            if not found:
                continue
            lines.append(f"{kind} ({len(found):,})")
            shown = found[:max_changes]
            lines += [self._line(change) for change in shown]
            if len(shown) < len(found):
                lines.append(f"  … {len(found) - len(shown):,} more")
        return "\n".join(lines) if lines else "no changes"

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers of labels, the counts and the changes as JSON types.

        Returns
        -------
        dict
            The facts.
        """
        return {
            "old": {"labels": self.old.n_labels, "version": self.old.version},
            "new": {"labels": self.new.n_labels, "version": self.new.version},
            "counts": self.counts(),
            "changes": [
                {**asdict(change), "old": list(change.old), "new": list(change.new)}
                for change in self.changes
            ],
        }

    def to_frame(self) -> Any:
        """Return the changes as a data frame.

        Returns
        -------
        pandas.DataFrame
            One row per change, with the columns kind, old, new, reason, score and n_rows.
        """
        pandas = import_extra("pandas", "tables")
        columns = ["kind", "old", "new", "reason", "score", "n_rows"]
        rows = [
            [c.kind, self._write(c.old, 0), self._write(c.new, 1), c.reason, c.score, c.n_rows]
            for c in self.changes
        ]
        return pandas.DataFrame(rows, columns=columns)

    def plot(self, max_labels: int = 40, ax: Any = None) -> Any:
        """Draw the changed labels and their ancestors before and after.

        Parameters
        ----------
        max_labels : int
            The largest number of labels to draw of each hierarchy.
        ax : matplotlib Axes, optional
            Where to draw; by default, a new figure.

        Returns
        -------
        matplotlib Axes
            The drawing. Requires ``pip install 'ramify[plot]'``.
        """
        check_number("max_labels", max_labels, 1, whole=True)
        return plot_comparison(self, max_labels, ax)


def compare(
    old: Hierarchy,
    new: Hierarchy,
    y: Any = None,
    y_new: Any = None,
    *,
    names: tuple[Mapping[Label, str], Mapping[Label, str]] = ({}, {}),
    synonyms: tuple[Mapping[Label, tuple[str, ...]], Mapping[Label, tuple[str, ...]]] = ({}, {}),
    declared: Mapping[Label, Sequence[tuple[Label, str]]] | None = None,
    min_score: float = MIN_SCORE,
) -> Comparison:
    """Return the differences between two hierarchies; see `Hierarchy.compare`."""
    if not isinstance(new, Hierarchy):
        raise TypeError(
            f"new must be a ramify.Hierarchy, got {type(new).__name__}. Build one, e.g. with "
            "Hierarchy.from_paths."
        )
    check_number("min_score", min_score, 0.01, 1)
    if y is None and y_new is not None:
        raise ValueError("y must be given with y_new, got None. Pass the old labels of the rows.")
    Y, Y_new = _matrix(y, old), _matrix(y_new, new)
    if Y is not None and Y_new is not None:
        check_same_length(Y.shape[0], Y_new.shape[0], "_new")
    sides = [
        _side(hierarchy, names[k], synonyms[k], matrix)
        for k, (hierarchy, matrix) in enumerate(((old, Y), (new, Y_new)))
    ]
    successors = _declared(old, new)
    for label, found in (declared or {}).items():
        successors.setdefault(label, list(found))
    links = match_labels(sides[0], sides[1], successors, min_score)
    changes = _Changes(old, new, sides, links)
    return Comparison(
        old,
        new,
        tuple(Successor(old.labels[a], new.labels[b], r, s) for a, b, r, s in links),
        tuple(changes.found()),
        names,
    )


def _matrix(y: Any, hierarchy: Hierarchy) -> Any:
    return None if y is None else read_labels(y, hierarchy).Y


def _side(
    hierarchy: Hierarchy,
    names: Mapping[Label, str],
    synonyms: Mapping[Label, tuple[str, ...]],
    Y: Any,
) -> Side:
    graph = hierarchy._graph
    own = own_names(graph, hierarchy.separator)
    known = [names.get(label) or own[k] for k, label in enumerate(graph.labels)]
    others = {graph.position[x]: found for x, found in synonyms.items() if x in graph.position}
    return Side(graph, own, known, others, Y)


def _declared(old: Hierarchy, new: Hierarchy) -> dict[Label, list[tuple[Label, str]]]:
    """Return the successors that the aliases of the hierarchies name."""
    found: dict[Label, list[tuple[Label, str]]] = {
        alias: [(label, "alias")] for alias, label in new.aliases.items() if alias in old
    }
    for alias, label in old.aliases.items():  # an identifier that has become the main one
        if alias in new and label not in new:
            found.setdefault(label, [(alias, "alias")])
    return found


class _Changes:
    """Names the changes that links stand for."""

    def __init__(self, old: Hierarchy, new: Hierarchy, sides: list[Side], links: list[Any]):
        self.old, self.new, self.sides, self.links = old, new, sides, links
        self.targets: list[list[Any]] = [[] for _ in range(old.n_labels)]
        self.sources: list[list[Any]] = [[] for _ in range(new.n_labels)]
        for link in links:
            self.targets[link.old].append(link)
            self.sources[link.new].append(link)

    def found(self) -> list[Change]:
        """Return the changes by kind."""
        found: list[Change] = [
            self._change("added", [], [b], []) for b, s in enumerate(self.sources) if not s
        ]
        found += [
            self._change("removed", [a], [], []) for a, t in enumerate(self.targets) if not t
        ]
        for group in self._groups():
            olds = sorted({link.old for link in group})
            news = sorted({link.new for link in group})
            if len(news) > 1:
                found.append(self._change("split", olds, news, group))
            elif len(olds) > 1:
                found.append(self._change("merged", olds, news, group))
        found += self._moved_and_renamed()
        return sorted(found, key=lambda change: KINDS.index(change.kind))

    def _groups(self) -> list[Any]:
        """Return the links of labels that were split, then of those that were merged."""
        splits = [group for group in self.targets if len(group) > 1]
        return splits + [group for group in self.sources if len(group) > 1]

    def _moved_and_renamed(self) -> list[Change]:
        before, after = self.sides
        near_old, near_new = _nearest(before, self.targets), _nearest(after, self.sources)
        found = []
        for link in self.links:
            a, b = link.old, link.new
            if len(self.targets[a]) > 1 or len(self.sources[b]) > 1:
                continue
            if before.own[a] != after.own[b] or before.names[a] != after.names[b]:
                found.append(self._change("renamed", [a], [b], [link]))
            above, new_above = near_old[a], near_new[b]
            kept = all(any(t.new in new_above for t in self.targets[p]) for p in above)
            known = all(any(s.old in above for s in self.sources[q]) for q in new_above)
            if not (kept and known):
                found.append(self._change("moved", [a], [b], [link]))
        return found

    def _change(self, kind: str, olds: Any, news: Any, links: Any) -> Change:
        weakest = min(links, key=lambda link: link.score, default=None)
        labels = tuple(self.old.labels[a] for a in olds)
        return Change(
            kind,
            labels,
            tuple(self.new.labels[b] for b in news),
            "" if weakest is None else weakest.reason,
            1.0 if weakest is None else weakest.score,
            self._count(0, olds) if olds else self._count(1, news),
        )

    def _count(self, side: int, labels: Any) -> int | None:
        Y = self.sides[side].Y
        if Y is None:
            return None
        if len(labels) == 1:
            return int(self.sides[side].n_rows[labels[0]])
        return int(np.count_nonzero(np.diff(Y[:, labels].indptr)))


def _nearest(side: Side, links: list[Any]) -> list[set[int]]:
    """Return the nearest ancestors of every label that have links."""
    nearest: list[set[int]] = []
    for above in side.parents:
        found = (({p} if links[p] else nearest[p]) for p in above)
        nearest.append(set().union(*found))
    return nearest


# ---- the picture ----------------------------------------------------------------------------


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
