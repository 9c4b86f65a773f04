"""Locate the files of public data sets: in a local folder, in the cache, or by download.

Every file is checked against the registry before it is read.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ramify.datasets.registry import DataFile
from ramify.io.files import read_bytes, replacing

_TRY_AGAIN = "The source has changed or the download failed. Try again."


def locate(file: DataFile) -> Path:
    """Return the path of a verified file; download it if necessary.

    The file is searched for in the folder given by the environment variable RAMIFY_DATA, then in
    the cache: RAMIFY_CACHE, or the operating system's cache folder for the user.

    Raises
    ------
    FileNotFoundError
        If it is not found and cannot be downloaded from a public source.
    ImportError
        If it must be downloaded and pooch is not installed.
    OSError
        If the download failed.
    ValueError
        If its checksum does not match the registry.
    """
    for folder in _folders():
        for path in _candidates(folder, file):
            if path.is_file():
                _check_sum(file, path)
                return path
    if not file.can_download:
        raise FileNotFoundError(
            f"{file.path} was not found and cannot be downloaded: its status is {file.status!r}, "
            f"so no public source has exactly this file. Put it into a folder, {_where(file)}, "
            "and set RAMIFY_DATA to that folder."
        )
    return _download(file, _cache_folder())


def _folders() -> Iterator[Path]:
    """Yield the folders to search, in order."""
    data = os.environ.get("RAMIFY_DATA")
    if data:
        folder = Path(data).expanduser()
        if not folder.is_dir():
            raise FileNotFoundError(
                f"the environment variable RAMIFY_DATA must be a folder, got {data!r}. Correct "
                "it, or unset it to use the cache."
            )
        yield folder
    if os.environ.get("RAMIFY_CACHE") or _has_pooch():
        yield _cache_folder()


def _candidates(folder: Path, file: DataFile) -> Iterator[Path]:
    """Yield the compressed path, and the same path without .gz for decompressed files."""
    yield folder / file.path
    if file.path.endswith(".gz"):
        yield folder / file.path.removesuffix(".gz")


def _where(file: DataFile) -> str:
    plain = file.path.removesuffix(".gz")
    return f"as {plain} or {file.path}" if plain != file.path else f"as {plain}"


def _has_pooch() -> bool:
    try:
        import pooch  # noqa: F401, PLC0415 (optional)
    except ImportError:
        return False
    return True


def _cache_folder() -> Path:
    chosen = os.environ.get("RAMIFY_CACHE")
    return Path(chosen).expanduser() if chosen else Path(_import_pooch().os_cache("ramify"))


def _import_pooch() -> Any:
    try:
        import pooch  # noqa: PLC0415 (optional)
    except ImportError:
        raise ImportError(
            "downloading data requires pooch, which is not installed. Run: pip install "
            "'ramify[data]', or set RAMIFY_DATA to a folder that contains the files."
        ) from None
    return pooch


def _check_sum(file: DataFile, path: Path) -> None:
    """Accept the compressed file of the registry, or any file with the same text."""
    if hashlib.sha256(path.read_bytes()).hexdigest() != file.sha256:
        _check_text(file, read_bytes(path), str(path), "Delete it and fetch it again.")


def _check_text(file: DataFile, text: bytes, origin: str, remedy: str) -> None:
    found = hashlib.sha256(text).hexdigest()
    if found != file.text_sha256:
        raise ValueError(
            f"{origin} does not match the registry: the SHA-256 of its text is {found}, expected "
            f"{file.text_sha256}. {remedy}"
        )


def _download(file: DataFile, cache: Path) -> Path:
    """Download a file, verify its text and store it compressed in the cache."""
    pooch = _import_pooch()
    target = cache / file.path
    target.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=target.parent, prefix=".download") as folder:
        raw = Path(folder) / "raw"
        try:
            pooch.HTTPDownloader()(file.url, str(raw), None)
        except OSError as error:
            raise OSError(
                f"could not download {file.url} ({error}). If you are offline, obtain the file "
                f"in another way, put it into a folder {_where(file)}"
                f"{' (unzipped)' if file.url.endswith('.zip') else ''}, and set RAMIFY_DATA to "
                "that folder."
            ) from error
        text = _unzip(raw, file.url) if file.url.endswith(".zip") else raw.read_bytes()
    _check_text(file, text, file.url, _TRY_AGAIN)
    packed = gzip.compress(text, mtime=0) if target.suffix == ".gz" else text
    with replacing(target) as temporary:
        temporary.write_bytes(packed)
    return target


def _unzip(path: Path, url: str) -> bytes:
    """Return the only ARFF file of an archive, ignoring the metadata files that macOS adds."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if not name.startswith("__MACOSX/")]
            (name,) = [name for name in names if name.lower().endswith(".arff")]
            return archive.read(name)
    except (zipfile.BadZipFile, ValueError):
        raise ValueError(
            f"{url} is not a zip archive with exactly one ARFF file. {_TRY_AGAIN}"
        ) from None
