"""The learning problem of a run: the data of a settings file and the roles of its attributes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ramify.clus.data import (
    Attributes,
    Rows,
    clus_values,
    read_file,
    read_quoted_relation,
    read_rows,
    take_rows,
)
from ramify.clus.errors import SettingsError, UnsupportedOptionError, quoted
from ramify.clus.ranges import columns_of
from ramify.clus.sampling import draw_fraction
from ramify.clus.settings import Settings
from ramify.clus.switches import Switches
from ramify.clus.targets.choice import Target, read_target
from ramify.clus.values import number_of
from ramify.io.arff_columns import ArffFile

__all__ = ["Problem", "read_problem"]


@dataclass(frozen=True)
class Problem:
    """The data of a run.

    Attributes
    ----------
    settings : Settings
        The settings.
    switches : Switches
        The switches of the command line.
    attributes : Attributes
        The attributes of the training file.
    target : Target
        What to predict.
    train : Rows
        Training rows.
    test, prune : Rows or None
        Test rows and validation rows.
    is_sparse : bool
        Whether the training file is sparse.
    """

    settings: Settings
    switches: Switches
    attributes: Attributes
    target: Target
    train: Rows
    test: Rows | None
    prune: Rows | None
    is_sparse: bool

    @property
    def has_missing(self) -> bool:
        """Whether CLUS reports missing values."""
        return self.train.has_missing


def read_problem(settings: Settings, switches: Switches) -> Problem:
    """Read the data of a settings file.

    Parameters
    ----------
    settings : Settings
        The settings.
    switches : Switches
        The switches of the command line.

    Returns
    -------
    Problem
        The data.
    """
    path = _existing(settings, "File")
    file = read_file(path)
    attributes = _read_attributes(settings, switches, file)
    target = read_target(settings, attributes, file)

    def rows_of(other: ArffFile) -> Rows:
        attributes.check_same(other)
        return read_rows(other, attributes, target.read(other))

    train = rows_of(file)
    held_out: dict[str, Rows | None] = {}
    for option in ("TestSet", "PruneSet"):
        text = settings.text("Data", option)
        share = _fraction(text)
        if text in ("None", ""):
            held_out[option] = None
        elif share is not None:
            most = settings.limit("Data", "PruneSetMax") if option == "PruneSet" else None
            chosen = draw_fraction(len(train), share, most)
            rest = np.setdiff1d(np.arange(len(train)), chosen)
            held_out[option], train = take_rows(train, chosen), take_rows(train, rest)
        else:
            held_out[option] = rows_of(read_file(_existing(settings, option)))
    if settings.yes_no("Data", "RemoveMissingTarget"):
        train = take_rows(train, np.flatnonzero(target.is_known(train.y)))
    return Problem(
        settings,
        switches,
        attributes,
        target,
        train,
        held_out["TestSet"],
        held_out["PruneSet"],
        file.is_sparse,
    )


def _existing(settings: Settings, option: str) -> Path:
    path = settings.file("Data", option)
    if path is None or not path.is_file():
        raise SettingsError(
            f"{settings.place('Data', option)} must name an existing file, got "
            f"{quoted(str(path))}."
        )
    return path


def _fraction(text: str) -> float | None:
    try:
        return number_of(text)
    except ValueError:
        return None


def _read_attributes(settings: Settings, switches: Switches, file: ArffFile) -> Attributes:
    n_columns = len(file.names)

    def columns(option: str) -> tuple[int, ...] | None:
        return settings.columns("Attributes", option, n_columns)

    disabled = set(columns("Disable") or ())
    if switches.disable:
        disabled |= set(columns_of(switches.disable, n_columns, "-disable"))
    texts = {at for at, kind in enumerate(file.kinds) if kind == "text"}
    key = set(columns("Key") or ()) | texts
    target = columns("Target")
    if switches.target:
        target = columns_of(switches.target, n_columns, "-target")
    if not target:
        usable = [at for at in range(n_columns) if at not in disabled | key]
        if not usable:
            raise SettingsError(f"{settings.place('Attributes', 'Target')}: no column is left.")
        target = (usable[-1],)
    clustering = columns("Clustering") or target
    if clustering != target:
        raise UnsupportedOptionError(
            f"{settings.place('Attributes', 'Clustering')} must equal Target, got "
            f"{quoted(settings.text('Attributes', 'Clustering'))}. Remove the line."
        )
    free = [at for at in range(n_columns) if at not in disabled | key | set(target)]
    descriptive = columns("Descriptive") or tuple(free)
    descriptive = tuple(at for at in descriptive if at not in target and at not in texts)
    _check_features(settings, file, descriptive)
    return Attributes(
        file.relation,
        read_quoted_relation(Path(file.path), file.relation),
        tuple(file.names),
        tuple(file.kinds),
        {at: clus_values(values) for at, values in file.values.items()},
        target,
        clustering,
        descriptive,
        tuple(sorted(key & texts)),
        tuple(sorted(disabled)),
    )


def _check_features(settings: Settings, file: ArffFile, descriptive: tuple[int, ...]) -> None:
    wrong: Any = [file.names[at] for at in descriptive if file.kinds[at] == "labels"]
    if wrong:
        raise UnsupportedOptionError(
            f"{settings.place('Attributes', 'Descriptive')}: the hierarchical attribute "
            f"{wrong[0]!r} cannot be a feature. Disable it."
        )
    if not descriptive:
        raise SettingsError(
            f"{settings.place('Attributes', 'Descriptive')}: no column is left as a feature."
        )
