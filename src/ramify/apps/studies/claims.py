"""The claims of a paper, and the quantities that they compare."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

ALL_MEASURES = "all"
"""The measure of a claim that is judged by all measures of the study."""

_OF_PAIRS = ("better", "close")
_OF_PAIRS_AMONG_MODELS = ("significant", "not_significant")
CLAIM_KINDS = (
    *("first", "last", "place", "top", "wins", "no_best", "among_best"),
    *_OF_PAIRS,
    *_OF_PAIRS_AMONG_MODELS,
    "alike",
)
CLAIM_ORDERS = ("rank", "mean")


@dataclass(frozen=True)
class Claim:
    """A finding of the literature that the report checks."""

    text: str  # the finding in words
    # "first", "last": `models[0]` is the best or the worst of the models; "place": it is in
    # that place; "top": `models[:place]` are the best; "wins": it is the best on more data sets
    # than any other; "no_best": no model is the best by every measure;
    # "among_best": on every data set, a paired t-test over the folds does not find `models[0]`
    # worse than the best;
    # "better": the second of every pair beats the first on every data set; "close": the two of
    # every pair differ by `within` at most on every data set;
    # "significant": Friedman's test over the data sets, which compares `models`, and the post-
    # hoc test of the study find the second of every pair better than the first;
    # "not_significant": they do not; "alike": Friedman's test over the data sets finds no
    # difference.
    kind: str
    models: tuple[str, ...] = ()  # the models concerned
    # For "better", "close", "significant" and "not_significant": pairs of models, the worse one
    # first.
    pairs: tuple[tuple[str, str], ...] = ()
    # The measure to judge by, or "fit_cpu_seconds", "complexity", "peak_memory_mb" or
    # "overfit:MEASURE"; if empty, the first measure of the study; if "all", all of them.
    measure: str = ""
    # For "first", "last", "place", "top" and "no_best": whether models are ordered by their
    # average rank or by their mean over the data sets.
    by: str = "rank"
    datasets: tuple[str, ...] = ()  # the data sets to judge on; if empty, all
    family: str = ""  # the family of data sets to judge on; if empty, all
    place: int = 1  # for "place": the place; 1 is best. For "top": the number of models
    within: float = 0.0  # for "close": the largest difference
    # Whether it is a claim of the study itself, which does not count as a finding.
    ours: bool = False
    reason: str = ""  # why the results differ from the claim; shown unless it is confirmed


def check_claim(claim: Claim) -> None:
    """Raise ValueError unless a claim has the models, the pairs and the place its kind needs."""
    kind = f"a claim of kind {claim.kind!r}"
    if claim.kind not in _OF_PAIRS and not _are_different(claim.models):
        raise ValueError(
            f"models of {kind} must be at least two different models, got {list(claim.models)}."
        )
    if claim.kind in (*_OF_PAIRS, *_OF_PAIRS_AMONG_MODELS):
        if not claim.pairs:
            raise ValueError(f"{kind} has no pairs. Name at least one pair of models.")
        alike = [pair for pair in claim.pairs if not _are_different(pair)]
        if alike:
            raise ValueError(
                f"pairs of {kind} must be of two different models, got {list(alike[0])}."
            )
    if claim.kind in _OF_PAIRS_AMONG_MODELS:
        others = {name for pair in claim.pairs for name in pair}.difference(claim.models)
        if others:
            raise ValueError(
                f"pairs of {kind} must be pairs of its models, got {min(others)!r}. Add it to "
                f"models."
            )
    if claim.kind in ("place", "top") and not 1 <= claim.place <= len(claim.models):
        raise ValueError(
            f"place of a claim must be between 1 and the number of its models "
            f"({len(claim.models)}), got {claim.place}."
        )


def _are_different(models: tuple[str, ...]) -> bool:
    return len(models) > 1 and len(set(models)) == len(models)


# ---- quantities -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Quantity:
    """A measure or cost that has a value in every cell."""

    name: str  # name in files, and title in reports
    title: str
    higher_is_better: bool  # whether larger values are better
    kind: str  # how values are formatted

    def show(self, value: float) -> str:
        """Format a value; NaN gives a dash.

        >>> Quantity("time", "time", False, "seconds").show(12.345)
        '12.3'
        """
        if not math.isfinite(value):
            return "–"
        if self.kind in ("score", "overfit"):
            return f"{value:.3f}"
        if self.kind == "seconds":
            return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
        return f"{value:,.0f}"


COSTS = (
    Quantity("fit_cpu_seconds", "learning time (CPU seconds)", False, "seconds"),
    Quantity("complexity", "size (nodes of all trees)", False, "nodes"),
    Quantity("peak_memory_mb", "peak memory (MB)", False, "megabytes"),
)


def quantity_names(measures: Iterable[tuple[str, bool]]) -> list[str]:
    """Return the names of all quantities of a study.

    >>> quantity_names([("auprc", True), ("loss", False)])[:3]
    ['auprc', 'loss', 'overfit:auprc']
    """
    known = list(measures)
    return [
        *(name for name, _ in known),
        *(f"overfit:{name}" for name, train in known if train),
        *(cost.name for cost in COSTS),
    ]
