"""A progress bar for long work, by rich."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

__all__ = ["track"]

T = TypeVar("T")


def track(items: Iterable[T], total: int, description: str, *, shown: bool) -> Iterator[T]:
    """Yield the items, with a progress bar on standard error if it is wanted.

    Parameters
    ----------
    items : iterable
        What is being worked through.
    total : int
        How many there will be.
    description : str
        What the bar says.
    shown : bool
        Whether there is a bar.

    Returns
    -------
    iterator
        The items.

    Examples
    --------
    >>> list(track(range(3), 3, "Counting", shown=False))
    [0, 1, 2]
    """
    if not shown:
        return iter(items)
    try:
        from rich.console import Console  # noqa: PLC0415 (optional)
        from rich.progress import track as rich_track  # noqa: PLC0415 (optional)
    except ImportError:
        raise ImportError(
            "verbose shows a progress bar, which needs the package rich. Install it with "
            "pip install 'ramify[cli]', or set verbose=False."
        ) from None
    return iter(rich_track(items, description, total=total, console=Console(stderr=True)))
