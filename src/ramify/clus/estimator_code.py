"""The estimator and the parameters that correspond to a settings file, for explained code."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ramify.clus.data import Attributes
from ramify.clus.errors import UnsupportedOptionError, quoted
from ramify.clus.plan import hierarchical_parameters
from ramify.clus.settings import Settings
from ramify.clus.switches import Switches
from ramify.clus.values import number_of
from ramify.io.arff_columns import ArffFile

__all__ = ["Program", "TargetKind", "estimator_of"]

TargetKind = Literal["hierarchical", "multilabel", "nominal", "numeric"]

CRITERIA = {
    "Default": "entropy",
    "Gain": "entropy",
    "GainRatio": "gain_ratio",
    "VarianceReduction": "gini",
}
_TREES: dict[TargetKind, str] = {
    "hierarchical": "PCTClassifier",
    "multilabel": "PCTClassifier",
    "nominal": "PCTMultiTargetClassifier",
    "numeric": "PCTRegressor",
}
_FORESTS: dict[TargetKind, dict[str, str]] = {
    "hierarchical": {"Bagging": "PCTBaggingClassifier", "RForest": "PCTForestClassifier"},
    "multilabel": {"Bagging": "PCTBaggingClassifier", "RForest": "PCTForestClassifier"},
    "nominal": dict.fromkeys(("Bagging", "RForest"), "PCTMultiTargetForestClassifier"),
    "numeric": dict.fromkeys(("Bagging", "RForest"), "PCTForestRegressor"),
}


@dataclass
class Program:
    """A program that is being written.

    Attributes
    ----------
    settings : Settings
        The settings.
    switches : Switches
        The switches of the command line.
    file : ArffFile
        The training file.
    attributes : Attributes
        Its columns and their roles.
    imports : dict of str to set of str
        Names to import, by module.
    notes : list of str
        What the program does differently.
    """

    settings: Settings
    switches: Switches
    file: ArffFile
    attributes: Attributes
    imports: dict[str, set[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def use(self, module: str, *names: str) -> None:
        """Import names.

        Parameters
        ----------
        module : str
            The module; empty to import modules.
        *names : str
            The names.
        """
        self.imports.setdefault(module, set()).update(names)

    def rows_file(self, option: str) -> Path | None:
        """Return the file of the test or validation rows; None for a fraction of the rows."""
        is_drawn = self.settings.fraction("Data", option) is not None
        return None if is_drawn else self.settings.file("Data", option)

    @property
    def kind(self) -> TargetKind:
        """The kind of the targets, which determines the method of CLUS."""
        kind = self.file.kinds[self.attributes.target[0]]  # all targets are of one kind
        if kind == "labels":
            return "hierarchical"
        if kind == "numeric":
            return "numeric"
        values = [set(self.file.values[at]) for at in self.attributes.target]
        binary = len(values) > 1 and all(found == {"0", "1"} for found in values)
        return "multilabel" if binary else "nominal"

    @property
    def is_hierarchical(self) -> bool:
        """Whether the labels form a hierarchy."""
        return self.kind == "hierarchical"

    @property
    def has_labels(self) -> bool:
        """Whether the targets are read as labels of a hierarchy, which may be flat."""
        return self.kind in {"hierarchical", "multilabel"}


def estimator_of(program: Program) -> tuple[str, dict[str, Any]]:
    """Return the class of the estimator and its parameters.

    Parameters
    ----------
    program : Program
        The settings and the data.

    Returns
    -------
    name : str
        The class.
    parameters : dict of str to Any
        Its parameters.
    """
    parameters = {**_target_parameters(program), **_tree_parameters(program)}
    if not program.switches.forest:
        return _TREES[program.kind], parameters
    method = program.settings.text("Ensemble", "EnsembleMethod")
    if method not in _FORESTS[program.kind]:
        raise UnsupportedOptionError(
            f"{program.settings.place('Ensemble', 'EnsembleMethod')}: --explain requires Bagging "
            f"or RForest, got {quoted(method)}."
        )
    name = _FORESTS[program.kind][method]
    return name, parameters | _forest_parameters(program, name, method)


def _target_parameters(program: Program) -> dict[str, Any]:
    """Return the parameters that depend on the kind of the targets."""
    settings = program.settings
    found: dict[str, Any] = {}
    if program.is_hierarchical:
        return hierarchical_parameters(settings)
    if program.kind != "numeric":
        found["criterion"] = CRITERIA[settings.text("Tree", "Heuristic")]
    weights = settings.numbers("Attributes", "ClusteringWeights")
    if not program.has_labels and len(weights) == len(program.attributes.target) > 1:
        found["target_weight"] = list(weights)
    if program.switches.forest:
        return found
    method = settings.text("Tree", "PruningMethod")
    if method == "Default" and settings.text("Data", "PruneSet") not in {"None", ""}:
        program.notes.append("The pruning on the rows of PruneSet is left out.")
    elif program.kind == "numeric" and method in {"Default", "M5"}:
        found["pruning"] = "m5"
        if settings.given("Tree", "M5PruningMult"):
            found["pruning_factor"] = settings.number("Tree", "M5PruningMult")
    elif program.kind != "numeric" and method in {"Default", "C45"}:
        found["pruning"] = "pessimistic"
    return found


def _tree_parameters(program: Program) -> dict[str, Any]:
    settings = program.settings
    found: dict[str, Any] = {"min_weight": settings.number("Model", "MinimalWeight")}
    if settings.limit("Constraints", "MaxDepth") is not None:
        found["max_depth"] = settings.limit("Constraints", "MaxDepth")
    found |= _f_test(program)
    if settings.text("Tree", "SplitPosition") == "Middle":
        found["threshold_at"] = "midpoint"
    if not settings.yes_no("Tree", "BinarySplit"):
        found["nominal_tests"] = "nary"
    elif not settings.yes_no("Model", "NominalSubsetTests"):
        found["nominal_tests"] = "single"
    return found


def _f_test(program: Program) -> dict[str, Any]:
    settings = program.settings
    levels = settings.numbers("Tree", "FTest")
    entropy = program.kind in {"multilabel", "nominal"} and (
        settings.text("Tree", "Heuristic") != "VarianceReduction"
    )
    if levels == (1.0,) or entropy:
        return {}
    if len(levels) == 1:
        return {"f_test": levels[0]}
    if not program.has_labels or program.switches.forest:
        program.notes.append(
            "The choice among the values of FTest is left out: the first is used."
        )
        return {"f_test": levels[0]}
    if settings.text("Data", "PruneSet") != "None":
        return {"f_test": list(levels)}
    folds = settings.integer("Model", "ParamTuneNumberFolds")
    return {"f_test": list(levels), "cv": folds}


def _forest_parameters(program: Program, name: str, method: str) -> dict[str, Any]:
    settings = program.settings
    sizes = sorted(int(size) for size in settings.numbers("Ensemble", "Iterations"))
    if len(sizes) > 1:
        program.notes.append(f"The ensembles of {sizes[:-1]} trees are the first of these trees.")
    found: dict[str, Any] = {"n_estimators": sizes[-1] or 100 if sizes else 100}
    if method == "RForest":
        text = settings.text("Ensemble", "SelectRandomSubspaces")
        named = {"0": "sqrt", "SQRT": "sqrt", "LOG": "log2"}
        found["max_features"] = named.get(text) or (
            int(text) if text.isdecimal() else number_of(text)
        )
    elif name != "PCTBaggingClassifier":
        found["max_features"] = None
    if settings.integer("Ensemble", "BagSize"):
        found["max_samples"] = settings.integer("Ensemble", "BagSize")
    if settings.yes_no("Ensemble", "OOBestimate"):
        found["oob_score"] = True
    threads = settings.integer("Ensemble", "NumberOfThreads")
    if threads != 1:
        found["n_jobs"] = threads or -1
    found["random_state"] = settings.integer("General", "RandomSeed")
    return found
