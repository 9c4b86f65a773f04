"""Read numbers as people write them: 1.234,5 and 1,234.5, 12 kg, ca. 5, <0.1, 12 %, € 3, 4 / 5.

A text such as 1,234 is 1.234 in some countries and 1234 in others. A column is only read if its
cells, or those of other columns of the file, leave one meaning.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

_MARKERS = frozenset(
    (
        *("?", "??", "-", "--", "---", "–", "—", ".", "..", "...", "…", "n.a.", "n. a.", "n.a"),
        *(
            "n/a",
            "n/v",
            "n.v.",
            "na",
            "nan",
            "k.a.",
            "k. a.",
            "k.a",
            "n.d.",
            "n. d.",
            "nd",
            "n.b.",
        ),
        *("missing", "unknown", "unbekannt", "none", "null", "nil", "leer", "fehlt", "empty"),
        *("(blank)", "(leer)", "keine angabe", "not available", "not applicable", "no data"),
    )
)
_UNMISTAKABLE = _MARKERS - {
    *("?", "??", "-", "--", "---", "–", "—", ".", "..", "...", "…", "na", "nd", "missing"),
    *("unknown", "unbekannt", "none", "nil", "leer", "fehlt", "empty"),
}
_ERROR_VALUE = re.compile(
    r"#(?:n/a|nv|na|null!?|name\?|ref!|bezug!|value!|wert!|num!|zahl!|div/0!)"
)

_CURRENCIES = r"[€$£¥₹₽₩]|EUR|USD|GBP|CHF|JPY|CNY|SEK|NOK|DKK|PLN|CZK|AUD|CAD|INR|BRL"
_BODY = r"[+\-−]?(?:\d(?:[\d.,'’\u00a0\u2009\u202f ]*\d)?[.,]?|[.,]\d+)(?:[eE][+\-−]?\d{1,3})?"
_UNIT = r"[^\W\d_][^\d\s;,()<>=]{0,11}|[%‰°€$£¥₹₽₩µμΩ][^\d\s;,()<>=]{0,7}"
_SCALE = r"(?:/|of|out of|von|sur|de|di|van|av)\s*\d{1,3}"  # as in 4.5 / 5
_CELL = re.compile(
    rf"(?P<about>(?:ca|circa|approx|about|etwa|rund|around)\.?\s*|[~≈]\s*)?"
    rf"(?P<bound>(?:<=|>=|≤|≥|<|>)\s*)?"
    rf"(?:(?P<before>{_CURRENCIES})\s*)?"
    rf"(?P<body>{_BODY})"
    rf"(?P<gap>\s*)(?P<unit>{_SCALE}|(?:{_UNIT})(?:[²³]|\d)?(?:[ /·*](?:{_UNIT})(?:[²³]|\d)?)?)?",
    re.IGNORECASE,
)
_NUMBER = re.compile(_BODY)
_CODE = re.compile(r"0\d+")
_EVEN = str.maketrans({"−": "-", "’": "'", "\u00a0": " ", "\u2009": " ", "\u202f": " "})

_UNITS = frozenset(
    (
        *("mm", "cm", "dm", "m", "km", "µm", "μm", "um", "nm", "in", "inch", "ft", "mi", "mm²"),
        *("cm²", "m²", "m2", "km²", "km2", "ha", "cm³", "cm3", "m³", "m3", "l", "ml", "cl", "dl"),
        *("µl", "ng", "µg", "mg", "g", "kg", "t", "lb", "lbs", "oz", "s", "sec", "ms", "min", "h"),
        *("hr", "°", "°c", "°f", "%", "‰", "ppm", "ppb", "j", "kj", "kcal", "cal", "w"),
        *("kw", "mw", "kwh", "mwh", "v", "mv", "kv", "ma", "hz", "khz", "mhz", "ghz", "pa"),
        *("hpa", "kpa", "bar", "mbar", "mmhg", "db", "lx", "mol", "mmol", "mmol/l", "mg/l"),
        *("mg/dl", "g/l", "g/dl", "µg/l", "m/s", "km/h", "mph", "kb", "mb", "gb", "tb", "bit"),
        *("€", "$", "£", "eur", "usd", "chf", "gbp", "stk", "stück", "pcs", "years", "yrs"),
        *("days", "weeks", "months", "hours", "minutes", "jahre", "tage", "wochen", "monate"),
    )
)
"""Units of one letter, or without a blank before them, that are no part of a code such as 12a."""


def is_marker(text: str) -> bool:
    """Return whether a text among numbers or dates means that the value is missing."""
    folded = text.strip().casefold()
    return folded in _MARKERS or _ERROR_VALUE.fullmatch(folded) is not None


def is_unmistakable(text: str) -> bool:
    """Return whether a text means that the value is missing even among names."""
    folded = text.strip().casefold()
    return folded in _UNMISTAKABLE or _ERROR_VALUE.fullmatch(folded) is not None


def is_code(text: str) -> bool:
    """Return whether a text consists of digits and begins with a superfluous zero."""
    return _CODE.fullmatch(text) is not None


def is_known_unit(unit: str) -> bool:
    """Return whether a unit is a common one."""
    return unit.casefold().rstrip(".") in _UNITS


# ---- which numbers texts without units may be -----------------------------------------------


@dataclass(frozen=True)
class NumberForm:
    """A decimal mark, and the mark between groups of three digits if there are any."""

    decimal: str
    thousands: str | None = None

    def pattern(self) -> re.Pattern[str]:
        """Return a pattern of the numbers in this form, grouped or not."""
        point = re.escape(self.decimal)
        whole = r"\d+"
        if self.thousands is not None:
            whole = rf"(?:\d{{1,3}}(?:{re.escape(self.thousands)}\d{{3}})+|\d+)"
        return re.compile(rf"[+-]?(?:{whole}(?:{point}\d*)?|{point}\d+)(?:[eE][+-]?\d+)?")

    def value(self, text: str) -> float:
        """Return the number that a text in this form means."""
        if self.thousands is not None:
            text = text.replace(self.thousands, "")
        return float(text.replace(self.decimal, "."))


_FORMS = (
    NumberForm("."),
    NumberForm(","),
    *(NumberForm(".", group) for group in (",", "'", " ")),
    *(NumberForm(",", group) for group in (".", "'", " ")),
)
_PATTERNS = {form: form.pattern() for form in _FORMS}


def is_number(text: str) -> bool:
    """Return whether a text is a number in some form, without a unit.

    >>> [is_number(text) for text in ("1.234,5", "-3", "1e-5", "12 kg", "1.2.2024", "")]
    [True, True, True, False, False, False]
    """
    if _NUMBER.fullmatch(text) is None:
        return False
    text = text.translate(_EVEN)
    return any(pattern.fullmatch(text) for pattern in _PATTERNS.values())


def forms_of(
    texts: Collection[str], decimal: str | None = None, thousands: str | None = None
) -> dict[NumberForm, list[float]]:
    """Return the numbers that some texts are, if so, in every form with another meaning.

    >>> forms_of(["1.234,5", "7"])
    {NumberForm(decimal=',', thousands='.'): [1234.5, 7.0]}
    >>> [form.decimal for form in forms_of(["1,234", "2,500"])]
    [',', '.']
    """
    even = [text.translate(_EVEN) for text in texts]
    found: dict[NumberForm, list[float]] = {}
    for form, pattern in _possible(decimal, thousands).items():
        if all(map(pattern.fullmatch, even)):
            values = [form.value(text) for text in even]
            if values not in found.values():
                found[form] = values
    if len(found) > 1 and (grouped := [form for form in found if form.thousands]):
        # Numbers of up to three digits beside 1,234, and none of four: digits are in groups.
        whole = [len(text.lstrip("+-")) for text in even if text.lstrip("+-").isdecimal()]
        if whole and max(whole) == 3:
            return {grouped[0]: found[grouped[0]]}
    return found


def _possible(decimal: str | None, thousands: str | None) -> dict[NumberForm, re.Pattern[str]]:
    """Return the forms with the marks that a user has given."""
    forms = _PATTERNS
    if decimal not in (None, ".", ",") or thousands not in (None, ".", ",", "'", " "):
        form = NumberForm(decimal or ".", thousands)
        forms = {form: form.pattern()}
    return {
        form: pattern
        for form, pattern in forms.items()
        if decimal in (None, form.decimal)
        and (thousands is None or form.thousands in (None, thousands))
        and form.decimal != thousands
    }


# ---- cells with units and other additions ---------------------------------------------------


@dataclass(frozen=True)
class Written:
    """The parts of a cell that has a number."""

    body: str  # the number
    unit: str = ""  # what follows it or, for a currency, precedes it
    has_gap: bool = False  # whether a blank precedes the unit
    about: bool = False  # as in "ca. 5" and "~5"
    bound: bool = False  # as in "<0.1"


def written(text: str) -> Written | None:
    """Return the parts of a cell that has a number; None if it is something else.

    >>> written("ca. 12,5 kg")
    Written(body='12,5', unit='kg', has_gap=True, about=True, bound=False)
    >>> written("from 5 to 7") is None
    True
    """
    found = _CELL.fullmatch(text)
    if found is None or (found["before"] and found["unit"]) or not is_number(found["body"]):
        return None
    unit = found["before"] or found["unit"] or ""
    if unit and found["body"].endswith((".", ",")):
        return None
    return Written(
        body=found["body"],
        unit=_even_unit(unit),
        has_gap=bool(found["gap"] or found["before"]),
        about=found["about"] is not None,
        bound=found["bound"] is not None,
    )


def on_compass(parts: Mapping[str, Written], unit: str = "") -> Mapping[str, Written]:
    """Return latitudes or longitudes with signs; other numbers, or of another unit, as they are.

    >>> on_compass({text: written(text) for text in ("50.1N", "7.5S")})["7.5S"]
    Written(body='-7.5', unit='°', has_gap=False, about=False, bound=False)
    """
    ends = {part.unit.lstrip("° ").upper() for part in parts.values()}
    # 12 N may be newtons, and 60 W watts.
    is_clear = len(ends) == 2 or unit == "°" or all("°" in part.unit for part in parts.values())
    if not is_clear or not ends or not (ends <= {"N", "S"} or ends <= {"E", "W"}):
        return parts
    return {
        text: replace(
            part, body=("-" if part.unit.upper()[-1] in "SW" else "") + part.body, unit="°"
        )
        for text, part in parts.items()
    }


def _even_unit(unit: str) -> str:
    """Return a unit in one spelling: Kg is kg, but Mg is not mg."""
    plain = unit.rstrip(".").replace("μ", "µ")
    return plain if plain[:1] in "mMpP" else plain.lower() if is_known_unit(plain) else plain


def decimals_of(texts: Sequence[str]) -> set[str]:
    """Return the decimal marks that numbers may have: none if they are whole numbers."""
    found = forms_of(texts)
    if len(found) == 1 and all(text.lstrip("+-−").isdecimal() for text in texts):
        return set()
    return {form.decimal for form in found}
