"""Summarise trees for several targets, for export as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ramify.hierarchy.hierarchy import Hierarchy
from ramify.inspection.node_tests import read_feature_names
from ramify.inspection.summary import ModelSummary, TreeSummary
from ramify.multi_target.base import TargetEstimator, TargetTree

__all__ = ["summarise_targets"]


def summarise_targets(
    model: TargetEstimator,
    *,
    feature_names: Sequence[Any] | None = None,
    categories: Mapping[Any, Sequence[Any]] | None = None,
) -> ModelSummary:
    """Summarise a fitted model as trees; its targets take the place of labels.

    Parameters
    ----------
    model : PCTRegressor, PCTMultiTargetClassifier or a forest of them
        A fitted model.
    feature_names, categories
        As in `ramify.inspection.summary.summarise`.

    Returns
    -------
    ModelSummary
        The trees. A label is a numeric target, or "target=class"; the values of leaves are means,
        or probabilities.

    Examples
    --------
    >>> from ramify import PCTRegressor
    >>> tree = PCTRegressor().fit([[1.0], [2.0]], [[5.0, 1.0], [7.0, 0.0]])
    >>> summarise_targets(tree).hierarchy.labels
    ('y0', 'y1')
    """
    check_is_fitted(model)
    features = read_feature_names(model, feature_names, categories)
    names = _column_names(model)
    hierarchy = Hierarchy.from_labels(names)
    labels = np.array([hierarchy.labels.index(name) for name in names], dtype=np.int64)
    trees: Any = [("", model.tree_)] if isinstance(model, TargetTree) else []
    if not trees:
        grown = getattr(model, "trees_", [])
        trees = [(f"tree {k}", tree) for k, tree in enumerate(grown, start=1)]
    shares = hasattr(model, "target_classes_") and not model.clus_compat
    unit = "probability" if shares else "value"
    found = tuple(
        TreeSummary(name, tree, labels, hierarchy, features, None, unit) for name, tree in trees
    )
    return ModelSummary(type(model).__name__, found, hierarchy, features, "mean")


def _column_names(model: TargetEstimator) -> list[str]:
    """Return a name for every column that leaves store."""
    names = getattr(model, "target_names_", None)
    if names is None:
        single = model.flat_output_
        names = ["y"] if single else [f"y{i}" for i in range(model.n_outputs_)]
    classes = getattr(model, "target_classes_", None)
    if classes is None:
        return [str(name) for name in names]
    pairs = zip(names, classes, strict=True)
    return [f"{name}={value}" for name, values in pairs for value in values.tolist()]
