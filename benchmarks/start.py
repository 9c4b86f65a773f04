"""Starting: the CPU seconds of imports and of commands that have little to do.

``python -m benchmarks.start`` runs every import and every command in processes of its own, in
turns, and prints the median of user and system time. Imports are compared with the import of a
forest of scikit-learn, commands with the import of typer, which none of them can do without.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[1]
SETTINGS = ROOT / "tests" / "golden" / "clus" / "hierarchical"
FOREST, TYPER = "from sklearn.ensemble import RandomForestClassifier", "import typer"
IMPORTS = (
    FOREST,
    "import ramify",
    "from ramify import PCTForestClassifier",
    "from ramify import *",
)
COMMANDS = (
    "--help",
    "--version",
    "tarin",
    "train --taget x",
    "train --help",
    "clus --help",
    "train nofile.csv --target x",
    "predict nomodel.ramify x.csv",
    "evaluate nomodel.ramify x.csv",
    "tree nofile",
    "clus nofile.s",
    "clus tree.s",
)


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--repeat", type=int, default=7, help="processes of each (default 7)")
    repeat = parser.parse_args().repeat
    names = ("numpy", "scipy", "scikit-learn", "typer", "rich")
    print(f"Python {sys.version.split()[0]}, {', '.join(f'{n} {version(n)}' for n in names)}")
    imports = {line: [sys.executable, "-c", line] for line in (*IMPORTS, TYPER)}
    start = "from ramify.apps.cli import main; main()"
    commands = {
        f"ramify {line}": [sys.executable, "-c", start, *line.split()] for line in COMMANDS
    }
    seconds = measure({**imports, **commands}, repeat)
    show([(line, seconds[line]) for line in IMPORTS], seconds[FOREST], "forest")
    show([(line, seconds[line]) for line in (TYPER, *commands)], seconds[TYPER], "typer")


def measure(commands: dict[str, list[str]], repeat: int) -> dict[str, float]:
    """Return the median CPU seconds of each command, run in turns in a folder of its own."""
    found: dict[str, list[float]] = {name: [] for name in commands}
    with tempfile.TemporaryDirectory() as folder:
        for file in ("tree.s", "train.arff", "test.arff"):
            shutil.copy(SETTINGS / file, folder)
        for turn in range(repeat + 1):
            for name, command in commands.items():
                seconds = run(command, folder)
                if turn:  # the first turn compiles modules and fills the cache of files
                    found[name].append(seconds)
    return {name: statistics.median(values) for name, values in found.items()}


def run(command: Sequence[str], folder: str) -> float:
    """Run a command and return the user and system time of its process."""
    compiled = {
        key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"
    }
    process = subprocess.Popen(
        command, cwd=folder, env=compiled, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, _, usage = os.wait4(process.pid, 0)
    return usage.ru_utime + usage.ru_stime


def show(rows: Sequence[tuple[str, float]], peer: float, title: str) -> None:
    """Print one table."""
    print(f"\n{'':<52}{'CPU s':>8}{'x ' + title:>11}")
    for name, seconds in rows:
        print(f"{name:<52}{seconds:>8.3f}{seconds / peer:>11.2f}")


if __name__ == "__main__":
    main()
