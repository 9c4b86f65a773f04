"""Check claims of the literature against the results of a study and published figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from ramify.apps.studies.claims import ALL_MEASURES, Quantity
from ramify.apps.studies.comparing import finished_means, join, p_words, titles_of
from ramify.apps.studies.results import StudyResults
from ramify.stats import friedman, nemenyi, pairwise
from ramify.stats.scores import rank_rows

__all__ = [
    "Verdict",
    "check_claims",
    "count_findings",
    "published_results",
]


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
    """Count the outcomes of the findings of the literature.

    Returns: one line; empty if there are no findings.
    """
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
    return _CHECKS[claim["kind"]](part, quantities, claim)


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


def _claim_scores(
    results: StudyResults, quantities: list[Quantity], models: list[str]
) -> NDArray[np.float64]:
    """Return a row per measure and data set with results of all the models; higher is better."""
    rows = [
        np.array(finished_means(results, quantity, data["name"], models))
        * (1 if quantity.higher_is_better else -1)
        for quantity in quantities
        for data in results.datasets
    ]
    scores = np.array(rows, dtype=np.float64).reshape(len(rows), len(models))
    return np.asarray(scores[~np.isnan(scores).any(axis=1)])


def _check_place(
    results: StudyResults, quantities: list[Quantity], claim: dict[str, Any]
) -> tuple[str, str]:
    models = list(claim["models"])
    scores = _claim_scores(results, quantities, models)
    if not len(scores):
        return "open", _NONE
    values = _order_values(scores, claim)
    text = _order_words(results, quantities, claim, scores)
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


def _order_values(scores: NDArray[np.float64], claim: dict[str, Any]) -> NDArray[np.float64]:
    """Return what a claim orders the models by, higher is better: means or negative ranks."""
    if claim.get("by") == "mean":
        # Twelve digits, because the means of equal scores may differ by rounding.
        return np.array([float(f"{mean:.12g}") for mean in scores.mean(axis=0)])
    return np.asarray(-rank_rows(scores).mean(axis=0))


def _order_words(
    results: StudyResults,
    quantities: list[Quantity],
    claim: dict[str, Any],
    scores: NDArray[np.float64],
) -> str:
    values = _order_values(scores, claim)
    if claim.get("by") != "mean":
        shown = _ordered(results, claim["models"], values, lambda value: f"{-value:.2f}")
        return f"Average ranks: {shown}."
    if len(quantities) == 1:
        show = quantities[0].show
        shown = _ordered(results, claim["models"], values, lambda value: show(abs(value)))
        return f"Means over {len(scores)} data sets: {shown}."
    shown = _ordered(results, claim["models"], values, lambda value: f"{value:.3f}")
    return f"Means over all measures, with losses as negative numbers: {shown}."


def _check_no_best(
    results: StudyResults, quantities: list[Quantity], claim: dict[str, Any]
) -> tuple[str, str]:
    models = list(claim["models"])
    titles = titles_of(results, models)
    always_best = np.ones(len(models), dtype=bool)
    words = []
    for quantity in quantities:
        scores = _claim_scores(results, [quantity], models)
        if len(scores):
            values = _order_values(scores, claim)
            best = values == values.max()
            always_best &= best
            names = join([title for title, first in zip(titles, best, strict=True) if first])
            words.append(f"{names} by {quantity.title}")
    if not words:
        return "open", _NONE
    return "not confirmed" if always_best.any() else "confirmed", f"Best: {'; '.join(words)}."


def _check_wins(
    results: StudyResults, quantities: list[Quantity], claim: dict[str, Any]
) -> tuple[str, str]:
    models = list(claim["models"])
    scores = _claim_scores(results, quantities, models)
    if not len(scores):
        return "open", _NONE
    wins = (scores == scores.max(axis=1, keepdims=True)).sum(axis=0)
    shown = _ordered(results, models, wins, str)
    return _verdict_on_first(wins), f"Best on so many of {len(scores)} data sets: {shown}."


def _check_among_best(
    results: StudyResults, quantities: list[Quantity], claim: dict[str, Any]
) -> tuple[str, str]:
    models = list(claim["models"])
    titles = titles_of(results, models)
    n_right, n_sets, worse = 0, 0, []
    for quantity, data in product(quantities, results.datasets):
        scores = results.block(quantity.name, data["name"], models)
        if len(scores) < 2 or np.isnan(scores).any():
            continue
        n_sets += 1
        signed = scores if quantity.higher_is_better else -scores
        best = int(signed.mean(axis=0).argmax())
        # The p-value is not a number if the scores of all folds are equal: the model is not worse.
        if scipy_stats.ttest_rel(scores[:, 0], scores[:, best]).pvalue < results.study["alpha"]:
            worse.append(f"{titles[best]} on {data['title']}")
        else:
            n_right += 1
    if not n_sets:
        return "open", "No data set has results of all these models on two folds or more."
    text = f"Not significantly worse than the best on {n_right} of {n_sets} data sets"
    text += f"; worse than {_shortened(worse)}." if worse else "."
    return _verdict_on_share(n_right, n_sets), text


def _ordered(
    results: StudyResults, models: list[str], values: NDArray[Any], show: Callable[[Any], str]
) -> str:
    """List the models with their values, best first."""
    titles = titles_of(results, models)
    return ", ".join(f"{titles[i]} {show(values[i])}" for i in np.argsort(-values, kind="stable"))


def _verdict_on_first(values: NDArray[Any]) -> str:
    """Return whether the first model has the largest value, alone or with others."""
    if values[0] < values.max():
        return "not confirmed"
    return "confirmed" if (values == values[0]).sum() == 1 else "partly"


def _check_better(
    results: StudyResults, quantities: list[Quantity], claim: dict[str, Any]
) -> tuple[str, str]:
    n_right, n_pairs, wrong = 0, 0, []
    for (worse, better), quantity in product(claim["pairs"], quantities):
        for data in results.datasets:
            values = finished_means(results, quantity, data["name"], [worse, better])
            if np.isnan(values).any():
                continue
            n_pairs += 1
            right = values[1] > values[0] if quantity.higher_is_better else values[1] < values[0]
            n_right += right
            if not right:
                beaten, winner = titles_of(results, [better, worse])
                wrong.append(f"{beaten} against {winner} on {data['title']}")
    if not n_pairs:
        return "open", "No data set has results of both models of a pair."
    text = f"True in {n_right} of {n_pairs} comparisons"
    text += f"; not for {_shortened(wrong)}." if wrong else "."
    return _verdict_on_share(n_right, n_pairs), text


def _check_close(
    results: StudyResults, quantities: list[Quantity], claim: dict[str, Any]
) -> tuple[str, str]:
    n_right, n_pairs, apart = 0, 0, []
    for models, quantity, data in product(claim["pairs"], quantities, results.datasets):
        first, second = finished_means(results, quantity, data["name"], list(models))
        if np.isnan([first, second]).any():
            continue
        n_pairs += 1
        difference = abs(second - first)
        n_right += difference <= claim["within"]
        if difference > claim["within"]:
            names = join(titles_of(results, list(models)))
            apart.append(f"{names} on {data['title']} ({quantity.show(difference)})")
    if not n_pairs:
        return "open", "No data set has results of both models of a pair."
    text = f"At most {claim['within']:g} apart in {n_right} of {n_pairs} comparisons"
    text += f"; not {_shortened(apart)}." if apart else "."
    return _verdict_on_share(n_right, n_pairs), text


def _shortened(exceptions: list[str]) -> str:
    """List the first exceptions to a claim, and the number of the others."""
    hidden = exceptions[_SHOWN:]
    return join([*exceptions[:_SHOWN], f"{len(hidden)} more"] if hidden else exceptions)


def _verdict_on_share(n_right: int, n: int) -> str:
    """Tell whether a claim holds in all cases, in most or in fewer."""
    outcome = "confirmed" if n_right == n else "partly"
    return outcome if 2 * n_right > n else "not confirmed"


def _check_alike(
    results: StudyResults, quantities: list[Quantity], claim: dict[str, Any]
) -> tuple[str, str]:
    models = list(claim["models"])
    scores = _claim_scores(results, quantities, models)
    if len(scores) < 2:
        return "open", "At least two data sets are needed."
    test = friedman(scores, titles_of(results, models))
    text = f"Friedman's test over {len(scores)} data sets: {p_words(test.p_value)}. "
    spread = float((scores.max(axis=1) - scores.min(axis=1)).mean())
    text += f"On average best and worst differ by {spread:.3f}."
    return "confirmed" if test.p_value >= results.study["alpha"] else "not confirmed", text


def _check_significance(
    results: StudyResults, quantities: list[Quantity], claim: dict[str, Any]
) -> tuple[str, str]:
    models = list(claim["models"])
    scores = _claim_scores(results, quantities, models)
    if len(scores) < 2:
        return "open", "At least two data sets are needed."
    overall = friedman(scores, models)
    p_values = _posthoc_p_values(results, scores, models)
    ranks = dict(zip(models, overall.ranks.ranks, strict=True))
    alpha = results.study["alpha"]
    found: list[str] = []
    others: list[str] = []
    for worse, better in claim["pairs"]:
        p = p_values[frozenset((worse, better))]
        first, second = titles_of(results, [better, worse])
        words = f"{first} ({ranks[better]:.2f}) than {second} ({ranks[worse]:.2f}), {p_words(p)}"
        significant = max(overall.p_value, p) < alpha and ranks[better] < ranks[worse]
        (found if significant else others).append(words)
    text = f"Friedman's test over {len(scores)} data sets: {p_words(overall.p_value)}."
    for words, named in (("Significantly better", found), ("Not significantly better", others)):
        text += f" {words}: {'; '.join(named)}." if named else ""
    right = found if claim["kind"] == "significant" else others
    return _verdict_on_share(len(right), len(claim["pairs"])), text


def _posthoc_p_values(
    results: StudyResults, scores: NDArray[np.float64], models: list[str]
) -> dict[frozenset[str], float]:
    """Return the p-value of every pair of models by the post-hoc test of the study."""
    if results.study.get("posthoc") == "benjamini-hochberg":
        pairs = pairwise(scores, models, alpha=results.study["alpha"])
        adjusted = pairs.p_values.adjusted
        return {frozenset(two): float(p) for two, p in zip(pairs.pairs, adjusted, strict=True)}
    found = nemenyi(scores, models, alpha=results.study["alpha"]).p_values
    return {
        frozenset((models[i], models[j])): float(found[i, j])
        for i, j in combinations(range(len(models)), 2)
    }


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
