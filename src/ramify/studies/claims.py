"""Check claims of the literature against the results of a study and published figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from ramify.stats import friedman
from ramify.studies.comparing import finished_means, join, p_words, titles_of
from ramify.studies.plan import ALL_MEASURES
from ramify.studies.results import Quantity, StudyResults

__all__ = ["Verdict", "check_claims", "published_results"]

_SHOWN = 4  # exceptions to a claim that are named
_NONE = "No data set has results of all these models."


@dataclass(frozen=True)
class Verdict:
    """A claim, and what the results say about it.

    Attributes
    ----------
    text : str
        The claim.
    outcome : {"confirmed", "partly", "not confirmed", "open"}
        "open": too few results to tell.
    words : str
        The reason.
    published : str
        The outcome according to the published figures on the same data sets; empty if there are
        none.
    reason : str
        Why the results differ from the claim, as far as the study knows.
    """

    text: str
    outcome: str
    words: str
    published: str = ""
    reason: str = ""

    @property
    def explanation(self) -> str:
        """What the results say, the outcome of the published figures, and why they differ."""
        by_published = ""
        if self.published not in ("", "open"):
            by_published = f"By the published figures: {self.published}."
        reason = "" if self.outcome in ("confirmed", "open") else self.reason
        return " ".join(filter(None, (self.words, by_published, reason)))


def check_claims(results: StudyResults) -> list[Verdict]:
    """Check the claims of the study.

    Parameters
    ----------
    results : StudyResults
        Stored results.

    Returns
    -------
    list of Verdict
        One for each claim, with what the published figures themselves say about it.
    """
    published = published_results(results)
    found = []
    for claim in results.study["claims"]:
        outcome, words = _check(results, claim)
        by_published = "" if published is None else _check(published, claim)[0]
        reason = claim.get("reason", "")
        found.append(Verdict(claim["text"], outcome, words, by_published, reason))
    return found


def _check(results: StudyResults, claim: dict[str, Any]) -> tuple[str, str]:
    by = claim.get("measure")
    quantities = results.measures[:1]
    if by:
        quantities = results.measures if by == ALL_MEASURES else [results.quantity(by)]
    family = claim.get("family")
    part = results.part(family) if family else results
    return _CHECKS[claim["kind"]](part, quantities, claim)


def published_results(results: StudyResults) -> StudyResults | None:
    """Return the published figures, on the data sets with results, in the form of results.

    Parameters
    ----------
    results : StudyResults
        Stored results.

    Returns
    -------
    StudyResults or None
        One cell for each model and data set; None if no scores were published.
    """
    measures = {one.name for one in results.measures}
    data = {one["name"] for one in results.datasets}
    scores: dict[tuple[str, str], dict[str, float]] = {}
    for (name, model, quantity), value in results.published.items():
        if name in data and quantity in measures:
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
    titles = titles_of(results, models)
    order = list(friedman(scores, titles).ranks.ordered())
    text = "Average ranks: " + ", ".join(f"{title} {rank:.2f}" for title, rank in order) + "."
    if claim["kind"] == "top":
        n_top = claim["place"]
        n_right = len({title for title, _ in order[:n_top]} & set(titles[:n_top]))
        tied = n_top < len(order) and order[n_top - 1][1] == order[n_top][1]
        if n_right < n_top and not tied:
            return "not confirmed", text
        return "partly" if tied else "confirmed", text
    place = {"first": 0, "last": -1}.get(claim["kind"], claim.get("place", 1) - 1)
    tied = [title for title, rank in order if rank == order[place][1]]
    if titles[0] not in tied:
        return "not confirmed", text
    return "confirmed" if len(tied) == 1 else "partly", text


def _check_mean(
    results: StudyResults, quantities: list[Quantity], claim: dict[str, Any]
) -> tuple[str, str]:
    models = list(claim["models"])
    scores = _claim_scores(results, quantities, models)
    if not len(scores):
        return "open", _NONE
    means = scores.mean(axis=0)
    shown = _ordered(results, models, means, lambda mean: f"{abs(mean):.3f}")
    return _verdict_on_first(means), f"Means over {len(scores)} data sets: {shown}."


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


_CHECKS = {
    "first": _check_place,
    "last": _check_place,
    "place": _check_place,
    "top": _check_place,
    "mean": _check_mean,
    "wins": _check_wins,
    "among_best": _check_among_best,
    "better": _check_better,
    "alike": _check_alike,
}
