"""Values of options: numbers, ranges, lists and their bounds."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from decimal import Decimal

from ramify._messages import did_you_mean
from ramify.apps.clus.errors import SettingsError, quoted
from ramify.apps.clus.options import Kind, Option

_INTEGER = re.compile(r"[+-]?\d{1,10}", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?[dDfF]?|[+-]?Infinity", re.ASCII)
_JAVA_INTEGERS = range(-(2**31), 2**31)
_YES = {"yes", "on", "true"}
_NO = {"no", "off", "false", "0"}  # CLUS also accepts 1 for No, which is refused here


def items(value: str) -> list[str]:
    """Split a list such as ``[a, b]``, or ``{a,b}`` in older files; otherwise return one item.

    >>> items("[Train, Test]"), items("Test"), items("[]")
    (['Train', 'Test'], ['Test'], [])
    """
    if value[:1] + value[-1:] in {"[]", "{}"}:
        inner = value[1:-1].strip()
        return [item.strip() for item in inner.split(",")] if inner else []
    return [value]


def number_of(text: str) -> float:
    """Return a number as Java reads it; raise ValueError for any other text.

    >>> number_of("2.5"), number_of("Infinity")
    (2.5, inf)
    """
    if _NUMBER.fullmatch(text) is None:
        raise ValueError(f"not a number: {quoted(text)}")
    return float(text.rstrip("dDfF"))


def same_value(one: str, other: str) -> bool:
    """Compare two values: lists item by item, numbers as numbers."""
    return [_meaning(item) for item in items(one)] == [_meaning(item) for item in items(other)]


def _meaning(item: str) -> str | float:
    return float(item.rstrip("dDfF")) if _NUMBER.fullmatch(item) else item


def check_value(option: Option, value: str, where: str) -> str:
    """Check a value and return it as CLUS 2.12.8 spells it."""
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


# ---- numbers as Java writes them ------------------------------------------------------------


def java_double(value: float) -> str:
    """Return a number as ``Double.toString`` of Java writes it, with as few digits as possible.

    Java before version 19 writes up to two more digits for some numbers above 10^16, and for
    powers of two, as if both neighbours were as near as the lower one.

    >>> java_double(2.0**-24), java_double(0.5)
    ('5.9604644775390625E-8', '0.5')
    """
    value = float(value)
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    text = repr(value)
    if 0 < abs(value) < 1e-3 and abs(math.frexp(value)[0]) == 0.5:
        text = _power_of_two(value)
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return text if "e" not in text else format(Decimal(text), "f")
    sign, digits, exponent = Decimal(text).normalize().as_tuple()
    first, *rest = map(str, digits)
    power = int(exponent) + len(rest)
    return f"{'-' if sign else ''}{first}.{''.join(rest) or '0'}E{power}"


def _power_of_two(value: float) -> str:
    """Return the shortest decimal within a quarter of the distance to the next number."""
    exact, room = Decimal(value), Decimal(math.ulp(value)) / 4
    for digits in range(1, 18):
        text = f"{value:.{digits - 1}e}"
        if abs(Decimal(text) - exact) < room:
            return text
    return repr(value)


def java_doubles(values: Iterable[float]) -> str:
    """Return a list of numbers as CLUS writes it in settings.

    >>> java_doubles([0.5, 30])
    '[0.5,30.0]'
    """
    return f"[{','.join(map(java_double, values))}]"


def number(value: float, digits: int = 6) -> str:
    """Return a number as CLUS writes it in results.

    Numbers between -1 and 1 are written in scientific notation with exactly `digits` decimals,
    all others with at most `digits` decimals. Ties are rounded to the even digit.
    """
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if 0 < abs(value) < 1:
        mantissa, exponent = f"{value:.{digits}e}".split("e")
        return f"{mantissa}E{int(exponent)}"
    text = f"{value:.{digits}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return text


def numbers(values: Iterable[float], digits: int = 6, separator: str = ",") -> str:
    """Return numbers in brackets, each written by `number`.

    >>> numbers([1.0, 0.5, 2.25], 3)
    '[1,5.000E-1,2.25]'
    """
    return f"[{separator.join(number(value, digits) for value in values)}]"


# ---- ranges of columns ----------------------------------------------------------------------


_PART = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?", re.ASCII)


def columns_of(text: str, n_columns: int, where: str) -> tuple[int, ...]:
    """Return the columns of a range, counted from 0, in increasing order."""
    found: set[int] = set()
    for first, last in check_range(text, where):
        if last > n_columns:
            raise SettingsError(
                f"{where} must hold columns from 1 to {n_columns}, got {quoted(text)}."
            )
        found.update(range(first - 1, last))
    return tuple(sorted(found))


def check_range(text: str, where: str) -> list[tuple[int, int]]:
    """Check a range before the number of columns is known.

    >>> check_range("2-4,8", "run.s")
    [(2, 4), (8, 8)]
    """
    if text == "None":
        return []
    found = []
    for part in text.split(","):
        match = _PART.fullmatch(part.strip())
        if match is None:
            raise SettingsError(
                f"{where} must be a range of columns such as 2-5,8, got {quoted(text)}."
            )
        first, last = int(match[1]), int(match[2] or match[1])
        if not 1 <= first <= last:
            raise SettingsError(
                f"{where} must be a range of columns from 1 on in increasing order such as 2-5,8, "
                f"got {quoted(text)}."
            )
        found.append((first, last))
    return found


# ---- bounds of numbers, and forms of values -------------------------------------------------


_FRACTION = r"0?\.\d+([eE]-?\d+)?|0|1|1\.0*"
_FORMS: dict[tuple[str, str], tuple[str, str]] = {
    ("Data", "XVal"): (r"LOO|[2-9]|[1-9]\d{1,6}", "LOO or an integer >= 2"),
    ("Ensemble", "SelectRandomSubspaces"): (
        rf"SQRT|LOG|\d{{1,7}}|{_FRACTION}",
        "SQRT, LOG, an integer >= 0 or a fraction",
    ),
}
_FILES_OR_FRACTIONS = {("Data", "TestSet"), ("Data", "PruneSet")}
_PLAIN_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def check_bounds(option: Option, number: float, where: str) -> None:
    """Raise an error if a number is out of bounds.

    >>> from ramify.apps.clus.options import OPTIONS
    >>> check_bounds(OPTIONS["Tree", "FTest"], 2.0, "run.s, line 3: [Tree] FTest")
    Traceback (most recent call last):
    ...
    ramify.apps.clus.errors.SettingsError: run.s, line 3: [Tree] FTest must be from 1e-12 to 1,
    got 2.
    """
    least, most = option.bounds
    if not least <= number <= most:
        span = f"at least {least:g}" if math.isinf(most) else f"from {least:g} to {most:g}"
        raise SettingsError(f"{where} must be {span}, got {number:g}.")


def check_form(option: Option, value: str, where: str) -> None:
    """Raise an error if a text is neither a name nor a number that an option knows.

    >>> from ramify.apps.clus.options import OPTIONS
    >>> check_form(OPTIONS["Data", "XVal"], "1", "run.s, line 3: [Data] XVal")
    Traceback (most recent call last):
    ...
    ramify.apps.clus.errors.SettingsError: run.s, line 3: [Data] XVal must be LOO or an
    integer >= 2, got '1'.
    """
    key = option.section, option.name
    if key in _FORMS:
        pattern, form = _FORMS[key]
        if re.fullmatch(pattern, value, re.ASCII) is None:
            raise SettingsError(f"{where} must be {form}, got {quoted(value)}.")
    is_number = key in _FILES_OR_FRACTIONS and _PLAIN_NUMBER.fullmatch(value) is not None
    if is_number and not 0 < float(value) < 1:
        raise SettingsError(
            f"{where} must be a file, or a fraction of the rows between 0 and 1, got "
            f"{quoted(value)}."
        )
