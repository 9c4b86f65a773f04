"""The registry of public data sets: their properties, files, checksums and sources."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files as package_files
from pathlib import PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import quote

from ramify._messages import shorten


@dataclass(frozen=True)
class Source:
    """A file or folder of a public repository at a given commit."""

    repository: str
    commit: str
    path: str

    @property
    def url(self) -> str:
        """The URL of the raw file."""
        owner_and_name = self.repository.removeprefix("github.com/")
        return (
            f"https://raw.githubusercontent.com/{owner_and_name}/{self.commit}/{quote(self.path)}"
        )


@dataclass(frozen=True)
class DataFile:
    """One file of a data set."""

    path: str  # path within a folder of data sets, "NAME/NAME.SPLIT.arff.gz"
    # The split whose rows the file contains; None for files without rows (labels, notes).
    split: str | None
    rows: int | None
    # "original" (verbatim from its source), "converted", or "rebuilt" (from several files).
    status: str
    bytes: int
    sha256: str  # checksums of the compressed file and of its text
    text_bytes: int
    text_sha256: str
    sources: tuple[Source, ...]  # the sources of the file

    @property
    def can_download(self) -> bool:
        """Whether the source has exactly the same text."""
        return self.status == "original"

    @property
    def url(self) -> str:
        """The URL to download the file from."""
        return self.sources[0].url


@dataclass(frozen=True)
class Entry:
    """The registry entry of a data set."""

    name: str  # name and application domain
    domain: str
    # Format of the labels: "arff" (CLUS), "mulan" (ARFF and XML) or "targets" (numbers).
    format: str
    rows: int  # number of rows, numeric features, nominal features and missing values
    numeric: int
    nominal: int
    missing_cells: int
    sparse: bool  # whether the files are sparse
    # Statistics of the labels and their hierarchy; None if there are no labels.
    labels: dict[str, Any] | None
    notes: tuple[str, ...]  # notes for users
    files: tuple[DataFile, ...]  # the splits in published order, followed by other files

    @property
    def splits(self) -> tuple[str, ...]:
        """The names of the splits, in published order."""
        return tuple(file.split for file in self.files if file.split is not None)

    @property
    def label_file(self) -> DataFile:
        """The XML file that lists the labels of a data set in Mulan's format."""
        return next(file for file in self.files if PurePosixPath(file.path).suffix == ".xml")

    @property
    def needed(self) -> tuple[DataFile, ...]:
        """The files required for reading: the splits and the label names."""
        return tuple(
            file for file in self.files if file.split or PurePosixPath(file.path).suffix == ".xml"
        )


class Summary(NamedTuple):
    """One line of the list of data sets."""

    name: str
    domain: str
    rows: int
    features: int
    labels: int
    hierarchy: str
    depth: int
    splits: tuple[str, ...]
    download: bool


@cache
def load_registry() -> dict[str, Entry]:
    """Read the registry included in the package."""
    text = package_files("ramify.datasets").joinpath("registry.json").read_text(encoding="utf-8")
    return {name: _entry(name, facts) for name, facts in json.loads(text)["datasets"].items()}


def _entry(name: str, facts: dict[str, Any]) -> Entry:
    data_files = tuple(
        DataFile(
            **{key: value for key, value in file.items() if key != "source"},
            sources=tuple(Source(**source) for source in file["source"]),
        )
        for file in facts["files"]
    )
    return Entry(name=name, **{**facts, "notes": tuple(facts["notes"]), "files": data_files})


def find_entry(name: str) -> Entry:
    """Return the entry of a data set with labels."""
    registry = load_registry()
    if name not in registry:
        near = _near_names(str(name), registry)
        hint = f" Similar names: {shorten(near)}." if near else ""
        raise ValueError(
            f"unknown data set {name!r}.{hint} Use ramify.list_datasets() to list all "
            f"{len(list_datasets())} data sets."
        )
    entry = registry[name]
    if entry.labels is None:
        raise ValueError(
            f"{name!r} has only numeric targets and no labels, so it is not a classification data "
            "set. Read its features with ramify.io.read_arff, or choose a data set from "
            "ramify.list_datasets()."
        )
    return entry


def _near_names(name: str, registry: dict[str, Entry]) -> list[str]:
    """Find similarly spelled names, ignoring case, then names that contain the given one."""
    import difflib  # noqa: PLC0415 (only the error needs it)

    lower = {known.lower(): known for known in registry}
    alike = difflib.get_close_matches(name.lower(), lower, n=3)
    inside = [known for known in lower if name.lower() in known and known not in alike]
    return [lower[known] for known in alike + inside]


def list_datasets() -> list[Summary]:
    """List the data sets available from `fetch`.

    Returns
    -------
    list of Summary
        Named tuples in alphabetical order: ``name``, ``domain``, ``rows``, ``features``,
        ``labels``, ``hierarchy`` ("tree", "DAG" or "none"), ``depth``, ``splits``, and
        ``download`` (whether all files have a public source). Pass the list to
        ``pandas.DataFrame`` to get a table.

    Examples
    --------
    >>> from ramify.datasets import list_datasets
    >>> len(list_datasets())
    39
    >>> [data.name for data in list_datasets() if data.hierarchy == "none"]
    ['delicious', 'emotions', 'enron_mulan', 'medical', 'water_quality']
    """
    return [
        Summary(
            name=entry.name,
            domain=entry.domain,
            rows=entry.rows,
            features=entry.numeric + entry.nominal,
            labels=entry.labels["nodes"],
            hierarchy=entry.labels["hierarchy"],
            depth=entry.labels["depth"],
            splits=entry.splits,
            download=all(file.can_download for file in entry.needed),
        )
        for entry in load_registry().values()
        if entry.labels is not None
    ]
