"""The folder of a study: stored cells, their keys, and the checks of what is read from it."""

from __future__ import annotations

import hashlib
import json
import math
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ramify import __version__
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
    wrong,
)
from ramify.apps.studies.claims import (
    ALL_MEASURES,
    CLAIM_KINDS,
    CLAIM_ORDERS,
    Claim,
    check_claim,
    quantity_names,
)
from ramify.apps.studies.plan import Cell, Study
from ramify.io.files import remove_stale_parts, replacing


class Store:
    """A folder of results: the list of cells, and the result of each under its key.

    A key is a checksum of everything the result depends on. Results of other code, data or
    settings can therefore be in the same folder without being mixed up.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)
        self.cells = self.folder / "cells"
        self._study = self.folder / "study.json"

    def prepare(self) -> None:
        """Create the folders, and remove incomplete files of runs that are not running."""
        self.cells.mkdir(parents=True, exist_ok=True)
        remove_stale_parts(self.cells)
        remove_stale_parts(self.folder)

    def write_study(self, facts: dict[str, Any]) -> None:
        """Write the description of the study."""
        _write(self._study, facts)

    def read_study(self) -> dict[str, Any]:
        """Return what `write_study` wrote."""
        if not self._study.is_file():
            raise FileNotFoundError(
                f"{self.folder} contains no results of a study. Run: ramify study NAME --out "
                f"{self.folder}"
            )
        try:
            facts = json.loads(self._study.read_text(encoding="utf-8"))
            check_study_facts(facts)
        except (ValueError, RecursionError) as error:
            raise ValueError(
                f"{self._study} does not describe a study of this version of ramify: {error}. "
                f"Run the study again: ramify study NAME --out {self.folder}. Cells that this "
                "code has finished are kept."
            ) from None
        return dict(facts)

    def write(self, record: dict[str, Any]) -> None:
        """Write the result of a cell; a failure never replaces a result."""
        failed = record["status"] == "failed"
        if failed and self.read(record["key"]) is not None:
            return
        _write(self._path(record["key"], failed), record)
        if not failed:
            self._path(record["key"], True).unlink(missing_ok=True)

    def read(
        self, key: str, place: Sequence[Any] | None = None, *, failed: bool = False
    ) -> dict[str, Any] | None:
        """Return the result of a cell, or None if there is no readable one of this place."""
        try:
            record = json.loads(self._path(key, failed).read_text(encoding="utf-8"))
            (_FAILED if failed else _DONE).check(record, "the cell", Sizes())
        except (OSError, ValueError, RecursionError):
            return None
        found = [record[name] for name in ("dataset", "model", "repeat", "fold")]
        if record["key"] != key or (place is not None and found != list(place)):
            return None
        return dict(record)

    def done(self, places: Mapping[str, Sequence[Any]]) -> set[str]:
        """Return the cells that have results."""
        return {key for key, place in places.items() if self.read(key, place) is not None}

    def _path(self, key: str, failed: bool) -> Path:
        return self.cells / f"{key}{'.failed' if failed else ''}.json"


def _write(path: Path, facts: dict[str, Any]) -> None:
    """Write a file atomically, even if the process is killed or the power fails."""
    text = json.dumps(_finite(facts), indent=1, ensure_ascii=False)
    with replacing(path) as temporary, temporary.open("x", encoding="utf-8") as file:
        file.write(text + "\n")
        file.flush()
        os.fsync(file.fileno())


def _finite(value: Any) -> Any:
    """Replace NaN and infinities with None, since JSON has neither."""
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


# ---- checks of stored files -----------------------------------------------------------------


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


def check_study_facts(facts: Any) -> None:
    """Raise ValueError unless a study is described completely and consistently."""
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


# ---- keys: digests of the data and settings that a result depends on ------------------------


RESULTS_VERSION = 2
"""Raised by one by each change to the code that changes results, which are then computed again."""

_PACKAGES = ("numpy", "scipy", "scikit-learn", "joblib")
_DECIDING = ("ramify", "numpy", "scipy", "scikit-learn")


@cache
def versions() -> dict[str, str]:
    """Return the versions of Python, ramify and the packages that it computes with."""
    found = {name: version(name) for name in _PACKAGES}
    return {"python": platform.python_version(), "ramify": __version__, **found}


def cell_key(study: Study, cell: Cell, data_digest: str) -> str:
    """Return a digest of everything that the result of a cell depends on."""
    known = versions()
    content: dict[str, Any] = {
        "results_version": RESULTS_VERSION,
        "versions": {name: known[name] for name in _DECIDING},
        "data": data_digest,
        "data_settings": cell.data.settings(),
        # With the name, because two models may have the same settings in a quick study.
        "model": [cell.model.name, cell.model.settings()],
        "protocol": study.protocol_of(cell.data).settings(),
        "measures": {measure.name: measure.settings() for measure in study.measures},
        "seed": [study.seed, cell.seed, cell.repeat, cell.fold],
    }
    text = json.dumps(content, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
