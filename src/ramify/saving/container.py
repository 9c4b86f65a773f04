"""One file of named members: a zip archive with checksums, read with distrust.

The archive holds ``manifest.json``, which names the format, its version and the size and SHA-256
of every other member; the archive's comment is the SHA-256 of the manifest. Checksums find
accidents. Against malice every size is checked against the bytes that are there before anything
of that size is allocated.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from os import fspath
from pathlib import Path
from typing import Any

from ramify.io.files import FilePath, FormatError, replacing

__all__ = [
    "VERSION",
    "Container",
    "DamageError",
    "ModelFileError",
    "distrusting",
    "open_archive",
    "read_container",
    "write_container",
]

VERSION = 2
"""The version of the format that `write_container` writes; all from 1 on can be read."""

_FORMAT = "ramify.model"
_MANIFEST = "manifest.json"
# A member may be this many times larger than its compressed form, which leaves honest models
# alone and keeps a small file from filling the memory. Small members may be anything.
_MAX_RATIO = 64
_FREE_TOTAL = 256 << 20
# Parsed JSON takes some twenty times the memory of its text.
_FREE_JSON = 16 << 20
# No time and no user inside: the same content gives the same bytes.
_EPOCH = (1980, 1, 1, 0, 0, 0)


class DamageError(ValueError):
    """A reader met what no sound model file holds; `distrusting` adds the name of the file."""


class ModelFileError(FormatError):
    """A file is no model that `ramify.load` can read; the message says why.

    Examples
    --------
    >>> import tempfile, pathlib, ramify
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.ramify"
    >>> _ = path.write_bytes(b"something else")
    >>> ramify.load(path)
    Traceback (most recent call last):
        ...
    ramify.saving.container.ModelFileError: ...model.ramify is no sound model file: it is no zip
    archive, or its end is missing. Copy or save it again.
    """


@dataclass(frozen=True)
class Container:
    """What a model file holds.

    Attributes
    ----------
    version : int
        The version of the format it was written in.
    written_by : str
        The version of ramify that wrote it.
    members : dict of str to bytes
        The members by name, all checked against their checksums.
    """

    version: int
    written_by: str
    members: dict[str, bytes]


def write_container(path: FilePath, members: Mapping[str, bytes], written_by: str) -> None:
    """Write members to a file, which replaces `path` only when it is complete.

    Parameters
    ----------
    path : path
        The file.
    members : mapping of str to bytes
        What to write, by name.
    written_by : str
        The version of ramify.
    """
    listed = {
        name: {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        for name, data in members.items()
    }
    manifest = json.dumps(
        {"format": _FORMAT, "version": VERSION, "ramify": written_by, "members": listed}, indent=1
    ).encode()
    everything = {_MANIFEST: manifest, **members}
    with replacing(path) as temporary, temporary.open("xb") as file:
        _write_archive(file, everything, zipfile.ZIP_DEFLATED)
        if not _is_modest(file):
            # It shrank so much that `read_container` would take it for a trap.
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
            check_archive(archive, size)
        except DamageError:
            return False
    return True


def read_container(path: FilePath) -> Container:
    """Read and check every member of a model file.

    Parameters
    ----------
    path : path
        A file that `write_container` wrote.

    Returns
    -------
    Container
        Its content.
    """
    with Path(path).open("rb") as file, distrusting(path):
        size = os.fstat(file.fileno()).st_size
        try:
            archive = zipfile.ZipFile(file)
        except zipfile.BadZipFile:
            raise DamageError("it is no zip archive, or its end is missing") from None
        with archive:
            check_archive(archive, size)
            file.seek(size - len(archive.comment))
            if file.read() != archive.comment:
                raise DamageError("there are bytes after its end")
            return _read_members(archive)


@contextmanager
def distrusting(path: FilePath) -> Iterator[None]:
    """Turn whatever a reader stumbles over into a `ModelFileError` that names the file.

    The parsers of the standard library raise a dozen kinds of errors for damaged input; a caller
    should have to expect one.
    """
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(f"{fspath(path)}: {error}") from None
    except Exception as error:
        known = isinstance(error, DamageError)
        reason = str(error) if known else f"{type(error).__name__}: {error}"
        raise ModelFileError(
            f"{fspath(path)} is no sound model file: {reason.rstrip('.')}. Copy or save it again."
        ) from (None if known else error)


def check_archive(archive: zipfile.ZipFile, n_bytes: int) -> None:
    """Refuse an archive whose list of members cannot be true of `n_bytes` bytes.

    Parameters
    ----------
    archive : ZipFile
        An archive of which only the list of members has been read.
    n_bytes : int
        Its size on disk.
    """
    infos = archive.infolist()
    if len({info.filename for info in infos}) != len(infos):
        raise DamageError("two members have the same name")
    for info in infos:
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise DamageError(f"member {info.filename!r} is compressed in an unknown way")
        if info.flag_bits & 1:
            raise DamageError(f"member {info.filename!r} is encrypted")
        is_text = info.filename.endswith(".json")
        if is_text and info.file_size > max(_FREE_JSON, _MAX_RATIO * info.compress_size):
            raise DamageError(f"member {info.filename!r} claims {info.file_size} bytes")
    # Members that overlap would let few bytes stand for many.
    if sum(info.compress_size for info in infos) > n_bytes:
        raise DamageError("its members claim more bytes than it has")
    claimed = sum(info.file_size for info in infos)
    if claimed > max(_FREE_TOTAL, _MAX_RATIO * n_bytes):
        raise DamageError(f"its members claim {claimed} bytes in a file of {n_bytes}")


def _read_members(archive: zipfile.ZipFile) -> Container:
    infos = {info.filename: info for info in archive.infolist()}
    if _MANIFEST not in infos:
        raise DamageError(f"it lacks {_MANIFEST}")
    text = _read_member(archive, infos.pop(_MANIFEST))
    if hashlib.sha256(text).hexdigest().encode() != archive.comment:
        raise DamageError(f"the checksum of {_MANIFEST} differs")
    manifest = json.loads(text)
    version = _checked_version(manifest)
    listed = manifest["members"]
    if set(listed) != set(infos):
        odd = sorted(set(listed) ^ set(infos))
        raise DamageError(f"the manifest and the members differ in {odd[:3]}")
    members = {}
    for name, info in infos.items():
        data = _read_member(archive, info)
        if hashlib.sha256(data).hexdigest() != listed[name]["sha256"]:
            raise DamageError(f"the checksum of {name} differs")
        members[name] = data
    return Container(version, str(manifest["ramify"]), members)


def _checked_version(manifest: Any) -> int:
    if not isinstance(manifest, dict) or manifest.get("format") != _FORMAT:
        raise DamageError(f"{_MANIFEST} does not say 'format': '{_FORMAT}'")
    version = manifest.get("version")
    if type(version) is not int or version < 1:
        raise DamageError(f"{_MANIFEST} gives version {version!r}")
    if version > VERSION:
        raise ModelFileError(
            f"ramify {manifest.get('ramify')} wrote this file in version {version} of the format, "
            f"but this ramify reads up to version {VERSION}. Update ramify."
        )
    return version


def _read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    with archive.open(info) as stream:
        data = stream.read(info.file_size + 1)
    if len(data) != info.file_size:
        raise DamageError(f"member {info.filename!r} has {len(data)} bytes")
    return data


def open_archive(data: bytes) -> zipfile.ZipFile:
    """Open an archive inside a member, with the same distrust as the file itself."""
    archive = zipfile.ZipFile(io.BytesIO(data))
    check_archive(archive, len(data))
    return archive
