"""Run settings files with CLUS and with ``ramify clus``, and classify the results.

``python -m benchmarks.clus_public FOLDER ... [--random N] [--first SEED] [--only TEXT] [--show]``
prints a line for each settings file below the folders, and for N files that combine options at
random: equal, differs (in which files), refused (why), only CLUS fails or both fail; then the
counts. A file is run with the switches that it names in a comment, or those of its sections. The
folders are copied, and what CLUS wrote is remembered in ``build/benchmarks/clus-public``.
"""

from __future__ import annotations

import argparse
import re
import shutil
import tempfile
from collections import Counter
from pathlib import Path

from tests.support.clus_comparison import (
    Verdict,
    compare_in,
    first_differences,
    judge,
    run_ours,
    run_theirs,
)
from tests.support.clus_random_settings import random_run

MEMORY = Path(__file__).resolve().parents[1] / "build" / "benchmarks" / "clus-public"
_RUN = re.compile(r"^%\s*clus\s+(.*?)\s*%f\.s", re.MULTILINE)
_SECTIONS = {"SemiSupervised": "ssl", "Ensemble": "forest", "Rules": "rules"}


def switches_of(text: str) -> list[str]:
    """Return the switches that a file names in a comment, or those of the sections that it has.

    A section Ensemble that does not name a method or a number of trees belongs to Relief.
    """
    named = _RUN.search(text)
    if named:
        return named[1].replace("-", "").split()
    sections = set(re.findall(r"^\s*\[(\w+)\]", text, re.MULTILINE))
    found = [switch for section, switch in _SECTIONS.items() if section in sections]
    if "Relief" in sections and "EnsembleMethod" not in text:
        return ["relief"]
    return found


def working_folder(settings: Path, root: Path, text: str) -> Path:
    """Return the folder at or above a settings file in which its data file is found."""
    named = re.search(r"^\s*File\s*=\s*(\S.*?)\s*$", text, re.MULTILINE)
    if named is None:
        return settings.parent
    above = settings.parents[: settings.parents.index(root) + 1]
    found = (place for place in above if (place / named[1].strip("\"'")).is_file())
    return next(found, settings.parent)


def main(arguments: list[str] | None = None) -> None:
    """Compare all settings files and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--random", type=int, default=0, help="number of random settings to run")
    parser.add_argument("--first", type=int, default=0, help="the first seed of random settings")
    parser.add_argument("--only", default="", help="a part of the paths of settings files")
    parser.add_argument("--show", action="store_true", help="print the first lines that differ")
    wanted = parser.parse_args(arguments)
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="clus-public-") as work:
        for at, folder in enumerate(wanted.folders):
            roots = Path(work) / f"clus{at}", Path(work) / f"ramify{at}"
            for root in roots:
                shutil.copytree(folder, root)
            for path in sorted(folder.rglob("*.s")):
                name = path.relative_to(folder)
                if wanted.only in str(path):
                    verdict = _compare(name, roots, show=wanted.show)
                    counts[verdict.kind] += 1
                    print(f"{verdict.kind:<16} {name}  {verdict.detail}", flush=True)
        for seed in range(wanted.first, wanted.first + wanted.random):
            verdict = _compare_random(seed, Path(work) / str(seed), show=wanted.show)
            counts[verdict.kind] += 1
            print(f"{verdict.kind:<16} seed {seed}  {verdict.detail}", flush=True)
    print(", ".join(f"{kind}: {count}" for kind, count in counts.most_common()))


def _compare(name: Path, roots: tuple[Path, Path], *, show: bool) -> Verdict:
    text = (roots[0] / name).read_text("latin-1")
    switches = switches_of(text)
    places = [working_folder(root / name, root, text) for root in roots]
    theirs = run_theirs(roots[0] / name, places[0], switches, MEMORY)
    ours = run_ours(roots[1] / name, places[1], switches)
    verdict = judge(theirs, ours)
    if show:
        print("\n".join(first_differences(theirs, ours)))
    return Verdict(verdict.kind, f"({' '.join(switches) or 'tree'}) {verdict.detail}")


def _compare_random(seed: int, folder: Path, *, show: bool) -> Verdict:
    case = random_run(seed)
    theirs, ours = compare_in(folder, case.prepare, case.switches, MEMORY)
    verdict = judge(theirs, ours)
    if show:
        print("\n".join(first_differences(theirs, ours)))
    return Verdict(verdict.kind, f"({case.data} {' '.join(case.switches)}) {verdict.detail}")


if __name__ == "__main__":
    main()
