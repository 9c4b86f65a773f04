"""Numeric targets: errors, leaves and predictions of multi-target regression."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ramify import _core
from ramify.apps.clus.data import Rows
from ramify.apps.clus.estimator import TargetKind
from ramify.apps.clus.models import Model
from ramify.apps.clus.targets.table import TableTarget, error_line, in_order, weights_text
from ramify.apps.clus.trees import node_values
from ramify.apps.clus.values import java_double, number, numbers
from ramify.data.rows import as_rows
from ramify.io.arff_columns import ArffFile
from ramify.trees.clus import ClusNumeric
from ramify.trees.tree_data import TableTargets
from ramify.trees.views import predict_tree

__all__ = [
    "NumericTarget",
]


Table = NDArray[np.float64]


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
        scale, origin = ClusNumeric().weigh_numbers(rows.y, rows.weights)
        return TableTargets(rows.y, self.weigh(scale), origin=origin, clus=True)

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
        scale = self.scale[0]
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
            lines.append(title)
            for name, errors in found.items():
                values = measure(errors)
                mean = float(in_order(values)) / len(values)
                lines.append(error_line(name, f"{numbers(values, 4)}: {number(mean, 4)}"))
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
