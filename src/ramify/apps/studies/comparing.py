"""Statistical tests of a study, with explanations in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify.apps.studies.claims import Quantity
from ramify.apps.studies.results import StudyResults
from ramify.stats import (
    FriedmanResult,
    NemenyiResult,
    PairwiseResult,
    friedman,
    nemenyi,
    pairwise,
    wilcoxon,
)


@dataclass(frozen=True)
class Comparison:
    """Models of a group compared by their ranks."""

    group: str  # name of the group of models, and what is compared over: data sets or folds
    scope: str
    quantity: Quantity  # the quantity that is compared
    words: str  # explanation of the result
    friedman: FriedmanResult | None = None  # none if there are too few results
    nemenyi: NemenyiResult | None = None  # ranks and groups for a diagram; None for two models


def compare_overall(results: StudyResults, quantity: Quantity) -> list[Comparison]:
    """Compare the models of every group over the data sets of each family, by their means."""
    found = []
    for part in results.parts():
        if len(part.datasets) < 2:
            continue
        for group, models in _groups(part):
            rows = [finished_means(part, quantity, data["name"], models) for data in part.datasets]
            name = f"{part.family}: {group}" if part.family else group
            scores = np.array(rows)
            found.append(
                _compare(part, quantity, models, group=name, scope="data sets", scores=scores)
            )
    return found


def compare_folds(results: StudyResults, quantity: Quantity, data: str) -> list[Comparison]:
    """Compare the models of every group over the folds of one data set, if it has any."""
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


def finished_means(
    results: StudyResults, quantity: Quantity, data: str, models: list[str]
) -> list[float]:
    """Return the mean of each model; NaN if some of its folds are missing."""
    return [
        results.mean(quantity.name, data, model) if results.complete(data, model) else np.nan
        for model in models
    ]


def titles_of(results: StudyResults, models: list[str]) -> list[str]:
    """Return the titles of models."""
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
    titles = titles_of(results, models)
    if len(scores) < 2:
        text = f"No test: fewer than two {scope} have results of all models."
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
    known = pair_p_values(pairs)
    p_values = {
        name: known[frozenset((first, name))] for name in pairs.ranks.names if name != first
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
    statistic = f"Iman–Davenport F({test.df[0]}, {test.df[1]}) = {test.f:.2f}"
    if not np.isfinite(test.f):  # which is no figure to read
        statistic = "all have the same order"
    return f"Friedman's test finds {which} difference ({statistic}, {p_words(test.p_value)})."


def _pairs_words(test: FriedmanResult, corrected: PairwiseResult) -> str:
    """List, for every model, best first, the models that are significantly worse."""
    p_values = pair_p_values(corrected)
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
    """Compare two models by Wilcoxon's test, which is more powerful than Friedman's here."""
    gain = (scores[:, 0] - scores[:, 1]) * (1 if better else -1)
    wins = int((gain > 0).sum()), int((gain < 0).sum())
    leader = 0 if wins[0] >= wins[1] else 1
    text = f"{titles[leader]} beats {titles[1 - leader]} on {wins[leader]} of {len(gain)} {scope}"
    if not gain.any():
        return f"{titles[0]} and {titles[1]} have the same results on all {len(gain)} {scope}."
    return f"{text} (Wilcoxon's test: {p_words(wilcoxon(scores[:, 0], scores[:, 1]).p_value)})."


def pair_p_values(found: NemenyiResult | PairwiseResult) -> dict[frozenset[str], float]:
    """Return the p-value of every pair of models."""
    if isinstance(found, NemenyiResult):
        names = found.ranks.names
        pairs: Any = list(combinations(names, 2))
        values = found.p_values[np.triu_indices(len(names), 1)]
    else:
        pairs, values = found.pairs, found.p_values.adjusted
    return {frozenset(pair): float(p) for pair, p in zip(pairs, values, strict=True)}


def p_words(p: float) -> str:
    """Format a p-value.

    >>> p_words(0.0321), p_words(1e-9)
    ('p = 0.032', 'p < 0.001')
    """
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def join(names: Any, word: str = "and") -> str:
    """Join names for a sentence.

    >>> join(["a", "b", "c"])
    'a, b and c'
    """
    names = list(names)
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"
