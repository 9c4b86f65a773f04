"""Let features count in the impurity, so that rows without labels help, and choose how much."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy import sparse

from ramify._schema import IfPresent, MapOf, Number, Schema
from ramify.data.rows import by_columns, take_rows
from ramify.labels.unknown import UnknownLabels
from ramify.metrics import pooled_auprc
from ramify.trees.f_test_choice import draw_splits
from ramify.trees.options import TreeOptions
from ramify.trees.parameters import is_list
from ramify.trees.tree_data import LabelTargets, TreeData

SUPERVISION_SCHEMA: Schema = {
    "supervision_": IfPresent(Number(0, 1)),
    "supervision_scores_": IfPresent(MapOf(Number(0, 1), Number(finite=False))),
}

_CLEARLY_BETTER = 1.01
"""A value other than 1 is chosen if its score is larger than that of 1 by this factor."""

_CONSTANT = 1e-12
"""A feature whose squares about the mean sum to less than this, as part of its squares, varies by
rounding only."""


_NO_PART = 1e-30
"""A part of the impurity that is rounded off."""


@dataclass(frozen=True)
class FeatureTargets:
    """Features as columns of numbers whose squares about the mean sum to 1 over all rows.

    Each feature that varies has the same part in the sum; a nominal one has a column for each
    category. Columns with missing values come last.
    """

    cells: sparse.csr_array[np.float64]
    missing: sparse.csr_array[np.int32]  # where the value is missing
    n_varying: int  # features

    def scaled(self, total: float) -> FeatureTargets:
        """Return the columns whose squares sum to another total."""
        return replace(self, cells=self.cells * np.sqrt(total))


def features_as_targets(
    X: Any, n_categories: NDArray[np.int32], weights: NDArray[np.float64]
) -> FeatureTargets:
    """Return the features, numbers and codes, as targets of rows with these weights."""
    n_rows = X.shape[0]
    complete: list[_Cells] = []
    gappy: list[_Cells] = []
    gaps: list[NDArray[np.intp]] = []
    n_used = 0
    for x, n_values in zip(_columns(X), n_categories.tolist(), strict=True):
        gap = np.isnan(x)
        parts = list(_as_targets(x, n_values, np.where(gap, 0.0, weights)))
        n_used += len(parts) > 0
        if gap.any():
            gappy += parts
            gaps += [np.flatnonzero(gap)] * len(parts)
        else:
            complete += parts
    cells = _from_columns([*complete, *gappy], n_rows)
    cells.data /= np.sqrt(max(1, n_used))
    places = [np.empty(0, dtype=np.intp)] * len(complete) + gaps
    missing = _from_columns([(rows, np.ones(len(rows))) for rows in places], n_rows)
    return FeatureTargets(cells, missing.astype(np.int32), n_used)


_Cells = tuple[NDArray[np.intp], NDArray[np.float64]]


def _columns(X: Any) -> Iterator[NDArray[np.float64]]:
    if not sparse.issparse(X):
        yield from np.asarray(X, dtype=np.float64).T
        return
    X = by_columns(X)
    for j in range(X.shape[1]):
        yield np.asarray(X[:, [j]].toarray()[:, 0], dtype=np.float64)


def _as_targets(
    x: NDArray[np.float64], n_values: int, weights: NDArray[np.float64]
) -> Iterator[_Cells]:
    """Yield the rows and numbers of the columns of a feature; weights are 0 where it is missing.

    A feature of which most values are 0 keeps its zeros; others are relative to their mean, which
    changes no variance and keeps sums small.
    """
    total, used = float(weights.sum()), weights > 0
    if not used.any():
        return
    if n_values == 0:
        x = np.where(used, x, 0.0)
        largest = np.abs(x).max()
        x = x / largest if largest > 0 else x
        mean = float(weights @ x) / total
        spread = float(weights @ (x - mean) ** 2)
        if spread <= _CONSTANT * float(weights @ x**2):
            return
        if 2 * np.count_nonzero(x) >= len(x):
            x = np.where(used, x - mean, 0.0)
        rows = np.flatnonzero(x)
        yield rows, x[rows] / np.sqrt(spread)
        return
    codes = np.where(used, x, 0).astype(np.intp)
    sums = np.bincount(codes, weights, n_values)
    spread = total - float(sums @ sums) / total
    if spread <= _CONSTANT * total:
        return
    values, factor = np.flatnonzero(sums), 1.0
    if len(values) == 2:  # both columns have the same variance
        values, factor = values[[np.argmin(sums[values])]], 2.0
    for value in values:
        rows = np.flatnonzero(used & (codes == value))
        yield rows, np.full(len(rows), np.sqrt(factor / spread))


def _from_columns(columns: list[_Cells], n_rows: int) -> sparse.csr_array[Any]:
    indptr = np.cumsum([0, *(len(rows) for rows, _ in columns)])
    rows = np.concatenate([np.empty(0, dtype=np.intp), *(rows for rows, _ in columns)])
    values = np.concatenate([np.empty(0), *(values for _, values in columns)])
    return sparse.csc_array((values, rows, indptr), shape=(n_rows, len(columns))).tocsr()


def mix_features(data: TreeData, supervision: float) -> TreeData:
    """Return the data of trees that reduce the impurity of labels and features.

    It is 1 per weight over all rows, `supervision` of which are the labels' part. In CLUS, that is
    `supervision` times the mean variance of labels, times the weight of the rows with labels.
    """
    if supervision == 1:
        return data
    targets = cast("LabelTargets", data.targets)
    n_labels = targets.n_columns
    unknown = _rows_without_labels(targets) if data.clus else targets.unknown
    if unknown is None:
        nothing: Any = sparse.csr_array((1, n_labels), dtype=np.int32)
        unknown = UnknownLabels(np.zeros(data.n_rows, dtype=np.uint32), nothing)
    total = float(data.weights.sum())
    label_weights = targets._weights
    known = total - unknown.weights(data.weights)
    sums = np.asarray(targets.Y.T @ data.weights, dtype=np.float64)
    some = known > _CONSTANT * total
    spread = float(label_weights[some] @ (sums[some] - sums[some] ** 2 / known[some]))
    # With supervision=0, too, nodes in which labels do not differ are leaves.
    factor = max(supervision, _NO_PART) * total / spread if spread > _CONSTANT * total else 1.0
    features = _features_of(data)
    if data.clus:
        # Scores are divided by the number of labels, whose weights sum to 1. Constants count.
        total *= n_labels * features.n_varying / data.n_features
        factor = max(supervision, _NO_PART) * n_labels / float(label_weights.sum())
    return data.with_targets(
        replace(
            targets,
            weights=label_weights * factor,
            features=features.scaled((1 - supervision) * total),
            unknown=unknown,
        ),
        data.rows,
    )


def _rows_without_labels(targets: LabelTargets) -> UnknownLabels:
    """Return the unknown labels as CLUS has them: all of a row without labels, no others."""
    unknown = targets.unknown
    if unknown is not None and not (unknown.all_known | unknown.nothing_known).all():
        raise ValueError(
            "y must have all labels of a row or none with clus_compat=True, got rows that know "
            "some labels. Use clus_compat=False."
        )
    patterns = sparse.csr_array(np.repeat([[0], [1]], targets.n_columns, axis=1).astype(np.int32))
    return UnknownLabels((~targets.known).astype(np.uint32), patterns)


def _features_of(data: TreeData) -> FeatureTargets:
    """Return the features of these data as targets, which is done once."""
    if "features" not in data._prepared:
        data._prepared["features"] = features_as_targets(
            data.X, data.schema.n_categories, data.weights
        )
    return cast("FeatureTargets", data._prepared["features"])


# ---- choosing how much features count -------------------------------------------------------


def find_labelled(data: TreeData) -> NDArray[np.bool_] | None:
    """Return which rows learnt from have labels, or None if all have, or features do not count."""
    targets = cast("LabelTargets", data.targets)
    if getattr(targets, "features", None) is None or targets.unknown is None:
        return None
    labelled = ~targets.unknown.nothing_known
    if data.rows is not None:
        labelled = labelled[data.rows]
    return None if labelled.all() else labelled


def supervise(estimator: Any, data: TreeData, cv: Any, random: RandomState) -> TreeData:
    """Return data for trees of an estimator, whose `supervision` is chosen from a list."""
    given = estimator.supervision
    if not is_list(given):
        return mix_features(data, float(given))
    scores = score_supervision(estimator, data, sorted({*map(float, given), 1.0}), cv, random)
    best = max(scores, key=lambda part: (scores[part], part))
    if scores[best] < _CLEARLY_BETTER * scores[1.0]:
        best = 1.0
    estimator.supervision_, estimator.supervision_scores_ = best, scores
    return mix_features(data, best) if best < 1 else with_labels_only(data)


def with_labels_only(data: TreeData) -> TreeData:
    """Return the data without the rows that know no label."""
    targets = cast("LabelTargets", data.targets)
    if targets.unknown is None or not targets.unknown.nothing_known.any():
        return data
    rows = np.flatnonzero(~targets.unknown.nothing_known)
    known = replace(targets, Y=targets.Y[rows], unknown=targets.unknown.take(rows))
    return replace(
        data,
        X=take_rows(data.X, rows),
        targets=known,
        weights=data.weights[rows],
        _prepared={},
    )


def score_supervision(
    estimator: Any, data: TreeData, parts: list[float], cv: Any, random: RandomState
) -> dict[float, float]:
    """Return the pooled AU(PRC) of each value on held-out rows with labels."""
    targets = cast("LabelTargets", data.targets)
    n_rows = data.n_rows
    labelled = np.ones(n_rows, dtype=bool)
    if targets.unknown is not None:
        labelled = ~targets.unknown.nothing_known
    rows = np.flatnonzero(labelled & (data.weights > 0))
    splits = draw_splits(rows, cv, TreeOptions.of(estimator), random, targets.Y)
    tests = np.concatenate([test for _, test in splits])
    truth: Any = targets.Y[tests].astype(np.float64)
    if targets.unknown is not None:
        truth = truth + targets.unknown.as_rows()[tests] * np.nan
    found = {}
    for part in parts:
        mixed = mix_features(data, part)
        predicted = []
        for _, test in splits:
            learnt = np.setdiff1d(np.arange(n_rows), test)
            learnt = learnt[labelled[learnt]] if part == 1 else learnt
            scores = estimator._score_held_out(
                mixed.with_targets(cast("LabelTargets", mixed.targets), learnt),
                data.by_rows[test],
            )
            predicted.append(scores)
        found[part] = float(
            pooled_auprc(
                truth,
                np.concatenate(predicted),
                hierarchy=estimator.hierarchy_,
                sample_weight=data.weights[tests],
            )
        )
    return found
