"""The models that a run has learnt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify.clus.models import Model

__all__ = ["Learned"]


@dataclass(frozen=True)
class Learned:
    """The models of one run.

    Attributes
    ----------
    models : list of Model
        The models, in the order in which they are reported.
    shown : list of Model
        Those that are printed.
    train : Rows
        The rows that the models were grown on.
    prune : Rows or None
        Validation rows that the models were not grown on.
    f_test : float
        Level of the F-test.
    seconds, pruning_seconds : float
        Times of growing and pruning.
    left_out : ndarray of uint8 or None
        For a forest, which rows each tree did not draw.
    squares : list of ndarray or None
        For a ranked forest, the sum of squares of every node of each tree.
    """

    models: list[Model]
    shown: list[Model]
    train: Any
    prune: Any
    f_test: float
    seconds: float
    pruning_seconds: float = 0.0
    left_out: NDArray[np.uint8] | None = None
    squares: list[NDArray[np.float64]] | None = None
