"""A rule, and its prediction for one label."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ramify._validation import Label
from ramify.inspection.rulesets.conditions import Condition

__all__ = ["LabelRule", "Rule"]


@dataclass(frozen=True)
class Rule:
    """A rule: if all conditions hold, the labels have the given probabilities.

    Attributes
    ----------
    conditions : tuple of Condition
        One condition per feature. A rule without conditions always holds.
    labels : ndarray of int
        Positions in the hierarchy of the labels with a probability above 0.
    probability : ndarray of float
        Predicted probabilities of these labels.
    precision : ndarray of float
        Fraction of the covered rows that have each of these labels.
    support : float
        Number of rows covered; rows with missing values count fractionally.
    coverage : float
        Fraction of all rows covered.
    tree : str
        Name of the tree, or of the first of several trees.
    n_trees : int
        Number of trees of a forest that contain the rule.
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
        """Return the conditions as text."""
        return " and ".join(c.to_text() for c in self.conditions) or "always"


@dataclass(frozen=True)
class LabelRule:
    """The prediction of a rule for one label.

    Attributes
    ----------
    rule : Rule
        The rule.
    label : str or int
        The label.
    precision : float
        Fraction of the covered rows that have the label.
    lift : float
        Precision divided by the fraction of all rows that have the label.
    score : float
        Coverage × lift: the fraction of the rows of the label that the rule covers.
    """

    rule: Rule
    label: Label
    precision: float
    lift: float
    score: float
