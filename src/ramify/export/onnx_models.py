"""Convert fitted models to ONNX."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ramify._base.tree_models import Margins, ModelTree, TreeModel
from ramify._messages import shorten
from ramify._validation import check_choice
from ramify.export.dividing import add_dividing_mean
from ramify.export.onnx_graph import GraphBuilder
from ramify.export.tree_ensembles import add_ensemble, add_mean_or_nan, tree_nodes
from ramify.labels.hierarchy import Hierarchy
from ramify.trees.views import send_missing

MISSING = ("divide", "nan")
"""What an exported model does with missing values."""


def to_onnx(model: Any, *, missing: str = "divide", dtype: Any = "float32") -> Any:
    """Convert a fitted tree, forest or gradient boosting model to ONNX.

    The result computes `predict_proba`. It has one input, ``X`` of shape (n, n_features), and one
    output, ``probabilities`` of shape (n, n_labels) and type float32. Nominal features are codes,
    as in the arrays that ramify accepts, and NaN marks missing values. The metadata of the model
    holds the labels, the names of the features and the categories that codes stand for, as JSON.

    Parameters
    ----------
    model : PCTClassifier, ensemble of PCTs or PCTGradientBoostingClassifier
        A fitted model.
    missing : {"divide", "nan"}
        How trees and forests treat a row that has a missing value or an unknown category.
        "divide": as `predict_proba` does, which may divide it among all branches of a test. "nan":
        return NaN for the row; the model is then a single tree ensemble operator, which is faster.
        Use it if there are no missing values. Boosted trees, and trees grown with
        ``missing="branch"``, send missing values to one branch and are such an operator anyway.
    dtype : {"float32", "float64"}
        The type of ``X``. Thresholds are rounded such that a row in float32 takes the same
        branches as in ramify. Use "float64" for features such as dates, whose differences float32
        loses.

    Returns
    -------
    onnx.ModelProto
        The model, which requires opset 18. Write its ``SerializeToString()`` to a file.

    Examples
    --------
    >>> from ramify import PCTClassifier
    >>> from ramify.export import to_onnx
    >>> tree = PCTClassifier().fit([[1.0], [2.0], [3.0]], ["a/x", "a/y", "b"])
    >>> proto = to_onnx(tree)
    >>> [output.name for output in proto.graph.output]
    ['probabilities']
    """
    check_choice("missing", missing, MISSING)
    check_choice("dtype", np.dtype(dtype).name, ("float32", "float64"))
    found = _read_model(model)
    hierarchy: Hierarchy = model.hierarchy_
    graph = GraphBuilder(dtype)
    if found.margins is not None:
        scores = _add_boosted(graph, found, found.margins, hierarchy)
    else:
        scores = _add_trees(graph, found.trees, hierarchy.n_labels, missing)
    scores = graph.add("Min", scores, graph.constant(1.0, np.float32))
    return graph.finish(scores, model.schema_.n_variables, hierarchy.n_labels, _describe(model))


def _read_model(model: Any) -> TreeModel:
    """Return the trees of a model, or raise an error if it cannot be exported."""
    found: TreeModel | None = None
    if hasattr(model, "_as_trees") and not isinstance(model, type):
        check_is_fitted(model)
        found = model._as_trees()
    if (
        found is None
        or found.outputs == "targets"
        or found.combination not in ("mean", "sum", "votes")
    ):
        raise TypeError(
            "model must be a PCTClassifier, a forest, bagging or extra-trees ensemble of PCTs, or "
            f"a PCTGradientBoostingClassifier, got {type(model).__name__}. Save other models with "
            "ramify.save."
        )
    if found.combination == "votes":
        raise ValueError(
            f"clus_compat must be False to export a forest with criterion={model.criterion!r}, "
            "got True: CLUS counts the votes of the trees. Fit with clus_compat=False."
        )
    if model.schema_.texts:
        names = getattr(model, "feature_names_in_", ["text"])
        raise ValueError(
            f"model must be fitted on numbers to be exported, got one that reads texts in "
            f"{shorten(names[j] for j in model.schema_.texts)}: ONNX has no operators for their "
            "terms. Fit on the output of a vectorizer that can be exported, e.g. by skl2onnx, or "
            "save the model with ramify.save."
        )
    if found.made_features:
        raise ValueError(
            f"model must test the features of X to be exported, got a {type(model).__name__}, "
            "which makes others of them. Export a model that was fitted alone, or save this one "
            "with ramify.save."
        )
    margins = found.margins
    if margins is not None and margins.label_sets is None and margins.coherence == "isotonic":
        raise ValueError(
            f"coherence must be 'max' or 'min' to export a {type(model).__name__}, got "
            "'isotonic': ONNX has no isotonic regression. Set model.coherence = 'max'; the trees "
            "do not depend on it."
        )
    return found


def _add_trees(
    graph: GraphBuilder, models: Sequence[ModelTree], n_labels: int, missing: str
) -> str:
    if missing == "divide":
        if all(map(_sends_missing, models)):
            nodes = [
                tree_nodes(one.tree, n_labels, graph.dtype, one.missing_branch) for one in models
            ]
            return add_ensemble(graph, nodes, n_labels, mean=True)
        return add_dividing_mean(graph, [send_missing(one) for one in models], n_labels)
    trees = [one.tree for one in models]
    has_nominal = any(tree.category_branch.size for tree in trees)
    return add_mean_or_nan(graph, trees, n_labels, has_nominal=has_nominal)


def _sends_missing(model: ModelTree) -> bool:
    """Return whether all tests of a tree send missing values down one branch."""
    inner = model.tree.feature >= 0
    return model.missing_branch is not None and bool((model.missing_branch[inner] >= 0).all())


def _add_boosted(
    graph: GraphBuilder, model: TreeModel, margins: Margins, hierarchy: Hierarchy
) -> str:
    n_outputs = len(margins.start)
    nodes = [
        tree_nodes(one.tree, n_outputs, graph.dtype, one.missing_branch) for one in model.trees
    ]
    sums = add_ensemble(graph, nodes, n_outputs, base=margins.start)
    if margins.label_sets is not None:
        members = graph.constant(margins.label_sets.toarray(), np.float32)
        return graph.add("MatMul", graph.add("Softmax", sums, axis=1), members)
    return add_coherence(graph, graph.add("Sigmoid", sums), hierarchy, margins.coherence)


def _describe(model: Any) -> dict[str, str]:
    """Return the names of labels, features and categories."""
    names = getattr(model, "feature_names_in_", None)
    schema, starts = model.schema_, model.schema_.starts().tolist()
    inputs = None if names is None else schema.number_vectors([str(name) for name in names])
    facts: dict[str, Any] = {
        "labels": list(model.hierarchy_.labels),
        "features": inputs,
        "categories": {
            str(starts[feature]): list(categories)
            for feature, categories in schema.categories.items()
        },
    }
    return {
        name: json.dumps(value, ensure_ascii=False, default=str) for name, value in facts.items()
    }


# ---- from margins to coherent probabilities -------------------------------------------------


def add_coherence(graph: GraphBuilder, scores: str, hierarchy: Hierarchy, method: str) -> str:
    """Raise labels to their descendants ("max") or lower them to their ancestors ("min")."""
    index = {label: k for k, label in enumerate(hierarchy.labels)}
    pairs = [
        (k, index[above]) for label, k in index.items() for above in hierarchy.ancestors(label)
    ]
    if not pairs:
        return scores
    lower, upper = np.array(pairs, dtype=np.int64).T
    changed, given = (upper, lower) if method == "max" else (lower, upper)
    by_label = graph.add("Transpose", scores, perm=[1, 0])
    repaired = graph.add(
        "ScatterND",
        by_label,
        graph.constant(changed[:, None]),
        graph.add("Gather", by_label, graph.constant(given), axis=0),
        reduction=method,
    )
    return graph.add("Transpose", repaired, perm=[1, 0])
