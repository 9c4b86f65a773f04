"""Results of `benchmarks.suite`: a table, a CSV file and a plot, with machine and versions."""

from __future__ import annotations

import csv
import importlib.metadata
import math
import os
import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from benchmarks.clus import java_version
from benchmarks.trees import print_table
from ramify.io.files import replacing, writing_text

ROOT = Path(__file__).resolve().parents[1]
HEADINGS = ("work", "data", "peer", "ramify, s", "peer, s", "times", "note")
PEERS = ("scikit-learn", "scikit-multilearn-ng", "hiclass", "xgboost", "catboost")
COLOURS = ("#0a6b74", "#b3372f", "#2563a8", "#8a979c", "#c98a1b", "#6b4fa0")


def show(number: float) -> str:
    """Return a number with three significant digits, or all digits before the point."""
    return f"{number:,.0f}" if number >= 1000 else f"{number:.3g}"


@dataclass(frozen=True)
class Line:
    """One comparison: CPU seconds of ramify and of a peer for the same work."""

    work: str
    data: str
    peer: str
    ramify_s: float
    peer_s: float
    note: str = ""

    @property
    def times(self) -> float:
        """Return how many times as long the peer took."""
        return self.peer_s / self.ramify_s

    def cells(self) -> list[str]:
        """Return the comparison as a row of the table."""
        seconds = [show(value) for value in (self.ramify_s, self.peer_s)]
        return [
            *(self.work, self.data, self.peer, *seconds),
            *(show(self.times), self.note),
        ]


def version_of(name: str) -> str:
    """Return the version of an installed package, or an empty string."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""


def processor() -> str:
    """Return the name of the processor, if the system tells."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text(errors="replace").splitlines() if path.is_file() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def memory() -> str:
    """Return the memory of the machine, if the system tells."""
    try:
        n_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return "unknown"
    return f"{n_bytes / 2**30:.0f} GiB"


def describe_setting() -> list[tuple[str, str]]:
    """Return the machine and the versions, without names of users, hosts or folders."""
    facts = [
        ("date", time.strftime("%Y-%m-%d", time.gmtime())),
        ("processor", processor()),
        ("cores", str(os.cpu_count())),
        ("memory", memory()),
        ("system", f"{platform.system()} {platform.machine()}"),
        ("Python", platform.python_version()),
        ("ramify", version_of("ramify") or "source"),
        *((name, version_of(name)) for name in ("numpy", "scipy", *PEERS)),
        ("Java", java_version()),
    ]
    if hasattr(os, "getloadavg"):
        facts.insert(4, ("load at the start", f"{os.getloadavg()[0]:.1f}"))
    return [(name, found) for name, found in facts if found]


def write_csv(path: Path, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write rows of cells."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with writing_text(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([headings, *rows])


def draw(lines: Sequence[Line], path: Path) -> bool:
    """Draw the ratios as bars, if matplotlib is installed; return whether it is."""
    if not find_spec("matplotlib"):
        return False
    import matplotlib as mpl  # noqa: PLC0415 (optional)

    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415

    # Labels as paths would depend on the fonts, and ids on chance.
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "ramify"}):
        figure, axes = plt.subplots(figsize=(8.5, 1.2 + 0.32 * len(lines)), layout="constrained")
        peers = list(dict.fromkeys(line.peer for line in lines))
        for k, line in enumerate(lines):
            colour = COLOURS[peers.index(line.peer) % len(COLOURS)]
            axes.barh(k, line.times, color=colour, height=0.7)
            axes.text(line.times * 1.06, k, show(line.times), va="center", fontsize=9)
        axes.set_yticks(
            range(len(lines)), [f"{line.work}: {line.data} ({line.peer})" for line in lines]
        )
        axes.tick_params(axis="y", labelsize=9, length=0)
        axes.invert_yaxis()
        axes.set_xscale("log")
        least = min(line.times for line in lines)
        axes.set_xlim(min(0.5, least / 2), 3 * max(line.times for line in lines))
        axes.axvline(1, color="#22313a", linewidth=0.8)
        axes.set_xlabel("time of the peer / time of ramify (log scale)")
        axes.spines[["top", "right", "left"]].set_visible(False)
        with replacing(path) as temporary:
            figure.savefig(temporary, format="svg", metadata={"Date": None})
        plt.close(figure)
    return True


def write_report(lines: Sequence[Line], setting: Sequence[tuple[str, str]], folder: Path) -> None:
    """Print the table, and write it with machine, versions and a plot into a folder."""
    known = [line for line in lines if math.isfinite(line.times)]
    rows = [line.cells() for line in known]
    print()
    print_table([HEADINGS, *rows])
    if not known:
        return
    folder.mkdir(parents=True, exist_ok=True)
    write_csv(folder / "results.csv", HEADINGS, rows)
    write_csv(folder / "machine.csv", ("machine and versions", "value"), list(setting))
    if not draw(known, folder / "results.svg"):
        print("matplotlib is not installed: no plot")
