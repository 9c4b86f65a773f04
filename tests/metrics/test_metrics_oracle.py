"""Measures computed from the predictions of CLUS equal those that CLUS printed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from ramify import fetch, metrics
from tests.support.clus_data import requires_data
from tests.support.clus_measures import Run, flat_runs, hierarchical_runs
from tests.support.clus_oracle import read_results, requires_oracle

HIERARCHICAL = {
    "auroc": metrics.mean_auroc,
    "auprc": metrics.mean_auprc,
    "auprc_weighted": metrics.weighted_auprc,
    "auprc_pooled": metrics.pooled_auprc,
}
RUNS = [pytest.param(run, id=run.name) for run in hierarchical_runs()]
FLAT_RUNS = [pytest.param(run, model, id=f"{run.name}-{model}") for run, model in flat_runs()]


@requires_oracle
@pytest.mark.parametrize("run", RUNS)
def test_hierarchical_measures_equal_those_of_clus(run: Run):
    found = run.predictions()
    labels = run.evaluated(found.labels)
    for name, value in run.hierarchical().items():
        ours = HIERARCHICAL[name](found.truth, found.scores, labels=labels)
        assert ours == pytest.approx(value, abs=1e-12), name


@requires_oracle
@pytest.mark.parametrize("run", RUNS)
def test_multilabel_list_equals_that_of_clus(run: Run):
    found = run.predictions()
    labels = run.evaluated(found.labels)
    ours = metrics.clus_multilabel_measures(found.truth, found.scores, labels=labels)
    expected = run.multilabel()
    assert ours.keys() == expected.keys()
    for name, value in expected.items():
        assert ours[name] == pytest.approx(value, rel=1e-6, abs=1e-9, nan_ok=True), name


@requires_oracle
@pytest.mark.parametrize(("run", "model"), FLAT_RUNS)
def test_flat_multilabel_list_equals_that_of_clus(run: Run, model: str):
    found = run.predictions(model)
    ours = metrics.clus_multilabel_measures(found.truth, found.scores)
    # CLUS ranks rows by sums of votes, which tie where the fractions differ by rounding.
    votes = metrics.clus_multilabel_measures(found.truth, found.scores.round(12))
    ours["RankingLoss"] = votes["RankingLoss"]
    expected = run.flat_multilabel(model)
    assert ours.keys() == expected.keys()
    for name, value in expected.items():
        assert ours[name] == pytest.approx(value, rel=5e-5, abs=1e-9, nan_ok=True), name


@requires_oracle
@requires_data
@pytest.mark.parametrize("name", ["cellcycle_FUN", "pheno_FUN", "cellcycle_GO"])
def test_default_models_score_as_with_clus_on_real_data(name: str):
    """The default model predicts the label frequencies of the training data for every row."""
    data = fetch(name)
    trained = sparse.vstack([data.y_train, data.y_valid])
    n_labelled = np.count_nonzero(trained.sum(axis=1))
    frequency = np.asarray(trained.sum(axis=0)).ravel() / n_labelled
    scores = np.broadcast_to(frequency, data.y_test.shape)
    records = (record for record in read_results() if record["dataset"] == name)
    for measure, value in next(records)["default_test"].items():
        ours = HIERARCHICAL[measure](data.y_test, scores)
        assert ours == pytest.approx(value, abs=1e-12), measure
