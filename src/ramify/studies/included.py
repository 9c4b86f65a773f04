"""The studies included in the package."""

from __future__ import annotations

from pathlib import Path

__all__ = ["INCLUDED", "list_studies"]

INCLUDED = Path(__file__).with_name("papers")
"""The folder of their TOML files."""


def list_studies() -> list[str]:
    """List the studies included in the package.

    Returns
    -------
    list of str
        Names for `load_study`.

    Examples
    --------
    >>> from ramify.studies import list_studies
    >>> "levatic2015" in list_studies()
    True
    """
    return sorted(path.stem for path in INCLUDED.glob("*.toml"))
