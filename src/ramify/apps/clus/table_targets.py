"""Targets in columns of the file, nominal and numeric: errors, leaves and predictions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from ramify import _core
from ramify._cached import cached_property
from ramify.apps.clus.data import Rows, nominal_column
from ramify.apps.clus.estimator import TargetKind, heuristic
from ramify.apps.clus.measures import LabelErrors
from ramify.apps.clus.models import Model
from ramify.apps.clus.settings import Settings
from ramify.apps.clus.trees import grown_as, node_rows, node_values
from ramify.apps.clus.values import java_double, number, numbers
from ramify.data.rows import as_rows, by_rows
from ramify.io.arff.columns import ArffFile
from ramify.trees.clus import ClusNumeric
from ramify.trees.targets import weigh_classes
from ramify.trees.tree_data import TableTargets
from ramify.trees.views import change_tree, predict_tree

_MOST_WEIGHTS = 10  # CLUS lists 6 weights, but not 14
_NOTHING = 1e-9  # CLUS takes a smaller weight for that of no row

Table = NDArray[np.float64]
AnyTable = TypeVar("AnyTable", bound="TableTarget")


@dataclass(frozen=True, kw_only=True)
class TableTarget:
    """One or several targets in columns of the file."""

    names: tuple[str, ...]  # the target attributes
    positions: tuple[int, ...]  # their positions in the file
    factors: Table  # their weights in the heuristic
    normalize: bool  # whether to divide by their variances or Gini indices
    # The weights of the targets; with `normalize`, those of all rows of the training file,
    # whatever part of them a model is grown on.
    scale: Table = field(default_factory=lambda: np.ones(1), repr=False)

    thresholds: ClassVar[tuple[float, ...]] = ()
    usual_pruning: ClassVar[str]

    @property
    def section(self) -> str:
        """The section of the settings about this kind of target."""
        return ""

    def is_known(self, y: Table) -> NDArray[np.bool_]:
        """Return which rows have a known target."""
        return np.asarray(~np.isnan(y).all(axis=1))

    def is_complete(self, y: Table) -> bool:
        """Return whether rows know all targets."""
        return not np.isnan(y).any()

    def pruning(self, problem: Any, *, after: bool = True) -> str:
        """Return the pruning method as CLUS prints it."""
        chosen = str(problem.settings.text("Tree", "PruningMethod"))
        unused = problem.switches.forest or not after
        return self.usual_pruning if chosen == "Default" and not unused else chosen

    def effective(self, settings: Settings) -> dict[tuple[str, str], str | None]:
        """Return the options that depend on the kind of target."""
        return {}

    def statistics(self, models: Sequence[Model]) -> list[str]:
        """Return further lines about the models."""
        return []

    def calculates_errors(self, settings: Settings) -> bool:
        """Return whether to evaluate the models."""
        return True

    def weighed(self: AnyTable, rows: Rows) -> AnyTable:
        """Return the target with the weights of its columns for the rows of the training file."""
        if not self.normalize:
            return replace(self, scale=self.factors)
        return replace(self, scale=self.factors * self.spreads(rows))

    def spreads(self, rows: Rows) -> Table:
        """Return 1 divided by the spread of each target."""
        raise NotImplementedError

    def truth(self, y: Table) -> Table:
        """Return the targets of rows."""
        return y


def error_line(name: str, text: str) -> str:
    """Return the line of a model in an error section."""
    return f"   {name:<14} : {text}"


def with_mean(values: Table) -> str:
    """Return the values of the targets and, if there are several, their mean."""
    if len(values) == 1:
        return numbers(values, 4)
    return f"{numbers(values, 4)}: {number(float(in_order(values)) / len(values), 4)}"


def weights_text(weights: Table) -> str:
    """Return the weights of the targets, or only their number if there are many."""
    return numbers(weights, 3) if len(weights) <= _MOST_WEIGHTS else f"({len(weights)})"


def in_order(values: Table) -> Table:
    """Sum columns from the first row to the last, as a loop does."""
    return np.asarray(np.cumsum(values, axis=0)[-1])


# ---- nominal targets: multi-label and multi-target classification ---------------------------


_BEFORE_AREAS = (
    "HammingLoss",
    "RankingLoss",
    "OneError",
    "Coverage",
    "AveragePrecision",
    "MLAccuracy",
    "MLPrecision",
    "MLRecall",
    "MLFOneMeasure",
    "SubsetAccuracy",
    "MacroPrecision",
    "MacroRecall",
    "MacroFOne",
    "MicroPrecision",
    "MicroRecall",
    "MicroFOne",
)
_AREAS = ("averageAUROC", "averageAUPRC", "weightedAUPRC", "pooledAUPRC")


@dataclass(frozen=True, kw_only=True)
class NominalTarget(TableTarget):
    """One or several nominal targets; predictions are weights of values, target by target."""

    usual_pruning = "C45"

    kind: TargetKind  # "multilabel" or "nominal"
    values: tuple[tuple[str, ...], ...]  # their values, in the order of CLUS
    threshold: float  # threshold of multi-label classification
    # Whether each tree of a forest votes for one value instead of dividing its vote.
    majority: bool = False
    gaps: tuple[bool, ...] = ()  # which targets some training rows do not know

    @property
    def is_multilabel(self) -> bool:
        """Whether the targets are labels."""
        return self.kind == "multilabel"

    @property
    def section(self) -> str:
        """The section of the settings about this kind of target."""
        return "Multilabel" if self.is_multilabel else ""

    @property
    def spans(self) -> list[slice]:
        """The columns of each target."""
        ends = np.cumsum([len(own) for own in self.values]).tolist()
        return [slice(end - len(own), end) for end, own in zip(ends, self.values, strict=True)]

    @property
    def n_columns(self) -> int:
        """The number of columns of a prediction."""
        return sum(len(own) for own in self.values)

    def weighed(self, rows: Rows) -> NominalTarget:
        """Return the target with the weights of its columns for the rows of the training file."""
        gaps = tuple(np.isnan(rows.y).any(axis=0).tolist())
        return replace(super().weighed(rows), gaps=gaps)

    def read(self, file: ArffFile) -> Table:
        """Return the codes of the targets of a file; NaN marks missing values."""
        columns = [
            nominal_column(file, at, own)
            for at, own in zip(self.positions, self.values, strict=True)
        ]
        return np.column_stack(columns)

    def effective(self, settings: Settings) -> dict[tuple[str, str], str | None]:
        """Return the options that depend on the kind of target."""
        found = super().effective(settings)
        if heuristic(settings, self.kind) in ("Gain", "GainRatio"):
            found["Tree", "FTest"] = None
        return found

    def statistics(self, models: Sequence[Model]) -> list[str]:
        """Return the thresholds of the labels."""
        if not self.is_multilabel:
            return []
        lines = ["MultiLabelThresholds:", "-" * 21]
        text = numbers([self.threshold] * len(self.names), 4, ", ")
        for model in models:
            if model.is_forest:
                trees = [f"Tree {at}: {text}" for at in range(1, len(model.trees) + 1)]
                lines += [model.name, *trees, ""]
            else:
                lines += [model.name, text, ""]
        return [*lines, ""]

    def describe(self, rows: Rows) -> TableTargets:
        """Return the targets of rows."""
        n_classes = np.array([len(own) for own in self.values], dtype=np.int32)
        return TableTargets(rows.y, self.scale, n_classes=n_classes, clus=True)

    def spreads(self, rows: Rows) -> Table:
        """Return 1 divided by the Gini index of each target."""
        return weigh_classes(rows.y, rows.weights, [len(own) for own in self.values])

    def ranking_measure(self, settings: Settings) -> tuple[str, Callable[[Table, Table], Table]]:
        """Return the title and the measures of the ranking RForest: all targets, then each."""
        if self.is_multilabel:

            def loss(truth: Table, columns: Table) -> Table:
                wrong = np.count_nonzero(self.codes(columns) != truth)
                return np.array([-(wrong / len(self.names)) / len(truth)])

            return "HammingLoss", loss

        def accuracy(truth: Table, columns: Table) -> Table:
            known = ~np.isnan(truth)
            hits = (self.codes(columns) == truth) & known
            found = hits.sum(axis=0) / known.sum(axis=0)
            return np.append(in_order(found) / len(found), found)

        return "Accuracy", accuracy

    def tuning_measure(self, settings: Settings) -> Callable[[Table, Table], float]:
        """Return the mean accuracy, which chooses among levels of the F-test."""

        def measure(truth: Table, columns: Table) -> float:
            known = ~np.isnan(truth)
            hits = (self.codes(columns) == truth) & known
            return float(in_order(hits.sum(axis=0) / known.sum(axis=0))) / len(self.names)

        return measure

    def with_totals(
        self, tree: _core.Tree, rows: Rows, weights: Table, inside: NDArray[np.int64]
    ) -> _core.Tree:
        """Return a tree whose leaves also have the weight of all values of each target.

        CLUS adds up these weights row by row, and divides by them. `weights`: of the rows `inside`
        that the tree was grown on.
        """
        is_leaf = tree.feature < 0
        leaf = np.cumsum(is_leaf) - 1
        totals = np.zeros((int(is_leaf.sum()), len(self.names)))
        if rows.has_missing or (weights != np.rint(weights)).any():
            for node, some, weight in node_rows(tree, rows.X, weights, inside):
                if is_leaf[node] and len(some):
                    known = ~np.isnan(rows.y[some])
                    totals[leaf[node]] = in_order(np.where(known, weight[:, None], 0.0))
        else:  # sums of whole numbers are exact in any order
            owner = np.repeat(np.arange(len(leaf)), np.diff(tree.value_indptr))
            sizes = [len(own) for own in self.values]
            target = np.repeat(np.arange(len(sizes)), sizes)[tree.value_label]
            own = is_leaf[owner]
            np.add.at(totals, (leaf[owner[own]], target[own]), tree.value[own])
        ends = np.repeat(tree.value_indptr[1:][is_leaf], len(self.names))
        labels = np.arange(self.n_columns, self.n_columns + len(self.names))
        return _with_values(tree, ends, np.tile(labels, len(totals)), totals.ravel())

    def predict(
        self, trees: Sequence[_core.Tree], X: Any, *, is_forest: bool, voters: Any = None
    ) -> Table:
        """Return the weights of a tree, or the sums of the shares of the trees of a forest.

        The last columns have the weights of all values of each target: of the leaf, the sums over
        the leaves of a forest, 1 for out-of-bag votes. CLUS divides by them in some errors.
        """
        width = self._width(trees[0])
        found = np.zeros((X.shape[0], width))
        if not is_forest:
            predict_tree(trees[0], X, found, clus=True)
            return found
        for at, tree in enumerate(trees):
            rows = np.ones(len(found), dtype=bool) if voters is None else voters[at] > 0
            if rows.any():
                columns = np.zeros((int(rows.sum()), width))
                predict_tree(tree, by_rows(X)[rows], columns, clus=True)
                found[rows] += self._vote(columns, is_out_of_bag=voters is not None)
        if voters is not None:
            found[:, self.n_columns :] = 1.0
        return found

    def _totals(self, columns: Table) -> Table:
        return columns[:, self.n_columns : self.n_columns + len(self.names)]

    def _width(self, tree: _core.Tree) -> int:
        """Return the number of columns that a tree predicts."""
        least = self.n_columns + len(self.names)
        return max(least, int(tree.value_label.max(initial=0)) + 1)

    def with_kept(self, pruned: _core.Tree, tree: _core.Tree, rows: Rows) -> _core.Tree:
        """Return a pruned tree that predicts as before, if the weights of a leaf have changed.

        CLUS computes predictions when a tree is grown. Where a subtree has replaced the node above
        it, nodes keep them, whatever rows they have got. Such leaves have further columns, which
        mark the predicted values.
        """
        origin = grown_as(pruned, tree)[0]
        wanted = set(origin.values())
        grown: dict[int, NDArray[np.int64]] = {}
        for node, some, weight in node_rows(tree, rows.X, rows.weights):
            if node in wanted:
                grown[node] = self.codes(self._counts(rows.y[some], weight)[None, :])[0]
        starts = np.array([span.start for span in self.spans])
        ends: list[int] = []
        label: list[int] = []
        for leaf in sorted(origin):
            own = node_values(pruned, leaf, self._width(pruned))[None, :]
            before = grown[origin[leaf]]
            if (before != self.codes(own)[0]).any():
                ends += [int(pruned.value_indptr[leaf + 1])] * len(starts)
                label += (self.n_columns + len(starts) + starts + before).tolist()
        marks = np.ones(len(label))
        return _with_values(pruned, np.array(ends, int), np.array(label, int), marks)

    def _counts(self, y: Table, weight: Table) -> Table:
        """Return the weight of each value of each target."""
        counts = []
        for column, own in zip(y.T, self.values, strict=True):
            known = ~np.isnan(column)
            counts.append(np.bincount(column[known].astype(np.int64), weight[known], len(own)))
        return np.concatenate(counts)

    def _kept(self, columns: Table) -> tuple[NDArray[np.bool_], Table]:
        """Return which rows lie in a leaf that predicts as before, and the marks of its values."""
        marks = np.zeros((len(columns), self.n_columns))
        given = columns[:, self.n_columns + len(self.names) :]
        marks[:, : given.shape[1]] = given
        return np.asarray(marks[:, self.spans[0]].max(axis=1) == 1.0), marks

    def _vote(self, columns: Table, *, is_out_of_bag: bool) -> Table:
        """Return what a tree adds to the columns of its forest."""
        totals = self._totals(columns)
        if self.majority:
            return np.hstack([self.votes(columns), np.ones_like(totals)])
        # CLUS divides out-of-bag votes by the sum of their values.
        shares = self.shares(columns) if is_out_of_bag else self._proportions(columns)
        return np.hstack([shares, totals])

    def _proportions(self, columns: Table) -> Table:
        """Return columns divided by the last columns, or by their sum where these are 0."""
        totals = np.repeat(self._totals(columns), [len(own) for own in self.values], axis=1)
        known = totals > _NOTHING
        divided = columns[:, : self.n_columns] / np.where(known, totals, 1.0)
        return np.where(known, divided, self.shares(columns))

    def votes(self, columns: Table) -> Table:
        """Return 1 for the predicted value of each target, 0 for other values."""
        starts = np.array([span.start for span in self.spans])
        found = np.zeros((len(columns), self.n_columns))
        np.put_along_axis(found, self.codes(columns) + starts, 1.0, axis=1)
        return found

    def shares(self, columns: Table) -> Table:
        """Return columns divided by the sum of each target."""
        found = np.zeros((len(columns), self.n_columns))
        for span in self.spans:
            total = columns[:, span].cumsum(axis=1)[:, -1:]
            found[:, span] = columns[:, span] / np.where(total > 0, total, 1.0)
        return found

    def codes(self, columns: Table) -> NDArray[np.int64]:
        """Return the predicted codes: the first value with the largest weight."""
        found = np.column_stack([columns[:, span].argmax(axis=1) for span in self.spans])
        if columns.shape[1] > self.n_columns + len(self.names):
            kept, marks = self._kept(columns)
            found[kept] = self.codes(marks[kept])
        return found

    def squares(self, y: Table, weight: Table, targets: Any) -> Table:
        """Return the mean over the targets of weight times Gini index, and that of each target."""
        found = np.zeros(len(self.names))
        for j, own in enumerate(self.values):
            known = ~np.isnan(y[:, j])
            counts = np.bincount(y[known, j].astype(np.int64), weight[known], len(own))
            total = float(in_order(weight[known])) if known.any() else 0.0
            found[j] = (1 - in_order((counts / total) ** 2)) * total if total > _NOTHING else 0.0
        return np.append(in_order(found) / len(found), found)

    def leaf_of(self, model: Model) -> Callable[[_core.Tree, int], str]:
        """Return the function that writes the leaves of a model."""

        def leaf(tree: _core.Tree, node: int) -> str:
            weights = node_values(tree, node, self._width(tree))[None, :]
            codes = self.codes(weights)[0].tolist()
            names = [own[code] for own, code in zip(self.values, codes, strict=True)]
            counts = [
                java_double(weights[0, span][code])
                for span, code in zip(self.spans, codes, strict=True)
            ]
            total = number(float(tree.weight[node]))
            return f"[{','.join(names)}] [{','.join(counts)}]: {total}"

        return leaf

    def truth_columns(self) -> list[tuple[str, str]]:
        """Return the attributes of the targets in a prediction file."""
        return [
            (name, f"{{{','.join(own)}}}")
            for name, own in zip(self.names, self.values, strict=True)
        ]

    def truth_cells(self, y: Table) -> list[list[str]]:
        """Return the cells of the targets in a prediction file."""
        return [
            [
                "?" if np.isnan(code) else own[int(code)]
                for own, code in zip(self.values, row, strict=True)
            ]
            for row in y.tolist()
        ]

    def prediction_columns(self, model: str) -> list[tuple[str, str]]:
        """Return the attributes of a model in a prediction file."""
        values = [(f"{model}-p-{name}", kind) for name, kind in self.truth_columns()]
        weights = [
            (f"{model}-p-{name}-{value}", "numeric")
            for name, own in zip(self.names, self.values, strict=True)
            for value in own
        ]
        return values + weights

    def prediction_cells(self, columns: Table) -> list[list[str]]:
        """Return the cells of a model in a prediction file."""
        codes = self.codes(columns).tolist()
        return [
            [own[code] for own, code in zip(self.values, row, strict=True)]
            + [java_double(weight) for weight in weights]
            for row, weights in zip(codes, columns[:, : self.n_columns].tolist(), strict=True)
        ]

    def errors(
        self, truth: Table, predicted: Mapping[str, Table], folds: Sequence[int]
    ) -> list[str]:
        """Return the lines of an error section."""
        lines = ["Classification Error"]
        for name, columns in predicted.items():
            lines += [f"   {name}: ", *self._confusion_lines(truth, self.codes(columns))]
        scale = self.scale
        lines.append(
            "Weighted mean squared error (MSE) for Nominal Attributes "
            f"(Weights {weights_text(scale)})"
        )
        for name, columns in predicted.items():
            values = self._squared(truth, self._proportions(columns)) * scale
            lines.append(error_line(name, with_mean(values)))
        if self.is_multilabel:
            return lines + self._label_lines(truth, predicted, (*_BEFORE_AREAS, *_AREAS))
        if self.values == (("1", "0"),):
            return lines + self._label_lines(truth, predicted, _AREAS[:2])
        return lines

    def _confusion_lines(self, truth: Table, codes: NDArray[np.int64]) -> list[str]:
        lines: list[str] = []
        for j, (name, own) in enumerate(zip(self.names, self.values, strict=True)):
            # Rows with an unknown value have a line of their own, if training rows had any.
            values = (*own, "?") if self.gaps[j] else own
            table = np.zeros((len(own) + 1, len(own) + 1), dtype=np.int64)
            real = np.where(np.isnan(truth[:, j]), len(own), truth[:, j]).astype(np.int64)
            np.add.at(table, (real, codes[:, j]), 1)
            shown = table[: len(values), : len(values)]
            lines += [f"   Attribute: {name}", *confusion_lines(shown, values, len(own)), ""]
            if j < len(self.names) - 1:
                lines.append("")
        return lines

    def _squared(self, truth: Table, shares: Table) -> Table:
        found = []
        for j, span in enumerate(self.spans):
            # No value is right for a row with an unknown one.
            hit = np.arange(span.stop - span.start) == truth[:, j][:, None]
            errors = ((shares[:, span] - hit) ** 2).ravel()
            found.append(float(in_order(errors)) / len(truth))
        return np.array(found)

    def _label_lines(
        self, truth: Table, predicted: Mapping[str, Table], measures: Sequence[str]
    ) -> list[str]:
        held = truth == 0  # code 0 is the value 1
        known = ~np.isnan(truth)
        whole = (len(held),)
        first = [span.start for span in self.spans]
        found = {
            name: LabelErrors(
                held,
                self.shares(columns)[:, first],
                whole,
                self.threshold,
                self._proportions(columns)[:, first],
                self.codes(columns) == 0 if self._kept(columns)[0].any() else None,
                None if known.all() else known,
            )
            for name, columns in predicted.items()
        }
        n_labels = held.sum(axis=1)
        cardinality = number(float(n_labels[n_labels > 0].mean()), 4) if held.any() else "NaN"
        lines: list[str] = []
        for measure in measures:
            lines.append(measure)
            for name, errors in found.items():
                text = errors.text(measure, 6 if measure in _AREAS else 4)
                if measure == "Coverage":
                    text += f"(label cardinality: {cardinality})"
                lines.append(error_line(name, text))
        return lines


def _with_values(
    tree: _core.Tree, ends: NDArray[np.int64], label: NDArray[np.int64], value: Table
) -> _core.Tree:
    """Return a tree with values inserted at the ends of nodes, which increase."""
    grown = np.searchsorted(ends, tree.value_indptr, side="right")
    return change_tree(
        tree,
        value=np.insert(tree.value, ends, value),
        value_label=np.insert(tree.value_label, ends, label).astype(np.int32),
        value_indptr=(tree.value_indptr + grown).astype(tree.value_indptr.dtype),
    )


def confusion_lines(
    table: NDArray[np.int64], values: Sequence[str], n_known: int | None = None
) -> list[str]:
    """Return a confusion matrix with its accuracy and association, as CLUS prints it.

    Only the first `n_known` values count in these figures.
    """
    columns = table.sum(axis=0)
    widths = [
        max(len(value), *(len(str(count)) for count in [*table[:, j].tolist(), int(columns[j])]))
        for j, value in enumerate(values)
    ]
    first = max(9, *(len(value) for value in values))
    total = int(table.sum())
    last = len(str(total))

    def row(title: str, cells: Sequence[Any], end: str) -> str:
        shown = [f"{cell!s:>{width}}" for cell, width in zip(cells, widths, strict=True)]
        return f"     {title:>{first}} | {' | '.join(shown)} |{end}"

    body = [
        row(value, table[i].tolist(), f" {int(table[i].sum()):>{last}}")
        for i, value in enumerate(values)
    ]
    line = "     " + "-" * (len(body[0]) - 5)
    known = table[:n_known, :n_known]
    n_rows = int(known.sum())
    accuracy = number(float(np.trace(known)) / n_rows) if n_rows else "NaN"
    return [
        row("REAL\\PRED", values, ""),
        line,
        *body,
        line,
        row("", columns.tolist(), f" {total:>{last}}"),
        f"     Accuracy: {accuracy}",
        f"     Cramer's coefficient: {number(cramer(known, total))}",
    ]


def cramer(table: NDArray[np.int64], n_rows: int | None = None) -> float:
    """Return Cramer's coefficient of association of a confusion matrix.

    CLUS expects as many rows in a cell as if `n_rows` were divided among all cells.

    >>> import numpy as np
    >>> cramer(np.array([[5, 0], [0, 5]])), cramer(np.array([[5, 0], [5, 0]]))
    (1.0, 0.0)
    """
    total = table.sum()
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / max(n_rows or total, 1)
    used = expected > 0
    chi = float(((table[used] - expected[used]) ** 2 / expected[used]).sum())
    n_free = min(table.shape) - 1
    return float(np.sqrt(chi / (total * n_free))) if total and n_free else 0.0


# ---- numeric targets: multi-target regression -----------------------------------------------


class NumericTarget(TableTarget):
    """One or several numeric targets."""

    kind: ClassVar[TargetKind] = "numeric"
    usual_pruning = "M5"

    def read(self, file: ArffFile) -> Table:
        """Return the targets of the rows of a file; NaN marks missing values."""
        if file.is_sparse:
            return np.asarray(file.sparse_columns(list(self.positions)).toarray())
        return np.column_stack([file.dense_column(at) for at in self.positions])

    def describe(self, rows: Rows) -> TableTargets:
        """Return the targets of rows."""
        origin = np.zeros(len(self.names))
        return TableTargets(rows.y, self.scale, origin=origin, clus=True)

    def spreads(self, rows: Rows) -> Table:
        """Return 1 divided by the variance of each target."""
        return ClusNumeric().weigh_numbers(rows.y, rows.weights)[0]

    def ranking_measure(self, settings: Settings) -> tuple[str, Callable[[Table, Table], Table]]:
        """Return the title and the measures of the ranking RForest: all targets, then each."""

        def measure(truth: Table, columns: Table) -> Table:
            found = np.sqrt(NumericErrors(truth, columns).squared)
            return -np.append(in_order(found) / len(found), found)

        return "Root mean squared error (RMSE)", measure

    def tuning_measure(self, settings: Settings) -> Callable[[Table, Table], float]:
        """Return minus the mean RMSE, which chooses among levels of the F-test."""

        def measure(truth: Table, columns: Table) -> float:
            squared = NumericErrors(truth, columns).squared
            return -float(in_order(np.sqrt(squared))) / len(squared)

        return measure

    def predict(
        self, trees: Sequence[_core.Tree], X: Any, *, is_forest: bool, voters: Any = None
    ) -> Table:
        """Return the mean prediction of trees."""
        columns = np.zeros((X.shape[0], len(self.names)))
        if not is_forest:
            predict_tree(trees[0], X, columns, clus=True)
        else:
            _core.vote(list(trees), as_rows(X), columns, True, 1, voters)
        return columns

    def squares(self, y: Table, weight: Table, targets: Any) -> Table:
        """Return the mean over the targets of the sum of squares, and that of each target."""
        known = ~np.isnan(y)
        weights = np.where(known, weight[:, None], 0.0)
        weighted = weights * np.where(known, y, 0.0)
        total = in_order(weights)
        sums = in_order(weighted)
        squares = in_order(weighted * np.where(known, y, 0.0))
        found = squares - sums * sums / np.where(total > 0, total, 1.0)
        return np.append(in_order(found) / len(found), found)

    def leaf_of(self, model: Model) -> Callable[[_core.Tree, int], str]:
        """Return the function that writes the leaves of a model."""

        def leaf(tree: _core.Tree, node: int) -> str:
            values = node_values(tree, node, len(self.names))
            return f"{numbers(values)}: {number(float(tree.weight[node]))}"

        return leaf

    def truth_columns(self) -> list[tuple[str, str]]:
        """Return the attributes of the targets in a prediction file."""
        return [(name, "numeric") for name in self.names]

    def truth_cells(self, y: Table) -> list[list[str]]:
        """Return the cells of the targets in a prediction file."""
        return [["?" if v != v else java_double(v) for v in row] for row in y.tolist()]  # noqa: PLR0124

    def prediction_columns(self, model: str) -> list[tuple[str, str]]:
        """Return the attributes of a model in a prediction file."""
        return [(f"{model}-p-{name}", "numeric") for name in self.names]

    def prediction_cells(self, columns: Table) -> list[list[str]]:
        """Return the cells of a model in a prediction file."""
        return [[java_double(value) for value in row] for row in columns.tolist()]

    def errors(
        self, truth: Table, predicted: Mapping[str, Table], folds: Sequence[int]
    ) -> list[str]:
        """Return the lines of an error section."""
        found = {name: NumericErrors(truth, columns) for name, columns in predicted.items()}
        scale = self.scale
        weights = weights_text(scale)
        lines: list[str] = []
        measures: tuple[tuple[str, Callable[[NumericErrors], Table]], ...] = (
            ("Mean absolute error (MAE)", lambda e: e.absolute),
            ("Mean squared error (MSE)", lambda e: e.squared),
            ("Root mean squared error (RMSE)", lambda e: np.sqrt(e.squared)),
            (
                f"Weighted root mean squared error (RMSE) (Weights {weights})",
                lambda e: np.sqrt(e.squared * scale),
            ),
            ("Root Relative Squared Error (RRMSE)", lambda e: e.relative),
        )
        for title, measure in measures:
            if title.startswith("Weighted") and not (self.normalize or (self.factors != 1).any()):
                continue  # CLUS leaves out weights that the settings do not ask for
            lines.append(title)
            for name, errors in found.items():
                values = measure(errors)
                lines.append(error_line(name, with_mean(values)))
        lines.append("Pearson correlation coefficient")
        for name, errors in found.items():
            r = errors.correlation
            mean = float(in_order(r * r)) / len(r)
            lines.append(error_line(name, f"{numbers(r, 4)}, Avg r^2: {number(mean, 4)}"))
        return lines


@dataclass(frozen=True)
class NumericErrors:
    """The errors of each target; rows whose target is missing do not count."""

    truth: Table
    predicted: Table

    @cached_property
    def _parts(self) -> list[tuple[Table, Table]]:
        known = ~np.isnan(self.truth)
        return [
            (self.truth[known[:, j], j], self.predicted[known[:, j], j])
            for j in range(self.truth.shape[1])
        ]

    @property
    def absolute(self) -> Table:
        """Mean absolute errors."""
        return np.array([in_order(np.abs(y - p)) / len(y) for y, p in self._parts])

    @cached_property
    def squared(self) -> Table:
        """Mean squared errors."""
        return np.array([in_order((y - p) ** 2) / len(y) for y, p in self._parts])

    @property
    def relative(self) -> Table:
        """Errors relative to the mean of the evaluated rows."""
        found = []
        for y, p in self._parts:
            total = in_order(y)
            spread = in_order(y * y) - total * total / len(y)
            found.append(np.sqrt(in_order((y - p) ** 2) / spread))
        return np.array(found)

    @property
    def correlation(self) -> Table:
        """Pearson correlations from sums, as in CLUS; 0 if a variance is not positive."""
        found = []
        for y, p in self._parts:
            n = len(y)
            sum_y, sum_p = float(in_order(y)), float(in_order(p))
            shared = float(in_order(y * p)) - sum_y * sum_p / n
            spread_y = float(in_order(y * y)) - sum_y * sum_y / n
            spread_p = float(in_order(p * p)) - sum_p * sum_p / n
            positive = spread_y > 0 and spread_p > 0
            spread = np.sqrt(spread_y) * np.sqrt(spread_p) if positive else 1.0
            found.append(shared / spread if positive else 0.0)
        return np.array(found)
