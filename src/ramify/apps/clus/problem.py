"""The problem of a settings file: its rows, features and targets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ramify.apps.clus.data import (
    Attributes,
    Rows,
    read_attributes,
    read_file,
    read_rows,
    take_rows,
)
from ramify.apps.clus.errors import SettingsError, UnsupportedOptionError, quoted
from ramify.apps.clus.estimator import (
    UNCOUNTED_METHODS,
    TargetKind,
    bootstraps,
    features_to_draw,
    forest_sizes,
    target_weights,
)
from ramify.apps.clus.hierarchical_target import ClusHierarchy, HierarchicalTarget, LabelFormat
from ramify.apps.clus.options import Switches
from ramify.apps.clus.settings import Settings, read_small_text
from ramify.apps.clus.table_targets import NominalTarget, NumericTarget, TableTarget
from ramify.io.arff.columns import ArffFile
from ramify.trees.clus import JavaRandom
from ramify.trees.options import count_features


def draw_fraction(n_rows: int, share: float, most: int | None = None) -> NDArray[np.int64]:
    """Return the rows, in order, that CLUS draws for a share of them, whatever RandomSeed is.

    >>> draw_fraction(10, 0.3)
    array([0, 2, 8])
    """
    random = JavaRandom(0)
    free = list(range(n_rows))
    wanted = math.floor(n_rows * share + 0.5)
    wanted = wanted if most is None else min(wanted, most)
    chosen = [free.pop(random.next_int(len(free))) for _ in range(min(wanted, n_rows))]
    return np.array(sorted(chosen), dtype=np.int64)


# ---- the problem ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Problem:
    """The data of a run."""

    settings: Settings  # the settings
    switches: Switches  # the switches of the command line
    attributes: Attributes  # the attributes of the training file
    target: Target  # what to predict
    train: Rows  # training rows
    test: Rows | None  # test rows and validation rows
    prune: Rows | None
    is_sparse: bool  # whether the training file is sparse

    # Whether CLUS reports missing values in the training file; it finds none in sparse files.
    has_missing: bool


def read_problem(settings: Settings, switches: Switches) -> Problem:
    """Read the data of a settings file."""
    file = read_file(settings.data_file())
    attributes = read_attributes(settings, switches, file)
    target = read_target(settings, attributes, file)

    def rows_of(other: ArffFile) -> Rows:
        attributes.check_same(other)
        return read_rows(other, attributes, target.read(other))

    train = rows_of(file)
    has_missing = train.has_missing
    if isinstance(target, TableTarget):
        has_missing |= not target.is_complete(train.y)
        target = target.weighed(train)
    has_missing &= not file.is_sparse
    held_out: dict[str, Rows | None] = {}
    for option in ("TestSet", "PruneSet"):
        if settings.fraction("Data", option) is not None:
            held_out[option], train = _draw(settings, option, train)
        elif path := settings.file("Data", option):
            held_out[option] = rows_of(read_file(path))
        else:
            held_out[option] = None
    if settings.yes_no("Data", "RemoveMissingTarget"):
        train = take_rows(train, np.flatnonzero(target.is_known(train.y)))
    if not target.is_known(train.y).any():
        raise SettingsError(f"{file.path}: no row has a value of the target.")
    return Problem(
        settings,
        switches,
        attributes,
        target,
        train,
        held_out["TestSet"],
        held_out["PruneSet"],
        file.is_sparse,
        has_missing,
    )


def _draw(settings: Settings, option: str, train: Rows) -> tuple[Rows, Rows]:
    """Draw a fraction of the training rows; return the rows drawn and the rows left."""
    most = settings.limit("Data", "PruneSetMax") if option == "PruneSet" else None
    chosen = draw_fraction(len(train), settings.number("Data", option), most)
    if not 0 < len(chosen) < len(train):
        raise SettingsError(
            f"{settings.place('Data', option)} = {settings.text('Data', option)} draws "
            f"{len(chosen)} of {len(train)} rows; it must draw at least one row and leave one."
        )
    rest = np.setdiff1d(np.arange(len(train)), chosen)
    return take_rows(train, chosen), take_rows(train, rest)


# ---- the target -----------------------------------------------------------------------------


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
    return NumericTarget(
        names=names, positions=attributes.target, factors=factors, normalize=normalize
    )


def _nominal(settings: Settings, attributes: Attributes, kind: TargetKind) -> NominalTarget:
    names = tuple(attributes.names[at] for at in attributes.target)
    factors, normalize = target_weights(settings, len(names))
    if settings.yes_no("Multilabel", "OptimizeThresholds"):
        raise UnsupportedOptionError(
            f"{settings.place('Multilabel', 'OptimizeThresholds')} must be No, got 'Yes'. Remove "
            "the line."
        )
    return NominalTarget(
        kind=kind,
        names=names,
        positions=attributes.target,
        values=tuple(attributes.values[at] for at in attributes.target),
        factors=factors,
        normalize=normalize,
        threshold=settings.number("Multilabel", "MLCThreshold"),
        majority=settings.text("Ensemble", "VotingType") == "Majority",
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
        settings.listed("Hierarchical", "RecallValues"),
        settings.listed("Hierarchical", "ClassificationThreshold"),
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
    ("Output", "OutputPythonModel", ("Yes",)),
    ("Output", "AllFoldDatasets", ("Yes",)),
    ("Output", "PrintModelAndExamples", ("Yes",)),
)
_REFUSED_IN_FORESTS = (
    ("Ensemble", "EnsembleMethod", ("ExtraTrees",)),
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
    if problem.switches.ssl:
        _check_supervision(problem)
    several = len(settings.numbers("Tree", "FTest")) > 1
    if problem.switches.forest:
        _check_forest(problem)
    if isinstance(problem.target, HierarchicalTarget) and not problem.switches.forest:
        if settings.text("Tree", "PruningMethod") not in ("Default", "None"):
            _refuse(problem, "Tree", "PruningMethod", "hierarchical trees are not pruned")
    elif problem.prune is not None and not (several or problem.switches.forest):
        _refuse(problem, "Data", "PruneSet", "trees are not pruned on validation rows")


_SUPERVISED = (
    ("SemiSupervisedMethod", "PCT", "only trees of the method PCT are grown"),
    ("UnlabeledData", "", "rows without labels must stand in the training file"),
    ("ImputeMissingTargetValues", "No", "labels are not imputed"),
)


def _check_supervision(problem: Problem) -> None:
    """Raise an error if -ssl asks for what is not known to equal CLUS."""
    settings, switches = problem.settings, problem.switches
    for option, value, reason in _SUPERVISED:
        if settings.text("SemiSupervised", option) != value:
            _refuse(problem, "SemiSupervised", option, reason)
    weights = settings.numbers("SemiSupervised", "PossibleWeights")
    if len(weights) != 1 or not 0 <= weights[0] < 1:
        reason = (
            "the folds by which CLUS chooses one are not known. Give one weight from 0 to below 1"
        )
        _refuse(problem, "SemiSupervised", "PossibleWeights", reason)
    known = problem.target.is_known(problem.train.y)
    where = "-ssl is supported only for"
    if switches.forest or switches.xval or not isinstance(problem.target, HierarchicalTarget):
        raise UnsupportedOptionError(
            f"{where} a single tree for a hierarchical target. Omit -ssl, -forest and -xval."
        )
    if problem.train.has_missing:
        raise UnsupportedOptionError(f"{where} features without missing values. Fill them in.")
    if known.all():
        raise UnsupportedOptionError(
            f"{where} files in which some rows have no labels: CLUS would hide labels. Omit -ssl."
        )


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
    if "RForest" in settings.names("Ensemble", "FeatureRanking"):
        if not bootstraps(settings):
            _refuse(problem, "Ensemble", "FeatureRanking", "RForest needs rows out of the bags")
        measures = settings.names("Multilabel", "MultiLabelRankingMeasure")
        if problem.target.section == "Multilabel" and measures != ("HammingLoss",):
            _refuse(problem, "Multilabel", "MultiLabelRankingMeasure", "it must be HammingLoss")
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
