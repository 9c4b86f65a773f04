"""Limits on the size of a model, checked before anything of that size is allocated."""

from __future__ import annotations

import hashlib
import io
import json
import os
import sys
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from os import fspath
from pathlib import Path
from typing import Any

from ramify._schema import SchemaError
from ramify.io.errors import FormatError
from ramify.io.files import FilePath, remove_stale_parts, replacing


class LimitError(ValueError):
    """A model file declares more than a limit allows."""


@dataclass(frozen=True)
class LoadLimits:
    """Limits of `ramify.load`.

    A file beyond a limit is refused with a `ModelFileError` that names the limit. To load a larger
    model from a source that you trust, pass larger limits.

    Attributes
    ----------
    max_bytes : int
        Size of all members together after decompression.
    max_ratio : int
        How many times larger the members may be than the file; applies beyond 256 MiB.
    max_json_bytes : int
        Size of one JSON member, whose parsed form takes about twenty times as much memory.
    max_depth : int
        Nesting of lists and dicts.
    max_objects : int
        Number of arrays, trees, estimators and other objects.
    max_labels : int
        Number of labels of one hierarchy.
    max_label_characters : int
        Length of all labels of one hierarchy together. A path contains the labels above it.

    Examples
    --------
    >>> from ramify.saving import LoadLimits
    >>> LoadLimits(max_bytes=16 << 30).max_bytes
    17179869184
    """

    max_bytes: int = 4 << 30
    max_ratio: int = 64
    max_json_bytes: int = 512 << 20
    max_depth: int = 64
    max_objects: int = 5_000_000
    max_labels: int = 1_000_000
    max_label_characters: int = 1 << 29

    def check(self, name: str, found: int, what: str) -> None:
        """Raise LimitError if a file declares more than a limit allows.

        Parameters
        ----------
        name : str
            The limit.
        found : int
            What the file declares.
        what : str
            What is counted, for the message.
        """
        most = getattr(self, name)
        if found > most:
            raise LimitError(
                f"{what} must be at most {most}, got {found}. If you trust the file, load it with "
                f"limits=ramify.saving.LoadLimits({name}={found})."
            )


# ---- the zip archive of a model -------------------------------------------------------------


VERSION = 1
"""The format version that `write_container` writes."""

_FORMAT = "ramify.model"
_MANIFEST = "manifest.json"
# Up to these sizes, members may be compressed at any ratio.
_FREE_TOTAL = 256 << 20
_FREE_JSON = 16 << 20
# `write_container` does not compress what would be refused because of its ratio, whatever its
# size.
_UNLIMITED = LoadLimits(max_bytes=sys.maxsize, max_json_bytes=sys.maxsize)
# With a fixed timestamp, the same content gives the same bytes.
_EPOCH = (1980, 1, 1, 0, 0, 0)


class DamageError(ValueError):
    """Raised for content that a valid model file cannot have; `distrusting` adds the path."""


class ModelFileError(FormatError):
    """Raised if `ramify.load` cannot read a file; the message gives the reason.

    Examples
    --------
    >>> import tempfile, pathlib, ramify
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.ramify"
    >>> _ = path.write_bytes(b"something else")
    >>> ramify.load(path)
    Traceback (most recent call last):
        ...
    ramify.saving.container.ModelFileError: ...model.ramify is not a valid ramify model file: it
    is not a zip archive or is truncated. Copy or save it again.
    """


@dataclass(frozen=True)
class Container:
    """The content of a model file."""

    version: int  # version of the file format
    written_by: str  # version of ramify that wrote the file
    members: dict[str, bytes]  # the members by name, with verified checksums


def write_container(path: FilePath, members: Mapping[str, bytes], written_by: str) -> None:
    """Write members to a file, which replaces `path` only after it is complete."""
    listed = {
        name: {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        for name, data in members.items()
    }
    manifest = json.dumps(
        {"format": _FORMAT, "version": VERSION, "ramify": written_by, "members": listed}, indent=1
    ).encode()
    everything = {_MANIFEST: manifest, **members}
    remove_stale_parts(Path(path).parent, Path(path).name)
    with replacing(path) as temporary, temporary.open("xb") as file:
        _write_archive(file, everything, zipfile.ZIP_DEFLATED)
        if not _is_modest(file):
            # It compressed so well that `read_container` would reject it as a zip bomb.
            file.seek(0)
            file.truncate()
            _write_archive(file, everything, zipfile.ZIP_STORED)
        file.flush()
        os.fsync(file.fileno())


def _write_archive(file: Any, members: Mapping[str, bytes], compression: int) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        archive.comment = hashlib.sha256(members[_MANIFEST]).hexdigest().encode()
        for name, data in members.items():
            info = zipfile.ZipInfo(name, _EPOCH)
            info.compress_type = compression
            archive.writestr(info, data)


def _is_modest(file: Any) -> bool:
    size = file.tell()
    with Path(file.name).open("rb") as written, zipfile.ZipFile(written) as archive:
        try:
            check_archive(archive, size, _UNLIMITED)
        except DamageError:
            return False
    return True


def read_container(path: FilePath, limits: LoadLimits) -> Container:
    """Read and verify all members of a model file."""
    with _opened(path, limits) as archive:
        return _read_members(archive)


def read_member(path: FilePath, name: str, limits: LoadLimits) -> bytes | None:
    """Read and verify one member of a model file without reading the others."""
    with _opened(path, limits) as archive:
        return _read_members(archive, only=name).members.get(name)


@contextmanager
def _opened(path: FilePath, limits: LoadLimits) -> Iterator[zipfile.ZipFile]:
    with Path(path).open("rb") as file, distrusting(path):
        size = os.fstat(file.fileno()).st_size
        try:
            archive = zipfile.ZipFile(file)
        except zipfile.BadZipFile:
            raise DamageError("it is not a zip archive or is truncated") from None
        with archive:
            check_archive(archive, size, limits)
            file.seek(size - len(archive.comment))
            if file.read() != archive.comment:
                raise DamageError("it has extra bytes at the end")
            yield archive


@contextmanager
def distrusting(path: FilePath) -> Iterator[None]:
    """Convert any error of a reader of damaged input to a `ModelFileError` that names the file."""
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(f"{fspath(path)}: {error}") from None
    except LimitError as error:
        raise ModelFileError(f"{fspath(path)}: {error}") from None
    except Exception as error:
        known = isinstance(error, DamageError | SchemaError | MemoryError | RecursionError)
        reason = _reason(error)
        raise ModelFileError(
            f"{fspath(path)} is not a valid ramify model file: {reason.rstrip('.')}. Copy or save "
            "it again."
        ) from (None if known else error)


def _reason(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return "it needs more memory than is available"
    if isinstance(error, RecursionError):
        return "its content is nested too deeply"
    # What ramify refuses is a ValueError. Other errors have messages about the code, not the file.
    return str(error) if isinstance(error, ValueError) else "its parts do not fit together"


def check_archive(archive: zipfile.ZipFile, n_bytes: int, limits: LoadLimits) -> None:
    """Raise an error if the members of an archive cannot fit into `n_bytes` bytes."""
    infos = archive.infolist()
    if len({info.filename for info in infos}) != len(infos):
        raise DamageError("two members have the same name")
    for info in infos:
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise DamageError(f"member {info.filename!r} uses an unsupported compression")
        if info.flag_bits & 1:
            raise DamageError(f"member {info.filename!r} is encrypted")
        is_text = info.filename.endswith(".json")
        if is_text:
            limits.check("max_json_bytes", info.file_size, f"the size of {info.filename}")
        if is_text and info.file_size > max(_FREE_JSON, limits.max_ratio * info.compress_size):
            raise DamageError(
                f"member {info.filename!r} declares {info.file_size} bytes, which is too large"
            )
    # Overlapping members could expand a few bytes to many.
    if sum(info.compress_size for info in infos) > n_bytes:
        raise DamageError("its members declare more bytes than the file has")
    claimed = sum(info.file_size for info in infos)
    limits.check("max_bytes", claimed, "the size of its members")
    if claimed > max(_FREE_TOTAL, limits.max_ratio * n_bytes):
        raise DamageError(
            f"its members declare {claimed} bytes, too many for a file of {n_bytes} bytes"
        )


def _read_members(archive: zipfile.ZipFile, only: str | None = None) -> Container:
    infos = {info.filename: info for info in archive.infolist()}
    if _MANIFEST not in infos:
        raise DamageError(f"it does not contain {_MANIFEST}")
    text = _read_member(archive, infos.pop(_MANIFEST))
    if hashlib.sha256(text).hexdigest().encode() != archive.comment:
        raise DamageError(f"the checksum of {_MANIFEST} does not match")
    manifest = json.loads(text)
    version = _checked_version(manifest)
    listed = manifest.get("members")
    if not isinstance(listed, dict) or not all(isinstance(one, dict) for one in listed.values()):
        raise DamageError(f"{_MANIFEST} does not list the members")
    if set(listed) != set(infos):
        odd = sorted(set(listed) ^ set(infos))
        raise DamageError(f"the manifest does not match the members {odd[:3]}")
    members = {}
    for name, info in infos.items():
        if only not in (None, name):
            continue
        data = _read_member(archive, info)
        if hashlib.sha256(data).hexdigest() != listed[name].get("sha256"):
            raise DamageError(f"the checksum of {name} does not match")
        members[name] = data
    return Container(version, str(manifest.get("ramify")), members)


def _checked_version(manifest: Any) -> int:
    if not isinstance(manifest, dict) or manifest.get("format") != _FORMAT:
        raise DamageError(f"{_MANIFEST} does not contain 'format': '{_FORMAT}'")
    version = manifest.get("version")
    if type(version) is not int or version < 1:
        raise DamageError(f"{_MANIFEST} contains the invalid version {version!r}")
    if version > VERSION:
        raise ModelFileError(
            f"the file was written by ramify {manifest.get('ramify')} in format version "
            f"{version}, but this version of ramify reads formats up to {VERSION}. Update ramify."
        )
    return version


def _read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    with archive.open(info) as stream:
        data = stream.read(info.file_size + 1)
    if len(data) != info.file_size:
        raise DamageError(
            f"member {info.filename!r} declares {info.file_size} bytes, but has {len(data)}"
        )
    return data


def open_archive(data: bytes, limits: LoadLimits) -> zipfile.ZipFile:
    """Open an archive inside a member, with the same checks as for the file itself."""
    archive = zipfile.ZipFile(io.BytesIO(data))
    check_archive(archive, len(data), limits)
    return archive
