"""The versions needed in a bug report."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import sys


def show_versions() -> None:
    """Print the versions of ramify, Python and the libraries that ramify uses.

    Copy the output into bug reports. It contains no paths and no names of users or machines.

    Examples
    --------
    >>> import ramify
    >>> ramify.show_versions()
    ramify ...
    Python ...
    """
    lines = [
        ("ramify", _version_of("ramify") or "not installed"),
        ("Python", f"{platform.python_implementation()} {platform.python_version()}"),
        ("system", f"{platform.system()} {platform.machine()}"),
        ("cores", str(os.cpu_count())),
        *((name, _version_of(name) or "-") for name in _libraries()),
    ]
    width = max(len(name) for name, _ in lines)
    sys.stdout.write("".join(f"{name:{width}}  {version}\n" for name, version in lines))


def _libraries() -> list[str]:
    """Return the dependencies of ramify and its extras, except those of its developers."""
    try:
        required = importlib.metadata.requires("ramify") or []
    except importlib.metadata.PackageNotFoundError:  # used from a source folder
        return ["numpy", "scipy", "scikit-learn", "joblib"]
    used = [text for text in required if not re.search(r"extra == .(dev|test|benchmark)", text)]
    names = [re.split(r"[^A-Za-z0-9_.-]", text, maxsplit=1)[0] for text in used]
    return list(dict.fromkeys(name for name in names if name.lower() != "ramify"))


def _version_of(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
