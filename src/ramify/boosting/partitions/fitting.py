"""Learning a boosted model from partitions."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ramify import _core
from ramify._parallel import count_threads
from ramify.boosting.outputs import (
    loss_of_sets,
    start_from_sums,
    weigh_outputs,
)
from ramify.boosting.partitions.counting import (
    Counts,
    count_partition,
    find_label_sets,
)
from ramify.boosting.partitions.describing import (
    Reading,
    ValueCounts,
    columns_to_complete,
    describe_partition,
    exponent_of,
    merge_descriptions,
)
from ramify.boosting.partitions.growing import (
    BinnedTree,
    Growth,
    describe_tree,
    grow_tree,
)
from ramify.boosting.partitions.shards import Message, Request, ShardPlan
from ramify.boosting.rounds import learn_rounds
from ramify.boosting.stopping import Course
from ramify.decision.best_sets import Answers
from ramify.labels.formats import IndicatorFormat
from ramify.trees.criteria import find_label_weights

_SKETCH_BITS = 20  # after the point, for gradients of rows of mean weight
_MAX_MORE_BITS = 8  # for rows of other weights


class Partitions(Protocol):
    """Where partitions are: in this process or on a cluster."""

    def map(self, function: Callable[..., Any], *args: Any) -> list[Any]:
        """Return function(part, *args) for all partitions, in their order."""

    def add_up(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return the sum of function(part, *args) over all partitions, added in their order."""

    def build(self, reading: Reading, plan: ShardPlan) -> None:
        """Make a shard of every partition."""

    def ask(self, request: Request) -> Message:
        """Return the sum of the answers of all shards."""

    def add_tree(self, record: dict[str, NDArray[Any]]) -> None:
        """Send the latest tree to all shards, no later than with the next request."""


def fit_partitions(model: Any, partitions: Partitions) -> None:
    """Fit a `PCTGradientBoostingClassifier` to partitions.

    The model does not depend on the number of partitions, only on the rows and their order.

    `model`: has valid parameters and the attribute `_seed`; receives the fitted attributes.
    """
    _check_supported(model)
    reader = copy(model)
    descriptions = partitions.map(describe_partition, model)
    incomplete = columns_to_complete(model, descriptions)
    if incomplete:
        descriptions = partitions.map(describe_partition, model, incomplete)
    reading = merge_descriptions(reader, descriptions)
    reading = _choose_loss(model, partitions, reading)
    if model._holds_out(reading.n_rows):
        reading = replace(
            reading, held_out_share=float(model.validation_fraction), seed=int(model._seed)
        )
    counts = partitions.add_up(count_partition, reading)
    _set_attributes(model, reading, counts)
    if not reading.held_out_share:
        _boost(model, partitions, reading, counts, int(model.max_iter))
        return
    n_learning, _, n_held = counts.rows.tolist()
    if not (n_learning and n_held):
        raise ValueError(
            "validation_fraction must leave rows for both training and validation, got "
            f"{model.validation_fraction!r}, which selects {n_held} of {reading.n_rows} rows. "
            "Pass another fraction, or set early_stopping=False."
        )
    _boost(model, partitions, reading, counts, int(model.max_iter))
    if model.refit:
        scores = model.validation_score_
        reading = replace(reading, held_out_share=0.0)
        counts = partitions.add_up(count_partition, reading)
        _boost(model, partitions, reading, counts, len(model.trees_))
        model.validation_score_ = scores


def _check_supported(model: Any) -> None:
    if model.warm_start:
        raise ValueError(
            "warm_start must be False if X is a dask collection, got True. Learn all rounds in "
            "one call."
        )
    if model.early_stopping and model.scoring != "loss":
        raise ValueError(
            "scoring must be 'loss' if X is a dask collection, got "
            f"{model.scoring!r}: other scores need all held-out rows in one place. Set "
            "scoring='loss' or early_stopping=False."
        )


def _choose_loss(model: Any, partitions: Partitions, reading: Reading) -> Reading:
    if model.loss == "logistic":
        return reading
    always = model.loss == "softmax" or reading.format.single_label
    found = partitions.add_up(find_label_sets, reading, always)
    loss = loss_of_sets(model.loss, found.sets, reading.n_rows, single_label=always)
    return replace(reading, loss=loss, label_sets=found.sets if loss == "softmax" else None)


def _set_attributes(model: Any, reading: Reading, counts: Counts) -> None:
    """Set the attributes that describe X and y."""
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(reading.estimator, name):
            setattr(model, name, getattr(reading.estimator, name))
    model.schema_ = reading.schema
    model.hierarchy_ = reading.hierarchy
    model.format_ = reading.format
    model.classes_ = reading.format.classes
    kind = "path" if reading.format.single_label else Answers.kind_of(*counts.kinds.tolist())
    model._keep_answers(Answers(kind, counts.ends > 0 if kind == "path" else None))
    if reading.target_names and not isinstance(reading.format, IndicatorFormat):
        model.target_names_ = np.array(reading.target_names, dtype=object)
    model.loss_ = reading.loss
    if reading.label_sets is not None:
        model.label_sets_ = reading.label_sets


def _boost(
    model: Any, partitions: Partitions, reading: Reading, counts: Counts, n_rounds: int
) -> None:
    """Learn the trees and set their attributes."""
    n_learning = int(counts.rows[0])
    unit = 2.0**-reading.weight_bits
    total = int(counts.rows[1]) * unit
    sums = np.asarray(counts.output_weights * unit, dtype=np.float64)
    model.baseline_ = start_from_sums(reading.loss, sums, total, n_learning)
    options = model._options(n_learning, 0)
    plan = _plan(model, reading, counts, options)
    partitions.build(reading, plan)
    growth = Growth(
        plan.edges,
        plan.bits,
        options.max_depth,
        options.max_leaf_nodes,
        options.min_samples_leaf,
        options.l2_regularization,
        count_threads(model.n_jobs),
    )
    learner = _Learner(partitions, growth, plan, options, _usable(plan.edges, counts))
    trees = _core.BoostedTrees(len(plan.order), reading.estimator.n_features_in_)
    course = None
    if reading.held_out_share:
        course = Course(
            lambda: -learner.held_out_loss(len(trees), unit),
            int(model.n_iter_no_change),
            float(model.tol),
            int(model.score_every),
        )
        course.record()
    learn_rounds(learner, trees, n_rounds, course, verbose=bool(model.verbose), note=learner.write)
    if course is not None:
        trees.truncate(course.rounds_to_keep())
    model.validation_score_ = np.array([] if course is None else course.scores, dtype=np.float64)
    model.trees_ = trees


def _plan(model: Any, reading: Reading, counts: Counts, options: Any) -> ShardPlan:
    unit = 2.0**-reading.weight_bits
    output_weights = weigh_outputs(_label_weights(model, counts, unit), reading.label_sets)
    n = float(counts.rows[0])
    with_output = counts.outputs.astype(np.float64)
    spread = output_weights * with_output * (n - with_output)
    order = np.argsort(-spread, kind="stable").astype(np.int32)
    # Gradients of a row of mean weight have 20 bits after the point; the largest fit 31 bits.
    largest = reading.max_weight * np.sqrt(output_weights.max())
    ratio = reading.max_weight * n / (int(counts.rows[1]) * unit)
    more = min(_MAX_MORE_BITS, max(0, int(np.ceil(np.log2(ratio)))))
    sketch_bits = _SKETCH_BITS + more - exponent_of(largest)
    names = ("loss", "sketch_size", "seed", "n_threads")
    return ShardPlan(
        _find_edges(counts, int(model.max_bins)),
        model.baseline_.astype(np.float64),
        output_weights,
        order,
        (sketch_bits, reading.weight_bits, reading.leaf_bits),
        float(model.subsample),
        {name: getattr(options, name) for name in names},
    )


def _label_weights(model: Any, counts: Counts, unit: float) -> NDArray[np.float64]:
    factors = model.label_weight
    if isinstance(factors, str):  # "balanced"
        sums = counts.label_weights * unit
        total = int(counts.rows[1]) * unit
        shares = total / (len(sums) * np.where(sums > 0, sums, 1.0))
        factors = np.where(sums > 0, shares, 0.0)
    return find_label_weights(model.hierarchy_, model.w0, model.weighting, factors)


def _find_edges(counts: Counts, max_bins: int) -> _core.BinEdges:
    edges = _core.BinEdges()
    for values in counts.values:
        if isinstance(values, ValueCounts):
            low, high = values.intervals()
            edges.add_numeric(
                np.ascontiguousarray(low[::-1]),
                np.ascontiguousarray(high[::-1]),
                np.ascontiguousarray(values.counts[::-1].astype(np.float64)),
                max_bins,
            )
        else:
            edges.add_codes(values[:-1].astype(np.float64), max_bins)
    return edges


def _usable(edges: _core.BinEdges, counts: Counts) -> NDArray[np.int32]:
    """Return the features that allow a test: several bins, or one bin and missing values."""
    missing = np.array(
        [
            values.n_missing if isinstance(values, ValueCounts) else values[-1]
            for values in counts.values
        ]
    )
    n_bins = edges.n_bins()
    return np.flatnonzero((n_bins > 1) | ((n_bins == 1) & (missing > 0))).astype(np.int32)


class _Learner:
    """Learns trees, one per round."""

    def __init__(
        self,
        partitions: Partitions,
        growth: Growth,
        plan: ShardPlan,
        options: Any,
        usable: NDArray[np.int32],
    ) -> None:
        self._partitions = partitions
        self._growth = growth
        self._plan = plan
        self._options = options
        self._usable = usable
        self.n_bytes: list[int] = []

    def _ask(self, request: Request) -> NDArray[np.int64]:
        message = self._partitions.ask(request)
        self.n_bytes[-1] += message.n_bytes
        return message.numbers.astype(np.int64)

    def learn(self, model: _core.BoostedTrees) -> None:
        """Append one tree to the model."""
        number = len(model)
        self.n_bytes.append(0)
        features = _core.choose_features(
            self._usable, self._options.n_sampled_features, self._options.seed, number
        )

        def count(tree: BinnedTree, nodes: list[int]) -> NDArray[np.int64]:
            wanted = np.array(nodes, dtype=np.int64)
            return self._ask(Request("histograms", number, tree.divisions(), wanted, features))

        tree = grow_tree(self._growth, features, count)
        sums = self._ask(Request("leaves", number, tree.divisions(), tree.leaves))
        values, weights = self._find_values(sums)
        record = tree.record(values)
        self._partitions.add_tree(record)
        self.n_bytes[-1] += sum(array.nbytes for array in record.values())
        by_output = np.empty_like(values)
        by_output[:, self._plan.order] = values
        model.append(describe_tree(tree, self._plan.edges, by_output, weights))

    def _find_values(
        self, sums: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
        """Return the values of leaves, one Newton step per output, and their weights."""
        _, weight_bits, leaf_bits = self._plan.bits
        gradients = np.ldexp(sums[:, 0, :-1].astype(np.float64), -leaf_bits)
        curvatures = np.ldexp(sums[:, 1, :-1].astype(np.float64), -leaf_bits)
        steps = -gradients / np.maximum(curvatures + self._options.l2_regularization, 1e-12)
        weights = np.ldexp(sums[:, 1, -1].astype(np.float64), -weight_bits)
        return np.asarray(self._options.learning_rate * steps, dtype=np.float32), weights

    def held_out_loss(self, n_trees: int, unit: float) -> float:
        """Return the mean loss of the held-out rows."""
        if not self.n_bytes:
            self.n_bytes.append(0)
        whole, rest, weight = self._ask(Request("loss", n_trees)).tolist()
        return float((whole + rest * 2.0**-30) / max(weight * unit, np.finfo(float).tiny))

    def write(self) -> str:
        """Return the size of the messages of the latest round, for the progress bar."""
        return f"{self.n_bytes[-1] / 1e6:.3g} MB" if self.n_bytes else ""
