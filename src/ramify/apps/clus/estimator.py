"""The estimator that settings ask for, from which runs and the explaining code are made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ramify.apps.clus.errors import SettingsError, UnsupportedOptionError, quoted
from ramify.apps.clus.settings import Settings
from ramify.apps.clus.values import number_of

TargetKind = Literal["hierarchical", "multilabel", "nominal", "numeric"]

_WEIGHTING = {
    "ExpSumParentWeight": "sum",
    "ExpAvgParentWeight": "avg",
    "ExpMinParentWeight": "min",
    "ExpMaxParentWeight": "max",
    "NoWeight": "avg",
}
_CRITERIA = {"Gain": "entropy", "GainRatio": "gain_ratio", "VarianceReduction": "gini"}
_NO_BOOTSTRAP = ("RSubspaces", "ExtraTrees", "RFeatSelection")
# CLUS gives all forests of these methods the name "Forest with 0 trees".
UNCOUNTED_METHODS = ("RSubspaces", "RFeatSelection")
_DRAWN = {"0": "sqrt", "SQRT": "sqrt", "LOG": "log2"}

_NAMES: Mapping[tuple[TargetKind, str], str] = {
    ("hierarchical", "tree"): "PCTClassifier",
    ("hierarchical", "Bagging"): "PCTBaggingClassifier",
    ("hierarchical", "RForest"): "PCTForestClassifier",
    ("multilabel", "tree"): "PCTClassifier",
    ("multilabel", "Bagging"): "PCTBaggingClassifier",
    ("multilabel", "RForest"): "PCTForestClassifier",
    ("nominal", "tree"): "PCTMultiTargetClassifier",
    ("nominal", "Bagging"): "PCTMultiTargetForestClassifier",
    ("nominal", "RForest"): "PCTMultiTargetForestClassifier",
    ("numeric", "tree"): "PCTRegressor",
    ("numeric", "Bagging"): "PCTForestRegressor",
    ("numeric", "RForest"): "PCTForestRegressor",
}


def estimator_name(settings: Settings, kind: TargetKind, *, forest: bool) -> str:
    """Return the name of the class that grows the trees of settings."""
    method = settings.text("Ensemble", "EnsembleMethod") if forest else "tree"
    if (kind, method) not in _NAMES:
        raise UnsupportedOptionError(
            f"{settings.place('Ensemble', 'EnsembleMethod')}: --explain requires Bagging or "
            f"RForest, got {quoted(method)}."
        )
    return _NAMES[kind, method]


def tree_parameters(settings: Settings, kind: TargetKind, *, forest: bool) -> dict[str, Any]:
    """Return the parameters of a tree, or of the trees of a forest, with the names of ramify."""
    threads = settings.integer("Ensemble", "NumberOfThreads")
    found = {
        **_target_parameters(settings, kind),
        "min_weight": settings.number("Model", "MinimalWeight"),
        "max_depth": _max_depth(settings, kind),
        "threshold_at": (
            "midpoint" if settings.text("Tree", "SplitPosition") == "Middle" else "observed"
        ),
        "nominal_tests": _nominal_tests(settings),
        "n_jobs": {0: -1, 1: None}.get(threads, threads),
        "clus_compat": True,
    }
    if found.get("criterion") not in ("entropy", "gain_ratio"):  # only variances are compared
        found |= _f_test(settings, kind, forest=forest)
    pruning = _pruning(settings, kind)
    return found if forest else found | pruning


def _target_parameters(settings: Settings, kind: TargetKind) -> dict[str, Any]:
    if kind == "hierarchical":
        weights = settings.text("Hierarchical", "WType")
        w0 = 1.0 if weights == "NoWeight" else settings.number("Hierarchical", "WParam")
        smoothed = settings.yes_no("Hierarchical", "MEstimate")
        return {"w0": w0, "weighting": _WEIGHTING[weights], "smoothing": float(smoothed)}
    chosen = heuristic(settings, kind)
    if kind != "numeric":
        return {"criterion": _CRITERIA[chosen]}
    if chosen != "VarianceReduction":
        raise UnsupportedOptionError(
            f"{settings.place('Tree', 'Heuristic')} must be VarianceReduction for numeric "
            f"targets, got {quoted(chosen)}."
        )
    return {}


def heuristic(settings: Settings, kind: TargetKind) -> str:
    """Return the heuristic in effect."""
    chosen = settings.text("Tree", "Heuristic")
    if kind == "hierarchical":
        return "VarianceReduction"
    usual = "VarianceReduction" if kind == "numeric" else "Gain"
    return usual if chosen == "Default" else chosen


def _max_depth(settings: Settings, kind: TargetKind) -> int | None:
    if settings.integer("Model", "MinimalNumberExamples") <= 0:
        return settings.limit("Constraints", "MaxDepth")
    if kind == "hierarchical":
        return 0  # CLUS does not count the rows of hierarchical targets: no test has enough
    raise UnsupportedOptionError(
        f"{settings.place('Model', 'MinimalNumberExamples')} must be 0 for nominal and "
        "numeric targets. Use MinimalWeight."
    )


def _nominal_tests(settings: Settings) -> str:
    if not settings.yes_no("Tree", "BinarySplit"):
        return "nary"
    return "subset" if settings.yes_no("Model", "NominalSubsetTests") else "single"


def f_test_levels(settings: Settings) -> tuple[float, ...]:
    """Return the levels of the F-test; 1 for no test."""
    return settings.numbers("Tree", "FTest") or (1.0,)


def _f_test(settings: Settings, kind: TargetKind, *, forest: bool) -> dict[str, Any]:
    levels = f_test_levels(settings)
    if levels == (1.0,):
        return {}
    if len(levels) == 1 or forest or kind in ("nominal", "numeric"):
        return {"f_test": levels[0]}
    if settings.text("Data", "PruneSet") != "None":
        return {"f_test": list(levels)}
    return {"f_test": list(levels), "cv": settings.integer("Model", "ParamTuneNumberFolds")}


def _pruning(settings: Settings, kind: TargetKind) -> dict[str, Any]:
    """Return how a tree is pruned; hierarchical ones are not."""
    if kind == "hierarchical":
        return {}
    method = settings.text("Tree", "PruningMethod")
    allowed = ("Default", "None", "M5" if kind == "numeric" else "C45")
    if method not in allowed:
        raise UnsupportedOptionError(
            f"{settings.place('Tree', 'PruningMethod')} must be one of {', '.join(allowed)} for "
            f"these targets, got {quoted(method)}."
        )
    if method == "None" or prunes_on_rows(settings, kind):
        return {}
    if kind == "numeric":
        return {"pruning": "m5", "pruning_factor": settings.number("Tree", "M5PruningMult")}
    return {"pruning": "pessimistic"}


def prunes_on_rows(settings: Settings, kind: TargetKind) -> bool:
    """Return whether CLUS prunes a tree on the rows of PruneSet."""
    named = settings.text("Data", "PruneSet") not in ("None", "")
    default = settings.text("Tree", "PruningMethod") == "Default"
    chooses = len(f_test_levels(settings)) > 1  # these rows then choose a level of the F-test
    return kind != "hierarchical" and named and default and not chooses


def forest_sizes(settings: Settings) -> list[int]:
    """Return the numbers of trees to evaluate, in increasing order."""
    sizes = sorted(int(size) for size in settings.numbers("Ensemble", "Iterations"))
    return [100] if not sizes or sizes == [0] else sizes


def features_to_draw(settings: Settings) -> Any:
    """Return how many features a node or a tree draws, as in `max_features`."""
    text = settings.text("Ensemble", "SelectRandomSubspaces")
    return _DRAWN.get(text) or (max(1, int(text)) if text.isdecimal() else number_of(text))


def forest_parameters(settings: Settings) -> dict[str, Any]:
    """Return the parameters of a forest in addition to those of its trees."""
    every = settings.text("Ensemble", "EnsembleMethod") == "Bagging"
    return {
        "n_estimators": forest_sizes(settings)[-1],
        "max_features": None if every else features_to_draw(settings),
        "max_samples": settings.integer("Ensemble", "BagSize") or None,
        "oob_score": settings.yes_no("Ensemble", "OOBestimate"),
        "random_state": settings.integer("General", "RandomSeed"),
    }


def bootstraps(settings: Settings) -> bool:
    """Return whether the trees of a forest are grown on samples of the rows."""
    method = settings.text("Ensemble", "EnsembleMethod")
    if method == "ExtraTrees":
        return settings.text("Ensemble", "EnsembleBootstrapping") == "Yes"
    return method not in _NO_BOOTSTRAP


def target_weights(settings: Settings, n_targets: int) -> tuple[NDArray[np.float64], bool]:
    """Return the factors of the targets, and whether to divide by their variances."""
    factors = np.ones(n_targets)
    normalize = settings.text("Attributes", "Weights") == "Normalize"
    for option in ("Weights", "ClusteringWeights"):
        found = settings.numbers("Attributes", option)
        if not found:
            continue
        if len(found) not in (1, n_targets):
            raise SettingsError(
                f"{settings.place('Attributes', option)} must have one number, or one for each of "
                f"the {n_targets} targets, got {len(found)}."
            )
        factors = factors * np.array(found)
    return factors, normalize
