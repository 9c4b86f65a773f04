"""Save and load estimators of other libraries with skops, which runs no code from files."""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from ramify._messages import import_extra
from ramify._schema import check_sparse
from ramify.saving.container import DamageError, LoadLimits, ModelFileError, open_archive
from ramify.saving.known_classes import NeedsTrustError, check_content, is_known, known_names
from ramify.saving.values import Decoder, Encoder, Kind


def dump_wrapped(objects: Sequence[Any]) -> bytes:
    """Serialise estimators of other libraries."""
    dumped: bytes = import_extra("skops.io", "skops").dumps(list(objects))
    return dumped


def load_wrapped(data: bytes, trusted: Collection[str], limits: LoadLimits) -> list[Any]:
    """Load the output of `dump_wrapped` if all types in it are trusted."""
    skops_io = import_extra("skops.io", "skops")
    _check_sizes(data, limits)
    _check_schema(data, trusted)
    # skops decides by name what it constructs, so it is asked as well; no name that it is told to
    # trust comes from the file.
    listed = known_names() | set(trusted)
    _require_known(set(skops_io.get_untrusted_types(data=data)) - listed)
    found = skops_io.loads(data, trusted=sorted(listed))
    if type(found) is not list:
        raise DamageError("its wrapped estimators are not a list")
    _check_objects(found, trusted)
    return found


def _check_schema(data: bytes, trusted: Collection[str]) -> None:
    """Raise an error unless all nodes of an archive are of known kinds and types."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        schema = json.loads(archive.read("schema.json"))
        _check_protocol(schema)
        unknown = set()
        waiting: list[Any] = [schema]
        while waiting:
            value = waiting.pop()
            if isinstance(value, list):
                waiting.extend(value)
            elif isinstance(value, dict):
                waiting.extend(value.values())
                # A dict of the user may have the same keys, with nodes as values.
                if isinstance(value.get("__loader__"), str):
                    name = f"{value['__module__']}.{value['__class__']}"
                    if not is_known(value) and name not in trusted:
                        unknown.add(name)
                    _check_file(value, archive)
    _require_known(unknown)


def _check_protocol(schema: Any) -> None:
    """Refuse other versions of the format: skops would read them with other classes of nodes."""
    with zipfile.ZipFile(io.BytesIO(dump_wrapped([]))) as archive:
        own = json.loads(archive.read("schema.json"))["protocol"]
    found = schema["protocol"]
    if type(found) is not int or found != own:
        raise DamageError(
            f"its estimators of other libraries are in version {found!r} of the format of skops, "
            f"but the installed version of skops writes version {own}"
        )


def _check_file(node: dict[str, Any], archive: zipfile.ZipFile) -> None:
    """Check that a node reads a member that was checked as what the node takes it for."""
    suffix = {"NdArrayNode": ".npy", "SparseMatrixNode": ".npz"}.get(node["__loader__"])
    if suffix is None or "file" not in node:
        return
    name = str(node["file"])
    if not name.endswith(suffix):
        raise DamageError(f"an array must be in a member *{suffix}, got {name!r}")
    if suffix == ".npz":
        # skops may iterate over objects while it puts them together, before they are checked.
        _check_sparse(sparse.load_npz(io.BytesIO(archive.read(name))))


def _require_known(unknown: set[str]) -> None:
    if unknown:
        listed = sorted(unknown)
        raise _needs_trust(f"objects of types that are not known to be safe: {listed}", listed)


def _needs_trust(what: str, names: list[str]) -> ModelFileError:
    return ModelFileError(
        f"the file contains {what}. If you trust the source of the file, load it with "
        f"trusted={names}."
    )


def _check_objects(found: list[Any], trusted: Collection[str]) -> None:
    """Check the content of all objects whose types are not trusted by name."""
    waiting: list[Any] = [found]
    seen: dict[int, Any] = {}  # keeps the objects alive, so their ids stay unique
    while waiting:
        value = waiting.pop()
        if id(value) in seen or isinstance(value, str | bytes | int | float | None):
            continue
        seen[id(value)] = value
        if sparse.issparse(value):
            _check_sparse(value)
        elif isinstance(value, dict):
            waiting.extend([*value.keys(), *value.values()])
        elif isinstance(value, list | tuple | set | frozenset):
            waiting.extend(value)
        elif isinstance(value, np.ndarray):
            waiting.extend(value.ravel().tolist() if value.dtype.kind == "O" else ())
        else:
            name = f"{type(value).__module__}.{type(value).__qualname__}"
            if name not in trusted:
                try:
                    check_content(value)
                except NeedsTrustError as error:
                    raise _needs_trust(str(error), [*sorted(trusted), name]) from None
            waiting.extend(getattr(value, "__dict__", {}).values())


def _check_sparse(matrix: Any) -> None:
    if matrix.format not in ("csr", "csc"):
        raise DamageError(f"a sparse matrix has the unsupported format {matrix.format!r}")
    check_sparse(matrix, "a sparse matrix")


def _check_sizes(data: bytes, limits: LoadLimits, suffix: str = "") -> None:
    """Check the declared shapes of arrays: numpy's reader, used by skops, does not."""
    with open_archive(data, limits) as archive:
        for info in archive.infolist():
            if not info.filename.endswith(suffix):
                raise DamageError(f"a sparse matrix has the unknown part {info.filename!r}")
            if info.filename.endswith(".npy"):
                _check_size(archive.read(info))
            elif info.filename.endswith(".npz"):
                _check_sizes(archive.read(info), limits, suffix=".npy")


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
