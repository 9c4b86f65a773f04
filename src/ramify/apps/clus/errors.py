"""Errors of settings files: one line with the place, the option, the value and the remedy."""

from __future__ import annotations

from pathlib import Path

from ramify.io.errors import FormatError

_SHOWN = 60  # characters of a value in a message


class SettingsError(FormatError):
    """Raised if a settings file is malformed, or if a value in it is wrong."""


class UnsupportedOptionError(SettingsError):
    """Raised if a settings file asks for something that ramify does not do."""


def place(path: Path, line: int | None = None, section: str = "", option: str = "") -> str:
    """Describe a place in a settings file.

    >>> place(Path("run.s"), 7, "Tree", "FTest")
    'run.s, line 7: [Tree] FTest'
    """
    where = str(path) if line is None else f"{path}, line {line}"
    what = f"[{section}] {option}".rstrip() if section else option
    return f"{where}: {what}" if what else where


def quoted(value: str) -> str:
    """Quote a value of a settings file in a message, shortened and without control characters.

    >>> quoted("0.5")
    "'0.5'"
    """
    return repr(value if len(value) <= _SHOWN else value[:_SHOWN] + "...")
