"""Cells that are computed again have the stored scores, or else `RESULTS_VERSION` was raised."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from ramify.apps.studies.cell import run_cell
from ramify.apps.studies.store import RESULTS_VERSION
from ramify.studies import load_study
from tests.support.clus_data import requires_data
from tests.support.recomputed_cells import STUDIES, compute_scores

TESTS = Path(__file__).parents[1]
STORED = json.loads((TESTS / "golden" / "cells.json").read_text("utf-8"))
REMEDY = (
    "If results are meant to change, raise RESULTS_VERSION in apps/studies/store.py and run "
    "python -m tests.golden.make_cells; the results in docs/results have to be computed again."
)


def test_the_scores_are_of_this_results_version() -> None:
    assert STORED["results_version"] == RESULTS_VERSION, REMEDY


@pytest.mark.parametrize("name", STUDIES)
def test_every_model_of_a_study_has_the_stored_scores(name: str) -> None:
    found = compute_scores(name)
    assert found.keys() == STORED["scores"][name].keys()
    for model, scores in STORED["scores"][name].items():
        assert found[model] == pytest.approx(scores, rel=1e-6), f"{model}. {REMEDY}"


@requires_data
@pytest.mark.parametrize(
    ("name", "data", "model"),
    [
        ("bi2012", "pheno_FUN", "clus-hmc"),
        ("brdt2015", "pheno-1", "lp"),
        ("brdt2015", "pheno-1", "clus-pru"),
        ("chelmis2021", "imclef07a", "naive-bayes"),
        ("gjorgjioski", "emotions", "hamming"),
        ("gjorgjioski", "emotions", "matching"),
        ("levatic2015", "rivers", "hmc-tree"),
    ],
)
def test_means_are_those_of_the_published_results(name: str, data: str, model: str) -> None:
    path = TESTS.parent / "docs" / "results" / f"{name}.csv"
    with path.open(encoding="utf-8", newline="") as file:
        published = {
            row["quantity"]: float(row["mean"])
            for row in csv.DictReader(file)
            if (row["dataset"], row["model"]) == (data, model) and row["mean"]
        }
    study = load_study(name)
    spec = next(one for one in study.data if one.name == data)
    cells = [cell for cell in study.cells(spec) if cell.model.name == model]
    records = [run_cell(study, cell, "key") for cell in cells]
    means = {
        measure.name: np.mean([record["scores"][measure.name] for record in records])
        for measure in study.measures
    }
    assert means == pytest.approx({name: published[name] for name in means}, rel=1e-6), REMEDY
