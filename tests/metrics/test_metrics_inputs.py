"""Measures read labels as `fit` does, whatever their format."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify import Hierarchy, as_levels, as_sets, metrics
from tests.support.label_graphs import PATHS

TRUE = [["food", "other"], ["drink", "other"], ["food", "fruit"]]
PREDICTED = [["drink", "other"], ["drink", "other"], ["food", "fruit"]]
SET_MEASURES = ("micro_f1", "macro_f1", "hamming_loss", "jaccard_accuracy")


def joined(rows):
    return ["/".join(row) for row in rows]


@pytest.mark.parametrize(
    "make", [np.array, as_levels, pd.DataFrame, lambda rows: pl.DataFrame(rows, orient="row")]
)
@pytest.mark.parametrize("measure", SET_MEASURES)
def test_level_columns_are_paths(make, measure):
    compute = getattr(metrics, measure)
    assert compute(make(TRUE), make(PREDICTED)) == compute(joined(TRUE), joined(PREDICTED))
    assert compute(make(TRUE), make(PREDICTED)) != compute(as_sets(TRUE), as_sets(PREDICTED))


def test_nested_lists_warn_beside_nested_lists_and_follow_levels():
    expected = metrics.micro_f1(joined(TRUE), joined(PREDICTED))
    assert expected == pytest.approx(2 / 3)
    with pytest.warns(UserWarning, match=r"ramify.as_levels\(y\).*ramify.as_sets\(y\)"):
        assert metrics.micro_f1(TRUE, PREDICTED) == pytest.approx(5 / 6)
    assert metrics.micro_f1(TRUE, np.array(PREDICTED)) == expected
    assert metrics.micro_f1(np.array(TRUE), PREDICTED) == expected
    hierarchy = Hierarchy.from_paths(joined([*TRUE, *PREDICTED]))
    assert metrics.micro_f1(TRUE, PREDICTED, hierarchy=hierarchy) == expected


@given(PATHS, st.data())
def test_formats_may_differ(paths, data):
    true = [f"top/{path}" for path in paths]
    predicted = [f"top/{path}" for path in data.draw(st.permutations(paths))]
    expected = metrics.micro_f1(true, predicted)
    levels = as_levels([path.split("/") for path in predicted])
    sets = [{path} for path in predicted]
    nested = [[path.split("/")] for path in predicted]
    for other in (levels, sets, nested):
        assert metrics.micro_f1(true, other) == pytest.approx(expected)
        assert metrics.micro_f1(other, true) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("y_true", "y_pred"),
    [([[], []], [["a"], []]), ([["a"], []], [[], []]), (["", "a"], ["a@b", "a"])],
)
def test_one_side_may_lack_labels(y_true, y_pred):
    assert 0 <= metrics.hamming_loss(y_true, y_pred) <= 1


def test_columns_of_frames_are_matched_by_name():
    hierarchy = Hierarchy.from_paths(["a/b", "c"])
    truth = np.array([[1, 1, 0], [0, 0, 1], [1, 0, 0]])
    scores = np.array([[0.9, 0.8, 0.1], [0.2, 0.1, 0.7], [0.4, 0.3, 0.6]])
    names, order = list(hierarchy.labels), [2, 0, 1]
    mixed = [names[i] for i in order]
    for frame in (pd.DataFrame, lambda a, columns: pl.DataFrame(a, schema=columns, orient="row")):
        y_true, y_score = frame(truth[:, order], columns=mixed), frame(scores, columns=names)
        expected = metrics.pooled_auprc(truth, scores)
        assert metrics.pooled_auprc(y_true, y_score, hierarchy=hierarchy) == expected
        y_pred = frame((scores > 0.5).astype(int), columns=names)
        expected = metrics.micro_f1(truth, scores > 0.5)
        assert metrics.micro_f1(y_true, y_pred) == expected
        assert metrics.micro_f1(y_true, y_pred, hierarchy=hierarchy) == expected
    table = pa.table({name: truth[:, i] for name, i in zip(mixed, order, strict=True)})
    assert metrics.micro_f1(table, y_pred, hierarchy=hierarchy) == expected


def test_scorers_have_names():
    assert metrics.get_scorer("micro_f1").__name__ == "micro_f1"
    assert metrics.get_scorer("neg_hmc_loss").__name__ == "neg_hmc_loss"
    for name in metrics.get_scorer_names():
        assert metrics.get_scorer(name).__name__ == name
