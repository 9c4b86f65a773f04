"""Hierarchies in model files: the labels of a tree of paths without the paths of their parents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ramify._schema import SchemaError
from ramify.saving.container import LoadLimits


def cut_labels(content: Mapping[str, Any]) -> list[Any]:
    """Return labels; of those that continue their first parent, the last segment in a list."""
    labels, separator = content["labels"], content["separator"]
    found: list[Any] = []
    for label, parents in zip(labels, content["parents"], strict=True):
        above = labels[parents[0]] if parents else None
        start = f"{above}{separator}" if isinstance(above, str) else None
        is_cut = start is not None and isinstance(label, str) and label.startswith(start)
        found.append([label[len(start or "") :]] if is_cut else label)
    return found


def whole_content(content: dict[str, Any], limits: LoadLimits) -> dict[str, Any]:
    """Return the content of a hierarchy with whole labels, after its sizes have been checked."""
    given, parents, separator = (content.get(key) for key in ("labels", "parents", "separator"))
    if type(given) is not list or type(parents) is not list or len(given) != len(parents):
        raise SchemaError("a hierarchy must have a list of labels and as many lists of parents")
    if type(separator) is not str:
        raise SchemaError("the separator of a hierarchy must be a text")
    limits.check("max_labels", len(given), "the number of labels")
    for position, (label, row) in enumerate(zip(given, parents, strict=True)):
        _check_parents(row, position)
        _check_label(label, [given[parent] for parent in row[:1]], position)
    # Each label of a path contains those before, so that a short file could have long ones.
    n_characters = sum(_lengths(given, parents, separator))
    limits.check("max_label_characters", n_characters, "the length of all labels together")
    labels: list[Any] = []
    for label, row in zip(given, parents, strict=True):
        is_cut = type(label) is list
        labels.append(f"{labels[row[0]]}{separator}{label[0]}" if is_cut else label)
    return {**content, "labels": labels}


def _lengths(given: list[Any], parents: list[list[int]], separator: str) -> list[int]:
    """Return the lengths of whole labels."""
    lengths: list[int] = []
    for label, row in zip(given, parents, strict=True):
        is_cut = type(label) is list
        above = lengths[row[0]] + len(separator) if is_cut else 0
        lengths.append(above + len(label[0] if is_cut else str(label)))
    return lengths


def _check_parents(row: Any, position: int) -> None:
    if type(row) is not list or any(
        type(parent) is not int or not 0 <= parent < position for parent in row
    ):
        raise SchemaError(f"the parents of label {position} must be positions before it")
    if len(set(row)) != len(row):
        raise SchemaError(f"the parents of label {position} must be distinct")


def _check_label(label: Any, above: list[Any], position: int) -> None:
    """Check a label, which may be cut after its first parent if that is a text."""
    if type(label) is list:
        is_cut = len(label) == 1 and type(label[0]) is str
        if not is_cut or [type(one) for one in above] not in ([str], [list]):
            raise SchemaError(f"label {position} must continue the path of its first parent")
    elif not isinstance(label, str | int | float):
        raise SchemaError(f"label {position} must be a text or a number")
