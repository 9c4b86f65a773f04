"""Read and write ARFF files in the dialects of CLUS, Weka and Mulan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from ramify.io.arff.columns import ArffFile, parse_arff
from ramify.io.arff.labels import LabelReader, read_labels, read_targets, target_positions
from ramify.io.arff.writer import write_arff
from ramify.io.errors import names_file
from ramify.io.files import FilePath
from ramify.io.limits import ReadLimits
from ramify.io.tables.table import Table
from ramify.labels.hierarchy import Hierarchy

__all__ = ["read_arff", "write_arff"]


@names_file
def read_arff(
    path: FilePath,
    *,
    target: str | int | Sequence[str] | None = None,
    hierarchy: Hierarchy | None = None,
    separator: str = "/",
    hierarchy_type: str | None = None,
    zero_ends_path: bool = False,
    index_base: int = 0,
    duplicate_names: str = "error",
    as_frame: bool | None = None,
    encoding: str = "utf-8",
    limits: ReadLimits | None = None,
) -> Table:
    """Read an ARFF file: plain, gzip or zip.

    The dialects of CLUS, Weka and Mulan are supported: numeric, nominal, binary, string, key and
    date attributes (dates as seconds since the start of 1970, in UTC), dense and sparse rows,
    missing values, row weights (``,{2.5}`` at the end of the line), and the ``hierarchical``
    attribute of CLUS, with the labels of a row joined by ``@``. A label set written as ``?`` or
    ``n`` is empty. For the type ``classes``, the hierarchy is inferred from the rows.

    Parameters
    ----------
    path : path
        The file. A gzip or zip file is recognised by its content.
    target : str, int or sequence of str, optional
        The target attributes. None means the hierarchical attribute; a file without one then has
        no labels. Names select attributes with the values 0 and 1 (or no and yes), one label
        each; a single nominal attribute with other values gives one label per value. An int
        selects that many attributes at the end. An empty list selects none.
    hierarchy : Hierarchy, optional
        The hierarchy to use instead of that of the file, for example the hierarchy of the
        training file when reading a test file. Labels that it does not contain raise an error.
    separator : str
        Separator of the segments of a label path. The default in CLUS is ".".
    hierarchy_type : {None, "tree", "dag"}
        How the header declares the hierarchy: paths from the top (tree), or parent/child pairs
        with ``root`` at the top (DAG). If None, it is a DAG if all items are pairs and at least
        one starts with ``root``, and a tree otherwise.
    zero_ends_path : bool
        Whether a segment 0 ends a path, as in CLUS: 4/1/0 is the label 4/1. Data sets that use
        0 as an ordinary code, such as ImCLEF07, lose labels with this option.
    index_base : {0, 1}
        First index of sparse rows: 0 in Weka and Mulan, 1 in CLUS.
    duplicate_names : {"error", "rename"}
        How to handle an attribute with the name of an earlier attribute. "rename" appends -1,
        -2, ... as CLUS does.
    as_frame : bool, optional
        If True, return a pandas DataFrame with categorical columns; if False, an array of
        numbers and codes. If None, return a data frame if there are nominal features, and an
        array otherwise. The features of a sparse file are a csr_array unless this is True; cells
        that a row does not list are 0, the code of the first declared value of a nominal
        feature.
    encoding : str
        Encoding of the file.
    limits : ReadLimits, optional
        Limits on the size of the file and its hierarchy.

    Returns
    -------
    Table
        Features, labels and hierarchy.

    Raises
    ------
    FormatError
        A ValueError that names the file, line and column, what was expected and what was found.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> text = '''@relation pets
    ... @attribute size numeric
    ... @attribute colour {brown,white}
    ... @attribute class hierarchical bird,mammal/cat,mammal/dog
    ... @data
    ... 3.5,brown,mammal/dog
    ... ?,white,mammal/cat@bird
    ... '''
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "pets.arff")
    ...     _ = path.write_text(text)
    ...     pets = read_arff(path, as_frame=False)
    >>> pets
    Table('pets': 2 rows, 2 features (1 numeric, 1 nominal), array, 4 labels in a tree of 2 levels)
    >>> pets.X
    array([[3.5, 0. ],
           [nan, 1. ]])
    >>> pets.hierarchy.decode(pets.y)
    [('mammal/dog',), ('bird', 'mammal/cat')]
    """
    _check_options(separator, hierarchy_type, index_base, duplicate_names)
    file = parse_arff(
        path,
        index_base=index_base,
        rename_duplicates=duplicate_names == "rename",
        encoding=encoding,
        limits=limits,
    )
    targets = target_positions(file, target)
    reader = LabelReader(
        file.path, separator, hierarchy_type, zero_ends_path, limits or ReadLimits()
    )
    y, hierarchy = _read_target(file, targets, reader, hierarchy)
    wanted = set(file.cell_positions) - set(targets)
    features = [at for at in file.cell_positions if at in wanted]
    return Table(
        X=file.features(features, as_frame),
        y=y,
        hierarchy=hierarchy,
        feature_names=tuple(file.names[at] for at in features),
        categories=file.categories(features),
        sample_weight=file.weights,
        name=file.relation,
        strings=file.strings,
    )


def _read_target(
    file: ArffFile, targets: list[int], reader: LabelReader, hierarchy: Hierarchy | None
) -> tuple[sparse.csr_array[np.int32] | None, Hierarchy | None]:
    if not targets:
        return None, None
    if targets == [file.label_attribute]:
        return read_labels(file, reader, hierarchy)
    return read_targets(file, targets, hierarchy)


def _check_options(
    separator: Any, hierarchy_type: Any, index_base: Any, duplicate_names: Any
) -> None:
    if not isinstance(separator, str) or not separator or separator == "@":
        raise ValueError(
            "separator must be a non-empty string other than '@', which separates the labels of a "
            f"row, got {separator!r}. Pass, for example, '/' or '.'."
        )
    choices = (
        ("hierarchy_type", hierarchy_type, (None, "tree", "dag")),
        ("index_base", index_base, (0, 1)),
        ("duplicate_names", duplicate_names, ("error", "rename")),
    )
    for name, value, allowed in choices:
        if value not in allowed:
            raise ValueError(f"{name} must be one of {list(allowed)}, got {value!r}.")
