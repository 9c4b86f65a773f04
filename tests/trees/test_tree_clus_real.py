"""On real data, trees equal those of CLUS: tests, thresholds, leaves and AUPRC."""

from __future__ import annotations

from typing import Any

import pytest

from ramify.metrics import mean_auprc, mean_auroc, pooled_auprc, weighted_auprc
from tests.support.clus_data import load, requires_data
from tests.support.clus_models import REAL_TREES, real_classifier
from tests.support.clus_oracle import TREES, read_tree_file, requires_oracle
from tests.support.clus_trees import differences
from tests.support.engine_trees import as_printed


@requires_oracle
@requires_data
@pytest.mark.parametrize("record", REAL_TREES, ids=lambda r: f"{r['dataset']}-{r['config']}")
def test_trees_and_scores_equal_those_of_clus(record: dict[str, Any]) -> None:
    data = load(record["dataset"])
    model = real_classifier(record, data.hierarchy).fit(data.X_train, data.Y_train)
    (expected,) = read_tree_file(TREES / record["tree_file"].split("/")[-1])
    categories = [model.schema_.categories.get(k, ()) for k in range(len(data.names))]
    grown = as_printed(
        model.tree_,
        data.names,
        [[str(v) for v in values] for values in categories],
        data.order,
        multilabel=record["dataset"].endswith("_mlc"),
    )
    assert differences(expected, grown) == []
    assert len(model.tree_.feature) == record["nodes"]
    if record["dataset"].endswith("_mlc"):
        return
    scores = model.predict_proba(data.X_test)
    found = {
        "auroc": mean_auroc(data.Y_test, scores),
        "auprc": mean_auprc(data.Y_test, scores),
        "auprc_weighted": weighted_auprc(data.Y_test, scores),
        "auprc_pooled": pooled_auprc(data.Y_test, scores),
    }
    assert found == pytest.approx(record["test"], abs=1e-9)
