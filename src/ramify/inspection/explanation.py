"""Explanation of the prediction for one row: paths and contributions of features."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify import _core
from ramify._messages import counted, import_extra
from ramify._validation import Label
from ramify.data.rows import as_label_rows
from ramify.data.texts import are_texts
from ramify.inspection.node_tests import FeatureNames
from ramify.inspection.summary import as_trees, check_labels, read_rows, summarise_trees
from ramify.inspection.tree_paths import Step, TreePath, add_moves, follow_row
from ramify.labels.hierarchy import Hierarchy

_TOLERANCE = 1e-9
_MARGIN_TOLERANCE = 1e-3  # margins are summed in single precision


@dataclass(frozen=True)
class Explanation:
    """How the features of a row contribute to its prediction.

    Attributes
    ----------
    hierarchy : Hierarchy
        The label hierarchy.
    features : FeatureNames
        Names of the features.
    row : ndarray of shape (n_features,)
        The values of the row.
    baseline : ndarray of shape (n_labels,)
        The prediction for a row whose values are all missing.
    contributions : ndarray of shape (n_features, n_labels)
        Contribution of each feature's tests to each label's probability. The baseline plus the
        sum of contributions is the prediction.
    prediction : ndarray of shape (n_labels,)
        `predict_proba` of the model for the row.
    paths : tuple of TreePath
        The row's path through each tree; empty for gradient boosting.
    unit : {"probability", "margin"}
        What is explained. For gradient boosting, baseline, contributions and prediction are
        margins: of labels, or of label sets for the loss "softmax". A margin of 0 is a probability
        of 0.5 for a label, before probabilities are made coherent.
    by_group : bool
        Whether each tree predicts its own labels, as in `BRDTClassifier`. If not, predictions are
        means over the trees.
    predicted : tuple
        The most specific labels that the model predicts for the row, the most probable first.
    """

    hierarchy: Hierarchy
    features: FeatureNames
    row: NDArray[np.float64]
    baseline: NDArray[np.float64]
    contributions: NDArray[np.float64]
    prediction: NDArray[np.float64]
    paths: tuple[TreePath, ...]
    unit: str = "probability"
    by_group: bool = False
    predicted: tuple[Label, ...] = ()

    def for_label(self, label: Label) -> dict[str, float]:
        """Return the contributions of the features to one label, largest first.

        Parameters
        ----------
        label : str or int
            A label.

        Returns
        -------
        dict of str to float
            By feature name; features that the row's paths do not test are left out.
        """
        column = self.contributions[:, self.hierarchy.index(self.hierarchy.find(label))]
        order = np.argsort(-np.abs(column), kind="stable")
        names = self.features.names
        return {names[j]: float(column[j]) for j in order.tolist() if column[j] != 0}

    def sum_columns(self) -> dict[str, NDArray[np.float64]]:
        """Return the contributions of the columns of X to each label.

        Those of the terms of a text, or of the numbers of a vector, are added up.

        Returns
        -------
        dict of str to ndarray of shape (n_labels,)
            By name of the column; their sum and the baseline are the prediction.
        """
        sums = self.features.sum_columns(self.contributions)
        return dict(zip(self.features.sum_names().names, sums, strict=True))

    def to_text(
        self,
        *,
        labels: Sequence[Label] | None = None,
        max_labels: int = 4,
        max_features: int = 5,
    ) -> str:
        """Write the explanation as text.

        Parameters
        ----------
        labels : sequence of labels, optional
            Labels to show. If None: for one tree, the labels whose probability each test changes
            most; for several trees, the most specific labels that the model predicts, or the most
            probable label if there are none.
        max_labels : int
            Maximum number of labels per test, or in total for several trees.
        max_features : int
            Maximum number of features per label, for several trees.

        Returns
        -------
        str
            The path, test by test, for one tree; the largest contributions for several.
        """
        hierarchy = self.hierarchy
        wanted = None
        if labels is not None:
            wanted = hierarchy.indices(map(hierarchy.find, labels)).astype(np.int64)
        if len(self.paths) == 1:
            lines = list(path_lines(self.paths[0], hierarchy, self.features, wanted, max_labels))
        else:
            if wanted is None:
                found = hierarchy.indices(self.predicted[:max_labels]).astype(np.int64)
                wanted = found if len(found) else np.array([int(self.prediction.argmax())])
            lines = [self._headline()]
            for label in wanted.tolist():
                lines.extend(self._label_lines(label, max_features))
        return "\n".join(lines) + "\n"

    def _headline(self) -> str:
        if self.unit == "margin":
            return "sums of margins"
        trees = counted(len(self.paths), "tree")
        return f"{trees} of groups" if self.by_group else f"mean of {trees}"

    def _label_lines(self, label: int, max_features: int) -> Iterator[str]:
        before, after = self.baseline[label], self.prediction[label]
        yield f"{self.hierarchy.labels[label]}  {before:.2f} → {after:.2f}"
        column = self.contributions[:, label]
        yield from contribution_lines(column, self.row, self.features, max_features)

    def to_frame(self) -> Any:
        """Return the contributions as a data frame with features as rows, labels as columns."""
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

    A test changes the probabilities from those of its node to those of the branch that the row
    takes; the sum of these changes is the prediction. A test of a missing value changes nothing,
    and the row is split over all branches. For several trees, all figures are means, except for
    `BRDTClassifier`, where each tree predicts its own group of labels. For gradient boosting, all
    figures are sums of margins, and missing values take the branch that was learnt.

    Parameters
    ----------
    model : PCTClassifier, ensemble, gradient boosting, BRDTClassifier of flat labels
        A fitted model; see `summarise`. For local architectures, pass one of the
        `named_estimators_`.
    x : array-like of shape (n_features,), text, or one row of an array, matrix or data frame
        The row.
    feature_names : sequence of str, optional
        One per feature. If None, the columns of the data frame passed to `fit`, or x0, x1, ….
    categories : mapping of feature name to sequence, optional
        Names of the categories of nominal features; already known if X was a data frame in `fit`.

    Returns
    -------
    Explanation
        The paths and the contributions.

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
    source = as_trees(model)
    summary = summarise_trees(source, model, feature_names, categories)
    check_labels(model)
    if source.combination not in ("mean", "sum", "groups"):
        members = "named_estimators_" if hasattr(model, "named_estimators_") else "estimators_"
        raise ValueError(
            f"model must predict a sum or mean of its trees, got {summary.kind}. Explain one of "
            f"its estimators, e.g. explain(model.{members}[...], x)."
        )
    X = read_row(model, x)
    row = _dense_row(summary.features.select(model._tree_rows(X)))
    scale = 1 / len(summary.trees) if source.combination == "mean" else 1
    baseline = np.zeros(summary.hierarchy.n_labels)
    contributions = np.zeros((len(row), summary.hierarchy.n_labels))
    prediction = source.predict(X)[0].astype(np.float64)
    paths = []
    tolerance = _TOLERANCE
    if source.margins is not None:
        baseline += source.margins.start
        pairs = zip(source.trees, summary.trees, strict=True)
        trees = [replace(one, tree=numbered.tree) for one, numbered in pairs]
        add_moves(trees, row, baseline, contributions)
        tolerance = _MARGIN_TOLERANCE * (1 + float(np.abs(prediction).max()))
    else:
        for tree in summary.trees:
            path = follow_row(tree, row)
            paths.append(path)
            baseline += tree.value(0) * scale
            for step in path.steps:
                contributions[step.test.feature] += step.part * step.change * scale
    found = Explanation(
        summary.hierarchy,
        summary.features,
        row,
        baseline,
        contributions,
        prediction,
        tuple(paths),
        source.unit,
        by_group=source.combination == "groups",
        predicted=_predicted(model, X, summary.hierarchy, prediction),
    )
    _check_sum(found, tolerance)
    return found


def _predicted(
    model: Any, X: Any, hierarchy: Hierarchy, prediction: NDArray[np.float64]
) -> tuple[Label, ...]:
    """Return the most specific labels that a model predicts for a row, the likeliest first."""
    if hierarchy != model.hierarchy_:  # of label sets, one of which is predicted
        return (hierarchy.labels[int(prediction.argmax())],)
    sets = model._decide(model._predict_scores(X))
    _, labels = _core.most_specific(as_label_rows(sets), hierarchy._parents)
    order = np.argsort(-prediction[labels], kind="stable")
    return tuple(hierarchy.labels[k] for k in labels[order])


def _check_sum(found: Explanation, tolerance: float) -> None:
    total = found.baseline + found.contributions.sum(axis=0)
    worst = float(np.abs(total - found.prediction).max())
    if worst > tolerance:
        raise RuntimeError(
            f"contributions differ from the prediction by {worst:g}. This is a bug in ramify; "
            "please report it."
        )


def read_row(model: Any, x: Any) -> Any:
    """Check one row and encode it as numbers, codes and NaN, like the training data."""
    if isinstance(x, str) or are_texts(x):
        x = np.array([x] if isinstance(x, str) else list(x), dtype=object)
    elif hasattr(x, "to_frame") and getattr(x, "ndim", 0) == 1:  # a row of a pandas frame
        x = x.to_frame().T
    elif not hasattr(x, "shape") or len(x.shape) == 1:
        x = np.asarray(x, dtype=np.float64).reshape(1, -1)
    if x.shape[0] != 1:
        raise ValueError(
            f"x must be a single row, got {x.shape[0]} rows. Pass one row, e.g. X[:1], X[0] or "
            "X.iloc[[0]]."
        )
    return read_rows(model, x)


def _dense_row(X: Any) -> NDArray[np.float64]:
    dense = X if isinstance(X, np.ndarray) else X.toarray()
    return np.asarray(dense, dtype=np.float64).ravel()


# ---- explanations as text -------------------------------------------------------------------


_MIN_CHANGE = 0.005  # smaller changes round to 0.00


def path_lines(
    path: TreePath,
    hierarchy: Hierarchy,
    features: FeatureNames,
    wanted: NDArray[np.int64] | None,
    max_labels: int,
) -> Iterator[str]:
    """Yield a line for each test and, below it, the labels whose probability it changes."""
    if not path.steps:
        yield "the tree is a single leaf: it predicts the same for all rows"
        return
    yield f"of {counted(path.n_samples, 'row')}"
    for step in path.steps:
        yield _step_line(step, features)
        if step.branch >= 0:
            yield from _changes(hierarchy, step, wanted, max_labels)


def _step_line(step: Step, features: FeatureNames) -> str:
    part = f"{step.part:.0%} of the row: ".replace("%", " %") if step.part < 1 else ""
    cell = features.cell_text(step.test.feature, step.value)
    if step.branch < 0:
        return f"{part}{step.test.question}?  {cell}: divided among all branches"
    answer = step.test.answer(step.branch)
    rows = counted(step.n_samples, "row")
    return f"{part}{step.test.question}?  {answer}: {cell}  → {rows}"


def _changes(
    hierarchy: Hierarchy, step: Step, wanted: NDArray[np.int64] | None, max_labels: int
) -> Iterator[str]:
    """Yield the labels whose probability a test changes most."""
    candidates = np.arange(hierarchy.n_labels) if wanted is None else wanted
    moved = np.abs(step.change[candidates])
    order = np.argsort(-np.round(moved, 10), kind="stable")
    shown = [int(candidates[k]) for k in order.tolist() if moved[k] >= _MIN_CHANGE]
    if wanted is None:
        shown = shown[:max_labels]
    names = [str(hierarchy.labels[label]) for label in shown]
    width = max(map(len, names), default=0)
    for label, name in zip(shown, names, strict=True):
        after, change = step.probability[label], step.change[label]
        yield f"   {name:<{width}}  {after - change:.2f} → {after:.2f}  {change:+.2f}"


def contribution_lines(
    column: NDArray[np.float64],
    row: NDArray[np.float64],
    features: FeatureNames,
    max_features: int,
) -> Iterator[str]:
    """Yield the largest contributions to one label, then the sum of the others."""
    order = np.argsort(-np.abs(column), kind="stable")
    order = order[np.abs(column[order]) > 0]
    names = [features.cell_text(j, float(row[j])) for j in order[:max_features].tolist()]
    width = max(map(len, names), default=0)
    for j, name in zip(order.tolist(), names, strict=False):
        yield f"   {name:<{width}}  {column[j]:+.2f}"
    rest = order[max_features:]
    if len(rest):
        text = counted(len(rest), "other feature")
        yield f"   {text:<{width}}  {column[rest].sum():+.2f}"
