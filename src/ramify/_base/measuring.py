"""Resolve a measure given by name or as a function, and apply it to predicted scores."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

import ramify.metrics as measures
from ramify.labels.hierarchy import Hierarchy

Measure = Callable[..., Any]

# Parameters that also accept a bool.
_FLAGS = {"oob_score": "True, False, "}


def read_measure(measure: Any, argument: str = "oob_score") -> Measure:
    """Return the function for a measure given by name, as a function or as a bool.

    >>> read_measure("mean_auprc").__name__, read_measure(True).__name__
    ('mean_auprc', 'pooled_auprc')
    """
    if isinstance(measure, bool | np.bool_):
        return measures.pooled_auprc
    if isinstance(measure, str) and measure in measures.__all__:
        measure = getattr(measures, measure)
    if callable(measure):
        return cast("Measure", measure)
    raise ValueError(
        f"{argument} must be {_FLAGS.get(argument, '')}a function of (truth, scores) or the name "
        f"of a measure in ramify.metrics, got {measure!r}. Use a name such as 'mean_auprc'."
    )


def measure_scores(
    measure: Measure,
    truth: sparse.csr_array[np.int32],
    scores: NDArray[np.float64],
    hierarchy: Hierarchy,
    decide: Callable[[NDArray[np.float64]], Any],
    *,
    sample_weight: NDArray[np.float64] | None = None,
) -> Any:
    """Compute a measure of scores or of label sets."""
    arguments = _argument_names(measure)
    given: dict[str, Any] = {} if sample_weight is None else {"sample_weight": sample_weight}
    predicted = decide(scores) if "y_pred" in arguments else scores
    if "hierarchy" in arguments:
        given["hierarchy"] = hierarchy
    return measure(truth, predicted, **given)


def takes_weights(measure: Measure) -> bool:
    """Return whether a measure has the argument `sample_weight`."""
    return "sample_weight" in _argument_names(measure)


def _argument_names(measure: Measure) -> frozenset[str]:
    try:
        return frozenset(inspect.signature(measure).parameters)
    except ValueError:  # some built-in functions have no signature
        return frozenset()
