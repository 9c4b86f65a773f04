"""Turn advice for Python into advice for the command line: the options of arguments."""

from __future__ import annotations

import re

# Arguments of readers whose options have other names; the others only differ in hyphens.
_OPTIONS = {
    "id_column": "--id",
    "sample_weight": "--weight",
    "kinds": "--kind",
    "limits": "--limit",
}
_ARGUMENTS = (
    *_OPTIONS,
    *("target", "separator", "label_separator", "gaps", "groups", "drop", "keep", "delimiter"),
    *("decimal", "thousands", "dates", "header", "sheet", "footer", "missing", "encoding"),
    "index_base",
)
_NAMES = "|".join(_ARGUMENTS)
_TEXT = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_GIVEN = re.compile(
    rf"\b(?P<name>{_NAMES})=(?:\{{(?P<column>{_TEXT}): '(?P<kind>\w+)'\}}"
    rf"|\[(?P<items>(?:{_TEXT})(?:, (?:{_TEXT}))*)\]|(?P<text>{_TEXT})"
    r"|(?P<plain>(?:[\w-]+(?:\.[\w-]+)*)?))"
)
_MUST = re.compile(rf"^(?P<name>{_NAMES})(?= (?:must|cannot)\b)")
_LIMIT = re.compile(r"limits=ramify\.io\.ReadLimits\((\w+=\d+)\) or, on the command line, ")


def as_options(text: str) -> str:
    """Return a message with the options of the command line in place of arguments of Python.

    >>> as_options("pass decimal=',' or kinds={'plz': 'number'}, and missing=['k. A.', '-'].")
    "pass --decimal ',' or --kind 'plz=number', and --missing 'k. A.' --missing '-'."
    >>> as_options("Pass the label column with target=.")
    'Pass the label column with --target.'
    """
    text = _LIMIT.sub("", text).replace("ramify.list_datasets()", "ramify datasets")
    return _MUST.sub(lambda found: _option(found["name"]), _GIVEN.sub(_written, text))


def _option(name: str) -> str:
    return _OPTIONS.get(name, f"--{name.replace('_', '-')}")


def _written(found: re.Match[str]) -> str:
    option = _option(found["name"])
    if found["column"]:
        return f"{option} {_quoted(_content(found['column']) + '=' + found['kind'])}"
    if found["items"]:
        items = re.findall(_TEXT, found["items"])
        return " ".join(f"{option} {_quoted(_content(item))}" for item in items)
    value = _quoted(_content(found["text"])) if found["text"] else found["plain"]
    return f"{option} {value}".rstrip()


def _content(text: str) -> str:
    """Return a string from its form in Python."""
    return re.sub(r"\\(.)", lambda found: "\t" if found[1] == "t" else found[1], text[1:-1])


def _quoted(text: str) -> str:
    """Return a value as it is typed in a shell."""
    if text == "\t":
        return "'\\t'"
    return f"'{text}'" if "'" not in text else f'"{text}"'
