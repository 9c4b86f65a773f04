"""Hierarchies as text: an indented outline and JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ramify._validation import Label, check_label_name
from ramify.labels.building import OrderedGraph, rows_from_lists
from ramify.labels.graph import LabelGraph, row_of

_FORMAT = "ramify.hierarchy"
_VERSION = 1
_INDENT = "  "
_SHOWN = 60  # characters of an invalid value
_CUT = re.compile(r"… \d+ more")


def write_outline(graph: LabelGraph, max_labels: int | None) -> str:
    """Write one label per line below its parent, at most `max_labels`; count the others."""
    shown = _shallowest(graph, max_labels)
    top = np.flatnonzero(np.diff(graph.parent_rows[0]) == 0).tolist()
    lines: list[str] = []
    opened: set[int] = set()
    stack: list[tuple[int, int] | str] = list(_entries(graph, top, shown, 0))[::-1]
    while stack:
        entry = stack.pop()
        if isinstance(entry, str):
            lines.append(entry)
            continue
        label, level = entry
        lines.append(f"{_INDENT * level}{graph.labels[label]}")
        # A label of a DAG is listed under each of its parents, its descendants only once.
        if label not in opened:
            opened.add(label)
            below = row_of(graph.child_rows, label)
            stack.extend(list(_entries(graph, below, shown, level + 1))[::-1])
    return "\n".join(lines) + "\n"


def _shallowest(graph: LabelGraph, max_labels: int | None) -> set[int]:
    if max_labels is None:
        return set(range(graph.n_labels))
    if max_labels < 1:
        raise ValueError(f"max_labels must be a positive integer or None, got {max_labels}.")
    order = np.argsort(graph.label_levels, kind="stable")
    return set(order[:max_labels].tolist())


def _entries(
    graph: LabelGraph, siblings: Iterable[int], shown: set[int], level: int
) -> Iterator[tuple[int, int] | str]:
    """Yield the siblings to show, then a line with the number of hidden labels."""
    hidden: set[int] = set()
    for label in siblings:
        if label in shown:
            yield label, level
        else:
            # Descendants of a hidden label are deeper and therefore hidden too.
            hidden.add(label)
            hidden.update(graph.descendants_of(label))
    if hidden:
        yield f"{_INDENT * level}… {len(hidden)} more"


def read_outline(text: str) -> dict[Label, list[Label]]:
    """Map every label of an indented outline to its parents."""
    parents: dict[Label, list[Label]] = {}
    seen: dict[tuple[str | None, str], int] = {}
    open_labels: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        name = line.strip()
        if not name:
            continue
        if _CUT.fullmatch(name):
            raise ValueError(
                f"text must be a complete outline, but line {number} is {name!r}. Write it with "
                "to_text(max_labels=None)."
            )
        parent = _parent_of_line(line, number, open_labels)
        if (parent, name) in seen:
            raise ValueError(
                f"line {number} repeats {name!r} of line {seen[parent, name]} under the same "
                "parent. Remove one of these lines."
            )
        seen[parent, name] = number
        parents.setdefault(name, []).extend([] if parent is None else [parent])
    return parents


def _parent_of_line(line: str, number: int, open_labels: list[tuple[int, str]]) -> str | None:
    """Remove labels that are not ancestors of this line; the last one left is its parent."""
    width = len(line.expandtabs()) - len(line.expandtabs().lstrip())
    last_width = open_labels[-1][0] if open_labels else -1
    while open_labels and open_labels[-1][0] >= width:
        last_width = open_labels.pop()[0]
    if last_width > width or (not open_labels and last_width == -1 and width > 0):
        raise ValueError(
            f"line {number}, {line.strip()!r}, is indented by {width} spaces, which matches no "
            "line above it. Indent siblings by the same width."
        )
    parent = open_labels[-1][1] if open_labels else None
    open_labels.append((width, line.strip()))
    return parent


def to_content(graph: LabelGraph, separator: str, version: str) -> dict[str, Any]:
    """Return labels, parents, separator, aliases and version for `from_content`."""
    return {
        "format": _FORMAT,
        "version": _VERSION,
        "separator": separator,
        "labels": graph.labels,
        "parents": [row_of(graph.parent_rows, i) for i in range(graph.n_labels)],
        "aliases": list(graph.aliases.items()),
        **({"of": version} if version else {}),
    }


def read_json(text: str) -> Any:
    """Return the content of a JSON text."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(
            f"text must be valid JSON: {error}. Pass the text written by to_json, not a file name."
        ) from None
    except RecursionError:
        raise ValueError(
            "text must be JSON written by to_json, but its values are nested too deeply."
        ) from None


def from_content(content: Any) -> tuple[OrderedGraph, str, dict[Label, Label], str]:
    """Return the graph, the separator, the aliases and the version of a `to_content`."""
    _check_content(content)
    version = content.get("of", "")
    if not isinstance(version, str):
        raise ValueError(f"of must be a version, got {repr(version)[:_SHOWN]}.")
    kinds = (str, int, float)
    labels = tuple(check_label_name(x, "a label", kinds) for x in content["labels"])
    graph = OrderedGraph(labels, rows_from_lists(content["parents"]))
    return graph, content["separator"], dict(content["aliases"]), version


def _check_content(content: Any) -> None:
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise ValueError(f"text must have 'format': '{_FORMAT}'. Write it with to_json.")
    if content.get("version") != _VERSION:
        raise ValueError(
            f"text must have format version {_VERSION}, got {content.get('version')!r}. Update "
            "ramify."
        )
    missing = {"separator", "labels", "parents", "aliases"} - set(content)
    if missing:
        raise ValueError(f"text is missing {sorted(missing)}. Write it with to_json.")
    for key in ("labels", "parents", "aliases"):
        if not isinstance(content[key], list):
            raise ValueError(f"{key} must be a list, got {repr(content[key])[:_SHOWN]}.")
    if not isinstance(content["separator"], str):
        raise ValueError(f"separator must be a text, got {repr(content['separator'])[:_SHOWN]}.")
    _check_rows(content)


def _check_rows(content: Any) -> None:
    n_labels = len(content["labels"])
    for row in content["parents"]:
        if not isinstance(row, list) or not all(_is_position(i, n_labels) for i in row):
            raise ValueError(
                f"parents must be lists of positions below {n_labels}, the number of labels, got "
                f"{repr(row)[:_SHOWN]}. Write the text with to_json."
            )
    for pair in content["aliases"]:
        if not isinstance(pair, list) or len(pair) != 2:
            raise ValueError(
                f"aliases must be pairs of an alias and a label, got {repr(pair)[:_SHOWN]}. Write "
                "the text with to_json."
            )


def _is_position(value: Any, n_labels: int) -> bool:
    return type(value) is int and 0 <= value < n_labels
