"""Fit and predict with unusual input: python -m tests.robustness.fuzz_inputs --n 10000.

All classifiers get features, labels and sample weights that are valid, unusual or wrong, and all
estimators for several targets get targets. `fit`, `predict_proba` and `predict` must raise a
`ValueError` or `TypeError` with a message, or give probabilities and, of targets, values. Any
other error, a crash of the process, other numbers and a fit that takes more than 20 seconds are
findings.
"""

from __future__ import annotations

import argparse
import inspect
import random
import sys
import time
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from ramify import Hierarchy
from ramify._base.classifier import HierarchicalClassifier
from ramify.trees.target_base import TargetEstimator
from tests.support.estimators import make, multi_target_estimators, public_classifiers
from tests.support.hostile_inputs import (
    hostile_features,
    hostile_labels,
    hostile_targets,
    hostile_weights,
)

MOST_SECONDS = 20.0


@dataclass
class Findings:
    """What happened to the inputs.

    Attributes
    ----------
    outcomes : Counter of (str, str)
        How many inputs of which classifier had which outcome.
    findings : list of str
        Outcomes other than probabilities or a refusal.
    """

    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)

    def count(self, outcome: str) -> int:
        """Return the number of inputs with an outcome."""
        return sum(n for (_, found), n in self.outcomes.items() if found == outcome)

    def write(self) -> str:
        """Return a summary."""
        kinds = ("predicted", "refused", "refused rows", "found")
        counts = ", ".join(f"{self.count(kind)} {kind}" for kind in kinds)
        return "\n".join([f"{self.outcomes.total()} inputs: {counts}", *self.findings[:20]])


def use(model: Any, rng: random.Random) -> tuple[str, str]:
    """Fit a model to a random input and predict another; return the outcome and an error."""
    n = rng.choice([1, 2, 5, *[20] * 9])
    write_y = hostile_targets if isinstance(model, TargetEstimator) else hostile_labels
    X, y, weights = hostile_features(rng, n), write_y(rng, n), hostile_weights(rng, n)
    takes_weights = "sample_weight" in inspect.signature(model.fit).parameters
    options = {} if weights is None or not takes_weights else {"sample_weight": weights}
    started = time.process_time()
    try:
        model.fit(X, y, **options)
    except (ValueError, TypeError) as error:
        return ("refused", "") if str(error) else ("found", traceback.format_exc())
    except Exception:
        return "found", traceback.format_exc()
    try:
        for rows in (X, hostile_features(rng, n)):
            if not _is_sound(model, rows):
                return "found", "scores that are not probabilities, or values that are not finite"
    except (ValueError, TypeError) as error:
        return ("refused rows", "") if str(error) else ("found", traceback.format_exc())
    except Exception:
        return "found", traceback.format_exc()
    seconds = time.process_time() - started
    return ("predicted", "") if seconds < MOST_SECONDS else ("found", f"took {seconds:.0f} s")


def _is_sound(model: Any, rows: Any) -> bool:
    """Predict; return whether values are finite, and probabilities from 0 to 1."""
    answer = model.predict(rows)
    if isinstance(model, RegressorMixin):
        return bool(np.isfinite(answer).all())
    found = model.predict_proba(rows)  # a list for several targets
    scores = np.concatenate([np.ravel(part) for part in found])
    return bool(np.isfinite(scores).all() and (scores >= 0).all() and (scores <= 1).all())


def fuzz_inputs(n: int, seed: int, *, seconds: float = float("inf")) -> Findings:
    """Try inputs on all classifiers in turn.

    Parameters
    ----------
    n : int
        Number of inputs.
    seed : int
        Decides the inputs.
    seconds : float
        Time after which to stop.

    Returns
    -------
    Findings
        Counts and findings.
    """
    found, classes = Findings(), [*public_classifiers(), *multi_target_estimators()]
    hierarchy = Hierarchy.from_edges([("b", "b/c"), ("b", "b/d"), ("e", "b/d"), ("root", "a")])
    started = time.monotonic()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for number in range(n):
            if time.monotonic() - started > seconds:
                break
            rng = random.Random(f"{seed} {number}")
            cls = classes[number % len(classes)]
            model = make(cls)
            if rng.random() < 0.1 and isinstance(model, HierarchicalClassifier):
                model.set_params(hierarchy=hierarchy)
            outcome, told = use(model, rng)
            found.outcomes[cls.__name__, outcome] += 1
            if outcome == "found":
                where = f"{cls.__name__} ({seed}, {number})"
                found.findings.append(f"{where}: {told.strip()[-700:]}")
    return found


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=10_000, help="the number of inputs")
    parser.add_argument("--seed", type=int, default=0, help="decides the inputs")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this time")
    options = parser.parse_args()
    found = fuzz_inputs(options.n, options.seed, seconds=options.seconds)
    print(found.write())
    return int(bool(found.findings))


if __name__ == "__main__":
    sys.exit(main())
