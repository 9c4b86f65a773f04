"""Shapley values of predictions, computed with shap."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify._messages import import_extra
from ramify._validation import check_number
from ramify.data.rows import by_columns, by_rows
from ramify.inspection.summary import (
    ModelSummary,
    TreeSummary,
    as_trees,
    read_rows,
    summarise_labels,
)


def shap_values(
    model: Any, X: Any, background: Any = None, *, random_state: int | None = 0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Compute Shapley values of the features of each row with shap.

    Without a background, shap's TreeExplainer is used for trees with numeric tests only; it
    weights the branches of omitted features by their training rows. With a background, shap's
    PermutationExplainer replaces the values of omitted features with values of background rows.
    This works for any model; it is required for nominal features, missing values and local
    architectures.

    Parameters
    ----------
    model : estimator of ramify
        A fitted model.
    X : array-like, sparse matrix or data frame of shape (n, n_features)
        Rows to explain.
    background : like X, optional
        Rows that provide the values of omitted features; a hundred rows are enough.
    random_state : int, optional
        Seed for the order in which features are omitted, if a background is given.

    Returns
    -------
    values : ndarray of shape (n, n_features, n_labels)
        The contribution of each feature to the probability of each label. That of a text or
        vector is the sum of those of its terms or numbers.
    baseline : ndarray of shape (n_labels,)
        The mean prediction. The baseline plus the sum of the values is `predict_proba`.

    See Also
    --------
    explain : Contributions along the path, without shap.

    Examples
    --------
    >>> from ramify import PCTClassifier
    >>> X = [[1.0, 5.0], [2.0, 5.0], [3.0, 7.0], [4.0, 8.0]]
    >>> tree = PCTClassifier().fit(X, ["cat", "cat", "dog", "wolf"])
    >>> values, baseline = shap_values(tree, X[:1])  # doctest: +SKIP
    >>> values.round(2)  # doctest: +SKIP
    array([[[ 0.5 , -0.25, -0.25],
            [ 0.  ,  0.  ,  0.  ]]])
    """
    shap = import_extra("shap", "shap")
    rows = read_rows(model, X)
    if background is not None:
        others = read_rows(model, background)
        return _by_permutation(shap, model, rows, others, random_state)
    summary = summarise_labels(model)
    if as_trees(model).made_features:
        raise ValueError(
            f"background must be given for this {summary.kind}, got None: its trees test features "
            "that it makes of those of X. Pass background=X_train[:100]."
        )
    rows = _dense(summary.features.select(rows))
    _check_numeric(summary, rows)
    scale = 1 / len(summary.trees)
    trees = [_as_shap(tree, scale) for tree in summary.trees]
    explainer = shap.TreeExplainer({"trees": trees}, feature_perturbation="tree_path_dependent")
    values = np.asarray(explainer.shap_values(rows, check_additivity=False), dtype=np.float64)
    if values.ndim == 2:  # shap drops the axis of a single label
        values = values[:, :, np.newaxis]
    if summary.features.columns is not None:
        values = summary.features.sum_columns(values.transpose(1, 0, 2)).transpose(1, 0, 2)
    baseline = np.mean([tree.value(0) for tree in summary.trees], axis=0)
    return values, baseline


def _dense(X: Any) -> NDArray[np.float64]:
    matrix = X if isinstance(X, np.ndarray) else X.toarray()
    return np.asarray(matrix, dtype=np.float64)


def _check_numeric(summary: ModelSummary, rows: NDArray[np.float64]) -> None:
    nominal = any(len(tree.tree.category_branch) for tree in summary.trees)
    if summary.combination != "mean" or nominal or np.isnan(rows).any():
        raise ValueError(
            f"background must be given for this {summary.kind}, got None: shap's TreeExplainer "
            "supports only the mean of trees with numeric tests, and rows without missing values. "
            "Pass background=X_train[:100], which works for any model."
        )


def _as_shap(summary: TreeSummary, scale: float) -> dict[str, NDArray[Any]]:
    """Return a tree in shap's format, where values up to the threshold go left."""
    tree: _core.Tree = summary.tree
    inner = tree.feature >= 0
    left, right = (np.full(len(inner), -1, dtype=np.int32) for _ in range(2))
    begin = tree.child_indptr[:-1][inner]
    right[inner], left[inner] = tree.child[begin], tree.child[begin + 1]
    return {
        "children_left": left,
        "children_right": right,
        "children_default": left.copy(),
        "features": np.where(inner, tree.feature, -2).astype(np.int32),
        "thresholds": tree.threshold.copy(),
        "values": summary.values.toarray() * scale,
        "node_sample_weight": tree.weight.copy(),
    }


def _by_permutation(
    shap: Any,
    model: Any,
    rows: Any,
    others: Any,
    random_state: int | None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if random_state is not None:
        check_number("random_state", random_state, 0, whole=True)
    if model.schema_.texts or model.schema_.vectors:
        predict, given, hidden = _by_source(model, rows, others)
    else:
        predict, given, hidden = model._predict_scores, _dense(rows), _dense(others)
    masker = shap.maskers.Independent(hidden, max_samples=len(hidden))
    explainer = shap.PermutationExplainer(predict, masker, seed=random_state)
    found = explainer(given, max_evals=max(500, 2 * given.shape[1] + 1), silent=True)
    values = np.asarray(found.values, dtype=np.float64)
    baseline = np.asarray(found.base_values, dtype=np.float64)
    n_labels = model.hierarchy_.n_labels
    return values.reshape(*given.shape, n_labels), baseline.reshape(len(given), n_labels)[0]


def _by_source(model: Any, rows: Any, others: Any) -> tuple[Any, Any, Any]:
    """Return a function of rows whose features say which row they are taken from, and such rows.

    A text is one feature of them.
    """
    stack: Any = sparse.vstack if sparse.issparse(rows) else np.vstack
    columns = by_columns(stack([rows, others]))
    starts = model.schema_.starts().tolist()
    blocks = [by_rows(columns[:, first:last]) for first, last in pairwise(starts)]
    join: Any = sparse.hstack if sparse.issparse(rows) else np.hstack

    def predict(sources: NDArray[np.float64]) -> NDArray[np.float64]:
        places = sources.astype(np.int64)
        parts = [block[places[:, j]] for j, block in enumerate(blocks)]
        scores: NDArray[np.float64] = model._predict_scores(by_rows(join(parts)))
        return scores

    n_rows, n_others = rows.shape[0], others.shape[0]
    sources = np.tile(np.arange(float(n_rows + n_others))[:, None], len(blocks))
    return predict, sources[:n_rows], sources[n_rows:]
