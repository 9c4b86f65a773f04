"""What the files in a folder of results may contain; they are checked before they are used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from ramify._schema import (
    Anything,
    Flag,
    IfPresent,
    Kind,
    ListOf,
    MapOf,
    Maybe,
    Number,
    SchemaError,
    Sizes,
    Text,
    Whole,
)
from ramify._schema.values import wrong
from ramify.studies.claims import ALL_MEASURES, CLAIM_KINDS, CLAIM_ORDERS, Claim, check_claim
from ramify.studies.quantities import quantity_names

__all__ = ["check_record", "check_study_facts"]

_KEY_DIGITS = frozenset("0123456789abcdef")


@dataclass(frozen=True)
class _Record(Kind):
    """A dict with some keys, which has its own sizes; other keys may hold anything."""

    fields: Mapping[str, Kind]

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        if type(value) is not dict:
            raise wrong(where, "a dict", value)
        sizes = Sizes()
        for name, kind in self.fields.items():
            if name in value:
                kind.check(value[name], f"{where}.{name}", sizes)
            elif kind.required:
                raise SchemaError(f"{where} lacks {name!r}")


@dataclass(frozen=True)
class _Key(Kind):
    """The name of the file of a cell."""

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        if not isinstance(value, str) or not value or not _KEY_DIGITS.issuperset(value):
            raise wrong(where, "hexadecimal digits", value)


@dataclass(frozen=True)
class _Place(Kind):
    """The data set, model, repeat and fold of a cell."""

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        if type(value) is not list or [type(part) for part in value] != [str, str, int, int]:
            raise wrong(where, "a data set, a model, a repeat and a fold", value)


_TEXT, _NAMES = Text(), ListOf(Text())
_NUMBER = Number(-1e150, 1e150)  # whose squares are finite
_MAYBE_NUMBER = Maybe(_NUMBER)
_NAMED = {"name": _TEXT, "title": _TEXT}
_SCORES = MapOf(_TEXT, _MAYBE_NUMBER)

_CLAIM = _Record(
    {
        "text": _TEXT,
        "kind": Text(CLAIM_KINDS),
        "models": _NAMES,
        "pairs": ListOf(ListOf(_TEXT, length=2)),
        "measure": _TEXT,
        "by": Text(CLAIM_ORDERS),
        "datasets": _NAMES,
        "family": _TEXT,
        "place": Whole(),
        "within": _NUMBER,
        "ours": Flag(),
        "reason": _TEXT,
    }
)
_DATA = _Record(
    {
        **_NAMED,
        "note": _TEXT,
        "protocol": _TEXT,
        "family": _TEXT,
        "without": MapOf(_TEXT, _TEXT),
        "missing": Maybe(_TEXT),
    }
)
_MEASURE = _Record({**_NAMED, "higher_is_better": Flag(), "train": Flag()})
_CURVE = _Record({**_NAMED, "x_title": _TEXT, "log": Flag()})
_PUBLISHED = _Record({"dataset": _TEXT, "model": _TEXT, "quantity": _TEXT, "value": _NUMBER})
_STUDY = _Record(
    {
        **_NAMED,
        "text": _TEXT,
        "quick": Flag(),
        "seed": Whole(),
        "protocol": _TEXT,
        "alpha": Number(0, 1),
        "posthoc": _TEXT,
        "groups": MapOf(_TEXT, _NAMES),
        "claims": ListOf(_CLAIM),
        "reference": ListOf(_PUBLISHED),
        "reference_name": _TEXT,
        "datasets": ListOf(_DATA),
        "models": ListOf(_Record(_NAMED)),
        "measures": ListOf(_MEASURE),
        "curves": ListOf(_CURVE),
        "results_version": Whole(),
        "versions": MapOf(_TEXT, _TEXT),
        "cells": MapOf(_Key(), _Place()),
    }
)

_SIZES = ("rows", "features", "labels", "leaves", "levels")
_TRIED = {
    "key": _Key(),
    "dataset": _TEXT,
    "model": _TEXT,
    "repeat": Whole(),
    "fold": Whole(),
    "seed": Whole(),
    "started": _TEXT,
    "seconds": _NUMBER,
    "cpu_seconds": _NUMBER,
    "peak_memory_mb": _MAYBE_NUMBER,
}
_FAILED = _Record({**_TRIED, "status": Text(("failed",)), "error": _TEXT})
_POINTS = _Record(
    {"x": ListOf(_NUMBER, length="n_points"), "y": ListOf(_MAYBE_NUMBER, length="n_points")}
)
_DONE = _Record(
    {
        **_TRIED,
        "status": Text(("done",)),
        "scores": _SCORES,
        "overfit": _SCORES,
        "chosen": MapOf(_TEXT, Anything()),
        "fit_cpu_seconds": _NUMBER,
        "complexity": _MAYBE_NUMBER,
        "n_train": Whole(),
        "n_test": Whole(),
        "data": _Record({**dict.fromkeys(_SIZES, Whole()), "leaf_labels_per_row": _NUMBER}),
        "curves": IfPresent(MapOf(_TEXT, _POINTS)),
        "text": IfPresent(_TEXT),
    }
)


def check_record(record: Any, *, failed: bool) -> None:
    """Raise SchemaError unless a record is one of a cell.

    Parameters
    ----------
    record : object
        The content of a file in ``cells``.
    failed : bool
        Whether it must be that of a failure.
    """
    (_FAILED if failed else _DONE).check(record, "the cell", Sizes())


def check_study_facts(facts: Any) -> None:
    """Raise ValueError unless a study is described completely and consistently.

    Parameters
    ----------
    facts : object
        The content of ``study.json``.
    """
    _STUDY.check(facts, "the study", Sizes())
    models = {model["name"] for model in facts["models"]}
    data = {one["name"] for one in facts["datasets"]}
    measures = quantity_names((one["name"], one["train"]) for one in facts["measures"])
    claims = facts["claims"]
    for claim in claims:
        check_claim(Claim(**{field.name: claim[field.name] for field in fields(Claim)}))
    used = [
        *(name for group in facts["groups"].values() for name in group),
        *(name for claim in claims for name in claim["models"]),
        *(name for claim in claims for pair in claim["pairs"] for name in pair),
        *(place[1] for place in facts["cells"].values()),
    ]
    for kind, names, known in (
        ("model", used, models),
        ("data set", [place[0] for place in facts["cells"].values()], data),
        ("measure", [claim["measure"] for claim in claims], {"", ALL_MEASURES, *measures}),
    ):
        unknown = [name for name in names if name not in known]
        if unknown:
            raise SchemaError(f"the study has no {kind} {unknown[0]!r}")
