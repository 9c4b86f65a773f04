"""Checks of the settings and names in the file of a study."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from ramify._messages import did_you_mean
from ramify.apps.studies.claims import ALL_MEASURES, Claim, check_claim, quantity_names
from ramify.apps.studies.plan import Study

__all__ = [
    "check_keys",
    "check_list",
    "check_names",
    "check_study_name",
    "check_table",
]


_STUDY_NAME = re.compile(r"[\w][\w .+-]*")


def check_study_name(name: Any) -> None:
    """Raise an error for a name that cannot be the name of a folder.

    Examples
    --------
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


def check_names(study: Study) -> None:
    """Raise an error for duplicate names and unknown models, measures and families."""
    models = [model.name for model in study.models]
    for kind, names in (("models", models), ("data sets", [one.name for one in study.data])):
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise ValueError(f"names of {kind} must be unique, got {min(twice)!r} twice.")
    used = [(f"group {group!r}", one) for group, names in study.groups.items() for one in names]
    for claim in study.claims:
        _check_names_of_claim(study, claim)
        check_claim(claim)
        used += [("a claim", one) for one in (*claim.models, *sum(claim.pairs, ()))]
    for data in study.data:
        used += [(f"parameters of data set {data.name!r}", one) for one in data.parameters]
        used += [(f"without of data set {data.name!r}", one) for one in data.without]
    for curve in study.curves:
        used += [(f"curve {curve.name!r}", one) for one in curve.models]
    for where, name in used:
        if name not in models:
            raise ValueError(
                f"{where} names the model {name!r}, which the study does not have."
                f"{did_you_mean(name, models)}"
            )


def _check_names_of_claim(study: Study, claim: Claim) -> None:
    quantities = quantity_names((measure.name, measure.train) for measure in study.measures)
    measures = [*quantities, ALL_MEASURES]
    if claim.measure and claim.measure not in measures:
        raise ValueError(
            f"a claim names the measure {claim.measure!r}, which the study does not have."
            f"{did_you_mean(claim.measure, measures)}"
        )
    known = [data.name for data in study.data]
    for name in claim.datasets:
        if name not in known:
            raise ValueError(
                f"a claim names the data set {name!r}, which the study does not have."
                f"{did_you_mean(name, known)}"
            )
    families = {data.family for data in study.data}
    if claim.family and claim.family not in families:
        raise ValueError(
            f"a claim names the family {claim.family!r}, which no data set belongs to."
            f"{did_you_mean(claim.family, families)}"
        )
