"""Find what stands below the rows of a table: totals and footnotes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ramify._validation import is_missing

_MOST_ROWS = 10
_TOTAL = re.compile(
    r"(?:(?:grand|sub|over)[ -]?)?totals?|all|sum|sums|summe|summen|gesamt|gesamtsumme|insgesamt"
    r"|mean|average|avg\.?|mittelwert|mittel|durchschnitt|median|total général|totale|suma|[∑Σ]",
    re.IGNORECASE,
)


def without_footer(frame: Any, targets: Sequence[str]) -> tuple[Any, list[str]]:
    """Leave out totals and footnotes at the end, and say so.

    Totals have a word such as "Total" that occurs in no other row, and no label; a footnote is a
    text of several words alone in its row. Other rows without labels are data.
    """
    n_rows = len(frame)
    dropped: list[str] = []
    last = n_rows
    for place in range(n_rows - 1, max(n_rows - _MOST_ROWS, 1) - 1, -1):
        cells = {
            name: str(value).strip()
            for name, value in frame.iloc[place].items()
            if not is_missing(value) and str(value).strip()
        }
        if not cells:
            continue
        word = _word_of_footer(frame, place, cells, targets)
        if word is None:
            break
        last = place
        dropped.insert(0, word)
    if not dropped:
        return frame, []
    rows = "row was" if len(dropped) == 1 else "rows were"
    listed = ", ".join(repr(word[:60]) for word in dropped)
    note = f"{len(dropped)} {rows} left out below the data: {listed} (footer='keep')"
    return frame.iloc[:last], [note]


def _word_of_footer(
    frame: Any, place: int, cells: dict[str, str], targets: Sequence[str]
) -> str | None:
    """Return the text that shows that a row is none of the data; None if it is a row of data."""
    first, text = next(iter(cells.items()))
    labels = [cells[name] for name in targets if name in cells]
    plain = text.rstrip(": ")
    if _TOTAL.fullmatch(plain) and labels in ([], [text]):
        above = frame[first].iloc[:place].astype(str).str.strip()
        return None if (above == text).any() else text
    is_note = len(cells) == 1 and len(frame.columns) > 2 and (first == frame.columns[0])
    is_prose = len(text.split()) > 2 or text.startswith(("*", "†", "1)")) or ": " in text
    return text if is_note and is_prose and first not in targets else None
