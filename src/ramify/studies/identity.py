"""What a result depends on, as one checksum: code, data and settings."""

from __future__ import annotations

import hashlib
import json
import platform
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import ramify
from ramify.studies.plan import Cell, Study

__all__ = ["cell_key", "digest_code", "versions"]

_PACKAGES = ("numpy", "scipy", "scikit-learn", "joblib")
_DECIDING = ("ramify", "numpy", "scipy", "scikit-learn")

# Files that show results, or do other work, decide no number of a study.
_WITHOUT = ("cli/", "inspection/", "saving/", "stats/", "studies/reports/")
_WITHOUT_STUDY_FILES = (
    "comparing",
    "findings",
    "results",
    "store",
    "running",
    "reading",
    "checking",
)


@cache
def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that compute.

    Returns
    -------
    dict of str to str
        By name.
    """
    found = {name: version(name) for name in _PACKAGES}
    return {"python": platform.python_version(), "ramify": ramify.__version__, **found}


@cache
def digest_code() -> str:
    """Return a checksum of the package's files that decide results, the native core included.

    Returns
    -------
    str
        Changes with any of them.
    """
    folder = Path(str(ramify.__file__)).parent
    digest = hashlib.sha256()
    for path in sorted([*folder.rglob("*.py"), *folder.glob("_core*.so"), *folder.glob("*.pyd")]):
        name = path.relative_to(folder).as_posix()
        if name.startswith(_WITHOUT) or path.stem in _shown_only(name):
            continue
        digest.update(name.encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _shown_only(name: str) -> tuple[str, ...]:
    return _WITHOUT_STUDY_FILES if name.startswith("studies/") else ()


def cell_key(study: Study, cell: Cell, data_digest: str) -> str:
    """Return the checksum of all that one cell's result depends on.

    Parameters
    ----------
    study : Study
        Its protocol, measures and seed.
    cell : Cell
        Which model, data set and fold.
    data_digest : str
        The checksum of the data.

    Returns
    -------
    str
        Sixteen hexadecimal digits: the name of the cell's file.
    """
    known = versions()
    content: dict[str, Any] = {
        "code": digest_code(),
        "versions": {name: known[name] for name in _DECIDING},
        "data": data_digest,
        "data_settings": cell.data.settings(),
        # By name too: two models may have the same settings, as in a quick form.
        "model": [cell.model.name, cell.model.settings()],
        "protocol": study.protocol_of(cell.data).settings(),
        "measures": {measure.name: measure.settings() for measure in study.measures},
        "seed": [study.seed, cell.seed, cell.repeat, cell.fold],
    }
    text = json.dumps(content, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
