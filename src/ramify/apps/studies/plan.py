"""The plan of a study: data, models, measures, curves and cells."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from ramify._messages import did_you_mean
from ramify.apps.reading.settings import DataOptions, ReadingSettings
from ramify.apps.studies.claims import Claim

KINDS = {
    "stages": "rounds",
    "option": "value",
    "levels": "level",
    "nested": "number of leaves k",
}
"""What a curve may run over, with the default title of the horizontal axis."""


@dataclass(frozen=True)
class CurveSpec:
    """A curve to which every fold of a model adds points."""

    name: str  # name in files, title in reports, and title of the horizontal axis
    title: str
    x_title: str
    # "stages": the measure after some rounds of models with ``staged_predict``. "option": the
    # measure at several values of one of its options; a model around another one that has a
    # parameter of that name decides again at every value. "levels": the accuracy on every level of
    # the hierarchy. "nested": the fraction of rows whose best set of k leaves contains the best
    # set of k - 1.
    over: str
    measure: str = ""  # for "stages" and "option": a function of `ramify.metrics`
    option: str = ""  # for "option": the option that varies
    # Options of the measure that stay the same.
    options: Mapping[str, Any] = field(default_factory=dict)
    values: tuple[float, ...] = ()  # rounds, values of the option, or numbers of leaves
    models: tuple[str, ...] = ()  # the models to draw; if empty, all
    rows: int | None = None  # use at most this many test rows
    log: bool = False  # whether the horizontal axis is logarithmic

    def settings(self) -> dict[str, Any]:
        """Return the settings that determine the points."""
        return {
            "over": self.over,
            "measure": self.measure,
            "options": dict(self.options),
            "option": self.option,
            "values": list(self.values),
            "rows": self.rows,
        }


# ---- the study and its cells ----------------------------------------------------------------


@dataclass(frozen=True)
class DataSpec:
    """A data set of a study."""

    name: str  # name in files, and title in reports
    title: str
    fetch: str = ""  # "animals", which is bundled, or a data set of `ramify.fetch`
    file: str | None = None  # A file with the data instead, and the file of its hierarchy
    hierarchy: str | None = None
    target: str | None = None  # the column of labels of that file; None for the default
    reading: ReadingSettings = field(default_factory=ReadingSettings)  # how that file is read
    max_level: int | None = None  # replace labels below this level with their ancestors on it
    level: int | None = None  # use only the labels of this level, as flat labels
    # Merge the labels of a level that have the same name, the last segment of their paths, and
    # keep those that occur in these published splits; see `merging`.
    merged: tuple[str, ...] = ()
    splits: tuple[str, ...] = ()  # published splits whose rows are used; if empty, all rows
    full_paths: bool = False  # use only rows whose labels all lead to leaves
    # Drop labels with fewer rows. With `full_paths`, rows that have no leaf left are dropped; the
    # others keep all their remaining labels.
    min_count: int | None = None
    # With `full_paths` and `min_count`, also remove the labels of paths that no longer end in a
    # leaf.
    trim_paths: bool = False
    common_label: float | None = None  # add a label to this fraction of the rows, chosen at random
    family: str = ""  # only data sets of the same family are compared with each other
    # How its rows are divided, if not as in the rest of the study.
    protocol: Protocol | None = None
    # Parameters that differ on these data, by the name of the model.
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, hash=False)
    # Why a model is not run on these data, by its name.
    without: Mapping[str, str] = field(default_factory=dict, hash=False)
    missing: str | None = None  # why the data set is not available; it is then only mentioned
    note: str = ""  # A note for readers of the report

    def options(self) -> DataOptions:
        """Return the options for reading the file."""
        named = (
            self.reading if self.target is None else replace(self.reading, target=(self.target,))
        )
        return named.options()

    def settings(self) -> dict[str, Any]:
        """Return the settings that determine rows and labels, apart from the files."""
        names = ("max_level", "level", "splits", "full_paths", "min_count")
        return {
            **{name: getattr(self, name) for name in names},
            "target": (self.target or "labels") if self.file else None,
            **({"reading": self.reading.to_dict()} if self.reading.given() else {}),
            **({"trim_paths": True} if self.trim_paths else {}),
            **({} if self.common_label is None else {"common_label": self.common_label}),
            **({"merged": self.merged} if self.merged else {}),
        }


@dataclass(frozen=True)
class ModelSpec:
    """A model of a study."""

    name: str  # name in files, and title in reports
    title: str
    model: str  # A name that ``ramify train --model`` accepts
    parameters: Mapping[str, Any] = field(default_factory=dict)  # its parameters
    inside: ModelSpec | None = None  # the model inside a local architecture
    # How labels are passed to it. "all": as sets of the hierarchy. "leaves": the leaves alone, as
    # flat labels. "flat": all labels as flat labels; predictions then need not be coherent.
    # "paths": as one path per row; the model then predicts one path per row. "levels": as one
    # flat class on each level, each with a model of its own. "best-of-levels": as "flat"; the
    # label with the highest score of each level is predicted. "any-parent", "every-parent", for
    # "boosting": as "flat"; costs and votes follow a hierarchy in which a label requires one of
    # its parents, or all of them.
    labels: str = "all"
    # Whether numeric features are scaled to [0, 1] by the ranges of the training rows.
    scale: bool = False
    # Parameters to choose by cross-validation on the training rows: "grid" (name to values),
    # "folds" and "measure".
    tune: Mapping[str, Any] | None = None
    show: bool = False  # whether the report shows the model of the first fold as text
    curves: tuple[CurveSpec, ...] = ()  # the curves to draw of it

    def settings(self) -> dict[str, Any]:
        """Return the settings that determine the results of the model, without its names."""
        drawn = {curve.name: curve.settings() for curve in self.curves}
        return {
            "model": self.model,
            "parameters": dict(self.parameters),
            "inside": None if self.inside is None else self.inside.settings(),
            "labels": self.labels,
            "scale": self.scale,
            "tune": None if self.tune is None else dict(self.tune),
            # Only if set: results from before these settings existed are still found.
            **({"show": True} if self.show else {}),
            **({"curves": drawn} if drawn else {}),
        }

    def with_parameters(self, parameters: Mapping[str, Any]) -> ModelSpec:
        """Return the model with other values of its parameters and those of the model inside."""
        own = {name: parameters.get(name, value) for name, value in self.parameters.items()}
        inside = None if self.inside is None else self.inside.with_parameters(parameters)
        return replace(self, parameters=own, inside=inside)


@dataclass(frozen=True)
class Protocol:
    """How rows are divided."""

    # Number of folds of the cross-validation, and how often it is repeated with new folds.
    folds: int = 10
    repeats: int = 1
    stratify: bool = False  # whether every label has about the same frequency in all folds
    train: tuple[str, ...] = ()  # published splits to use instead of folds
    test: tuple[str, ...] = ()
    # Number of test rows, drawn again for every repeat; all others are training rows. Replaces
    # folds.
    test_rows: int | None = None
    # Use at most this many random rows; with published splits, at most this many of each part.
    rows: int | None = None

    def settings(self) -> dict[str, Any]:
        """Return the settings that determine the rows of one fold: all but `repeats`."""
        return {name: value for name, value in asdict(self).items() if name != "repeats"}

    @property
    def n_folds(self) -> int:
        """Number of folds of one repeat; 1 for a split into training and test rows."""
        return 1 if self.test or self.test_rows else self.folds

    def __str__(self) -> str:
        if self.test:
            text = f"trained on {' + '.join(self.train)}, tested on {' + '.join(self.test)}"
        elif self.test_rows:
            text = f"tested on {self.test_rows:,} rows drawn at random, trained on the others"
        else:
            text = f"{self.folds}-fold cross-validation"
            text += " with stratified folds" * self.stratify
        if self.repeats > 1:
            text += f", {self.repeats} times"
        return text + (f", on at most {self.rows:,} rows" if self.rows else "")


@dataclass(frozen=True)
class MeasureSpec:
    """A measure of a study."""

    name: str  # name in files, and title in reports
    title: str
    measure: str  # A function of `ramify.metrics`, such as "pooled_auprc" or "hmc_loss"
    # Its options, such as ``labels="leaves"``. A number of thresholds is a grid on [0, 1];
    # "imbalance" stands for the number of negatives per positive in the training labels.
    options: Mapping[str, Any] = field(default_factory=dict)
    train: bool = False  # whether to measure the training rows too, which gives the overfit score

    def settings(self) -> dict[str, Any]:
        """Return the settings that determine the value."""
        return {"measure": self.measure, "options": dict(self.options), "train": self.train}


@dataclass(frozen=True)
class Cell:
    """One model on one fold of one data set: fitted, measured and stored together."""

    data: DataSpec
    model: ModelSpec
    repeat: int
    fold: int
    seed: int

    @property
    def title(self) -> str:
        """Title for messages."""
        return f"{self.model.title} on {self.data.title}, fold {self.fold + 1}"


@dataclass(frozen=True)
class Study:
    """A comparison of models on data sets, as specified by a TOML file.

    Attributes
    ----------
    name, title, text : str
        Name in files, title and introduction in reports.
    seed : int
        Seed for all random numbers.
    data, models, measures : tuple
        Their specifications; the first measure is the one that tests compare.
    protocol : Protocol
        How rows are divided.
    alpha : float
        Significance level of the tests.
    posthoc : {"nemenyi", "benjamini-hochberg"}
        The test of pairs of models after Friedman's test.
    groups : dict of str to tuple of str
        Models to compare with each other, by the name of the group; if empty, all models.
    curves : tuple of CurveSpec
        What to draw of models in addition to their scores.
    claims : tuple of Claim
        Findings to check.
    reference : tuple of dict
        Published numbers: "dataset", "model", "quantity", "value".
    reference_name : str
        The source of these numbers.
    quick : bool
        Whether this is the short form of a study.
    """

    name: str
    title: str
    text: str
    seed: int
    data: tuple[DataSpec, ...]
    models: tuple[ModelSpec, ...]
    measures: tuple[MeasureSpec, ...]
    protocol: Protocol
    alpha: float = 0.05
    posthoc: str = "nemenyi"
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    curves: tuple[CurveSpec, ...] = ()
    claims: tuple[Claim, ...] = ()
    reference: tuple[Mapping[str, Any], ...] = ()
    reference_name: str = ""
    quick: bool = False

    def on(self, names: Sequence[str]) -> Study:
        """Return the study restricted to some of its data sets.

        Parameters
        ----------
        names : sequence of str
            Names of data sets or families; if empty, all data sets.

        Returns
        -------
        Study
            Its results are part of those of the whole study.
        """
        families = dict.fromkeys(data.family for data in self.data if data.family)
        known = [*(data.name for data in self.data), *families]
        for name in names:
            if name not in known:
                raise ValueError(
                    f"the study {self.name!r} has no data set {name!r}."
                    f"{did_you_mean(name, known)} It has {', '.join(known)}."
                )
        kept = [data for data in self.data if {data.name, data.family} & set(names)]
        return replace(self, data=tuple(kept)) if names else self

    def protocol_of(self, data: DataSpec) -> Protocol:
        """Return how the rows of a data set are divided.

        Parameters
        ----------
        data : DataSpec
            A data set of the study.

        Returns
        -------
        Protocol
            Its own, or else the study's.
        """
        return self.protocol if data.protocol is None else data.protocol

    def cells(self, data: DataSpec) -> Iterator[Cell]:
        """Yield the cells of a data set fold by fold: early results then compare all models."""
        protocol = self.protocol_of(data)
        models = [
            replace(
                model.with_parameters(data.parameters.get(model.name, {})),
                curves=tuple(
                    one for one in self.curves if not one.models or model.name in one.models
                ),
            )
            for model in self.models
            if model.name not in data.without
        ]
        for repeat in range(protocol.repeats):
            for fold in range(protocol.n_folds):
                seed = _cell_seed(self.seed, data.name, repeat, fold)
                for model in models:
                    yield Cell(data, model, repeat, fold, seed)


def _cell_seed(seed: int, data: str, repeat: int, fold: int) -> int:
    """Return a seed that is the same for all models."""
    text = f"{seed}/{data}/{repeat}/{fold}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") >> 1
