"""Multi-label measures under the names and conventions of CLUS."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify.data.rows import dense
from ramify.labels.hierarchy import Hierarchy
from ramify.metrics.inputs import (
    LabelChoice,
    LabelSets,
    Ranking,
    read_ranking,
    read_sets,
)
from ramify.metrics.ranking import mean_auprc, mean_auroc, pooled_auprc, weighted_auprc
from ramify.metrics.sets import (
    example_f1,
    example_precision,
    example_recall,
    hamming_loss,
    jaccard_accuracy,
    subset_accuracy,
)

Vector = NDArray[np.float64]


def clus_multilabel_measures(
    y_true: Any,
    y_score: Any,
    *,
    hierarchy: Hierarchy | None = None,
    labels: LabelChoice = "all",
    threshold: float = 0.5,
) -> dict[str, float]:
    """Compute the multi-label measures of CLUS, under its names and conventions.

    Parameters
    ----------
    y_true : label matrix or labels in any format
        True labels, one label set per row.
    y_score : array-like of shape (n, n_labels)
        Scores, as returned by `predict_proba`.
    hierarchy : Hierarchy, optional
        Names the columns.
    labels : {"all", "leaves"}, int or sequence of labels
        The labels to evaluate (EvalClasses in CLUS); an int is a level, counted from 1.
    threshold : float
        A label is predicted if its score is at least `threshold`.

    Returns
    -------
    dict of str to float
        The names of the measures in CLUS, and their values.

    Notes
    -----
    These conventions of CLUS differ from common usage:

    - Labels without positive rows are included, with AUPRC 0 and AUROC 0.5.
    - Macro and Micro values are NaN if any division is 0/0, and F1 is NaN without a true
      positive.
    - OneError is the fraction of rows whose top-ranked label is *thresholded* incorrectly.
    - Coverage counts from 1 and skips rows without labels.
    - RankingLoss and AveragePrecision break ties by the order of the labels, and
      AveragePrecision is NaN if a row has no labels.

    Examples
    --------
    >>> from ramify.metrics import clus_multilabel_measures
    >>> figures = clus_multilabel_measures([[1, 0], [1, 1]], [[0.9, 0.4], [0.2, 0.6]])
    >>> figures["OneError"], figures["Coverage"], figures["MicroRecall"]
    (0.0, 1.5, 0.6666666666666666)
    """
    # Its ranking measures sort the scores of all labels.
    ranking = read_ranking(y_true, dense(y_score), hierarchy, labels, None).require_known()
    truth = ranking.truth[:, ranking.labels]
    scores = np.asarray(ranking.scores)[:, ranking.labels]
    sets = read_sets(truth, scores >= threshold, None, "all", None)
    examples = {
        "HammingLoss": hamming_loss,
        "MLAccuracy": jaccard_accuracy,
        "MLFOneMeasure": example_f1,
        "MLPrecision": example_precision,
        "MLRecall": example_recall,
        "SubsetAccuracy": subset_accuracy,
    }
    return {
        **{name: measure(sets.truth, sets.predicted) for name, measure in examples.items()},
        **_label_figures(sets),
        **_ranking_figures(np.asarray(truth.todense()).astype(bool), scores, threshold),
        **_areas(ranking),
    }


def _areas(ranking: Ranking) -> dict[str, float]:
    case, labels = (ranking.truth, ranking.scores), ranking.labels
    kept = {"averageAUPRC": mean_auprc, "averageAUROC": mean_auroc, "pooledAUPRC": pooled_auprc}
    return {
        **{name: area(*case, labels=labels, absent_labels="keep") for name, area in kept.items()},
        "weightedAUPRC": weighted_auprc(*case, labels=labels),
    }


def _label_figures(sets: LabelSets) -> dict[str, float]:
    true, predicted, shared = sets.label_counts()
    with np.errstate(divide="ignore", invalid="ignore"):
        macro = _naive_figures(true, predicted, shared)
        micro = _naive_figures(*(np.array([x.sum()]) for x in (true, predicted, shared)))
    names = ("Precision", "Recall", "FOne")
    return {
        f"{kind}{name}": float(values.mean())
        for kind, figures in (("Macro", macro), ("Micro", micro))
        for name, values in zip(names, figures, strict=True)
    }


def _naive_figures(true: Vector, predicted: Vector, shared: Vector) -> tuple[Vector, ...]:
    precision, recall = shared / predicted, shared / true
    return precision, recall, 2 * precision * recall / (precision + recall)


def _ranking_figures(
    truth: NDArray[np.bool_], scores: Vector, threshold: float
) -> dict[str, float]:
    n_rows = len(truth)
    order = np.argsort(-scores, axis=1, kind="stable")
    ranked = np.take_along_axis(truth, order, axis=1)
    n_true = ranked.sum(axis=1)
    labelled = n_true > 0
    top = order[:, 0]
    rows = np.arange(n_rows)
    wrong_top = truth[rows, top] != (scores[rows, top] >= threshold)
    worst = np.where(truth, scores, np.inf).min(axis=1)
    covered = (scores >= worst[:, None]).sum(axis=1)
    # Number of irrelevant labels ranked above each relevant one: its rank minus its hits.
    hits = np.cumsum(ranked, axis=1)
    ranks = np.arange(1, truth.shape[1] + 1)
    misordered = (ranked * (ranks - hits)).sum(axis=1)
    pairs = n_true * (truth.shape[1] - n_true)
    precision = (ranked * hits / ranks).sum(axis=1)
    return {
        "OneError": float(wrong_top.mean()),
        "Coverage": float(covered[labelled].mean()) if labelled.any() else np.nan,
        "RankingLoss": float(np.where(pairs > 0, misordered / np.maximum(pairs, 1), 0.0).mean()),
        "AveragePrecision": float((precision / n_true).mean()) if labelled.all() else np.nan,
    }
