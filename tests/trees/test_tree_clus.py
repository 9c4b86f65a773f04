"""With clus_compat, trees equal those of CLUS: tests, leaves, predictions and scores."""

from __future__ import annotations

import numpy as np
import pytest

from ramify.metrics import mean_auprc, mean_auroc, pooled_auprc, weighted_auprc
from tests.support.clus_cases import Case
from tests.support.clus_models import TREE_CASES as CASES
from tests.support.clus_models import fitted, label_matrix
from tests.support.clus_oracle import read_measures, read_models, read_predictions, requires_oracle
from tests.support.clus_trees import differences
from tests.support.engine_trees import as_printed

on_every_tiny_tree = pytest.mark.parametrize("case", CASES, ids=str)


@requires_oracle
@on_every_tiny_tree
def test_trees_equal_those_of_clus(case: Case) -> None:
    (expected,) = read_models(case.path(".out"))["Original"]
    model = fitted(case)
    grown = as_printed(
        model.tree_,
        [a.name for a in case.train.attributes],
        [a.values for a in case.train.attributes],
        [model.hierarchy_.index(label) for label in case.labels],
        multilabel=not case.is_hierarchical,
        nary=model.nominal_tests == "nary",
    )
    assert differences(expected, grown) == []


@requires_oracle
@on_every_tiny_tree
@pytest.mark.parametrize("part", ["train", "test"])
def test_predictions_equal_those_of_clus(case: Case, part: str) -> None:
    ending = {"train": ".train.1.pred.arff", "test": ".test.pred.arff"}[part]
    expected = read_predictions(case.path(ending), "Original")
    model = fitted(case)
    scores = model.predict_proba(getattr(case, part).X)
    ours = scores[:, [model.hierarchy_.index(label) for label in case.labels]]
    np.testing.assert_allclose(ours, expected.scores, rtol=0, atol=1e-15)


@requires_oracle
@pytest.mark.parametrize("case", [c for c in CASES if c.is_hierarchical], ids=str)
@pytest.mark.parametrize("part", ["train", "test"])
def test_scores_equal_those_of_clus(case: Case, part: str) -> None:
    expected = read_measures(case.path(".out"))[part]["Original"]
    model = fitted(case)
    data = getattr(case, part)
    Y, scores = label_matrix(case, data.Y, model.hierarchy_), model.predict_proba(data.X)
    measures = {
        "auprc": mean_auprc,
        "auprc_weighted": weighted_auprc,
        "auprc_pooled": pooled_auprc,
        "auroc": mean_auroc,
    }
    if case.option("Hierarchical", "EvalClasses") not in ("", "None"):
        pytest.skip("CLUS evaluated some of the labels only")
    found = {name: measure(Y, scores) for name, measure in measures.items()}
    assert found == pytest.approx(expected, abs=1e-12)
