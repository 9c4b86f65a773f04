"""Findings of the literature, judged by the results of a study and by the published figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify.stats import friedman
from ramify.studies.comparing import finished_means, join, p_words, titles_of
from ramify.studies.results import Quantity, StudyResults

__all__ = ["Verdict", "check_claims", "published_results"]

_SHOWN = 4  # exceptions to a claim that are named


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
        Why.
    published : str
        The outcome by the published figures on the same data sets; empty if there are none.
    """

    text: str
    outcome: str
    words: str
    published: str = ""

    @property
    def explanation(self) -> str:
        """Why, and what the published figures say."""
        by_published = ""
        if self.published not in ("", "open"):
            by_published = f"By the published figures: {self.published}."
        return " ".join(filter(None, (self.words, by_published)))


def check_claims(results: StudyResults) -> list[Verdict]:
    """Check the findings that the study names, each by its measure.

    Parameters
    ----------
    results : StudyResults
        Stored results.

    Returns
    -------
    list of Verdict
        One for each claim, with what the published figures themselves say of it.
    """
    published = published_results(results)
    found = []
    for claim in results.study["claims"]:
        outcome, words = _check(results, claim)
        by_published = "" if published is None else _check(published, claim)[0]
        found.append(Verdict(claim["text"], outcome, words, by_published))
    return found


def _check(results: StudyResults, claim: dict[str, Any]) -> tuple[str, str]:
    by = claim.get("measure")
    quantity = results.quantity(by) if by else results.measures[0]
    family = claim.get("family")
    part = results.part(family) if family else results
    return _CHECKS[claim["kind"]](part, quantity, claim)


def published_results(results: StudyResults) -> StudyResults | None:
    """Return the published figures as results of their own, on the data sets that have results.

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
    results: StudyResults, quantity: Quantity, models: list[str]
) -> NDArray[np.float64]:
    """Return a row for each data set that has results of all the models."""
    rows = [finished_means(results, quantity, data["name"], models) for data in results.datasets]
    scores = np.array(rows, dtype=np.float64).reshape(len(rows), len(models))
    return np.asarray(scores[~np.isnan(scores).any(axis=1)])


def _check_place(
    results: StudyResults, quantity: Quantity, claim: dict[str, Any]
) -> tuple[str, str]:
    models = list(claim["models"])
    scores = _claim_scores(results, quantity, models)
    if not len(scores):
        return "open", "No data set has results of all these models."
    titles = titles_of(results, models)
    ranks = friedman(scores, titles, higher_is_better=quantity.higher_is_better).ranks
    order = list(ranks.ordered())
    text = "Average ranks: " + ", ".join(f"{title} {rank:.2f}" for title, rank in order) + "."
    place = {"first": 0, "last": -1}.get(claim["kind"], claim.get("place", 1) - 1)
    tied = [title for title, rank in order if rank == order[place][1]]
    if titles[0] not in tied:
        return "not confirmed", text
    return "confirmed" if len(tied) == 1 else "partly", text


def _check_better(
    results: StudyResults, quantity: Quantity, claim: dict[str, Any]
) -> tuple[str, str]:
    n_right, n_pairs, wrong = 0, 0, []
    for worse, better in claim["pairs"]:
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
    text = f"So it is in {n_right} of {n_pairs} comparisons"
    hidden = wrong[_SHOWN:]
    shown = [*wrong[:_SHOWN], f"{len(hidden)} more"] if hidden else wrong
    text += f"; not for {join(shown)}." if wrong else "."
    outcome = "confirmed" if n_right == n_pairs else "partly"
    return outcome if 2 * n_right > n_pairs else "not confirmed", text


def _check_alike(
    results: StudyResults, quantity: Quantity, claim: dict[str, Any]
) -> tuple[str, str]:
    models = list(claim["models"])
    scores = _claim_scores(results, quantity, models)
    if len(scores) < 2:
        return "open", "One data set cannot tell: the claim is about ranks over several."
    test = friedman(scores, titles_of(results, models), higher_is_better=quantity.higher_is_better)
    text = f"Friedman's test over {len(scores)} data sets: {p_words(test.p_value)}. "
    spread = float((scores.max(axis=1) - scores.min(axis=1)).mean())
    text += f"On average best and worst differ by {spread:.3f}."
    return "confirmed" if test.p_value >= results.study["alpha"] else "not confirmed", text


_CHECKS = {
    "first": _check_place,
    "last": _check_place,
    "place": _check_place,
    "better": _check_better,
    "alike": _check_alike,
}
