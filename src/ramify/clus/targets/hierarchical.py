"""Hierarchical targets: learning, errors, leaves and predictions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify._base.features import csr_parts
from ramify.clus.curves import Counts, area, count_steps, precision_at
from ramify.clus.models import Model
from ramify.clus.numbers import java_double, number, numbers
from ramify.clus.settings import Settings
from ramify.clus.targets.hierarchy import ClusHierarchy
from ramify.clus.targets.label_errors import LabelErrors
from ramify.io.arff_columns import ArffFile
from ramify.tree.plan import predict_tree

__all__ = ["HierarchicalErrors", "HierarchicalTarget"]

Scores = NDArray[np.float64]


@dataclass(frozen=True)
class HierarchicalTarget:
    """A hierarchical target.

    Attributes
    ----------
    labels : ClusHierarchy
        The hierarchy.
    evaluated : ndarray of bool
        Which labels are evaluated (EvalClasses), in the order of CLUS.
    recalls : tuple of float
        Recalls at which to report the precision.
    thresholds : tuple of float
        Thresholds of the models that predict label sets, in percent.
    single_label : bool
        Whether prediction files hold the best label without children instead of all scores.
    """

    labels: ClusHierarchy
    evaluated: NDArray[np.bool_]
    recalls: tuple[float, ...] = ()
    thresholds: tuple[float, ...] = ()
    single_label: bool = False

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return len(self.labels.labels)

    def read(self, file: ArffFile) -> sparse.csr_array[np.int32]:
        """Return the labels of the rows of a file."""
        return self.labels.read(file)

    def is_known(self, y: sparse.csr_array[np.int32]) -> NDArray[np.bool_]:
        """Return which rows have labels."""
        return np.diff(y.indptr) > 0

    section = "Hierarchical"

    def heuristic(self, settings: Settings) -> str:
        """Return the heuristic in effect."""
        return "VarianceReduction"

    def pruning(self, problem: Any, *, after: bool = True) -> str:
        """Return the pruning method as CLUS prints it."""
        chosen = str(problem.settings.text("Tree", "PruningMethod"))
        tuned = len(problem.settings.numbers("Tree", "FTest")) > 1
        pruned = problem.prune is not None and not tuned
        kept = problem.switches.forest or not after or pruned or self.thresholds
        return chosen if chosen != "Default" or kept else "None"

    def statistics(self, models: Sequence[Model]) -> list[str]:
        """Return further lines about the models."""
        return []

    def calculates_errors(self, settings: Settings) -> bool:
        """Return whether to evaluate the models."""
        return settings.yes_no("Hierarchical", "CalculateErrors")

    def tuning_measure(self, settings: Settings) -> Callable[[Any, Scores], float]:
        """Return the measure that chooses among levels of the F-test; higher is better."""
        names = ("AverageAUROC", "AverageAUPRC", "WeightedAverageAUPRC", "PooledAUPRC")
        at = names.index(settings.text("Hierarchical", "OptimizeErrorMeasure"))

        def measure(y: Any, scores: Scores) -> float:
            return HierarchicalErrors(self.truth(y), scores, self.evaluated).areas[at]

        return measure

    def effective(self, settings: Settings) -> dict[tuple[str, str], str | None]:
        """Return the options of the section Hierarchical that depend on the data."""
        return {("Hierarchical", "Type"): "DAG" if self.labels.is_dag else "Tree"}

    def predict(
        self, trees: Sequence[_core.Tree], X: Any, *, is_forest: bool, voters: Any = None
    ) -> Scores:
        """Return the mean prediction of trees, with columns in the order of CLUS."""
        scores = np.zeros((X.shape[0], self.n_labels))
        if not is_forest:
            predict_tree(trees[0], X, scores, clus=True)
        elif sparse.issparse(X):
            _core.vote_csr(list(trees), *csr_parts(X), scores, True, 1, voters)
        else:
            _core.vote(list(trees), X, scores, True, 1, voters)
        return scores[:, self.labels.order]

    def leaf_of(self, model: Model) -> Callable[[_core.Tree, int], str]:
        """Return the function that writes the leaves of a model."""
        if model.threshold is None:
            return self.leaf_text
        threshold = model.threshold

        def leaf(tree: _core.Tree, node: int) -> str:
            members = np.flatnonzero(self.shares(tree, node) >= threshold / 100).tolist()
            names = [self.labels.labels[at] for at in self.labels.specific(members)]
            return f"{','.join(names) or 'none'} [{number(float(tree.weight[node]), 2)}]"

        return leaf

    def leaf_text(self, tree: _core.Tree, node: int) -> str:
        """Return the text of a leaf."""
        shares = self.shares(tree, node)
        return f"{numbers(shares)}: {number(float(tree.weight[node]))}"

    def shares(self, tree: _core.Tree, node: int) -> Scores:
        """Return the fractions of a leaf, in the order of CLUS."""
        values = np.zeros(self.n_labels)
        part = slice(tree.value_indptr[node], tree.value_indptr[node + 1])
        values[tree.value_label[part]] = tree.value[part]
        return values[self.labels.order]

    def truth(self, y: sparse.csr_array[np.int32]) -> NDArray[np.bool_]:
        """Return the labels of rows as a matrix in the order of CLUS."""
        return self.labels.clus_columns(y).toarray().astype(bool)

    def truth_columns(self) -> list[tuple[str, str]]:
        """Return the attributes of the true labels in a prediction file."""
        if self.single_label:
            return [("class-a", "string")]
        return [
            ("class-a", "string"),
            *((f"class-a-{label}", "{1,0}") for label in self.labels.labels),
        ]

    def truth_cells(self, y: sparse.csr_array[np.int32]) -> list[list[str]]:
        """Return the cells of the true labels in a prediction file."""
        rows = self.labels.clus_columns(y)
        names = self.labels.labels
        found = []
        for start, end in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
            members = rows.indices[start:end].tolist()
            specific = [names[at] for at in self.labels.specific(members)]
            bits = [] if self.single_label else ["0"] * len(names)
            for at in members if bits else ():
                bits[at] = "1"
            found.append(["@".join(specific) or "none", *bits])
        return found

    def prediction_columns(self, model: str) -> list[tuple[str, str]]:
        """Return the attributes of a model in a prediction file."""
        if self.single_label:
            names = [self.labels.labels[at] for at in self.labels.leaves]
            return [(f"{model}-class", f"{{{','.join(names)}}}")]
        return [(f"{model}-p-{label}", "numeric") for label in self.labels.labels]

    def prediction_cells(self, scores: Scores) -> list[list[str]]:
        """Return the cells of a model in a prediction file."""
        if self.single_label:
            best = np.argmax(scores[:, self.labels.leaves], axis=1)
            return [[self.labels.labels[self.labels.leaves[at]]] for at in best.tolist()]
        texts: dict[float, str] = {}
        for value in np.unique(scores).tolist():
            texts[value] = java_double(value)
        return [[texts[value] for value in row] for row in scores.tolist()]

    def errors(
        self, truth: NDArray[np.bool_], predicted: Mapping[str, Scores], folds: Sequence[int]
    ) -> list[str]:
        """Return the lines of an error section; `folds` are the numbers of rows per fold."""
        lines = ["Hierarchical error measures"]
        for name, scores in predicted.items():
            found = HierarchicalErrors(truth, scores, self.evaluated)
            lines += [f"   {name}: ", *found.lines(self.recalls)]
        lines.append("Multilabel error measures for HMLC")
        for name, scores in predicted.items():
            errors = LabelErrors(truth[:, self.evaluated], scores[:, self.evaluated], folds)
            lines += [f"   {name}: ", *errors.hierarchical_lines()]
        return lines

    def set_errors(self, truth: NDArray[np.bool_], predicted: Mapping[str, Scores]) -> list[str]:
        """Return the lines of the errors of label sets at thresholds."""
        lines = ["Hierarchical accuracy by class"]
        for name, scores in predicted.items():
            lines += self._set_lines(name, truth, scores)
        return lines

    def _set_lines(self, name: str, truth: NDArray[np.bool_], scores: Scores) -> list[str]:
        threshold = float(name[2:-1])
        chosen = scores >= threshold / 100
        positive = truth.sum(axis=0)
        hits = (truth & chosen).sum(axis=0)
        false = (~truth & chosen).sum(axis=0)
        shown = np.flatnonzero((positive > 0) & self.evaluated).tolist()
        total = [int(counts[shown].sum()) for counts in (hits, false, positive)]
        lines = [
            f"   {name:<14} : precision: {number(_ratio(total[0], total[0] + total[1]))}, "
            f"recall: {number(_ratio(total[0], total[2]))}, coverage: 1, "
            f"TP: {total[0]}, FP: {total[1]}, nbPos: {total[2]}"
        ]
        for at in shown:
            hit, wrong, count = int(hits[at]), int(false[at]), int(positive[at])
            lines.append(
                f"      {self.labels.labels[at]}, def: {number(count / len(truth), 4)}, "
                f"prec: {number(_ratio(hit, hit + wrong), 4)}, "
                f"rec: {number(_ratio(hit, count), 4)}, TP: {hit}, FP: {wrong}, nbPos: {count}"
            )
        return lines


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


@dataclass(frozen=True)
class HierarchicalErrors:
    """Areas under curves of the labels with positive rows.

    Attributes
    ----------
    truth : ndarray of bool, shape (n, n_labels)
        True labels.
    scores : ndarray of shape (n, n_labels)
        Predictions.
    evaluated : ndarray of bool, shape (n_labels,)
        The labels to evaluate.
    """

    truth: NDArray[np.bool_]
    scores: Scores
    evaluated: NDArray[np.bool_] = field(repr=False)

    @cached_property
    def chosen(self) -> list[int]:
        """The evaluated labels with positive rows."""
        return list(np.flatnonzero(self.truth.any(axis=0) & self.evaluated).tolist())

    @cached_property
    def counts(self) -> list[Counts]:
        """The counts of each chosen label."""
        return [count_steps(self.truth[:, at], self.scores[:, at]) for at in self.chosen]

    @cached_property
    def pooled(self) -> Counts:
        """The counts of all chosen labels together."""
        chosen = self.chosen
        return count_steps(self.truth[:, chosen].ravel(), self.scores[:, chosen].ravel())

    @cached_property
    def areas(self) -> tuple[float, float, float, float]:
        """Average AUROC, average AUPRC, weighted average AUPRC and pooled AUPRC."""
        if not self.chosen:
            return (np.nan, np.nan, np.nan, np.nan)
        auprc = np.array([counts.auprc() for counts in self.counts])
        auroc = np.array([counts.auroc() for counts in self.counts])
        n_rows = len(self.truth)
        share = np.array([counts.n_positive / n_rows for counts in self.counts])
        return (
            _in_order(auroc) / len(auroc),
            _in_order(auprc) / len(auprc),
            _in_order(auprc * share) / _in_order(share),
            area(*self.pooled.precision_recall()),
        )

    def lines(self, recalls: Sequence[float]) -> list[str]:
        """Return the lines of a model in an error section."""
        names = ("Average AUROC", "Average AUPRC", "Average AUPRC (weighted)", "Pooled AUPRC")
        lines = [
            f"      {name + ':':<26}{java_double(value)}"
            for name, value in zip(names, self.areas, strict=True)
        ]
        curves = [counts.precision_recall() for counts in self.counts] if recalls else []
        for recall in recalls:
            found = np.array([precision_at(*curve, recall) for curve in curves])
            mean = _in_order(found) / len(found) if len(found) else np.nan
            lines.append(f"      P{round(100 * recall)}R: {java_double(100 * mean)}")
        return lines


def _in_order(values: NDArray[np.float64]) -> float:
    """Sum from left to right, as a loop does."""
    return float(np.cumsum(values)[-1])
