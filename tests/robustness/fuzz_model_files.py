"""Load damaged model files: python -m tests.robustness.fuzz_model_files --n 10000.

Every file must be refused with a `ModelFileError`, or load. A file damaged by accident may load
only if the damage had no effect, and then gives the predictions of the undamaged file; a forgery
with valid checksums may be another valid model. The summary counts these outcomes and reports the
maximum memory and time of one load.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
import tracemalloc
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ramify
from tests.support.model_file_damage import ACCIDENTS, FORGERIES, Damage, bomb


@dataclass
class Summary:
    """Outcomes of loading the files.

    Attributes
    ----------
    outcomes : Counter of (damage, outcome)
        Number of files by kind of damage and outcome.
    failures : list of str
        Files that were neither refused nor valid, with the errors.
    most_bytes, most_seconds : float
        Maximum memory and time of a load.
    """

    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    most_bytes: int = 0
    most_seconds: float = 0.0

    def write(self) -> str:
        """Return a table."""
        kinds = sorted({kind for kind, _ in self.outcomes})
        names = ["refused", "same", "other", "useless", "failed"]
        lines = [f"{'damage':16s}" + "".join(f"{name:>9s}" for name in names)]
        for kind in kinds:
            counts = [self.outcomes[kind, name] for name in names]
            lines.append(f"{kind:16s}" + "".join(f"{count:9d}" for count in counts))
        totals = [sum(self.outcomes[kind, name] for kind in kinds) for name in names]
        lines.append(f"{'all':16s}" + "".join(f"{count:9d}" for count in totals))
        lines.append(
            f"at most {self.most_bytes / 2**20:.1f} MiB and {self.most_seconds:.2f} s in one load"
        )
        return "\n".join(lines + self.failures[:20])


def fuzz(
    model: Any, X: Any, n: int, seed: int, damages: tuple[Damage, ...] | None = None
) -> Summary:
    """Save a model, damage the file `n` times and load it each time.

    Parameters
    ----------
    model : estimator
        A fitted model.
    X : array
        Rows to predict with what loads.
    n : int
        The number of damaged files.
    seed : int
        Decides the damage.
    damages : tuple of callable, optional
        The kinds of damage to choose from; all, and a few bombs, by default.

    Returns
    -------
    Summary
        Counts and failures.
    """
    rng = random.Random(seed)
    summary = Summary()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.ramify"
        ramify.save(model, path)
        sound = path.read_bytes()
        expected = model.predict_proba(X)
        for number in range(n):
            # Bombs take long to make.
            chosen = bomb if damages is None and number % 500 == 0 else None
            damage = chosen or rng.choice(damages or ACCIDENTS + FORGERIES)
            path.write_bytes(damage(rng, sound))
            outcome = _load_one(summary, path, X, expected)
            if damage in ACCIDENTS and outcome in ("other", "useless"):
                outcome = "failed: it loaded, but is another model"
            if outcome.startswith("failed"):
                summary.failures.append(f"{damage.__name__} number {number} {outcome}")
            summary.outcomes[damage.__name__, outcome.partition(":")[0]] += 1
    return summary


def _load_one(summary: Summary, path: Path, X: Any, expected: Any) -> str:
    tracemalloc.start()
    started = time.process_time()
    try:
        outcome = _use(ramify.load(path), X, expected)
    except ramify.ModelFileError:
        outcome = "refused"
    except Exception as error:
        outcome = f"failed: {error!r}"
    summary.most_seconds = max(summary.most_seconds, time.process_time() - started)
    summary.most_bytes = max(summary.most_bytes, tracemalloc.get_traced_memory()[1])
    tracemalloc.stop()
    return outcome


def _use(model: Any, X: Any, expected: Any) -> str:
    """Predict with what loaded; a forgery may give a model that does not predict these rows."""
    try:
        found = model.predict_proba(X)
        model.predict(X)
    except Exception:
        return "useless"
    return "same" if np.array_equal(found, expected, equal_nan=True) else "other"


def models() -> list[tuple[Any, Any]]:
    """Return small fitted models and rows; the last two of them need skops."""
    data = ramify.load_animals()
    tree = ramify.PCTClassifier().fit(data.X, data.y)
    made = ramify.make_hierarchical_classification(60, n_features=4, random_state=0)
    forest = ramify.PCTForestClassifier(n_estimators=3, max_depth=4, random_state=0)
    local = ramify.PerNodeClassifier(hierarchy=made.hierarchy, estimator=GaussianNB())
    pipeline = make_pipeline(StandardScaler(), ramify.PCTClassifier(max_depth=3))
    others = [model.fit(made.X, made.y) for model in (forest, local, pipeline)]
    return [(tree, data.X), *((model, made.X) for model in others)]


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=10_000, help="the number of damaged files")
    parser.add_argument("--seed", type=int, default=0, help="decides the damage")
    options = parser.parse_args()
    failed = False
    chosen = models()
    for number, (model, X) in enumerate(chosen):
        n = options.n // len(chosen) + (number < options.n % len(chosen))
        summary = fuzz(model, X, n, options.seed)
        print(f"{type(model).__name__}: {n} damaged files\n{summary.write()}\n")
        failed |= bool(summary.failures)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
