"""Curves of a study: a measure against the rounds of a model, an option, levels or leaves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["KINDS", "CurveSpec"]

KINDS = {
    "stages": "rounds",
    "option": "value",
    "levels": "level",
    "nested": "number of leaves k",
}
"""What a curve may run over, with the default title of the horizontal axis."""


@dataclass(frozen=True)
class CurveSpec:
    """A curve to which every fold of a model adds points.

    Attributes
    ----------
    name, title, x_title : str
        Name in files, title in reports, and title of the horizontal axis.
    over : {"stages", "option", "levels", "nested"}
        "stages": the measure after some rounds of models with ``staged_predict``. "option": the
        measure at several values of one of its options; a model around another one that has a
        parameter of that name decides again at every value. "levels": the accuracy on every level
        of the hierarchy. "nested": the fraction of rows whose best set of k leaves contains the
        best set of k - 1.
    measure : str
        For "stages" and "option": a function of `ramify.metrics`.
    options : dict
        Options of the measure that stay the same.
    option : str
        For "option": the option that varies.
    values : tuple of float
        Rounds, values of the option, or numbers of leaves.
    models : tuple of str
        The models to draw; if empty, all.
    rows : int or None
        Use at most this many test rows.
    log : bool
        Whether the horizontal axis is logarithmic.
    """

    name: str
    title: str
    x_title: str
    over: str
    measure: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    option: str = ""
    values: tuple[float, ...] = ()
    models: tuple[str, ...] = ()
    rows: int | None = None
    log: bool = False

    def settings(self) -> dict[str, Any]:
        """Return the settings that determine the points."""
        return {
            "over": self.over,
            "measure": self.measure,
            "options": dict(self.options),
            "option": self.option,
            "values": list(self.values),
            "rows": self.rows,
        }
