"""Statistical tests of a study, with what they mean in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify.stats import (
    FriedmanResult,
    NemenyiResult,
    PairwiseResult,
    friedman,
    nemenyi,
    pairwise,
    wilcoxon,
)
from ramify.studies.results import Quantity, StudyResults

__all__ = ["Comparison", "Verdict", "check_claims", "compare_folds", "compare_overall"]

_SHOWN = 4  # exceptions to a claim that are named


@dataclass(frozen=True)
class Comparison:
    """Models of a group compared by their ranks.

    Attributes
    ----------
    group, scope : str
        Which models, and over what: data sets, or the folds of one of them.
    quantity : Quantity
        What is compared.
    words : str
        What was found.
    friedman : FriedmanResult or None
        None: too little to test.
    nemenyi : NemenyiResult or None
        Its ranks and groups, for a diagram; None with two models.
    """

    group: str
    scope: str
    quantity: Quantity
    words: str
    friedman: FriedmanResult | None = None
    nemenyi: NemenyiResult | None = None


@dataclass(frozen=True)
class Verdict:
    """A claim, and what the results say of it.

    Attributes
    ----------
    text : str
        The claim.
    outcome : {"confirmed", "partly", "not confirmed", "open"}
        "open": too few results to tell.
    words : str
        Why.
    """

    text: str
    outcome: str
    words: str


def compare_overall(results: StudyResults, quantity: Quantity) -> list[Comparison]:
    """Compare the models of every group over the data sets of each family, by their means.

    Parameters
    ----------
    results : StudyResults
        Stored results.
    quantity : Quantity
        What to compare.

    Returns
    -------
    list of Comparison
        None of families of fewer than two data sets.
    """
    found = []
    for part in results.parts():
        if len(part.datasets) < 2:
            continue
        for group, models in _groups(part):
            rows = [_means(part, quantity, data["name"], models) for data in part.datasets]
            name = f"{part.family}: {group}" if part.family else group
            scores = np.array(rows)
            found.append(
                _compare(part, quantity, models, group=name, scope="data sets", scores=scores)
            )
    return found


def compare_folds(results: StudyResults, quantity: Quantity, data: str) -> list[Comparison]:
    """Compare the models of every group over the folds of one data set.

    Parameters
    ----------
    results : StudyResults
        Stored results.
    quantity : Quantity
        What to compare.
    data : str
        The data set.

    Returns
    -------
    list of Comparison
        One for each group; none where the data set has no folds.
    """
    planned = {tuple(place[2:]) for place in results.study["cells"].values() if place[0] == data}
    if len(planned) < 2:
        return []
    found = []
    run = results.planned(data)
    for group, everyone in _groups(results):
        models = [model for model in everyone if model in run]
        if len(models) < 2:
            continue
        scores = results.block(quantity.name, data, models)
        found.append(
            _compare(results, quantity, models, group=group, scope="folds", scores=scores)
        )
    return found


def _groups(results: StudyResults) -> Iterator[tuple[str, list[str]]]:
    known = [model["name"] for model in results.models]
    groups: dict[str, list[str]] = results.study["groups"] or {"all models": known}
    for group, models in groups.items():
        if len(models) > 1:
            yield group, models


def _means(results: StudyResults, quantity: Quantity, data: str, models: list[str]) -> list[float]:
    """Return a mean for each model; NaN where folds are missing, which would be unfair."""
    return [
        results.mean(quantity.name, data, model) if results.complete(data, model) else np.nan
        for model in models
    ]


def _titles(results: StudyResults, models: list[str]) -> list[str]:
    titles = {model["name"]: model["title"] for model in results.models}
    return [titles[model] for model in models]


def _compare(
    results: StudyResults,
    quantity: Quantity,
    models: list[str],
    *,
    group: str,
    scope: str,
    scores: NDArray[np.float64],
) -> Comparison:
    scores = scores[~np.isnan(scores).any(axis=1)]
    titles = _titles(results, models)
    if len(scores) < 2:
        text = f"Fewer than two {scope} have results of all models: nothing to test."
        return Comparison(group, scope, quantity, text)
    better, alpha = quantity.higher_is_better, float(results.study["alpha"])
    test = friedman(scores, titles, higher_is_better=better)
    if len(models) == 2:
        return Comparison(group, scope, quantity, _pair_words(scores, titles, better, scope), test)
    pairs = nemenyi(scores, titles, alpha=alpha, higher_is_better=better)
    told = _test_words(test, pairs)
    if results.study.get("posthoc") == "benjamini-hochberg" and test.p_value < alpha:
        corrected = pairwise(scores, titles, alpha=alpha, higher_is_better=better)
        told = f"{_difference_words(test)} {_pairs_words(test, corrected)}"
    words = f"Over {len(scores)} {scope}, {_order_words(test)} {told}"
    return Comparison(group, scope, quantity, words, test, pairs)


def _order_words(test: FriedmanResult) -> str:
    ordered = list(test.ranks.ordered())
    (first, rank), rest = ordered[0], ordered[1:]
    others = ", ".join(f"{title} ({place:.2f})" for title, place in rest)
    return f"{first} ranks first ({rank:.2f}), then {others}."


def _test_words(test: FriedmanResult, pairs: NemenyiResult) -> str:
    if not test.p_value < pairs.alpha:
        return _difference_words(test, "no")
    first = next(test.ranks.ordered())[0]
    names = list(pairs.ranks.names)
    p_values = {
        name: float(pairs.p_values[names.index(first), place])
        for place, name in enumerate(names)
        if name != first
    }
    worse = {name: p for name, p in p_values.items() if p < pairs.alpha}
    near = [name for name in p_values if name not in worse]
    text = _difference_words(test)
    if not worse:
        return f"{text} Nemenyi's test finds no model significantly worse than {first}."
    named = join(f"{name} ({p_words(p)})" for name, p in worse.items())
    rest = f", not than {join(near, 'or')}" if near else ""
    return f"{text} By Nemenyi's test {first} is significantly better than {named}{rest}."


def _difference_words(test: FriedmanResult, which: str = "a") -> str:
    statistic = f"Iman–Davenport F({test.df[0]}, {test.df[1]}) = {_number(test.f)}"
    return f"Friedman's test finds {which} difference ({statistic}, {p_words(test.p_value)})."


def _pairs_words(test: FriedmanResult, corrected: PairwiseResult) -> str:
    """Say of every model, the best first, than which others it is significantly better."""
    adjusted = corrected.p_values.adjusted
    p_values = {
        frozenset(pair): float(p) for pair, p in zip(corrected.pairs, adjusted, strict=True)
    }
    order = [title for title, _ in test.ranks.ordered()]
    found = []
    for place, title in enumerate(order):
        beaten = {other: p_values[frozenset((title, other))] for other in order[place + 1 :]}
        named = [
            f"{other} ({p_words(p)})"
            for other, p in beaten.items()
            if p < corrected.p_values.alpha
        ]
        if named:
            found.append(f"{title} is significantly better than {join(named)}")
    if not found:
        return "Benjamini and Hochberg's procedure finds no two models that differ significantly."
    return f"By Benjamini and Hochberg's procedure {'; '.join(found)}."


def _pair_words(scores: NDArray[np.float64], titles: list[str], better: bool, scope: str) -> str:
    """Say which of two models wins: Wilcoxon's test sees more than Friedman's then."""
    gain = (scores[:, 0] - scores[:, 1]) * (1 if better else -1)
    wins = int((gain > 0).sum()), int((gain < 0).sum())
    leader = 0 if wins[0] >= wins[1] else 1
    text = f"{titles[leader]} beats {titles[1 - leader]} on {wins[leader]} of {len(gain)} {scope}"
    if not gain.any():
        return f"{titles[0]} and {titles[1]} have the same results on all {len(gain)} {scope}."
    return f"{text} (Wilcoxon's test: {p_words(wilcoxon(scores[:, 0], scores[:, 1]).p_value)})."


def _number(value: float) -> str:
    return f"{value:.2f}" if np.isfinite(value) else "∞"


def p_words(p: float) -> str:
    """Write a p-value.

    Parameters
    ----------
    p : float
        The value.

    Returns
    -------
    str
        Very small ones as "p < 0.001".

    Examples
    --------
    >>> p_words(0.0321), p_words(1e-9)
    ('p = 0.032', 'p < 0.001')
    """
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def join(names: Any, word: str = "and") -> str:
    """Enumerate names as in a sentence.

    Parameters
    ----------
    names : iterable of str
        At least one.
    word : str
        Before the last.

    Returns
    -------
    str
        Their enumeration.

    Examples
    --------
    >>> join(["a", "b", "c"])
    'a, b and c'
    """
    names = list(names)
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"


def check_claims(results: StudyResults) -> list[Verdict]:
    """Check the findings that the study names, each by its measure.

    Parameters
    ----------
    results : StudyResults
        Stored results.

    Returns
    -------
    list of Verdict
        One for each claim.
    """
    checks = {
        "first": _check_place,
        "last": _check_place,
        "place": _check_place,
        "better": _check_better,
        "alike": _check_alike,
    }
    found = []
    for claim in results.study["claims"]:
        by = claim.get("measure")
        quantity = results.quantity(by) if by else results.measures[0]
        family = claim.get("family")
        part = results.part(family) if family else results
        outcome, words = checks[claim["kind"]](part, quantity, claim)
        found.append(Verdict(claim["text"], outcome, words))
    return found


def _claim_scores(
    results: StudyResults, quantity: Quantity, models: list[str]
) -> NDArray[np.float64]:
    """Return a row for each data set that has results of all the models."""
    rows = [_means(results, quantity, data["name"], models) for data in results.datasets]
    scores = np.array(rows, dtype=np.float64).reshape(len(rows), len(models))
    return np.asarray(scores[~np.isnan(scores).any(axis=1)])


def _check_place(
    results: StudyResults, quantity: Quantity, claim: dict[str, Any]
) -> tuple[str, str]:
    models = list(claim["models"])
    scores = _claim_scores(results, quantity, models)
    if not len(scores):
        return "open", "No data set has results of all these models."
    titles = _titles(results, models)
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
            values = _means(results, quantity, data["name"], [worse, better])
            if np.isnan(values).any():
                continue
            n_pairs += 1
            right = values[1] > values[0] if quantity.higher_is_better else values[1] < values[0]
            n_right += right
            if not right:
                beaten, winner = _titles(results, [better, worse])
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
    test = friedman(scores, _titles(results, models), higher_is_better=quantity.higher_is_better)
    text = f"Friedman's test over {len(scores)} data sets: {p_words(test.p_value)}. "
    spread = float((scores.max(axis=1) - scores.min(axis=1)).mean())
    text += f"On average best and worst differ by {spread:.3f}."
    return "confirmed" if test.p_value >= results.study["alpha"] else "not confirmed", text
