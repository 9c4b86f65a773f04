"""Crosswalks: labels of two taxonomies that occur together."""

import numpy as np
import pytest
from scipy.stats import binomtest

from ramify import Hierarchy, make_hierarchical_classification
from ramify.taxonomies import Crosswalk

OURS = ["toys/dolls"] * 8 + ["toys/cars"] * 6 + ["books"] * 9 + [""] * 3
THEIRS = ["play/dolls"] * 7 + ["play/cars"] * 7 + ["media/print"] * 8 + ["play"] * 4


def sets(labels):
    return [[label] if label else [] for label in labels]


def test_counts_are_those_of_a_loop():
    crosswalk = Crosswalk.learn(sets(OURS), sets(THEIRS))
    first, second = crosswalk.first, crosswalk.second
    rows = [
        (first.close(first.encode([a]))[[0]].indices, second.encode([b]).indices)
        for a, b in zip(sets(OURS), sets(THEIRS), strict=True)
        if a and b
    ]
    for row in crosswalk.report().rows():
        k, m = first.index(row["first"]), second.index(row["second"])
        with_first = [other for own, other in rows if k in own]
        assert row["rows"] == len(with_first)
        assert row["both"] == sum(m in other for other in with_first)
        interval = binomtest(row["both"], row["rows"]).proportion_ci(method="wilson")
        assert (row["low"], row["high"]) == pytest.approx((interval.low, interval.high))


def test_the_most_specific_counterpart_is_chosen():
    mapping = Crosswalk.learn(sets(OURS), sets(THEIRS)).mapping()
    assert mapping.successors("toys/dolls") == ("play/dolls",)
    assert mapping.successors("toys") == ("play",)
    assert mapping.successors("books") == ("media/print",)
    strict = Crosswalk.learn(sets(OURS), sets(THEIRS)).mapping(0.65)
    assert strict.successors("toys/dolls") == ("play",)  # 7 of 8 rows: at least 53 %
    assert strict.apply([["toys/cars"]]).y == [["play"]]  # 6 of 6: at least 61 %, so as its parent
    with_interval = {line.old: line.reason for line in mapping.lines}
    assert with_interval["toys/dolls"] == "7 of 8 rows, 0.53 to 0.98"


def test_a_renamed_taxonomy_is_found():
    data = make_hierarchical_classification(600, 5, n_labels=30, labels_per_row=1, random_state=0)
    labels = [row[0] for row in data.hierarchy.decode(data.y)]
    renamed = ["/".join(f"n{part}" for part in label.split("/")) for label in labels]
    mapping = Crosswalk.learn(labels, renamed).mapping(0.1)
    for label in set(labels):
        (found,) = mapping.successors(label)
        assert found == "/".join(f"n{part}" for part in label.split("/"))


def test_order_of_rows_has_no_effect():
    order = np.random.default_rng(0).permutation(len(OURS))
    shuffled = [[labels[k] for k in order] for labels in (sets(OURS), sets(THEIRS))]
    hierarchies = Hierarchy.from_paths([x for x in OURS if x]), Hierarchy.from_paths(THEIRS)
    found, expected = (
        Crosswalk.learn(*labels, *hierarchies).report().columns
        for labels in (shuffled, (sets(OURS), sets(THEIRS)))
    )
    assert found == expected


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match="y_second must have 26 rows, as y_first, got 25"):
        Crosswalk.learn(sets(OURS), sets(THEIRS[:-1]))
    with pytest.raises(ValueError, match="y_second must have labels of rows with labels"):
        Crosswalk.learn([["a"], []], [[], ["b"]])
    with pytest.raises(ValueError, match="confidence must be less than 1, got 1"):
        Crosswalk.learn(["a"], ["b"], confidence=1)
    with pytest.raises(ValueError, match="min_share"):
        Crosswalk.learn(["a"], ["b"]).mapping(2)
