"""What the slow reference tree minimises: impurities, split scores and the F-test.

A set of entries is described by one number, its *mass*: weight times impurity. The score of a test
is the mass that it removes. The code is written for clarity, not speed; `tests/reference/trees.py`
grows trees with it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import scipy.stats

REJECTED = -math.inf
EVIDENCE = 2.5  # the least F of a difference between rows with a missing value and others

# Scores are compared with a relative tolerance, so that the engine, which sums in a different
# order, makes the same decisions. CLUS uses absolute tolerances.
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Settings:
    """Parameters of the tree; the names are those of the estimator."""

    criterion: str = "variance"  # "gini", "entropy", "gain_ratio"
    thresholds: str = "midpoint"  # "observed"
    nary: bool = False  # nominal tests with a branch per category
    subsets: bool = True  # False: nominal tests of one category against the rest
    missing: str = "learn"  # "branch", "divide"
    max_depth: int | None = None
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_weight: float = 0.0
    min_impurity_decrease: float = 0.0
    f_test: float | None = None
    seed: int | None = None  # one random test per column; None: the best of all
    clus: str | None = None  # follow CLUS, for "hierarchical" or "nominal" targets

    @property
    def missing_rule(self) -> str:
        """Where rows with missing values go."""
        return "divide" if self.clus else self.missing


@dataclass(frozen=True)
class Part:
    """Sums over entries: the weight of each label, the total weight, the fractional row count."""

    sums: np.ndarray
    weight: float
    n: float

    def __add__(self, other: Part) -> Part:
        return Part(self.sums + other.sums, self.weight + other.weight, self.n + other.n)

    def __sub__(self, other: Part) -> Part:
        return Part(self.sums - other.sums, self.weight - other.weight, self.n - other.n)


@dataclass(frozen=True)
class Criterion:
    """Scores tests by the mass that they remove.

    `targets` groups the label columns: a single column is a binary label, several columns are the
    values of one nominal target (each row has exactly one of them).
    """

    settings: Settings
    label_weights: np.ndarray
    targets: tuple[tuple[int, ...], ...]
    divisor: float = 1.0  # CLUS divides by the number of labels
    squared: np.ndarray | None = None  # squared distances between the values of the only target
    factors: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        # The Gini index counts both values of a binary label: 1 - p² - (1-p)² = 2 p (1-p).
        factors = np.ones(len(self.label_weights))
        if self.settings.criterion == "gini":
            factors[[group[0] for group in self.targets if len(group) == 1]] = 2.0
        object.__setattr__(self, "factors", factors)

    @property
    def is_information(self) -> bool:
        return self.settings.criterion in ("entropy", "gain_ratio")

    @property
    def is_c45(self) -> bool:
        return self.settings.criterion == "gain_ratio" and not self.settings.clus

    def mass(self, part: Part) -> float:
        """Return weight times impurity."""
        if self.squared is not None:  # half the mean squared distance between two entries
            return float(part.sums @ self.squared @ part.sums) / (2 * part.weight)
        if self.is_information:
            return part.weight * self._entropy(part)
        # Summed in label order, one after another, to reproduce CLUS to the last bit.
        terms = self.label_weights * (part.sums - part.sums * part.sums / part.weight)
        return float(np.cumsum(self.factors * terms)[-1]) / self.divisor

    def _entropy(self, part: Part) -> float:
        """Return the sum of the entropies in bits, weighted for binary labels only."""
        total = 0.0
        for group in self.targets:
            shares = np.clip(part.sums[list(group)] / part.weight, 0.0, 1.0)
            if len(group) == 1:
                both = np.append(shares, 1.0 - shares)
                total += float(self.label_weights[group[0]] * information(both).sum())
            else:
                total += float(information(shares).sum())
        return total

    def squares(self, part: Part) -> float:
        """Return the sum of squares about the mean, whatever the criterion."""
        if self.squared is not None:
            return self.mass(part)
        terms = self.label_weights * (part.sums - part.sums * part.sums / part.weight)
        return float(terms.sum())

    def is_evidence(self, node: Part, missing: Part) -> bool:
        """Return whether rows with a missing value differ from the others."""
        known = node - missing
        freedom = node.n - 2
        if freedom <= 0 or min(known.n, missing.n) <= 1e-9:
            return False
        whole = self.squares(node)
        removed = whole - self.squares(known) - self.squares(missing)
        return removed * (freedom + EVIDENCE) > EVIDENCE * whole * (1 + TOLERANCE)

    def scale(self, node: Part) -> float:
        """Return the scale of the tolerance within which two scores are ties."""
        # The mass of a pure node is rounding error; nothing may count as an improvement there.
        mass = self.mass(node)
        return mass if mass > 1e-12 * node.weight else math.inf

    def score(self, known: Part, branches: list[Part], scale: float) -> float:
        """Return the score of a test, or REJECTED.

        `known` sums the entries that the test splits into `branches`: all of the node or, if
        those with a missing value are divided, the others. `scale` is that of the whole node.
        """
        settings = self.settings
        n_large = sum(map(self.is_large_enough, branches))
        # C4.5 requires this of two branches only.
        if n_large < (2 if self.is_c45 else len(branches)):
            return REJECTED
        if self.is_information:
            return self._information_score(known, branches, scale)
        before = self.mass(known)
        after = sum(map(self.mass, branches[1:]), self.mass(branches[0]))
        score = before - after
        noise = score < 1e-9 if settings.clus else score <= max(0.0, TOLERANCE * scale)
        if noise or not self._is_significant(known.weight, before, after):
            return REJECTED
        return score

    def is_large_enough(self, branch: Part) -> bool:
        settings = self.settings
        if settings.clus:
            return branch.weight >= settings.min_weight
        enough_weight = branch.weight >= settings.min_weight * (1 - TOLERANCE)
        return enough_weight and branch.n >= settings.min_samples_leaf * (1 - TOLERANCE)

    def min_numeric_rows(self, known: Part, n_values: int) -> float:
        """Return C4.5's minimum for either side: a tenth of the mean class, at most 25.

        There is none for columns with two values, which count as nominal.
        """
        if not self.is_c45 or n_values <= 2:
            return 0.0
        n_classes = max(2, len(self.targets[0])) if len(self.targets) == 1 else 2
        return min(25.0, 0.1 * known.n / n_classes) * (1 - TOLERANCE)

    def _information_score(self, known: Part, branches: list[Part], scale: float) -> float:
        settings = self.settings
        removed = self.mass(known) - sum(map(self.mass, branches))
        if not settings.clus:  # ratios are used only to choose among columns
            return REJECTED if removed <= max(0.0, TOLERANCE * scale) else removed
        score = removed / known.weight
        if settings.criterion == "gain_ratio":
            shares = np.array([branch.weight / known.weight for branch in branches])
            split_information = float(information(shares).sum())
            if split_information < 1e-6:
                return REJECTED
            score /= split_information
        return REJECTED if score < 1e-6 else score

    def ratio(self, node: Part, branches: list[Part], score: float) -> float:
        """Return C4.5's gain ratio, where entries that are divided are one branch."""
        parts = [part.weight / node.weight for part in branches]
        split_information = float(information(np.array([*parts, 1 - sum(parts)])).sum())
        if split_information < 1e-6:
            return REJECTED
        return score / node.weight / split_information

    def _is_significant(self, weight: float, before: float, after: float) -> bool:
        settings = self.settings
        if settings.f_test is None or settings.f_test >= 1.0:
            return True
        df = math.floor(weight - 1.5 + (0.0 if settings.clus else TOLERANCE))
        if df <= 0 or before <= 0:
            return False
        # Rounding may leave a pure partition slightly below zero; CLUS compares with zero exactly.
        if after == 0 or (after < 0 and not settings.clus):
            return True
        return df * (before - after) / after > critical_value(settings.f_test, df, settings.clus)


def information(shares: np.ndarray) -> np.ndarray:
    """Return -p log2 p elementwise, with 0 log 0 = 0."""
    positive = shares > 0
    return np.where(positive, -shares * np.log2(np.where(positive, shares, 1.0)), 0.0)


def critical_value(level: float, df: int, clus: str | None = None) -> float:
    """Return a quantile of the F distribution with 1 and `df` degrees of freedom."""
    if clus is None:
        return float(scipy.stats.f.isf(level, 1, df))
    for tabulated, (values, steps) in CLUS_TABLE.items():
        if abs(level - tabulated) / tabulated < 0.01:
            if df <= len(values):
                return values[df - 1]
            return next(value for last_df, value in steps if df <= last_df)
    return _clus_quantile(level, df)


def _clus_quantile(level: float, df: int) -> float:
    """Return what CLUS uses outside its table.

    The exact quantile from df = 3 until it is within 5 % of the limit, then the limit.
    """
    if df < 3:
        return 0.0
    last, limit = _clus_limit(level)
    return float(scipy.stats.f.isf(level, 1, df)) if df <= last else limit


@cache
def _clus_limit(level: float) -> tuple[int, float]:
    limit = float(scipy.stats.f.isf(level, 1, 100_000))
    df = 3
    while abs(float(scipy.stats.f.isf(level, 1, df)) - limit) / limit >= 0.05:
        df += 1
    return df, limit


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(float(word) for word in text.split())


# Level -> (critical values for df = 1, 2, ..., then pairs of a largest df and its value).
CLUS_TABLE: dict[float, tuple[tuple[float, ...], tuple[tuple[float, float], ...]]] = {
    0.1: (
        _numbers(
            "39.8161 8.5264 5.5225 4.5369 4.0804 3.7636 3.61 3.4596 3.3489 3.2761 3.24 3.1684"
            " 3.1329 3.0976 3.0625 3.0625 3.0276 2.9929 2.9929 2.9584"
        ),
        ((30, 2.9), (40, 2.86), (120, 2.79), (math.inf, 2.7)),
    ),
    0.05: (
        _numbers(
            "161.0 18.5 10.1 7.71 6.61 5.99 5.59 5.32 5.12 4.96 4.84 4.75 4.67 4.6 4.54 4.49 4.45"
            " 4.41 4.38 4.35 4.32 4.3 4.28 4.26 4.24 4.23 4.21 4.2 4.18 4.17"
        ),
        ((40, 4.08), (60, 4.00), (120, 3.92), (math.inf, 3.84)),
    ),
    0.01: (
        _numbers(
            "4052 98.5 34.1 21.2 16.3 13.7 12.2 11.3 10.6 10.0 9.65 9.33 9.07 8.86 8.68 8.53 8.40"
            " 8.29 8.18 8.1 8.02 7.95 7.88 7.82 7.77 7.72 7.68 7.64 7.6 7.56"
        ),
        ((40, 7.31), (60, 7.08), (120, 6.85), (math.inf, 6.63)),
    ),
    0.005: (
        _numbers(
            "15876 198.81 55.5025 31.36 22.7529 18.6624 16.2409 14.6689 13.6161 12.8164 12.25"
            " 11.7649 11.2896 11.0889 10.8241 10.5625 10.3684 10.24 10.0489 9.9225 9.8596 9.7344"
            " 9.61 9.5481 9.4864 9.4249 9.3636 9.3025 9.2416 9.1809"
        ),
        ((40, 8.82), (60, 8.47), (120, 8.18), (math.inf, 7.90)),
    ),
    0.001: (
        _numbers(
            "405769 998.56 166.41 74.1321 47.0596 35.5216 29.16 25.4016 22.8484 21.0681 19.7136"
            " 18.6624 17.8084 17.1396 16.5649 16.0801 15.6025 15.3664 15.0544 14.8225 14.5924"
            " 14.3641 14.2129 13.9876 13.8384 13.7641 13.6161 13.4689 13.3956 13.3225"
        ),
        ((40, 12.60), (60, 11.98), (120, 11.36), (math.inf, 10.82)),
    ),
}
