"""Trees and forests with smoothed leaves: pooled AU(PRC) by the strength of the smoothing.

``python -m benchmarks.smoothing --folds 10`` runs the public data sets of the study levatic2015.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

import numpy as np
from sklearn.utils import _safe_indexing

from benchmarks.tree_sizes import LEVELS, QUICK
from ramify import Hierarchy, PCTClassifier, PCTForestClassifier, PerNodeClassifier
from ramify._base.classifier import HierarchicalClassifier
from ramify.apps.studies.data import load_data, split_rows
from ramify.metrics import pooled_auprc
from ramify.studies import load_study

STRENGTHS = (0.0, 1.0, 5.0)
MODELS: dict[str, Callable[[Hierarchy, float], HierarchicalClassifier]] = {
    "tree": lambda hierarchy, m: PCTClassifier(hierarchy, smoothing=m),
    "tree, F-test": lambda hierarchy, m: PCTClassifier(
        hierarchy, smoothing=m, f_test=list(LEVELS), random_state=0
    ),
    "tree per label": lambda hierarchy, m: PerNodeClassifier(
        PCTClassifier(smoothing=m), hierarchy=hierarchy
    ),
    "forest": lambda hierarchy, m: PCTForestClassifier(hierarchy, smoothing=m, random_state=0),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table for each data set."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.smoothing", description=__doc__)
    parser.add_argument("datasets", nargs="*", default=QUICK)
    parser.add_argument("--folds", type=int, default=10, help="how many of the ten folds to run")
    options = parser.parse_args(arguments)
    study = load_study("levatic2015").on(options.datasets)
    print(f"{'data set':18} {'model':15}" + "".join(f"{m:>8g}" for m in STRENGTHS))
    for spec in study.data:
        data = load_data(spec)
        for name, make in MODELS.items():
            scores = np.zeros((options.folds, len(STRENGTHS)))
            for fold in range(options.folds):
                train, test = split_rows(data, study.protocol_of(spec), 0, fold, study.seed)
                for k, strength in enumerate(STRENGTHS):
                    model = make(data.hierarchy, strength)
                    model.fit(_safe_indexing(data.X, train), data.y[train])
                    scores[fold, k] = pooled_auprc(
                        data.y[test],
                        model.predict_proba(_safe_indexing(data.X, test)),
                        hierarchy=data.hierarchy,
                    )
            row = "".join(f"{score:8.3f}" for score in scores.mean(axis=0))
            print(f"{spec.title:18} {name:15}{row}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
