"""Measures by name or as functions, applied to the scores of a classifier."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import metrics
from ramify.hierarchy.hierarchy import Hierarchy

__all__ = ["measure_scores", "read_measure"]

Measure = Callable[..., Any]

# Parameters that may also be switched on and off.
_FLAGS = {"oob_score": "True, False, "}


def read_measure(measure: Any, argument: str = "oob_score") -> Measure:
    """Return a measure given as a function, by name, or as a flag for the usual one.

    Parameters
    ----------
    measure : callable, str or bool
        A function of (truth, scores), the name of one in `ramify.metrics`, or a flag for
        `pooled_auprc`.
    argument : str
        The parameter it was given as, for the message.

    Returns
    -------
    callable
        The function.

    Examples
    --------
    >>> read_measure("mean_auprc").__name__, read_measure(True).__name__
    ('mean_auprc', 'pooled_auprc')
    """
    if isinstance(measure, bool | np.bool_):
        return metrics.pooled_auprc
    if isinstance(measure, str) and measure in metrics.__all__:
        measure = getattr(metrics, measure)
    if callable(measure):
        return cast("Measure", measure)
    raise ValueError(
        f"{argument} is {measure!r}, but it must be {_FLAGS.get(argument, '')}a function of "
        "(truth, scores) or the name of a measure in ramify.metrics, such as 'mean_auprc'."
    )


def measure_scores(
    measure: Measure,
    truth: sparse.csr_array[np.int32],
    scores: NDArray[np.float64],
    hierarchy: Hierarchy,
    decide: Callable[[NDArray[np.float64]], Any],
) -> Any:
    """Apply a measure of scores or of label sets.

    Parameters
    ----------
    measure : callable
        With an argument `y_pred` it is given label sets, otherwise scores; with an argument
        `hierarchy`, the labels too.
    truth : csr_array of shape (n, n_labels)
        The true labels, closed upwards.
    scores : ndarray of shape (n, n_labels)
        Predicted probabilities.
    hierarchy : Hierarchy
        The labels.
    decide : callable
        Makes label sets of scores.

    Returns
    -------
    Any
        What the measure says.
    """
    arguments = _argument_names(measure)
    predicted = decide(scores) if "y_pred" in arguments else scores
    if "hierarchy" in arguments:
        return measure(truth, predicted, hierarchy=hierarchy)
    return measure(truth, predicted)


def _argument_names(measure: Measure) -> frozenset[str]:
    try:
        return frozenset(inspect.signature(measure).parameters)
    except ValueError:  # some built-in functions do not say
        return frozenset()
