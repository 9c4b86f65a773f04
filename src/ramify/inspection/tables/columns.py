"""Describe the columns of a table, and find those that name the labels or could be labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify._messages import import_extra
from ramify.data.columns import VECTOR, seconds_of, tell_texts
from ramify.data.dates import is_clock, is_time
from ramify.inspection.tables.facts import ColumnFacts, Proposal
from ramify.io.tables.roles import reason_to_drop
from ramify.io.tables.table import Table
from ramify.labels.texts import find_separator

__all__ = ["describe_column", "find_leaks", "propose_labels"]

_N_BINS = 12
_N_VALUES = 5
_LONGEST = 80  # characters of a value that are shown
_ROWS = 20_000  # from which leaks and proposals are told
_LEAK = 0.98  # the share of rows whose labels a column tells
_FEW = 20
_NAMES = ("labels", "label", "class", "target", "taxon", "category", "klasse", "species", "y")


def describe_column(table: Table, name: str, column: Any, reason: str = "") -> ColumnFacts:
    """Return what a column has: a feature, or one that is left out for a reason."""
    known = column[column.notna()]
    n_missing, n_distinct = int(column.isna().sum()), int(known.nunique())
    role = "left out" if reason else "feature"
    why = table.reasons.get(name, "")
    if n_distinct == 0:
        return ColumnFacts(name, "empty", role, reason, n_missing, 0)
    counts: dict[str, Any] = {"n_missing": n_missing, "n_distinct": n_distinct}
    if n_distinct == 1:
        first = _shown(known.iloc[0])
        told = f"every cell is {first!r}" if not n_missing else f"all known cells are {first!r}"
        values = [(first, len(known))]
        return ColumnFacts(name, "constant", role, reason or told, **counts, values=values)
    if isinstance(known.iloc[0], bytes):  # a vector; see `ramify.data.vectors.without_vectors`
        told = f"vectors of {len(known.iloc[0]) // 8} numbers"
        return ColumnFacts(name, VECTOR, role, told, **counts)
    if hasattr(column, "cat") or (column.dtype.kind == "O" and not is_clock(column)):
        is_text, found = tell_texts(known.astype(object).tolist())
        kind = "text" if is_text else "category"
        if kind == "category":
            found = found.partition(",")[0] if "," in found.partition(" values")[2] else found
        told = f"{reason}: {found}" if reason else why or found
        return ColumnFacts(name, kind, role, told, **counts, values=_frequent(known))
    if is_time(column) or is_clock(column):
        kind, shown = ("date", _dates(known)) if is_time(column) else ("time", _times(known))
        usual = "durations" if known.dtype.kind == "m" else "dates"
        told = reason or why or (usual if kind == "date" else "times of day")
        return ColumnFacts(name, kind, role, told, **counts, **shown)
    numbers = np.asarray(known, dtype=np.float64)
    told = reason or why or "all cells are numbers"
    return ColumnFacts(name, "number", role, told, **counts, **_numbers(numbers))


def _shown(value: Any) -> str:
    value = f"{value:.15g}" if isinstance(value, float | np.floating) else value
    text = " ".join(str(value).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _frequent(known: Any) -> list[tuple[str, int]]:
    counts = known.value_counts().head(_N_VALUES)
    return [(_shown(value), int(count)) for value, count in counts.items()]


def _numbers(values: NDArray[np.float64]) -> dict[str, Any]:
    finite = values[np.isfinite(values)]
    if not len(finite):
        return {}
    low, middle, high = finite.min(), np.median(finite), finite.max()
    return {
        "low": f"{low:.4g}" if abs(low) < 1e4 else f"{low:,.0f}",
        "middle": f"{middle:.4g}" if abs(middle) < 1e4 else f"{middle:,.0f}",
        "high": f"{high:.4g}" if abs(high) < 1e4 else f"{high:,.0f}",
        "bins": _bins(finite),
    }


def _bins(values: NDArray[np.float64]) -> list[int]:
    low, high = float(values.min()), float(values.max())
    if not np.isfinite(high - low) or high <= low:
        return [len(values)]
    places = np.minimum((values - low) / (high - low) * _N_BINS, _N_BINS - 1).astype(np.intp)
    return [int(count) for count in np.bincount(places, minlength=_N_BINS)]


def _dates(known: Any) -> dict[str, Any]:
    if getattr(known.dtype, "tz", None) is not None:
        known = known.dt.tz_convert("UTC").dt.tz_localize(None)
    values = known.to_numpy()
    ticks = values.astype(f"{values.dtype.kind}8[s]")
    order = np.sort(ticks)
    shown = [str(order[place]).replace("T00:00:00", "") for place in (0, len(order) // 2, -1)]
    bins = _bins(order.astype(np.int64).astype(np.float64))
    return {"low": shown[0], "middle": shown[1], "high": shown[2], "bins": bins}


def _times(known: Any) -> dict[str, Any]:
    order = sorted(known)
    shown = [str(order[place]) for place in (0, len(order) // 2, -1)]
    bins = _bins(seconds_of(np.array(order, dtype=object), "times"))
    return {"low": shown[0], "middle": shown[1], "high": shown[2], "bins": bins}


# ---- columns that tell the labels -----------------------------------------------------------


def find_leaks(X: Any, Y: Any, names: Sequence[str], labels: Sequence[Any]) -> list[str]:
    """Return sentences on features that name the labels of the rows, or determine them.

    A column determines the labels if rows with the same value have the same labels, although
    values repeat and label sets differ. Often it is a code of the label.
    """
    rows = Y.shape[0]
    some = np.unique(np.linspace(0, rows - 1, min(rows, _ROWS)).astype(np.intp))
    Y = Y[some]
    sets = [tuple(Y.indices[Y.indptr[i] : Y.indptr[i + 1]]) for i in range(len(some))]
    code = {one: k for k, one in enumerate(dict.fromkeys(sets))}
    codes = np.array([code[one] for one in sets], dtype=np.intp)
    counts = np.bincount(codes)
    if len(counts) < 3 or counts.max() > 0.9 * len(codes) or len(codes) <= _FEW:
        return []
    words = [{_folded(part) for j in one for part in str(labels[j]).split("/")} for one in code]
    found = []
    for name in names:
        cells = X[name].iloc[some]
        told = _names_labels(cells, codes, words) or _determines(cells, codes)
        if told:
            found.append(
                f"column {name!r} {told}. If it is not known for new rows, leave it out: "
                f"drop=[{name!r}]"
            )
    return found


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _names_labels(cells: Any, codes: NDArray[np.intp], words: Sequence[set[str]]) -> str:
    if not (hasattr(cells, "cat") or cells.dtype.kind == "O"):
        return ""
    known = cells.notna().to_numpy()
    texts = [_folded(str(cell)) for cell in cells[known]]
    n_named = sum(text in words[code] for text, code in zip(texts, codes[known], strict=True))
    if n_named < _LEAK * max(1, len(texts)) or len(set(texts)) < 2:
        return ""
    return f"names a label in {n_named / len(texts):.0%} of its rows"


def _determines(cells: Any, codes: NDArray[np.intp]) -> str:
    pandas = import_extra("pandas", "tables")
    values = pandas.factorize(cells)[0]
    known = values >= 0
    values, codes = values[known], codes[known]
    counts = np.bincount(values) if len(values) else np.array([], dtype=np.intp)
    repeated = counts[values] > 1 if len(values) else counts
    # Nearly every value must repeat, and several label sets be told apart.
    if len(values) <= _FEW or repeated.mean() < 0.8 or len(counts) < len(np.unique(codes)) / 2:
        return ""
    pairs = Counter(zip(values.tolist(), codes.tolist(), strict=True))
    best: dict[int, int] = {}
    for (value, _), count in pairs.items():
        best[value] = max(best.get(value, 0), count)
    share = sum(best.values()) / len(values)
    largest = np.bincount(codes).max() / len(codes)
    if share < _LEAK or largest > 0.9 or len({code for _, code in pairs}) < 3:
        return ""
    return (
        f"determines the labels: rows with the same value have the same labels in {share:.0%} of "
        f"the rows ({len(counts):,} values)"
    )


# ---- columns that could be labels -----------------------------------------------------------


def propose_labels(table: Table) -> list[Proposal]:
    """Return columns that may be the labels: paths and sets, then levels, then categories."""
    rows = table.X.iloc[:_ROWS]
    names = [
        name
        for name in table.feature_names
        if hasattr(rows[name], "cat") and not _is_unlikely(rows[name])
    ]
    ranked: list[tuple[float, Proposal]] = []
    for name in names:
        cells = rows[name].dropna().astype(str)
        distinct = cells.unique().tolist()
        separator = find_separator(distinct) if len(distinct) > 3 else None
        score = 1.0 if name.casefold() in _NAMES else 0.0
        told = f"{len(distinct):,} names, each in {len(cells) / len(distinct):.1f} rows on average"
        if separator is not None:
            score, told = score + 3, f"paths, whose names are separated by {separator!r}"
        elif any(";" in text for text in distinct):
            score, told = score + 2, "sets of names joined by ';'"
        ranked.append((score, Proposal([name], told)))
    for chain in _chains(rows, names):
        listed = f"levels: each value of {chain[-1]!r} belongs to one of {chain[-2]!r}"
        ranked.append((2.5 + 0.1 * len(chain), Proposal(chain, listed)))
    ranked.sort(key=lambda item: -item[0])
    return [proposal for _, proposal in ranked[:_N_VALUES]]


def _is_unlikely(column: Any) -> bool:
    known = column.dropna()
    n_distinct = known.nunique()
    return n_distinct < 2 or 2 * n_distinct > len(known) or reason_to_drop(column) != ""


def _chains(rows: Any, names: Sequence[str]) -> list[list[str]]:
    """Return the longest chains of columns of which each divides the one before it."""
    order = sorted(names, key=lambda name: int(rows[name].nunique()))
    best: dict[str, list[str]] = {}
    for place, name in enumerate(order):
        chain = [name]
        for top in order[:place]:
            if len(best[top]) + 1 > len(chain) and _divides(rows, top, name):
                chain = [*best[top], name]
        best[name] = chain
    longest = [chain for chain in best.values() if len(chain) > 1]
    return [chain for chain in longest if not any(set(chain) < set(other) for other in longest)]


def _divides(rows: Any, top: str, below: str) -> bool:
    """Return whether each value of a column belongs to one value of another, which has fewer."""
    pairs = rows[[top, below]].dropna()
    n_top, n_below = int(pairs[top].nunique()), int(pairs[below].nunique())
    if not 2 <= n_top < n_below or len(pairs) < 2 * n_below:
        return False
    tops = pairs.astype(str).drop_duplicates()
    # Several values must share one above, or the columns say the same.
    return len(tops) == n_below and n_below > 1.3 * n_top
