"""Learn the models of a run: a tree, its pruned form, or a forest."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import delayed
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify._parallel import in_parallel
from ramify.apps.clus.data import Rows, take_rows
from ramify.apps.clus.estimator import (
    UNCOUNTED_METHODS,
    bootstraps,
    f_test_levels,
    forest_parameters,
    forest_sizes,
    heuristic,
    tree_parameters,
)
from ramify.apps.clus.hierarchical_target import HierarchicalTarget
from ramify.apps.clus.models import Learned, Model
from ramify.apps.clus.permuting import permutation_importance
from ramify.apps.clus.problem import Problem, Target, features_drawn
from ramify.apps.clus.table_targets import NominalTarget
from ramify.apps.clus.trees import grown_as, node_rows, sign_zeros, unknown_shares
from ramify.apps.clus.values import java_double
from ramify.data.features import FeatureSchema
from ramify.trees import PCTClassifier
from ramify.trees.clus import ClusNominal, ClusNumeric, JavaRandom, clus_folds
from ramify.trees.growing import grow, grow_member, grow_members
from ramify.trees.options import TreeOptions
from ramify.trees.sampling import Sampling
from ramify.trees.supervision import mix_features
from ramify.trees.target_regressors import prune_m5
from ramify.trees.tree_data import LabelTargets, TableTargets, TreeData, label_targets
from ramify.trees.views import change_tree

_PER_TREE = ("RSubspaces", "BagSubspaces")  # methods whose trees draw features once


def learn(problem: Problem, train: Rows, prune: Rows | None) -> Learned:
    """Learn the models of a run."""
    learner = _make_learner(problem)
    if problem.switches.forest:
        return _learn_forest(problem, learner, train, prune)
    return _learn_tree(problem, learner, train, prune)


def _make_learner(problem: Problem) -> Learner:
    target = problem.target
    parameters = tree_parameters(problem.settings, target.kind, forest=problem.switches.forest)
    schema = problem.attributes.schema
    if isinstance(target, HierarchicalTarget):
        hierarchy = target.labels.hierarchy
        supervision = 1.0
        if problem.switches.ssl:
            (supervision,) = problem.settings.numbers("SemiSupervised", "PossibleWeights")
        tree = PCTClassifier(hierarchy, supervision=supervision, **parameters)

        def describe(rows: Rows) -> LabelTargets:
            return label_targets(tree, hierarchy, rows.y, rows.weights, many=True)

        order = target.labels.order
        same = supervision < 1 or np.array_equal(order, np.arange(target.n_labels))
        return Learner(
            TreeOptions.of(tree),
            schema,
            describe,
            supervision=supervision,
            label_order=None if same else order,
        )
    del parameters["clus_compat"]
    parameters.pop("cv", None)  # of the estimator that chooses a level of the F-test
    pruning = parameters.pop("pruning", None), parameters.pop("pruning_factor", 0.0)
    conventions = ClusNumeric() if target.kind == "numeric" else ClusNominal()
    options = TreeOptions(conventions=conventions, **parameters)
    totals = target.with_totals if isinstance(target, NominalTarget) else None
    return Learner(options, schema, target.describe, *pruning, with_totals=totals)


def shown_models(problem: Problem, models: list[Model]) -> list[Model]:
    """Return the models to print; two forests stand in for the original and the pruned tree."""
    wanted = problem.settings.names("Output", "ShowModels")
    if "Others" in wanted:
        return models
    places = ("Default", "Original", "Pruned")
    return [model for model, place in zip(models, places, strict=False) if place in wanted]


def _learn_tree(problem: Problem, learner: Learner, train: Rows, prune: Rows | None) -> Learned:
    target = problem.target
    begin = time.perf_counter()
    level, train, prune = _choose_f_test(
        problem, train, prune, lambda rows, level: [learner.grow(rows, level)]
    )
    tree = learner.grow(train, level)
    seconds = time.perf_counter() - begin
    # CLUS does not prune the trees of hierarchical targets, but reports them twice.
    pruned = learner.grow_pruned(train, level) if prune is None else tree
    pruned = None if problem.switches.ssl else pruned
    if pruned is not None and prune is None and isinstance(target, NominalTarget):
        pruned = target.with_kept(pruned, tree, train)
    models = [Model("Default", [learner.root(train)]), Model("Original", [tree])]
    if pruned is not None:
        models.append(Model("Pruned", [pruned]))
    if problem.settings.yes_no("Output", "UnknownFrequency"):
        models = [_with_unknown(model, tree, learner.learnt(train), train) for model in models]
    # In CLUS, label sets at thresholds are what pruning makes of the tree.
    if problem.settings.text("Tree", "PruningMethod") != "None":
        models += [
            replace(models[1], name=f"T({java_double(threshold)})", threshold=threshold)
            for threshold in target.thresholds
        ]
    return Learned(models, shown_models(problem, models), train, prune, level, seconds)


def _with_unknown(
    model: Model, tree: _core.Tree, weights: NDArray[np.float64], rows: Rows
) -> Model:
    """Return a model of one tree with the shares of missing values when the tree was grown."""
    shares = unknown_shares(tree, rows.X, weights)
    (own,) = model.trees
    found = np.zeros(len(own.feature))
    for node, source in grown_as(own, tree)[1].items():
        found[node] = shares[source]
    return replace(model, unknown=[found])


def _choose_f_test(
    problem: Problem,
    train: Rows,
    prune: Rows | None,
    grow_trees: Callable[[Rows, float], list[_core.Tree]],
) -> tuple[float, Rows, Rows | None]:
    """Choose the level of the F-test with the best measure on held-out rows.

    Return it, and the rows to learn from and to prune with: validation rows that have chosen a
    level are learnt from.
    """
    levels, target = f_test_levels(problem.settings), problem.target
    if len(levels) == 1:
        return levels[0], train, prune
    if heuristic(problem.settings, target.kind) != "VarianceReduction":
        levels = levels[:1]  # trees are the same for all levels
    splits = _tuning_splits(problem, train, prune)
    measure = target.tuning_measure(problem.settings)
    truth = _join([unseen.y for _, unseen in splits])
    best, best_score = levels[0], -np.inf
    for level in levels:
        parts = [
            target.predict(grow_trees(seen, level), unseen.X, is_forest=problem.switches.forest)
            for seen, unseen in splits
        ]
        score = measure(truth, np.concatenate(parts))
        if score > best_score + 1e-16:
            best, best_score = level, score
    return best, train if prune is None else join_rows(train, prune), None


def _tuning_splits(problem: Problem, train: Rows, prune: Rows | None) -> list[tuple[Rows, Rows]]:
    """Return the rows to learn from and to evaluate, for choosing a level of the F-test."""
    if prune is not None:
        return [(train, prune)]
    n_folds = problem.settings.integer("Model", "ParamTuneNumberFolds")
    rows = np.arange(len(train), dtype=np.int64)
    return [
        (take_rows(train, np.setdiff1d(rows, test)), take_rows(train, test))
        for test in clus_folds(len(train), n_folds)
    ]


def join_rows(one: Rows, other: Rows) -> Rows:
    """Append rows."""
    return Rows(
        _join([one.X, other.X]),
        _join([one.y, other.y]),
        np.concatenate([one.weights, other.weights]),
        one.keys + other.keys,
        np.concatenate([one.numbers, other.numbers]),
    )


def _join(parts: list[Any]) -> Any:
    if sparse.issparse(parts[0]):
        return sparse.csr_array(sparse.vstack(parts))
    return np.concatenate(parts)


def _learn_forest(problem: Problem, learner: Learner, train: Rows, prune: Rows | None) -> Learned:
    begin = time.perf_counter()
    wanted = plan_forest(problem)
    # CLUS compares levels by the second of several forests.
    compared = forest_sizes(problem.settings)[:2][-1]

    def grow_compared(rows: Rows, level: float) -> list[_core.Tree]:
        return learner.at(level).forest(rows, replace(wanted, n_trees=compared))[0]

    level, train, prune = _choose_f_test(problem, train, prune, grow_compared)
    learner = learner.at(level)
    trees, left_out = learner.forest(train, wanted)
    seconds = time.perf_counter() - begin
    rankings = problem.settings.names("Ensemble", "FeatureRanking")
    squares = losses = None
    if "Genie3" in rankings:
        squares = learner.squares(train, wanted, trees, problem.target)
    if "RForest" in rankings:
        measure = problem.target.ranking_measure(problem.settings)[1]
        seeds = learner.seeds(train, wanted)
        losses = [
            permutation_importance(
                problem.target, measure, tree, take_rows(train, np.flatnonzero(unused)), seed
            )
            for tree, unused, seed in zip(trees, left_out, seeds, strict=True)
        ]
    models = [Model("Default", [learner.root(train)]), *_forests(problem, trees)]
    if problem.settings.yes_no("Output", "UnknownFrequency"):
        weights = learner.drawn(train, wanted)
        shares = [
            unknown_shares(tree, train.X, own) for tree, own in zip(trees, weights, strict=True)
        ]
        models = [replace(model, unknown=shares[: len(model.trees)]) for model in models]
    shown = shown_models(problem, models)
    return Learned(
        models,
        shown,
        train,
        prune,
        level,
        seconds,
        left_out=left_out,
        squares=squares,
        losses=losses,
    )


def plan_forest(problem: Problem) -> ForestPlan:
    """Return how to grow the forest of a run."""
    parameters = forest_parameters(problem.settings)
    drawn = parameters["max_features"] is not None
    return ForestPlan(
        parameters["n_estimators"],
        parameters["random_state"],
        (parameters["max_samples"] or 0) if bootstraps(problem.settings) else None,
        features_drawn(problem) if drawn else 0,
        problem.settings.text("Ensemble", "EnsembleMethod") in _PER_TREE,
    )


def _forests(problem: Problem, trees: list[_core.Tree]) -> list[Model]:
    """Return a model for each number of trees to evaluate."""
    method = problem.settings.text("Ensemble", "EnsembleMethod")
    counted = method not in UNCOUNTED_METHODS
    forests = [
        Model(
            f"Forest with {size if counted else 0} trees",
            trees[:size],
            is_forest=True,
            is_counted=counted,
            in_subspaces=method == "RSubspaces",
        )
        for size in forest_sizes(problem.settings)
    ]
    return forests + [
        replace(forest, name=f"{forest.name}(T = {java_double(threshold)})", threshold=threshold)
        for forest in forests
        for threshold in problem.target.thresholds
    ]


# ---- trees and forests as CLUS grows them ---------------------------------------------------


@dataclass(frozen=True)
class ForestPlan:
    """How to grow a forest."""

    n_trees: int  # number of trees
    seed: int  # randomSeed
    # Number of rows to draw for each tree; 0 means as many as there are, and None means all rows.
    n_draws: int | None
    max_features: int  # number of features to draw; 0 means all
    # Whether to draw the features once for each tree instead of at each node.
    per_tree: bool = False


def grow_forest(
    data: TreeData,
    options: TreeOptions,
    sampling: Sampling,
    seeds: list[int],
    wanted: ForestPlan,
) -> list[_core.Tree]:
    """Grow the trees of a forest."""
    if wanted.per_tree:
        tasks = (
            delayed(_grow_in_subspace)(data, options, sampling, seed, wanted.max_features)
            for seed in seeds
        )
        trees = list(in_parallel(tasks, n_jobs=options.n_jobs, prefer="threads", shared=[data]))
    else:
        chosen = replace(options, max_features=wanted.max_features or None)
        trees = grow_members(data, chosen, sampling, seeds, n_jobs=options.n_jobs)

    def rows_of(at: int) -> NDArray[np.int64]:
        counts, _ = sampling.draw(seeds[at])
        return np.arange(len(data.X)) if counts is None else np.flatnonzero(counts)

    return sign_zeros(trees, data.X, rows_of)


def _grow_in_subspace(
    data: TreeData, options: TreeOptions, sampling: Sampling, seed: int, n_features: int
) -> _core.Tree:
    """Grow a tree on features that the generator of the bootstrap draws next."""
    _, state = sampling.draw(seed)
    features = draw_features(state, data.X.shape[1], n_features)
    schema = FeatureSchema(data.schema.n_categories[features], {})
    tree = grow_member(data.with_features(data.X[:, features], schema), options, sampling, seed)
    feature = np.where(tree.feature < 0, tree.feature, features[tree.feature])
    return change_tree(tree, feature=feature.astype(np.int32))


def draw_features(state: int, n_features: int, n_wanted: int) -> NDArray[np.int64]:
    """Draw distinct features, returned in increasing order.

    >>> from ramify.trees.clus import JavaRandom
    >>> draw_features(JavaRandom(0).state, 10, 4)
    array([0, 7, 8, 9])
    """
    random = JavaRandom.from_state(state)
    drawn: set[int] = set()
    while len(drawn) < n_wanted:
        drawn.add(random.next_int(n_features))
    return np.array(sorted(drawn), dtype=np.int64)


@dataclass(frozen=True)
class Learner:
    """Grows the trees of a run."""

    options: TreeOptions  # how to grow a tree
    schema: FeatureSchema  # which features are nominal
    describe: Callable[[Rows], LabelTargets | TableTargets]  # returns the targets of rows
    pruning: str | None = None  # the method for the pruned tree
    prune_factor: float = 0.0  # the factor of method "m5"
    supervision: float = 1.0  # the part of the labels in the heuristic; features have the rest
    label_order: NDArray[np.int64] | None = None  # in which CLUS sums up labels
    # Appends the weight of all values of a target to leaves: tree, rows, weights of drawn rows.
    with_totals: Callable[..., _core.Tree] | None = None

    def at(self, f_test: float) -> Learner:
        """Return a learner that grows trees with a level of the F-test."""
        return replace(self, options=replace(self.options, f_test=f_test))

    def data(self, rows: Rows) -> TreeData:
        """Return the training data."""
        targets = self.describe(rows)
        if self.label_order is not None and isinstance(targets, LabelTargets):
            own = sparse.csr_array(targets.Y[:, self.label_order])
            own.sort_indices()
            weights = targets._weights[self.label_order]
            targets = replace(targets, Y=own, weights=weights, hierarchy=None)
        data = TreeData(rows.X, self.schema, targets, rows.weights, clus=True)
        return mix_features(data, self.supervision)

    def grow(self, rows: Rows, f_test: float) -> _core.Tree:
        """Grow a tree."""
        tree = grow(self.data(rows), replace(self.options, f_test=f_test))
        return self._reported(sign_zeros([tree], rows.X)[0], rows)

    def _reported(self, tree: _core.Tree, rows: Rows) -> _core.Tree:
        """Return a tree with the weights that CLUS prints; with -ssl, of rows with labels."""
        if self.supervision == 1:
            return self._completed(tree, rows, rows.weights)
        weights = np.where(np.diff(rows.y.indptr) > 0, rows.weights, 0.0)
        found = np.array(tree.weight)
        for node, _, weight in node_rows(tree, rows.X, weights):
            found[node] = np.cumsum(weight)[-1] if len(weight) else 0.0
        return change_tree(tree, weight=found)

    def learnt(self, rows: Rows) -> NDArray[np.float64]:
        """Return the weights of rows in the trees."""
        return self.options.conventions.learnt_weights(self.describe(rows), rows.weights)

    def _completed(self, tree: _core.Tree, rows: Rows, weights: NDArray[np.float64]) -> _core.Tree:
        """Return a tree with all that CLUS sums up in its leaves; rows of weight 0 are left out.

        Labels are those of the hierarchy again.
        """
        if self.label_order is not None:
            node = np.repeat(np.arange(len(tree.feature)), np.diff(tree.value_indptr))
            label = self.label_order[tree.value_label]
            order = np.lexsort((label, node))
            return change_tree(
                tree, value=tree.value[order], value_label=label[order].astype(np.int32)
            )
        if self.with_totals is None:
            return tree
        inside = np.flatnonzero(weights > 0)
        return self.with_totals(tree, rows, weights[inside], inside)

    def grow_pruned(self, rows: Rows, f_test: float) -> _core.Tree | None:
        """Grow a tree and prune it; None without pruning."""
        if self.pruning is None:
            return None
        tree = grow(self.data(rows), replace(self.options, f_test=f_test, pruning=self.pruning))
        if self.pruning == "m5":
            tree = prune_m5(tree, self.prune_factor)
        return self._reported(sign_zeros([tree], rows.X)[0], rows)

    def root(self, rows: Rows) -> _core.Tree:
        """Return the tree that consists of the root, the model Default."""
        tree = grow(self.data(rows), replace(self.options, max_depth=0, f_test=None))
        return self._reported(tree, rows)

    def forest(self, rows: Rows, wanted: ForestPlan) -> tuple[list[_core.Tree], NDArray[np.uint8]]:
        """Grow a forest; return the trees and which rows each tree did not draw."""
        data = self.data(rows)
        sampling, seeds = self._sampling(data, wanted)
        trees = grow_forest(data, self.options, sampling, seeds, wanted)
        trees = [
            self._completed(tree, rows, self._drawn(sampling, seed, rows))
            for tree, seed in zip(trees, seeds, strict=True)
        ]
        return trees, sampling.left_out(seeds)

    def _drawn(self, sampling: Sampling, seed: int, rows: Rows) -> NDArray[np.float64]:
        """Return the weights of the rows in the sample of a tree."""
        counts, _ = sampling.draw(seed)
        return rows.weights if counts is None else rows.weights * counts

    def _sampling(self, data: TreeData, wanted: ForestPlan) -> tuple[Sampling, list[int]]:
        n_draws = wanted.n_draws if wanted.n_draws != 0 else data.n_rows
        sampling = self.options.conventions.sampling(n_draws, data.targets.known)
        return sampling, sampling.seeds(wanted.seed, wanted.n_trees)

    def seeds(self, rows: Rows, wanted: ForestPlan) -> list[int]:
        """Return the seeds of the trees of a forest."""
        return self._sampling(self.data(rows), wanted)[1]

    def drawn(self, rows: Rows, wanted: ForestPlan) -> list[NDArray[np.float64]]:
        """Return the weights of the rows that each tree learns from."""
        data = self.data(rows)
        sampling, seeds = self._sampling(data, wanted)
        learnt = replace(rows, weights=self.learnt(rows))
        return [self._drawn(sampling, seed, learnt) for seed in seeds]

    def squares(
        self, rows: Rows, wanted: ForestPlan, trees: list[_core.Tree], target: Target
    ) -> list[NDArray[np.float64]]:
        """Return sums of squares of each tree, nodes by columns, summed in the order of CLUS."""
        data, targets = self.data(rows), self.describe(rows)
        sampling, seeds = self._sampling(data, wanted)
        found = []
        for grown, seed in zip(trees, seeds, strict=True):
            drawn = np.where(data.targets.known, self._drawn(sampling, seed, rows), 0.0)
            inside = np.flatnonzero(drawn > 0).astype(np.int64)
            own: list[NDArray[np.float64]] = [np.empty(0)] * len(grown.feature)
            for node, some, weight in node_rows(grown, rows.X, drawn[inside], inside):
                own[node] = target.squares(rows.y[some], weight, targets)
            found.append(np.array(own))
        return found
