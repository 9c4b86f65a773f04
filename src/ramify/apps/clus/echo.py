"""The settings at the beginning of CLUS's result files: all options that are in effect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ramify.apps.clus.options import OPTIONS
from ramify.apps.clus.settings import Settings
from ramify.apps.clus.values import items, java_double, java_doubles, number_of

__all__ = [
    "column_text",
    "settings_lines",
]


# Options that CLUS reads but does not print unless they matter.
_HIDDEN = {
    ("General", "Compatibility"),
    ("Data", "PruneSetMax"),
    ("Tree", "M5PruningMult"),
    ("Tree", "1-SE-Rule"),
}
# Options that CLUS prints as parts of the option before them.
_INDENTED = {("Rules", f"{kind}Weight") for kind in ("Target", "NonTarget", "Numeric", "Nominal")}


def settings_lines(
    settings: Settings, effective: Mapping[tuple[str, str], str | None], sections: Sequence[str]
) -> list[str]:
    """Return the settings as CLUS prints them.

    Returns: the lines, with an empty line after each section.
    """
    lines: list[str] = []
    for section in sections:
        lines.append(f"[{section}]")
        for place, name in OPTIONS:
            if place != section:
                continue
            known = effective.get((section, name), "")
            if known is None or ((section, name) in _HIDDEN and not known):
                continue
            indent = "  " if (section, name) in _INDENTED else ""
            lines.append(f"{indent}{name} = {known or value_text(settings, section, name)}")
        lines.append("")
    return lines


def value_text(settings: Settings, section: str, name: str) -> str:
    """Return a value as CLUS prints it."""
    text = settings.text(section, name)
    if not settings.given(section, name):
        return text
    kind = OPTIONS[section, name].kind
    if kind == "choices":
        return f"[{', '.join(items(text))}]" if text != "None" else "[]"
    if kind == "limit":
        return "Infinity" if settings.limit(section, name) is None else text
    if kind in ("number", "numbers"):
        return _numbers_text(text)
    if kind == "integers":
        found = items(text)
        return f"[{','.join(found)}]" if text[:1] in "[{" else text
    return text


def _numbers_text(text: str) -> str:
    try:
        found = [number_of(item) for item in items(text)]
    except ValueError:
        return text
    return java_doubles(found) if text[:1] in ("[", "{") else java_double(found[0])


def column_text(columns: Sequence[int]) -> str:
    """Return columns, counted from 0, as a range of columns counted from 1.

    Examples
    --------
    >>> column_text((1, 2, 3, 7)), column_text(())
    ('2-4,8', 'None')
    """
    parts: list[list[int]] = []
    for column in sorted(columns):
        if parts and parts[-1][1] == column - 1:
            parts[-1][1] = column
        else:
            parts.append([column, column])
    texts = [f"{a + 1}" if a == b else f"{a + 1}-{b + 1}" for a, b in parts]
    return ",".join(texts) or "None"
