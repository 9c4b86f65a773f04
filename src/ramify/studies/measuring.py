"""Measures of a study by name: the value for the predictions of some rows."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from ramify.metrics import get_scorer, get_scorer_names
from ramify.studies.data import Rows, StudyData
from ramify.studies.models import label_sets
from ramify.studies.plan import MeasureSpec

__all__ = ["Predictions", "higher_is_better", "scorer_of", "value_of"]


@dataclass(frozen=True)
class Predictions:
    """Probabilities and label sets of some rows, as far as the measures need them.

    Attributes
    ----------
    rows : ndarray of int
        Row numbers.
    scores, sets : ndarray or None
        Probabilities and label sets.
    """

    rows: Rows
    scores: Any
    sets: Any

    @classmethod
    def of(cls, model: Any, X: Any, rows: Rows, measures: Sequence[MeasureSpec]) -> Predictions:
        """Predict what the measures need."""
        needed = {scorer_of(measure.measure).of_scores for measure in measures}
        scores = model.predict_proba(X) if True in needed else None
        return cls(rows, scores, label_sets(model, X) if False in needed else None)


def scorer_of(measure: str) -> Any:
    """Return the scorer of a measure, whether it is a score or a loss.

    Parameters
    ----------
    measure : str
        Such as "pooled_auprc" or "hmc_loss".

    Returns
    -------
    Scorer
        A scorer returned by `ramify.metrics.get_scorer`.

    Examples
    --------
    >>> scorer_of("hmc_loss").sign
    -1
    """
    return get_scorer(measure if measure in get_scorer_names() else f"neg_{measure}")


def value_of(
    measure: str,
    options: Mapping[str, Any],
    data: StudyData,
    predictions: Predictions,
    imbalance: float,
) -> float | None:
    """Return the value of a measure; None where it is not defined, since JSON has no NaN.

    Parameters
    ----------
    measure : str
        Its name.
    options : mapping
        Its options. A number of thresholds is a grid on [0, 1]; "imbalance" stands for
        `imbalance`.
    data : StudyData
        The true labels.
    predictions : Predictions
        The predictions for some of its rows.
    imbalance : float
        Number of negatives per positive in the training labels.

    Returns
    -------
    float or None
        The value.
    """
    scorer = scorer_of(measure)
    given = {name: imbalance if one == "imbalance" else one for name, one in options.items()}
    thresholds = given.get("thresholds")
    if isinstance(thresholds, int):
        given["thresholds"] = np.arange(thresholds) / (thresholds - 1)
    predicted = predictions.scores if scorer.of_scores else predictions.sets
    truth = data.y[predictions.rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        value = float(scorer.measure(truth, predicted, hierarchy=data.hierarchy, **given))
    return value if np.isfinite(value) else None


def higher_is_better(measure: MeasureSpec) -> bool:
    """Return whether the largest value is the best.

    Parameters
    ----------
    measure : MeasureSpec
        The measure.

    Returns
    -------
    bool
        False for losses.
    """
    return bool(scorer_of(measure.measure).sign > 0)
