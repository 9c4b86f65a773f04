"""Write numbers as Java and CLUS do."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal

__all__ = ["java_double", "java_doubles", "number", "numbers"]


def java_double(value: float) -> str:
    """Return a number as ``Double.toString`` of Java writes it.

    Numbers from 0.001 up to 10 million are written as decimals, all others in scientific notation.
    The digits are the fewest that distinguish the number from all others, as in Python. (Java
    before version 19 writes up to two more digits for some numbers above 10^16.)

    Examples
    --------
    >>> [java_double(x) for x in (1.0, 0.3, 12345678.0, 0.0002, -0.0, float("inf"))]
    ['1.0', '0.3', '1.2345678E7', '2.0E-4', '-0.0', 'Infinity']
    """
    value = float(value)
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    text = repr(value)
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return text if "e" not in text else format(Decimal(text), "f")
    sign, digits, exponent = Decimal(text).normalize().as_tuple()
    first, *rest = map(str, digits)
    power = int(exponent) + len(rest)
    return f"{'-' if sign else ''}{first}.{''.join(rest) or '0'}E{power}"


def java_doubles(values: Iterable[float]) -> str:
    """Return a list of numbers as CLUS writes it in settings.

    Examples
    --------
    >>> java_doubles([0.5, 30])
    '[0.5,30.0]'
    """
    return f"[{','.join(map(java_double, values))}]"


def number(value: float, digits: int = 6) -> str:
    """Return a number as CLUS writes it in results.

    Numbers between -1 and 1 are written in scientific notation with exactly `digits` decimals,
    all others with at most `digits` decimals. Ties are rounded to the even digit.

    Examples
    --------
    >>> [number(x) for x in (1 / 3, 2.5, 1.0, 0.0, 7.5333333333, float("nan"))]
    ['3.333333E-1', '2.5', '1', '0', '7.533333', 'NaN']
    >>> number(-0.25, 4), number(0.99999999, 4), number(1e-7, 3)
    ('-2.5000E-1', '1.0000E0', '1.000E-7')
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

    Examples
    --------
    >>> numbers([1.0, 0.5, 2.25], 3)
    '[1,5.000E-1,2.25]'
    """
    return f"[{separator.join(number(value, digits) for value in values)}]"
