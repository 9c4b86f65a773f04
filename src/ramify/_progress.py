"""Progress bar for long-running tasks, based on rich."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

__all__ = ["track"]

T = TypeVar("T")


def track(items: Iterable[T], total: int, description: str, *, shown: bool) -> Iterator[T]:
    """Yield the items, optionally showing a progress bar on standard error.

    Parameters
    ----------
    items : iterable
        The items to iterate over.
    total : int
        Number of items.
    description : str
        Text shown next to the bar.
    shown : bool
        Whether to show the bar.

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
            "verbose=True shows a progress bar, which requires rich. Run: pip install "
            "'ramify[cli]', or set verbose=False."
        ) from None
    return iter(rich_track(items, description, total=total, console=Console(stderr=True)))
