"""Run CLUS itself, where it is available.

CLUS is a separate program: a jar in ``build/clus`` (``benchmarks`` fetches it), or at the location
given by the environment variable RAMIFY_CLUS_JAR. Tests that run it have the mark `requires_clus`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

_BUILT = Path(__file__).resolve().parents[2] / "build" / "clus" / "clus.jar"
JAR = Path(os.environ.get("RAMIFY_CLUS_JAR", _BUILT))
_OPENED = (
    "java.util java.lang java.math java.net java.util.regex java.util.concurrent"
    " java.util.concurrent.atomic java.io java.text"
)
OPENS = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED.split()]

requires_clus = pytest.mark.skipif(
    not JAR.is_file() or shutil.which("java") is None, reason="CLUS or Java not found"
)

# Four rows with two labels each: enough for CLUS to print its settings.
DATA = """@relation four
@attribute x numeric
@attribute class hierarchical a,a/b,a/b/c,d
@data
1,a/b/c
2,a/b/c
3,d
4,d
"""


def run_clus(settings: Path, *switches: str) -> str:
    """Run a settings file with CLUS and return its output; the files are beside the settings."""
    command = ["java", *OPENS, "-jar", str(JAR), *switches, settings.name]
    done = subprocess.run(
        command, cwd=settings.parent, capture_output=True, text=True, check=False, timeout=300
    )
    return done.stdout + done.stderr


def printed_settings(path: Path) -> dict[str, dict[str, str]]:
    """Read the settings that CLUS prints at the top of an .out file."""
    found: dict[str, dict[str, str]] = {}
    section: dict[str, str] = {}
    for line in path.read_text().partition("\nRun: ")[0].splitlines():
        if line.startswith("["):
            section = found.setdefault(line.strip("[]"), {})
        elif found and "=" in line:
            name, _, value = line.partition("=")
            section[name.strip()] = value.strip()
    return found
