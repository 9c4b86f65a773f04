"""Interrupt estimators at random moments: python -m tests.robustness.interrupt_estimators --n 200.

Each process fits an estimator and predicts with two threads until it receives SIGINT. It must end
with a `KeyboardInterrupt`, never with a signal or any other error.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import ramify

ESTIMATORS = {
    "forest": "PCTForestClassifier(n_estimators=60, n_jobs=2)",
    "tree": "PCTClassifier(n_jobs=2)",
    "bagging": "HierarchicalBaggingClassifier(n_estimators=8, n_jobs=2)",
    "nested": "HierarchicalBaggingClassifier(PCTForestClassifier(n_jobs=2), n_jobs=2)",
    "edges": "PerEdgeClassifier(PCTClassifier(), n_jobs=2)",
    "brdt": "BRDTClassifier(n_jobs=2)",
    "gradient boosting": "PCTGradientBoostingClassifier(max_iter=100, n_jobs=2)",
    "boosting": "AdaBoostMHClassifier(n_estimators=200, n_jobs=2)",
    "lasso": "SiblingLassoClassifier(alpha=0.2, n_jobs=2)",
    "calibration": "CalibratedHierarchicalClassifier(PCTForestClassifier(n_jobs=2), n_jobs=2)",
    "vote": "HierarchicalVotingClassifier([('a', PCTForestClassifier(n_jobs=2)), "
    "('b', PCTExtraTreesClassifier(n_jobs=2))], weights='cv', n_jobs=2)",
    "threads": "BinaryRelevance(DecisionTreeClassifier(), n_jobs=2)",
}

CODE = """
import signal
import sys
from contextlib import nullcontext
import joblib
import numpy as np
from sklearn.tree import DecisionTreeClassifier
from ramify import *
signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background ignore it
rng = np.random.default_rng(0)
groups = rng.integers(0, 12, 3000)
X = rng.normal(size=(3000, 20)) + groups[:, None] % 3
y = [[f"a/{k}", f"b/{k % 3}/{k}"] for k in groups]
model = eval(sys.argv[1])
threads = "Calibrated" in sys.argv[1] or "BinaryRelevance" in sys.argv[1]
with joblib.parallel_config(backend="threading") if threads else nullcontext():
    try:
        print("started", flush=True)
        while True:
            model.fit(X, y)
            model.predict_proba(X)
    except KeyboardInterrupt:
        sys.exit(42)
"""


def interrupt(estimator: str, wait: float) -> str:
    """Interrupt an estimator after `wait` seconds; return what went wrong, if anything."""
    source = str(Path(ramify.__file__).parents[1])
    process = subprocess.Popen(
        [sys.executable, "-c", CODE, estimator],
        env={**os.environ, "PYTHONPATH": source},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(wait)
    for _ in range(3):  # Python ignores an interruption that arrives inside a destructor
        process.send_signal(signal.SIGINT)
        try:
            _, errors = process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            continue
        last = (errors.strip().splitlines() or [""])[-1]
        return "" if process.returncode == 42 else f"status {process.returncode}: {last}"
    process.kill()
    process.communicate()
    return "does not react"


def main() -> None:
    """Interrupt the estimators in turn and print what went wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=200, help="number of interrupts")
    parser.add_argument("--seed", type=int, default=None, help="decides the moments")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    failures: Counter[str] = Counter()
    names = list(ESTIMATORS)
    for i in range(options.n):
        name = names[i % len(names)]
        problem = interrupt(ESTIMATORS[name], rng.random())
        if problem:
            failures[f"{name}: {problem}"] += 1
            print(f"{name}: {problem}", flush=True)
    for problem, count in failures.most_common():
        print(f"{count} x {problem}")
    print(f"{options.n} interrupts: {failures.total()} did not end with KeyboardInterrupt")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
