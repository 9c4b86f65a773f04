"""Refuse options that ramify does not reproduce, before anything is learnt."""

from __future__ import annotations

from ramify.clus.errors import SettingsError, UnsupportedOptionError, quoted
from ramify.clus.plan import UNCOUNTED_METHODS, count_features, forest_sizes
from ramify.clus.problem import Problem
from ramify.clus.targets.hierarchical import HierarchicalTarget

__all__ = ["check_run"]

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
    """Raise an error if a run asks for something that ramify does not do.

    Parameters
    ----------
    problem : Problem
        The settings and the data.
    """
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
