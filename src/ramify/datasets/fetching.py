"""Fetch public data sets of the literature, with their published splits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ramify._messages import did_you_mean, shorten
from ramify.datasets.dataset import Categories, DataSet, present
from ramify.datasets.registry import DataFile, Entry, find_entry
from ramify.datasets.store import locate
from ramify.hierarchy.hierarchy import Hierarchy
from ramify.io import Table, read_arff, read_mulan


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
    """Describe a data set in words: its domain, size, labels and source.

    Examples
    --------
    >>> print(describe(find_entry("water_quality")))
    water_quality: ecology
    <BLANKLINE>
    1060 rows (all 1060), 16 numeric and 0 nominal features.
    14 labels without a hierarchy, 5.07 per row.
    A label is present where the abundance of the species is above 0.
    Source: https://github.com/tsoumakas/mulan at 43f6389095ad, original.
    <BLANKLINE>
    """
    labels = entry.labels or {}
    sizes = ", ".join(f"{file.split} {file.rows}" for file in entry.files if file.split)
    kind = {"none": "without a hierarchy", "tree": "in a tree", "DAG": "in a DAG"}
    levels = "" if labels["hierarchy"] == "none" else f" of {labels['depth']} levels"
    lines = [
        f"{entry.name}: {entry.domain}",
        "",
        f"{entry.rows} rows ({sizes}), {entry.numeric} numeric and {entry.nominal} nominal "
        "features.",
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
