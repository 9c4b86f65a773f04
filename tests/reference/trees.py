"""A predictive clustering tree in plain numpy: an executable specification of the engine.

The code follows the definitions and is written for clarity, not speed; tests compare it with the
engine. With ``Settings(clus=...)`` it reproduces CLUS to the last bit instead.

>>> columns = [Column(np.array([1.0, 2.0, 3.0, 4.0]))]
>>> root = grow(columns, np.array([[1, 0], [1, 0], [0, 1], [0, 1]]))
>>> root.test.threshold, root.children[0].value
(2.5, array([0., 1.]))
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tests.reference.criteria import REJECTED, TOLERANCE, Criterion, Part, Settings
from tests.reference.drawing import Draws, seed_of_child, spread

__all__ = ["Column", "Criterion", "Node", "Settings", "Test", "grow", "predict", "walk"]


@dataclass(frozen=True)
class Column:
    """One feature: numbers, or codes 0, ..., n_values - 1 if it is nominal; NaN is missing."""

    values: np.ndarray
    n_values: int = 0  # 0: numeric

    @property
    def is_nominal(self) -> bool:
        return self.n_values > 0


@dataclass(frozen=True)
class Test:
    """The test of an inner node; `branch` returns the number of a child, or None.

    Numeric: x > threshold. Subset: x in values. N-ary: child i has values[i], and the child after
    them, if there is one, the missing values.
    """

    __test__ = False  # prevents pytest from collecting the class

    column: int
    kind: str  # "numeric", "subset", "nary"
    threshold: float = math.nan
    values: tuple[int, ...] = ()
    missing: int | None = None  # the child of missing values; None: all of them

    def branch(self, x: float) -> int | None:
        if math.isnan(x):
            return self.missing
        if self.kind == "numeric":
            return 0 if x > self.threshold else 1
        if self.kind == "subset":
            return 0 if int(x) in self.values else 1
        # A category that did not occur in training is treated as a missing value.
        return self.values.index(int(x)) if int(x) in self.values else self.missing


@dataclass
class Node:
    """A leaf, or a test with its children and what each gets of a row with a missing value."""

    sums: np.ndarray
    weight: float
    n: float
    test: Test | None = None
    shares: tuple[float, ...] = ()
    children: list[Node] = field(default_factory=list)
    score: float = 0.0

    @property
    def is_leaf(self) -> bool:
        return self.test is None

    @property
    def value(self) -> np.ndarray:
        return self.sums / self.weight


@dataclass(frozen=True)
class Split:
    test: Test
    known: Part
    branches: list[Part]
    score: float


@dataclass(frozen=True)
class Training:
    """The training data and settings, which do not change while a tree grows."""

    columns: Sequence[Column]
    Y: np.ndarray
    sample_weight: np.ndarray
    counts: np.ndarray  # False: the row is left out of statistics (CLUS: rows without labels)
    criterion: Criterion
    weight: float

    @property
    def settings(self) -> Settings:
        return self.criterion.settings

    def part(self, rows: np.ndarray, weights: np.ndarray) -> Part:
        """Return the sums over entries, added in the given order."""
        seen = np.where(self.counts[rows], weights, 0.0)
        if not len(rows):
            return Part(np.zeros(self.Y.shape[1]), 0.0, 0.0)
        sums = np.cumsum(seen[:, None] * self.Y[rows], axis=0)[-1]
        # A row counts as the fraction of its weight that is present.
        n = float(np.sum(weights / self.sample_weight[rows]))
        return Part(sums, float(np.cumsum(seen)[-1]), n)


def grow(
    columns: Sequence[Column],
    Y: np.ndarray,
    settings: Settings | None = None,
    *,
    sample_weight: np.ndarray | None = None,
    label_weights: np.ndarray | None = None,
    targets: Sequence[Sequence[int]] | None = None,
    squared: np.ndarray | None = None,
) -> Node:
    """Grow a tree on `columns` and labels `Y` (n × n_labels, 0/1).

    `targets` lists the columns of `Y` that are values of one nominal target (see `Criterion`); by
    default, every column is a binary label. With `squared`, the columns of `Y` are distinct label
    sets, one per row, and the tree reduces the squared distances between them.
    """
    settings = settings or Settings()
    Y = np.asarray(Y, dtype=float)
    weights = np.ones(len(Y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    rows = np.flatnonzero(weights > 0)
    groups = tuple(map(tuple, targets)) if targets else tuple((c,) for c in range(Y.shape[1]))
    counts = np.ones(len(Y), dtype=bool)
    if settings.clus == "hierarchical":
        counts = Y.any(axis=1)
    criterion = Criterion(settings, np.ones(Y.shape[1]), groups)
    training = Training(columns, Y, weights, counts, criterion, 0.0)
    root = training.part(rows, weights[rows])
    criterion = weighted_criterion(settings, groups, root, label_weights)
    criterion = replace(criterion, squared=squared)
    training = Training(columns, Y, weights, counts, criterion, root.weight)
    seed = None if settings.seed is None else spread(settings.seed)
    tree = grow_node(training, rows, weights[rows], 0, frozenset(), seed=seed)
    if settings.clus:
        merge_equal_leaves(tree, training)
    return tree


def weighted_criterion(
    settings: Settings,
    groups: tuple[tuple[int, ...], ...],
    root: Part,
    label_weights: np.ndarray | None,
) -> Criterion:
    """Set the weights of the labels; CLUS normalises nominal targets by their Gini index."""
    weights = (
        np.ones(len(root.sums)) if label_weights is None else np.asarray(label_weights, float)
    )
    if settings.clus == "hierarchical":
        return Criterion(settings, weights, groups, divisor=len(weights))
    if settings.clus == "nominal" and settings.criterion == "gini":
        weights = np.empty(len(root.sums))
        for group in groups:
            p = root.sums[list(group)] / root.weight
            if len(group) == 1:
                p = np.append(p, 1.0 - p)
            gini = 1.0 - float(np.sum(p * p))
            weights[list(group)] = 1.0 / gini if gini > 0 else 1.0
        return Criterion(settings, weights, groups, divisor=len(groups))
    return Criterion(settings, weights, groups)


def grow_node(
    training: Training,
    rows: np.ndarray,
    weights: np.ndarray,
    depth: int,
    divided: frozenset[int],
    *,
    seed: int | None = None,
) -> Node:
    """Grow a node; `divided` has the columns of tests above that divide rows.

    `seed`: of the random tests of this node, if they are random.
    """
    total = training.part(rows, weights)
    node = Node(total.sums, total.weight, total.n)
    if is_too_small(training.settings, total, depth):
        return node
    split = best_split(training, rows, weights, total, divided, seed=seed)
    if split is None or removes_too_little(training, split):
        return node
    node.test, node.score = split.test, split.score
    node.shares = branch_shares(split)
    if training.settings.missing_rule == "branch" and node.test.missing is None:
        node.test = replace(node.test, missing=larger_branch(node.shares))
    if node.test.missing is None:
        divided = divided | {node.test.column}
    else:
        node.shares = tuple(float(b == node.test.missing) for b in range(len(node.shares)))
    parts = distribute(training, node, rows, weights)
    for branch, (child_rows, child_weights) in enumerate(parts):
        child_seed = None if seed is None else seed_of_child(seed, branch)
        child = grow_node(training, child_rows, child_weights, depth + 1, divided, seed=child_seed)
        node.children.append(child)
    return node


def is_too_small(settings: Settings, node: Part, depth: int) -> bool:
    if settings.max_depth is not None and depth >= settings.max_depth:
        return True
    if settings.clus:
        return node.weight < 2 * settings.min_weight
    return (
        node.weight < 2 * settings.min_weight * (1 - TOLERANCE)
        or node.n < 2 * settings.min_samples_leaf * (1 - TOLERANCE)
        or node.n < settings.min_samples_split * (1 - TOLERANCE)
    )


def removes_too_little(training: Training, split: Split) -> bool:
    """Return whether the removed impurity per unit of training weight is below the limit."""
    criterion = training.criterion
    removed = criterion.mass(split.known) - sum(map(criterion.mass, split.branches))
    limit = training.settings.min_impurity_decrease * training.weight
    return removed < limit * (1 - TOLERANCE)


def branch_shares(split: Split) -> tuple[float, ...]:
    """Return the fractions in which missing values are distributed: those of the known weight."""
    if len(split.branches) == 2:
        p = split.branches[0].weight / split.known.weight
        return (p, 1.0 - p)
    return tuple(branch.weight / split.known.weight for branch in split.branches)


def larger_branch(weights: Sequence[float]) -> int:
    """Return the branch with the largest weight, the first of ties."""
    return next(b for b, one in enumerate(weights) if one >= max(weights) * (1 - TOLERANCE))


def distribute(
    training: Training, node: Node, rows: np.ndarray, weights: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the entries of each child in row order; missing values are divided among all."""
    answers = [node.test.branch(x) for x in training.columns[node.test.column].values[rows]]
    for child, share in enumerate(node.shares):
        fraction = np.array(
            [share if answer is None else float(answer == child) for answer in answers]
        )
        kept = fraction > 0
        yield rows[kept], weights[kept] * fraction[kept]


@dataclass(frozen=True)
class Search:
    """The entries of a node whose value in column `j` is not missing, to search for a test.

    If missing values take one branch, `known` includes them all the same.
    """

    training: Training
    j: int
    rows: np.ndarray
    weights: np.ndarray
    known: Part
    scale: float  # of the whole node
    missing: Part | None = None  # the entries that take one branch with others
    draws: Draws | None = None  # if the test is random

    @property
    def column(self) -> Column:
        return self.training.columns[self.j]

    @property
    def margin(self) -> float:
        """The amount by which a test must beat the best so far."""
        return 1e-6 if self.training.settings.clus else TOLERANCE * self.scale

    def part(self, chosen: np.ndarray | slice) -> Part:
        return self.training.part(self.rows[chosen], self.weights[chosen])

    def split(self, branches: list[Part], **test: object) -> Split | None:
        score = self.training.criterion.score(self.known, branches, self.scale)
        if score == REJECTED:
            return None
        return Split(Test(self.j, **test), self.known, branches, score)


def better(split: Split | None, best: Split | None, margin: float) -> bool:
    return split is not None and (best is None or split.score > best.score + margin)


def best_split(
    training: Training,
    rows: np.ndarray,
    weights: np.ndarray,
    total: Part,
    divided: frozenset[int],
    *,
    seed: int | None = None,
) -> Split | None:
    """Return the best test: the best of each column, then the best column, the first of ties."""
    best, found = None, []
    for j, column in enumerate(training.columns):
        missing = np.isnan(column.values[rows])
        known = total
        if missing.any():  # By subtraction, as CLUS does.
            known = total - training.part(rows[missing], weights[missing])
        scale = training.criterion.scale(total)
        search = Search(training, j, rows[~missing], weights[~missing], known, scale)
        if seed is not None:
            search = replace(search, draws=Draws.of_column(seed, j))
        one_part = training.part(rows[missing], weights[missing])
        if missing.any() and takes_one_branch(training, total, one_part, j in divided):
            search = replace(search, known=total, missing=one_part)
        # CLUS compares each numeric test with the best of earlier columns, not of its own column.
        rival = best if training.settings.clus else None
        split = best_of_column(search, rival)
        found.append(split)
        if better(split, best, search.margin):
            best = split
    if training.settings.criterion == "gain_ratio" and not training.settings.clus:
        return best_ratio(training.criterion, total, [split for split in found if split])
    return best


def takes_one_branch(training: Training, node: Part, missing: Part, divided: bool) -> bool:
    """Return whether the rows with a missing value take one branch of the tests of a column."""
    rule = training.settings.missing_rule
    if rule == "learn":
        return not divided and training.criterion.is_evidence(node, missing)
    return rule == "branch"


def best_ratio(criterion: Criterion, node: Part, found: list[Split]) -> Split | None:
    """Return C4.5's choice: the best gain ratio among columns with at least the mean gain."""
    mean = sum(split.score for split in found) / max(1, len(found))
    best, best_score = None, REJECTED
    for split in found:
        score = criterion.ratio(node, split.branches, split.score)
        if split.score >= mean * (1 - TOLERANCE) and score > best_score + TOLERANCE:
            best, best_score = split, score
    return best


def best_of_column(search: Search, rival: Split | None) -> Split | None:
    if not search.column.is_nominal:
        return best_numeric(search, rival) if search.draws is None else random_numeric(search)
    if search.training.settings.nary:
        return nary_split(search)
    return best_subset(search) if search.draws is None else random_subset(search)


def random_numeric(search: Search) -> Split | None:
    """Try one threshold, uniform between the smallest and the largest value, and missingness."""
    x, best = search.column.values[search.rows], None
    if len(set(x)) > 1:
        t = search.draws.threshold(float(x.min()), float(x.max()))
        best = try_sides(search, search.part(x > t), kind="numeric", threshold=t)
    if search.missing is not None and len(x):
        sides = [search.known - search.missing, search.missing]
        split = search.split(sides, kind="numeric", threshold=-math.inf, missing=1)
        if better(split, best, search.margin):
            best = split
    return best


def random_subset(search: Search) -> Split | None:
    """Try a random subset of the categories that occur; of two categories, the first."""
    parts = value_parts(search)
    occur = [v for v, part in enumerate(parts) if part.n]
    if not occur or (len(occur) == 1 and search.missing is None):
        return None
    only_pair = len(parts) == 2 and search.missing is None
    chosen = [0] if only_pair else search.draws.subset(occur)
    yes = sum((parts[v] for v in chosen), search.part(slice(0, 0)))
    return try_sides(search, yes, kind="subset", values=tuple(chosen))


def try_sides(search: Search, yes: Part, **test: object) -> Split | None:
    """Return the better test of those that place missing values on either side."""
    best = None
    for sides, branch in ways_to_place_missing(search, yes):
        if min(side.weight for side in sides) > 0:
            split = search.split(sides, missing=branch, **test)
            if better(split, best, search.margin):
                best = split
    return best


def best_numeric(search: Search, best: Split | None) -> Split | None:
    """Try `x > t` between all pairs of consecutive values, from the largest down."""
    x = search.column.values[search.rows]
    order = np.argsort(-x, kind="stable")
    criterion, n_tried = search.training.criterion, 0
    values = search.column.values
    min_rows = criterion.min_numeric_rows(search.known, len(set(values[~np.isnan(values)])))
    yes = search.part(slice(0, 0))
    for position, i in enumerate(order):
        upper = x[order[position - 1]]
        if position and x[i] < upper:
            t = threshold_between(x[i], upper, search.training.settings)
            allowed = [
                (sides, branch)
                for sides, branch in ways_to_place_missing(search, yes)
                if min(side.n for side in sides) >= min_rows
                and all(map(criterion.is_large_enough, sides))
            ]
            n_tried += len(allowed) > 0
            for sides, branch in allowed:
                split = search.split(sides, kind="numeric", threshold=t, missing=branch)
                if better(split, best, search.margin):
                    best = split
        yes = yes + search.part([i])
    if search.missing is not None and len(x):
        sides = [search.known - search.missing, search.missing]
        n_tried += all(map(criterion.is_large_enough, sides))
        split = search.split(sides, kind="numeric", threshold=-math.inf, missing=1)
        if better(split, best, search.margin):
            best = split
    return penalise_threshold(search, best, n_tried) if criterion.is_c45 else best


def ways_to_place_missing(search: Search, yes: Part) -> list[tuple[list[Part], int | None]]:
    """Return the sides of a test with each branch of missing values, that of the larger first."""
    if search.missing is None:
        return [([yes, search.known - yes], None)]
    with_missing = yes + search.missing
    ways: list[tuple[list[Part], int | None]] = [
        ([with_missing, search.known - with_missing], 0),
        ([yes, search.known - yes], 1),
    ]
    no = search.known - with_missing
    return ways if larger_branch([yes.weight, no.weight]) == 0 else ways[::-1]


def penalise_threshold(search: Search, best: Split | None, n_tried: int) -> Split | None:
    """Apply C4.5 release 8's penalty: log2 of the number of candidate thresholds."""
    if best is None:
        return None
    score = best.score - math.log2(n_tried)
    worth = score > max(0.0, TOLERANCE * search.scale)
    return replace(best, score=score) if worth else None


def threshold_between(lower: float, upper: float, settings: Settings) -> float:
    """Return t with lower <= t < upper: an observed value, or the midpoint if it is lower."""
    if settings.thresholds == "observed":
        return float(lower)
    with np.errstate(over="ignore", invalid="ignore"):
        if settings.clus:
            return float(upper + (lower - upper) / 2)
        middle = float(lower + (upper - lower) / 2)
    return middle if math.isfinite(middle) and middle < upper else float(lower)


def best_subset(search: Search) -> Split | None:
    """Greedily add categories to the yes side while that improves the test."""
    settings = search.training.settings
    parts = value_parts(search)
    learns = search.missing is not None
    if learns:  # one more category
        parts.append(search.missing)
    margin = 0.0 if settings.clus else search.margin
    # With two categories, {first} and {second} are the same test.
    candidates = list(range(len(parts))) if len(parts) > 2 else [0]
    rounds = len(parts) - 1 if settings.subsets else 1 + learns
    best, inside, chosen = None, search.part(slice(0, 0)), []
    of_missing = len(parts) - 1 if learns else None
    for _ in range(rounds):
        improvement = None
        for value in candidates:
            if chosen and not settings.subsets and of_missing not in (value, *chosen):
                continue  # one category, and missing values or not
            yes = inside + parts[value]
            values = tuple(sorted({*chosen, value} - {of_missing}))
            branch = int(of_missing not in (value, *chosen)) if learns else None
            sides = [yes, search.known - yes]
            split = search.split(sides, kind="subset", values=values, missing=branch)
            if better(split, best, margin):
                best, improvement = split, value
        if improvement is None:
            break
        chosen.append(improvement)
        candidates.remove(improvement)
        inside = inside + parts[improvement]
    return best


def nary_split(search: Search) -> Split | None:
    """Try the test with a branch for each category that occurs."""
    parts = value_parts(search)
    values = tuple(v for v, part in enumerate(parts) if part.n or search.training.settings.clus)
    branches, missing = [parts[v] for v in values], None
    if search.missing is not None and branches:
        missing = len(branches)
        if search.training.criterion.is_large_enough(search.missing):
            branches.append(search.missing)
        else:
            missing = int(np.argmax([branch.n for branch in branches]))
            branches[missing] = branches[missing] + search.missing
    if len(branches) < 2:
        return None
    return search.split(branches, kind="nary", values=values, missing=missing)


def value_parts(search: Search) -> list[Part]:
    codes = search.column.values[search.rows]
    return [search.part(codes == v) for v in range(search.column.n_values)]


def merge_equal_leaves(node: Node, training: Training) -> None:
    """Turn nodes whose children are leaves with the same prediction into leaves, as CLUS does."""
    for child in node.children:
        merge_equal_leaves(child, training)
    if node.is_leaf or not all(child.is_leaf for child in node.children):
        return
    first, *others = (discrete_prediction(child, training) for child in node.children)
    if all(np.array_equal(first, other) for other in others):
        node.test, node.shares, node.children = None, (), []


def discrete_prediction(leaf: Node, training: Training) -> np.ndarray:
    """Return what CLUS compares: the mean vector, or the predicted value of each target."""
    if training.settings.clus == "hierarchical":
        return leaf.value
    answers = []
    for group in training.criterion.targets:
        counts = leaf.sums[list(group)]
        answers.append(
            counts[0] >= leaf.weight - counts[0] if len(group) == 1 else np.argmax(counts)
        )
    return np.array(answers)


def predict(tree: Node, columns: Sequence[Column], settings: Settings | None = None) -> np.ndarray:
    """Predict a vector of label proportions for each row."""
    # CLUS mixes class counts for nominal targets; otherwise proportions are mixed.
    mixes_counts = settings is not None and settings.clus == "nominal"

    def mixed(node: Node, row: int) -> np.ndarray:
        if node.is_leaf:
            return np.append(node.sums, node.weight) if mixes_counts else node.value
        answer = node.test.branch(columns[node.test.column].values[row])
        if answer is not None:
            return mixed(node.children[answer], row)
        result = 0.0
        for share, child in zip(node.shares, node.children, strict=True):
            result = result + share * mixed(child, row)
        return result

    answers = np.array([mixed(tree, row) for row in range(len(columns[0].values))])
    return answers[:, :-1] / answers[:, -1:] if mixes_counts else answers


def walk(tree: Node) -> Iterator[Node]:
    """Yield the nodes depth first, parents before children, the yes side first."""
    yield tree
    for child in tree.children:
        yield from walk(child)
