"""Our figures against those that CLUS printed, from the vectors that CLUS predicted."""

from __future__ import annotations

import re
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


def _part_of(out: Path, part: str) -> list[str]:
    """Lines of the training or testing figures of an .out file."""
    text = out.read_text()
    begin = text.index("Training error" if part == "train" else "Testing error")
    ends = [text.find(mark, begin) for mark in ("\nTesting error", "\nDefault Model")]
    return text[begin : min(end for end in ends if end > 0)].splitlines()


def _read_hmlc_list(out: Path, part: str) -> dict[str, float]:
    """Read the multi-label list of the tree or forest; it is grouped by model."""
    lines = _part_of(out, part)
    found: dict[str, float] = {}
    model = ""
    for line in lines[lines.index("Multilabel error measures for HMLC") :]:
        if match := re.match(r"^   (\S.*): *$", line):
            model = match[1]
        elif model != "Default" and (match := re.match(r"^ {6}(\w+): .*?(\S+)$", line)):
            found[match[1]] = float(match[2])
    return found


def _read_flat_list(out: Path, part: str, model: str) -> dict[str, float]:
    """Read the measures of a flat multi-label run; they are grouped by measure."""
    found: dict[str, float] = {}
    measure = ""
    for line in _part_of(out, part):
        if re.match(r"^\w+$", line):
            measure = line
        elif measure and line.strip().startswith(model):
            value = line.split("(")[0].split(":")[-1]
            found[measure] = float(value)
    return found


@requires_oracle
@pytest.mark.parametrize(("out", "predictions", "part"), RUNS)
def test_multilabel_list_equals_that_of_clus(out: Path, predictions: Path, part: str):
    found = read_predictions(predictions)
    expected = _read_hmlc_list(out, part)
    labels = _evaluated_columns(out, found.labels)
    ours = metrics.clus_multilabel_measures(found.truth, found.scores, labels=labels)
    assert ours.keys() == expected.keys()
    for name, value in expected.items():
        assert ours[name] == pytest.approx(value, rel=1e-6, abs=1e-9, nan_ok=True), name


FLAT = [
    pytest.param(out, part, model, id=f"{out.stem}-{part}-{model}")
    for out in sorted(TINY.glob("t12_mlc/*.out"))
    for part in ("train", "test")
    for model in ("Original", "Pruned", "Forest with 3 trees")
    if f"   {model} " in out.read_text()
]


@requires_oracle
@pytest.mark.parametrize(("out", "part", "model"), FLAT)
def test_flat_multilabel_list_equals_that_of_clus(out: Path, part: str, model: str):
    ending = {"train": ".train.1.pred.arff", "test": ".test.pred.arff"}[part]
    found = read_predictions(out.with_name(out.stem + ending), model)
    ours = metrics.clus_multilabel_measures(found.truth, found.scores)
    # CLUS ranks a row by its sums of votes, which tie where the shares differ by rounding.
    votes = metrics.clus_multilabel_measures(found.truth, found.scores.round(12))
    ours["RankingLoss"] = votes["RankingLoss"]
    expected = _read_flat_list(out, part, model)
    assert ours.keys() == expected.keys()
    for name, value in expected.items():
        assert ours[name] == pytest.approx(value, rel=5e-5, abs=1e-9, nan_ok=True), name
