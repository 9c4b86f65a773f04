"""Probabilities of scikit-learn's linear models without a second validation of X."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit

__all__ = [
    "logistic_probabilities",
]


def logistic_probabilities(model: Any, X: Any) -> NDArray[np.float64] | None:
    """Return the probabilities of a fitted SGDClassifier with log loss, or None.

    For few rows, its `predict_proba` spends most of its time validating X, which the enclosing
    classifier has already done for all models. The result is the same.
    """
    loaded = sys.modules.get("sklearn.linear_model")  # a model of it has imported it
    if loaded is None or type(model) is not loaded.SGDClassifier:
        return None
    if model.loss != "log_loss" or not _is_valid(model, X):
        return None
    scores = _multiply(X, model.coef_) + model.intercept_
    found: NDArray[np.float64] = expit(scores, out=scores)
    if found.shape[1] == 1:
        return np.hstack([1 - found, found])
    total = found.sum(axis=1, keepdims=True)
    if not total.all():  # all scores of a row are far below 0
        found[total[:, 0] == 0] = 1
        total[total == 0] = found.shape[1]
    found /= total
    return found


def _multiply(X: Any, coef: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return X times the transposed coefficients, which scipy copies if X is sparse.

    If X has few cells, only the columns that have any are copied. The sums are the same.
    """
    rows: Any = X
    if not sparse.issparse(X) or 4 * len(rows.data) > coef.shape[1]:
        return np.asarray(rows @ coef.T)
    used, places = np.unique(np.asarray(rows.indices), return_inverse=True)
    cells: Any = sparse.csr_array(
        (rows.data, places, rows.indptr), shape=(len(rows.indptr) - 1, len(used))
    )
    return np.asarray(cells @ coef[:, used].T)


def _is_valid(model: Any, X: Any) -> bool:
    """Return whether X is an array of finite numbers and the model has dense coefficients."""
    is_sparse = sparse.issparse(X)
    if hasattr(model, "feature_names_in_") or not (is_sparse or type(X) is np.ndarray):
        return False
    cells = X.data if is_sparse else X
    shape = getattr(model.coef_, "shape", ())
    return (
        type(model.coef_) is np.ndarray
        and shape[1:] == X.shape[1:]
        and getattr(X, "format", "csr") == "csr"
        and cells.dtype == np.float64
        and bool(np.isfinite(cells).all())
    )
