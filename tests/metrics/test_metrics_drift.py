"""Labels that differ between two sets of rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import fisher_exact

from ramify import Hierarchy, PartialLabels
from ramify.metrics import label_drift
from ramify.metrics.drift import _exact_test
from ramify.stats import benjamini_hochberg

ANIMALS = Hierarchy.from_paths(["bird", "mammal/cat", "mammal/dog"])
counts = st.tuples(st.integers(0, 30), st.integers(0, 30))


@given(st.lists(st.tuples(counts, counts), min_size=1, max_size=5))
@settings(deadline=None)
def test_p_values_are_twice_those_of_the_smaller_tail(tables):
    part = np.array([[min(pair) for pair in table] for table in tables])
    whole = np.array([[max(pair) for pair in table] for table in tables])
    found = _exact_test(part[:, 0], whole[:, 0], part[:, 1], whole[:, 1])
    for p, (a, b), (n, o) in zip(found, part.tolist(), whole.tolist(), strict=True):
        if n == 0 or o == 0 or a + b == 0:
            assert np.isnan(p)
            continue
        tails = [fisher_exact([[a, n - a], [b, o - b]], side)[1] for side in ("less", "greater")]
        assert p == pytest.approx(min(1, 2 * min(tails)))


@pytest.fixture
def rows():
    """True and predicted labels of 300 rows and 200 others: no more cats are found."""
    random = np.random.default_rng(0)
    before = random.choice(["bird", "mammal/cat", "mammal/dog"], 300)
    after = random.choice(["bird", "mammal/cat", "mammal/dog"], 200)
    return before, after, before.copy(), np.where(after == "mammal/cat", "mammal/dog", after)


def test_labels_with_another_recall_or_precision_are_named(rows):
    before, after, pred_before, pred_after = rows
    found = label_drift(before, after, ANIMALS, pred_before=pred_before, pred_after=pred_after)
    named = {(row["label"], row["measure"]): row for row in found.rows()}
    assert set(named) == {("mammal/cat", "recall"), ("mammal/dog", "precision")}
    cats = named["mammal/cat", "recall"]
    assert (cats["before"], cats["after"]) == (1.0, 0.0)
    assert (cats["rows_before"], cats["rows_after"]) == (
        (before == "mammal/cat").sum(),
        (after == "mammal/cat").sum(),
    )
    assert found.columns["p"] == sorted(found.columns["p"])
    assert len(label_drift(before, after, ANIMALS)) == 0  # as frequent as before


def test_corrected_p_values_are_those_of_benjamini_and_hochberg():
    before, after = ["bird"] * 8 + ["mammal/cat"] * 2, ["bird"] * 2 + ["mammal/cat"] * 8
    found = label_drift(before, after, ANIMALS, false_discoveries=1)
    one = min(1, 2 * fisher_exact([[8, 2], [2, 8]], "greater")[1])
    expected = benjamini_hochberg([one, one, one, np.nan])
    assert sorted(found.columns["p"]) == pytest.approx(sorted(expected.adjusted[:3]))


def test_rows_without_a_difference_have_few_named_labels():
    random = np.random.default_rng(1)
    shares = random.random(50) / 4
    named = 0
    for _ in range(100):
        before, after = ((random.random((n, 50)) < shares) * 1 for n in (200, 100))
        named += len(label_drift(before, after)) > 0
    assert named <= 10  # five of a hundred are expected at most; more than ten are 3 % likely


def test_labels_that_are_not_known_do_not_count():
    before = PartialLabels(["bird"] * 50 + ["mammal"] * 50, ANIMALS, ends="unknown_below")
    after = PartialLabels(["mammal/cat"] * 50, ANIMALS, ends="unknown_below")
    found = {row["label"]: row for row in label_drift(before, after, ANIMALS).rows()}
    assert found["mammal/cat"]["rows_before"] == 50  # the birds, which are no cats
    assert found["mammal/cat"]["after"] == 1


def test_wrong_arguments_are_named(rows):
    before, after, pred_before, _ = rows
    with pytest.raises(ValueError, match="pred_after is required"):
        label_drift(before, after, ANIMALS, pred_before=pred_before)
    with pytest.raises(ValueError, match="y_after must have the labels of y_before"):
        label_drift(np.eye(3), np.eye(4))
    with pytest.raises(ValueError, match="y_after has 0 columns"):
        label_drift(before, [[], []], ANIMALS)
    with pytest.raises(ValueError, match="false_discoveries must be"):
        label_drift(before, after, ANIMALS, false_discoveries=2)
