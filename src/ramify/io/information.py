"""Files with the information content of terms, as in the CAFA challenges."""

from __future__ import annotations

from os import fspath

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ramify.hierarchy.hierarchy import Hierarchy
from ramify.io.cafa import check_name
from ramify.io.files import FilePath, FormatError, writing_text
from ramify.io.limits import ReadLimits
from ramify.io.text_lines import numbered_lines


def read_information(
    path: FilePath, hierarchy: Hierarchy, *, limits: ReadLimits | None = None
) -> NDArray[np.float64]:
    r"""Read the information content (information accretion) of terms.

    Parameters
    ----------
    path : path
        Lines with a term and its information, separated by white space, plain or gzip.
    hierarchy : Hierarchy
        The labels. Other terms are ignored.
    limits : ReadLimits, optional
        Limits on the size of the file.

    Returns
    -------
    ndarray of shape (n_labels,)
        The information of every label: 0 for labels that are not in the file, and for NaN and
        infinity.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from ramify import Hierarchy
    >>> from ramify.io import read_information
    >>> pets = Hierarchy.from_edges([("pet", "cat"), ("pet", "dog")])
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "IA.tsv")
    ...     _ = path.write_text("cat\t1.5\ndog\tinf\n")
    ...     read_information(path, pets)
    array([0. , 1.5, 0. ])
    """
    information = np.zeros(hierarchy.n_labels)
    columns = {str(label): k for k, label in enumerate(hierarchy.labels)}
    for alias, label in hierarchy.aliases.items():
        columns.setdefault(str(alias), hierarchy.index(label))
    for number, line in numbered_lines(path, limits):
        cells = line.split()
        if not cells:
            continue
        try:
            term, text = cells
            bits = float(text)
        except ValueError:
            raise FormatError(
                f"{fspath(path)}, line {number}: expected a term and its information, got "
                f"{line[:80]!r}. Correct the line."
            ) from None
        if bits < 0:
            raise FormatError(
                f"{fspath(path)}, line {number}: the information of {term!r} must not be "
                f"negative, got {text}. Compute it with information_content."
            )
        if term in columns and np.isfinite(bits):
            information[columns[term]] = bits
    return information


def write_information(path: FilePath, information: ArrayLike, hierarchy: Hierarchy) -> None:
    r"""Write the information content of terms for `read_information` and CAFA's evaluator.

    Parameters
    ----------
    path : path
        The file, which is replaced when it is complete; gzip if the name ends in .gz.
    information : array-like of shape (n_labels,)
        The result of `information_content`.
    hierarchy : Hierarchy
        The labels.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from ramify import Hierarchy
    >>> from ramify.io import write_information
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "IA.tsv")
    ...     write_information(path, [0, 1.5], Hierarchy.from_edges([("pet", "cat")]))
    ...     path.read_text()
    'pet\t0.0\ncat\t1.5\n'
    """
    bits = np.asarray(information, dtype=np.float64)
    if bits.shape != (hierarchy.n_labels,):
        raise ValueError(
            f"information must have shape ({hierarchy.n_labels},), one value per label, got "
            f"{bits.shape}. Compute it with information_content."
        )
    with writing_text(path) as file:
        for label, value in zip(hierarchy.labels, bits.tolist(), strict=True):
            file.write(f"{check_name('hierarchy', label)}\t{value!r}\n")
