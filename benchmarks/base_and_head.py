"""Two versions of ramify side by side: the base of a change and its head.

    python benchmarks/base_and_head.py BASE_PYTHON HEAD_PYTHON [--repeats 5]
    python benchmarks/base_and_head.py --revision REVISION [--repeats 5]

runs the same work alternately with both interpreters, or with a revision of the repository and
the installed ramify, and prints the best times and their ratio as a table in Markdown. Other load
on the machine affects both sides. The revision is built once, into build/revisions, with the
libraries of this interpreter; ``make bench-compare REV=...`` does the same. ``--record FILE``
also writes the times as a CSV file; ``benchmarks/history`` has one for each release.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def install_revision(revision: str) -> Path:
    """Build a revision of this repository; return the folder that has the package."""
    git = ["git", "-C", str(ROOT)]
    name = subprocess.run(
        [*git, "rev-parse", "--verify", f"{revision}^{{commit}}"], check=True, capture_output=True
    ).stdout.decode()[:12]
    folder = ROOT / "build" / "revisions" / name
    if folder.is_dir():
        return folder
    packed = subprocess.run([*git, "archive", name], check=True, stdout=subprocess.PIPE).stdout
    # Without the network, where the tools that build are installed.
    known = all(map(find_spec, ("scikit_build_core", "nanobind")))
    isolation = ["--no-build-isolation"] if known else []
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="ramify-revision-") as source:
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extractall(source, filter="data")
        made = Path(tempfile.mkdtemp(dir=folder.parent))
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", *isolation]
        # ccache, where it is used, finds files that were compiled in another folder.
        cached = {"CCACHE_BASEDIR": source, "CCACHE_NOHASHDIR": "1"}
        try:
            subprocess.run(
                [*command, "--target", str(made), source], check=True, env=os.environ | cached
            )
            made.rename(folder)
        finally:
            shutil.rmtree(made, ignore_errors=True)
    return folder


def use_package(folder: str) -> None:
    """Import ramify from a folder, not from where this interpreter has it installed."""
    # An editable installation has a finder of its own, which comes before the path.
    sys.meta_path[:] = [
        finder for finder in sys.meta_path if "editable" not in type(finder).__module__
    ]
    sys.path.insert(0, folder)
    import ramify  # noqa: PLC0415

    found = Path(str(ramify.__file__)).resolve()
    if not found.is_relative_to(Path(folder).resolve()):
        raise RuntimeError(f"ramify was imported from {found.parent}, not from {folder}")


def measure() -> dict[str, float]:
    """Return the seconds of some work with the ramify of this interpreter."""
    import numpy as np  # noqa: PLC0415 (only the measured interpreters have the libraries)

    import ramify  # noqa: PLC0415
    from ramify.metrics import pooled_auprc  # noqa: PLC0415

    data = ramify.make_hierarchical_classification(2000, 50, n_labels=200, random_state=0)
    X, y, hierarchy = np.asarray(data.X, dtype=np.float64), data.y, data.hierarchy
    tree = ramify.PCTClassifier(hierarchy)
    forest = ramify.PCTForestClassifier(hierarchy, n_estimators=10, random_state=0)
    boosting = ramify.PCTGradientBoostingClassifier(hierarchy, max_iter=20, random_state=0)
    local = ramify.PerEdgeClassifier(ramify.PCTClassifier(max_depth=4), hierarchy=hierarchy)
    # Labels that have nothing to do with X give trees of many small nodes.
    shuffled = y[np.random.default_rng(0).permutation(len(X))]
    nodes = ramify.PCTForestClassifier(hierarchy, n_estimators=10, n_jobs=2, random_state=0)
    rows = [X[k : k + 1] for k in range(1000)]
    work: dict[str, Callable[[], object]] = {
        "tree: fit": lambda: tree.fit(X, y),
        "forest: fit": lambda: forest.fit(X, y),
        "boosting: fit": lambda: boosting.fit(X, y),
        "per edge: fit": lambda: local.fit(X, y),
        "forest: predict_proba": lambda: forest.predict_proba(X),
        "tree: 1,000 single rows": lambda: [tree.predict_proba(row) for row in rows],
        "forest: 1,000 single rows": lambda: [forest.predict_proba(row) for row in rows],
        "boosting: 1,000 single rows": lambda: [boosting.predict_proba(row) for row in rows],
        "many small nodes, two threads: fit": lambda: nodes.fit(X, shuffled),
        "forest: predict": lambda: forest.predict(X),
        "pooled_auprc": lambda: pooled_auprc(y, forest.predict_proba(X)),
    }
    times = {}
    for name, call in work.items():
        start = time.perf_counter()
        call()
        times[name] = time.perf_counter() - start
    return times


def main() -> None:
    """Print the table, or the times of this interpreter as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base", nargs="?")
    parser.add_argument("head", nargs="?")
    parser.add_argument("--revision", help="the base, instead of two interpreters")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--record", type=Path, help="also write the times to this CSV file")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--package", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        if given.package:
            use_package(given.package)
        print(json.dumps(measure()))
        return
    if given.revision is None and given.head is None:
        parser.error("pass two interpreters, or --revision")
    if given.revision is not None:
        package = str(install_revision(given.revision))
        sides = {"base": [sys.executable, "--package", package], "head": [sys.executable]}
    else:
        sides = {"base": [given.base], "head": [given.head]}
    best: dict[str, dict[str, float]] = {side: {} for side in sides}
    for _ in range(given.repeats):
        for side, (python, *options) in sides.items():
            command = [python, __file__, "--measure", *options]
            output = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
            for name, seconds in json.loads(output).items():
                best[side][name] = min(seconds, best[side].get(name, seconds))
    rows = [("work", "base, ms", "head, ms", "head / base")]
    for name, base in best["base"].items():
        head = best["head"][name]
        rows.append((name, f"{1e3 * base:.1f}", f"{1e3 * head:.1f}", f"{head / base:.2f}"))
    lines = [f"| {' | '.join(row)} |" for row in (rows[0], ("---",) * 4, *rows[1:])]
    print("\n".join(lines))
    if given.record is not None:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(rows)
        given.record.parent.mkdir(parents=True, exist_ok=True)
        given.record.write_text(text.getvalue(), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
