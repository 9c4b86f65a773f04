"""Flat against hierarchical, with the same learner, on all public sets with a hierarchy.

``python -m benchmarks.does_the_hierarchy_help`` divides each set into training and test rows at
random and fits forests and linear models to them in three ways:

- "flat": to the most specific labels of each row. The probability of a label above is what those
  of the labels below amount to: their sum if rows have one path, else 1 - (1 - p) (1 - q) ...
- "all labels": to the labels with their ancestors, as flat labels.
- "hierarchical": to the hierarchy. Forests weigh labels by their level; linear models are fitted
  to the children of each label, on the rows that have it.

All are measured with the same measures, on the same test rows, by the true labels with their
ancestors. A second part hides the labels below the top level of some training rows: flat learners
leave these rows out, hierarchical forests learn from what is known. The results of each set and
draw are kept in ``build/benchmarks/does_the_hierarchy_help``, and a later run continues there.
Tables and plots are written to ``docs/benchmarks``.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.does_the_hierarchy_help_report import write_report
from ramify import (
    Hierarchy,
    LinearClassifier,
    PartialLabels,
    PCTForestClassifier,
    PerParentClassifier,
    fetch,
    list_datasets,
)
from ramify.io.files import replacing
from ramify.metrics import f_max, mean_auprc, per_label_report, pooled_auprc

FOLDER = Path("build/benchmarks/does_the_hierarchy_help")
WAYS = ("flat", "all labels", "hierarchical")
LEARNERS = ("forest", "linear")
N_TRAIN, N_TEST, N_TREES = 1_200, 600, 30
HIDDEN = (0.0, 0.5, 0.75, 0.9)
HIDDEN_SETS = ("imclef07a", "imclef07d", "diatoms", "enron_hmc", "cellcycle_FUN")
MOST_LINEAR_LABELS = 1_000  # linear models take minutes where there are thousands of labels
# 47,034 and 19,628 features for a few thousand labels of genes; the rows of reuters.
LEFT_OUT = ("hom_FUN", "struc_FUN", "rcv1v2_subset1")


class Part:
    """Rows of a data set: features, the closed labels and the most specific ones."""

    def __init__(self, X: Any, Y: sparse.csr_array[np.int32], hierarchy: Hierarchy) -> None:
        self.X, self.Y, self.hierarchy = X, Y, hierarchy
        above = Y @ _parents(hierarchy)  # how many children of a label a row has
        self.ends = sparse.csr_array((Y - Y.multiply(above > 0)).astype(np.int32))
        self.ends.eliminate_zeros()
        self.one_path = bool((np.diff(self.ends.indptr) == 1).all())


def _parents(hierarchy: Hierarchy) -> sparse.csr_array[np.int32]:
    """Return the matrix of children by parents."""
    indptr, indices = hierarchy.parent_rows
    shape = (hierarchy.n_labels, hierarchy.n_labels)
    return sparse.csr_array((np.ones(len(indices), np.int32), indices, indptr), shape=shape)


def names_of_sets() -> list[str]:
    """Return the data sets that have a hierarchy."""
    names = [one.name for one in list_datasets() if one.hierarchy != "none"]
    return [name for name in names if name not in LEFT_OUT]


def draw(name: str, seed: int) -> tuple[Part, Part]:
    """Divide a data set at random; use only labels that some training row has."""
    data = fetch(name, as_frame=False)
    order = np.random.default_rng(seed).permutation(data.y.shape[0])
    order = order[np.diff(sparse.csr_array(data.y).indptr)[order] > 0]
    n_test = min(N_TEST, len(order) // 3)
    train, test = order[n_test : n_test + N_TRAIN], order[:n_test]
    Y = sparse.csr_array(data.y, dtype=np.int32)
    hierarchy = data.hierarchy.prune(Y[train], min_count=1)
    Y = Y[:, data.hierarchy.indices(hierarchy.labels)]
    test = test[np.diff(Y[test].indptr) > 0]
    return Part(data.X[train], Y[train], hierarchy), Part(data.X[test], Y[test], hierarchy)


# ---- the ways to learn ------------------------------------------------------------------------


def _forest(hierarchy: Hierarchy, seed: int) -> Any:
    return PCTForestClassifier(hierarchy, n_estimators=N_TREES, random_state=seed, n_jobs=1)


def scores_of(learner: str, way: str, train: Part, X: Any, seed: int) -> np.ndarray:
    """Fit a learner in one of the ways and return the probabilities of all labels."""
    own = (
        train.hierarchy if way == "hierarchical" else Hierarchy.from_labels(train.hierarchy.labels)
    )
    if learner == "forest":
        model = _forest(own, seed)
    elif way == "hierarchical":
        model = PerParentClassifier(LinearClassifier(), hierarchy=own, n_jobs=1)
    else:
        model = LinearClassifier(own, n_jobs=1)
    target: Any = train.ends if way == "flat" else train.Y
    scores = np.asarray(model.fit(train.X, target).predict_proba(X))
    return upwards(scores, train) if way == "flat" else scores


def upwards(scores: np.ndarray, train: Part) -> np.ndarray:
    """Return what the probabilities of the most specific labels amount to for those above."""
    labels = train.hierarchy.n_labels
    ancestors = train.hierarchy.close(sparse.eye_array(labels, dtype=np.int32, format="csr"))
    if train.one_path:
        return np.minimum(scores @ ancestors, 1.0)
    missed = np.log1p(-np.minimum(scores, 1 - 1e-9)) @ ancestors
    return -np.expm1(missed)


# ---- measures ---------------------------------------------------------------------------------


def measure(scores: np.ndarray, train: Part, test: Part) -> dict[str, Any]:
    """Return the measures of one model, and the area of each label."""
    hierarchy = test.hierarchy
    sets = scores >= 0.5
    found = {
        "pooled": pooled_auprc(test.Y, scores),
        "mean": mean_auprc(test.Y, scores),
        "ends": pooled_auprc(test.Y, scores, hierarchy=hierarchy, labels="leaves"),
        "f_max": f_max(test.Y, scores, hierarchy=hierarchy),
        "wrong": wrong_labels(sets, test.Y),
    }
    if train.one_path:
        ends = scores - scores @ _parents(hierarchy)  # the probability that a row ends at a label
        ends[:, np.bincount(train.ends.indices, minlength=hierarchy.n_labels) == 0] = -np.inf
        best = ends.argmax(axis=1)
        ancestors = hierarchy.close(sparse.eye_array(hierarchy.n_labels, dtype=np.int32).tocsr())
        found["right"] = float((best == test.ends.indices).mean())
        found["wrong_best"] = wrong_labels(ancestors[best].toarray(), test.Y)
    report = per_label_report(test.Y, scores, hierarchy)
    found["labels"] = np.round(np.asarray(report.columns["auprc"], dtype=float), 5).tolist()
    return found


def wrong_labels(sets: np.ndarray, truth: sparse.csr_array[np.int32]) -> float:
    """Return the number of wrong labels of a row, missing or too many, on average."""
    return float((np.asarray(sets, dtype=bool) != (truth.toarray() > 0)).sum(axis=1).mean())


def run_draw(name: str, seed: int) -> dict[str, Any]:
    """Measure all learners and ways on one division of a data set."""
    train, test = draw(name, seed)
    hierarchy = train.hierarchy
    found: dict[str, Any] = {
        "set": name,
        "seed": seed,
        "n_train": train.Y.shape[0],
        "one_path": train.one_path,
        "level": hierarchy.label_levels.tolist(),
        "rows": np.bincount(train.Y.indices, minlength=hierarchy.n_labels).tolist(),
        "depth": hierarchy.depth,
        "results": {},
    }
    for learner in LEARNERS:
        # Where rows have one path, classes with one or two rows spoil the probabilities of linear
        # models, and with them any product along a path.
        if learner == "linear" and (train.one_path or hierarchy.n_labels > MOST_LINEAR_LABELS):
            continue
        for way in WAYS:
            start = time.process_time()
            scores = scores_of(learner, way, train, test.X, seed)
            seconds = time.process_time() - start
            measured = measure(scores, train, test)
            found["results"][f"{learner}, {way}"] = {**measured, "cpu_s": seconds}
    return found


# ---- partial labels ---------------------------------------------------------------------------


def run_hidden(name: str, seed: int) -> dict[str, Any]:
    """Hide the labels below the top level of some training rows."""
    train, test = draw(name, seed)
    hierarchy = train.hierarchy
    deep = hierarchy.label_levels > 1
    order = np.random.default_rng(seed).random(train.Y.shape[0])
    found: dict[str, Any] = {"set": name, "seed": seed, "results": {}}
    for share in HIDDEN:
        rows = np.flatnonzero(order >= share)
        kept = Part(train.X[rows], train.Y[rows], hierarchy)
        kept.one_path = train.one_path
        flat = scores_of("forest", "flat", kept, test.X, seed)
        known = train.Y.toarray().astype(float)
        known[np.ix_(order < share, deep)] = np.nan
        partial = PartialLabels(known, hierarchy)
        learnt = _forest(hierarchy, seed).fit(train.X, partial).predict_proba(test.X)
        dropped = scores_of("forest", "hierarchical", kept, test.X, seed)
        ways = {"flat": flat, "hierarchical, dropped": dropped, "hierarchical": learnt}
        found["results"][str(share)] = {
            way: {"pooled": pooled_auprc(test.Y, scores)} for way, scores in ways.items()
        }
    return found


def kept_results(
    part: str, names: list[str], seeds: range, run: Callable[[str, int], dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Yield the results of all sets and draws; compute those that are not in the folder yet."""
    for seed in seeds:
        for name in names:
            path = FOLDER / f"{part}-{name}-{seed}.json"
            if not path.exists():
                start = time.process_time()
                found = run(name, seed)
                FOLDER.mkdir(parents=True, exist_ok=True)
                with replacing(path) as new:
                    new.write_text(json.dumps(found), encoding="utf-8")
                print(f"{part} {name} {seed}: {time.process_time() - start:.0f} CPU s", flush=True)
            yield json.loads(path.read_text(encoding="utf-8"))


def main() -> None:
    """Run, print and draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="*", help="default: all with a hierarchy")
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("docs/benchmarks"))
    options = parser.parse_args()
    names = options.datasets or names_of_sets()
    seeds = range(options.draws)
    results = list(kept_results("all", names, seeds, run_draw))
    hidden_sets = [name for name in HIDDEN_SETS if name in names]
    hidden = list(kept_results("hidden", hidden_sets, seeds, run_hidden))
    write_report(results, hidden, options.out)


if __name__ == "__main__":
    main()
