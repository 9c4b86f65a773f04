"""Write ARFF files that CLUS and `read_arff` read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ramify.hierarchy.hierarchy import Hierarchy
from ramify.io.arff_labels import ROOT, UNKNOWN
from ramify.io.features import Features, read_features
from ramify.io.files import FilePath, writing_text
from ramify.labels.encoding import EncodedLabels, read_labels

_PLAIN = re.compile(r"[^\s,{}%'\"\\?@\x00-\x1f\x7f][^\s,{}%'\"\\?\x00-\x1f\x7f]*")
_ESCAPES = str.maketrans(
    {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"},
)
_ROWS_AT_ONCE = 1024


def write_arff(
    path: FilePath,
    X: Any,
    y: Any = None,
    hierarchy: Hierarchy | None = None,
    *,
    feature_names: Sequence[str] | None = None,
    categories: Mapping[str, Sequence[str]] | None = None,
    sample_weight: Any = None,
    sparse: bool | None = None,
    relation: str = "ramify",
    separator: str = "/",
    index_base: int = 0,
) -> None:
    """Write an ARFF file with CLUS's hierarchical attribute.

    The file appears whole or not at all: it is written beside `path` and then moved there.

    Parameters
    ----------
    path : path
        The file; a name that ends in .gz gives a gzip file.
    X : array-like, sparse matrix or pandas.DataFrame of shape (n, n_features)
        The features. Categorical and text columns of a frame become nominal attributes.
    y : array-like, optional
        The labels in any format of `ramify.labels.read_labels`. Rows list their most specific
        labels; ``?`` is none.
    hierarchy : Hierarchy, optional
        The hierarchy of the labels; None takes it from `y`. Declared as paths when it is a tree
        whose labels are paths, else as pairs of parent and child.
    feature_names : sequence of str, optional
        Names of the attributes; by default those of the frame, or x0, x1, ...
    categories : mapping of str to sequence of str, optional
        The values of the nominal columns of an array, whose cells are places in this list.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.
    sparse : bool, optional
        Write sparse rows; None does so when `X` is sparse.
    relation : str
        The name of the data set.
    separator : str
        What joins the segments of a path, or parent and child.
    index_base : {0, 1}
        The first index of sparse rows: 0 for Weka and Mulan, 1 for CLUS.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from ramify import Hierarchy
    >>> animals = Hierarchy.from_paths(["bird", "mammal/cat"])
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "pets.arff")
    ...     write_arff(path, [[3.5], [0.25]], [["mammal/cat"], ["bird"]], animals,
    ...                feature_names=["size"], relation="pets")
    ...     print(path.read_text())
    @relation pets
    <BLANKLINE>
    @attribute size numeric
    @attribute class hierarchical bird,mammal,mammal/cat
    <BLANKLINE>
    @data
    3.5,mammal/cat
    0.25,bird
    """
    features = read_features(X, feature_names, categories)
    encoded = None if y is None else read_labels(y, hierarchy)
    labels = _label_words(encoded, features.n_rows)
    weights = _weight_words(sample_weight, features.n_rows)
    rows = _sparse_rows if (features.is_sparse if sparse is None else sparse) else _dense_rows
    with writing_text(path) as file:
        _write_header(file, features, relation)
        if encoded is not None:
            declared = ",".join(map(quote, _declared(encoded.hierarchy, separator)))
            file.write(f"@attribute {_class_name(features)} hierarchical {declared}\n")
        file.write("\n@data\n")
        for start, lines in _in_parts(features, rows, labels, index_base):
            stop = start + len(lines)
            file.writelines(
                f"{line}{weight}\n"
                for line, weight in zip(lines, weights[start:stop], strict=True)
            )


def quote(text: str) -> str:
    r"""Return a name or value as it is, or in quotes when it would be misread.

    Examples
    --------
    >>> print(quote("plain"), quote("it's 5 %"))
    plain 'it\'s 5 %'
    """
    return text if _PLAIN.fullmatch(text) else f"'{text.translate(_ESCAPES)}'"


def _write_header(file: IO[str], features: Features, relation: str) -> None:
    file.write(f"@relation {quote(relation)}\n\n")
    for name in features.names:
        values = features.categories.get(name)
        kind = "numeric" if values is None else f"{{{','.join(map(quote, values))}}}"
        file.write(f"@attribute {quote(name)} {kind}\n")


def _class_name(features: Features) -> str:
    name = "class"
    while name in features.names:
        name += "_"
    return name


def _declared(hierarchy: Hierarchy, separator: str) -> list[str]:
    """List a hierarchy's labels as paths, or its edges where labels are no paths."""
    labels = [str(label) for label in hierarchy.labels]
    for label in labels:
        if "@" in label or label == UNKNOWN:
            raise ValueError(
                f"hierarchy has the label {label!r}, but ARFF files cannot hold a label that is "
                "'?' or contains '@'; rename it."
            )
    indptr, indices = (rows.tolist() for rows in hierarchy.parent_rows)
    parents = [[labels[p] for p in indices[a:b]] for a, b in pairwise(indptr)]
    if all(map(lambda label, above: _is_path(label, above, separator), labels, parents)):
        return labels
    for label in labels:
        if separator in label or label == ROOT:
            raise ValueError(
                f"hierarchy has the label {label!r}, but in pairs of parent and child a label "
                f"can neither be {ROOT!r} nor contain the separator {separator!r}; pass another "
                "separator, or rename it."
            )
    return [
        f"{parent}{separator}{label}"
        for label, above in zip(labels, parents, strict=True)
        for parent in above or [ROOT]
    ]


def _is_path(label: str, parents: list[str], separator: str) -> bool:
    if not parents:
        return separator not in label
    prefix = parents[0] + separator
    name = label[len(prefix) :]
    return len(parents) == 1 and label.startswith(prefix) and bool(name) and separator not in name


def _label_words(encoded: EncodedLabels | None, n_rows: int) -> list[str] | None:
    if encoded is None:
        return None
    sets = encoded.hierarchy.decode(encoded.Y)
    if len(sets) != n_rows:
        raise ValueError(f"y has {len(sets)} rows, but X has {n_rows}; they must be the same.")
    return [quote("@".join(map(str, labels))) if labels else UNKNOWN for labels in sets]


def _weight_words(sample_weight: Any, n_rows: int) -> list[str]:
    if sample_weight is None:
        return [""] * n_rows
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight has shape {weights.shape}, but X has {n_rows} rows; give one weight "
            "per row."
        )
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise ValueError("sample_weight has a value that is negative or not finite.")
    return [f",{{{word}}}" for word in _number_words(weights)]


def _number_words(numbers: NDArray[np.float64]) -> list[str]:
    """Write numbers so that reading them gives the same bits."""
    words = [repr(number) for number in numbers.tolist()]
    return [
        word[:-2] if word.endswith(".0") else UNKNOWN if word == "nan" else word for word in words
    ]


def _words(cells: NDArray[np.float64], values: Sequence[str] | None) -> list[str]:
    if values is None:
        return _number_words(cells)
    words = [*map(quote, values), UNKNOWN]
    return [words[code] for code in np.nan_to_num(cells, nan=-1).astype(np.int64).tolist()]


def _in_parts(
    features: Features, rows: Any, labels: list[str] | None, index_base: int
) -> Iterator[tuple[int, list[str]]]:
    for start in range(0, features.n_rows, _ROWS_AT_ONCE):
        stop = min(start + _ROWS_AT_ONCE, features.n_rows)
        part = None if labels is None else labels[start:stop]
        yield start, rows(features, start, stop, part, index_base)


def _dense_rows(
    features: Features, start: int, stop: int, labels: list[str] | None, index_base: int
) -> list[str]:
    columns = [
        _words(column, features.categories.get(name))
        for name, column in zip(features.names, features.columns(start, stop), strict=True)
    ]
    if labels is not None:
        columns.append(labels)
    return list(map(",".join, zip(*columns, strict=True)))


def _sparse_rows(
    features: Features, start: int, stop: int, labels: list[str] | None, index_base: int
) -> list[str]:
    cells = features.sparse_rows(start, stop)
    names, values = features.names, features.categories
    words = _number_words(cells.data)
    pairs = [
        f"{j + index_base} "
        + (_words(cells.data[k : k + 1], values[names[j]])[0] if names[j] in values else words[k])
        for k, j in enumerate(cells.indices.tolist())
    ]
    last = len(names) + index_base
    lines = []
    for row, (a, b) in enumerate(pairwise(cells.indptr.tolist())):
        listed = pairs[a:b] if labels is None else [*pairs[a:b], f"{last} {labels[row]}"]
        lines.append("{" + ",".join(listed) + "}")
    return lines
