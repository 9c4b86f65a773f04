"""Check claims of the literature against the results of a study and published figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from ramify._cached import cached_property
from ramify.apps.studies.claims import ALL_MEASURES, Quantity
from ramify.apps.studies.comparing import (
    finished_means,
    join,
    p_words,
    pair_p_values,
    titles_of,
)
from ramify.apps.studies.results import StudyResults
from ramify.stats import friedman, nemenyi, pairwise
from ramify.stats.scores import rank_rows

OUTCOMES = ("confirmed", "partly", "not confirmed", "open")
_SHOWN = 4  # exceptions to a claim that are named
_NONE = "No data set has results of all these models."


@dataclass(frozen=True)
class Verdict:
    """A claim, and what the results say about it."""

    text: str  # the claim
    outcome: str  # "open": too few results to tell
    words: str  # the reason
    # The outcome according to the published figures on the same data sets; empty if there are
    # none.
    published: str = ""
    reason: str = ""  # why the results differ from the claim, as far as the study knows
    # Whether it is a claim of the study itself, not a finding of the literature.
    ours: bool = False

    @property
    def explanation(self) -> str:
        """What the results say, the outcome of the published figures, and why they differ."""
        by_published = ""
        if self.published not in ("", "open"):
            by_published = f"By the published figures: {self.published}."
        reason = "" if self.outcome in ("confirmed", "open") else self.reason
        return " ".join(filter(None, (self.words, by_published, reason)))


def check_claims(results: StudyResults) -> list[Verdict]:
    """Check the claims of the study."""
    published = published_results(results)
    found = []
    for claim in results.study["claims"]:
        outcome, words = _check(results, claim)
        by_published = "" if published is None else _check(published, claim)[0]
        found.append(
            Verdict(
                claim["text"],
                outcome,
                words,
                by_published,
                claim.get("reason", ""),
                claim.get("ours", False),
            )
        )
    return found


def count_findings(verdicts: list[Verdict]) -> str:
    """Count the outcomes of the findings of the literature in one line."""
    counts = Counter(verdict.outcome for verdict in verdicts if not verdict.ours)
    shown = [f"{counts[outcome]} {outcome}" for outcome in OUTCOMES if counts[outcome]]
    return f"Findings: {', '.join(shown)}." if shown else ""


def _check(results: StudyResults, claim: dict[str, Any]) -> tuple[str, str]:
    by = claim.get("measure")
    quantities = results.measures[:1]
    if by:
        quantities = results.measures if by == ALL_MEASURES else [results.quantity(by)]
    part = results.part(claim["family"]) if claim.get("family") else results
    part = part.on(claim["datasets"]) if claim.get("datasets") else part
    return _CHECKS[claim["kind"]](_Case(part, quantities, claim))


def published_results(results: StudyResults) -> StudyResults | None:
    """Return the published figures, on the data sets with results, in the form of results."""
    quantities = {one.name for one in (*results.measures, *results.costs)}
    data = {one["name"] for one in results.datasets}
    scores: dict[tuple[str, str], dict[str, float]] = {}
    for (name, model, quantity), value in results.published.items():
        if name in data and quantity in quantities:
            scores.setdefault((name, model), {})[quantity] = value
    if not scores:
        return None
    cells = [
        {
            "key": f"{name} {model}",
            "dataset": name,
            "model": model,
            "repeat": 0,
            "fold": 0,
            "scores": own,
        }
        for (name, model), own in scores.items()
    ]
    places = {cell["key"]: [cell["dataset"], cell["model"], 0, 0] for cell in cells}
    return StudyResults({**results.study, "cells": places}, cells, [])


@dataclass(frozen=True)
class _Case:
    """A claim, and the results that it is about."""

    results: StudyResults
    quantities: list[Quantity]
    claim: dict[str, Any]

    @property
    def models(self) -> list[str]:
        return list(self.claim["models"])

    @property
    def alpha(self) -> float:
        return float(self.results.study["alpha"])

    @property
    def titles(self) -> list[str]:
        return titles_of(self.results, self.models)

    @cached_property
    def scores(self) -> NDArray[np.float64]:
        """A row per measure and data set with results of all the models; higher is better."""
        return self.scores_by(*self.quantities)

    def scores_by(self, *quantities: Quantity) -> NDArray[np.float64]:
        rows = [
            np.array(finished_means(self.results, quantity, data["name"], self.models))
            * (1 if quantity.higher_is_better else -1)
            for quantity in quantities
            for data in self.results.datasets
        ]
        scores = np.array(rows, dtype=np.float64).reshape(len(rows), len(self.models))
        return np.asarray(scores[~np.isnan(scores).any(axis=1)])

    def order_values(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what the claim orders the models by, higher is better: means or -ranks."""
        if self.claim.get("by") == "mean":
            # Twelve digits, because the means of equal scores may differ by rounding.
            return np.array([float(f"{mean:.12g}") for mean in scores.mean(axis=0)])
        return np.asarray(-rank_rows(scores).mean(axis=0))

    def pair_means(
        self,
    ) -> Iterator[tuple[list[str], Quantity, dict[str, Any], list[float]]]:
        """Yield the means of both models of every pair, by each quantity on each data set."""
        pairs = [list(pair) for pair in self.claim["pairs"]]
        for pair, quantity, data in product(pairs, self.quantities, self.results.datasets):
            means = finished_means(self.results, quantity, data["name"], pair)
            if not np.isnan(means).any():
                yield pair, quantity, data, means

    def ordered(self, values: NDArray[Any], show: Callable[[Any], str]) -> str:
        """List the models with their values, best first."""
        order = np.argsort(-values, kind="stable")
        return ", ".join(f"{self.titles[i]} {show(values[i])}" for i in order)


def _check_place(case: _Case) -> tuple[str, str]:
    claim = case.claim
    if not len(case.scores):
        return "open", _NONE
    values = case.order_values(case.scores)
    text = _order_words(case, values)
    order = np.argsort(-values, kind="stable")
    if claim["kind"] == "top":
        n_top = claim["place"]
        tied = n_top < len(order) and values[order[n_top - 1]] == values[order[n_top]]
        if tied:
            return "partly", text
        return "confirmed" if set(order[:n_top]) == set(range(n_top)) else "not confirmed", text
    place = {"first": 0, "last": -1}.get(claim["kind"], claim.get("place", 1) - 1)
    there = values == values[order[place]]
    if not there[0]:
        return "not confirmed", text
    return "confirmed" if there.sum() == 1 else "partly", text


def _order_words(case: _Case, values: NDArray[np.float64]) -> str:
    if case.claim.get("by") != "mean":
        return f"Average ranks: {case.ordered(values, lambda value: f'{-value:.2f}')}."
    if len(case.quantities) == 1:
        show = case.quantities[0].show
        shown = case.ordered(values, lambda value: show(abs(value)))
        return f"Means over {len(case.scores)} data sets: {shown}."
    shown = case.ordered(values, lambda value: f"{value:.3f}")
    return f"Means over all measures, with losses as negative numbers: {shown}."


def _check_no_best(case: _Case) -> tuple[str, str]:
    always_best = np.ones(len(case.models), dtype=bool)
    words = []
    for quantity in case.quantities:
        scores = case.scores_by(quantity)
        if len(scores):
            values = case.order_values(scores)
            best = values == values.max()
            always_best &= best
            names = join([title for title, first in zip(case.titles, best, strict=True) if first])
            words.append(f"{names} by {quantity.title}")
    if not words:
        return "open", _NONE
    return "not confirmed" if always_best.any() else "confirmed", f"Best: {'; '.join(words)}."


def _check_wins(case: _Case) -> tuple[str, str]:
    scores = case.scores
    if not len(scores):
        return "open", _NONE
    wins = (scores == scores.max(axis=1, keepdims=True)).sum(axis=0)
    shown = case.ordered(wins, str)
    text = f"Best on so many of {len(scores)} data sets: {shown}."
    if wins[0] < wins.max():
        return "not confirmed", text
    return "confirmed" if (wins == wins[0]).sum() == 1 else "partly", text


def _check_among_best(case: _Case) -> tuple[str, str]:
    results = case.results
    n_right, n_sets, worse = 0, 0, []
    for quantity, data in product(case.quantities, results.datasets):
        scores = results.block(quantity.name, data["name"], case.models)
        if len(scores) < 2 or np.isnan(scores).any():
            continue
        n_sets += 1
        signed = scores if quantity.higher_is_better else -scores
        best = int(signed.mean(axis=0).argmax())
        # The p-value is not a number if the scores of all folds are equal: the model is not worse.
        if scipy_stats.ttest_rel(scores[:, 0], scores[:, best]).pvalue < results.study["alpha"]:
            worse.append(f"{case.titles[best]} on {data['title']}")
        else:
            n_right += 1
    if not n_sets:
        return "open", "No data set has results of all these models on two folds or more."
    text = f"Not significantly worse than the best on {n_right} of {n_sets} data sets"
    text += f"; worse than {_shortened(worse)}." if worse else "."
    return _verdict_on_share(n_right, n_sets), text


def _check_better(case: _Case) -> tuple[str, str]:
    n_pairs, wrong = 0, []
    for (worse, better), quantity, data, (first, second) in case.pair_means():
        n_pairs += 1
        if not (second > first if quantity.higher_is_better else second < first):
            beaten, winner = titles_of(case.results, [better, worse])
            wrong.append(f"{beaten} against {winner} on {data['title']}")
    return _verdict_on_pairs("True", n_pairs, "not for", wrong)


def _check_close(case: _Case) -> tuple[str, str]:
    n_pairs, apart, within = 0, [], case.claim["within"]
    for pair, quantity, data, (first, second) in case.pair_means():
        n_pairs += 1
        difference = abs(second - first)
        if difference > within:
            names = join(titles_of(case.results, pair))
            apart.append(f"{names} on {data['title']} ({quantity.show(difference)})")
    return _verdict_on_pairs(f"At most {within:g} apart", n_pairs, "not", apart)


def _verdict_on_pairs(
    holds: str, n_pairs: int, fails: str, exceptions: list[str]
) -> tuple[str, str]:
    if not n_pairs:
        return "open", "No data set has results of both models of a pair."
    n_right = n_pairs - len(exceptions)
    text = f"{holds} in {n_right} of {n_pairs} comparisons"
    text += f"; {fails} {_shortened(exceptions)}." if exceptions else "."
    return _verdict_on_share(n_right, n_pairs), text


def _shortened(exceptions: list[str]) -> str:
    """List the first exceptions to a claim, and the number of the others."""
    hidden = exceptions[_SHOWN:]
    return join([*exceptions[:_SHOWN], f"{len(hidden)} more"] if hidden else exceptions)


def _verdict_on_share(n_right: int, n: int) -> str:
    """Tell whether a claim holds in all cases, in most or in fewer."""
    outcome = "confirmed" if n_right == n else "partly"
    return outcome if 2 * n_right > n else "not confirmed"


def _check_alike(case: _Case) -> tuple[str, str]:
    scores = case.scores
    if len(scores) < 2:
        return "open", "At least two data sets are needed."
    test = friedman(scores, case.titles)
    text = f"Friedman's test over {len(scores)} data sets: {p_words(test.p_value)}. "
    spread = float((scores.max(axis=1) - scores.min(axis=1)).mean())
    text += f"On average best and worst differ by {spread:.3f}."
    return "confirmed" if test.p_value >= case.alpha else "not confirmed", text


def _check_significance(case: _Case) -> tuple[str, str]:
    models, scores = case.models, case.scores
    if len(scores) < 2:
        return "open", "At least two data sets are needed."
    overall = friedman(scores, models)
    corrected = case.results.study["posthoc"] == "benjamini-hochberg"
    p_values = pair_p_values(
        (pairwise if corrected else nemenyi)(scores, models, alpha=case.alpha)
    )
    ranks = dict(zip(models, overall.ranks.ranks, strict=True))
    found: list[str] = []
    others: list[str] = []
    for worse, better in case.claim["pairs"]:
        p = p_values[frozenset((worse, better))]
        first, second = titles_of(case.results, [better, worse])
        words = f"{first} ({ranks[better]:.2f}) than {second} ({ranks[worse]:.2f}), {p_words(p)}"
        significant = max(overall.p_value, p) < case.alpha and ranks[better] < ranks[worse]
        (found if significant else others).append(words)
    text = f"Friedman's test over {len(scores)} data sets: {p_words(overall.p_value)}."
    for words, named in (("Significantly better", found), ("Not significantly better", others)):
        text += f" {words}: {'; '.join(named)}." if named else ""
    right = found if case.claim["kind"] == "significant" else others
    return _verdict_on_share(len(right), len(case.claim["pairs"])), text


_CHECKS = {
    "first": _check_place,
    "last": _check_place,
    "place": _check_place,
    "top": _check_place,
    "wins": _check_wins,
    "no_best": _check_no_best,
    "among_best": _check_among_best,
    "better": _check_better,
    "close": _check_close,
    "significant": _check_significance,
    "not_significant": _check_significance,
    "alike": _check_alike,
}
