"""Numbers are written as Java and CLUS write them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify.apps.clus.values import java_double, number


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_java_doubles_read_back_exactly(value: float) -> None:
    text = java_double(value)
    assert float(text) == value
    mantissa, _, exponent = text.partition("E")
    whole, _, decimals = mantissa.lstrip("-").partition(".")
    assert decimals
    assert bool(exponent) == (value != 0 and not 1e-3 <= abs(value) < 1e7)
    assert not exponent or (len(whole) == 1 and whole != "0")


# Printed by Double.toString of Java 17.
@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.7308781907032909, "0.7308781907032909"),
        (2.0560279927022104e-06, "2.0560279927022104E-6"),
        (100.0, "100.0"),
        (1e7, "1.0E7"),
        (9999999.0, "9999999.0"),
        (0.001, "0.001"),
        (0.00099, "9.9E-4"),
        (math.inf, "Infinity"),
    ],
)
def test_java_doubles_equal_those_of_java(value: float, text: str) -> None:
    assert java_double(value) == text


@given(st.floats(-1e6, 1e6), st.integers(1, 8))
def test_numbers_are_rounded_to_the_nearest(value: float, digits: int) -> None:
    text = number(value, digits)
    unit = 10.0**-digits
    if 0 < abs(value) < 1:
        assert "E" in text
        unit *= 10.0 ** int(text.partition("E")[2])
    assert float(text) == pytest.approx(value, abs=0.5000001 * unit, rel=1e-15)
