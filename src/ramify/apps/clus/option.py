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
    """An option of CLUS.

    Attributes
    ----------
    section, name : str
        Its place in a settings file.
    kind : str
        Kind of its values; "limit" is an integer or Infinity.
    default : str
        Value if the option is not set, as CLUS writes it.
    status : str
        "supported", "without effect" on what ramify computes, or "unsupported".
    meaning : str
        The meaning of the option.
    reason : str
        Why it is unsupported or without effect, or what ramify does differently.
    choices : tuple of str
        The names that CLUS knows as values, for the kinds "choice", "choices" and "numbers".
    unsupported : tuple of str
        The choices that ramify does not support.
    """

    section: str
    name: str
    kind: Kind
    default: str
    status: Status
    meaning: str
    reason: str = ""
    choices: tuple[str, ...] = ()
    unsupported: tuple[str, ...] = ()
