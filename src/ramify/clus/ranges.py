"""Ranges of columns such as ``2-5,8``, counted from 1 as in CLUS."""

from __future__ import annotations

import re

from ramify.clus.errors import SettingsError, quoted

_PART = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?", re.ASCII)


def columns_of(text: str, n_columns: int, where: str) -> tuple[int, ...]:
    """Return the columns of a range.

    Parameters
    ----------
    text : str
        Numbers and ranges separated by commas; None for no column.
    n_columns : int
        Number of columns of the data.
    where : str
        The place of the range, for error messages.

    Returns
    -------
    tuple of int
        Indices from 0 in increasing order.

    Examples
    --------
    >>> columns_of("2-4,8", 10, "run.s")
    (1, 2, 3, 7)
    """
    found: set[int] = set()
    for first, last in check_range(text, where):
        if last > n_columns:
            raise SettingsError(
                f"{where} must hold columns from 1 to {n_columns}, got {quoted(text)}."
            )
        found.update(range(first - 1, last))
    return tuple(sorted(found))


def check_range(text: str, where: str) -> list[tuple[int, int]]:
    """Check a range before the number of columns is known.

    Parameters
    ----------
    text : str
        Numbers and ranges separated by commas; None for no column.
    where : str
        The place of the range, for error messages.

    Returns
    -------
    list of (int, int)
        The first and the last column of each part, from 1.

    Examples
    --------
    >>> check_range("2-4,8", "run.s")
    [(2, 4), (8, 8)]
    """
    if text == "None":
        return []
    found = []
    for part in text.split(","):
        match = _PART.fullmatch(part.strip())
        if match is None:
            raise SettingsError(
                f"{where} must be a range of columns such as 2-5,8, got {quoted(text)}."
            )
        first, last = int(match[1]), int(match[2] or match[1])
        if not 1 <= first <= last:
            raise SettingsError(
                f"{where} must be a range of columns from 1 on in increasing order such as 2-5,8, "
                f"got {quoted(text)}."
            )
        found.append((first, last))
    return found
