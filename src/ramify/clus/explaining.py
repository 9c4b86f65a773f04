"""Explain a settings file: what its options mean, and Python code that does the same."""

from __future__ import annotations

import textwrap

from ramify.clus.equivalent_code import python_code
from ramify.clus.options import OPTIONS
from ramify.clus.settings import Settings
from ramify.clus.switches import Switches

__all__ = ["explain"]

_WIDTH = 97
_SWITCHES = {
    "forest": "-forest: learn an ensemble, with the options of the section Ensemble",
    "xval": "-xval: cross-validate",
    "fold": "-fold {}: no effect with -xval, which runs all folds",
    "target": "-target {}: predict these columns instead of those of Target",
    "disable": "-disable {}: leave out these columns as well",
}


def explain(settings: Settings, switches: Switches) -> str:
    """Explain what a settings file does.

    Parameters
    ----------
    settings : Settings
        The settings.
    switches : Switches
        The switches of the command line.

    Returns
    -------
    str
        Python code that learns and evaluates the same model, with the options as comments.
    """
    lines = [f"What {settings.path} sets:", ""]
    for (section, name), entry in settings.entries.items():
        option = OPTIONS[section, name]
        meaning = f"[{section}] {name} = {entry.value} (line {entry.line}): {option.meaning}."
        if option.status == "without effect":
            meaning += f" No effect: {option.reason}."
        lines.append(meaning)
    for name, text in _SWITCHES.items():
        value = getattr(switches, name)
        if value not in (None, False):
            lines.append(f"{text.format(value)}.")
    comments = [comment for line in lines for comment in _comment(line)]
    return "\n".join([*comments, "", *python_code(settings, switches)]) + "\n"


def _comment(line: str) -> list[str]:
    wrapped = textwrap.wrap(line, _WIDTH, subsequent_indent="    ", break_long_words=False)
    return [f"# {part}" for part in wrapped] or ["#"]
