"""The learners of a run, and the settings that do not fit the data."""

from __future__ import annotations

from ramify.apps.clus.errors import SettingsError, UnsupportedOptionError, quoted
from ramify.apps.clus.estimator import (
    features_to_draw,
    forest_parameters,
    forest_sizes,
    tree_parameters,
)
from ramify.apps.clus.learning import ForestPlan, LabelLearner
from ramify.apps.clus.problem import Problem
from ramify.apps.clus.settings import Settings
from ramify.apps.clus.targets.hierarchical import HierarchicalTarget
from ramify.apps.clus.targets.nominal import NominalTarget
from ramify.apps.clus.targets.numeric import NumericTarget
from ramify.apps.clus.targets.table import TableLearner
from ramify.trees import PCTClassifier
from ramify.trees.clus import ClusNominal, ClusNumeric
from ramify.trees.options import TreeOptions, count_features

__all__ = [
    "UNCOUNTED_METHODS",
    "check_run",
    "hierarchical_learner",
    "plan_forest",
    "table_learner",
]


_NO_BOOTSTRAP = ("RSubspaces", "ExtraTrees", "RFeatSelection")
# CLUS gives all forests of these methods the name "Forest with 0 trees".
UNCOUNTED_METHODS = ("RSubspaces", "RFeatSelection")
_PER_TREE = ("RSubspaces", "BagSubspaces")


def hierarchical_learner(problem: Problem, target: HierarchicalTarget) -> LabelLearner:
    """Return the learner of trees for a hierarchical target."""
    hierarchy = target.labels.hierarchy
    forest = problem.switches.forest
    parameters = tree_parameters(problem.settings, "hierarchical", forest=forest)
    return LabelLearner(
        PCTClassifier(hierarchy, **parameters), hierarchy, problem.attributes.schema
    )


def table_learner(problem: Problem, target: NominalTarget | NumericTarget) -> TableLearner:
    """Return the learner of trees for nominal or numeric targets."""
    forest = problem.switches.forest
    parameters = tree_parameters(problem.settings, target.kind, forest=forest)
    del parameters["clus_compat"]
    pruning = parameters.pop("pruning", None), parameters.pop("pruning_factor", 0.0)
    conventions = ClusNumeric() if target.kind == "numeric" else ClusNominal()
    options = TreeOptions(conventions=conventions, **parameters)
    return TableLearner(options, problem.attributes.schema, target.describe, *pruning)


def plan_forest(problem: Problem) -> ForestPlan:
    """Return how to grow the forest of a run."""
    parameters = forest_parameters(problem.settings)
    method = problem.settings.text("Ensemble", "EnsembleMethod")
    drawn = parameters["max_features"] is not None
    return ForestPlan(
        parameters["n_estimators"],
        parameters["random_state"],
        (parameters["max_samples"] or 0) if bootstraps(problem.settings) else None,
        features_drawn(problem) if drawn else 0,
        method in _PER_TREE,
    )


def bootstraps(settings: Settings) -> bool:
    """Return whether the trees of a forest are grown on samples of the rows."""
    method = settings.text("Ensemble", "EnsembleMethod")
    if method == "ExtraTrees":
        return settings.text("Ensemble", "EnsembleBootstrapping") == "Yes"
    return method not in _NO_BOOTSTRAP


def features_drawn(problem: Problem) -> int:
    """Return the number of features that a node or a tree draws."""
    wanted = features_to_draw(problem.settings)
    n_features = len(problem.attributes.descriptive)
    if isinstance(wanted, int) and wanted > n_features:
        place = problem.settings.place("Ensemble", "SelectRandomSubspaces")
        raise UnsupportedOptionError(
            f"{place} must be at most the number of features, {n_features}, got '{wanted}'."
        )
    return count_features(wanted, n_features, clus=True)


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
    if problem.is_sparse and method != "Bagging" and features_drawn(problem) < n_features:
        reason = "CLUS draws the features of sparse files in another order"
        _refuse(problem, "Ensemble", "EnsembleMethod", reason)


def _refuse(problem: Problem, section: str, option: str, reason: str) -> None:
    settings = problem.settings
    raise UnsupportedOptionError(
        f"{settings.place(section, option)} = {quoted(settings.text(section, option))} is not "
        f"supported: {reason}. Remove the line."
    )
