"""Feature importances: overall, per label and per subtree of the hierarchy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from ramify._base.measuring import measure_scores, read_measure
from ramify._messages import import_extra
from ramify._progress import track
from ramify._validation import Label, check_number, check_same_length
from ramify.inspection.node_tests import FeatureNames, read_feature_names
from ramify.inspection.summary import ModelSummary, TreeSummary, read_rows, summarise_labels
from ramify.labels.encoding import read_labels
from ramify.labels.hierarchy import Hierarchy
from ramify.metrics.inputs import read_ranking
from ramify.metrics.ranking import areas_of_labels
from ramify.trees.criteria import weight_of_children

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Importances:
    """Feature importances.

    Attributes
    ----------
    features : FeatureNames
        The features.
    hierarchy : Hierarchy
        The label hierarchy.
    unit : str
        Meaning of the values.
    overall, overall_spread : ndarray of shape (n_features,)
        Importances for all labels together, and their standard deviations over trees or repeats.
    by_label, by_label_spread : ndarray of shape (n_features, n_labels)
        Importances for each label, and their standard deviations; NaN for labels without
        importances.
    label_weight : ndarray of shape (n_labels,)
        Weight of each label in the mean over a subtree.
    """

    features: FeatureNames
    hierarchy: Hierarchy
    unit: str
    overall: NDArray[np.float64]
    overall_spread: NDArray[np.float64]
    by_label: NDArray[np.float64]
    by_label_spread: NDArray[np.float64]
    label_weight: NDArray[np.float64]

    def for_label(self, label: Label) -> NDArray[np.float64]:
        """Return the importances for one label.

        Parameters
        ----------
        label : str or int
            A label.

        Returns
        -------
        ndarray of shape (n_features,)
            The importances.
        """
        return self.by_label[:, self.hierarchy.index(self.hierarchy.find(label))]

    def for_subtree(self, label: Label) -> NDArray[np.float64]:
        """Return the mean importances for a label and all its descendants.

        Parameters
        ----------
        label : str or int
            A label.

        Returns
        -------
        ndarray of shape (n_features,)
            Means over the labels that have importances, weighted by `label_weight`.
        """
        label = self.hierarchy.find(label)
        inside = self.hierarchy.indices([label, *self.hierarchy.descendants(label)])
        inside = inside[~np.isnan(self.by_label[0, inside]) & (self.label_weight[inside] > 0)]
        if not len(inside):
            return np.full(len(self.overall), np.nan)
        mean = np.average(self.by_label[:, inside], axis=1, weights=self.label_weight[inside])
        return np.asarray(mean, dtype=np.float64)

    def to_frame(self, *, by_label: bool = False) -> Any:
        """Return a pandas data frame, the most important feature first.

        Parameters
        ----------
        by_label : bool
            If True, there is one column per label. Otherwise, there is one column with the
            importance for all labels together and one with its spread.

        Returns
        -------
        pandas.DataFrame
            One row per feature.
        """
        pandas = import_extra("pandas", "tables")
        order = np.argsort(-self.overall, kind="stable")
        index = [self.features.names[j] for j in order]
        if by_label:
            labels = list(self.hierarchy.labels)
            return pandas.DataFrame(self.by_label[order], index=index, columns=labels)
        columns = {"importance": self.overall[order], "spread": self.overall_spread[order]}
        return pandas.DataFrame(columns, index=index)

    def plot(
        self,
        *,
        labels: Sequence[Label] | None = None,
        max_features: int = 15,
        ax: Axes | None = None,
    ) -> Axes:
        """Plot the importances with matplotlib.

        Parameters
        ----------
        labels : sequence of labels, optional
            Plot a heat map of features and the subtrees of these labels. By default, plot bars
            for all labels together, with their spread.
        max_features : int
            Maximum number of features; the most important ones are shown.
        ax : matplotlib.axes.Axes, optional
            Axes to draw on. By default, a new figure is created.

        Returns
        -------
        matplotlib.axes.Axes
            The axes drawn on.
        """
        order = np.argsort(-self.overall, kind="stable")[:max_features]
        if ax is None:
            pyplot = import_extra("matplotlib.pyplot", "plot")
            width = 6.4 if labels is None else 2.5 + 0.6 * len(labels)
            size = (width, 1.6 + 0.28 * len(order))
            ax = pyplot.figure(figsize=size, layout="constrained").add_subplot()
        names = [self.features.names[j] for j in order]
        if labels is None:
            self._draw_bars(ax, order, names)
        else:
            self._draw_table(ax, order, names, labels)
        return ax

    def _draw_bars(self, ax: Any, order: NDArray[np.int64], names: list[str]) -> None:
        places = np.arange(len(order))
        spread = self.overall_spread[order]
        bars = {"color": "#1d7f8c", "ecolor": "#53656e", "capsize": 3}
        ax.barh(places, self.overall[order], xerr=spread if spread.any() else None, **bars)
        ax.set_yticks(places, names, parse_math=False)
        ax.invert_yaxis()
        ax.set_xlabel(self.unit)
        ax.spines[["top", "right"]].set_visible(False)

    def _draw_table(
        self, ax: Any, order: NDArray[np.int64], names: list[str], labels: Sequence[Label]
    ) -> None:
        cells = np.stack([self.for_subtree(label)[order] for label in labels], axis=1)
        image = ax.imshow(cells, aspect="auto", cmap="GnBu", vmin=0)
        ax.set_yticks(np.arange(len(order)), names, parse_math=False)
        shown = [str(label) for label in labels]
        style = {"rotation": 40, "ha": "right", "parse_math": False}
        ax.set_xticks(np.arange(len(labels)), shown, **style)
        ax.figure.colorbar(image, ax=ax, label=self.unit)


def importances(
    model: Any,
    *,
    feature_names: Sequence[Any] | None = None,
    categories: Mapping[Any, Sequence[Any]] | None = None,
    sum_terms: bool = False,
) -> Importances:
    """Return the fraction of the variance of the labels explained by the tests of each feature.

    The variance of a label is p(1 - p); a test explains the reduction of the variance in its
    branches. These importances are computed from the trees alone, hold for the training rows, and
    are biased towards features with many values. `permutation_importances` can be computed on
    other rows.

    Parameters
    ----------
    model : PCTClassifier, ensemble, local architecture, or other set of trees
        A fitted model; see `summarise`.
    feature_names, categories
        As in `export_text`.
    sum_terms : bool
        Whether to add up the importances of the terms of a text and of the numbers of a vector. If
        False, each is a feature, unless no tree tests it.

    Returns
    -------
    Importances
        Fractions of the variance at the root: means over trees and their spread.

    Examples
    --------
    >>> from ramify import PCTClassifier
    >>> X = [[1.0, 5.0], [2.0, 5.0], [3.0, 7.0], [4.0, 8.0]]
    >>> tree = PCTClassifier().fit(X, ["pet/cat", "pet/cat", "pet/dog", "wolf"])
    >>> found = importances(tree, feature_names=["size", "speed"])
    >>> found.for_label("pet/dog")
    array([1., 0.])
    """
    summary = summarise_labels(model, feature_names, categories)
    if summary.combination == "sum":
        raise TypeError(
            f"model must have trees of probabilities, got {summary.kind}, whose trees have "
            "margins. Use its feature_importances_, or permutation_importances."
        )
    weight = _label_weights(model, summary)
    features = summary.features
    names = features.sum_names() if sum_terms else features
    shape = (len(names.names), summary.hierarchy.n_labels)
    overall, sums, squares = [], np.zeros(shape), np.zeros(shape)
    counts = np.zeros(summary.hierarchy.n_labels)
    for tree in summary.trees:
        explained, variance = _explained(tree, len(features.names))
        explained = features.sum_columns(explained) if sum_terms else explained
        overall.append(explained @ weight / max(float(variance @ weight), 1e-300))
        share = np.divide(
            explained, variance, out=np.zeros_like(explained), where=variance > 1e-15
        )
        sums += share
        squares += share**2
        counts[tree.labels[variance[tree.labels] > 1e-15]] += 1
    known = np.where(counts > 0, counts, np.nan)
    mean = sums / known
    spread = np.sqrt(np.maximum(squares / known - mean**2, 0))
    total, total_spread = _over_trees(summary, np.array(overall), weight)
    return Importances(
        names,
        summary.hierarchy,
        "fraction of label variance explained",
        total,
        total_spread,
        mean,
        spread,
        weight * (counts > 0),
    )


def _over_trees(
    summary: ModelSummary, overall: NDArray[np.float64], weight: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean and spread over trees, weighted equally or by the variance of labels."""
    if summary.combination == "mean":
        return overall.mean(axis=0), overall.std(axis=0)
    parts = []
    for tree in summary.trees:
        root = tree.value(0)
        parts.append(float((weight * root * (1 - root)).sum()))
    shares = np.array(parts) / max(sum(parts), 1e-300)
    return shares @ overall, np.zeros(overall.shape[1])


def _label_weights(model: Any, summary: ModelSummary) -> NDArray[np.float64]:
    """Return the weight of each label in the model's search for tests."""
    source: Any = model if hasattr(model, "w0") else getattr(model, "estimator", None)
    if not hasattr(source, "w0") or summary.outputs != "labels":
        return np.ones(summary.hierarchy.n_labels)
    return np.asarray(summary.hierarchy.weights(weight_of_children(source), source.weighting))


def _explained(
    tree: TreeSummary, n_features: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the variance of each label explained by each feature, and the root's variance."""
    explained = np.zeros((n_features, tree.hierarchy.n_labels))
    total = max(tree.nodes[0].weight, 1e-300)
    for node in tree.nodes:
        if node.test is None:
            continue
        value = tree.value(node.number)
        left = value * (1 - value)
        for child, share in zip(node.children, node.shares, strict=True):
            below = tree.value(child)
            left -= share * below * (1 - below)
        explained[node.test.feature] += node.weight / total * left
    root = tree.value(0)
    return explained, root * (1 - root)


# ---- permutation importances ----------------------------------------------------------------


def permutation_importances(
    model: Any,
    X: Any,
    y: Any,
    *,
    measure: Any = "pooled_auprc",
    n_repeats: int = 5,
    feature_names: Sequence[Any] | None = None,
    random_state: Any = None,
    verbose: bool = False,
) -> Importances:
    """Compute how much a measure drops when the values of a feature are shuffled.

    Parameters
    ----------
    model : any classifier of ramify
        A fitted model.
    X, y : array-like
        Rows and their labels, preferably rows that were not used for training.
    measure : str or callable
        The name of a measure in `ramify.metrics`, or a function of (truth, scores); higher is
        better. It is used for the importances for all labels together. Importances per label
        always use AUPRC.
    n_repeats : int
        Number of times each feature is shuffled.
    feature_names : sequence of str, optional
        One name per feature. By default, the columns of the data frame passed to `fit`, or x0,
        x1, ….
    random_state : int, RandomState instance or None
        Seed for shuffling.
    verbose : bool
        Whether to show a progress bar (requires rich).

    Returns
    -------
    Importances
        Mean and standard deviation of the drop over the repeats.

    Examples
    --------
    >>> from ramify import PCTClassifier
    >>> X = [[1.0, 5.0], [2.0, 5.0], [3.0, 5.0], [4.0, 5.0]]
    >>> y = ["pet/cat", "pet/cat", "pet/dog", "wolf"]
    >>> tree = PCTClassifier().fit(X, y)
    >>> found = permutation_importances(tree, X, y, random_state=0)
    >>> (found.overall > 0).tolist()
    [True, False]
    """
    check_number("n_repeats", n_repeats, 1, whole=True)
    rows = read_rows(model, X)
    starts = model.schema_.starts().tolist()
    judge = _Judge(model, read_measure(measure), read_labels(y, model.hierarchy_).Y)
    check_same_length(rows.shape[0], judge.truth.shape[0])
    names = read_feature_names(model, feature_names)
    base = judge.score(rows)
    random = check_random_state(random_state)
    n_features, n_labels = len(names.names), model.hierarchy_.n_labels
    overall, spread = np.zeros(n_features), np.zeros(n_features)
    by_label, label_spread = (np.zeros((n_features, n_labels)) for _ in range(2))
    shuffled = track(range(n_features), n_features, "Shuffling features", shown=verbose)
    for j in shuffled:
        found = [
            judge.score(other)
            for other in _shuffle(rows, slice(*starts[j : j + 2]), n_repeats, random)
        ]
        drops = base[0] - np.array([total for total, _ in found])
        overall[j], spread[j] = drops.mean(), drops.std()
        areas = base[1] - np.stack([area for _, area in found])
        by_label[j], label_spread[j] = areas.mean(axis=0), areas.std(axis=0)
    positives = np.asarray(judge.truth.sum(axis=0), dtype=np.float64).ravel()
    unit = f"drop in {getattr(judge.measure, '__name__', 'the measure')}"
    return Importances(
        names,
        model.hierarchy_,
        unit,
        overall,
        spread,
        by_label,
        label_spread,
        (positives > 0).astype(np.float64),
    )


@dataclass(frozen=True)
class _Judge:
    """Scores a model by a measure, and by AUPRC for each label."""

    model: Any
    measure: Any
    truth: sparse.csr_array[np.int32]

    def score(self, rows: Any) -> tuple[float, NDArray[np.float64]]:
        scores = self.model._predict_scores(rows)
        hierarchy = self.model.hierarchy_
        total = measure_scores(
            self.measure,
            self.truth,
            scores,
            hierarchy,
            self.model._decide,
        )
        ranking = read_ranking(self.truth, scores, hierarchy, "all", None)
        areas, _, positives = areas_of_labels(ranking)
        return float(total), np.where(positives > 0, areas, np.nan)


def _shuffle(rows: Any, feature: slice, n_repeats: int, random: Any) -> Iterator[Any]:
    """Yield copies of rows with the values of one feature shuffled; it may be several columns."""
    if isinstance(rows, np.ndarray):
        shuffled = rows.copy()
        for _ in range(n_repeats):
            shuffled[:, feature] = rows[random.permutation(len(rows)), feature]
            yield shuffled
        return
    columns = rows.tocsc()
    for _ in range(n_repeats):
        order = random.permutation(rows.shape[0])
        parts = [
            columns[:, : feature.start],
            columns[:, feature][order],
            columns[:, feature.stop :],
        ]
        yield sparse.csr_array(sparse.hstack(parts))
