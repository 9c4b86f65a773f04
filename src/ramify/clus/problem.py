"""The learning problem of a run: the data of a settings file and the roles of its attributes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ramify.clus.data import Attributes, Rows, read_file, read_rows, take_rows
from ramify.clus.errors import SettingsError
from ramify.clus.roles import read_attributes
from ramify.clus.sampling import draw_fraction
from ramify.clus.settings import Settings
from ramify.clus.switches import Switches
from ramify.clus.targets.choice import Target, read_target
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
    file = read_file(settings.data_file())
    attributes = read_attributes(settings, switches, file)
    target = read_target(settings, attributes, file)

    def rows_of(other: ArffFile) -> Rows:
        attributes.check_same(other)
        return read_rows(other, attributes, target.read(other))

    train = rows_of(file)
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
