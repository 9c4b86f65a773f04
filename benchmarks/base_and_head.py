"""Two installations of ramify side by side: the base of a change and its head.

    python benchmarks/base_and_head.py BASE_PYTHON HEAD_PYTHON [--repeats 5]

runs the same work alternately with both interpreters and prints the best times and their ratio as
a table in Markdown. Other load of the machine affects both sides.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable


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
    work: dict[str, Callable[[], object]] = {
        "tree: fit": lambda: tree.fit(X, y),
        "forest: fit": lambda: forest.fit(X, y),
        "boosting: fit": lambda: boosting.fit(X, y),
        "per edge: fit": lambda: local.fit(X, y),
        "forest: predict_proba": lambda: forest.predict_proba(X),
        "forest: 1,000 single rows": lambda: [forest.predict_proba(X[:1]) for _ in range(1000)],
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
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(measure()))
        return
    best: dict[str, dict[str, float]] = {"base": {}, "head": {}}
    for _ in range(given.repeats):
        for side, python in (("base", given.base), ("head", given.head)):
            command = [python, __file__, "--measure"]
            output = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
            for name, seconds in json.loads(output).items():
                best[side][name] = min(seconds, best[side].get(name, seconds))
    print("| work | base, ms | head, ms | head / base |\n| --- | --- | --- | --- |")
    for name, base in best["base"].items():
        head = best["head"][name]
        print(f"| {name} | {1e3 * base:.1f} | {1e3 * head:.1f} | {head / base:.2f} |")


if __name__ == "__main__":
    sys.exit(main())
