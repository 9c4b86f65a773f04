"""The roles of the columns of a data file: targets and features."""

from __future__ import annotations

from dataclasses import dataclass

from ramify.clus.errors import SettingsError
from ramify.clus.ranges import columns_of
from ramify.clus.settings import Settings
from ramify.clus.switches import Switches
from ramify.io.arff_columns import ArffFile


@dataclass(frozen=True)
class Roles:
    """Positions of columns, from 0.

    Attributes
    ----------
    target : tuple of int
        The columns to predict.
    features : tuple of int
        The columns to predict them from.
    """

    target: tuple[int, ...]
    features: tuple[int, ...]


def read_roles(settings: Settings, switches: Switches, file: ArffFile) -> Roles:
    """Return the roles of the columns of a data file.

    The target is the last column by default, and all columns that are neither targets nor keys
    nor disabled are features. Columns of text are keys.

    Parameters
    ----------
    settings : Settings
        The section Attributes.
    switches : Switches
        ``-target`` and ``-disable``.
    file : ArffFile
        The training file.

    Returns
    -------
    Roles
        Targets and features.
    """
    n_columns = len(file.names)
    unused = {at for at, kind in enumerate(file.kinds) if kind == "text"}
    for option in ("Disable", "Key"):
        unused |= set(settings.columns("Attributes", option, n_columns) or ())
    if switches.disable:
        unused |= set(columns_of(switches.disable, n_columns, "-disable"))
    target = settings.columns("Attributes", "Target", n_columns)
    if switches.target:
        target = columns_of(switches.target, n_columns, "-target")
    usable = [at for at in range(n_columns) if at not in unused]
    if not target:
        if not usable:
            raise SettingsError(
                f"{settings.place('Attributes', 'Disable')} must leave a column to predict."
            )
        target = (usable[-1],)
    chosen = settings.columns("Attributes", "Descriptive", n_columns)
    features = usable if chosen is None else chosen
    found = tuple(at for at in features if at not in target and file.kinds[at] != "text")
    return Roles(target, found)
