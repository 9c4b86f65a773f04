"""Choose the kind of target from the types of the target attributes."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ramify.apps.clus.data import Attributes
from ramify.apps.clus.errors import SettingsError, UnsupportedOptionError, quoted
from ramify.apps.clus.estimator import TargetKind, target_weights
from ramify.apps.clus.settings import Settings, read_small_text
from ramify.apps.clus.targets.hierarchical import ClusHierarchy, HierarchicalTarget, LabelFormat
from ramify.apps.clus.targets.nominal import NominalTarget
from ramify.apps.clus.targets.numeric import NumericTarget
from ramify.io.arff_columns import ArffFile

__all__ = [
    "Target",
    "read_target",
]


Target: TypeAlias = HierarchicalTarget | NominalTarget | NumericTarget


def read_target(settings: Settings, attributes: Attributes, file: ArffFile) -> Target:
    """Return what a run predicts."""
    kind = attributes.target_kind
    if kind == "hierarchical":
        return _hierarchical(settings, file)
    if kind != "numeric":
        return _nominal(settings, attributes, kind)
    names = tuple(attributes.names[at] for at in attributes.target)
    factors, normalize = target_weights(settings, len(names))
    return NumericTarget(names, attributes.target, factors, normalize, [])


def _nominal(settings: Settings, attributes: Attributes, kind: TargetKind) -> NominalTarget:
    names = tuple(attributes.names[at] for at in attributes.target)
    factors, normalize = target_weights(settings, len(names))
    if settings.yes_no("Multilabel", "OptimizeThresholds"):
        raise UnsupportedOptionError(
            f"{settings.place('Multilabel', 'OptimizeThresholds')} must be No, got 'Yes'. Remove "
            "the line."
        )
    return NominalTarget(
        kind,
        names,
        attributes.target,
        tuple(attributes.values[at] for at in attributes.target),
        factors,
        normalize,
        settings.number("Multilabel", "MLCThreshold"),
        [],
        settings.text("Ensemble", "VotingType") == "Majority",
    )


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
        settings.yes_no("Hierarchical", "SingleLabel"),
    )


def _evaluated(settings: Settings, labels: ClusHierarchy) -> NDArray[np.bool_]:
    path = settings.file("Hierarchical", "EvalClasses")
    if path is None:
        return np.ones(len(labels.labels), dtype=bool)
    lines = read_small_text(path, "a file with labels").splitlines()
    names = {labels.label_of(line.strip()) for line in lines if line.strip()}
    unknown = sorted(names - set(labels.labels))
    if unknown or not names:
        found = f"found {quoted(unknown[0])}" if unknown else "found none"
        raise SettingsError(f"{path}: expected labels of the hierarchy, one per line, {found}.")
    return np.array([label in names for label in labels.labels])
