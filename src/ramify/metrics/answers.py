"""How often answers of one label are wrong, and how specific they are.

An answer is a label with its ancestors. It is wrong if one of these labels is not true, so
"beetle" is right for any beetle, and an empty answer is never wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from ramify import _core
from ramify._validation import check_number
from ramify.data.rows import as_label_rows, indicator
from ramify.decision.guarantees import climb
from ramify.decision.paths import find_ends, read_candidates
from ramify.labels.hierarchy import Hierarchy
from ramify.metrics.inputs import (
    LabelSets,
    Scores,
    Truth,
    read_ranking,
    read_sets,
    unknown_truth_error,
)
from ramify.metrics.reports import Report


def hierarchical_risk(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of rows with a predicted label that is not true, ancestors included.

    Parameters
    ----------
    y_true, y_pred : label matrices or labels in any format
        True and predicted labels; ancestors are added.
    hierarchy : Hierarchy, optional
        If None, the labels have no ancestors.
    sample_weight : array-like of shape (n,), optional
        Sample weights.

    Returns
    -------
    float
        0 is best. Rows without predicted labels are not wrong.

    See Also
    --------
    hierarchical_coverage : How specific the answers are.

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> from ramify.metrics import hierarchical_risk
    >>> animals = Hierarchy.from_paths(["bird", "mammal/cat", "mammal/dog"])
    >>> y_true = [["mammal/cat"], ["mammal/cat"], ["bird"], ["bird"]]
    >>> hierarchical_risk(y_true, [["mammal"], ["mammal/dog"], [], ["bird"]], hierarchy=animals)
    0.25
    """
    sets = _closed_sets(y_true, y_pred, hierarchy, sample_weight)
    return sets.mean(_is_wrong(sets))


def hierarchical_coverage(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Mean share of the information about the most specific label that answers give.

    .. math:: \frac{1}{n} \sum_i 1 - \frac{\log |L(P_i)|}{\log |L|}

    where L are the leaves of the hierarchy and :math:`L(P_i)` those that the answer leaves
    possible: those below it, or all if it is empty (Goren et al., 2024).

    Parameters
    ----------
    y_true, y_pred : label matrices or labels in any format
        True labels, which have no effect, and predicted labels; ancestors are added.
    hierarchy : Hierarchy
        The label hierarchy.
    sample_weight : array-like of shape (n,), optional
        Sample weights.

    Returns
    -------
    float
        1 if every answer is a leaf, 0 if all are empty.

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> from ramify.metrics import hierarchical_coverage
    >>> animals = Hierarchy.from_paths(["bird", "fish", "mammal/cat", "mammal/dog"])
    >>> hierarchical_coverage([["bird"]] * 3, [["bird"], ["mammal"], []], hierarchy=animals)
    0.5
    """
    sets = _closed_sets(y_true, y_pred, hierarchy, sample_weight)
    return sets.mean(_information(sets.predicted, hierarchy))


def mean_depth(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mean level of the deepest predicted label, 0 for rows without any.

    Parameters
    ----------
    y_true, y_pred : label matrices or labels in any format
        True labels, which have no effect, and predicted labels; ancestors are added.
    hierarchy : Hierarchy
        The label hierarchy.
    sample_weight : array-like of shape (n,), optional
        Sample weights.

    Returns
    -------
    float
        From 0 to ``hierarchy.depth``. Look at `hierarchical_risk`, too: wrong answers count.

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> from ramify.metrics import mean_depth
    >>> animals = Hierarchy.from_paths(["bird", "mammal/cat", "mammal/dog"])
    >>> mean_depth([["bird"], ["bird"]], [["bird"], ["mammal/cat"]], hierarchy=animals)
    1.5
    """
    sets = _closed_sets(y_true, y_pred, hierarchy, sample_weight)
    return sets.mean(_depths(sets.predicted, hierarchy))


def lca_distance(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mean number of labels that only the answer or only the truth has, ancestors included.

    In a tree with one path per row, these are the steps from the answer to the true label by way
    of their lowest common ancestor.

    Parameters
    ----------
    y_true, y_pred : label matrices or labels in any format
        True and predicted labels; ancestors are added.
    hierarchy : Hierarchy, optional
        If None, the labels have no ancestors.
    sample_weight : array-like of shape (n,), optional
        Sample weights.

    Returns
    -------
    float
        0 is best.

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> from ramify.metrics import lca_distance
    >>> animals = Hierarchy.from_paths(["bird", "mammal/cat", "mammal/dog"])
    >>> lca_distance([["mammal/cat"]] * 2, [["mammal/dog"], ["mammal"]], hierarchy=animals)
    1.5
    """
    sets = _closed_sets(y_true, y_pred, hierarchy, sample_weight)
    true, predicted, shared = sets.row_sizes()
    return sets.mean(true + predicted - 2 * shared)


def answer_report(
    y_true: Any,
    y_pred: Any,
    hierarchy: Hierarchy,
    *,
    sample_weight: ArrayLike | None = None,
) -> Report:
    """Report how many answers end on each level, and how many of them are wrong.

    Parameters
    ----------
    y_true, y_pred : label matrices or labels in any format
        True and predicted labels; ancestors are added.
    hierarchy : Hierarchy
        The label hierarchy.
    sample_weight : array-like of shape (n,), optional
        Sample weights.

    Returns
    -------
    Report
        Columns level (0: empty answers), ends (share of the answers that end there), reached
        (share that ends there or below) and wrong (share of the answers that end there; NaN if
        there are none).

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> from ramify.metrics import answer_report
    >>> animals = Hierarchy.from_paths(["bird", "mammal/cat", "mammal/dog"])
    >>> y_true = [["mammal/cat"], ["mammal/cat"], ["bird"], ["bird"]]
    >>> print(answer_report(y_true, [["mammal"], ["mammal/dog"], [], ["bird"]], animals))
    level    ends  reached   wrong
        0  0.2500   1.0000  0.0000
        1  0.5000   0.7500  0.0000
        2  0.2500   0.2500  1.0000
    """
    sets = _closed_sets(y_true, y_pred, hierarchy, sample_weight)
    depths, wrong = _depths(sets.predicted, hierarchy), _is_wrong(sets)
    weights = sets.weight / sets.weight.sum()
    levels = list(range(hierarchy.depth + 1))
    ends = [float(weights[depths == level].sum()) for level in levels]
    return Report(
        {
            "level": levels,
            "ends": ends,
            "reached": [float(weights[depths >= level].sum()) for level in levels],
            "wrong": [
                float((weights * wrong)[depths == level].sum() / share) if share else np.nan
                for level, share in zip(levels, ends, strict=True)
            ],
        }
    )


def has_one_path(Y: Truth, hierarchy: Hierarchy) -> bool:
    """Return whether every row of a closed label matrix has one most specific label."""
    indptr, _ = _core.most_specific(as_label_rows(Y), hierarchy._parents)
    return bool(Y.shape[0]) and bool((np.diff(indptr) == 1).all())


def _closed_sets(
    y_true: Any, y_pred: Any, hierarchy: Hierarchy | None, sample_weight: ArrayLike | None
) -> LabelSets:
    sets = read_sets(y_true, y_pred, hierarchy, "all", sample_weight, closed=True)
    if (sets.n_known < sets.truth.shape[1]).any():
        raise unknown_truth_error()
    return sets


def _is_wrong(sets: LabelSets) -> NDArray[np.float64]:
    _, predicted, shared = sets.row_sizes()
    return np.where(predicted > shared, 1.0, 0.0)


def _depths(predicted: Truth, hierarchy: Hierarchy) -> NDArray[np.float64]:
    levels = sparse.csr_array(predicted.multiply(hierarchy.label_levels))
    return np.asarray(levels.max(axis=1).toarray(), dtype=np.float64).ravel()


def _information(predicted: Truth, hierarchy: Hierarchy) -> NDArray[np.float64]:
    """Return the share of information that each row gives about the leaf."""
    leaves = hierarchy.indices(hierarchy.leaves)
    paths = hierarchy.close(indicator((np.arange(len(leaves) + 1), leaves), hierarchy.n_labels))
    if len(leaves) == 1:
        return np.asarray(predicted[:, leaves].toarray(), dtype=np.float64).ravel()
    # A leaf is possible if it has all labels of the answer.
    found = np.empty(predicted.shape[0])
    sizes = np.diff(predicted.indptr)
    for start in range(0, len(found), _BLOCK):
        rows = slice(start, start + _BLOCK)
        shared = (predicted[rows] @ paths.T).toarray()
        possible = (shared == sizes[rows, None]).sum(axis=1)
        found[rows] = 1 - np.log(np.maximum(1, possible)) / np.log(len(leaves))
    return found


_BLOCK = 1000  # rows of a dense matrix of rows and leaves


# ---- all thresholds -------------------------------------------------------------------------


@dataclass(frozen=True)
class AnswerCurve:
    """Errors and specificity of answers for all thresholds of their probability.

    Attributes
    ----------
    threshold : ndarray of shape (n_points,)
        Probability that an answer must reach, from infinity down.
    risk : ndarray of shape (n_points,)
        The share of rows whose answer is wrong.
    coverage : ndarray of shape (n_points,)
        How specific answers are, from 0 to 1; see `hierarchical_coverage`.
    reached : ndarray of shape (n_points, depth)
        The share of rows with an answer on each level or below it.
    """

    threshold: NDArray[np.float64]
    risk: NDArray[np.float64]
    coverage: NDArray[np.float64]
    reached: NDArray[np.float64]

    @property
    def aurc(self) -> float:
        """Area under the risk as a function of the coverage; 0 is best.

        Models of a smaller largest coverage have a smaller area: compare them where they answer
        alike.
        """
        return float(np.sum(np.diff(self.coverage) * (self.risk[1:] + self.risk[:-1]) / 2))

    def at_errors(self, shares: Any = (0.01, 0.05, 0.1)) -> Report:
        """Report how specific answers are at the lowest threshold with so few errors on the way.

        Parameters
        ----------
        shares : sequence of float
            The largest shares of wrong answers.

        Returns
        -------
        Report
            Columns errors, threshold, coverage, and "level 1" and so on, the share of rows with an
            answer on each level or below it. These are figures of the rows of the curve, not a
            promise about others; see `ramify.SelectiveClassifier`.
        """
        for share in shares:
            check_number("shares", share, 0, 1)
        worst = np.maximum.accumulate(self.risk)
        last = np.searchsorted(worst, np.asarray(shares, dtype=np.float64), side="right") - 1
        columns = {
            "errors": list(shares),
            "threshold": self.threshold[last].tolist(),
            "coverage": self.coverage[last].tolist(),
        }
        levels = enumerate(self.reached[last].T, start=1)
        return Report(columns | {f"level {level}": share.tolist() for level, share in levels})


def answer_curve(
    y_true: Any,
    y_score: Any,
    hierarchy: Hierarchy,
    *,
    candidates: Any = None,
    sample_weight: ArrayLike | None = None,
) -> AnswerCurve:
    """Compute errors and specificity of answers for all thresholds of their probability.

    From the most probable end of a row's path, the hierarchy is climbed until a label is probable
    enough, as `ramify.SelectiveClassifier` does.

    Parameters
    ----------
    y_true : label matrix or labels in any format
        True labels, one path per row; ancestors are added.
    y_score : array-like of shape (n, n_labels)
        Coherent scores, as returned by `predict_proba`.
    hierarchy : Hierarchy
        The label hierarchy.
    candidates : array-like of bool of shape (n_labels,), optional
        The labels at which paths may end; by default, those at which a true path ends.
    sample_weight : array-like of shape (n,), optional
        Sample weights.

    Returns
    -------
    AnswerCurve
        One point for each score at which an answer changes.

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> from ramify.metrics import answer_curve
    >>> animals = Hierarchy.from_paths(["bird", "mammal/cat", "mammal/dog"])
    >>> y_true = [["mammal/cat"], ["mammal/dog"], ["bird"]]
    >>> y_score = [[0.1, 0.9, 0.7, 0.2], [0.2, 0.8, 0.5, 0.3], [0.6, 0.4, 0.3, 0.1]]
    >>> curve = answer_curve(y_true, y_score, animals)
    >>> print(curve.at_errors([0, 0.4]))
    errors  threshold  coverage  level 1  level 2
         0     0.6000    0.7897   1.0000   0.3333
    0.4000     0.5000    1.0000   1.0000   0.6667
    >>> round(curve.aurc, 4)
    0.0351
    """
    ranking = read_ranking(y_true, y_score, hierarchy, "all", sample_weight).require_known()
    scores = ranking.scores.toarray() if sparse.issparse(ranking.scores) else ranking.scores
    closed: Any = hierarchy.close(ranking.truth)
    ends = find_ends(closed, hierarchy) if candidates is None else candidates
    may_end: Any = read_candidates(ends, hierarchy)
    chains = climb(np.asarray(scores, dtype=np.float64), may_end, hierarchy)
    levels = np.append(hierarchy.label_levels, 0)
    single = sparse.eye_array(hierarchy.n_labels, dtype=np.int32, format="csr")
    information = np.append(_information(hierarchy.close(single), hierarchy), 0.0)

    # What is said of a row at each label of its chain; -1, the last one, is an empty answer.
    n = len(chains.labels)
    known = chains.labels >= 0
    is_true = np.asarray(closed[np.arange(n)[:, None], np.maximum(chains.labels, 0)].toarray()) > 0
    said = np.stack(
        [
            (known & ~is_true).astype(np.float64),
            information[chains.labels],
            *((levels[chains.labels] >= level) * 1.0 for level in range(1, hierarchy.depth + 1)),
        ],
        axis=-1,
    )
    # An answer changes from the label above it, or from none, when the threshold is its score.
    change = said - np.concatenate([said[:, 1:], np.zeros((n, 1, said.shape[2]))], axis=1)
    weights = ranking.row_weights / ranking.row_weights.sum()
    change *= weights[:, None, None]
    at = chains.scores[known]
    order = np.argsort(-at, kind="stable")
    at, sums = at[order], np.cumsum(change[known][order], axis=0)
    last = np.append(at[1:] != at[:-1], True)
    points = np.concatenate([np.zeros((1, sums.shape[1])), sums[last]])
    points = np.clip(points, 0.0, 1.0)  # of sums rounded
    return AnswerCurve(
        np.concatenate([[np.inf], at[last]]), points[:, 0], points[:, 1], points[:, 2:]
    )


# ---- calibration per level ------------------------------------------------------------------


def level_calibration(
    y_true: Any,
    y_score: Any,
    hierarchy: Hierarchy,
    *,
    n_bins: int = 10,
    sample_weight: ArrayLike | None = None,
) -> Report:
    """Compare probabilities with how often they are right, level by level.

    Of each row, the most probable label of each level counts. Where paths often end above a level,
    its probabilities should be small.

    Parameters
    ----------
    y_true : label matrix or labels in any format
        True labels, one label set per row; ancestors are added.
    y_score : array-like or sparse matrix of shape (n, n_labels)
        Probabilities, as returned by `predict_proba`.
    hierarchy : Hierarchy
        The label hierarchy.
    n_bins : int
        Number of bins of equal width from 0 to 1.
    sample_weight : array-like of shape (n,), optional
        Sample weights.

    Returns
    -------
    Report
        A row for each level and bin with rows in it: level, rows (the share of all rows),
        probability (mean of the bin) and right (the share of true labels).

    See Also
    --------
    plot_level_calibration : The same as curves.
    ramify.CalibratedHierarchicalClassifier : Corrects probabilities.

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> from ramify.metrics import level_calibration
    >>> animals = Hierarchy.from_paths(["bird", "mammal/cat", "mammal/dog"])
    >>> y_true = [["mammal/cat"], ["mammal/dog"], ["bird"]]
    >>> y_score = [[0.1, 0.9, 0.7, 0.2], [0.2, 0.8, 0.5, 0.3], [0.6, 0.4, 0.3, 0.1]]
    >>> print(level_calibration(y_true, y_score, animals, n_bins=2))
    level    rows  probability   right
        1  1.0000       0.7667  1.0000
        2  0.3333       0.3000  0.0000
        2  0.6667       0.6000  0.5000
    """
    check_number("n_bins", n_bins, 1, whole=True)
    ranking = read_ranking(y_true, y_score, hierarchy, "all", sample_weight).require_known()
    _check_probabilities(ranking.scores)
    truth: Any = hierarchy.close(ranking.truth)
    rows = np.arange(truth.shape[0])
    weights = ranking.row_weights / ranking.row_weights.sum()
    columns: dict[str, list[Any]] = {"level": [], "rows": [], "probability": [], "right": []}
    for level in range(1, hierarchy.depth + 1):
        labels = np.flatnonzero(hierarchy.label_levels == level)
        part: Any = ranking.scores[:, labels]
        scores: Any = part.toarray() if sparse.issparse(ranking.scores) else part
        best = scores.argmax(axis=1)
        highest = scores[rows, best]
        right = np.asarray(truth[rows, labels[best]]).ravel() > 0
        bins = np.minimum((highest * n_bins).astype(int), n_bins - 1)
        sums = [np.bincount(bins, weights * each, n_bins) for each in (1.0, highest, right)]
        for share, probability, is_right in zip(*sums, strict=True):
            if share > 0:
                row = (level, float(share), float(probability / share), float(is_right / share))
                for column, value in zip(columns.values(), row, strict=True):
                    column.append(value)
    return Report(columns)


def _check_probabilities(scores: Scores) -> None:
    """Raise an error if scores are not from 0 to 1, up to rounding."""
    for value in (float(scores.min()), float(scores.max())) if scores.shape[1] else ():
        if not -_ROUNDING <= value <= 1 + _ROUNDING:
            raise ValueError(
                f"y_score must contain probabilities from 0 to 1, got {value:g}. Pass the result "
                "of predict_proba."
            )


_ROUNDING = 1e-6
