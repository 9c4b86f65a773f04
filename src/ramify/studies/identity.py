"""Keys of stored results: digests of the code, data and settings that a result depends on."""

from __future__ import annotations

import hashlib
import inspect
import json
import platform
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ramify import __version__, _core
from ramify._named_estimators import MODELS, member_names
from ramify.studies.code_digest import digest_modules
from ramify.studies.plan import Cell, ModelSpec, Study

__all__ = ["cell_key", "digest_code", "versions"]

_PACKAGES = ("numpy", "scipy", "scikit-learn", "joblib")
_DECIDING = ("ramify", "numpy", "scipy", "scikit-learn")

_RUNNER = "ramify.studies.cell"


@cache
def versions() -> dict[str, str]:
    """Return the versions of Python, ramify and the packages that it computes with.

    Returns
    -------
    dict of str to str
        Versions by name.
    """
    found = {name: version(name) for name in _PACKAGES}
    return {"python": platform.python_version(), "ramify": __version__, **found}


def digest_code(models: Iterable[ModelSpec], package: Path | None = None) -> str:
    """Return a digest of the code that learns and measures some models.

    It covers the module that runs a cell, the modules of the models' classes, all that these
    import, and the native core. See `digest_modules` for what counts as code.

    Parameters
    ----------
    models : iterable of ModelSpec
        The models, including those inside others.
    package : Path, optional
        The folder with the source of ramify. Defaults to the imported package.

    Returns
    -------
    str
        A SHA-256 digest in hexadecimal digits.

    Examples
    --------
    >>> from ramify.studies.plan import ModelSpec
    >>> tree, forest = ModelSpec("a", "A", "tree"), ModelSpec("b", "B", "forest")
    >>> digest_code([tree]) == digest_code([forest])
    False
    """
    parts = frozenset(part for model in models for name in _names(model) for part in _uses(name))
    return _digest_parts(parts, package or Path(__file__).parents[1])


def _names(model: ModelSpec) -> Iterator[str]:
    """Yield the names of a model and of the models inside it."""
    yield model.model
    grid = (model.tune or {}).get("grid", {})
    inner = [model.parameters.get("estimator"), *grid.get("estimator", ())]
    yield from (name for name in inner if isinstance(name, str))
    if model.model == "vote":
        for given in (model.parameters.get("estimators"), *grid.get("estimators", ())):
            yield from member_names(given)
    if model.inside is not None:
        yield from _names(model.inside)


def _uses(name: str) -> Iterator[tuple[str, str]]:
    """Yield the module and name of the class, or of the functions, that make a model."""
    make = MODELS.get(name)
    if inspect.isclass(make):
        yield make.__module__, make.__qualname__
    elif make is not None:
        for used in inspect.getclosurevars(make).globals.values():
            if inspect.isclass(used) or inspect.isfunction(used):
                yield used.__module__, used.__qualname__


@cache
def _digest_parts(parts: frozenset[tuple[str, str]], package: Path) -> str:
    python = digest_modules(
        package,
        [_RUNNER, *(module for module, _ in parts)],
        registries={member_names.__module__},
        without={__name__},
    )
    names = sorted(name for _, name in parts)
    return hashlib.sha256(repr([python, _core.source_digest(), names]).encode()).hexdigest()


def cell_key(study: Study, cell: Cell, data_digest: str) -> str:
    """Return a digest of everything that the result of a cell depends on.

    Parameters
    ----------
    study : Study
        The study, for its protocol, measures and seed.
    cell : Cell
        The model, data set and fold.
    data_digest : str
        A digest of the data.

    Returns
    -------
    str
        Sixteen hexadecimal digits, the name of the cell's file.
    """
    known = versions()
    content: dict[str, Any] = {
        "code": digest_code([cell.model]),
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
