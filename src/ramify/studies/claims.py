"""Claims: findings of the literature that the report of a study checks."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ALL_MEASURES", "CLAIM_KINDS", "CLAIM_ORDERS", "Claim"]

ALL_MEASURES = "all"
"""The measure of a claim that is judged by all measures of the study."""

CLAIM_KINDS = (
    *("first", "last", "place", "top", "wins", "no_best", "among_best"),
    *("better", "close", "significant", "not_significant", "alike"),
)
CLAIM_ORDERS = ("rank", "mean")


@dataclass(frozen=True)
class Claim:
    """A finding of the literature that the report checks.

    Attributes
    ----------
    text : str
        The finding in words.
    kind : str
        One of:

        - "first", "last": ``models[0]`` is the best or the worst of the models;
        - "place": it is in that place; "top": ``models[:place]`` are the best;
        - "wins": it is the best on more data sets than any other;
        - "no_best": no model is the best by every measure;
        - "among_best": on every data set, a paired t-test over the folds does not find
          ``models[0]`` worse than the best;
        - "better": the second of every pair beats the first on every data set;
        - "close": the two of every pair differ by `within` at most on every data set;
        - "significant": Friedman's test over the data sets, which compares `models`, and the
          post-hoc test of the study find the second of every pair better than the first;
          "not_significant": they do not;
        - "alike": Friedman's test over the data sets finds no difference.
    models : tuple of str
        The models concerned.
    pairs : tuple of pairs of str
        For "better", "close" and "significant": pairs of models, the worse one first.
    measure : str
        The measure to judge by, or "fit_cpu_seconds", "complexity", "peak_memory_mb" or
        "overfit:MEASURE"; if empty, the first measure of the study; if "all", all of them.
    by : {"rank", "mean"}
        For "first", "last", "place", "top" and "no_best": whether models are ordered by their
        average rank or by their mean over the data sets.
    datasets : tuple of str
        The data sets to judge on; if empty, all.
    family : str
        The family of data sets to judge on; if empty, all.
    place : int
        For "place": the place; 1 is best. For "top": the number of models.
    within : float
        For "close": the largest difference.
    ours : bool
        Whether it is a claim of the study itself, which does not count as a finding.
    reason : str
        Why the results differ from the claim; shown unless it is confirmed.
    """

    text: str
    kind: str
    models: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    measure: str = ""
    by: str = "rank"
    datasets: tuple[str, ...] = ()
    family: str = ""
    place: int = 1
    within: float = 0.0
    ours: bool = False
    reason: str = ""
