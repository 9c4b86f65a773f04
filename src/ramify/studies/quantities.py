"""Quantities: the measures and costs that have a value in every cell."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

__all__ = ["COSTS", "Quantity", "quantity_names"]


@dataclass(frozen=True)
class Quantity:
    """A measure or cost that has a value in every cell.

    Attributes
    ----------
    name, title : str
        Name in files, and title in reports.
    higher_is_better : bool
        Whether larger values are better.
    kind : {"score", "overfit", "seconds", "nodes", "megabytes"}
        How values are formatted.
    """

    name: str
    title: str
    higher_is_better: bool
    kind: str

    def show(self, value: float) -> str:
        """Format a value.

        Parameters
        ----------
        value : float
            The value; NaN gives a dash.

        Returns
        -------
        str
            Three decimals for scores, three digits for seconds, whole numbers of nodes and
            megabytes.

        Examples
        --------
        >>> Quantity("time", "time", False, "seconds").show(12.345)
        '12.3'
        """
        if not np.isfinite(value):
            return "–"
        if self.kind in ("score", "overfit"):
            return f"{value:.3f}"
        if self.kind == "seconds":
            return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
        return f"{value:,.0f}"


COSTS = (
    Quantity("fit_cpu_seconds", "learning time (CPU seconds)", False, "seconds"),
    Quantity("complexity", "size (nodes of all trees)", False, "nodes"),
    Quantity("peak_memory_mb", "peak memory (MB)", False, "megabytes"),
)


def quantity_names(measures: Iterable[tuple[str, bool]]) -> list[str]:
    """Return the names of all quantities of a study.

    Parameters
    ----------
    measures : iterable of (str, bool)
        Names of the measures, and whether each is computed on the training rows, too.

    Returns
    -------
    list of str
        Measures, overfit scores and costs.

    Examples
    --------
    >>> quantity_names([("auprc", True), ("loss", False)])[:3]
    ['auprc', 'loss', 'overfit:auprc']
    """
    known = list(measures)
    return [
        *(name for name, _ in known),
        *(f"overfit:{name}" for name, train in known if train),
        *(cost.name for cost in COSTS),
    ]
