"""The studies that come with ramify."""

from __future__ import annotations

from pathlib import Path

from ramify._messages import did_you_mean

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


def find_study(name: str | Path) -> Path:
    """Return the TOML file of a study of `list_studies`, or the file of that name."""
    path = Path(name)
    if path.suffix == ".toml":
        if not path.is_file():
            raise FileNotFoundError(
                f"study file {path} does not exist. Pass the path of a TOML file."
            )
        return path
    known = list_studies()
    if str(name) not in known:
        raise ValueError(
            f"study must be a TOML file or one of {', '.join(known)}, got {str(name)!r}."
            f"{did_you_mean(str(name), known)}"
        )
    return INCLUDED / f"{name}.toml"
