"""Hierarchical targets: learning, errors, leaves and predictions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cmp_to_key
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify._cached import cached_property
from ramify.apps.clus.estimator import TargetKind
from ramify.apps.clus.measures import Counts, LabelErrors, area, count_steps, precision_at
from ramify.apps.clus.models import Model
from ramify.apps.clus.settings import Settings, read_small_text
from ramify.apps.clus.trees import node_values
from ramify.apps.clus.values import java_double, number, numbers
from ramify.data.rows import as_rows
from ramify.io.arff.columns import ArffFile, LabelSets, NamedPlace
from ramify.io.arff.labels import NO_LABELS, LabelReader, read_labels
from ramify.io.limits import ReadLimits
from ramify.labels.hierarchy import Hierarchy
from ramify.trees.views import predict_tree

Scores = NDArray[np.float64]
_USUAL_THRESHOLD = 0.5  # percent


@dataclass(frozen=True)
class HierarchicalTarget:
    """A hierarchical target."""

    labels: ClusHierarchy  # the hierarchy
    evaluated: NDArray[np.bool_]  # which labels are evaluated (EvalClasses), in the order of CLUS
    recalls: tuple[float, ...] = ()  # recalls at which to report the precision
    # Thresholds of the models that predict label sets, in percent.
    thresholds: tuple[float, ...] = ()
    # Whether prediction files hold the best label without children instead of all scores.
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

    kind: ClassVar[TargetKind] = "hierarchical"
    section = "Hierarchical"

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

    def ranking_measure(self, settings: Settings) -> tuple[str, Callable[[Any, Scores], Scores]]:
        """Return the title and the measure of the ranking RForest."""
        names = ("AverageAUROC", "AverageAUPRC", "WeightedAverageAUPRC", "PooledAUPRC")
        at = names.index(settings.text("Hierarchical", "OptimizeErrorMeasure"))

        def measure(truth: Any, scores: Scores) -> Scores:
            return np.array([HierarchicalErrors(truth, scores, self.evaluated).areas[at]])

        return "Hierarchical error measures", measure

    def effective(self, settings: Settings) -> dict[tuple[str, str], str | None]:
        """Return the options that depend on the data or do not apply."""
        return {("Hierarchical", "Type"): "DAG" if self.labels.is_dag else "Tree"}

    def predict(
        self, trees: Sequence[_core.Tree], X: Any, *, is_forest: bool, voters: Any = None
    ) -> Scores:
        """Return the mean prediction of trees, with columns in the order of CLUS."""
        scores = np.zeros((X.shape[0], self.n_labels))
        if not is_forest:
            predict_tree(trees[0], X, scores, clus=True)
        else:
            _core.vote(list(trees), as_rows(X), scores, True, 1, voters)
        return scores[:, self.labels.order]

    def squares(self, y: Labels[np.int32], weight: Scores, targets: Any) -> Scores:
        """Return the weighted sum of squares of the labels of rows, as an array of one number."""
        label_weights = targets.weights
        repeated = np.repeat(weight, np.diff(y.indptr))
        sums = np.bincount(y.indices, weights=repeated, minlength=self.n_labels)
        total = np.cumsum(weight)[-1]
        squares = (label_weights * (sums - sums * sums / total))[self.labels.order]
        return np.asarray(np.cumsum(squares)[-1:] / self.n_labels)

    def leaf_of(self, model: Model) -> Callable[[_core.Tree, int], str]:
        """Return the function that writes the leaves of a model."""
        threshold = model.threshold

        def leaf(tree: _core.Tree, node: int) -> str:
            if threshold is None:
                return f"{numbers(self.shares(tree, node))}: {number(float(tree.weight[node]))}"
            members = np.flatnonzero(self.shares(tree, node) >= threshold / 100).tolist()
            names = [self.labels.labels[at] for at in self.labels.specific(members)]
            return f"{','.join(names) or 'none'} [{number(float(tree.weight[node]), 2)}]"

        return leaf

    def shares(self, tree: _core.Tree, node: int) -> Scores:
        """Return the fractions of a leaf, in the order of CLUS."""
        return node_values(tree, node, self.n_labels)[self.labels.order]

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
            found = HierarchicalErrors(truth[: len(scores)], scores, self.evaluated)
            lines += [f"   {name}: ", *found.lines(self.recalls)]
        lines.append("Multilabel error measures for HMLC")
        for name, scores in predicted.items():
            own = truth[: len(scores), self.evaluated]
            errors = LabelErrors(own, scores[:, self.evaluated], folds)
            lines += [f"   {name}: ", *errors.hierarchical_lines()]
        return lines

    def set_errors(
        self, truth: NDArray[np.bool_], predicted: Mapping[str, tuple[Scores, float | None]]
    ) -> list[str]:
        """Return the lines of the errors of label sets at thresholds in percent.

        A forest without a threshold has that of CLUS, half a percent.
        """
        lines = ["Hierarchical accuracy by class"]
        for name, (scores, threshold) in predicted.items():
            chosen = scores >= (_USUAL_THRESHOLD if threshold is None else threshold) / 100
            lines += self._set_lines(name, truth, chosen)
        return lines

    def _set_lines(
        self, name: str, truth: NDArray[np.bool_], chosen: NDArray[np.bool_]
    ) -> list[str]:
        positive = truth.sum(axis=0)
        hits = (truth & chosen).sum(axis=0)
        false = (~truth & chosen).sum(axis=0)
        total = [int(counts[self.evaluated].sum()) for counts in (hits, false, positive)]
        lines = [
            f"   {name:<14} : precision: {number(_ratio(total[0], total[0] + total[1]))}, "
            f"recall: {number(_ratio(total[0], total[2]))}, coverage: 1, "
            f"TP: {total[0]}, FP: {total[1]}, nbPos: {total[2]}"
        ]
        for at in np.flatnonzero((hits + false > 0) & self.evaluated).tolist():
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
    """Areas under curves of the labels with positive rows."""

    truth: NDArray[np.bool_]  # true labels
    scores: Scores  # predictions
    evaluated: NDArray[np.bool_] = field(repr=False)  # the labels to evaluate

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
            return (np.nan, np.nan, np.nan, np.nan if len(self.truth) else 0.0)
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


# ---- the hierarchy of a run -----------------------------------------------------------------


Labels = sparse.csr_array


@dataclass(frozen=True)
class LabelFormat:
    """How labels are written: the options of the section Hierarchical."""

    kind: str | None  # "tree", "dag", or None to guess as CLUS does
    separator: str  # separator of paths
    empty: str  # marks a row without labels
    definition: Path | None = None  # file with the edges of a DAG, separated by commas


@dataclass(frozen=True)
class ClusHierarchy:
    """A hierarchy whose labels are in the order of CLUS."""

    hierarchy: Hierarchy  # the hierarchy in the order of ramify, which learners use
    order: NDArray[np.int64]  # positions of the labels in `hierarchy`, in the order of CLUS
    is_dag: bool  # whether CLUS treats it as a DAG
    format: LabelFormat  # how labels are written
    declared: dict[str, list[str]]  # the parents of each label, both in the order of the header

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The labels in the order of CLUS."""
        names = self.hierarchy.labels
        return tuple(str(names[at]) for at in self.order.tolist())

    @cached_property
    def parents(self) -> list[list[int]]:
        """The parents of each label as positions in the order of CLUS."""
        place = {label: at for at, label in enumerate(self.labels)}
        return [[place[parent] for parent in self.declared[label]] for label in self.labels]

    @cached_property
    def children(self) -> dict[int, list[int]]:
        """The children of each label, and those of the root, which is -1."""
        place = {label: at for at, label in enumerate(self.labels)} | {"": -1}
        found: dict[int, list[int]] = {at: [] for at in place.values()}
        found |= {
            place[parent]: [place[child] for child in children]
            for parent, children in _sorted_children(self.declared, self.separator).items()
        }
        return found

    @cached_property
    def leaves(self) -> list[int]:
        """The labels without children."""
        return [at for at in range(len(self.labels)) if not self.children[at]]

    @property
    def separator(self) -> str | None:
        """Separator of the paths of a tree; None for a DAG."""
        return None if self.is_dag else self.format.separator

    def clus_columns(self, Y: Labels[np.int32]) -> Labels[np.int32]:
        """Return a label matrix with its columns in the order of CLUS."""
        if (self.order == np.arange(len(self.order))).all():
            return Y
        return sparse.csr_array(Y[:, self.order])

    def read(self, file: ArffFile) -> Labels[np.int32]:
        """Return the label matrix of a file, with ancestors, in the order of `hierarchy`."""
        Y, _ = read_labels(_plain(file, self.format), _reader(file, self), self.hierarchy)
        return Y

    def specific(self, members: list[int]) -> list[int]:
        """Return the most specific labels of a set with ancestors, in the order of CLUS."""
        above = {parent for at in members for parent in self.parents[at]}
        return [at for at in sorted(members) if at not in above]

    def label_of(self, name: str) -> str:
        """Return the label that a name means: the end of a path in a DAG, a path without zeros."""
        if self.is_dag:
            return name.rsplit("/", maxsplit=1)[-1]
        segments = name.split(self.format.separator)
        while len(segments) > 1 and segments[-1] == "0":
            segments.pop()
        return self.format.separator.join(segments)

    def last_name(self, at: int) -> str:
        """Return the last segment of a path, or the label of a DAG."""
        label = self.labels[at]
        return label if self.is_dag else label.split(self.format.separator)[-1]

    def walk(self) -> Iterator[tuple[int, int, int]]:
        """Yield (depth, parent, label) from the top; in a DAG, a label below each parent."""
        stack = [(0, -1, at) for at in reversed(self.children[-1])]
        while stack:
            depth, parent, at = stack.pop()
            yield depth, parent, at
            stack.extend((depth + 1, at, child) for child in reversed(self.children[at]))

    @classmethod
    def of_file(cls, file: ArffFile, wanted: LabelFormat) -> ClusHierarchy:
        """Build the hierarchy that the header of the training file declares."""
        declared, source = file.declared_labels or [], file.path
        if wanted.definition is not None:
            declared, source = _read_definition(wanted.definition), str(wanted.definition)
        kind = wanted.kind or _guess(declared or file.label_sets.names, wanted.separator)
        is_dag = kind == "dag"
        wanted = replace(wanted, kind=kind)
        reader = LabelReader(
            source, "/" if is_dag else wanted.separator, kind, not is_dag, ReadLimits()
        )
        if declared:
            hierarchy = reader.declared_hierarchy(declared)
        else:
            hierarchy = reader.used_hierarchy(_plain(file, wanted).label_sets.names)
        names = [name for name, _, _ in declared] or [str(label) for label in hierarchy.labels]
        parents = _declared_parents(hierarchy, names, None if is_dag else wanted.separator)
        order = clus_order(parents, None if is_dag else wanted.separator)
        at = np.array(hierarchy.indices(order), dtype=np.int64)
        return cls(hierarchy, at, is_dag, wanted, parents)


def _reader(file: ArffFile, found: ClusHierarchy) -> LabelReader:
    separator = "/" if found.is_dag else found.format.separator
    return LabelReader(file.path, separator, found.format.kind, not found.is_dag, ReadLimits())


def _plain(file: ArffFile, wanted: LabelFormat) -> ArffFile:
    """Return the file with the mark of rows without labels replaced with the usual one."""
    if wanted.empty == NO_LABELS:
        return file
    sets = file.label_sets
    names = [
        (NO_LABELS, line, column) if name == wanted.empty else (name, line, column)
        for name, line, column in sets.names
    ]
    file.label_sets = LabelSets(sets.indptr, sets.numbers, names)
    return file


def _guess(places: list[NamedPlace], separator: str) -> str:
    deep = any(name.count(separator) >= 2 for name, _, _ in places)
    return "tree" if deep else "dag"


def _read_definition(path: Path) -> list[NamedPlace]:
    lines = read_small_text(path, "a file with the edges of a hierarchy").splitlines()
    return [
        (match[0].strip(), number, match.start() + 1)
        for number, line in enumerate(lines, 1)
        for match in re.finditer(r"[^,\s][^,]*", line)
    ]


def _declared_parents(
    hierarchy: Hierarchy, names: list[str], separator: str | None
) -> dict[str, list[str]]:
    """Return the parents of each label, in the order in which the header names them."""
    found: dict[str, list[str]] = {}
    if separator is None:
        for parent, child in (name.split("/") for name in names if "/" in name):
            found.setdefault(parent, [])
            found.setdefault(child, []).append(parent)
    else:
        for name in names:
            segments = name.split(separator)
            for end in range(1, len(segments) + 1):
                label = separator.join(segments[:end])
                found.setdefault(label, [separator.join(segments[: end - 1])] if end > 1 else [])
    labels = {str(label) for label in hierarchy.labels}
    return {
        label: list(dict.fromkeys(parent for parent in parents if parent in labels))
        for label, parents in found.items()
        if label in labels
    }


def _sorted_children(parents: dict[str, list[str]], separator: str | None) -> dict[str, list[str]]:
    children: dict[str, list[str]] = {"": []}
    for label, above in parents.items():
        for parent in above or [""]:
            children.setdefault(parent, []).append(label)

    def compare(one: str, other: str) -> int:
        a, b = (name.split(separator)[-1] if separator else name for name in (one, other))
        if a.isdecimal() and b.isdecimal():
            return int(a) - int(b)
        return (a > b) - (a < b)

    # This is not a total order ('9' < '10' < '1a' < '9'); CLUS sorts from the order of the header.
    return {parent: sorted(labels, key=cmp_to_key(compare)) for parent, labels in children.items()}


def clus_order(parents: dict[str, list[str]], separator: str | None) -> list[str]:
    """Return the labels in the order of CLUS: depth first, from the top.

    >>> clus_order({"b": [], "a": [], "y": ["b"], "x": ["b", "a"]}, None)
    ['a', 'x', 'b', 'y']
    """
    children = _sorted_children(parents, separator)
    order: dict[str, None] = {}
    stack = children[""][::-1]
    while stack:
        label = stack.pop()
        if label not in order:
            order[label] = None
            stack.extend(reversed(children.get(label, [])))
    return list(order)
