"""The public data sets of the literature, read into arrays with their published splits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ramify._validation import did_you_mean, shorten
from ramify.datasets.dataset import Categories, DataSet, present
from ramify.datasets.registry import DataFile, Entry, find_entry
from ramify.datasets.store import locate
from ramify.hierarchy.hierarchy import Hierarchy
from ramify.io import Table, read_arff, read_mulan


def fetch(
    name: str, *, as_frame: bool | None = None, split: str | Sequence[str] | None = None
) -> DataSet:
    """Fetch a public data set: features, labels, hierarchy and published splits.

    Files are looked for in the folder that the environment variable RAMIFY_DATA names (as
    NAME/NAME.SPLIT.arff.gz), then in the cache, and are otherwise downloaded from their public
    repository into the cache. Each is checked by its SHA-256. The cache is the folder
    RAMIFY_CACHE, or the user's cache folder of the operating system.

    Parameters
    ----------
    name : str
        One of those that `list_datasets` gives.
    as_frame : bool or None
        True: `X` is a pandas frame. False: an array in which a nominal cell is the position of
        its value in ``categories``. None: a frame if there are nominal features. Sparse data
        are a csr_array with None and False, and a frame of sparse columns with True.
    split : str, sequence of str or None
        Read these splits only; None reads all.

    Returns
    -------
    DataSet
        With `X` and `y` (all rows, split after split), `hierarchy`, `feature_names`,
        `categories`, `splits` (row numbers by name), `name` and `description`. Each split of
        several also has its own ``X_train``, ``y_train`` and so on, named as published.
        ``data.rows("train", "valid")`` gives two splits together: the yeast sets are meant to
        be tuned on "valid", then trained on both, then tested on "test".

    Raises
    ------
    ValueError
        If there is no such data set or split, or a checksum is not that of the registry.
    FileNotFoundError
        If a file is not at hand and no public source holds it as it is.
    OSError
        If a download failed; the message says where to put the file.
    ImportError
        If pooch is needed for a download, or pandas for a frame, and is not installed.

    Examples
    --------
    >>> from ramify.datasets import fetch
    >>> data = fetch("emotions")  # doctest: +SKIP
    >>> data.X_train.shape, data.y_test.shape  # doctest: +SKIP
    ((391, 72), (202, 6))
    >>> fetch("emotion")
    Traceback (most recent call last):
        ...
    ValueError: no data set is called 'emotion'. The nearest names: 'emotions'; ...
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
                f"split={one!r} is no split of {entry.name!r}, which has "
                f"{shorten(entry.splits)}.{did_you_mean(one, entry.splits)}"
            )
    if not wanted:
        raise ValueError(f"split={split!r} names nothing. Leave it out to read all rows.")
    return [file for file in entry.files if file.split in wanted]


def _read_tables(entry: Entry, files: list[DataFile], as_frame: bool | None) -> list[Table]:
    """Read one table per split; all have the first one's hierarchy and columns."""
    paths = [locate(file) for file in files]
    xml = locate(entry.label_file) if entry.format == "mulan" else None
    tables: list[Table] = []
    for path in paths:
        if entry.format == "targets":
            table = _read_targets(path, entry, as_frame)
        elif xml is not None:
            table = read_mulan(path, xml, as_frame=as_frame)
        else:
            # Later files share the first one's hierarchy, which must have all their labels.
            hierarchy = tables[0].hierarchy if tables else None
            table = read_arff(
                path, hierarchy=hierarchy, duplicate_names="rename", as_frame=as_frame
            )
        tables.append(table)
        if _columns(table) != _columns(tables[0]):
            raise ValueError(
                f"{path} declares other features than {paths[0]}, so their rows cannot be "
                "joined. Fetch one split at a time."
            )
    return tables


def _columns(table: Table) -> tuple[tuple[str, ...], Categories]:
    return table.feature_names, table.categories


def _read_targets(path: Path, entry: Entry, as_frame: bool | None) -> Table:
    """Read numeric targets, the last columns: a label is present where its number is above 0."""
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
    """Put rows one below the other, in the type that they have."""
    if len(parts) == 1:
        return parts[0]
    if sparse.issparse(parts[0]):
        return sparse.csr_array(sparse.vstack(parts))
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    import pandas as pd  # noqa: PLC0415 (optional; the parts are frames, so it is there)

    return pd.concat(parts, ignore_index=True)


def describe(entry: Entry) -> str:
    """Describe a data set in words: its field, its size, its labels, its source.

    Examples
    --------
    >>> print(describe(find_entry("water_quality")))
    water_quality: ecology
    <BLANKLINE>
    1060 rows (all 1060), 16 numeric and 0 nominal features.
    14 labels without a hierarchy, 5.07 of them a row.
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
        f"{labels['most_specific_labels_per_example']:.2f} of them a row"
        f"{' (the most specific ones)' if levels else ''}.",
        *entry.notes,
        *_describe_sources(entry),
    ]
    return "\n".join(lines) + "\n"


def _describe_sources(entry: Entry) -> list[str]:
    """Name every repository once, with what was done to its files."""
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
