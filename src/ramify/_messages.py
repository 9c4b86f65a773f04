"""Parts of error messages; nothing is imported for them but the standard library."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Iterable
from typing import Any

_SHOWN = 5
_LONGEST_GUESS = 200  # characters of a name that is worth comparing with others


def import_extra(module: str, extra: str) -> Any:
    """Import an optional dependency, or raise an error that names the extra to install."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{module.partition('.')[0]} is required but not installed. Run: pip install "
            f"'ramify[{extra}]'"
        ) from error


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Format a number of things.

    >>> counted(1, "level"), counted(1234, "row"), counted(2, "leaf", "leaves")
    ('1 level', '1,234 rows', '2 leaves')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def shorten(values: Iterable[object], shown: int = _SHOWN) -> str:
    """Format the first few values of a list and the number of values left out."""
    listed = list(values)
    text = ", ".join(repr(value) for value in listed[:shown])
    hidden = len(listed) - shown
    return f"{text} and {hidden} more" if hidden > 0 else text


def did_you_mean(label: object, labels: Iterable[object]) -> str:
    """Suggest the known label closest to a misspelled one; empty if none is close.

    >>> did_you_mean("mamal", ["mammal", "bird"])
    " Did you mean 'mammal'?"
    """
    text = str(label)
    if len(text) > _LONGEST_GUESS:
        return ""
    known = {str(candidate): candidate for candidate in labels}
    near = difflib.get_close_matches(text, known, n=1)
    if not near and text:  # the last of the words, as in the names of two header lines
        near = [name for name in known if name.lower().endswith(f" {text.lower()}")]
    return f" Did you mean {known[near[0]]!r}?" if near else ""
