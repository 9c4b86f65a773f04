"""Write ARFF files for CLUS and `read_arff`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ramify.io.arff.labels import MISSING, ROOT
from ramify.io.features import Features, read_features
from ramify.io.files import FilePath, writing_text
from ramify.labels.encoding import EncodedLabels, read_labels
from ramify.labels.hierarchy import Hierarchy

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
    """Write an ARFF file with the hierarchical attribute of CLUS.

    The file is written atomically: a temporary file next to `path` replaces it at the end.

    Parameters
    ----------
    path : path
        The file to write; a name that ends in .gz gives a gzip file.
    X : array-like, sparse matrix or pandas.DataFrame of shape (n, n_features)
        The features. Categorical and text columns of a data frame become nominal attributes.
    y : array-like, optional
        The labels in any format accepted by `ramify.labels.read_labels`. Rows list their most
        specific labels; ``?`` stands for no labels.
    hierarchy : Hierarchy, optional
        The hierarchy of the labels. If None, it is inferred from `y`. It is declared as paths if
        it is a tree whose labels are paths, and as parent/child pairs otherwise.
    feature_names : sequence of str, optional
        Names of the attributes. By default, those of the data frame, or x0, x1, ...
    categories : mapping of str to sequence of str, optional
        Values of the nominal columns of an array, whose cells are positions in these lists.
    sample_weight : array-like of shape (n,), optional
        Sample weights.
    sparse : bool, optional
        Whether to write sparse rows. If None, they are written if `X` is sparse.
    relation : str
        Name of the data set.
    separator : str
        Separator of the segments of a path, or of parent and child.
    index_base : {0, 1}
        First index of sparse rows: 0 for Weka and Mulan, 1 for CLUS.

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
    r"""Return a name or value, in quotes if it would be misread otherwise.

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
    """List the labels of a hierarchy as paths, or its edges if the labels are not paths."""
    labels = [str(label) for label in hierarchy.labels]
    for label in labels:
        if "@" in label or label == MISSING:
            raise ValueError(
                f"hierarchy must not have labels that are '?' or contain '@' in ARFF files, got "
                f"{label!r}. Rename the label."
            )
    indptr, indices = (rows.tolist() for rows in hierarchy.parent_rows)
    parents = [[labels[p] for p in indices[a:b]] for a, b in pairwise(indptr)]
    if all(map(lambda label, above: _is_path(label, above, separator), labels, parents)):
        return labels
    for label in labels:
        if separator in label or label == ROOT:
            raise ValueError(
                f"hierarchy must not have labels that are {ROOT!r} or contain the separator "
                f"{separator!r} when written as parent/child pairs, got {label!r}. Pass another "
                "separator, or rename the label."
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
        raise ValueError(
            f"X has {n_rows} rows, but y has {len(sets)}. Pass one label set per row."
        )
    return [quote("@".join(map(str, labels))) if labels else MISSING for labels in sets]


def _weight_words(sample_weight: Any, n_rows: int) -> list[str]:
    if sample_weight is None:
        return [""] * n_rows
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must have shape ({n_rows},), got {weights.shape}. Pass one weight per "
            "row of X."
        )
    if not (np.isfinite(weights) & (weights >= 0)).all():
        bad = int(np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))[0])
        raise ValueError(
            f"sample_weight[{bad}] must be finite and non-negative, got {weights[bad]}."
        )
    return [f",{{{word}}}" for word in _number_words(weights)]


def _number_words(numbers: NDArray[np.float64]) -> list[str]:
    """Format numbers such that reading them gives the same bits."""
    words = [repr(number) for number in numbers.tolist()]
    return [
        word[:-2] if word.endswith(".0") else MISSING if word == "nan" else word for word in words
    ]


def _words(cells: NDArray[np.float64], values: Sequence[str] | None) -> list[str]:
    if values is None:
        return _number_words(cells)
    words = [*map(quote, values), MISSING]
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
