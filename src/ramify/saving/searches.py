"""Kinds of objects that scikit-learn's searches around classifiers of ramify contain."""

from __future__ import annotations

import inspect
import sys
from typing import Any

import numpy as np

from ramify._savable import find_savable, get_fitted, saved_name, set_fitted
from ramify._schema import (
    AnyOf,
    Anything,
    Array,
    Estimator,
    Flag,
    IfPresent,
    MapOf,
    Maybe,
    Number,
    Sizes,
    Text,
    Whole,
)
from ramify._schema import Kind as Kinds
from ramify.metrics.scorers import HierarchicalScorer, get_scorer, get_scorer_names
from ramify.saving.container import DamageError
from ramify.saving.values import Decoder, Encoder, Kind

# Classes of sklearn.model_selection, which is imported only for files that contain one of them.
_SEARCHES = ("GridSearchCV", "RandomizedSearchCV")
_SPLITTERS = (
    "GroupKFold",
    "KFold",
    "LeaveOneOut",
    "ShuffleSplit",
    "StratifiedKFold",
    "StratifiedShuffleSplit",
    "TimeSeriesSplit",
)
_MAX_JOBS = 1024

# Parameters that are not listed keep their defaults.
_PARAMETERS: dict[str, Kinds] = {
    "estimator": Estimator(),
    "param_grid": Anything(),
    "param_distributions": Anything(),
    "n_iter": Whole(1),
    "random_state": Anything(),
    "scoring": Anything(),
    "n_jobs": Maybe(AnyOf(Whole(-_MAX_JOBS, 0), Whole(1, _MAX_JOBS + 1))),
    "refit": AnyOf(Flag(), Text()),
    "cv": Anything(),
    "verbose": AnyOf(Flag(), Whole()),
    "error_score": AnyOf(Number(finite=False), Text(("raise",))),
    "return_train_score": Flag(),
}
_FITTED: dict[str, Kinds] = {
    "best_estimator_": IfPresent(Estimator()),
    "best_index_": IfPresent(Whole(0)),
    "best_params_": IfPresent(MapOf(Text(), Anything())),
    "best_score_": IfPresent(Number(finite=False)),
    "cv_results_": MapOf(Text(), Anything()),
    "feature_names_in_": IfPresent(Array(("n_names",), "O U")),
    "multimetric_": Flag(),
    "n_splits_": Whole(1),
    "refit_time_": IfPresent(Number(0)),
}


def _is_search(value: Any) -> bool:
    """Return whether an object is a search around a class of ramify; others go to skops."""
    if not _is_one_of(value, _SEARCHES):
        return False
    inside = [value.estimator, *value.get_params(deep=True).values()]
    return any(find_savable(saved_name(type(one))) is type(one) for one in inside)


def _is_one_of(value: Any, names: tuple[str, ...]) -> bool:
    """Return whether the class of an object is one of these of sklearn.model_selection."""
    loaded = sys.modules.get("sklearn.model_selection")
    return loaded is not None and any(type(value) is getattr(loaded, name) for name in names)


def _find(name: Any, names: tuple[str, ...], what: str) -> Any:
    """Return the class of sklearn.model_selection that a file names."""
    from sklearn import model_selection  # noqa: PLC0415 (slow, seldom used)

    if name not in names:
        raise DamageError(f"it contains a {what} of unknown class {name!r}")
    return getattr(model_selection, name)


def _encode_search(encoder: Encoder, value: Any, where: str) -> dict[str, Any]:
    name = type(value).__name__
    given = {key: item for key, item in value.get_params(False).items() if key in _PARAMETERS}
    fitted = {key: item for key, item in get_fitted(value).items() if key in _FITTED}
    return {
        "class": name,
        "given": {key: encoder.value(item, f"{name}.{key}") for key, item in given.items()},
        "fitted": {key: encoder.value(item, f"{name}.{key}") for key, item in fitted.items()},
    }


def _decode_search(decoder: Decoder, entry: dict[str, Any]) -> Any:
    cls = _find(entry["class"], _SEARCHES, "search")
    given = {name: decoder.value(node) for name, node in entry["given"].items()}
    fitted = {name: decoder.value(node) for name, node in entry["fitted"].items()}
    _check(given, _PARAMETERS, entry["class"])
    search = cls(**given)
    if fitted:
        _check(fitted, _FITTED, entry["class"])
        lacking = [name for name, kind in _FITTED.items() if kind.required and name not in fitted]
        if lacking or bool(given.get("refit", True)) != ("best_estimator_" in fitted):
            raise DamageError(f"a {entry['class']} lacks fitted attributes")
        set_fitted(search, fitted)
        search.scorer_ = _scorers(search)
    return search


def _check(values: dict[str, Any], kinds: dict[str, Kinds], where: str) -> None:
    sizes = Sizes()
    for name, value in values.items():
        kind = kinds.get(name)
        if kind is None:
            raise DamageError(f"{where} has no attribute {name!r}")
        kind.check(value, f"{where}.{name}", sizes)


def _scorers(search: Any) -> Any:
    """Return `scorer_` as `fit` sets it."""
    from sklearn.metrics import check_scoring  # noqa: PLC0415 (slow, seldom used)

    scoring = search.scoring
    if isinstance(scoring, list | tuple | set):
        scoring = {name: name for name in scoring}
    if isinstance(scoring, dict):
        return {name: check_scoring(search.estimator, one) for name, one in scoring.items()}
    return check_scoring(search.estimator, scoring)


# ---- scorers, splitters and masked arrays --------------------------------------------------


def _encode_scorer(encoder: Encoder, value: Any, where: str) -> dict[str, Any]:
    return {"name": value.__name__, "options": encoder.value(value.options, where)}


def _decode_scorer(decoder: Decoder, entry: dict[str, Any]) -> Any:
    options = decoder.value(entry["options"])
    if entry["name"] not in get_scorer_names() or type(options) is not dict:
        raise DamageError(f"it refers to the unknown scorer {entry['name']!r}")
    return get_scorer(entry["name"], **options)


def _encode_splitter(encoder: Encoder, value: Any, where: str) -> dict[str, Any]:
    names = inspect.signature(type(value)).parameters
    given = {name: encoder.value(getattr(value, name), f"{where}.{name}") for name in names}
    return {"class": type(value).__name__, "given": given}


def _decode_splitter(decoder: Decoder, entry: dict[str, Any]) -> Any:
    cls = _find(entry["class"], _SPLITTERS, "splitter")
    return cls(**{name: decoder.value(node) for name, node in entry["given"].items()})


def _encode_masked(encoder: Encoder, value: Any, where: str) -> dict[str, Any]:
    mask = np.ma.getmaskarray(value)
    return {"data": encoder.value(value.data, where), "mask": encoder.value(mask, where)}


def _decode_masked(decoder: Decoder, entry: dict[str, Any]) -> Any:
    data, mask = decoder.value(entry["data"]), decoder.value(entry["mask"])
    is_array = type(data) is np.ndarray and type(mask) is np.ndarray
    if not is_array or mask.dtype != bool or mask.shape != data.shape:
        raise DamageError("a masked array has a mask that does not fit")
    return np.ma.MaskedArray(data, mask=mask)


SEARCH_KINDS = (
    Kind("scorer", lambda x: type(x) is HierarchicalScorer, _encode_scorer, _decode_scorer),
    Kind("splitter", lambda x: _is_one_of(x, _SPLITTERS), _encode_splitter, _decode_splitter),
    Kind("masked array", lambda x: type(x) is np.ma.MaskedArray, _encode_masked, _decode_masked),
    Kind("search", _is_search, _encode_search, _decode_search),
)
"""The kinds, which are matched against an object after those of ramify."""
