"""Mistakes in a study's file, each told with what to write instead."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ramify._validation import did_you_mean
from ramify.studies.plan import Claim, Study

__all__ = ["check_keys", "check_names"]


def check_keys(table: Mapping[str, Any], known: Iterable[str], where: str) -> None:
    """Refuse settings that there are not.

    Parameters
    ----------
    table : mapping
        As parsed.
    known : iterable of str
        The settings that there are.
    where : str
        What a message calls the table.
    """
    known = list(known)
    for key in table:
        if key not in known:
            raise ValueError(
                f"{where} has no setting {key!r}.{did_you_mean(key, known)} It has "
                f"{', '.join(known)}."
            )


def check_names(study: Study) -> None:
    """Refuse names that are given twice, or that nothing has.

    Parameters
    ----------
    study : Study
        Models, data sets, groups and claims.
    """
    models = [model.name for model in study.models]
    for kind, names in (("models", models), ("data sets", [one.name for one in study.data])):
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise ValueError(f"two {kind} are called {min(twice)!r}. Give each its own name.")
    used = [(f"group {group!r}", one) for group, names in study.groups.items() for one in names]
    for claim in study.claims:
        _check_claim(study, claim)
        used += [("a claim", one) for one in (*claim.models, *sum(claim.pairs, ()))]
    for data in study.data:
        used += [(f"parameters of data set {data.name!r}", one) for one in data.parameters]
        used += [(f"without of data set {data.name!r}", one) for one in data.without]
    for curve in study.curves:
        used += [(f"curve {curve.name!r}", one) for one in curve.models]
    for where, name in used:
        if name not in models:
            raise ValueError(
                f"{where} names the model {name!r}, which there is not."
                f"{did_you_mean(name, models)}"
            )


def _check_claim(study: Study, claim: Claim) -> None:
    measures = [measure.name for measure in study.measures]
    if claim.measure and claim.measure not in measures:
        raise ValueError(
            f"a claim names the measure {claim.measure!r}, which there is not."
            f"{did_you_mean(claim.measure, measures)}"
        )
    families = {data.family for data in study.data}
    if claim.family and claim.family not in families:
        raise ValueError(
            f"a claim names the family {claim.family!r}, of which no data set is."
            f"{did_you_mean(claim.family, families)}"
        )
    if claim.kind == "place" and not 1 <= claim.place <= len(claim.models):
        raise ValueError(
            f"a claim has place = {claim.place} among {len(claim.models)} models. Give a number "
            "from 1 to that."
        )
