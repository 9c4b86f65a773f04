"""Run CLUS and ``ramify clus`` on the settings file of a folder, and time them."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.clus import OPENS, children_cpu_s, find_jar


@dataclass(frozen=True)
class Times:
    """Seconds from start to end, by the clock and of the processor."""

    wall: float
    cpu: float

    def __str__(self) -> str:
        return f"{self.wall:>8.1f} {self.cpu:>8.1f}"


def run_clus(folder: Path, switches: tuple[str, ...]) -> Times:
    """Run CLUS on run.s in a folder."""
    return _time(["java", "-Xmx4g", *OPENS, "-jar", str(find_jar())], folder, switches)


def run_ramify(folder: Path, switches: tuple[str, ...]) -> Times:
    """Run ``ramify clus`` on run.s in a folder."""
    ramify = "from ramify.apps.cli import main; main()"
    return _time([sys.executable, "-c", ramify, "clus"], folder, switches)


def _time(command: list[str], folder: Path, switches: tuple[str, ...]) -> Times:
    flags = [f"-{switch}" for switch in switches]
    begin, used = time.perf_counter(), children_cpu_s()
    done = subprocess.run(
        [*command, *flags, "run.s"], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed: {(done.stdout + done.stderr)[-2000:]}")
    return Times(time.perf_counter() - begin, children_cpu_s() - used)
