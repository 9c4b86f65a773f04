"""The roles of the columns of a data file: targets, features, keys and columns left out."""

from __future__ import annotations

from pathlib import Path

from ramify.clus.data import Attributes, clus_values, read_quoted_relation
from ramify.clus.errors import SettingsError, UnsupportedOptionError, quoted
from ramify.clus.ranges import columns_of
from ramify.clus.settings import Settings
from ramify.clus.switches import Switches
from ramify.io.arff_columns import ArffFile

__all__ = ["read_attributes"]


def read_attributes(settings: Settings, switches: Switches, file: ArffFile) -> Attributes:
    """Return the attributes of a training file with their roles.

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
    ramify.clus.data.Attributes
        All columns of the file.
    """
    n_columns = len(file.names)

    def columns(option: str) -> tuple[int, ...] | None:
        return settings.columns("Attributes", option, n_columns)

    disabled = set(columns("Disable") or ())
    if switches.disable:
        disabled |= set(columns_of(switches.disable, n_columns, "-disable"))
    texts = {at for at, kind in enumerate(file.kinds) if kind == "text"}
    key = set(columns("Key") or ()) | texts
    usable = [at for at in range(n_columns) if at not in disabled | key]
    target = columns("Target")
    if switches.target:
        target = columns_of(switches.target, n_columns, "-target")
    if not target and not usable:
        raise SettingsError(f"{settings.place('Attributes', 'Target')}: no column is left.")
    target = target or (usable[-1],)
    clustering = columns("Clustering") or target
    if clustering != target:
        raise UnsupportedOptionError(
            f"{settings.place('Attributes', 'Clustering')} must equal Target, got "
            f"{quoted(settings.text('Attributes', 'Clustering'))}. Remove the line."
        )
    chosen = columns("Descriptive") or usable
    descriptive = tuple(at for at in chosen if at not in target and at not in texts)
    _check_target(settings, file, target)
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


def _check_target(settings: Settings, file: ArffFile, target: tuple[int, ...]) -> None:
    kinds = {file.kinds[at] for at in target}
    if kinds in ({"numeric"}, {"nominal"}) or (kinds == {"labels"} and len(target) == 1):
        return
    names = ", ".join(file.names[at] for at in target)
    raise UnsupportedOptionError(
        f"{settings.place('Attributes', 'Target')} must hold one hierarchical column, or only "
        f"numeric or only nominal columns, got {quoted(names)}."
    )


def _check_features(settings: Settings, file: ArffFile, descriptive: tuple[int, ...]) -> None:
    wrong = [file.names[at] for at in descriptive if file.kinds[at] == "labels"]
    if wrong:
        raise UnsupportedOptionError(
            f"{settings.place('Attributes', 'Descriptive')}: the hierarchical attribute "
            f"{wrong[0]!r} cannot be a feature. Disable it."
        )
    if not descriptive:
        raise SettingsError(
            f"{settings.place('Attributes', 'Descriptive')}: no column is left as a feature."
        )
