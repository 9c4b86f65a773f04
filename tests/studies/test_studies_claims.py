"""Findings of the literature are judged by ranks, means, pairs and tests of the stored results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from ramify.apps.studies.claims import CLAIM_KINDS, Claim
from ramify.apps.studies.verdicts import Verdict, check_claims, count_findings
from ramify.studies import StudyResults
from tests.support.studies_cases import results_of_cells, small

MODELS = ["shares", "tree", "edges"]
NAMES = [f"set{i}" for i in range(8)]

# The tree is a little better on seven data sets, edges are much better on the last one.
ONE_LARGE_WIN = {"shares": [0.1] * 8, "tree": [0.5] * 8, "edges": [0.4] * 7 + [0.96]}


def results_of(scores: Mapping[str, list[float]], posthoc: str = "nemenyi") -> StudyResults:
    """Return results with a score of each model on each data set; the loss is 1 minus it."""
    data = [{"name": name, "title": name.capitalize(), "fetch": "animals"} for name in NAMES]
    cells = {
        (name, model): {
            "scores": {"auprc": value, "loss": 1 - value},
            "overfit": {"auprc": value},
            "fit_cpu_seconds": 10 * value,
        }
        for model, values in scores.items()
        for name, value in zip(NAMES, values, strict=True)
    }
    return results_of_cells(small(datasets=data, tests={"posthoc": posthoc}), cells)


def judge(results: StudyResults, kind: str, **claim: Any) -> Verdict:
    results.study["claims"] = [{"text": "x", "kind": kind, **claim}]
    return check_claims(results)[0]


@pytest.mark.parametrize(
    ("kind", "first", "by_rank", "by_mean"),
    [
        ("first", "tree", "confirmed", "partly"),
        ("first", "edges", "not confirmed", "partly"),
        ("last", "shares", "confirmed", "confirmed"),
        ("place", "edges", "confirmed", "partly"),
    ],
)
def test_models_are_ordered_by_rank_or_mean(
    kind: str, first: str, by_rank: str, by_mean: str
) -> None:
    """The mean of edges is that of the tree: (7 × 0.4 + 1.2) / 8 = 0.5."""
    results = results_of({**ONE_LARGE_WIN, "edges": [0.4] * 7 + [1.2]})
    models = [first, *(model for model in MODELS if model != first)]
    for by, outcome in (("rank", by_rank), ("mean", by_mean)):
        assert judge(results, kind, models=models, place=2, by=by).outcome == outcome


def test_the_words_of_an_order_are_ranks_or_means() -> None:
    results = results_of(ONE_LARGE_WIN)
    claim = {"models": ["tree", "edges"], "measure": "loss"}
    words = judge(results, "first", **claim).words
    assert words == "Average ranks: one tree 1.12, a tree per edge 1.88."
    words = judge(results, "first", by="mean", **claim).words
    assert words == "Means over 8 data sets: one tree 0.500, a tree per edge 0.530."
    words = judge(results, "first", by="mean", **{**claim, "measure": "all"}).words
    assert words.endswith("losses as negative numbers: one tree 0.000, a tree per edge -0.030.")


def test_no_model_is_best_by_every_measure() -> None:
    results = results_of(ONE_LARGE_WIN)
    assert judge(results, "no_best", measure="all", models=MODELS).outcome == "not confirmed"
    for cell in results.cells:
        cell["scores"]["loss"] *= -1
    verdict = judge(results, "no_best", measure="all", models=MODELS)
    assert verdict.outcome == "confirmed"
    assert verdict.words == "Best: one tree by pooled AU(PRC); label shares by HMC loss."


def test_pairs_are_close_or_not() -> None:
    results = results_of(ONE_LARGE_WIN)
    pairs = [["tree", "edges"]]
    assert judge(results, "close", pairs=pairs, within=0.47).outcome == "confirmed"
    verdict = judge(results, "close", pairs=pairs, within=0.11)
    assert verdict.outcome == "partly"
    assert verdict.words == (
        "At most 0.11 apart in 7 of 8 comparisons; "
        "not one tree and a tree per edge on Set7 (0.460)."
    )
    assert judge(results, "close", pairs=pairs, within=0.09).outcome == "not confirmed"


def test_claims_on_some_data_sets_only() -> None:
    results = results_of(ONE_LARGE_WIN)
    pairs = [["tree", "edges"]]
    assert judge(results, "better", pairs=pairs, datasets=["set7"]).outcome == "confirmed"
    assert judge(results, "better", pairs=pairs, datasets=NAMES[:7]).outcome == "not confirmed"
    assert judge(results, "better", pairs=pairs, datasets=["gone"]).outcome == "open"


@pytest.mark.parametrize("posthoc", ["nemenyi", "benjamini-hochberg"])
def test_significance_is_that_of_the_post_hoc_test(posthoc: str) -> None:
    """Over eight data sets, ranks 1.12 and 3 differ significantly, ranks 1.12 and 1.88 do not."""
    results = results_of(ONE_LARGE_WIN, posthoc)
    far, near, wrong = ["shares", "tree"], ["edges", "tree"], ["tree", "shares"]

    def outcome(kind: str, *pairs: list[str]) -> str:
        return judge(results, kind, models=MODELS, pairs=list(pairs)).outcome

    assert outcome("significant", far) == "confirmed"
    assert outcome("significant", near) == "not confirmed"
    assert outcome("significant", wrong) == "not confirmed"
    assert outcome("significant", far, far, near) == "partly"
    assert outcome("not_significant", near, wrong) == "confirmed"
    assert outcome("not_significant", far) == "not confirmed"
    words = judge(results, "significant", models=MODELS, pairs=[far, near]).words
    assert "Significantly better: one tree (1.12) than label shares (3.00), p < 0.001." in words
    assert "Not significantly better: one tree (1.12) than a tree per edge (1.88), p = 0." in words


def test_no_pair_differs_unless_friedmans_test_does() -> None:
    results = results_of(dict.fromkeys(MODELS, [0.5] * 8))
    verdict = judge(results, "significant", models=MODELS, pairs=[["shares", "tree"]])
    assert verdict.outcome == "not confirmed"


def test_costs_are_judged_by_the_published_figures_too() -> None:
    results = results_of(ONE_LARGE_WIN)
    results.study["reference"] = [
        {"dataset": "set0", "model": "tree", "quantity": "fit_cpu_seconds", "value": 2.0},
        {"dataset": "set0", "model": "shares", "quantity": "fit_cpu_seconds", "value": 3.0},
        {"dataset": "set0", "model": "tree", "quantity": "overfit:auprc", "value": 0.2},
        {"dataset": "set0", "model": "shares", "quantity": "overfit:auprc", "value": 0.1},
    ]
    pairs = [["tree", "shares"]]
    faster = judge(results, "better", measure="fit_cpu_seconds", pairs=pairs)
    assert (faster.outcome, faster.published) == ("confirmed", "not confirmed")
    overfit = judge(results, "better", measure="overfit:auprc", pairs=pairs)
    assert (overfit.outcome, overfit.published) == ("confirmed", "confirmed")
    size = judge(results, "better", measure="complexity", pairs=pairs)
    assert (size.outcome, size.published) == ("open", "open")


@pytest.mark.parametrize("kind", CLAIM_KINDS)
def test_every_kind_of_claim_can_be_judged(kind: str) -> None:
    results = results_of(ONE_LARGE_WIN)
    verdict = judge(results, kind, models=MODELS, pairs=[["tree", "edges"]], place=1, within=1.0)
    assert verdict.outcome == "open" if kind == "among_best" else verdict.outcome != "open"


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ({"kind": "mean"}, "kind of a claim must be one of first, .*, got 'mean'"),
        ({"kind": "first", "by": "median"}, "by of a claim must be one of rank, mean, got"),
        ({"kind": "first", "datasets": ["animal"]}, "data set 'animal'.*animals"),
        ({"kind": "first", "measure": "overfit:loss"}, "names the measure 'overfit:loss'"),
        (
            {"kind": "significant", "models": ["tree", "edges"], "pairs": [["shares", "tree"]]},
            "must be pairs of its models, got 'shares'. Add it to models",
        ),
        ({"kind": "wins"}, r"models of a claim of kind 'wins' must be .*, got \[\]"),
        ({"kind": "first", "models": ["tree"]}, r"at least two different models, got \['tree'\]"),
        ({"kind": "alike", "models": ["tree", "edges", "tree"]}, "at least two different models"),
        ({"kind": "better"}, "a claim of kind 'better' has no pairs. Name at least one"),
        ({"kind": "close", "pairs": [["tree", "tree"]]}, "pairs of .* two different models, got"),
        ({"kind": "top", "models": ["tree", "edges"], "place": 3}, "between 1 and .*, got 3"),
        ({"kind": "place", "models": ["tree", "edges"], "place": 0}, "between 1 and .*, got 0"),
    ],
)
def test_impossible_claims_are_refused(claim: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        small(claims=[{"text": "x", **claim}])


def test_claims_about_costs_are_accepted() -> None:
    measures = ["overfit:auprc", "fit_cpu_seconds", "complexity", "peak_memory_mb"]
    models = ("tree", "edges")
    claims = [
        {"text": "x", "kind": "first", "models": models, "measure": name} for name in measures
    ]
    assert small(claims=claims).claims[0] == Claim("x", "first", models, measure=measures[0])


def test_claims_of_the_study_itself_are_not_findings() -> None:
    results = results_of(ONE_LARGE_WIN)
    claim = {"text": "x", "kind": "first", "models": ["tree", "edges"]}
    results.study["claims"] = [claim, {**claim, "ours": True}, {**claim, "kind": "last"}]
    verdicts = check_claims(results)
    assert len(verdicts) == 3
    assert count_findings(verdicts) == "Findings: 1 confirmed, 1 not confirmed."
    assert count_findings(verdicts[1:2]) == ""
