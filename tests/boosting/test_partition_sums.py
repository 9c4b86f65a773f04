"""The sums that partitions send, and the bins of partitions, against slow computations."""

from __future__ import annotations

from functools import reduce
from itertools import chain
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from ramify import _core
from ramify.boosting.partitions.describing import ValueCounts
from ramify.boosting.partitions.shards import Message, add_messages
from ramify.data.rows import as_columns, as_label_rows
from tests.reference import gradient_boosting as reference
from tests.support.boosting_problems import Problem, problems
from tests.support.budget import budget

quickly = budget(30)
numbers = st.one_of(
    st.floats(allow_nan=True, allow_infinity=False),
    st.sampled_from([0.0, -0.0, 1.0, 1.5, -3.0, 5e-324, 1e308]),
)


# ---- counts of values ----------------------------------------------------------------------


@given(st.lists(st.lists(numbers, max_size=30), min_size=1, max_size=5), st.integers(2, 20))
def test_counts_do_not_depend_on_the_division_into_partitions(parts, limit):
    whole = ValueCounts.of(list(chain.from_iterable(parts)), limit)
    for order in (parts, parts[::-1]):
        merged = reduce(add, [ValueCounts.of(part, limit) for part in order])
        assert merged.level == whole.level
        assert merged.n_missing == whole.n_missing
        np.testing.assert_array_equal(merged.keys, whole.keys)
        np.testing.assert_array_equal(merged.counts, whole.counts)


@given(st.lists(numbers, max_size=60), st.integers(2, 20))
def test_intervals_divide_the_values(values, limit):
    counted = ValueCounts.of(values, limit)
    low, high = counted.intervals()
    present = np.array([value for value in values if not np.isnan(value)])
    assert len(low) <= limit
    assert counted.n_missing == len(values) - len(present)
    # The first and the last interval may reach infinity and beyond.
    inside = [~(present < a) & ~(present > b) for a, b in zip(low, high, strict=True)]
    assert [int(rows.sum()) for rows in inside] == counted.counts.tolist()
    assert (low[1:] > high[:-1]).all()
    if len(np.unique(present)) <= limit:
        np.testing.assert_array_equal(low, np.unique(present))
        np.testing.assert_array_equal(high, low)


def test_zeros_of_sparse_columns_are_counted():
    stored = ValueCounts.of([2.0, -1.0], 10, n_zeros=3)
    assert stored.intervals()[0].tolist() == [-1.0, 0.0, 2.0]
    assert stored.counts.tolist() == [1, 3, 1]


def test_intervals_of_many_values_are_small():
    """Bins from intervals have about the same numbers of rows as bins from all values."""
    values = np.random.default_rng(0).lognormal(sigma=2, size=100_000)
    edges = edges_of([values], [0], 64, limit=8192)
    _, n_bins, thresholds, _ = edges.state(0)
    assert n_bins == 64
    counts = np.bincount(np.searchsorted(-thresholds, -values, side="left"), minlength=64)
    np.testing.assert_allclose(counts, len(values) / 64, rtol=0.1)


def edges_of(columns, n_categories, max_bins, limit=8192):
    edges = _core.BinEdges()
    for values, n_codes in zip(columns, n_categories, strict=True):
        if n_codes:
            codes = values[~np.isnan(values)].astype(int)
            edges.add_codes(np.bincount(codes, minlength=n_codes).astype(float), max_bins)
        else:
            counted = ValueCounts.of(values, limit)
            low, high = (np.ascontiguousarray(ends[::-1]) for ends in counted.intervals())
            counts = np.ascontiguousarray(counted.counts[::-1].astype(float))
            edges.add_numeric(low, high, counts, max_bins)
    return edges


@quickly
@given(problems())
def test_bins_are_those_of_one_machine(problem):
    X, max_bins = problem.X[problem.learning], problem.settings.max_bins
    edges = edges_of(X.T, problem.n_categories, max_bins)
    for column, n_codes in enumerate(problem.n_categories):
        nominal, n_bins, thresholds, bin_of_code = edges.state(column)
        values = X[:, column]
        assert nominal == (n_codes > 0)
        if nominal:
            bins = reference.category_bins(values, int(n_codes), max_bins)
            assert bin_of_code.tolist() == np.where(bins < 0, n_bins, bins).tolist()
        else:
            present = values[~np.isnan(values)]
            assert thresholds.tolist() == reference.thresholds_of(values, max_bins)
            assert n_bins == (len(thresholds) + 1 if len(present) else 0)


# ---- sums of a partition -------------------------------------------------------------------

BITS = (20, 10, 17)  # weights are at most 100


def shard_of(problem: Problem, rows: np.ndarray, edges, X=None, first_row: int = 0):
    options = _core.GradientBoostingOptions()
    options.loss = problem.settings.loss
    options.sketch_size = 100
    options.seed = problem.options.get("seed", 0)
    order = np.arange(problem.n_outputs, dtype=np.int32)
    plan = _core.ShardPlan(problem.start, problem.output_weight, order, BITS, 1.0, options)
    Y = sparse.csr_array(problem.Y[rows])
    X = problem.X[rows] if X is None else X
    return _core.BoosterShard(
        as_columns(X),
        edges,
        as_label_rows(Y),
        problem.weights[rows].astype(np.float32),
        np.isin(rows, problem.held_out).astype(np.uint8),
        first_row,
        plan,
    )


def histograms_of(shard, edges, nodes):
    features = np.arange(len(edges), dtype=np.int32)
    n_bins = int((edges.n_bins() + 1).sum())
    out = np.zeros((len(nodes), n_bins, shard.width + 2), dtype=np.int64)
    shard.add_histograms(np.array(nodes, dtype=np.int64), features, out)
    return out


def bins_of(edges, X):
    """Return the bin of every cell, found one by one."""
    bins = np.zeros(X.shape, dtype=int)
    for column in range(X.shape[1]):
        nominal, n_bins, thresholds, bin_of_code = edges.state(column)
        for row, value in enumerate(X[:, column]):
            if np.isnan(value):
                bins[row, column] = n_bins
            elif nominal:
                bins[row, column] = bin_of_code[int(value)]
            else:
                bins[row, column] = sum(not value > threshold for threshold in thresholds)
    return bins


@quickly
@given(problems())
def test_histograms_are_sums_of_weighted_gradients(problem):
    learning = problem.learning
    edges = edges_of(problem.X[learning].T, problem.n_categories, problem.settings.max_bins)
    shard = shard_of(problem, np.arange(len(problem.X)), edges)
    shard.start_tree(0)
    found = histograms_of(shard, edges, [0])[0]
    weights = problem.weights.astype(np.float32).astype(float)
    margins = np.tile(problem.start, (len(problem.X), 1))
    G, _ = reference.gradients(problem.settings.loss, margins, problem.Y, weights)
    G *= np.sqrt(problem.output_weight)
    bins = bins_of(edges, problem.X)
    first = np.concatenate([[0], np.cumsum(edges.n_bins() + 1)])
    atol = len(learning) * (2.0**-20 + 2e-5)
    for column in range(problem.X.shape[1]):
        for b in range(first[column + 1] - first[column]):
            rows = learning[bins[learning, column] == b]
            sums = found[first[column] + b]
            np.testing.assert_allclose(
                sums[: problem.n_outputs] * 2.0**-20, G[rows].sum(axis=0), atol=atol
            )
            assert sums[-2] == len(rows)
            assert sums[-1] == np.rint(weights[rows] * 2**10).sum()


@quickly
@given(problems())
def test_sums_of_leaves_and_the_loss(problem):
    edges = edges_of(problem.X[problem.learning].T, problem.n_categories, 10)
    shard = shard_of(problem, np.arange(len(problem.X)), edges)
    shard.start_tree(0)
    out = np.zeros((1, 2, problem.n_outputs + 1), dtype=np.int64)
    shard.add_leaf_sums(np.zeros(1, dtype=np.int64), out)
    weights = problem.weights.astype(np.float32).astype(float)
    margins = np.tile(problem.start, (len(problem.X), 1))
    G, H = reference.gradients(problem.settings.loss, margins, problem.Y, weights)
    rows = problem.learning
    atol = len(rows) * (2.0**-17 + 2e-5)
    np.testing.assert_allclose(out[0, 0, :-1] * 2.0**-17, G[rows].sum(axis=0), atol=atol)
    np.testing.assert_allclose(out[0, 1, :-1] * 2.0**-17, H[rows].sum(axis=0), atol=atol)
    assert out[0, 0, -1] == len(rows)
    for held_out, some in ((False, rows), (True, problem.held_out)):
        whole, rest, weight = shard.loss(held_out)
        if weights[some].sum() > 0:
            expected = reference.loss(
                problem.settings.loss, margins[some], problem.Y[some], weights[some]
            )
            mean = (whole + rest * 2.0**-30) / (weight * 2.0**-10)
            # Weights of 0.001 are rounded to 10 bits.
            assert mean == pytest.approx(expected, rel=0.03)


@quickly
@given(problems(), st.integers(1, 5), st.booleans())
def test_sums_of_partitions_are_equal_to_the_last_bit(problem, n_parts, is_sparse):
    edges = edges_of(problem.X[problem.learning].T, problem.n_categories, 10)
    rows = np.arange(len(problem.X))

    def totals(parts):
        sums = 0
        for part in parts:
            X = sparse.csc_array(problem.X[part]) if is_sparse else None
            first = int(part[0]) if len(part) else 0
            shard = shard_of(problem, part, edges, X, first)
            shard.start_tree(3)
            if len(edges):
                shard.divide(
                    np.zeros(1, dtype=np.int64),
                    np.zeros(1, dtype=np.int32),
                    np.array([[3, 0, 0, 0]], dtype=np.uint64),
                    np.ones(1, dtype=np.int64),
                )
            sums = sums + histograms_of(shard, edges, [0, 1, 2])
        return sums

    whole = totals([rows])
    np.testing.assert_array_equal(totals(np.array_split(rows, n_parts)), whole)
    np.testing.assert_array_equal(whole[1] + whole[2], whole[0])


# ---- messages ------------------------------------------------------------------------------


@given(st.lists(st.tuples(*[st.integers(-(2**62), 2**62)] * 2), min_size=1, max_size=5))
def test_messages_lose_nothing(pairs):
    one, other = (np.array(side, dtype=np.int64) for side in zip(*pairs, strict=True))
    total = add_messages(Message.of(one), Message.of(other))
    np.testing.assert_array_equal(total.numbers.astype(np.int64), one + other)


def test_the_size_of_a_message_counts_all_that_were_added_up():
    one, other = Message.of(np.full(10, 100)), Message.of(np.full(10, 1000))
    assert (one.n_bytes, other.n_bytes) == (10, 20)
    assert add_messages(one, other).n_bytes == 10 + 20 + 20


def test_rows_are_drawn_by_their_number():
    drawn = _core.draw_rows(0, 10_000, 7, 0.3)
    assert abs(drawn.mean() - 0.3) < 0.02
    parts = [_core.draw_rows(first, 2_500, 7, 0.3) for first in range(0, 10_000, 2_500)]
    np.testing.assert_array_equal(np.concatenate(parts), drawn)
    assert (drawn != _core.draw_rows(0, 10_000, 8, 0.3)).any()
    assert _core.draw_rows(5, 10, 0, 1.0).all()
