"""Fetch public data sets of the literature, with their published splits."""

from __future__ import annotations

import gzip
import hashlib
import os
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy import sparse

from ramify._messages import counted, did_you_mean, shorten
from ramify.datasets.dataset import Categories, DataSet, present
from ramify.datasets.registry import DataFile, Entry, find_entry
from ramify.io import Table, read_arff, read_mulan
from ramify.io.files import read_bytes, replacing
from ramify.labels.hierarchy import Hierarchy


def fetch(
    name: str, *, as_frame: bool | None = None, split: str | Sequence[str] | None = None
) -> DataSet:
    """Fetch a public data set: features, labels, hierarchy and published splits.

    Files are read from the folder given by the environment variable RAMIFY_DATA (as
    NAME/NAME.SPLIT.arff.gz) or from the cache. Otherwise, they are downloaded from their public
    repository into the cache. The SHA-256 checksum of each file is verified. The cache is the
    folder given by RAMIFY_CACHE, or the operating system's cache folder for the user.

    Parameters
    ----------
    name : str
        Name of a data set; see `list_datasets`.
    as_frame : bool or None
        If True, `X` is a pandas data frame. If False, it is an array in which a nominal value is
        coded as its position in ``categories``. If None, it is a data frame if there are nominal
        features. Sparse data are returned as a csr_array with None and False, and as a data frame
        of sparse columns with True.
    split : str, sequence of str or None
        The splits to read. If None, all splits are read.

    Returns
    -------
    DataSet
        With `X` and `y` (all rows, split after split), `hierarchy`, `feature_names`,
        `categories`, `splits` (row numbers by name), `name` and `description`. If there are
        several splits, each is also available as ``X_train``, ``y_train`` and so on, named as
        published. ``data.rows("train", "valid")`` returns two splits together: the yeast data
        sets are meant to be tuned on "valid", trained on both, and tested on "test".

    Raises
    ------
    ValueError
        If there is no such data set or split, or if a checksum does not match.
    FileNotFoundError
        If a file is not found and cannot be downloaded from a public source.
    OSError
        If a download failed; the message says where to put the file.
    ImportError
        If pooch (for a download) or pandas (for a data frame) is required but not installed.

    Examples
    --------
    >>> from ramify.datasets import fetch
    >>> data = fetch("emotions")  # doctest: +SKIP
    >>> data.X_train.shape, data.y_test.shape  # doctest: +SKIP
    ((391, 72), (202, 6))
    >>> fetch("emotion")
    Traceback (most recent call last):
        ...
    ValueError: unknown data set 'emotion'. Similar names: 'emotions'. ...
    """
    entry = find_entry(name)
    files = _chosen_files(entry, split)
    tables = _read_tables(entry, files, as_frame)
    ends = np.cumsum([table.X.shape[0] for table in tables])
    splits = {
        str(file.split): np.arange(end - table.X.shape[0], end)
        for file, table, end in zip(files, tables, ends, strict=True)
    }
    first = tables[0]
    X, y = _stack([table.X for table in tables]), _stack([table.y for table in tables])
    return DataSet(
        X=X,
        y=y,
        hierarchy=first.hierarchy,
        feature_names=first.feature_names,
        categories=first.categories,
        splits=splits,
        name=name,
        description=describe(entry),
    )


def _chosen_files(entry: Entry, split: str | Sequence[str] | None) -> list[DataFile]:
    wanted = entry.splits if split is None else [split] if isinstance(split, str) else list(split)
    for one in wanted:
        if one not in entry.splits:
            raise ValueError(
                f"split must be among the splits of {entry.name!r}, {shorten(entry.splits)}, got "
                f"{one!r}.{did_you_mean(one, entry.splits)}"
            )
    if not wanted:
        raise ValueError(
            f"split must name at least one split, got {split!r}. Use split=None to read all rows."
        )
    return [file for file in entry.files if file.split in wanted]


def _read_tables(entry: Entry, files: list[DataFile], as_frame: bool | None) -> list[Table]:
    """Read one table per split; all tables have the hierarchy and the columns of the first."""
    paths = [locate(file) for file in files]
    xml = locate(entry.label_file) if entry.format == "mulan" else None
    tables: list[Table] = []
    for path in paths:
        if entry.format == "targets":
            table = _read_targets(path, entry, as_frame)
        elif xml is not None:
            table = read_mulan(path, xml, as_frame=as_frame)
        else:
            # Later files share the hierarchy of the first, which must contain all their labels.
            hierarchy = tables[0].hierarchy if tables else None
            table = read_arff(
                path, hierarchy=hierarchy, duplicate_names="rename", as_frame=as_frame
            )
        tables.append(table)
        if _columns(table) != _columns(tables[0]):
            raise ValueError(
                f"{path} and {paths[0]} declare different features, so their rows cannot be "
                "combined. Fetch one split at a time."
            )
    return tables


def _columns(table: Table) -> tuple[tuple[str, ...], Categories]:
    return table.feature_names, table.categories


def _read_targets(path: Path, entry: Entry, as_frame: bool | None) -> Table:
    """Read numeric targets, the last columns: a label is present if its value is above 0."""
    table = read_arff(path, target=[], as_frame=False)
    n_features = entry.numeric + entry.nominal
    names, labels = table.feature_names[:n_features], table.feature_names[n_features:]
    return Table(
        X=present(table.X[:, :n_features], names, {}, as_frame, caller="fetch"),
        y=sparse.csr_array((table.X[:, n_features:] > 0).astype(np.int32)),
        hierarchy=Hierarchy.from_labels(labels),
        feature_names=names,
        name=table.name,
    )


def _stack(parts: list[Any]) -> Any:
    """Concatenate rows, keeping their type."""
    if len(parts) == 1:
        return parts[0]
    if sparse.issparse(parts[0]):
        return sparse.csr_array(sparse.vstack(parts))
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    import pandas as pd  # noqa: PLC0415 (optional; installed, because the parts are data frames)

    return pd.concat(parts, ignore_index=True)


def describe(entry: Entry) -> str:
    """Describe a data set in words: its domain, size, labels and source."""
    labels = entry.labels or {}
    sizes = ", ".join(f"{file.split} {file.rows}" for file in entry.files if file.split)
    kind = {"none": "without a hierarchy", "tree": "in a tree", "DAG": "in a DAG"}
    levels = "" if labels["hierarchy"] == "none" else f" of {counted(labels['depth'], 'level')}"
    lines = [
        f"{entry.name}: {entry.domain}",
        "",
        f"{entry.rows} rows ({sizes}), {entry.numeric} numeric and {entry.nominal} "
        "nominal features.",
        f"{labels['nodes']} labels {kind[labels['hierarchy']]}{levels}, "
        f"{labels['most_specific_labels_per_example']:.2f} per row"
        f"{' (most specific labels only)' if levels else ''}.",
        *entry.notes,
        *_describe_sources(entry),
    ]
    return "\n".join(lines) + "\n"


def _describe_sources(entry: Entry) -> list[str]:
    """List each repository once, with the status of its files."""
    sources: dict[tuple[str, str], list[str]] = {}
    for file in entry.files:
        for source in file.sources:
            status = sources.setdefault((source.repository, source.commit), [])
            if file.status not in status:
                status.append(file.status)
    return [
        f"Source: https://{repository} at {commit[:12]}, {' and '.join(status)}."
        for (repository, commit), status in sources.items()
    ]


# ---- where files are: a folder, the cache, a download ---------------------------------------


_TRY_AGAIN = "The source has changed or the download failed. Try again."


def locate(file: DataFile) -> Path:
    """Return the path of a verified file; download it if necessary.

    The file is searched for in the folder given by the environment variable RAMIFY_DATA, then in
    the cache: RAMIFY_CACHE, or the operating system's cache folder for the user.
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


def _cause(error: BaseException) -> str:
    """Return the first cause of an error, without what was tried on the way."""
    while error.__context__ is not None:
        error = error.__context__
    return str(error) or type(error).__name__


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
                f"could not download {file.url} ({_cause(error)}). If you are offline, obtain the "
                f"file in another way, put it into a folder {_where(file)}"
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
