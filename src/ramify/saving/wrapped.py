"""Save and load estimators of other libraries with skops, which runs no code from files."""

from __future__ import annotations

import io
import math
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from ramify._messages import import_extra
from ramify._schema import check_sparse
from ramify.saving.container import DamageError, ModelFileError, open_archive
from ramify.saving.limits import LoadLimits
from ramify.saving.values import Decoder, Encoder, Kind

__all__ = ["WRAPPED", "dump_wrapped", "load_wrapped"]

# Classes whose native code follows fitted arrays without checks. skops, which only looks at types,
# considers some of them safe.
_FOLLOWED = {
    "sklearn.tree._tree.Tree",
    *(f"sklearn.svm._classes.{name}" for name in ("SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM")),
}


# Types that run no code from a file and are part of many pipelines, but that skops does not know.
_HARMLESS = {
    "numpy.dtype",
    "sklearn.compose._column_transformer._RemainderColsList",
    "sklearn.compose._column_transformer.make_column_selector",
    "sklearn.feature_selection._univariate_selection.chi2",
    "sklearn.feature_selection._univariate_selection.f_classif",
}


def dump_wrapped(objects: Sequence[Any]) -> bytes:
    """Serialise estimators of other libraries.

    Parameters
    ----------
    objects : sequence of estimators
        The estimators, fitted or not.

    Returns
    -------
    bytes
        A skops archive.
    """
    dumped: bytes = import_extra("skops.io", "skops").dumps(list(objects))
    return dumped


def load_wrapped(data: bytes, trusted: Collection[str], limits: LoadLimits) -> list[Any]:
    """Load the output of `dump_wrapped` if all types in it are trusted.

    Parameters
    ----------
    data : bytes
        A skops archive.
    trusted : collection of str
        Types to trust in addition to those that skops considers safe.
    limits : LoadLimits
        Limits on the size of the archive.

    Returns
    -------
    list
        The estimators.
    """
    skops_io = import_extra("skops.io", "skops")
    _check_sizes(data, limits)
    known = _HARMLESS | set(trusted)
    _check_trusted(set(skops_io.get_untrusted_types(data=data)) - known)
    found = skops_io.loads(data, trusted=sorted(known))
    if type(found) is not list:
        raise DamageError("its wrapped estimators are not a list")
    _check_content(found, trusted)
    return found


def _check_trusted(unknown: set[str]) -> None:
    if unknown:
        names = sorted(unknown)
        raise ModelFileError(
            f"the file contains objects of types that are not known to be safe: {names}. If you "
            f"trust the source of the file, load it with trusted={names}."
        )


def _check_content(found: list[Any], trusted: Collection[str]) -> None:
    """Check what native code of other libraries follows in objects that skops considers safe."""
    waiting: list[Any] = [found]
    seen: dict[int, Any] = {}  # keeps the objects alive, so their ids stay unique
    while waiting:
        value = waiting.pop()
        if id(value) in seen or isinstance(value, str | bytes | int | float | None):
            continue
        seen[id(value)] = value
        name = f"{type(value).__module__}.{type(value).__qualname__}"
        _check_trusted({name} & _FOLLOWED - set(trusted))
        if sparse.issparse(value):
            _check_sparse(value)
        elif isinstance(value, dict):
            waiting.extend([*value.keys(), *value.values()])
        elif isinstance(value, list | tuple | set | frozenset):
            waiting.extend(value)
        elif isinstance(value, np.ndarray):
            waiting.extend(value.ravel().tolist() if value.dtype.kind == "O" else ())
        else:
            waiting.extend(getattr(value, "__dict__", {}).values())


def _check_sparse(matrix: Any) -> None:
    if matrix.format not in ("csr", "csc"):
        raise DamageError(f"a sparse matrix has the unsupported format {matrix.format!r}")
    check_sparse(matrix, "a sparse matrix")


def _check_sizes(data: bytes, limits: LoadLimits) -> None:
    """Check the declared shapes of arrays: numpy's reader, used by skops, does not."""
    with open_archive(data, limits) as archive:
        for info in archive.infolist():
            if info.filename.endswith(".npy"):
                _check_size(archive.read(info))
            elif info.filename.endswith(".npz"):
                _check_sizes(archive.read(info), limits)


def _check_size(data: bytes) -> None:
    stream = io.BytesIO(data)
    version = np.lib.format.read_magic(stream)
    # Structured arrays, which scikit-learn's trees use, have a header of version 1 or 2.
    read_header = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }[version]
    shape, _, dtype = read_header(stream)
    claimed = math.prod(shape) * dtype.itemsize
    if dtype.hasobject or claimed != len(data) - stream.tell():
        raise DamageError(
            f"an array declares {claimed} bytes, but has {len(data) - stream.tell()}"
        )


def _is_estimator(value: Any) -> bool:
    return hasattr(value, "get_params") and not isinstance(value, type)


def _encode(encoder: Encoder, value: Any, where: str) -> dict[str, Any]:
    encoder.wrapped.append(value)
    return {"at": len(encoder.wrapped) - 1}


def _decode(decoder: Decoder, entry: dict[str, Any]) -> Any:
    if type(entry["at"]) is not int or not 0 <= entry["at"] < len(decoder.wrapped):
        raise DamageError(f"it refers to a wrapped estimator {entry['at']!r} that does not exist")
    return decoder.wrapped[entry["at"]]


WRAPPED = Kind("wrapped", _is_estimator, _encode, _decode)
"""Any estimator that is not part of ramify."""
