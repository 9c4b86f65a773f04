"""Conditions of rules: the tests of a path on one feature, merged into an interval or set."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify.inspection.node_tests import NodeTest, join_categories

__all__ = ["Condition", "merge_tests"]


@dataclass(frozen=True)
class Condition:
    """A condition of a rule on one feature.

    Attributes
    ----------
    feature : int
        Position of the feature.
    name : str
        Name of the feature.
    above, up_to : float
        Numeric features: above < value ≤ up_to; infinite if there is no bound.
    bound_texts : tuple of str
        The bounds as text, with as many digits as necessary.
    code_parts : tuple of float
        Nominal features: the fraction of a row that meets the condition, for each category. It is
        1 or 0, or in between if a test has not seen the category in training.
    categories : tuple of str
        Nominal features: names of the categories.
    unknown_part : float
        The fraction of a row with a missing value that meets the condition.
    """

    feature: int
    name: str
    above: float
    up_to: float
    bound_texts: tuple[str, str]
    code_parts: tuple[float, ...]
    categories: tuple[str, ...]
    unknown_part: float

    @property
    def key(self) -> tuple[Any, ...]:
        """A key that is equal for equivalent conditions."""
        return (self.feature, self.above, self.up_to, self.code_parts)

    def match(self, column: NDArray[Any]) -> NDArray[np.float64]:
        """Return the fraction of each row that meets the condition, given a column."""
        values = np.asarray(column, dtype=np.float64)
        missing = np.isnan(values)
        if self.code_parts:
            missing |= (values < 0) | (values >= len(self.code_parts))
            codes = np.where(missing, 0, values).astype(np.int64)
            parts = np.asarray(self.code_parts)[codes]
        else:
            parts = ((values > self.above) & (values <= self.up_to)).astype(np.float64)
        return np.where(missing, self.unknown_part, parts)

    def to_text(self) -> str:
        """Return the condition as text."""
        if self.code_parts:
            pairs = zip(self.categories, self.code_parts, strict=True)
            members = [name for name, part in pairs if part == 1]
            return f"{self.name} {join_categories(members, self.categories)}"
        low, high = self.bound_texts
        if math.isinf(self.above) and math.isinf(self.up_to):
            return f"{self.name} is {'missing' if self.up_to < 0 else 'not missing'}"
        if math.isinf(self.above):
            return f"{self.name} ≤ {high}"
        if math.isinf(self.up_to):
            return f"{self.name} > {low}"
        return f"{low} < {self.name} ≤ {high}"

    def to_dict(self) -> dict[str, Any]:
        """Return the condition as a dict for JSON, with exact bounds; None means no bound."""
        if self.code_parts:
            pairs = zip(self.categories, self.code_parts, strict=True)
            return {
                "feature": self.name,
                "in": [name for name, part in pairs if part == 1],
                "unknown_part": self.unknown_part,
            }
        return {
            "feature": self.name,
            "above": None if math.isinf(self.above) else self.above,
            "up_to": None if math.isinf(self.up_to) else self.up_to,
            "unknown_part": self.unknown_part,
        }


def merge_tests(path: Iterable[tuple[NodeTest, int, float]]) -> tuple[Condition, ...]:
    """Return one condition per feature of a path.

    Parameters
    ----------
    path : iterable of (test, branch, share)
        The tests from the root down, with the branch taken and its share of the weight.

    Returns
    -------
    tuple of Condition
        The conditions, in the order in which the path first tests their features.
    """
    merged: dict[int, Condition] = {}
    for test, branch, share in path:
        new = _condition(test, branch, share)
        old = merged.get(test.feature)
        merged[test.feature] = new if old is None else _both(old, new)
    return tuple(merged.values())


def _condition(test: NodeTest, branch: int, share: float) -> Condition:
    above, up_to = -math.inf, math.inf
    texts = ("", "")
    parts: tuple[float, ...] = ()
    if test.threshold is None:
        parts = tuple(share if found < 0 else float(found == branch) for found in test.branch_of)
    elif branch == 0:
        above, texts = test.threshold, (test.threshold_text, "")
    else:
        up_to, texts = test.threshold, ("", test.threshold_text)
    return Condition(test.feature, test.name, above, up_to, texts, parts, test.categories, share)


def _both(one: Condition, other: Condition) -> Condition:
    lower = one if one.above >= other.above else other
    upper = one if one.up_to <= other.up_to else other
    return Condition(
        feature=one.feature,
        name=one.name,
        above=lower.above,
        up_to=upper.up_to,
        bound_texts=(lower.bound_texts[0], upper.bound_texts[1]),
        code_parts=tuple(a * b for a, b in zip(one.code_parts, other.code_parts, strict=True)),
        categories=one.categories,
        unknown_part=one.unknown_part * other.unknown_part,
    )
