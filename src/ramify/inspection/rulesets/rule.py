"""One rule, and what it says of one label."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ramify._validation import Label
from ramify.inspection.rulesets.conditions import Condition

__all__ = ["LabelRule", "Rule"]


@dataclass(frozen=True)
class Rule:
    """If all conditions hold, these labels have these probabilities.

    Attributes
    ----------
    conditions : tuple of Condition
        One per feature; without any the rule always holds.
    labels : ndarray of int
        Positions in the hierarchy of the labels with a probability above 0.
    probability : ndarray of float
        What the model predicts for them.
    precision : ndarray of float
        The share of the covered rows that have them.
    support : float
        How many rows it covers; rows with unknown values count in parts.
    coverage : float
        Its share of all rows.
    tree : str
        The name of its tree; of the first of several.
    n_trees : int
        How many trees of a forest have it.
    """

    conditions: tuple[Condition, ...]
    labels: NDArray[np.int64]
    probability: NDArray[np.float64]
    precision: NDArray[np.float64]
    support: float
    coverage: float
    tree: str = ""
    n_trees: int = 1

    def to_text(self) -> str:
        """Return the conditions as words."""
        return " and ".join(c.to_text() for c in self.conditions) or "always"


@dataclass(frozen=True)
class LabelRule:
    """What a rule says of one label.

    Attributes
    ----------
    rule : Rule
        The rule.
    label : str or int
        The label.
    precision : float
        The share of the covered rows that have it.
    lift : float
        How many times that is the label's share of all rows.
    score : float
        Coverage × lift: the share of the label's rows that the rule covers.
    """

    rule: Rule
    label: Label
    precision: float
    lift: float
    score: float
