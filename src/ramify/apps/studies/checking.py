"""Settings and names in the file of a study: checked, and converted to the types of a plan."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import fields
from typing import Any

from ramify._messages import did_you_mean
from ramify.apps.studies.claims import ALL_MEASURES, Claim, check_claim, quantity_names
from ramify.apps.studies.plan import Study

_STUDY_NAME = re.compile(r"[\w][\w .+-]*")


def check_study_name(name: Any) -> None:
    """Raise an error for a name that cannot be the name of a folder.

    >>> check_study_name("../../x")
    Traceback (most recent call last):
        ...
    ValueError: name of the study must consist of letters, digits, spaces, and . + - _ ...
    """
    if not isinstance(name, str) or not _STUDY_NAME.fullmatch(name):
        raise ValueError(
            "name of the study must consist of letters, digits, spaces, and . + - _ and start "
            f"with a letter, a digit or _, got {name!r}. It names the folder of results; use "
            "title for other text."
        )


def check_table(value: Any, where: str) -> None:
    """Raise an error for a value that is not a table."""
    if not isinstance(value, Mapping):
        raise ValueError(f"{where} must be a table, got {_shown(value)}. Write {{ key = value }}.")


def check_list(value: Any, where: str) -> None:
    """Raise an error for a value that is not a list."""
    if not isinstance(value, list | tuple):
        raise ValueError(
            f"{where} must be a list of tables, got {_shown(value)}. Write [[{where}]]."
        )


def _shown(value: Any) -> str:
    """Return the start of a value as text, for messages."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def check_keys(table: Mapping[str, Any], known: Iterable[str], where: str) -> None:
    """Raise an error for settings that do not exist."""
    known = list(known)
    for key in table:
        if key not in known:
            raise ValueError(
                f"{where} has no setting {key!r}.{did_you_mean(key, known)} It has "
                f"{', '.join(known)}."
            )


_TYPES: dict[str, Callable[[Any], Any]] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
    "tuple": tuple,
}


def read_fields(
    kind: type,
    table: Mapping[str, Any],
    where: str,
    *,
    without: tuple[str, ...] = (),
    also: tuple[str, ...] = (),
) -> dict[str, Any]:
    """Check the names in a table, which are those of a dataclass, and convert their values."""
    types = {one.name: str(one.type).partition("[")[0] for one in fields(kind)}
    known = [name for name in types if name not in without]
    check_keys(table, [*known, *also], where)
    return {
        name: _TYPES.get(types[name], lambda same: same)(table[name])
        for name in known
        if name in table
    }


def check_known(
    names: Iterable[str],
    known: Collection[str],
    where: str,
    kind: str,
    lack: str = "which the study does not have",
) -> None:
    """Raise an error if a part of a study names something that the study does not have."""
    for name in names:
        if name not in known:
            raise ValueError(
                f"{where} names the {kind} {name!r}, {lack}.{did_you_mean(name, known)}"
            )


def check_groups(study: Study) -> None:
    """Raise an error for groups of rows in folds that cannot keep them together."""
    for data in study.data:
        if data.reading.groups is not None and study.protocol_of(data).stratify:
            raise ValueError(
                f"reading of {data.name!r}: groups cannot be combined with stratify = true. Set "
                "stratify = false in the protocol of these data."
            )


def check_names(study: Study) -> None:
    """Raise an error for duplicate names and unknown models, measures and families."""
    models = [model.name for model in study.models]
    for kind, names in (("models", models), ("data sets", [one.name for one in study.data])):
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise ValueError(f"names of {kind} must be unique, got {min(twice)!r} twice.")
    used = [(f"group {group!r}", names) for group, names in study.groups.items()]
    for claim in study.claims:
        _check_names_of_claim(study, claim)
        check_claim(claim)
        used.append(("a claim", (*claim.models, *sum(claim.pairs, ()))))
    for data in study.data:
        used.append((f"parameters of data set {data.name!r}", tuple(data.parameters)))
        used.append((f"without of data set {data.name!r}", tuple(data.without)))
    used += [(f"curve {curve.name!r}", curve.models) for curve in study.curves]
    for where, named in used:
        check_known(named, models, where, "model")


def _check_names_of_claim(study: Study, claim: Claim) -> None:
    quantities = quantity_names((measure.name, measure.train) for measure in study.measures)
    measures = [*quantities, ALL_MEASURES]
    check_known([claim.measure] if claim.measure else [], measures, "a claim", "measure")
    check_known(claim.datasets, [data.name for data in study.data], "a claim", "data set")
    families = {data.family for data in study.data}
    check_known(
        [claim.family] if claim.family else [],
        families,
        "a claim",
        "family",
        "which no data set belongs to",
    )
