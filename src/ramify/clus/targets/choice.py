"""Choose the kind of target from the types of the target attributes."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ramify.clus.data import Attributes
from ramify.clus.errors import SettingsError, UnsupportedOptionError
from ramify.clus.settings import Settings
from ramify.clus.targets.hierarchical import HierarchicalTarget
from ramify.clus.targets.hierarchy import ClusHierarchy, LabelFormat
from ramify.clus.targets.nominal import NominalTarget
from ramify.clus.targets.numeric import NumericTarget
from ramify.io.arff_columns import ArffFile

__all__ = ["Target", "read_target"]

Target: TypeAlias = HierarchicalTarget | NominalTarget | NumericTarget


def read_target(settings: Settings, attributes: Attributes, file: ArffFile) -> Target:
    """Return what a run predicts.

    Parameters
    ----------
    settings : Settings
        The settings.
    attributes : Attributes
        The attributes of the training file.
    file : ArffFile
        The training file.

    Returns
    -------
    Target
        The target.
    """
    kinds = {attributes.kinds[at] for at in attributes.target}
    if kinds == {"labels"}:
        return _hierarchical(settings, file)
    if kinds == {"nominal"}:
        return _nominal(settings, attributes)
    if kinds == {"numeric"}:
        names = tuple(attributes.names[at] for at in attributes.target)
        factors, normalize = _weights(settings, len(names))
        return NumericTarget(names, attributes.target, factors, normalize, [])
    found = ", ".join(attributes.names[at] for at in attributes.target)
    raise UnsupportedOptionError(
        f"{settings.place('Attributes', 'Target')}: targets of the kinds {sorted(kinds)} are not "
        f"supported, got {found}."
    )


def _nominal(settings: Settings, attributes: Attributes) -> NominalTarget:
    names = tuple(attributes.names[at] for at in attributes.target)
    factors, normalize = _weights(settings, len(names))
    if settings.yes_no("Multilabel", "OptimizeThresholds"):
        raise UnsupportedOptionError(
            f"{settings.place('Multilabel', 'OptimizeThresholds')} must be No, got 'Yes'. Remove "
            "the line."
        )
    return NominalTarget(
        names,
        attributes.target,
        tuple(attributes.values[at] for at in attributes.target),
        factors,
        normalize,
        settings.number("Multilabel", "MLCThreshold"),
        [],
        settings.text("Ensemble", "VotingType") == "Majority",
    )


def _weights(settings: Settings, n_targets: int) -> tuple[NDArray[np.float64], bool]:
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


def _hierarchical(settings: Settings, file: ArffFile) -> HierarchicalTarget:
    kind = settings.text("Hierarchical", "Type").lower() or None
    if not settings.given("Hierarchical", "Type"):
        kind = None
    wanted = LabelFormat(
        kind,
        settings.text("Hierarchical", "HSeparator"),
        settings.text("Hierarchical", "EmptySetIndicator"),
        settings.file("Hierarchical", "DefinitionFile"),
    )
    labels = ClusHierarchy.of_file(file, wanted)
    return HierarchicalTarget(
        labels,
        _evaluated(settings, labels),
        settings.numbers("Hierarchical", "RecallValues"),
        settings.numbers("Hierarchical", "ClassificationThreshold"),
    )


def _evaluated(settings: Settings, labels: ClusHierarchy) -> NDArray[np.bool_]:
    path = settings.file("Hierarchical", "EvalClasses")
    chosen = np.ones(len(labels.labels), dtype=bool)
    if path is None:
        return chosen
    if not Path(path).is_file():
        raise SettingsError(
            f"{settings.place('Hierarchical', 'EvalClasses')} must name an existing file, got "
            f"{str(path)!r}."
        )
    names = {line.strip() for line in path.read_text(encoding="utf-8").splitlines()}
    chosen[:] = [label in names for label in labels.labels]
    return chosen
