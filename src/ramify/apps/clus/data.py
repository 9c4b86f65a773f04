"""Read the data files of a CLUS run: attributes and their roles, features, weights and keys."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify.apps.clus.errors import SettingsError, UnsupportedOptionError, quoted
from ramify.apps.clus.estimator import TargetKind
from ramify.apps.clus.options import Switches
from ramify.apps.clus.settings import Settings
from ramify.apps.clus.values import columns_of
from ramify.data.features import FeatureSchema
from ramify.io.arff.columns import ArffFile, parse_arff
from ramify.io.errors import FormatError
from ramify.io.files import read_chunks

_KINDS = {
    "numeric": "numeric",
    "nominal": "nominal",
    "text": "a key or text",
    "labels": "hierarchical",
    "date": "a date",
}


def clus_values(declared: Sequence[str]) -> tuple[str, ...]:
    """Return the values of a nominal attribute in the order of CLUS.

    >>> clus_values(["w", "n", "?", "s"]), clus_values(["0", "1"])
    (('n', 's', 'w'), ('1', '0'))
    """
    values = sorted(value for value in declared if value != "?")
    return ("1", "0") if values == ["0", "1"] else tuple(values)


@dataclass(frozen=True)
class Attributes:
    """The attributes of the training file and their roles; positions start at 0."""

    relation: str  # name of the relation
    quoted_relation: str  # name of the relation with the quotes of the file
    names: tuple[str, ...]  # all attributes
    kinds: tuple[str, ...]  # their kinds: "numeric", "nominal", "text" or "labels"
    values: dict[int, tuple[str, ...]]  # the values of nominal attributes, in the order of CLUS
    target: tuple[int, ...]  # the roles
    clustering: tuple[int, ...]
    descriptive: tuple[int, ...]
    key: tuple[int, ...]
    disabled: tuple[int, ...]

    @property
    def schema(self) -> FeatureSchema:
        """Which descriptive attributes are nominal."""
        sizes = [len(self.values.get(at, ())) for at in self.descriptive]
        return FeatureSchema(np.array(sizes, dtype=np.int32), {})

    @property
    def target_kind(self) -> TargetKind:
        """The kind of the targets, which determines the method of CLUS."""
        kind = self.kinds[self.target[0]]  # all targets are of one kind
        if kind in ("labels", "numeric"):
            return "numeric" if kind == "numeric" else "hierarchical"
        binary = all(self.values[at] == ("1", "0") for at in self.target)
        return "multilabel" if binary and len(self.target) > 1 else "nominal"

    def check_same(self, file: ArffFile) -> None:
        """Raise an error unless another file has the same attributes."""
        if tuple(file.names) != self.names:
            for at, (ours, found) in enumerate(zip(self.names, file.names, strict=False)):
                if ours != found:
                    raise FormatError(
                        f"{file.path}: expected attribute {at + 1} to be {ours!r} as in the "
                        f"training file, found {found!r}."
                    )
            raise FormatError(
                f"{file.path}: expected {len(self.names)} attributes as in the training file, "
                f"found {len(file.names)}."
            )
        for name, ours, found in zip(self.names, self.kinds, file.kinds, strict=True):
            if ours != found:
                raise FormatError(
                    f"{file.path}: expected attribute {name!r} to be {_KINDS[ours]} as in the "
                    f"training file, found that it is {_KINDS[found]}."
                )


@dataclass(frozen=True)
class Rows:
    """Rows of a data file."""

    # Descriptive attributes; codes of nominal values in the order of CLUS, NaN for missing ones.
    X: Any
    y: Any  # the target, in the form of the target kind
    weights: NDArray[np.float64]  # instance weights
    keys: list[list[str]]  # the values of the key attributes, one list per row
    numbers: NDArray[np.int64]  # positions of the rows in their file

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @property
    def has_missing(self) -> bool:
        """Whether a descriptive value is missing."""
        cells: Any = getattr(self.X, "data", None) if sparse.issparse(self.X) else self.X
        return bool(np.isnan(cells).any())


def read_file(path: Path) -> ArffFile:
    """Parse a data file with the conventions of CLUS."""
    file = parse_arff(path, index_base=1, rename_duplicates=True, encoding="utf-8")
    if not file.n_rows:
        raise FormatError(f"{path}: expected at least one row after @data, found none.")
    return file


def read_quoted_relation(path: Path, name: str) -> str:
    """Return the name of the relation with the quotes of the file."""
    head = next(iter(read_chunks(path, "utf-8")), b"").decode("utf-8", "replace")
    found = re.search(r"^[ \t]*@relation[ \t]+(.*?)[ \t\r]*$", head, re.MULTILINE | re.IGNORECASE)
    return found[1] if found and name in found[1] else name


def read_rows(file: ArffFile, attributes: Attributes, y: Any) -> Rows:
    """Return the rows of a file."""
    attributes.check_same(file)
    weights = np.ones(file.n_rows) if file.weights is None else np.asarray(file.weights)
    texts = [file.strings[file.names[at]] for at in attributes.key if file.kinds[at] == "text"]
    keys = [[str(value) for value in row] for row in zip(*texts, strict=True)]
    X = _sparse_features if file.is_sparse else _dense_features
    return Rows(
        X(file, attributes),
        y,
        weights,
        keys or [[] for _ in range(file.n_rows)],
        np.arange(file.n_rows, dtype=np.int64),
    )


def take_rows(rows: Rows, chosen: NDArray[np.int64]) -> Rows:
    """Return some rows, in the order given."""
    return Rows(
        rows.X[chosen],
        rows.y[chosen],
        rows.weights[chosen],
        [rows.keys[i] for i in chosen.tolist()],
        rows.numbers[chosen],
    )


def nominal_column(file: ArffFile, position: int, values: Sequence[str]) -> NDArray[np.float64]:
    """Return the codes of a nominal attribute in the order of `values`; NaN if missing."""
    if file.is_sparse:
        codes = file.sparse_columns([position]).toarray()[:, 0]
    else:
        codes = file.dense_column(position)
    return _recode(file, position, values, codes)


def _recode(
    file: ArffFile, position: int, values: Sequence[str], codes: NDArray[np.float64]
) -> NDArray[np.float64]:
    place = {value: float(code) for code, value in enumerate(values)}
    table = np.array([place.get(value, np.nan) for value in file.values[position]])
    found = np.full(len(codes), np.nan)
    known = np.flatnonzero(~np.isnan(codes))
    found[known] = table[codes[known].astype(np.int64)]
    wrong = known[np.isnan(found[known])]
    if len(wrong):
        value = file.values[position][int(codes[wrong[0]])]
        if value != "?":
            raise FormatError(
                f"{file.path}: expected the values {{{','.join(values)}}} of attribute "
                f"{file.names[position]!r} as in the training file, found {value!r}."
            )
    return found


def _dense_features(file: ArffFile, attributes: Attributes) -> NDArray[np.float64]:
    X = np.empty((file.n_rows, len(attributes.descriptive)), order="F")
    for j, at in enumerate(attributes.descriptive):
        if at in attributes.values:
            X[:, j] = nominal_column(file, at, attributes.values[at])
        else:
            X[:, j] = file.dense_column(at)
    X[np.isposinf(X)] = np.nan  # CLUS marks missing numbers with infinity
    return X


def _sparse_features(file: ArffFile, attributes: Attributes) -> sparse.csr_array[np.float64]:
    cells: Any = file.sparse_columns(list(attributes.descriptive))
    nominal = [j for j, at in enumerate(attributes.descriptive) if at in attributes.values]
    if nominal:
        dense: Any = cells.tolil()
        for j in nominal:
            at = attributes.descriptive[j]
            dense[:, [j]] = nominal_column(file, at, attributes.values[at])[:, None]
        cells = sparse.csr_array(dense)
    cells = cells.copy()
    cells.data[np.abs(cells.data) <= 1e-9] = 0.0
    cells.eliminate_zeros()
    return sparse.csr_array(cells)


# ---- the roles of columns -------------------------------------------------------------------


def read_attributes(settings: Settings, switches: Switches, file: ArffFile) -> Attributes:
    """Return the attributes of a training file with their roles.

    The target is the last column by default, and all columns that are neither targets nor keys
    nor disabled are features. Columns of text are keys.
    """
    n_columns = len(file.names)

    def columns(option: str) -> tuple[int, ...] | None:
        return settings.columns("Attributes", option, n_columns)

    disabled = set(columns("Disable") or ())
    if switches.disable:
        disabled |= set(columns_of(switches.disable, n_columns, "-disable"))
    texts = {at for at, kind in enumerate(file.kinds) if kind == "text"}
    key = set(columns("Key") or ()) | texts
    usable = [at for at in range(n_columns) if at not in disabled | key]
    target = columns("Target")
    if switches.target:
        target = columns_of(switches.target, n_columns, "-target")
    if not target and not usable:
        raise SettingsError(f"{settings.place('Attributes', 'Target')}: no column is left.")
    target = target or (usable[-1],)
    chosen = columns("Descriptive") or usable
    descriptive = tuple(at for at in chosen if at not in target and at not in texts)
    everything = tuple(sorted({*descriptive, *target}))  # with -ssl, features count as well
    clustering = columns("Clustering") or target
    if clustering != target and not (switches.ssl and clustering == everything):
        raise UnsupportedOptionError(
            f"{settings.place('Attributes', 'Clustering')} must equal Target, got "
            f"{quoted(settings.text('Attributes', 'Clustering'))}. Remove the line."
        )
    _check_target(settings, file, target)
    _check_features(settings, file, descriptive)
    return Attributes(
        file.relation,
        read_quoted_relation(Path(file.path), file.relation),
        tuple(file.names),
        tuple(file.kinds),
        {at: clus_values(values) for at, values in file.values.items()},
        target,
        everything if switches.ssl else clustering,
        descriptive,
        tuple(sorted(key & texts)),
        tuple(sorted(disabled)),
    )


def _check_target(settings: Settings, file: ArffFile, target: tuple[int, ...]) -> None:
    kinds = {file.kinds[at] for at in target}
    if kinds in ({"numeric"}, {"nominal"}) or (kinds == {"labels"} and len(target) == 1):
        return
    names = ", ".join(file.names[at] for at in target)
    raise UnsupportedOptionError(
        f"{settings.place('Attributes', 'Target')} must hold one hierarchical column, or only "
        f"numeric or only nominal columns, got {quoted(names)}."
    )


def _check_features(settings: Settings, file: ArffFile, descriptive: tuple[int, ...]) -> None:
    wrong = [file.names[at] for at in descriptive if file.kinds[at] == "labels"]
    if wrong:
        raise UnsupportedOptionError(
            f"{settings.place('Attributes', 'Descriptive')}: the hierarchical attribute "
            f"{wrong[0]!r} cannot be a feature. Disable it."
        )
    if not descriptive:
        raise SettingsError(
            f"{settings.place('Attributes', 'Descriptive')}: no column is left as a feature."
        )
