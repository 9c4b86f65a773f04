"""Values of options: lists, numbers, names, and their checks."""

from __future__ import annotations

import re
from collections.abc import Callable

from ramify._messages import did_you_mean
from ramify.clus.bounds import check_bounds, check_form
from ramify.clus.errors import SettingsError, quoted
from ramify.clus.option import Kind, Option
from ramify.clus.ranges import check_range

_INTEGER = re.compile(r"[+-]?\d{1,10}", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?[dDfF]?|[+-]?Infinity", re.ASCII)
_JAVA_INTEGERS = range(-(2**31), 2**31)
_YES = {"yes", "on", "true"}
_NO = {"no", "off", "false", "0"}  # CLUS also accepts 1 for No, which is refused here


def items(value: str) -> list[str]:
    """Split a list such as ``[a, b]``, or ``{a,b}`` in older files; otherwise return one item.

    Parameters
    ----------
    value : str
        The value.

    Returns
    -------
    list of str
        Its items.

    Examples
    --------
    >>> items("[Train, Test]"), items("Test"), items("[]")
    (['Train', 'Test'], ['Test'], [])
    """
    if value[:1] + value[-1:] in {"[]", "{}"}:
        inner = value[1:-1].strip()
        return [item.strip() for item in inner.split(",")] if inner else []
    return [value]


def number_of(text: str) -> float:
    """Return a number as Java reads it; raise ValueError for any other text.

    Parameters
    ----------
    text : str
        Digits, or Infinity.

    Returns
    -------
    float
        The number.

    Examples
    --------
    >>> number_of("2.5"), number_of("Infinity")
    (2.5, inf)
    """
    if _NUMBER.fullmatch(text) is None:
        raise ValueError(f"not a number: {quoted(text)}")
    return float(text.rstrip("dDfF"))


def same_value(one: str, other: str) -> bool:
    """Compare two values: lists item by item, numbers as numbers.

    Parameters
    ----------
    one, other : str
        The values.

    Returns
    -------
    bool
        Whether they mean the same.

    Examples
    --------
    >>> same_value("0", "0.0"), same_value("[]", "None")
    (True, False)
    """
    return [_meaning(item) for item in items(one)] == [_meaning(item) for item in items(other)]


def _meaning(item: str) -> str | float:
    return float(item.rstrip("dDfF")) if _NUMBER.fullmatch(item) else item


def check_value(option: Option, value: str, where: str) -> str:
    """Check a value and return it as CLUS 2.12.8 spells it.

    Parameters
    ----------
    option : Option
        The option.
    value : str
        Its value in the file.
    where : str
        Its place, for error messages.

    Returns
    -------
    str
        The value.

    Examples
    --------
    >>> from ramify.clus.options import OPTIONS
    >>> check_value(OPTIONS["Hierarchical", "Type"], "TREE", "run.s")
    'Tree'
    """
    return _CHECKS[option.kind](option, value, where)


def _relisted(value: str, found: list[str]) -> str:
    """Write the items of a list again; a single value stays a single value."""
    return f"[{','.join(found)}]" if value[:1] in "[{" else found[0]


def _text(option: Option, value: str, where: str) -> str:
    check_form(option, value, where)
    return value


def _yes_no(option: Option, value: str, where: str) -> str:
    if value.lower() in _YES:
        return "Yes"
    if value.lower() in _NO:
        return "No"
    raise SettingsError(f"{where} must be Yes or No, got {quoted(value)}.")


def _choice(option: Option, value: str, where: str) -> str:
    for name in option.choices:
        if name.lower() == value.lower():
            return name
    raise SettingsError(
        f"{where} must be one of {', '.join(option.choices)}, got {quoted(value)}."
        f"{did_you_mean(value, option.choices)}"
    )


def _integer(option: Option, value: str, where: str) -> str:
    if option.kind == "limit" and value == "Infinity":
        return value
    if _INTEGER.fullmatch(value) is None or int(value) not in _JAVA_INTEGERS:
        also = " or Infinity" if option.kind == "limit" else ""
        raise SettingsError(f"{where} must be an integer{also}, got {quoted(value)}.")
    check_bounds(option, int(value), where)
    return str(int(value))


def _number(option: Option, value: str, where: str) -> str:
    if _NUMBER.fullmatch(value) is None:
        raise SettingsError(f"{where} must be a number, got {quoted(value)}.")
    check_bounds(option, number_of(value), where)
    return value


def _choices(option: Option, value: str, where: str) -> str:
    return f"[{', '.join(_choice(option, item, where) for item in items(value))}]"


def _integers(option: Option, value: str, where: str) -> str:
    if not items(value):
        raise SettingsError(f"{where} must have at least one integer, got {quoted(value)}.")
    return _relisted(value, [_integer(option, item, where) for item in items(value)])


def _numbers(option: Option, value: str, where: str) -> str:
    if value in option.choices:
        return value
    if not items(value):
        raise SettingsError(f"{where} must have at least one number, got {quoted(value)}.")
    return _relisted(value, [_number(option, item, where) for item in items(value)])


def _columns(option: Option, value: str, where: str) -> str:
    if value != "Default":
        check_range(value, where)
    return value


_CHECKS: dict[Kind, Callable[[Option, str, str], str]] = {
    "text": _text,
    "file": _text,
    "yes_no": _yes_no,
    "integer": _integer,
    "number": _number,
    "limit": _integer,
    "integers": _integers,
    "numbers": _numbers,
    "choice": _choice,
    "choices": _choices,
    "columns": _columns,
}
