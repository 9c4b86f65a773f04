"""Progress bar for long-running tasks, based on rich."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

T = TypeVar("T")


def track(
    items: Iterable[T],
    total: int,
    description: str,
    *,
    shown: bool,
    note: Callable[[], str] | None = None,
) -> Iterator[T]:
    """Yield the items, optionally showing a progress bar on standard error.

    >>> list(track(range(3), 3, "Counting", shown=False))
    [0, 1, 2]
    """
    if not shown:
        return iter(items)
    try:
        from rich.console import Console  # noqa: PLC0415 (optional)
        from rich.progress import Progress, TextColumn  # noqa: PLC0415 (optional)
        from rich.progress import track as rich_track  # noqa: PLC0415 (optional)
    except ImportError:
        raise ImportError(
            "verbose=True shows a progress bar, which requires rich. Run: pip install "
            "'ramify[cli]', or set verbose=False."
        ) from None
    console = Console(stderr=True, emoji=False)
    if note is None:
        return iter(rich_track(items, description, total=total, console=console))
    columns = (*Progress.get_default_columns(), TextColumn("{task.fields[note]}"))
    return _annotate(items, total, description, Progress(*columns, console=console), note)


def _annotate(
    items: Iterable[T], total: int, description: str, progress: Any, note: Callable[[], str]
) -> Iterator[T]:
    with progress:
        task = progress.add_task(description, total=total, note=note())
        for item in items:
            yield item
            progress.update(task, advance=1, note=note())
