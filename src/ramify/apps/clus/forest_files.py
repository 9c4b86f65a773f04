"""The files about forests: out-of-bag errors and feature rankings; hierarchy files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify import _core
from ramify.apps.clus.data import Attributes, take_rows
from ramify.apps.clus.estimator import bootstraps
from ramify.apps.clus.hierarchical_target import ClusHierarchy, HierarchicalTarget
from ramify.apps.clus.models import Evaluation, Learned
from ramify.apps.clus.problem import Problem
from ramify.apps.clus.result_files import (
    header_lines,
    model_information,
    target_statistics,
    underlined,
)
from ramify.apps.clus.table_targets import NominalTarget, NumericTarget
from ramify.apps.clus.trees import children_of, tests_in_order
from ramify.apps.clus.values import java_double, number


def forest_files(problem: Problem, learned: Learned) -> dict[str, Iterable[str]]:
    """Return the lines of the files about a forest, by name."""
    name = problem.settings.application.name
    forests = [m for m in learned.models if m.is_forest and m.threshold is None]
    files: dict[str, Iterable[str]] = {}
    if problem.settings.yes_no("Ensemble", "OOBestimate") and bootstraps(problem.settings):
        found = _out_of_bag(problem, learned)
        for model in forests:
            ending = "" if model is forests[-1] else f"_{len(model.trees)}_"
            file_name = f"{name}{ending}.oob"
            files[file_name] = _oob_lines(problem, learned, found, file_name, len(model.trees))
    for model in forests:
        for ranking, lines in _rankings(problem, learned, len(model.trees)).items():
            files[f"{name}Trees{len(model.trees)}{ranking}.fimp"] = lines
    return files


def _out_of_bag(problem: Problem, learned: Learned) -> Evaluation:
    """Predict each row with the trees that did not draw it, in the largest forest."""
    left_out = np.asarray(learned.left_out)
    rows = np.flatnonzero(left_out.any(axis=0))
    part = take_rows(learned.train, rows)
    trees = learned.models[-1].trees
    voters = np.ascontiguousarray(left_out[:, rows])
    if isinstance(problem.target, NominalTarget):
        scores = problem.target.predict(trees, part.X, is_forest=True, voters=voters)
    else:
        scores = running_mean(problem.target, trees, part.X, voters)
    forests = tuple(model for model in learned.models if model.is_forest)
    # CLUS also reports the errors of the largest forest for the smaller ones.
    predicted = {model.name: scores for model in forests}
    return Evaluation(forests, problem.target.truth(part.y), predicted, (len(rows),))


def running_mean(
    target: HierarchicalTarget | NumericTarget,
    trees: Sequence[_core.Tree],
    X: Any,
    voters: NDArray[np.uint8],
) -> NDArray[np.float64]:
    """Return the mean prediction of the voters, updated and rounded tree by tree as in CLUS."""
    mean: NDArray[np.float64] | None = None
    n_votes = np.zeros((X.shape[0], 1))
    for tree, votes in zip(trees, voters, strict=True):
        found = target.predict([tree], X, is_forest=False)
        mean = np.zeros_like(found) if mean is None else mean
        rows = votes > 0
        n_votes[rows] += 1
        n = n_votes[rows]
        mean[rows] = mean[rows] * (n - 1) / n + found[rows] / n
    return np.asarray(mean)


def _oob_lines(
    problem: Problem, learned: Learned, found: Evaluation, file_name: str, n_trees: int
) -> list[str]:
    shown = problem.settings.yes_no("Output", "TrainErrors")
    return [
        *header_lines(problem, file_name, learned),
        *underlined(f"Run: {n_trees:02}", "*"),
        *underlined("Statistics", "-"),
        f"FTValue (FTest): {java_double(learned.f_test)}",
        *model_information(problem, found.models),
        *target_statistics(problem, found.models),
        *(found.lines("Out-Of-Bag Estimate of Error", problem.target) if shown else []),
    ]


def _rankings(problem: Problem, learned: Learned, n_trees: int) -> dict[str, list[str]]:
    settings = problem.settings
    return {
        name: ranking_lines(
            problem.attributes,
            settings.text("Ensemble", "EnsembleMethod"),
            name,
            n_trees,
            _relevance(problem, learned, name, n_trees),
            by_relevance=settings.yes_no("Ensemble", "SortRankingByRelevance"),
        )
        for name in settings.names("Ensemble", "FeatureRanking")
    }


def _relevance(
    problem: Problem, learned: Learned, ranking: str, n_trees: int
) -> dict[str, NDArray[np.float64]]:
    """Return the relevance of the features by the titles of the columns of the ranking."""
    n_all = len(learned.models[-1].trees)  # CLUS divides by the size of the largest forest
    trees = learned.models[-1].trees[:n_trees]
    n_features = len(problem.attributes.descriptive)
    if ranking == "Symbolic":
        weights = problem.settings.numbers("Ensemble", "SymbolicWeight")
        named: dict[str, float | None] = {f"w={java_double(w)}": w for w in weights}
        named = named or {"w=Dynamic": None}
        return {
            title: symbolic(trees, weight, n_features, n_all) for title, weight in named.items()
        }
    titles = _ranked_targets(problem)
    if ranking == "RForest":
        title = problem.target.ranking_measure(problem.settings)[0]
        losses = np.array(learned.losses)[:n_trees].sum(axis=0) / n_all
        names = ["overall", *titles[1:]]
        return {f"{title}:{name}": own for name, own in zip(names, losses.T, strict=False)}
    squares = learned.squares or []
    return {
        title: genie3(trees, [own[:, at] for own in squares[:n_trees]], n_features, n_all)
        for at, title in enumerate(titles)
    }


def _ranked_targets(problem: Problem) -> list[str]:
    """Return the titles of the rankings: all targets together, and each target if asked for."""
    per_target = problem.settings.yes_no("Ensemble", "FeatureRankingPerTarget")
    if isinstance(problem.target, HierarchicalTarget) or not per_target:
        return ["overAll"]
    several = len(problem.target.names) > 1
    return ["overAll", *(problem.target.names if several else ())]


# ---- hierarchy files ------------------------------------------------------------------------


def hierarchy_lines(
    labels: ClusHierarchy, counts: NDArray[np.float64], *, weighted: bool
) -> Iterator[str]:
    """Yield the lines of a hierarchy file; CLUS lists an empty level if labels have no weights."""
    levels = Counter(depth for depth, _, _ in labels.walk())
    sizes = [1, *(levels[depth] for depth in sorted(levels)), *([] if weighted else [0])]
    yield f"Hier #nodes: {len(labels.labels)}"
    yield f"Hier classes by level: {sizes}"
    for depth, parent, at in labels.walk():
        others = [labels.labels[p] for p in labels.parents[at] if p != parent]
        note = f" (p: {','.join(others)})" if others else ""
        yield f"{' ' * 6 * depth}{labels.last_name(at)}{note}: {number(float(counts[at]), 4)}"


# ---- feature rankings: Genie3 and Symbolic --------------------------------------------------


def genie3(
    trees: Sequence[_core.Tree],
    squares: Sequence[NDArray[np.float64]],
    n_features: int,
    n_trees: int,
) -> NDArray[np.float64]:
    """Return the mean over trees of the reduction of the sum of squares by each feature."""
    total = np.zeros(n_features)
    for tree, own in zip(trees, squares, strict=True):
        found = np.zeros(n_features)
        for node in tests_in_order(tree):
            found[tree.feature[node]] += own[node] - sum(own[children_of(tree, node)].tolist())
        total += found
    return total / n_trees


def symbolic(
    trees: Sequence[_core.Tree], weight: float | None, n_features: int, n_trees: int
) -> NDArray[np.float64]:
    """Return the mean over trees of the weights of the tests of each feature."""
    total = np.zeros(n_features)
    for tree in trees:
        found = np.zeros(n_features)
        level = np.zeros(len(tree.feature), dtype=np.int64)
        for node in tests_in_order(tree):
            own = tree.weight[node] / tree.weight[0] if weight is None else weight ** level[node]
            found[tree.feature[node]] += own
            level[children_of(tree, node)] = level[node] + 1
        total += found
    return total / n_trees


def ranking_lines(
    attributes: Attributes,
    method: str,
    ranking: str,
    n_trees: int,
    columns: dict[str, NDArray[np.float64]],
    *,
    by_relevance: bool,
) -> list[str]:
    """Return the lines of a ranking file."""
    values = np.column_stack(list(columns.values()))
    first = values[:, 0]
    hashed = _hash_order([attributes.names[at] for at in attributes.descriptive])
    order = hashed[np.argsort(-first[hashed], kind="stable")]
    ranks = np.column_stack([_ranks(column) for column in values.T])
    titles = ", ".join(f"{title}Rank" for title in columns), ", ".join(columns)
    title = f"attributeDatasetIndex\tattributeName\t[{titles[0]}]\t[{titles[1]}]"
    lines = [
        f"Ensemble method: {method}",
        f"Ranking method: {ranking}",
        f"Ensemble size: {n_trees}",
        title,
        "-" * len(title),
    ]
    for j in order.tolist() if by_relevance else range(len(values)):
        at = attributes.descriptive[j]
        own = ", ".join(map(str, ranks[j])), ", ".join(map(java_double, values[j]))
        lines.append(f"{at + 1}\t{attributes.names[at]}\t[{own[0]}]\t[{own[1]}]")
    return lines


_SAME_RELEVANCE = 1e-12
"""Features whose relevances differ by less share a rank; CLUS tells values 2e-10 apart."""


def _ranks(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return ranks from 1 on, the same for relevances that differ by rounding only.

    >>> import numpy as np
    >>> _ranks(np.array([0.1, 0.3, 0.2, 0.1 + 1e-16]))
    array([3, 1, 2, 3])
    """
    order = np.argsort(-values, kind="stable")
    starts = np.append(True, -np.diff(values[order]) > _SAME_RELEVANCE)
    first = np.maximum.accumulate(np.where(starts, np.arange(len(values)), 0))
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[order] = first + 1
    return ranks


def _hash_order(names: Sequence[str]) -> NDArray[np.int64]:
    """Return the order in which java.util.HashMap lists names; it determines the order of ties."""
    capacity = 16
    while len(names) > 0.75 * capacity:
        capacity *= 2
    return np.argsort([_java_hash(name) & (capacity - 1) for name in names], kind="stable")


def _java_hash(text: str) -> int:
    """Return the hash code of a string, mixed as in java.util.HashMap.

    >>> _java_hash("x1")
    3769
    """
    code = 0
    data = text.encode("utf-16-be")
    for high, low in zip(data[::2], data[1::2], strict=True):
        code = (31 * code + 256 * high + low) & 0xFFFFFFFF
    return code ^ (code >> 16)
