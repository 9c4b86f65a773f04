"""Accuracy and size of C4.5-style trees and scikit-learn's pruned trees, 10 × 10-fold.

``python -m benchmarks.c45`` compares two kinds of trees on iris, wine and breast cancer: ours,
grown by gain ratio with pessimistic pruning, and scikit-learn's, with minimal cost-complexity
pruning whose strength is chosen by 5-fold cross-validation within each training part. Differences
are tested with the t-test that is corrected for overlapping training parts (Nadeau and Bengio).
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from benchmarks.trees import print_table
from ramify import PCTClassifier

SETS = {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer}
LEVEL = 0.05


@dataclass(frozen=True)
class Results:
    """Accuracy and leaves of one learner in every fold."""

    accuracy: NDArray[np.float64]
    leaves: NDArray[np.float64]


def fit_c45(X: Any, y: Any) -> PCTClassifier:
    """Return a C4.5-style tree."""
    return PCTClassifier(
        criterion="gain_ratio", min_samples_leaf=2, nominal_tests="nary", pruning="pessimistic"
    ).fit(X, y)


def fit_unpruned(X: Any, y: Any) -> PCTClassifier:
    """Return the same tree before pruning."""
    return PCTClassifier(criterion="gain_ratio", min_samples_leaf=2, nominal_tests="nary").fit(
        X, y
    )


def fit_sklearn(X: Any, y: Any) -> DecisionTreeClassifier:
    """Return a tree of scikit-learn with cost-complexity pruning, its strength chosen inside."""
    base = DecisionTreeClassifier(random_state=0)
    alphas = np.unique(base.cost_complexity_pruning_path(X, y).ccp_alphas[:-1].clip(0))
    search = GridSearchCV(base, {"ccp_alpha": alphas}, cv=5)
    return search.fit(X, y).best_estimator_


LEARNERS = {"ramify C4.5": fit_c45, "unpruned": fit_unpruned, "scikit-learn": fit_sklearn}


def evaluate(name: str, repeats: int) -> dict[str, Results]:
    """Return every learner's results on the same folds."""
    X, y = SETS[name](return_X_y=True)
    found: dict[str, list[tuple[float, int]]] = {learner: [] for learner in LEARNERS}
    folds = RepeatedStratifiedKFold(n_splits=10, n_repeats=repeats, random_state=0)
    for train, test in folds.split(X, y):
        for learner, fit in LEARNERS.items():
            model = fit(X[train], y[train])
            found[learner].append((model.score(X[test], y[test]), model.get_n_leaves()))
    return {
        learner: Results(*np.array(results, dtype=np.float64).T)
        for learner, results in found.items()
    }


def corrected_p_value(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> float:
    """Return the two-sided p-value; test parts are a ninth of the training parts."""
    difference = ours - theirs
    variance = difference.var(ddof=1)
    if variance == 0:
        return 1.0
    n = len(difference)
    t = difference.mean() / math.sqrt((1 / n + 1 / 9) * variance)
    return float(2 * stats.t.sf(abs(t), n - 1))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table and return on how many sets our trees are significantly worse."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.c45", description=__doc__)
    parser.add_argument("--repeats", type=int, default=10, help="of 10-fold cross-validation")
    options = parser.parse_args(arguments)
    rows = [["set", *(f"{what} {name}" for what in ("acc.", "leaves") for name in LEARNERS), "p"]]
    worse = 0
    for name in SETS:
        found = evaluate(name, options.repeats)
        ours, theirs = found["ramify C4.5"].accuracy, found["scikit-learn"].accuracy
        p = corrected_p_value(ours, theirs)
        worse += bool(p < LEVEL and ours.mean() < theirs.mean())
        rows.append(
            [
                name,
                *(f"{100 * result.accuracy.mean():.2f}" for result in found.values()),
                *(f"{result.leaves.mean():.1f}" for result in found.values()),
                f"{p:.2f}",
            ]
        )
    print(
        f"{options.repeats} × 10-fold cross-validation; p: our C4.5 trees against scikit-learn\n"
    )
    print_table(rows)
    print(f"\nsignificantly worse at {LEVEL:g}: {worse} of {len(SETS)} sets")
    return worse


if __name__ == "__main__":
    raise SystemExit(main())
