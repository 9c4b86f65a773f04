"""Convert settings to the parameters of ramify's trees and forests."""

from __future__ import annotations

import math
from typing import Any

from ramify.clus.errors import UnsupportedOptionError, quoted
from ramify.clus.forest_plan import ForestPlan
from ramify.clus.learning import LabelLearner
from ramify.clus.problem import Problem
from ramify.clus.settings import Settings
from ramify.clus.targets.hierarchical import HierarchicalTarget
from ramify.clus.targets.nominal import NominalTarget
from ramify.clus.targets.numeric import NumericTarget
from ramify.clus.targets.table import TableLearner
from ramify.multi_target.growing import TargetPlan
from ramify.multi_target.pruning import prune_m5
from ramify.tree import PCTClassifier

__all__ = [
    "UNCOUNTED_METHODS",
    "f_test_levels",
    "forest_sizes",
    "hierarchical_learner",
    "hierarchical_parameters",
    "plan_forest",
    "table_learner",
]

_WEIGHTING = {
    "ExpSumParentWeight": "sum",
    "ExpAvgParentWeight": "avg",
    "ExpMinParentWeight": "min",
    "ExpMaxParentWeight": "max",
    "NoWeight": "avg",
}
_NO_BOOTSTRAP = ("RSubspaces", "ExtraTrees", "RFeatSelection")
_ALL_FEATURES = ("Bagging",)
# CLUS gives all forests of these methods the name "Forest with 0 trees".
UNCOUNTED_METHODS = ("RSubspaces", "RFeatSelection")
_PER_TREE = ("RSubspaces", "BagSubspaces")


def hierarchical_learner(problem: Problem, target: HierarchicalTarget) -> LabelLearner:
    """Return the learner of trees for a hierarchical target."""
    settings = problem.settings
    hierarchy = target.labels.hierarchy
    tree = PCTClassifier(
        hierarchy, criterion="variance", **hierarchical_parameters(settings), **_shared(settings)
    )
    if settings.integer("Model", "MinimalNumberExamples") > 0:
        # CLUS does not count the rows of hierarchical targets, so no test has enough of them.
        tree.set_params(max_depth=0)
    return LabelLearner(tree, hierarchy, problem.attributes.schema)


def hierarchical_parameters(settings: Settings) -> dict[str, Any]:
    """Return the parameters of trees that are set in the section [Hierarchical]."""
    kind = settings.text("Hierarchical", "WType")
    w0 = 1.0 if kind == "NoWeight" else settings.number("Hierarchical", "WParam")
    smoothed = settings.yes_no("Hierarchical", "MEstimate")
    return {"w0": w0, "weighting": _WEIGHTING[kind], **({"smoothing": 1.0} if smoothed else {})}


def table_learner(problem: Problem, target: NominalTarget | NumericTarget) -> TableLearner:
    """Return the learner of trees for nominal or numeric targets."""
    settings = problem.settings
    shared = _shared(settings)
    if settings.integer("Model", "MinimalNumberExamples") > 0:
        raise UnsupportedOptionError(
            f"{settings.place('Model', 'MinimalNumberExamples')} must be 0 for nominal and "
            "numeric targets. Use MinimalWeight."
        )
    method = settings.text("Tree", "PruningMethod")
    numeric = isinstance(target, NumericTarget)
    _check_table(problem, method, numeric=numeric)
    heuristics = {"Gain": "entropy", "GainRatio": "gain_ratio", "VarianceReduction": "gini"}
    plan = TargetPlan(
        criterion="variance" if numeric else heuristics[target.heuristic(settings)],
        max_depth=shared["max_depth"],
        min_weight=shared["min_weight"],
        midpoint=shared["threshold_at"] == "midpoint",
        nominal_tests=shared["nominal_tests"],
        n_jobs=shared["n_jobs"],
        clus="numeric" if numeric else "nominal",
    )
    schema = problem.attributes.schema
    if method == "None" or problem.switches.forest:
        return TableLearner(plan, schema, target.describe)
    if numeric:
        factor = settings.number("Tree", "M5PruningMult")
        return TableLearner(plan, schema, target.describe, lambda tree: prune_m5(tree, factor))
    return TableLearner(plan, schema, target.describe, confidence=0.25)


def _check_table(problem: Problem, method: str, *, numeric: bool) -> None:
    settings = problem.settings
    allowed = ("Default", "None", "M5" if numeric else "C45")
    if method not in allowed:
        raise UnsupportedOptionError(
            f"{settings.place('Tree', 'PruningMethod')} must be one of {', '.join(allowed)} for "
            f"these targets, got {quoted(method)}."
        )
    heuristic = settings.text("Tree", "Heuristic")
    if numeric and heuristic not in ("Default", "VarianceReduction"):
        raise UnsupportedOptionError(
            f"{settings.place('Tree', 'Heuristic')} must be VarianceReduction for numeric "
            f"targets, got {quoted(heuristic)}."
        )


def _shared(settings: Settings) -> dict[str, Any]:
    """Return the parameters that do not depend on the kind of target."""
    subsets = settings.yes_no("Model", "NominalSubsetTests")
    binary = settings.yes_no("Tree", "BinarySplit")
    threads = settings.integer("Ensemble", "NumberOfThreads")
    middle = settings.text("Tree", "SplitPosition") == "Middle"
    return {
        "max_depth": settings.limit("Constraints", "MaxDepth"),
        "min_weight": settings.number("Model", "MinimalWeight"),
        "threshold_at": "midpoint" if middle else "observed",
        "nominal_tests": "nary" if not binary else "subset" if subsets else "single",
        "n_jobs": -1 if threads == 0 else threads,
        "clus_compat": True,
    }


def f_test_levels(settings: Settings) -> tuple[float, ...]:
    """Return the levels of the F-test."""
    return settings.numbers("Tree", "FTest") or (1.0,)


def forest_sizes(settings: Settings) -> list[int]:
    """Return the numbers of trees to evaluate, in increasing order."""
    sizes = sorted(int(size) for size in settings.numbers("Ensemble", "Iterations"))
    return [100] if not sizes or sizes == [0] else sizes


def plan_forest(problem: Problem) -> ForestPlan:
    """Return how to grow the forest of a run."""
    settings = problem.settings
    method = settings.text("Ensemble", "EnsembleMethod")
    bootstrap = bootstraps(settings)
    return ForestPlan(
        max(forest_sizes(settings)),
        settings.integer("General", "RandomSeed"),
        settings.integer("Ensemble", "BagSize") if bootstrap else None,
        0 if method in _ALL_FEATURES else count_features(problem),
        method in _PER_TREE,
    )


def bootstraps(settings: Settings) -> bool:
    """Return whether the trees of a forest are grown on samples of the rows."""
    method = settings.text("Ensemble", "EnsembleMethod")
    if method == "ExtraTrees":
        return settings.text("Ensemble", "EnsembleBootstrapping") == "Yes"
    return method not in _NO_BOOTSTRAP


def count_features(problem: Problem) -> int:
    """Return the number of features that a node draws."""
    text = problem.settings.text("Ensemble", "SelectRandomSubspaces")
    n_features = len(problem.attributes.descriptive)
    if text in ("0", "SQRT"):
        wanted = math.ceil(math.sqrt(n_features))
    elif text == "LOG":
        wanted = math.ceil(math.log2(n_features))
    elif text.isdigit():
        wanted = int(text)
    else:
        wanted = math.ceil(float(text) * n_features)
    if wanted > n_features:
        place = problem.settings.place("Ensemble", "SelectRandomSubspaces")
        raise UnsupportedOptionError(
            f"{place} must be at most the number of features, {n_features}, got {quoted(text)}."
        )
    return max(1, wanted)
