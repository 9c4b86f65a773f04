"""Read svmlight files, the sparse text format of LIBSVM."""

from __future__ import annotations

from os import fspath
from pathlib import Path

from scipy import sparse
from sklearn.datasets import load_svmlight_file

from ramify.io.errors import FormatError
from ramify.io.files import FilePath, check_content
from ramify.io.limits import ReadLimits
from ramify.io.tables.table import Table
from ramify.labels.encoding import read_labels
from ramify.labels.hierarchy import Hierarchy


def read_svmlight(path: FilePath, hierarchy: Hierarchy | None, limits: ReadLimits) -> Table:
    """Read rows such as ``3,7 1:0.5 4:1``: labels, and the features that are not 0."""
    check_content(path, limits)
    try:
        X, sets = load_svmlight_file(fspath(path), multilabel=True)
    except (ValueError, OverflowError) as error:
        raise FormatError(f"{fspath(path)}: expected an svmlight file: {error}") from None
    limits.check("max_columns", X.shape[1], "the number of columns", fspath(path))
    found = read_labels([[f"{label:g}" for label in labels] for labels in sets], hierarchy)
    return Table(
        X=sparse.csr_array(X),
        y=found.Y,
        hierarchy=found.hierarchy,
        feature_names=tuple(f"x{j}" for j in range(X.shape[1])),
        name=Path(path).name.split(".", 1)[0],
    )
