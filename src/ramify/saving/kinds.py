"""The kinds of objects a model may contain, except estimators of other libraries."""

from __future__ import annotations

import functools
import inspect
import math
import sys
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

import ramify.metrics as measures
from ramify import _core
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
    SchemaError,
    Sizes,
    Text,
    Whole,
    check_compressed,
    check_state,
    schema_of,
)
from ramify._schema import Kind as Kinds
from ramify.labels.encoding import LabelFormat, format_from_settings
from ramify.labels.hierarchy import Hierarchy
from ramify.metrics.scorers import HierarchicalScorer, get_scorer, get_scorer_names
from ramify.saving.boosted_trees import BOOSTED_TREES
from ramify.saving.container import DamageError, ModelFileError
from ramify.saving.hierarchies import cut_labels, whole_content
from ramify.saving.values import Decoder, Encoder, Kind, is_plain

_MAX_LENGTH = 2**62


# ---- arrays --------------------------------------------------------------------------------


def _is_plain_array(value: Any) -> bool:
    return type(value) is np.ndarray and is_plain(value.dtype)


def _encode_array(encoder: Encoder, value: Any, where: str) -> dict[str, Any]:
    if value.dtype.itemsize == 0:
        value = value.astype(f"{value.dtype.kind}1")
    order = "C" if value.flags.c_contiguous or not value.flags.f_contiguous else "F"
    pool = f"arrays/{value.dtype.name}"
    encoder.pools.put(pool, value if order == "C" else value.T)
    return {"pool": pool, "shape": list(value.shape), "order": order}


def _decode_array(decoder: Decoder, entry: dict[str, Any]) -> Any:
    shape = entry["shape"]
    if not _are_lengths(shape):
        raise DamageError(f"an array has the invalid shape {shape!r}")
    flat = decoder.pools.take(entry["pool"], math.prod(shape))
    return flat.reshape(shape, order="F" if entry["order"] == "F" else "C")


def _is_object_array(value: Any) -> bool:
    return type(value) is np.ndarray and value.dtype.kind == "O"


def _encode_object_array(encoder: Encoder, value: Any, where: str) -> dict[str, Any]:
    return {"shape": list(value.shape), "items": encoder.value(value.ravel().tolist(), where)}


def _decode_object_array(decoder: Decoder, entry: dict[str, Any]) -> Any:
    items, shape = decoder.value(entry["items"]), entry["shape"]
    if type(items) is not list or not _are_lengths(shape) or math.prod(shape) != len(items):
        raise DamageError(f"an array of objects has the invalid shape {shape!r}")
    array = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):
        array[i] = item
    return array.reshape(shape)


def _is_scalar(value: Any) -> bool:
    return isinstance(value, np.generic) and is_plain(value.dtype)


def _encode_scalar(encoder: Encoder, value: Any, where: str) -> dict[str, Any]:
    return {"array": encoder.value(np.array([value]), where)}


def _decode_scalar(decoder: Decoder, entry: dict[str, Any]) -> Any:
    return decoder.value(entry["array"])[0]


_SPARSE = {
    "csr_array": sparse.csr_array,
    "csc_array": sparse.csc_array,
    "csr_matrix": sparse.csr_matrix,
    "csc_matrix": sparse.csc_matrix,
}


def _encode_sparse(encoder: Encoder, value: Any, where: str) -> dict[str, Any]:
    parts = [encoder.value(part, where) for part in (value.data, value.indices, value.indptr)]
    return {"type": type(value).__name__, "shape": list(value.shape), "parts": parts}


def _decode_sparse(decoder: Decoder, entry: dict[str, Any]) -> Any:
    make, shape = _SPARSE.get(entry["type"]), entry["shape"]
    n_parts = len(entry["parts"])
    if make is None or len(shape) != 2 or not _are_lengths(shape) or n_parts != 3:
        raise DamageError(
            f"a sparse matrix {entry['type']!r} has the invalid shape {shape!r} or {n_parts} parts"
        )
    parts = tuple(decoder.value(part) for part in entry["parts"])
    # Before scipy sees them: its own check skips the indices if the last of indptr is 0.
    n_major, n_minor = shape if entry["type"].startswith("csr") else reversed(shape)
    check_compressed(parts, n_major, n_minor, "a sparse matrix")
    return make(parts, shape=tuple(shape))


def _are_lengths(shape: Any) -> bool:
    return all(type(length) is int and 0 <= length <= _MAX_LENGTH for length in shape)


# ---- random states and functions -----------------------------------------------------------


def _encode_random_state(encoder: Encoder, value: Any, where: str) -> dict[str, Any]:
    _, key, position, has_gauss, gauss = value.get_state()
    return {
        "key": encoder.value(key, where),
        "position": int(position),
        "gauss": encoder.value(float(gauss), where) if has_gauss else None,
    }


def _decode_random_state(decoder: Decoder, entry: dict[str, Any]) -> Any:
    key, position, gauss = decoder.value(entry["key"]), entry["position"], entry["gauss"]
    # numpy does not check the position and would read past the end of the key.
    sizes = Sizes()
    Whole(0, 625).check(position, "the position of a random state", sizes)
    Array((624,), "u4").check(key, "the key of a random state", sizes)
    Maybe(Number()).check(gauss, "the next number of a random state", sizes)
    state = np.random.RandomState()
    state.set_state(("MT19937", key, position, int(gauss is not None), gauss or 0.0))
    return state


def _is_measure(value: Any) -> bool:
    name = getattr(value, "__name__", None)
    return name in measures.__all__ and getattr(measures, name) is value


def _encode_measure(encoder: Encoder, value: Any, where: str) -> dict[str, Any]:
    return {"name": value.__name__}


def _decode_measure(decoder: Decoder, entry: dict[str, Any]) -> Any:
    if entry["name"] not in measures.__all__:
        raise DamageError(f"it refers to the unknown measure {entry['name']!r}")
    return getattr(measures, entry["name"])


# ---- objects of ramify ---------------------------------------------------------------------


def _encode_hierarchy(encoder: Encoder, value: Any, where: str) -> dict[str, Any]:
    content = value._to_content()
    encoder.need("max_labels", len(content["labels"]))
    encoder.need("max_label_characters", sum(map(len, map(str, content["labels"]))))
    return {"content": {**content, "labels": cut_labels(content)}}


def _decode_hierarchy(decoder: Decoder, entry: dict[str, Any]) -> Any:
    return Hierarchy._from_content(whole_content(entry["content"], decoder.limits))


def _encode_format(encoder: Encoder, value: Any, where: str) -> dict[str, Any]:
    return {
        "hierarchy": encoder.value(value.hierarchy, where),
        "settings": encoder.value(value.settings(), where),
    }


def _decode_format(decoder: Decoder, entry: dict[str, Any]) -> Any:
    hierarchy, settings = decoder.value(entry["hierarchy"]), decoder.value(entry["settings"])
    if not isinstance(hierarchy, Hierarchy) or not isinstance(settings, dict):
        raise DamageError("its label format is invalid")
    return format_from_settings(hierarchy, settings)


def _encode_tree(encoder: Encoder, value: Any, where: str) -> dict[str, Any]:
    (arrays,) = value.__reduce__()[1]
    for name, array in arrays.items():
        encoder.pools.put(f"trees/{name}", array)
    return {"sizes": {name: len(array) for name, array in arrays.items()}}


def _decode_tree(decoder: Decoder, entry: dict[str, Any]) -> Any:
    arrays: dict[str, object] = {
        name: decoder.pools.take(f"trees/{name}", size) for name, size in entry["sizes"].items()
    }
    try:
        tree = _core.Tree(arrays)
    except RuntimeError:  # of a cast
        raise DamageError("a tree has arrays of other data types") from None
    # With two paths to a node, prediction could visit exponentially many nodes.
    times = np.bincount(tree.child, minlength=len(tree.feature))
    if times[0] != 0 or (times[1:] != 1).any():
        raise DamageError("a tree has a node with no parent or with two parents")
    return tree


# ---- registered classes --------------------------------------------------------------------


def _is_savable(value: Any) -> bool:
    return find_savable(saved_name(type(value))) is type(value)


def _encode_instance(encoder: Encoder, value: Any, where: str) -> dict[str, Any]:
    """Encode an estimator as parameters and fitted attributes, and other objects as parameters."""
    if isinstance(value, BaseEstimator):
        getter = getattr(value, "_get_saved_state", None)
        given = value.get_params(deep=False)
        fitted = get_fitted(value) if getter is None else getter()
    else:
        given = {
            name: getattr(value, name)
            for name in inspect.signature(type(value)).parameters
            if name not in _left_out(value)
        }
        fitted = {}
    name = saved_name(type(value))
    try:
        _check_instance(type(value), given, fitted)
    except SchemaError as error:
        raise ValueError(
            f"cannot save {where}: {error}, or the file could not be loaded. Fit the model again, "
            "and do not change its fitted attributes."
        ) from None
    return {
        "class": name,
        "given": {key: encoder.value(item, f"{name}.{key}") for key, item in given.items()},
        "fitted": {key: encoder.value(item, f"{name}.{key}") for key, item in fitted.items()},
    }


def _left_out(value: Any) -> set[str]:
    """Return the fields of a dataclass that files have only if they are not empty."""
    if not is_dataclass(value):
        return set()
    found = (field for field in fields(value) if field.metadata.get("saved_if_any"))
    return {field.name for field in found if not getattr(value, field.name)}


def _decode_instance(decoder: Decoder, entry: dict[str, Any]) -> Any:
    cls = find_savable(entry["class"])
    if cls is None or inspect.isabstract(cls):
        raise ModelFileError(
            f"the file contains an object of unknown class {entry['class']!r}. Update ramify, or "
            "import the module that defines the class."
        )
    given = {name: decoder.value(node) for name, node in entry["given"].items()}
    fitted = {name: decoder.value(node) for name, node in entry["fitted"].items()}
    _check_names(cls, given)
    _check_instance(cls, given, fitted)
    value = cls(**given)
    if fitted and hasattr(value, "_check_parameters"):
        value._check_parameters()  # as `fit` did; predictions rely on it
    if isinstance(value, BaseEstimator):
        setter = getattr(value, "_set_saved_state", None)
        if setter is None:
            set_fitted(value, fitted)
        else:
            setter(fitted)
    return value


def _check_names(cls: type, given: dict[str, Any]) -> None:
    """Check that the parameters in a file are those of a class."""
    required = _parameters(cls)
    unknown = [name for name in given if name not in required]
    lacking = [name for name, is_required in required.items() if is_required and name not in given]
    if unknown or lacking:
        told = f"has no parameter {unknown[0]!r}" if unknown else f"lacks {lacking[0]}"
        raise SchemaError(f"{saved_name(cls)} {told}")


@functools.cache
def _parameters(cls: type) -> dict[str, bool]:
    """Return the parameters of a class, and whether they are required."""
    parameters = inspect.signature(cls).parameters
    return {name: one.default is one.empty for name, one in parameters.items()}


def _check_instance(cls: type, given: dict[str, Any], fitted: dict[str, Any]) -> None:
    """Check an object against the schemas of its class, with the estimator that it is part of."""
    name, sizes = saved_name(cls), Sizes()
    for parameter, kind in schema_of(cls, "_saved_parameters").items():
        if parameter in given:
            kind.check(given[parameter], f"{name}.{parameter}", sizes)
    if fitted:
        check_state(cls, fitted, name, Sizes())


_INSTANCE = {"class": str, "given": dict, "fitted": dict}


def _encode_pipeline(encoder: Encoder, value: Any, where: str) -> dict[str, Any]:
    return {"steps": [[name, encoder.value(step, f"step {name!r}")] for name, step in value.steps]}


def _decode_pipeline(decoder: Decoder, entry: dict[str, Any]) -> Any:
    if not all(type(step) is list and len(step) == 2 for step in entry["steps"]):
        raise DamageError("the steps of a pipeline must be pairs of a name and an estimator")
    return Pipeline([(name, decoder.value(step)) for name, step in entry["steps"]])


KINDS = (
    Kind(
        *("array", _is_plain_array, _encode_array, _decode_array),
        {"pool": str, "shape": list, "order": str},
    ),
    Kind(
        *("object array", _is_object_array, _encode_object_array, _decode_object_array),
        {"shape": list, "items": object},
    ),
    Kind("scalar", _is_scalar, _encode_scalar, _decode_scalar, {"array": object}),
    Kind(
        *("sparse", lambda x: type(x).__name__ in _SPARSE, _encode_sparse, _decode_sparse),
        {"type": str, "shape": list, "parts": list},
    ),
    Kind(
        *("random state", lambda x: isinstance(x, np.random.RandomState)),
        *(_encode_random_state, _decode_random_state),
        {"key": object, "position": object, "gauss": object},
    ),
    Kind("measure", _is_measure, _encode_measure, _decode_measure, {"name": str}),
    Kind(
        *("hierarchy", lambda x: isinstance(x, Hierarchy), _encode_hierarchy, _decode_hierarchy),
        {"content": dict},
    ),
    Kind(
        *("format", lambda x: isinstance(x, LabelFormat), _encode_format, _decode_format),
        {"hierarchy": object, "settings": object},
    ),
    Kind(
        *("tree", lambda x: isinstance(x, _core.Tree), _encode_tree, _decode_tree),
        {"sizes": dict},
    ),
    BOOSTED_TREES,
    Kind("instance", _is_savable, _encode_instance, _decode_instance, _INSTANCE),
    Kind(
        *("pipeline", lambda x: type(x) is Pipeline, _encode_pipeline, _decode_pipeline),
        {"steps": list},
    ),
)
"""The kinds, in the order in which they are matched against an object."""


# ---- searches and splitters -----------------------------------------------------------------


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
    Kind(
        *("scorer", lambda x: type(x) is HierarchicalScorer, _encode_scorer, _decode_scorer),
        {"name": str, "options": object},
    ),
    Kind(
        *("splitter", lambda x: _is_one_of(x, _SPLITTERS), _encode_splitter, _decode_splitter),
        {"class": str, "given": dict},
    ),
    Kind(
        *("masked array", lambda x: type(x) is np.ma.MaskedArray, _encode_masked, _decode_masked),
        {"data": object, "mask": object},
    ),
    Kind("search", _is_search, _encode_search, _decode_search, _INSTANCE),
)
"""The kinds, which are matched against an object after those of ramify."""
