"""Compute all measures at once, and a report with one row per label."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import UndefinedMetricWarning

from ramify._cached import cached_property
from ramify.labels.encoding import PartialLabels, read_partial
from ramify.labels.hierarchy import Hierarchy
from ramify.metrics import answers, hierarchical, losses, protein, ranking, sets
from ramify.metrics.inputs import (
    LabelChoice,
    Ranking,
    Truth,
    choose_labels,
    predicted_at,
    read_label_matrix,
    read_ranking,
    read_sets,
    read_truth,
    width,
)
from ramify.metrics.ranking import areas_of_labels
from ramify.metrics.reports import Report, aligned
from ramify.metrics.sets import precision_recall_f1

_SHOWN_SCOPES = 8
_Figures = Iterator[tuple[str, float]]


@dataclass(frozen=True)
class Evaluation(Report):
    """The result of `evaluate`: the values of all measures for one set of predictions.

    Attributes
    ----------
    columns : dict of str to list
        "measure", "labels" (the labels evaluated) and "value", one row per value.
    """

    def __getitem__(self, key: str | tuple[str, str]) -> float:
        """Return a value: ``result["pooled_auprc"]`` or ``result["pooled_auprc", "leaves"]``."""
        measure, labels = (key, "all") if isinstance(key, str) else key
        for row in self.rows():
            if (row["measure"], row["labels"]) == (measure, labels):
                return float(row["value"])
        raise KeyError(f"there is no measure {measure!r} for the labels {labels!r}")

    def __str__(self) -> str:
        scopes = list(dict.fromkeys(self.columns["labels"]))
        shown, hidden = scopes[:_SHOWN_SCOPES], scopes[_SHOWN_SCOPES:]
        measures = list(dict.fromkeys(self.columns["measure"]))
        values = {(row["measure"], row["labels"]): row["value"] for row in self.rows()}
        rows = [[m, *(values.get((m, s), "") for s in shown)] for m in measures]
        lines = aligned([["measure", *shown], *rows])
        if hidden:
            lines.append(f"… and {hidden[0]} to {hidden[-1]}: see rows() or to_frame()")
        return "\n".join(lines)


def evaluate(
    y_true: Any,
    y_score: Any,
    hierarchy: Hierarchy | None = None,
    *,
    y_pred: Any = None,
    threshold: float = 0.5,
    y_train: Any = None,
    sample_weight: ArrayLike | None = None,
) -> Evaluation:
    """Compute all measures for all labels, for the leaves and for each level.

    Parameters
    ----------
    y_true : label matrix or labels in any format
        True labels, one label set per row. Unknown cells are left out of all measures.
    y_score : array-like or sparse matrix of shape (n, n_labels)
        Scores, as returned by `predict_proba` or `predict_proba_sparse`; scores that a sparse
        matrix does not store are 0.
    hierarchy : Hierarchy, optional
        If None, the labels are flat, and the measures that use costs are left out.
    y_pred : label matrix or labels in any format, optional
        Predicted label sets. By default, the labels with a score of at least `threshold`.
    threshold : float
        Used if `y_pred` is not given; must be positive if `y_score` is sparse.
    y_train : label matrix or labels in any format, optional
        Training labels. They determine the information content for S-min, and the label
        imbalance that weights missed labels in HMC-loss and symmetric loss. By default, the
        information content is computed from `y_true`, and missed and wrongly predicted labels
        have the same weight.
    sample_weight : array-like of shape (n,), optional
        Sample weights.

    Returns
    -------
    Evaluation
        A tidy table with the columns measure, labels and value. ``print`` shows a table of
        measures × labels, ``to_frame`` returns a data frame, and
        ``result["pooled_auprc", "leaves"]`` a single value. Undefined values are NaN.

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> from ramify.metrics import evaluate
    >>> animals = Hierarchy.from_paths(["bird", "mammal/cat", "mammal/dog"])
    >>> y_true = [["mammal/cat"], ["bird"], ["mammal/dog"]]
    >>> y_score = [[0.1, 0.9, 0.6, 0.3], [0.8, 0.2, 0.1, 0.1], [0.4, 0.6, 0.5, 0.4]]
    >>> result = evaluate(y_true, y_score, animals)
    >>> round(result["micro_f1"], 4), round(result["pooled_auprc", "leaves"], 4)
    (0.8, 0.8778)
    """
    ranking = read_ranking(y_true, y_score, hierarchy, "all", sample_weight)
    predicted = _predicted(y_pred, ranking, hierarchy, threshold)
    trained = None if y_train is None else _read_training(y_train, ranking, hierarchy)
    partial = read_truth(y_true, hierarchy, ranking.truth.shape[1])[1]
    case = _Case(ranking, predicted, hierarchy, trained, partial)
    rows: list[tuple[str, str, float]] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        for scope, labels in _scopes(hierarchy):
            figures = [*_score_figures(case, labels), *_set_figures(case, labels)]
            if scope == "all":
                figures += _hierarchical_figures(case)
            rows += [(measure, scope, value) for measure, value in figures]
        rows += _level_figures(case)
    names = ("measure", "labels", "value")
    return Evaluation(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


@dataclass
class _Case:
    """The validated arguments of the measures."""

    ranking: Ranking
    predicted: Truth
    hierarchy: Hierarchy | None
    trained: Any  # label matrix or PartialLabels, or None
    partial: PartialLabels | None  # the truth, if some of it is not known

    @property
    def truth(self) -> Any:
        """The true labels."""
        return self.ranking.truth if self.partial is None else self.partial

    @cached_property
    def information(self) -> Any:
        """Information content of the labels, computed from the training labels if given."""
        source = self.truth if self.trained is None else self.trained
        return protein.information_content(source, hierarchy=self.hierarchy)

    def of_scores(self, measure: Callable[..., Any], **options: Any) -> Any:
        """Call a measure that takes scores."""
        r = self.ranking
        return measure(
            self.truth, r.scores, hierarchy=self.hierarchy, sample_weight=r.weight, **options
        )

    def of_sets(self, measure: Callable[..., Any], **options: Any) -> Any:
        """Call a measure that takes label sets."""
        r = self.ranking
        return measure(
            self.truth, self.predicted, hierarchy=self.hierarchy, sample_weight=r.weight, **options
        )


def _predicted(
    y_pred: Any, ranking: Ranking, hierarchy: Hierarchy | None, threshold: float
) -> Truth:
    n_labels = ranking.truth.shape[1]
    chosen = predicted_at(ranking.scores, threshold) if y_pred is None else y_pred
    return read_label_matrix(chosen, hierarchy, n_labels, "y_pred")


def _read_training(y_train: Any, ranking: Ranking, hierarchy: Hierarchy | None) -> Any:
    partial = read_partial(y_train, hierarchy)
    if partial is not None:
        return partial
    return read_label_matrix(y_train, hierarchy, ranking.truth.shape[1], "y_train")


def _scopes(hierarchy: Hierarchy | None) -> Iterator[tuple[str, LabelChoice]]:
    yield "all", "all"
    if hierarchy is not None and hierarchy.depth > 1:
        yield "leaves", "leaves"
        for level in range(1, hierarchy.depth + 1):
            yield f"level {level}", level


def _score_figures(case: _Case, labels: LabelChoice) -> _Figures:
    for measure in (
        ranking.pooled_auprc,
        ranking.mean_auprc,
        ranking.weighted_auprc,
        ranking.pooled_auroc,
        ranking.mean_auroc,
    ):
        yield measure.__name__, case.of_scores(measure, labels=labels)
    curve = case.of_scores(protein.protein_curve, labels=labels, information=case.information)
    yield "f_max", curve.f_max()
    yield "s_min", curve.s_min()


def _set_figures(case: _Case, labels: LabelChoice) -> _Figures:
    for measure in (
        sets.hamming_loss,
        sets.subset_accuracy,
        sets.jaccard_accuracy,
        sets.example_precision,
        sets.example_recall,
        sets.example_f1,
    ):
        yield measure.__name__, case.of_sets(measure, labels=labels)
    names = ("precision", "recall", "f1")
    micro = case.of_sets(sets.micro_precision_recall_f1, labels=labels)
    macro = case.of_sets(sets.macro_precision_recall_f1, labels=labels)
    for kind, figures in (("micro", micro), ("macro", macro)):
        for name, value in zip(names, figures, strict=True):
            yield f"{kind}_{name}", value


def _hierarchical_figures(case: _Case) -> _Figures:
    if case.hierarchy is None:
        return
    figures = case.of_sets(hierarchical.hierarchical_precision_recall_f1)
    for name, value in zip(("precision", "recall", "f1"), figures, strict=True):
        yield f"hierarchical_{name}", value
    alpha = 1.0 if case.trained is None else losses.label_imbalance(case.trained)
    weights = {"alpha": 2 * alpha / (1 + alpha), "beta": 2 / (1 + alpha)}
    yield "hmc_loss", case.of_sets(losses.hmc_loss, **weights)
    yield "symmetric_loss", case.of_sets(losses.symmetric_loss, alpha=alpha)
    yield "h_loss", case.of_sets(losses.h_loss)
    yield "hierarchical_hamming_loss", case.of_sets(losses.hierarchical_hamming_loss)
    yield "top_k_accuracy", case.of_scores(hierarchical.top_k_accuracy)
    if case.partial is None and answers.has_one_path(case.ranking.truth, case.hierarchy):
        for measure in (
            answers.hierarchical_risk,
            answers.hierarchical_coverage,
            answers.mean_depth,
            answers.lca_distance,
        ):
            yield measure.__name__, case.of_sets(measure)


def _level_figures(case: _Case) -> list[tuple[str, str, float]]:
    if case.hierarchy is None or case.hierarchy.depth < 2:
        return []
    figures = case.of_sets(hierarchical.level_accuracy)
    return [
        ("level_accuracy", f"level {level}", float(value))
        for level, value in enumerate(figures, start=1)
    ]


def per_label_report(
    y_true: Any,
    y_score: Any = None,
    hierarchy: Hierarchy | None = None,
    *,
    y_pred: Any = None,
    threshold: float = 0.5,
    labels: LabelChoice = "all",
    sample_weight: ArrayLike | None = None,
) -> Report:
    """Report support, precision, recall, F1, AUPRC and AUROC of every label.

    Parameters
    ----------
    y_true : label matrix or labels in any format
        True labels, one label set per row.
    y_score : array-like or sparse matrix of shape (n, n_labels), optional
        Scores. If None, the areas are left out and `y_pred` is required.
    hierarchy : Hierarchy, optional
        Names the labels. If None, they are numbered.
    y_pred : label matrix or labels in any format, optional
        Predicted label sets. By default, the labels with a score of at least `threshold`.
    threshold : float
        Used if `y_pred` is not given; must be positive if `y_score` is sparse.
    labels : {"all", "leaves"}, int or sequence of labels
        The labels to report; an int is a level, counted from 1 at the top.
    sample_weight : array-like of shape (n,), optional
        Sample weights.

    Returns
    -------
    Report
        Columns label, level, support, predicted, precision, recall, f1, auprc, auroc. Undefined
        values are NaN: the precision of a label that is never predicted, the recall and areas
        of a label that never occurs, and the F1 of a label for which both hold.

    Examples
    --------
    >>> from ramify.metrics import per_label_report
    >>> print(per_label_report([[1, 0], [1, 1], [0, 0]], [[0.9, 0.4], [0.2, 0.6], [0.1, 0.7]]))
    label  level  support  predicted  precision  recall      f1   auprc   auroc
    0          1        2          1     1.0000  0.5000  0.6667  1.0000  1.0000
    1          1        1          2     0.5000  1.0000  0.6667  0.2500  0.5000
    """
    if y_score is None and y_pred is None:
        raise ValueError("y_score and y_pred are both None. Pass at least one of them.")
    if y_pred is None:
        scores = read_ranking(y_true, y_score, hierarchy, "all", None).scores
        y_pred = predicted_at(scores, threshold)
    sets = read_sets(y_true, y_pred, hierarchy, labels, sample_weight)
    support, predicted, shared = sets.label_counts()
    figures = precision_recall_f1(support, predicted, shared, np.nan)
    names, levels = _names_and_levels(labels, hierarchy, width(y_pred, hierarchy))
    if sample_weight is None:
        support, predicted = support.astype(np.int64), predicted.astype(np.int64)
    columns: dict[str, Any] = {"label": names, "level": levels}
    columns |= {"support": support, "predicted": predicted}
    columns |= dict(zip(("precision", "recall", "f1"), figures, strict=True))
    if y_score is not None:
        ranking = read_ranking(y_true, y_score, hierarchy, labels, sample_weight)
        auprc, auroc, _ = areas_of_labels(ranking)
        columns |= {"auprc": auprc, "auroc": np.where(np.isnan(auprc), np.nan, auroc)}
    return Report({name: list(values) for name, values in columns.items()})


def _names_and_levels(
    labels: LabelChoice, hierarchy: Hierarchy | None, n_labels: int
) -> tuple[list[Any], list[int]]:
    chosen = choose_labels(labels, hierarchy, n_labels).tolist()
    if hierarchy is None:
        return chosen, [1] * len(chosen)
    levels = hierarchy.label_levels
    return [hierarchy.labels[c] for c in chosen], [int(levels[c]) for c in chosen]


# ---- overfitting, model size and training time ----------------------------------------------


def overfit_score(train_score: float, test_score: float) -> float:
    r"""Relative decrease of a score from the training data to unseen data.

    .. math:: OS = \frac{s_{train} - s_{test}}{s_{train}}

    Parameters
    ----------
    train_score, test_score : float
        The same measure on the training data and on unseen data; higher is better.

    Returns
    -------
    float
        0 means no overfitting, 1 a test score of 0. NaN if the training score is 0.

    Examples
    --------
    >>> from ramify.metrics import overfit_score
    >>> overfit_score(0.8, 0.6)
    0.25000000000000006
    """
    if train_score == 0:
        return np.nan
    return float((train_score - test_score) / train_score)


def model_complexity(model: Any) -> int:
    """Count the nodes of all trees of a fitted model.

    Parameters
    ----------
    model : estimator
        A tree, an ensemble, a local architecture or a pipeline of these, from ramify or
        scikit-learn: any estimator with trees in ``tree_``, ``estimators_``, ``estimator_``,
        ``best_estimator_`` or ``steps``.

    Returns
    -------
    int
        Number of inner nodes and leaves.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from ramify.metrics import model_complexity
    >>> model_complexity(DecisionTreeClassifier().fit([[0], [1]], [0, 1]))
    3
    """
    sizes = list(_tree_sizes(model))
    if not sizes:
        raise ValueError(
            f"model must contain fitted trees, got {type(model).__name__} without any. Fit the "
            "model first; the complexity of models without trees is not defined."
        )
    return sum(sizes)


def _tree_sizes(model: Any) -> Iterator[int]:
    fitted = hasattr(model, "_as_trees") and hasattr(model, "schema_")
    own = model._as_trees() if fitted else None
    if own is not None and own.trees:
        yield from (len(one.tree.feature) for one in own.trees)
        return
    if hasattr(model, "tree_"):  # of scikit-learn
        yield len(model.tree_.feature)
        return
    for name in ("estimators_", "estimator_", "best_estimator_", "steps"):
        for part in _parts(getattr(model, name, None)):
            yield from _tree_sizes(part)


def _parts(held: Any) -> Iterator[Any]:
    """Yield the models inside lists, arrays, dictionaries and (name, model) pairs."""
    if held is None or isinstance(held, str):
        return
    if isinstance(held, Mapping):
        held = list(held.values())
    if isinstance(held, np.ndarray):
        held = held.ravel().tolist()
    if isinstance(held, list | tuple):
        for part in held:
            yield from _parts(part)
    else:
        yield held


@dataclass(frozen=True)
class FitRecord:
    """A fitted model, its training time and its size.

    Attributes
    ----------
    model : estimator
        The fitted model.
    learning_time : float
        Wall-clock time in seconds.
    complexity : int or None
        Number of nodes of all trees; None if the model has no trees.
    """

    model: Any
    learning_time: float
    complexity: int | None

    def __str__(self) -> str:
        nodes = "no trees" if self.complexity is None else f"{self.complexity} nodes"
        return f"{type(self.model).__name__}: {self.learning_time:.3g} s, {nodes}"


def record_fit(model: Any, X: Any, y: Any, **fit_params: Any) -> FitRecord:
    """Fit a model and record the training time and the number of nodes.

    Parameters
    ----------
    model : estimator
        Fitted in place.
    X, y : array-like
        Training data.
    **fit_params
        Passed to ``fit``.

    Returns
    -------
    FitRecord
        The fitted model, its training time and its number of nodes.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from ramify.metrics import record_fit
    >>> record_fit(DecisionTreeClassifier(), [[0], [1]], [0, 1]).complexity
    3
    """
    begin = time.perf_counter()
    fitted = model.fit(X, y, **fit_params)
    seconds = time.perf_counter() - begin
    sizes = list(_tree_sizes(fitted))
    return FitRecord(fitted, seconds, sum(sizes) if sizes else None)
