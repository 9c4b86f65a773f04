"""The data of the explorer page: a model and some rows as lists and numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify._messages import counted
from ramify._validation import check_same_length
from ramify.inspection.drawing.layout import relate_labels
from ramify.inspection.importance import importances
from ramify.inspection.node_tests import FeatureNames
from ramify.inspection.outline import outline_parents, short_name
from ramify.inspection.page.performance import (
    COUNTS,
    TITLES,
    Performance,
    describe_certainty,
    measure_rows,
)
from ramify.inspection.rulesets.extraction import root_prior
from ramify.inspection.summary import ModelSummary, TreeSummary, read_tree_rows
from ramify.labels.encoding import read_labels
from ramify.labels.graph import row_of
from ramify.labels.hierarchy import Hierarchy
from ramify.metrics import precision_recall_curves

_DIGITS = 4
_CURVE_POINTS = 40
_RELATED_LABELS = 100  # at most in the graph of related labels
_LEAST_SCORE = 0.01  # smaller probabilities of a forest are not included


def describe_model(model: Any, summary: ModelSummary, max_trees: int) -> dict[str, Any]:
    """Return the labels, features and trees of a model."""
    tested = {int(j) for tree in summary.trees for j in np.unique(tree.tree.feature)}
    if summary.combination == "sum":
        overall = summary.features.select(model._variable_importances()[None])[0]
        spread = np.zeros_like(overall)
    else:
        found = importances(model)
        overall, spread = found.overall, found.overall_spread
    return {
        "kind": summary.kind,
        "unit": "margin" if summary.combination == "sum" else "probability",
        "nTrees": len(summary.trees),
        "trees": [_describe_tree(tree) for tree in summary.trees[:max_trees]],
        "features": _describe_features(summary.features, _n_categories(model, summary), tested),
        "importances": _rounded(overall, 6),
        "importanceSpread": _rounded(spread, 6),
        **_describe_labels(summary.hierarchy),
        **_describe_other_labels(summary, model),
        **(_describe_relations(model) if hasattr(model, "relations") else {}),
    }


def _describe_relations(model: Any) -> dict[str, Any]:
    """Return the graph of related labels of BR-DT."""
    related = relate_labels(model, _RELATED_LABELS)
    return {
        "related": {
            "label": [label.number for label in related.labels],
            "share": [round(label.share, _DIGITS) for label in related.labels],
            "group": [label.group for label in related.labels],
            "x": [round(label.x, _DIGITS) for label in related.labels],
            "y": [round(label.y, _DIGITS) for label in related.labels],
            "edges": [[one, other, round(a, _DIGITS)] for one, other, a in related.edges],
            "groups": related.n_groups,
            "leftOut": related.n_left_out,
        }
    }


def _describe_other_labels(summary: ModelSummary, model: Any) -> dict[str, Any]:
    """Return the labels of a model whose trees predict something else, such as label sets."""
    if summary.hierarchy == model.hierarchy_:
        return {}
    return {"answerLabels": _describe_labels(model.hierarchy_)}


def _describe_labels(hierarchy: Hierarchy) -> dict[str, Any]:
    parents = outline_parents(hierarchy)
    also = {}
    for label in range(hierarchy.n_labels):
        others = [p for p in row_of(hierarchy.parent_rows, label) if p != parents[label]]
        if others:
            also[label] = others
    return {
        "labels": [str(label) for label in hierarchy.labels],
        "short": [_page_name(hierarchy, label) for label in range(hierarchy.n_labels)],
        "parent": parents.tolist(),
        "also": also,
        "separator": hierarchy.separator,
    }


def _page_name(hierarchy: Hierarchy, label: int) -> str:
    """Return the name of a label below its parent; numeric codes are shown as full paths."""
    name = short_name(hierarchy, label)
    return str(hierarchy.labels[label]) if name.isdigit() else name


def _describe_features(
    features: FeatureNames, n_categories: NDArray[np.int32], tested: set[int]
) -> list[dict[str, Any]]:
    described = []
    counts = n_categories.tolist()
    for j, name in enumerate(features.names):
        codes = range(counts[j] if j < len(counts) else 0)  # features of the model have none
        categories = [features.category(j, code) for code in codes] or None
        facts = {"name": name, "categories": categories, "used": j in tested}
        facts |= {"time": features.times[j]} if j in features.times else {}
        described.append(facts | ({"lacks": features.lacks[j]} if j in features.lacks else {}))
    return described


def _n_categories(model: Any, summary: ModelSummary) -> NDArray[np.int32]:
    """Return the number of categories of each feature of X that is shown; 0 for numbers."""
    counts, variables = model.schema_.n_categories, summary.features.variables
    found: NDArray[np.int32] = counts
    if variables is not None:
        found = counts[variables[variables < len(counts)]]
    return found


def _describe_tree(summary: TreeSummary) -> dict[str, Any]:
    """Return the flat arrays of a tree; labels of leaves by position in the hierarchy."""
    tree = summary.tree
    tests = [node.test for node in summary.nodes]
    columns = summary.labels[tree.value_label]
    # Trees of local models have their labels in a different order.
    leaves = sparse.csr_array(
        (tree.value, columns, tree.value_indptr),
        shape=(len(tree.feature), summary.hierarchy.n_labels),
    )
    leaves.sort_indices()
    top, top_value = _top_labels(summary)
    missing = summary.missing_branch
    return {
        "name": summary.name,
        "feature": tree.feature.tolist(),
        # None for a test of missing values, whose threshold is infinite.
        "threshold": [_finite(test.threshold) if test else None for test in tests],
        "text": [test.threshold_text if test else "" for test in tests],
        "codes": {
            i: list(test.branch_of) for i, test in enumerate(tests) if test and test.branch_of
        },
        "childStart": tree.child_indptr.tolist(),
        "child": tree.child.tolist(),
        "shares": _rounded(tree.share, 8),
        "n": tree.n_samples.tolist(),
        "weight": _rounded(tree.weight, 3),
        "missingBranch": None if missing is None else missing.tolist(),
        "missing": [node.n_unknown for node in summary.nodes],
        "hasParts": [int(node.has_parts) for node in summary.nodes],
        "valueStart": leaves.indptr.tolist(),
        "valueLabel": leaves.indices.tolist(),
        "value": _rounded(leaves.data, _DIGITS),
        "purity": _rounded(_shades(summary), 3),
        "top": top,
        "topValue": _rounded(top_value, _DIGITS),
    }


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _shades(summary: TreeSummary) -> NDArray[np.float64]:
    """Return the colour of each node: its purity, or the size of its moves of margins."""
    if summary.unit == "probability":
        return _purity(summary.values)
    moves: Any = summary.values.multiply(summary.values).sum(axis=1)
    sizes = np.sqrt(np.asarray(moves, dtype=np.float64).ravel())
    return np.asarray(sizes / max(float(sizes.max()), np.finfo(float).tiny))


def _purity(values: sparse.csr_array[np.float64]) -> NDArray[np.float64]:
    """Return the purity of each node relative to the root, from 0 to 1."""
    squares = values.multiply(values)
    spread = np.asarray(values.sum(axis=1) - squares.sum(axis=1), dtype=np.float64).ravel()
    if spread[0] <= 0:
        return np.ones(len(spread))
    return np.asarray(np.clip(1 - spread / spread[0], 0, 1), dtype=np.float64)


def _top_labels(summary: TreeSummary) -> tuple[list[int], NDArray[np.float64]]:
    """Return, for each node, the label that most exceeds its frequency in all rows, or -1.

    In a boosted tree, it is the label whose margin moves most.
    """
    values = summary.values
    root = summary.value(0)
    top, top_value = [-1] * values.shape[0], np.zeros(values.shape[0])
    for node in range(values.shape[0]):
        begin, end = values.indptr[node], values.indptr[node + 1]
        if begin == end:
            continue
        labels, shares = values.indices[begin:end], values.data[begin:end]
        moved = np.abs(shares) if summary.unit == "margin" else shares - root[labels]
        gain = np.round(moved, 6)
        # In case of ties, take the last label, which is the most specific.
        best = len(gain) - 1 - int(np.argmax(gain[::-1]))
        top[node], top_value[node] = int(labels[best]), shares[best]
    return top, top_value


@dataclass(frozen=True)
class PageRows:
    """Rows to show on the page."""

    X: Any
    y: Any  # their labels, or None
    names: Sequence[Any] | None  # None for those of a data frame, or row numbers
    max_rows: int  # at most so many are shown
    source: str = ""  # the file of the rows


def describe_rows(
    model: Any,
    summary: ModelSummary,
    given: PageRows,
    trained: Performance | None,
    whole: Any = None,
) -> dict[str, Any]:
    """Return some rows, their labels, the curves of all labels, and how good the model is."""
    X, y, max_rows = given.X, given.y, given.max_rows
    coded = read_tree_rows(model, summary, X)
    n_rows = coded.shape[0]
    called = _row_names(X, given.names, n_rows)
    shown = np.unique(np.linspace(0, n_rows - 1, min(n_rows, max_rows)).round().astype(int))
    cells = coded[shown] if isinstance(coded, np.ndarray) else coded.tocsr()[shown].toarray()
    rows: dict[str, Any] = {"names": [called[i] for i in shown], "X": _cells(cells)}
    found: dict[str, Any] = {"rows": rows, "dataName": f"computed on {counted(n_rows, 'row')}"}
    scores = np.asarray(model.predict_proba(X))
    of_sets = summary.outputs == "label sets"  # which have neither scores nor curves
    if len(summary.trees) > 1 and summary.combination != "sum" and not of_sets:
        rows["scores"] = _sparse_scores(scores[shown])
    if y is not None and not of_sets:
        Y = read_labels(y, summary.hierarchy).Y
        check_same_length(n_rows, Y.shape[0])
        kept = Y[shown]
        rows["truth"] = [row_of((kept.indptr, kept.indices), i) for i in range(len(shown))]
        found["curves"] = _curves(Y, scores, summary.hierarchy)
    measured = model if whole is None else whole
    if measured is not model:
        scores = np.asarray(measured.predict_proba(X))
    truth = None if y is None else read_labels(y, measured.hierarchy_).Y
    own = None
    if truth is not None:
        chosen = read_labels(measured.predict(X), measured.hierarchy_).Y
        shares = _label_shares(summary, trained, truth)
        own = measure_rows(truth, scores, chosen, measured.hierarchy_, shares)
    seen = own is not None and trained is not None and trained.is_of(own.n_rows, own.label_rows)
    if seen:
        found["dataName"] += " of training, so that it is too good for others"
    certainty = describe_certainty(measured, scores, None if seen else truth, shown)
    found |= {"certainty": certainty} if certainty else {}
    return found | {"answers": describe_answers(own, trained, given.source)}


def _label_shares(
    summary: ModelSummary, trained: Performance | None, Y: Any
) -> NDArray[np.float64]:
    """Return the frequencies of the labels in the training rows, or else in the rows given."""
    if trained is not None:
        return trained.label_rows / trained.n_rows
    # All trees are of all rows.
    if summary.combination == "mean" and summary.outputs == "labels":
        return root_prior(summary)
    return np.asarray(Y.mean(axis=0), dtype=np.float64).ravel()


_TOO_GOOD = "the scores are too good for other rows."


def describe_answers(
    own: Performance | None, trained: Performance | None, source: str = ""
) -> list[dict[str, Any]]:
    """Return how good a model is on given rows and in cross-validation, the main answer first."""
    found = []
    tested = trained is not None and trained.n_folds > 0
    if own is not None:
        seen = trained is not None and trained.is_of(own.n_rows, own.label_rows)
        note = None
        if seen:
            note = f"The model was trained on these rows: {_TOO_GOOD}"
        elif not tested:
            note = f"If the model was trained on these rows, {_TOO_GOOD}"
        if not (seen and tested):
            of = f" of {source}" if source else ""
            found.append(_describe_answer(own, f"On {counted(own.n_rows, 'row')}{of}", note))
    if trained is not None and tested:
        about = f"{trained.n_folds}-fold cross-validation on {counted(trained.n_rows, 'row')}"
        found.append(_describe_answer(trained, about, None))
    return found


def _describe_answer(performance: Performance, about: str, note: str | None) -> dict[str, Any]:
    def figure(values: Mapping[str, float], name: str) -> float | None:
        value = _finite(values.get(name))
        return None if value is None else round(value, _DIGITS)

    values, baseline = performance.values, performance.baseline
    counts = performance.counts
    return {
        "about": about,
        "note": note,
        "measures": [
            [title, figure(values, name), figure(baseline, name)] for name, title in TITLES.items()
        ],
        "counts": counts and {name: getattr(counts, name).tolist() for name in COUNTS},
    }


def _row_names(X: Any, names: Sequence[Any] | None, n_rows: int) -> list[str]:
    if names is None:
        given = getattr(X, "index", ())
        index = [] if callable(given) else list(given)  # that of a list is a method
        named = len(index) == n_rows and all(isinstance(name, str) for name in index)
        names = index if named else [f"row {i}" for i in range(n_rows)]
    if len(names) != n_rows:
        raise ValueError(
            f"names has {len(names)} entries, but X has {n_rows} rows. Pass one name per row."
        )
    called = [str(name) for name in names]
    if len(set(called)) < len(called):
        called = [f"{name} (row {i})" for i, name in enumerate(called)]
    return called


def _cells(cells: NDArray[Any]) -> list[list[float | None]]:
    """Return rows with None for missing values and integers where possible, to save space."""
    return [
        [None if v != v else int(v) if v == int(v) else v for v in row]  # noqa: PLR0124
        for row in cells.tolist()
    ]


def _sparse_scores(scores: NDArray[np.float64]) -> dict[str, Any]:
    kept = sparse.csr_array(np.where(scores >= _LEAST_SCORE, scores, 0.0))
    return {
        "start": kept.indptr.tolist(),
        "label": kept.indices.tolist(),
        "value": _rounded(kept.data, _DIGITS),
    }


def _curves(Y: Any, scores: NDArray[np.float64], hierarchy: Hierarchy) -> dict[int, Any]:
    curves = precision_recall_curves(Y, scores, hierarchy=hierarchy, by="label")
    counts = np.bincount(Y.indices, minlength=hierarchy.n_labels)
    described = {}
    for label, curve in zip(np.flatnonzero(counts).tolist(), curves, strict=True):
        points = np.arange(len(curve.recall))
        if len(points) > _CURVE_POINTS:
            # Points evenly spaced along the curve, including its ends.
            way = np.hypot(np.diff(curve.recall), np.diff(curve.precision)).cumsum()
            wanted = np.linspace(0, way[-1], _CURVE_POINTS)
            points = np.unique(np.append(np.searchsorted(way, wanted), len(points) - 1))
        described[label] = {
            "recall": _rounded(curve.recall[points], 3),
            "precision": _rounded(curve.precision[points], 3),
            "area": round(float(curve.area), _DIGITS),
            "prevalence": round(float(curve.prevalence), _DIGITS),
        }
    return described


def _rounded(values: Any, digits: int) -> list[float]:
    rounded: list[float] = np.round(np.asarray(values, dtype=np.float64), digits).tolist()
    return rounded
