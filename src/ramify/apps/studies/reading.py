"""Read studies: TOML files and tables, variants and the quick form."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, product, zip_longest
from pathlib import Path
from typing import Any

from ramify._messages import did_you_mean
from ramify.apps.named_estimators import MODELS, check_inner, check_parameter_names
from ramify.apps.reading.settings import ReadingSettings
from ramify.apps.studies.checking import (
    check_groups,
    check_keys,
    check_known,
    check_list,
    check_names,
    check_study_name,
    check_table,
    read_fields,
)
from ramify.apps.studies.claims import CLAIM_KINDS, CLAIM_ORDERS, Claim
from ramify.apps.studies.included import find_study
from ramify.apps.studies.plan import (
    KINDS,
    CurveSpec,
    DataSpec,
    MeasureSpec,
    ModelSpec,
    Protocol,
    Study,
)
from ramify.metrics import get_scorer_names

_TOP = (
    *("name", "title", "text", "seed", "datasets", "all_datasets", "models", "measures"),
    *("curves", "protocol", "tests", "claims", "reference", "reference_name", "variants", "quick"),
)
_TABLES = ("measures", "all_datasets", "curves", "protocol", "tests", "variants", "quick")
_LISTS = ("datasets", "models", "claims")
_POSTHOC = ("nemenyi", "benjamini-hochberg")


def load_study(name: str | Path, *, variant: str | None = None, quick: bool = False) -> Study:
    """Read a study.

    Parameters
    ----------
    name : str or Path
        A study of `list_studies`, or a TOML file.
    variant : str, optional
        Apply the changes of this table of ``[variants]``.
    quick : bool
        Apply the changes of the table ``[quick]``.

    Returns
    -------
    Study
        The study, checked for mistakes.

    Examples
    --------
    >>> from ramify.studies import load_study
    >>> study = load_study("animals", quick=True)
    >>> [model.name for model in study.models]
    ['shares', 'tree', 'per-edge', 'forest']
    """
    path = find_study(name)
    tables = _parse(path.read_text("utf-8"), str(path))
    return make_study(tables, path.parent, variant=variant, quick=quick)


def _parse(text: str, origin: str) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib  # noqa: PLC0415 (Python 3.11 and later)
    else:
        try:
            import tomli as tomllib  # noqa: PLC0415 (optional)
        except ImportError:
            raise ImportError(
                "reading a study needs tomli on Python 3.10: pip install 'ramify[cli]'"
            ) from None
    try:
        return dict(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{origin} is not a valid TOML file: {error}.") from None
    except RecursionError:
        raise ValueError(
            f"{origin} is not a study: its values are nested too deeply. A study needs at most "
            "four levels."
        ) from None


def make_study(
    tables: Mapping[str, Any],
    folder: Path | None = None,
    *,
    variant: str | None = None,
    quick: bool = False,
) -> Study:
    """Make a study from the tables of a TOML file.

    Parameters
    ----------
    tables : mapping
        As parsed.
    folder : Path, optional
        The folder of the files that it names.
    variant : str, optional
        Apply the changes of this table of ``variants``.
    quick : bool
        Whether to apply ``quick``.

    Returns
    -------
    Study
        The study, checked for mistakes.

    Examples
    --------
    >>> from ramify.studies import make_study
    >>> study = make_study({
    ...     "name": "first", "datasets": [{"name": "animals"}],
    ...     "models": [{"name": "tree", "model": "tree", "grid": {"max_depth": [2, 4]}}],
    ...     "measures": {"auprc": {"measure": "pooled_auprc"}}})
    >>> [model.title for model in study.models]
    ['tree, max_depth=2', 'tree, max_depth=4']
    """
    check_keys(tables, _TOP, "the study")
    for name in ("name", "datasets", "models", "measures"):
        if not tables.get(name):
            raise ValueError(f"the study has no {name!r}. Add a table or value of this name.")
    check_study_name(tables["name"])
    for name in _TABLES:
        check_table(tables.get(name, {}), name)
    for name in _LISTS:
        check_list(tables.get(name, []), name)
    changes: Mapping[str, Any] = {}
    if variant is not None:
        tables, changes = apply_variant(tables, variant)
    folder = folder or Path()
    tests = _tests(tables.get("tests", {}))
    models = tuple(one for table in tables["models"] for one in _models(table))
    study = Study(
        name=str(tables["name"]),
        title=str(tables.get("title", tables["name"])),
        text=str(tables.get("text", "")).strip(),
        seed=int(tables.get("seed", 0)),
        data=_all_data(tables["datasets"], tables.get("all_datasets", {}), folder),
        models=models,
        measures=tuple(_measure(name, table) for name, table in tables["measures"].items()),
        protocol=_protocol(tables.get("protocol", {})),
        **tests,
        curves=tuple(_curve(name, table) for name, table in tables.get("curves", {}).items()),
        claims=tuple(_claim(table) for table in tables.get("claims", ())),
        reference=_reference(tables.get("reference"), folder),
        reference_name=str(tables.get("reference_name", "published")),
    )
    check_names(study)
    check_groups(study)
    study = narrow(study, changes)
    short = tables.get("quick", {})
    return shorten(study, short, of_variant=variant is not None) if quick else study


def _tests(table: Mapping[str, Any]) -> dict[str, Any]:
    check_keys(table, ("alpha", "posthoc", "groups"), "[tests]")
    posthoc = str(table.get("posthoc", "nemenyi"))
    if posthoc not in _POSTHOC:
        raise ValueError(
            f"posthoc of [tests] must be one of {', '.join(_POSTHOC)}, got {posthoc!r}."
        )
    groups = {name: tuple(group) for name, group in table.get("groups", {}).items()}
    return {"alpha": float(table.get("alpha", 0.05)), "posthoc": posthoc, "groups": groups}


def _all_data(
    tables: Iterable[Mapping[str, Any]], shared: Mapping[str, Any], folder: Path
) -> tuple[DataSpec, ...]:
    """Return the data sets; those of several levels one level after the other."""
    for table in tables:
        check_table(table, "an entry of datasets")
    by_table = [_levels({**shared, **table}) for table in tables]
    by_level = zip_longest(*by_table)
    return tuple(_data(one, folder) for level in by_level for one in level if one is not None)


def _levels(table: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a table for each level that a data set lists; levels are families of data sets."""
    levels = table.get("level")
    if not isinstance(levels, list):
        return [table]
    name = table.get("name", "?")
    return [
        {
            **table,
            "name": f"{name}-{level}",
            "title": f"{table.get('title', name)}, level {level}",
            **({} if "file" in table else {"fetch": table.get("fetch", name)}),
            "family": table.get("family", f"level {level}"),
            "level": level,
        }
        for level in levels
    ]


def _data(table: Mapping[str, Any], folder: Path) -> DataSpec:
    where = f"data set {table.get('name', '?')!r}"
    found = read_fields(DataSpec, table, where)
    if "name" not in table:
        raise ValueError("a data set has no 'name'. Add one, e.g. name = \"animals\".")
    found.setdefault("title", found["name"])
    for name in ("file", "hierarchy"):
        if name in found:
            found[name] = str(folder / found[name])
    if "file" not in found:
        found.setdefault("fetch", table["name"])
    if "protocol" in found:
        found["protocol"] = _protocol(found["protocol"], f"protocol of {where}")
    if found.get("trim_paths") and not (found.get("full_paths") and found.get("min_count")):
        raise ValueError(
            f"{where} has trim_paths = true without full_paths and min_count. Set both, or leave "
            "trim_paths out."
        )
    if found.get("merged") and ("level" in found or found.get("full_paths")):
        raise ValueError(
            f"{where} has merged together with level or full_paths. Leave one of them out."
        )
    if "level" in found and "max_level" in found:
        raise ValueError(f"{where} has level and max_level. Use only one of them.")
    if "reading" in found:
        found["reading"] = _settings(found["reading"], where)
    return DataSpec(**found)


def _settings(table: Any, where: str) -> ReadingSettings:
    """Return how the file of a data set is read."""
    try:
        return ReadingSettings.from_dict(table)
    except ValueError as error:
        raise ValueError(f"reading of {where}: {error}") from None


def _models(table: Mapping[str, Any], *, inner: bool = False) -> list[ModelSpec]:
    """Return one model, or one for each combination of a grid."""
    check_table(table, "inside of a model" if inner else "an entry of models")
    where = f"model {table.get('name', '?')!r}"
    found = read_fields(ModelSpec, table, where, without=("curves",), also=("grid",))
    for part in ("parameters", "grid", "inside", "tune"):
        if part in table:
            check_table(table[part], f"{part} of {where}")
    if "tune" in table:
        check_keys(table["tune"], ("grid", "folds", "measure"), f"tune of {where}")
        found["tune"] = {"folds": 3, "measure": "pooled_auprc", **table["tune"]}
    _check_kind(table, where, inner)
    _check_labels(table, where)
    if "inside" in table:
        (found["inside"],) = _models({"name": table["name"], **table["inside"]}, inner=True)
    return _expanded(ModelSpec(**{"title": table["name"], **found}), table.get("grid", {}))


def _check_kind(table: Mapping[str, Any], where: str, inner: bool) -> None:
    """Check the kind of a model and the names of its parameters; make nothing."""
    for name in ("name", "model"):
        if name not in table:
            raise ValueError(
                f"{where} has no {name!r}. Add it; models are {', '.join(MODELS)}, shares."
            )
    model, parameters = table["model"], table.get("parameters", {})
    given = [*parameters, *table.get("grid", {}), *table.get("tune", {}).get("grid", {})]
    if inner and str(model).startswith("sklearn."):
        check_inner(model, given)
    elif model not in (*MODELS, "shares"):
        raise ValueError(
            f"the kind of {where} must be one of {', '.join(MODELS)}, shares, got {model!r}."
            f"{did_you_mean(model, MODELS)}"
        )
    if model in MODELS:
        check_parameter_names(model, given)
        if isinstance(parameters.get("estimator"), str):
            check_inner(parameters["estimator"])


_LABELS = {
    **dict.fromkeys(("all", "leaves", "flat", "paths", "best-of-levels")),
    "levels": "per-level",
    "any-parent": "boosting",
    "every-parent": "boosting",
}
"""The values of `labels`, with the kind of model that some require."""


def _check_labels(table: Mapping[str, Any], where: str) -> None:
    labels = table.get("labels", "all")
    if labels not in _LABELS:
        raise ValueError(f"labels of {where} must be one of {', '.join(_LABELS)}, got {labels!r}.")
    kind = _LABELS[labels]
    if kind is not None and table["model"] != kind:
        raise ValueError(
            f'labels of {where} must not be "{labels}" unless its kind is {kind}, got '
            f"{table['model']!r}."
        )
    if labels == "levels" and "inside" not in table:
        raise ValueError(f'{where} has labels = "levels" without inside. Add the model to fit.')


def _expanded(model: ModelSpec, grid: Mapping[str, list[Any]]) -> list[ModelSpec]:
    if not grid:
        return [model]
    found = []
    for values in product(*grid.values()):
        chosen = dict(zip(grid, values, strict=True))
        text = ", ".join(f"{name}={value}" for name, value in chosen.items())
        found.append(
            replace(
                model,
                name=f"{model.name}[{text}]",
                title=f"{model.title}, {text}",
                parameters={**model.parameters, **chosen},
            )
        )
    return found


def _measure(name: str, table: Mapping[str, Any]) -> MeasureSpec:
    check_table(table, f"measure {name!r}")
    measure = table.get("measure", name)
    _check_measure(measure, f"measure {name!r}")
    own = ("measure", "title", "train")
    options = {key: value for key, value in table.items() if key not in own}
    title = table.get("title", str(measure).replace("_", " "))
    return MeasureSpec(name, title, measure, options, bool(table.get("train", False)))


def _check_measure(measure: str, where: str) -> None:
    scorers = get_scorer_names()
    if measure not in scorers and f"neg_{measure}" not in scorers:
        known = [scorer.removeprefix("neg_") for scorer in scorers]
        raise ValueError(
            f"{where} must be a measure of ramify.metrics, got {measure!r}."
            f"{did_you_mean(measure, known)} Use one of {', '.join(known)}."
        )


def _curve(name: str, table: Mapping[str, Any]) -> CurveSpec:
    where = f"curve {name!r}"
    check_table(table, where)
    found = read_fields(CurveSpec, table, where, without=("name",))
    over = str(table.get("over", ""))
    if over not in KINDS:
        raise ValueError(f"over of {where} must be one of {', '.join(KINDS)}, got {over!r}.")
    needed = {"stages": ("measure", "values"), "option": ("measure", "option", "values")}
    for key in needed.get(over, ("values",) if over == "nested" else ()):
        if key not in table:
            raise ValueError(f"{where} over {over} has no {key!r}. Add it.")
    if "measure" in table:
        _check_measure(table["measure"], f"measure of {where}")
    x_title = str(table.get("option", KINDS[over]))
    return CurveSpec(**{"name": name, "title": name, "x_title": x_title, **found})


def _protocol(table: Mapping[str, Any], where: str = "[protocol]") -> Protocol:
    check_table(table, where)
    for key in ("folds", "repeats"):
        if key in table and type(table[key]) is not int:
            raise ValueError(f"{key} of {where} must be an integer, got {table[key]!r}.")
    found = Protocol(**read_fields(Protocol, table, where))
    if bool(found.train) != bool(found.test):
        raise ValueError(
            f"{where} has train without test, or test without train. Set both or neither."
        )
    if found.test and found.test_rows is not None:
        raise ValueError(f"{where} has test and test_rows. Use only one of them.")
    if found.folds < 2 or found.repeats < 1:
        raise ValueError(
            f"folds of {where} must be at least 2 and repeats at least 1, got folds = "
            f"{found.folds} and repeats = {found.repeats}."
        )
    return found


def _claim(table: Mapping[str, Any]) -> Claim:
    check_table(table, "an entry of claims")
    found = read_fields(Claim, table, "a claim")
    for key, known in (("kind", CLAIM_KINDS), ("by", CLAIM_ORDERS)):
        given = table.get(key, "rank" if key == "by" else None)
        if given not in known:
            raise ValueError(f"{key} of a claim must be one of {', '.join(known)}, got {given!r}.")
    if "text" not in found:
        raise ValueError("a claim has no 'text'. Add the finding in words.")
    found["pairs"] = tuple((str(worse), str(better)) for worse, better in found.get("pairs", ()))
    return Claim(**found)


def _reference(name: str | None, folder: Path) -> tuple[Mapping[str, Any], ...]:
    """Read published numbers: dataset, model, quantity, value."""
    if name is None:
        return ()
    with (folder / name).open(encoding="utf-8", newline="") as file:
        try:
            return tuple({**row, "value": float(row["value"])} for row in csv.DictReader(file))
        except (csv.Error, KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"reference must be a CSV file with the columns dataset, model, quantity and "
                f"value, got {name!r}: {error}."
            ) from None


# ---- variants of a study --------------------------------------------------------------------


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
    if "datasets" in variant:
        changed["datasets"] = _with_changes(tables["datasets"], variant["datasets"])
    if "models" in variant:
        changed["models"] = _chosen(tables["models"], variant["models"], name)
        _leave_out_others(changed)
    if "claims" in variant:
        changed["claims"] = variant["claims"]
    return changed, variant


def _chosen(models: Sequence[Mapping[str, Any]], wanted: Sequence[Any], name: str) -> list[Any]:
    """Return models of the study by name, and new ones as they are."""
    known = {model.get("name"): model for model in models}
    named = [one for one in wanted if isinstance(one, str)]
    check_known(named, list(map(str, known)), f"variant {name!r}", "model")
    return [known[one] if isinstance(one, str) else one for one in wanted]


def _with_changes(
    datasets: Sequence[Mapping[str, Any]], wanted: Sequence[Any]
) -> list[Mapping[str, Any]]:
    """Return the data sets of the study with the changes of a variant, and its new ones."""
    changes = {one["name"]: one for one in wanted if isinstance(one, dict) and "name" in one}
    kept = [{**one, **changes.pop(one.get("name"), {})} for one in datasets]
    return [*kept, *changes.values()]


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
    wanted = variant.get("datasets", ())
    kept = study.on([one if isinstance(one, str) else one["name"] for one in wanted])
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
    check_known(() if of_variant else quick.get("datasets", ()), own, "[quick]", "data set")
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
