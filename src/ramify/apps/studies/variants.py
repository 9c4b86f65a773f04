"""Variants of a study, and its quick form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from ramify._messages import did_you_mean
from ramify.apps.studies.checking import check_keys
from ramify.apps.studies.plan import DataSpec, Study

__all__ = [
    "apply_variant",
    "narrow",
    "shorten",
]


_VARIANT = (
    *("title", "text", "datasets", "all_datasets", "models", "measures", "curves", "protocol"),
    *("parameters", "claims"),
)
_QUICK = ("datasets", "parameters", "folds", "repeats", "rows", "text")


def apply_variant(
    tables: Mapping[str, Any], name: str
) -> tuple[dict[str, Any], Mapping[str, Any]]:
    """Return the tables of a study with the changes of a variant."""
    known = tables.get("variants", {})
    if name not in known:
        listed = f"It has {', '.join(known)}." if known else "It has none."
        raise ValueError(
            f"the study {tables['name']!r} has no variant {name!r}.{did_you_mean(name, known)} "
            f"{listed}"
        )
    variant = known[name]
    check_keys(variant, _VARIANT, f"variant {name!r}")
    title = tables.get("title", tables["name"])
    texts = (str(one.get("text", "")).strip() for one in (tables, variant))
    changed = {
        **tables,
        "name": f"{tables['name']}-{name}",
        "title": variant.get("title", f"{title}: {name}"),
        "text": "\n\n".join(filter(None, texts)),
    }
    for key in ("all_datasets", "measures", "curves", "protocol"):
        if key in variant:
            changed[key] = {**tables.get(key, {}), **variant[key]}
    if "models" in variant:
        changed["models"] = _chosen(tables["models"], variant["models"], name)
        _leave_out_others(changed)
    if "claims" in variant:
        changed["claims"] = variant["claims"]
    return changed, variant


def _chosen(models: Sequence[Mapping[str, Any]], wanted: Sequence[Any], name: str) -> list[Any]:
    """Return models of the study by name, and new ones as they are."""
    known = {model.get("name"): model for model in models}
    for one in wanted:
        if isinstance(one, str) and one not in known:
            raise ValueError(
                f"variant {name!r} names the model {one!r}, which the study does not have."
                f"{did_you_mean(one, [str(model) for model in known])}"
            )
    return [known[one] if isinstance(one, str) else one for one in wanted]


def _leave_out_others(tables: dict[str, Any]) -> None:
    """Leave out what names models that the variant does not have."""
    models = {model.get("name") for model in tables["models"]}

    def known(names: Iterable[str]) -> list[str]:
        # Models of a grid have their values in brackets.
        return [name for name in names if name.partition("[")[0] in models]

    def is_known(claim: Mapping[str, Any]) -> bool:
        names = [*claim.get("models", ()), *chain(*claim.get("pairs", ()))]
        return len(known(names)) == len(names)

    def only_known(data: Mapping[str, Any]) -> dict[str, Any]:
        own = {key: data[key] for key in ("parameters", "without") if key in data}
        return {**data, **{key: {one: by[one] for one in known(by)} for key, by in own.items()}}

    tables["claims"] = list(filter(is_known, tables.get("claims", ())))
    tests = dict(tables.get("tests", {}))
    groups = {group: known(names) for group, names in tests.get("groups", {}).items()}
    tables["tests"] = {**tests, "groups": {name: own for name, own in groups.items() if own}}
    tables["datasets"] = list(map(only_known, tables["datasets"]))
    curves = {
        name: {**curve, "models": known(curve.get("models", ()))}
        for name, curve in tables.get("curves", {}).items()
        if not curve.get("models") or known(curve["models"])
    }
    tables["curves"] = curves


def narrow(study: Study, variant: Mapping[str, Any]) -> Study:
    """Return a study on the data sets, and with the parameters, of a variant."""
    kept = study.on(variant.get("datasets", ()))
    families = {data.family for data in kept.data}
    names = {data.name for data in kept.data}
    parameters = variant.get("parameters", {})
    return replace(
        kept,
        models=tuple(model.with_parameters(parameters) for model in kept.models),
        claims=tuple(
            one
            for one in kept.claims
            if (not one.family or one.family in families)
            and (not one.datasets or names.intersection(one.datasets))
        ),
    )


def shorten(study: Study, quick: Mapping[str, Any], *, of_variant: bool = False) -> Study:
    """Return the quick form of a study: fewer data sets, folds and rows, smaller ensembles."""
    check_keys(quick, _QUICK, "[quick]")
    own = [data.name for data in study.data]
    for name in () if of_variant else quick.get("datasets", ()):
        if name not in own:
            raise ValueError(
                f"[quick] names the data set {name!r}, which the study does not have."
                f"{did_you_mean(name, own)}"
            )
    kept = set(own) & set(quick.get("datasets", own)) or set(own)
    numbers = {key: quick[key] for key in ("folds", "repeats", "rows") if key in quick}
    smaller = quick.get("parameters", {})
    return replace(
        study,
        data=tuple(_less(data, numbers, smaller) for data in study.data if data.name in kept),
        models=tuple(model.with_parameters(smaller) for model in study.models),
        protocol=replace(study.protocol, **numbers),
        text="\n\n".join(filter(None, (study.text, str(quick.get("text", "")).strip()))),
        quick=True,
    )


def _less(data: DataSpec, numbers: Mapping[str, int], smaller: Mapping[str, Any]) -> DataSpec:
    """Shorten the settings of a data set."""
    parameters = {
        model: {name: smaller.get(name, value) for name, value in own.items()}
        for model, own in data.parameters.items()
    }
    protocol = data.protocol and replace(data.protocol, **numbers)  # type: ignore[arg-type]
    return replace(data, parameters=parameters, protocol=protocol)
