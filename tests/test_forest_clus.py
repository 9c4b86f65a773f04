"""Forests grow the same trees as CLUS's, from the same random numbers."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pytest

from ramify import PCTBaggingClassifier, PCTForestClassifier
from ramify.metrics import mean_auprc, mean_auroc, pooled_auprc, weighted_auprc
from tests.clus_cases import Case, all_cases
from tests.clus_oracle import read_measures, read_models, read_predictions, requires_oracle
from tests.clus_trees import differences
from tests.engine_trees import as_printed
from tests.test_tree_clus import classifier, label_matrix

CASES = [c for c in all_cases() if "Ensemble" in c.settings and not c.folder.startswith("t14")]
on_every_tiny_forest = pytest.mark.parametrize("case", CASES, ids=str)
on_every_hmc_forest = pytest.mark.parametrize(
    "case", [c for c in CASES if c.is_hierarchical], ids=str
)
MEASURES = {
    "auprc": mean_auprc,
    "auprc_weighted": weighted_auprc,
    "auprc_pooled": pooled_auprc,
    "auroc": mean_auroc,
}
SUBSPACES = {"LOG": "log2", "SQRT": "sqrt", "0": "sqrt"}


@cache
def fitted(case: Case) -> PCTForestClassifier | PCTBaggingClassifier:
    tree = classifier(case)
    shared = {
        name: value
        for name, value in tree.get_params(deep=False).items()
        if name not in ("splitter", "f_test_folds", "max_features", "random_state")
    }
    shared |= {
        "n_estimators": int(case.option("Ensemble", "Iterations")),
        "random_state": int(case.option("General", "RandomSeed")),
        "oob_score": case.option("Ensemble", "OOBestimate") == "Yes",
    }
    if case.option("Ensemble", "EnsembleMethod") == "Bagging":
        forest = PCTBaggingClassifier(**shared)
    else:
        wanted = case.option("Ensemble", "SelectRandomSubspaces", "0")
        max_features = SUBSPACES.get(wanted) or int(wanted)
        forest = PCTForestClassifier(max_features=max_features, **shared)
    Y = label_matrix(case, case.train.Y, forest.hierarchy)
    with warnings.catch_warnings():
        # Three trees leave rows without an out-of-bag prediction.
        warnings.filterwarnings("ignore", "11 of 40 rows were drawn by every tree")
        return forest.fit(case.train.X, Y, sample_weight=case.train.sample_weight)


@requires_oracle
@on_every_tiny_forest
def test_forest_has_the_trees_of_clus(case: Case) -> None:
    (expected,) = (
        models for name, models in read_models(case.path(".out")).items() if "Forest" in name
    )
    forest = fitted(case)
    order = [forest.hierarchy_.index(label) for label in case.labels]
    names = [a.name for a in case.train.attributes]
    categories = [a.values for a in case.train.attributes]
    assert len(forest.trees_) == len(expected)
    for tree, member in zip(forest.trees_, expected, strict=True):
        grown = as_printed(tree, names, categories, order, multilabel=not case.is_hierarchical)
        assert differences(member, grown) == []


@requires_oracle
@on_every_tiny_forest
@pytest.mark.parametrize("part", ["train", "test"])
def test_forest_predicts_like_clus(case: Case, part: str) -> None:
    ending = {"train": ".train.1.pred.arff", "test": ".test.pred.arff"}[part]
    expected = read_predictions(case.path(ending))
    forest = fitted(case)
    scores = forest.predict_proba(getattr(case, part).X)
    ours = scores[:, [forest.hierarchy_.index(label) for label in case.labels]]
    np.testing.assert_allclose(ours, expected.scores, rtol=0, atol=1e-15)


@requires_oracle
@on_every_hmc_forest
@pytest.mark.parametrize("part", ["train", "test"])
def test_forest_scores_like_clus(case: Case, part: str) -> None:
    found = read_measures(case.path(".out"))[part]
    (expected,) = (figures for name, figures in found.items() if "Forest" in name)
    forest = fitted(case)
    data = getattr(case, part)
    Y, scores = label_matrix(case, data.Y, forest.hierarchy_), forest.predict_proba(data.X)
    ours = {name: measure(Y, scores) for name, measure in MEASURES.items()}
    assert ours == pytest.approx(expected, abs=1e-12)


@requires_oracle
def test_out_of_bag_scores_like_clus() -> None:
    case = Case("t11_forest", "run_rf")
    forest = fitted(case)
    expected = read_measures(case.path(".oob"))[""]
    Y = label_matrix(case, case.train.Y, forest.hierarchy_)
    judged = ~np.isnan(forest.oob_decision_function_).any(axis=1)
    ours = {
        name: measure(Y[judged], forest.oob_decision_function_[judged])
        for name, measure in MEASURES.items()
    }
    assert ours == pytest.approx(next(iter(expected.values())), abs=1e-12)
    assert forest.oob_score_ == ours["auprc_pooled"]
