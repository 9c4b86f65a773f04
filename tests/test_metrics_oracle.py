"""Our figures against those that CLUS printed, from the vectors that CLUS predicted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ramify import metrics
from tests.clus_oracle import (
    TINY,
    read_measures,
    read_predictions,
    read_settings,
    requires_oracle,
)

HIERARCHICAL = {
    "auroc": metrics.mean_auroc,
    "auprc": metrics.mean_auprc,
    "auprc_weighted": metrics.weighted_auprc,
    "auprc_pooled": metrics.pooled_auprc,
}


def _runs() -> Iterator[tuple[Path, Path, str]]:
    for out in sorted(TINY.glob("*/*.out")):
        for part, ending in (("train", ".train.1.pred.arff"), ("test", ".test.pred.arff")):
            predictions = out.with_name(out.stem + ending)
            if predictions.exists() and part in read_measures(out):
                yield out, predictions, part


RUNS = [pytest.param(*run, id=f"{run[0].parent.name}-{run[0].stem}-{run[2]}") for run in _runs()]


def _evaluated_columns(out: Path, labels: tuple[str, ...]) -> list[int]:
    """Columns of the labels that the run's settings ask for."""
    settings = read_settings(out.with_suffix(".s"))
    chosen = settings.get("Hierarchical", {}).get("EvalClasses")
    if chosen is None:
        return list(range(len(labels)))
    names = (out.parent / chosen).read_text().split()
    return [labels.index(name) for name in names]


@requires_oracle
@pytest.mark.parametrize(("out", "predictions", "part"), RUNS)
def test_hierarchical_measures_equal_those_of_clus(out: Path, predictions: Path, part: str):
    found = read_predictions(predictions)
    figures = read_measures(out)[part]
    expected = figures.get("Original") or figures["Forest with 3 trees"]
    labels = _evaluated_columns(out, found.labels)
    for name, value in expected.items():
        ours = HIERARCHICAL[name](found.truth, found.scores, labels=labels)
        assert ours == pytest.approx(value, abs=1e-12), name
