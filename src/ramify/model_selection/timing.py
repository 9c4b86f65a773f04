"""Time limits: how long a fit will take, and whether it will end in time."""

from __future__ import annotations

import math
from time import perf_counter

__all__ = ["Stopwatch", "extrapolate"]


class Stopwatch:
    """The time left until a limit.

    Parameters
    ----------
    limit : float or None
        The limit in seconds, counted from now; None for no limit.
    """

    def __init__(self, limit: float | None) -> None:
        self.limit = math.inf if limit is None else float(limit)
        self._started = perf_counter()

    @property
    def seconds(self) -> float:
        """The seconds since the start."""
        return perf_counter() - self._started

    @property
    def left(self) -> float:
        """The seconds until the limit; negative after it."""
        return self.limit - self.seconds


def extrapolate(seconds: float, n_measured: int, n_rows: int) -> float:
    """Estimate the time to fit a model on some rows from the time on fewer rows.

    The time is assumed to grow as n log n, like the time for growing trees.

    Parameters
    ----------
    seconds : float
        The measured time.
    n_measured : int
        The number of rows in the measurement.
    n_rows : int
        The number of rows for the estimate.

    Returns
    -------
    float
        Seconds.

    Examples
    --------
    >>> round(extrapolate(1.0, 100, 10_000))
    200
    """
    return seconds * (n_rows * math.log(n_rows + 1)) / (n_measured * math.log(n_measured + 1))
