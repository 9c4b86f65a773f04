"""One option of CLUS: its values, its default and what ramify does with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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
