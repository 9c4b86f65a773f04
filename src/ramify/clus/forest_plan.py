"""Grow the trees of a forest, on features that are drawn for each node or for each tree."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from joblib import delayed
from numpy.typing import NDArray

from ramify import _core
from ramify._base.features import FeatureSchema
from ramify._parallel import in_parallel
from ramify.clus.tracing import sign_zeros
from ramify.forest.members import ClusSampling, grow_members
from ramify.multi_target.growing import TargetData, TargetPlan
from ramify.tree.java_random import JavaRandom
from ramify.tree.plan import GrowthPlan
from ramify.tree.structure import change_tree
from ramify.tree.training_data import TrainingData

__all__ = ["ForestPlan", "grow_forest"]

Data = TrainingData | TargetData
Plan = GrowthPlan | TargetPlan


@dataclass(frozen=True)
class ForestPlan:
    """How to grow a forest.

    Attributes
    ----------
    n_trees : int
        Number of trees.
    seed : int
        RandomSeed.
    n_draws : int or None
        Number of rows to draw for each tree; 0 means as many as there are, and None means all
        rows.
    max_features : int
        Number of features to draw; 0 means all.
    per_tree : bool
        Whether to draw the features once for each tree instead of at each node.
    """

    n_trees: int
    seed: int
    n_draws: int | None
    max_features: int
    per_tree: bool = False


def grow_forest(
    data: Data, plan: Plan, sampling: ClusSampling, seeds: list[int], wanted: ForestPlan
) -> list[_core.Tree]:
    """Grow the trees of a forest.

    Parameters
    ----------
    data : TrainingData or TargetData
        The training data.
    plan : GrowthPlan or TargetPlan
        How to grow a tree; its number of threads is used to grow the trees.
    sampling : ClusSampling
        How to draw the rows of each tree.
    seeds : list of int
        Seeds returned by ``sampling.seeds``.
    wanted : ForestPlan
        How many features to draw.

    Returns
    -------
    list of Tree
        The trees, in the order of the seeds.
    """
    if wanted.per_tree:
        tasks = (
            delayed(_grow_in_subspace)(data, plan, sampling, seed, wanted.max_features)
            for seed in seeds
        )
        trees = list(in_parallel(tasks, n_jobs=plan.n_jobs, prefer="threads", shared=[data]))
    else:
        chosen = replace(plan, max_features=wanted.max_features)
        trees = grow_members(data, chosen, sampling, seeds, n_jobs=plan.n_jobs)

    def rows_of(at: int) -> NDArray[np.int64]:
        counts, _ = sampling.draw(seeds[at])
        return np.arange(len(data.X)) if counts is None else np.flatnonzero(counts)

    return sign_zeros(trees, data.X, rows_of)


def _grow_in_subspace(
    data: Data, plan: Plan, sampling: ClusSampling, seed: int, n_features: int
) -> _core.Tree:
    """Grow a tree on features that the generator of the bootstrap draws next."""
    counts, state = sampling.draw(seed)
    features = draw_features(state, data.X.shape[1], n_features)
    schema = FeatureSchema(data.schema.n_categories[features], {})
    part = replace(data, X=data.X[:, features], schema=schema, _prepared={})
    tree = part.grow(plan.for_member(state), counts=counts)
    feature = np.where(tree.feature < 0, tree.feature, features[tree.feature])
    return change_tree(tree, feature=feature.astype(np.int32))


def draw_features(state: int, n_features: int, n_wanted: int) -> NDArray[np.int64]:
    """Draw distinct features.

    Parameters
    ----------
    state : int
        State of the generator.
    n_features : int
        Number of features.
    n_wanted : int
        Number of features to draw.

    Returns
    -------
    ndarray of int
        The features, in increasing order.

    Examples
    --------
    >>> from ramify.tree.java_random import JavaRandom
    >>> draw_features(JavaRandom(0).state, 10, 4)
    array([0, 7, 8, 9])
    """
    random = JavaRandom.from_state(state)
    drawn: set[int] = set()
    while len(drawn) < n_wanted:
        drawn.add(random.next_int(n_features))
    return np.array(sorted(drawn), dtype=np.int64)
