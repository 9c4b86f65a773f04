"""Variants of a study: what they change, what they leave out, and their quick form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ramify.apps.studies.cell import run_cell
from ramify.apps.studies.data import load_data
from ramify.apps.studies.plan import DataSpec
from ramify.studies import list_studies, load_study, make_study, run_study
from tests.support.studies_cases import tables

VARIANTS: dict[str, Any] = {
    "deep": {"parameters": {"max_depth": 9}, "text": "Deeper trees."},
    "few": {"models": ["tree", "edges", {"name": "forest", "model": "forest"}], "title": "Few"},
    "wider": {
        "all_datasets": {"min_count": 12},
        "protocol": {"folds": 2},
        "measures": {"f1": {"measure": "micro_f1"}},
        "curves": {"levels": {"over": "levels"}},
    },
    "alone": {"datasets": ["second"], "claims": []},
    "changed": {
        "datasets": [
            {"name": "second", "max_level": 1, "without": {}},
            {"name": "third", "fetch": "animals"},
        ]
    },
}
CLAIMS = [
    {"text": "trees", "kind": "first", "models": ["tree", "shares"]},
    {"text": "pairs", "kind": "better", "pairs": [["shares", "tree"]]},
    {"text": "one", "kind": "first", "models": ["tree", "edges"]},
    {"text": "of a family", "kind": "first", "models": ["tree", "edges"], "family": "first"},
]
DATA = [
    {"name": "animals", "family": "first", "parameters": {"shares": {}, "tree": {"max_depth": 1}}},
    {"name": "second", "fetch": "animals", "family": "second", "without": {"shares": "too slow."}},
]


def study(variant: str | None = None, **more: Any) -> Any:
    whole = tables(
        variants=VARIANTS,
        claims=CLAIMS,
        datasets=DATA,
        tests={"groups": {"both": ["tree", "shares"], "other": ["shares"]}},
        quick={"folds": 2, "datasets": ["animals"], "parameters": {"max_depth": 2}},
        curves={"of shares": {"over": "levels", "models": ["shares"]}},
    )
    return make_study(whole, variant=variant, **more)


def test_without_a_variant_the_study_is_as_it_stands() -> None:
    assert study().name == "small"
    assert [model.name for model in study().models] == ["shares", "tree", "edges"]


def test_parameters_and_text_of_a_variant() -> None:
    found = study("deep")
    assert (found.name, found.title) == ("small-deep", "A small study: deep")
    assert found.text.endswith("Deeper trees.")
    assert found.models[1].parameters == {"max_depth": 9}
    assert found.models[2].inside.parameters == {"max_depth": 9}
    assert len(found.claims) == len(CLAIMS)


def test_models_of_a_variant_take_what_concerns_others_with_them() -> None:
    found = study("few")
    assert [model.name for model in found.models] == ["tree", "edges", "forest"]
    assert found.title == "Few"
    assert [claim.text for claim in found.claims] == ["one", "of a family"]
    assert found.groups == {"both": ("tree",)}
    assert found.data[0].parameters == {"tree": {"max_depth": 1}}
    assert found.data[1].without == {}
    assert found.curves == ()


def test_tables_of_a_variant_add_to_those_of_the_study() -> None:
    found = study("wider")
    assert [data.min_count for data in found.data] == [12, 12]
    assert found.protocol.folds == 2
    assert [measure.name for measure in found.measures] == ["auprc", "loss", "f1"]
    assert [curve.name for curve in found.curves] == ["of shares", "levels"]


def test_data_sets_of_a_variant() -> None:
    found = study("alone")
    assert [data.name for data in found.data] == ["second"]
    assert found.claims == ()


def test_tables_of_data_sets_change_those_of_the_study_and_add_others() -> None:
    found = study("changed")
    assert [data.name for data in found.data] == ["second", "third"]
    assert (found.data[0].max_level, found.data[0].family) == (1, "second")
    assert found.data[0].without == {}
    assert study().data[1].max_level is None


def test_a_variant_has_a_quick_form() -> None:
    found = study("deep", quick=True)
    assert [data.name for data in found.data] == ["animals"]
    assert found.quick
    assert found.models[1].parameters == {"max_depth": 2}
    # None of the data sets of the quick form is left, so that all others are kept.
    assert [data.name for data in study("alone", quick=True).data] == ["second"]


def test_results_of_a_variant_are_apart(tmp_path: Path) -> None:
    whole = run_study(study().on(["animals"]), tmp_path)
    deep = run_study(study("deep").on(["animals"]), tmp_path)
    assert deep.study["name"] == "small-deep"
    keys = [{cell["key"] for cell in results.cells} for results in (whole, deep)]
    shared = {cell["model"] for cell in whole.cells if cell["key"] in keys[0] & keys[1]}
    assert shared == {"shares", "tree"}  # of these nothing changed


@pytest.mark.parametrize(
    ("variants", "name", "message"),
    [
        ({"deep": {}}, "deeep", "has no variant 'deeep'. Did you mean 'deep'.* It has deep"),
        ({}, "deep", "has no variant 'deep'. It has none"),
        ({"deep": {"model": []}}, "deep", "variant 'deep' has no setting 'model'"),
        ({"deep": {"models": ["treee"]}}, "deep", "names the model 'treee', which the study"),
        ({"deep": {"datasets": ["x"]}}, "deep", "has no data set 'x'"),
    ],
)
def test_mistakes_in_variants(variants: dict, name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_study(tables(variants=variants), variant=name)


VARIANTS_OF_PAPERS = [
    ("bi2012", "min-count-10"),
    ("brdt2015", "common-label"),
    ("chelmis2021", "ablation"),
    ("chelmis2021", "merged"),
    ("gjorgjioski", "mean"),
]


@pytest.mark.parametrize(("name", "variant"), VARIANTS_OF_PAPERS)
@pytest.mark.parametrize("quick", [False, True])
def test_variants_of_papers_are_sound(name: str, variant: str, quick: bool) -> None:
    assert name in list_studies()
    found = load_study(name, variant=variant, quick=quick)
    assert found.name == f"{name}-{variant}"
    assert found.data
    assert found.models


def test_a_common_label_is_one_more_column() -> None:
    plain = load_data(DataSpec("animals", "Animals", fetch="animals"))
    found = load_data(DataSpec("animals", "Animals", fetch="animals", common_label=0.6))
    assert found.hierarchy.labels == (*plain.hierarchy.labels, "common label")
    assert found.hierarchy.parents("common label") == ()
    assert (found.y[:, :-1] != plain.y).nnz == 0
    share = found.y[:, [-1]].mean()
    assert 0.5 < share < 0.7


def test_a_common_label_is_learnt_and_keyed() -> None:
    data = {"name": "animals", "common_label": 0.9}
    found = make_study(tables(datasets=[data]))
    record = run_cell(found, next(found.cells(found.data[0])), "k")
    assert record["status"] == "done", record
    plain = make_study(tables())
    assert (
        record["data"]["labels"]
        == run_cell(plain, next(plain.cells(plain.data[0])), "k")["data"]["labels"] + 1
    )
    assert found.data[0].settings() != plain.data[0].settings()
