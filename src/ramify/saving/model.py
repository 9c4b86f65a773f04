"""Save and load models as arrays and JSON, without code."""

from __future__ import annotations

import json
import warnings
from collections.abc import Collection, Mapping
from os import fspath
from typing import Any

from sklearn.base import BaseEstimator

from ramify import __version__
from ramify._messages import import_extra
from ramify.io.files import FilePath
from ramify.saving.container import (
    Container,
    DamageError,
    LoadLimits,
    distrusting,
    read_container,
    read_member,
    write_container,
)
from ramify.saving.kinds import KINDS, SEARCH_KINDS
from ramify.saving.values import Decoder, Encoder, PoolReader
from ramify.saving.wrapped import WRAPPED, dump_wrapped, load_wrapped

_DOCUMENT = "model.json"
_WRAPPED = "wrapped.skops"
_SETTINGS = "reading.json"
_PERFORMANCE = "performance.json"
_TABLE = "table.json"
_MANIFEST_BYTES = 1000  # of the manifest for each member, at most
_ALL_KINDS = (*KINDS, *SEARCH_KINDS, WRAPPED)


def save(model: Any, path: FilePath) -> None:
    """Save a model, fitted or not, to a file.

    The file is a zip archive of JSON and numpy arrays with checksums. It does not use pickle:
    loading it cannot run code from the file, and later versions of ramify can read it.
    Estimators of other libraries in the model are written with skops
    (``pip install 'ramify[skops]'``).

    Parameters
    ----------
    model : estimator
        An estimator of ramify, or a pipeline, GridSearchCV or RandomizedSearchCV of scikit-learn
        around one.
    path : path
        The file to write, usually with the suffix ``.ramify``. An existing file is replaced only
        after the new one is complete.

    See Also
    --------
    load : Load a saved model.

    Examples
    --------
    >>> import tempfile, pathlib, ramify
    >>> tree = ramify.PCTClassifier().fit([[1.0], [2.0]], ["animal/cat", "plant"])
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pets.ramify"
    >>> ramify.save(tree, path)
    >>> ramify.load(path).predict([[1.2]])
    array(['animal/cat'], dtype='<U10')
    """
    save_with_settings(model, path, {})


def save_with_settings(
    model: Any,
    path: FilePath,
    settings: Mapping[str, Any],
    performance: Mapping[str, Any] | None = None,
    table: Mapping[str, Any] | None = None,
) -> None:
    """Save a model with settings for reading data, how well it predicts and its training data."""
    if not isinstance(model, BaseEstimator):
        raise TypeError(
            f"model must be an estimator of ramify or a pipeline, got {type(model).__name__}."
        )
    encoder = Encoder(_ALL_KINDS)
    root = encoder.value(model, type(model).__name__)
    document = {"objects": encoder.entries, "root": root}
    members = {_DOCUMENT: json.dumps(document, allow_nan=False).encode()}
    members |= encoder.pools.members()
    if encoder.wrapped:
        members[_WRAPPED] = dump_wrapped(encoder.wrapped)
    for name, content in ((_SETTINGS, settings), (_PERFORMANCE, performance), (_TABLE, table)):
        if content:
            members[name] = json.dumps(dict(content), allow_nan=False).encode()
    write_container(path, members, __version__)
    encoder.need("max_objects", len(encoder.entries))
    encoder.need("max_bytes", sum(map(len, members.values())) + _MANIFEST_BYTES * len(members))
    encoder.need("max_json_bytes", max(len(members[n]) for n in members if n.endswith(".json")))
    _warn_of_limits(path, encoder.needs)


def _warn_of_limits(path: FilePath, needs: Mapping[str, int]) -> None:
    """Say which limits must be larger to load a file."""
    usual = LoadLimits()
    beyond = [f"{name}={size}" for name, size in needs.items() if size > getattr(usual, name)]
    if beyond:
        warnings.warn(
            f"{fspath(path)} is beyond the usual limits of model files. Load it with "
            f"limits=ramify.saving.LoadLimits({', '.join(beyond)}).",
            stacklevel=4,
        )


def load(
    path: FilePath, trusted: Collection[str] = (), *, limits: LoadLimits | None = None
) -> Any:
    """Load a model written by `save` in this or an earlier version.

    Parameters
    ----------
    path : path
        The file.
    trusted : collection of str
        For models that wrap estimators of other libraries: types to load although they are not on
        ramify's list of types that are safe. If such types are required, the error message lists
        them. Code of these types may run: pass only types of files whose source you trust.
    limits : ramify.saving.LoadLimits, optional
        Limits on the size of the model.

    Returns
    -------
    estimator
        The model. Its predictions are identical to those of the saved model.

    Raises
    ------
    ModelFileError
        If the file is damaged, truncated, not a model file, or from a later version. This is a
        ValueError.

    See Also
    --------
    save : Save a model; has an example.
    """
    limits = LoadLimits() if limits is None else limits
    container = read_container(path, limits)
    if _WRAPPED in container.members:
        import_extra("skops.io", "skops")  # an ImportError does not mean that the file is damaged
    with distrusting(path):
        return _decode(container, trusted, limits)


def load_settings(path: FilePath, *, limits: LoadLimits | None = None) -> dict[str, Any]:
    """Return the settings stored by `save_with_settings` as an unchecked JSON object, or {}."""
    return _load_object(path, _SETTINGS, limits)


def load_performance(path: FilePath, *, limits: LoadLimits | None = None) -> dict[str, Any]:
    """Return what `save_with_settings` has stored about the performance, as `load_settings`."""
    return _load_object(path, _PERFORMANCE, limits)


def load_table(path: FilePath, *, limits: LoadLimits | None = None) -> dict[str, Any]:
    """Return what `save_with_settings` has stored about the training data, as `load_settings`."""
    return _load_object(path, _TABLE, limits)


def _load_object(path: FilePath, member: str, limits: LoadLimits | None) -> dict[str, Any]:
    text = read_member(path, member, LoadLimits() if limits is None else limits)
    with distrusting(path):
        content = {} if text is None else json.loads(text)
        if not isinstance(content, dict):
            raise DamageError(f"{member} is not an object")
        return content


def _decode(container: Container, trusted: Collection[str], limits: LoadLimits) -> Any:
    members = dict(container.members)
    document = json.loads(members.pop(_DOCUMENT, b"null"))
    if not isinstance(document, dict) or not isinstance(document.get("objects"), list):
        raise DamageError(f"{_DOCUMENT} does not contain a list of objects")
    wrapped = []
    if _WRAPPED in members:
        wrapped = load_wrapped(members.pop(_WRAPPED), trusted, limits)
    decoder = Decoder(_ALL_KINDS, PoolReader(members), wrapped, limits)
    for entry in document["objects"]:
        decoder.add(entry)
    decoder.pools.check_spent()
    model = decoder.value(document.get("root"))
    if not isinstance(model, BaseEstimator):
        raise DamageError("its content is not an estimator")
    return model
