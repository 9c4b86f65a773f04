"""Classifiers of ramify with the settings of CLUS runs, for small cases and real data sets."""

from __future__ import annotations

from typing import Any

import numpy as np

from ramify import Hierarchy, PCTClassifier
from tests.support.clus_cases import Case, single_tree_cases
from tests.support.clus_oracle import read_results

WEIGHTING = {
    "ExpSumParentWeight": "sum",
    "ExpAvgParentWeight": "avg",
    "ExpMinParentWeight": "min",
    "ExpMaxParentWeight": "max",
    "NoWeight": "avg",
}
TREE_CASES = [case for case in single_tree_cases() if not case.folder.startswith("t13")]
REAL_TREES = [r for r in read_results() if r.get("tree_file") and "tree" in r["config"]]


def hierarchy_of(case: Case) -> Hierarchy:
    if not case.is_hierarchical:
        return Hierarchy.from_labels(case.labels)
    edges = [(p, c) for c, parents in case.parents.items() for p in (parents or ("<root>",))]
    return Hierarchy.from_edges(edges, root="<root>")


def label_matrix(case: Case, Y: np.ndarray, hierarchy: Hierarchy) -> np.ndarray:
    """Return the label matrix of a case with columns in the order of the hierarchy."""
    return Y[:, [case.labels.index(label) for label in hierarchy.labels]].astype(int)


def classifier(case: Case) -> PCTClassifier:
    wanted = case.reference_settings()
    kind = case.option("Hierarchical", "WType", "ExpSumParentWeight")
    w0 = 1.0 if kind == "NoWeight" else float(case.option("Hierarchical", "WParam", "0.75"))
    return PCTClassifier(
        hierarchy_of(case),
        criterion=wanted.criterion,
        w0=w0,
        weighting=WEIGHTING[kind],
        max_depth=wanted.max_depth,
        min_weight=wanted.min_weight,
        f_test=None if wanted.criterion in ("entropy", "gain_ratio") else wanted.f_test,
        threshold_at=wanted.thresholds,
        nominal_tests="nary" if wanted.nary else "subset" if wanted.subsets else "single",
        categorical_features=[bool(a.values) for a in case.train.attributes],
        clus_compat=True,
    )


def fitted(case: Case) -> PCTClassifier:
    model = classifier(case)
    Y = label_matrix(case, case.train.Y, model.hierarchy)
    return model.fit(case.train.X, Y, sample_weight=case.train.sample_weight)


def real_classifier(record: dict[str, Any], hierarchy: Any) -> PCTClassifier:
    config = record["config"]
    criterion = {"mlc_tree": "gini", "mlc_tree_gain": "entropy"}.get(config, "variance")
    return PCTClassifier(
        hierarchy,
        criterion=criterion,
        w0=1.0 if config.endswith("_w1") else 0.75,
        weighting="sum" if config.endswith("_sum") else "avg",
        min_weight=5,
        f_test=0.01 if "_f01" in config else None,
        clus_compat=True,
    )
