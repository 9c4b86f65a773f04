"""Options and switches of CLUS.

The options stand in options.csv, in the order in which CLUS prints them. A line with a section but
no option has what the options of the section have in common: status, meaning and reason.
"""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal

Kind = Literal[
    "text",
    "file",
    "yes_no",
    "integer",
    "number",
    "limit",
    "integers",
    "numbers",
    "choice",
    "choices",
    "columns",
]
Status = Literal["supported", "without effect", "unsupported"]


@dataclass(frozen=True)
class Option:
    """An option of CLUS."""

    section: str  # its place in a settings file
    name: str
    kind: Kind  # kind of its values; "limit" is an integer or Infinity
    default: str  # value if the option is not set, as CLUS writes it
    status: Status  # "supported", "without effect" on what ramify computes, or "unsupported"
    meaning: str  # the meaning of the option
    reason: str = ""  # why it is unsupported or without effect, or what ramify does differently
    # The names that CLUS knows as values, for the kinds "choice", "choices" and "numbers".
    choices: tuple[str, ...] = ()
    unsupported: tuple[str, ...] = ()  # the choices that ramify does not support
    bounds: tuple[float, float] = (-math.inf, math.inf)  # least and largest number


def _read_options() -> dict[tuple[str, str], Option]:
    found = {}
    shared: dict[str, str] = {}
    text = files(__package__).joinpath("options.csv").read_text(encoding="utf-8")
    for row in csv.DictReader(text.splitlines()):
        if not row["option"]:
            shared = row
            continue
        if not row["status"]:
            row |= {name: shared[name] for name in ("status", "meaning", "reason")}
        least, _, most = row["bounds"].partition("..")
        kind: Any = row["kind"]
        status: Any = row["status"]
        found[row["section"], row["option"]] = Option(
            row["section"],
            row["option"],
            kind,
            row["default"],
            status,
            row["meaning"],
            row["reason"],
            tuple(row["choices"].split()),
            tuple(row["unsupported"].split()),
            (float(least or -math.inf), float(most or math.inf)),
        )
    return found


OPTIONS = _read_options()
"""All options by section and name, in the order in which CLUS prints them."""

SECTIONS = tuple(dict.fromkeys(section for section, _ in OPTIONS))

# Spellings of older versions of CLUS, in which names of values ignore case as they do here.
OLD_SECTIONS = {"MultiLabel": "Multilabel"}
OLD_OPTIONS = {
    ("Hierarchical", "ClassificationTreshold"): "ClassificationThreshold",
}
OLD_VALUES = {
    ("Tree", "PruningMethod"): {"C4.5": "C45"},
}


# ---- switches -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Switches:
    """The switches of one run.

    Attributes
    ----------
    forest : bool
        ``-forest``: learn an ensemble with the options of the section Ensemble.
    xval : bool
        ``-xval``: cross-validate with the folds of XVal in the section Data.
    fold : int or None
        ``-fold i``: accepted with ``-xval``, where CLUS runs all folds anyway.
    target : str or None
        ``-target r``: columns that replace Target in the section Attributes.
    disable : str or None
        ``-disable r``: columns to disable in addition to those of Disable in the section
        Attributes.
    silent : bool
        ``-silent``: print nothing but errors.
    ssl : bool
        ``-ssl``: learn from rows without labels too, with the options of the section
        SemiSupervised.
    """

    forest: bool = False
    xval: bool = False
    fold: int | None = None
    target: str | None = None
    disable: str | None = None
    silent: bool = False
    ssl: bool = False
