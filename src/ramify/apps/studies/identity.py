"""Keys of stored results: digests of the data and settings that a result depends on."""

from __future__ import annotations

import hashlib
import json
import platform
from functools import cache
from importlib.metadata import version
from typing import Any

from ramify import __version__
from ramify.apps.studies.plan import Cell, Study

__all__ = [
    "RESULTS_VERSION",
    "cell_key",
    "versions",
]


RESULTS_VERSION = 1
"""Raised by one by each change to the code that changes results, which are then computed again."""

_PACKAGES = ("numpy", "scipy", "scikit-learn", "joblib")
_DECIDING = ("ramify", "numpy", "scipy", "scikit-learn")


@cache
def versions() -> dict[str, str]:
    """Return the versions of Python, ramify and the packages that it computes with."""
    found = {name: version(name) for name in _PACKAGES}
    return {"python": platform.python_version(), "ramify": __version__, **found}


def cell_key(study: Study, cell: Cell, data_digest: str) -> str:
    """Return a digest of everything that the result of a cell depends on."""
    known = versions()
    content: dict[str, Any] = {
        "results_version": RESULTS_VERSION,
        "versions": {name: known[name] for name in _DECIDING},
        "data": data_digest,
        "data_settings": cell.data.settings(),
        # With the name, because two models may have the same settings in a quick study.
        "model": [cell.model.name, cell.model.settings()],
        "protocol": study.protocol_of(cell.data).settings(),
        "measures": {measure.name: measure.settings() for measure in study.measures},
        "seed": [study.seed, cell.seed, cell.repeat, cell.fold],
    }
    text = json.dumps(content, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
