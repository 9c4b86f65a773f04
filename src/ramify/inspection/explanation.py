"""Why a model predicts what it predicts for one row: paths and contributions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify._base.features import read_features
from ramify._validation import Label, import_extra
from ramify.hierarchy.hierarchy import Hierarchy
from ramify.inspection.explanation_text import text_of_explanation
from ramify.inspection.node_tests import FeatureNames, NodeTest
from ramify.inspection.summary import TreeSummary, summarise

__all__ = ["Explanation", "Step", "TreePath", "explain", "read_row"]

_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Step:
    """One test on the way down.

    Attributes
    ----------
    node : int
        The node that tests.
    test : NodeTest
        Its test.
    value : float
        The row's value, NaN where it is unknown.
    branch : int
        The branch taken, -1 where all are taken in parts.
    part : float
        The part of the row that has come so far: less than 1 below a test without a value.
    n_samples : int
        How many training rows went the same way.
    change : ndarray of shape (n_labels,)
        By how much the test moved the probabilities of this part of the row.
    probability : ndarray of shape (n_labels,)
        Where to.
    """

    node: int
    test: NodeTest
    value: float
    branch: int
    part: float
    n_samples: int
    change: NDArray[np.float64]
    probability: NDArray[np.float64]


@dataclass(frozen=True)
class TreePath:
    """The way of a row through one tree.

    Attributes
    ----------
    tree : str
        The name of the tree.
    n_samples : int
        How many rows the tree has learnt from.
    steps : tuple of Step
        From the root down; where a value is unknown, one branch after the other.
    leaves : tuple of (int, float)
        The leaves that the row reaches, with the part of the row that gets there.
    """

    tree: str
    n_samples: int
    steps: tuple[Step, ...]
    leaves: tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class Explanation:
    """How the features of a row make its prediction.

    Attributes
    ----------
    hierarchy : Hierarchy
        The labels.
    features : FeatureNames
        The names of the features.
    row : ndarray of shape (n_features,)
        The row's values.
    baseline : ndarray of shape (n_labels,)
        What the model predicts for a row of which nothing is known.
    contributions : ndarray of shape (n_features, n_labels)
        By how much each feature's tests move each label's probability from there. With the
        baseline they sum to the prediction.
    prediction : ndarray of shape (n_labels,)
        The model's `predict_proba` for the row.
    paths : tuple of TreePath
        The row's way through each tree.
    """

    hierarchy: Hierarchy
    features: FeatureNames
    row: NDArray[np.float64]
    baseline: NDArray[np.float64]
    contributions: NDArray[np.float64]
    prediction: NDArray[np.float64]
    paths: tuple[TreePath, ...]

    def for_label(self, label: Label) -> dict[str, float]:
        """Return the contributions of the features to one label, largest first.

        Parameters
        ----------
        label : str or int
            A label.

        Returns
        -------
        dict of str to float
            Features that the row's paths do not test are left out.
        """
        column = self.contributions[:, self.hierarchy.index(label)]
        order = np.argsort(-np.abs(column), kind="stable")
        names = self.features.names
        return {names[j]: float(column[j]) for j in order.tolist() if column[j] != 0}

    def to_text(
        self,
        *,
        labels: Sequence[Label] | None = None,
        max_labels: int = 4,
        max_features: int = 5,
    ) -> str:
        """Write the explanation for people.

        Parameters
        ----------
        labels : sequence of labels, optional
            Labels to speak of. None: for one tree, those that each test moves most; for several
            trees, the most specific labels that the model predicts from 0.5 on, or the most
            probable one.
        max_labels : int
            At most so many labels at a time.
        max_features : int
            At most so many features for each label of several trees.

        Returns
        -------
        str
            For one tree the path taken, test by test; for several the largest contributions.
        """
        return text_of_explanation(self, labels, max_labels, max_features)

    def to_frame(self) -> Any:
        """Return the contributions as a pandas frame, a row per feature, a column per label."""
        pandas = import_extra("pandas", "tables")
        return pandas.DataFrame(
            self.contributions, index=self.features.names, columns=self.hierarchy.labels
        )


def explain(
    model: Any,
    x: Any,
    *,
    feature_names: Sequence[Any] | None = None,
    categories: Mapping[Any, Sequence[Any]] | None = None,
) -> Explanation:
    """Explain the prediction for one row.

    A test moves the probabilities from those of its node to those of the branch that the row
    takes; the sum of these steps is the prediction. A test whose value is unknown moves nothing,
    and each branch goes on with its share of the row. For several trees all figures are means.

    Parameters
    ----------
    model : PCTClassifier, ensemble, or other set of trees
        Fitted; see `summarise`. For local architectures explain one of their `estimators_`.
    x : array-like of shape (n_features,), or one row of an array, sparse matrix or data frame
        The row.
    feature_names : sequence of str, optional
        One per feature. None: the columns of `fit`'s data frame, or x0, x1, ….
    categories : mapping of feature name to sequence, optional
        What the codes of nominal features stand for; a data frame has told the model.

    Returns
    -------
    Explanation
        Path and contributions.

    Examples
    --------
    >>> from ramify import PCTClassifier
    >>> X = [[1.0, 5.0], [2.0, 5.0], [3.0, 7.0], [4.0, 8.0]]
    >>> tree = PCTClassifier().fit(X, ["pet/cat", "pet/cat", "pet/dog", "wolf"])
    >>> found = explain(tree, [3.2, 7.0], feature_names=["size", "speed"])
    >>> found.for_label("pet/dog")
    {'size': 0.75}
    >>> print(found.to_text())
    of 4 rows
    size > 3.5?  no: size = 3.2  → 3 rows
       pet      0.75 → 1.00  +0.25
       wolf     0.25 → 0.00  -0.25
       pet/cat  0.50 → 0.67  +0.17
       pet/dog  0.25 → 0.33  +0.08
    size > 2.5?  yes: size = 3.2  → 1 row
       pet/cat  0.67 → 0.00  -0.67
       pet/dog  0.33 → 1.00  +0.67
    <BLANKLINE>
    """
    summary = summarise(model, feature_names=feature_names, categories=categories)
    if summary.combination is None:
        raise ValueError(
            f"a {summary.kind} combines its trees in a way that is no sum. Explain one of its "
            "models, such as explain(model.estimators_[...], x)."
        )
    X = read_row(model, x)
    row = _dense_row(X)
    n_trees = len(summary.trees) if summary.combination == "mean" else 1
    baseline = np.zeros(summary.hierarchy.n_labels)
    contributions = np.zeros((len(row), summary.hierarchy.n_labels))
    paths = []
    for tree in summary.trees:
        path = _walk(tree, row)
        paths.append(path)
        baseline += tree.value(0) / n_trees
        for step in path.steps:
            contributions[step.test.feature] += step.part * step.change / n_trees
    prediction = model._predict_scores(X)[0]
    found = Explanation(
        summary.hierarchy,
        summary.features,
        row,
        baseline,
        contributions,
        prediction,
        tuple(paths),
    )
    _check_sum(found)
    return found


def _check_sum(found: Explanation) -> None:
    total = found.baseline + found.contributions.sum(axis=0)
    worst = float(np.abs(total - found.prediction).max())
    if worst > _TOLERANCE:
        raise RuntimeError(
            f"the contributions miss the prediction by {worst:g}. This is an error of ramify: "
            "please report it."
        )


def read_row(model: Any, x: Any) -> Any:
    """Return one row as `read_features` gives it.

    Parameters
    ----------
    model : estimator
        Fitted.
    x : array-like, sparse matrix, data frame or series
        The row.

    Returns
    -------
    ndarray or csr_array of shape (1, n_features)
        Numbers, codes and NaN.
    """
    if hasattr(x, "to_frame") and getattr(x, "ndim", 0) == 1:  # a row of a pandas frame
        x = x.to_frame().T
    elif not hasattr(x, "shape") or len(x.shape) == 1:
        x = np.asarray(x, dtype=np.float64).reshape(1, -1)
    if x.shape[0] != 1:
        raise ValueError(
            f"x has {x.shape[0]} rows, but one row at a time is explained. Give one, such as "
            "X[:1], X[0] or X.iloc[[0]]."
        )
    return read_features(model, x, model.schema_)


def _dense_row(X: Any) -> NDArray[np.float64]:
    dense = X if isinstance(X, np.ndarray) else X.toarray()
    return np.asarray(dense, dtype=np.float64).ravel()


def _walk(tree: TreeSummary, row: NDArray[np.float64]) -> TreePath:
    """Follow a row from the root to its leaf, or in parts to several."""
    steps = []
    leaves = []
    stack = [(0, 1.0)]
    while stack:
        number, part = stack.pop()
        node = tree.nodes[number]
        if node.test is None:
            leaves.append((number, part))
            continue
        value = float(row[node.test.feature])
        branch = node.test.branch(value)
        before = tree.value(number)
        if branch < 0:
            ways = zip(node.children, node.shares, strict=True)
            stack.extend((child, part * share) for child, share in reversed(list(ways)))
            after, n_samples = before, node.n_samples
        else:
            child = node.children[branch]
            stack.append((child, part))
            after, n_samples = tree.value(child), tree.nodes[child].n_samples
        steps.append(
            Step(number, node.test, value, branch, part, n_samples, after - before, after)
        )
    return TreePath(tree.name, tree.nodes[0].n_samples, tuple(steps), tuple(leaves))
