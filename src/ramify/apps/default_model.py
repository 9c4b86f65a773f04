"""Choose the model that `ramify train` fits if none is named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing

from ramify._messages import shorten
from ramify.apps.named_estimators import DEFAULT, make_model
from ramify.data.columns import text_columns
from ramify.decision.best_sets import count_ends
from ramify.model_selection import choose_model

if TYPE_CHECKING:
    from ramify.io.tables.table import Table

_MOST_ROWS, _FEWEST_ROWS = 1_000, 50  # on which models are compared
_MOST_LABELS = 1_000  # with more, boosting would take longer than all the rest
_MEASURES = {True: "hierarchical_f1", False: "pooled_auprc"}  # of rows that have one path or not
_SPOKEN = {
    "hierarchical_f1": "hierarchical F1",
    "pooled_auprc": "AU(PRC)",
    "gradient-boosting": "boosting",
    "linear": "a linear model",
    "per-parent": "linear models per parent",
    "forest": "a forest",
}


def default_model(table: Table, *, may_compare: bool = True) -> tuple[str, str]:
    """Return the name of the model that suits a table, and why; no reason for a usual forest.

    Linear models weigh all the terms of a text, fast and accurately; trees need no preparation and
    find what depends on several columns. Where neither is certain, some of the rows tell.
    `may_compare`: whether they may; no row that has chosen the model can be held out later.
    """
    texts = text_columns(table.X)
    y, hierarchy = table.y, table.hierarchy
    if y is None or hierarchy is None:
        return DEFAULT, ""
    is_path = not (count_ends(y, hierarchy) != 1).any()
    names = _candidates(table, y.shape, has_texts=bool(texts), is_path=is_path)
    if not texts:
        if len(names) == 1 or not may_compare:
            return DEFAULT, ""
        best, told = _better_on_some_rows(table, names, _MEASURES[is_path])
        return best, "" if best == DEFAULT else told
    reason = f"{shorten(texts)} {'contains' if len(texts) == 1 else 'contain'} texts"
    if not is_path:
        reason = f"{reason}, and rows have label sets"
    if len(texts) == len(table.feature_names) or not may_compare:
        return names[0], reason
    best, told = _better_on_some_rows(table, names, _MEASURES[is_path])
    return best, f"{reason}, {'but' if best == DEFAULT else 'and'} {told}"


def _candidates(
    table: Table, shape: tuple[int, ...], *, has_texts: bool, is_path: bool
) -> list[str]:
    """Return the names of models to compare; the first is taken unless another is better."""
    if has_texts:
        return ["linear" if is_path else "per-parent", DEFAULT]
    n_rows, n_labels = shape
    if n_rows < _FEWEST_ROWS or n_labels > _MOST_LABELS or table.unknown is not None:
        return [DEFAULT]
    if sparse.issparse(table.X):
        return [DEFAULT, "linear" if is_path else "per-parent"]
    return [DEFAULT, "gradient-boosting", *(["linear"] if is_path else [])]


def _better_on_some_rows(table: Table, names: list[str], measure: str) -> tuple[str, str]:
    """Return which model is better on some rows of a table, and how good all are."""
    X, groups, weights = table.X, table.groups, table.sample_weight
    n_rows = X.shape[0]
    rows = np.arange(n_rows)
    if n_rows > _MOST_ROWS:
        rows = np.sort(np.random.default_rng(0).choice(n_rows, _MOST_ROWS, replace=False))
    settings: dict[str, list[str]] = {DEFAULT: ["n_estimators=50"]}
    choice = choose_model(
        _safe_indexing(X, rows),
        cast("Any", table.y)[rows],
        hierarchy=table.hierarchy,
        groups=None if groups is None else groups[rows],
        candidates=[(name, make_model(name, None, settings.get(name, ()))) for name in names],
        scoring=measure,
        sample_weight=None if weights is None else weights[rows],
        cv=3,
        time_limit=None,
        random_state=0,
    )
    scores = {trial.name: trial.mean(measure) for trial in choice.trials}
    others = [
        f"that of {_SPOKEN[name]} {scores[name]:.2f}" for name in names if name != choice.name
    ]
    return choice.name, (
        f"on {len(rows):,} rows, its {_SPOKEN[measure]} is {scores[choice.name]:.2f}, "
        f"{' and '.join(others)}"
    )
