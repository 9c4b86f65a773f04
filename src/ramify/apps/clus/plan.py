"""Map settings of CLUS to learners, and refuse settings that do not fit the data."""

from __future__ import annotations

import math
from typing import Any

from ramify.apps.clus.errors import SettingsError, UnsupportedOptionError, quoted
from ramify.apps.clus.learning import ForestPlan, LabelLearner
from ramify.apps.clus.problem import Problem
from ramify.apps.clus.settings import Settings
from ramify.apps.clus.targets.hierarchical import HierarchicalTarget
from ramify.apps.clus.targets.nominal import NominalTarget
from ramify.apps.clus.targets.numeric import NumericTarget
from ramify.apps.clus.targets.table import TableLearner
from ramify.trees import PCTClassifier
from ramify.trees.clus import ClusNominal, ClusNumeric
from ramify.trees.options import TreeOptions

__all__ = [
    "UNCOUNTED_METHODS",
    "check_run",
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
        hierarchy,
        criterion="variance",
        clus_compat=True,
        **hierarchical_parameters(settings),
        **_shared(settings),
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
    options = TreeOptions(
        criterion="variance" if numeric else heuristics[target.heuristic(settings)],
        conventions=ClusNumeric() if numeric else ClusNominal(),
        **shared,
    )
    schema = problem.attributes.schema
    if method == "None" or problem.switches.forest:
        return TableLearner(options, schema, target.describe)
    if numeric:
        factor = settings.number("Tree", "M5PruningMult")
        return TableLearner(options, schema, target.describe, "m5", factor)
    return TableLearner(options, schema, target.describe, "pessimistic")


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


# ---- what is refused ------------------------------------------------------------------------


# Values that change the files of CLUS in ways that ramify does not follow.
_REFUSED = (
    ("Output", "UnknownFrequency", ("Yes",)),
    ("Output", "BranchFrequency", ("Yes",)),
    ("Output", "OutputPythonModel", ("Yes",)),
    ("Output", "AllFoldDatasets", ("Yes",)),
    ("Output", "PrintModelAndExamples", ("Yes",)),
)
_REFUSED_IN_FORESTS = (
    ("Ensemble", "EnsembleMethod", ("ExtraTrees",)),
    ("Ensemble", "FeatureRanking", ("RForest",)),
    ("Ensemble", "Optimize", ("Yes",)),
    ("Ensemble", "WriteEnsemblePredictions", ("Yes",)),
    ("Ensemble", "VotingType", ("OOBModelWeighted", "OOBTargetWeighted")),
)
_RANKED = ("Bagging", "RForest", "ExtraTrees")


def check_run(problem: Problem) -> None:
    """Raise an error if a run asks for something that ramify does not do."""
    settings, switches = problem.settings, problem.switches
    refused = [*_REFUSED, *(_REFUSED_IN_FORESTS if switches.forest else ())]
    for section, option, values in refused:
        for value in settings.names(section, option):
            if value in values:
                _refuse(problem, section, option, "ramify does not follow CLUS here")
    if settings.names("Output", "ShowInfo") not in ((), ("Count",)):
        _refuse(problem, "Output", "ShowInfo", "leaves only show Count")
    folds, n_rows = settings.text("Data", "XVal"), len(problem.train)
    shown = switches.xval and settings.yes_no("Output", "AllFoldErrors")
    if shown and folds != "LOO" and int(folds) > n_rows:
        raise SettingsError(
            f"{settings.place('Data', 'XVal')} must be at most the number of rows, {n_rows}, with "
            f"AllFoldErrors = Yes, got {folds}."
        )
    _check_model(problem)


def _check_model(problem: Problem) -> None:
    settings = problem.settings
    several = len(settings.numbers("Tree", "FTest")) > 1
    if problem.switches.forest and several:
        _refuse(problem, "Tree", "FTest", "a forest takes one level")
    if problem.switches.forest:
        _check_forest(problem)
    if isinstance(problem.target, HierarchicalTarget) and not problem.switches.forest:
        if settings.text("Tree", "PruningMethod") not in ("Default", "None"):
            _refuse(problem, "Tree", "PruningMethod", "hierarchical trees are not pruned")
    elif several or (problem.prune is not None and not problem.switches.forest):
        _refuse(problem, "Tree", "FTest", "levels are chosen for hierarchical targets only")


def _check_forest(problem: Problem) -> None:
    settings = problem.settings
    method = settings.text("Ensemble", "EnsembleMethod")
    sizes = forest_sizes(settings)
    several = len(sizes) > 1
    if 0 in sizes or len(set(sizes)) < len(sizes):
        text = quoted(settings.text("Ensemble", "Iterations"))
        raise SettingsError(
            f"{settings.place('Ensemble', 'Iterations')} must be different numbers of trees, each "
            f"at least 1, got {text}."
        )
    if method in UNCOUNTED_METHODS and several:
        reason = f"with {method}, CLUS gives all forests the same name. Give one number"
        _refuse(problem, "Ensemble", "Iterations", reason)
    if method == "BagSubspaces" and several and settings.yes_no("Ensemble", "OOBestimate"):
        reason = "with BagSubspaces, CLUS repeats one forest in .oob files. Give one number"
        _refuse(problem, "Ensemble", "Iterations", reason)
    if method not in _RANKED and settings.names("Ensemble", "FeatureRanking"):
        reason = f"CLUS ranks features with {', '.join(_RANKED)}, but not with {method}"
        _refuse(problem, "Ensemble", "FeatureRanking", reason)
    n_features = len(problem.attributes.descriptive)
    if problem.is_sparse and method != "Bagging" and count_features(problem) < n_features:
        reason = "CLUS draws the features of sparse files in another order"
        _refuse(problem, "Ensemble", "EnsembleMethod", reason)


def _refuse(problem: Problem, section: str, option: str, reason: str) -> None:
    settings = problem.settings
    raise UnsupportedOptionError(
        f"{settings.place(section, option)} = {quoted(settings.text(section, option))} is not "
        f"supported: {reason}. Remove the line."
    )
