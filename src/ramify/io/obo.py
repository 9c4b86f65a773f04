"""Read ontologies from OBO files."""

from __future__ import annotations

from collections.abc import Hashable
from os import PathLike
from pathlib import Path
from typing import Any

from ramify.io.files import check_content
from ramify.io.limits import ReadLimits
from ramify.labels.hierarchy import Hierarchy


def read_obo(
    path: str | PathLike[str],
    root: Hashable = None,
    *,
    limits: ReadLimits | None = None,
    **options: Any,
) -> Hierarchy:
    r"""Read an ontology from an OBO file as a hierarchy of its terms.

    Parameters
    ----------
    path : str or path
        An OBO file, plain or compressed (.gz, .bz2, .xz).
    root : str, optional
        The term that is the virtual root. It does not become a label.
    limits : ReadLimits, optional
        Limits on the size of the file.
    **options
        As in `Hierarchy.from_obo`: namespace, relations, obsolete, cross_edges.

    Returns
    -------
    Hierarchy
        The labels are term identifiers, and alternative identifiers are aliases.

    See Also
    --------
    ramify.Hierarchy.from_obo : The same, as a constructor.
    ramify.Ontology : All terms of a file, by namespace.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "pets.obo")
    ...     _ = path.write_text("ontology: pets\n\n[Term]\nid: P:1\nname: pet\n")
    ...     read_obo(path)
    Hierarchy(1 label, flat: 'P:1')
    """
    if Path(path).is_file():
        check_content(path, limits or ReadLimits())
    return Hierarchy.from_obo(path, root, **options)
