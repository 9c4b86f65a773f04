"""The study of H-Ada.MH (Chelmis and Qi, 2021): its Table II, error curves and an ablation.

``python -m benchmarks.chelmis2021`` prints, for ImCLEF07A, ImCLEF07D and Diatoms, the paper's
Table II beside ours in two encodings of the classes, the test error against the number of rounds,
and what each of the three changes does; it leaves the figures in
``build/benchmarks/chelmis2021.json``.

The true encoding is the hierarchy of the data. The merged one names a class by its level and its
own segment of the path alone, as the authors' program does, so that classes of different branches
become one; such classes have no parents, and one of each level is predicted.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.ensemble import RandomForestClassifier

from benchmarks.clus import BUILD, describe_machine
from benchmarks.trees import print_table
from ramify import (
    AdaBoostMHClassifier,
    GlobalNaiveBayes,
    HierarchicalAdaBoostMHClassifier,
    PerLevelClassifier,
    fetch,
)
from ramify.hierarchy import Hierarchy
from ramify.metrics import (
    hamming_loss,
    hierarchical_f1,
    hierarchical_hamming_loss,
    hmc_loss,
    label_imbalance,
    level_accuracy,
    macro_f1,
    micro_f1,
    top_k_accuracy,
)

ROUNDS = {"imclef07a": 600, "imclef07d": 600, "diatoms": 200}
MEASURES = ("Micro-F1", "Macro-F1", "H-F", "HMC-loss")
PAPER = {  # per measure: H-Ada.MH, random forest per level, global naive Bayes
    "imclef07a": [
        (0.7143, 0.569, 0.6633),
        (0.5096, 0.1504, 0.47),
        (0.7445, 0.573, 0.691),
        (0.075, 0.137, 0.079),
    ],
    "imclef07d": [
        (0.7216, 0.646, 0.644),
        (0.3992, 0.1546, 0.4552),
        (0.7607, 0.662, 0.67),
        (0.129, 0.2047, 0.1948),
    ],
    "diatoms": [
        (0.487, 0.174, 0.205),
        (0.5587, 0.0138, 0.2391),
        (0.4542, 0.1176, 0.1812),
        (0.012, 0.0174, 0.0187),
    ],
}
STAGES = (1, 5, 10, 25, 50, 100, 200, 400, 600)
OFF = {"costs": "uniform", "top_down": False, "inherit_mistakes": False}
ABLATION: dict[str, dict[str, Any]] = {
    "AdaBoost.MH": OFF,
    "costs only": OFF | {"costs": "shared"},
    "top-down only": OFF | {"top_down": True},
    "inherited only": OFF | {"inherit_mistakes": True},
    "without costs": {"costs": "uniform"},
    "without top-down": {"top_down": False},
    "without inherited": {"inherit_mistakes": False},
    "H-Ada.MH": {},
    "H-Ada.MH, stop": {"at_chance": "stop"},
}


@dataclass(frozen=True)
class Task:
    """Training and test rows in one encoding of the classes."""

    name: str
    hierarchy: Hierarchy
    X: Any
    Y: Any
    X_test: Any
    Y_test: Any
    levels: list[np.ndarray]  # the columns of each level
    costs: np.ndarray  # what a mistake costs, and what a label weighs at first

    def figures(self, predicted: Any) -> dict[str, float]:
        """Return the measures of Table II."""
        imbalance = label_imbalance(self.Y)
        return {
            "Micro-F1": micro_f1(self.Y_test, predicted),
            "Macro-F1": macro_f1(self.Y_test, predicted),
            "H-F": hierarchical_f1(self.Y_test, predicted, hierarchy=self.hierarchy),
            "HMC-loss": hmc_loss(
                self.Y_test,
                predicted,
                alpha=2 * imbalance / (1 + imbalance),
                beta=2 / (1 + imbalance),
                costs=self.costs,
            ),
        }

    def one_per_level(self, scores: np.ndarray) -> np.ndarray:
        """Predict the best class of every level."""
        predicted = np.zeros(scores.shape, dtype=np.int32)
        for columns in self.levels:
            predicted[np.arange(len(scores)), columns[scores[:, columns].argmax(axis=1)]] = 1
        return predicted


def true_task(name: str) -> Task:
    """Return a data set with its own hierarchy."""
    data = fetch(name, as_frame=False)
    X, Y = data.rows("train")
    X_test, Y_test = data.rows("test")
    hierarchy = data.hierarchy
    levels = [np.asarray(hierarchy.indices(level)) for level in hierarchy.levels]
    parts = (sp.csr_array(Y), X_test, sp.csr_array(Y_test))
    return Task(name, hierarchy, X, *parts, levels, hierarchy.costs())


def merged_task(task: Task) -> Task:
    """Name classes by level and own segment; a level shares what a class above it costs."""
    own = [
        f"{level}:{str(label).rpartition('/')[2]}"
        for label, level in zip(task.hierarchy.labels, task.hierarchy.label_levels, strict=True)
    ]
    flat = Hierarchy.from_labels(sorted(set(own)))
    columns = flat.indices(own)
    ones = np.ones(len(own), dtype=np.int32)
    merge = sp.csr_array((ones, (np.arange(len(own)), columns)), shape=(len(own), len(flat)))
    level_of = np.array([int(str(label).partition(":")[0]) for label in flat.labels])
    levels = [np.flatnonzero(level_of == k) for k in np.unique(level_of)]
    costs, cost = np.empty(len(flat)), 1.0
    for members in levels:
        cost /= len(members)
        costs[members] = cost
    truths = [((Y @ merge) > 0).astype(np.int32) for Y in (task.Y, task.Y_test)]
    return Task(task.name, flat, task.X, truths[0], task.X_test, truths[1], levels, costs)


# ---- Table II ------------------------------------------------------------------------------


def predict_true(task: Task, n_rounds: int, n_trees: int) -> dict[str, tuple[Any, Any]]:
    """Return label sets and scores of all methods, each by its own rule."""
    models = {
        "H-Ada.MH": HierarchicalAdaBoostMHClassifier(
            task.hierarchy, n_estimators=n_rounds, n_jobs=2
        ),
        "Local": PerLevelClassifier(
            hierarchy=task.hierarchy,
            estimator=RandomForestClassifier(n_trees, random_state=0),
            random_state=0,
        ),
        "Global": GlobalNaiveBayes(task.hierarchy),
        "AdaBoost.MH": AdaBoostMHClassifier(task.hierarchy, n_estimators=n_rounds, n_jobs=2),
    }
    found = {}
    for name, model in models.items():
        model.fit(task.X, task.Y)
        found[name] = (model.predict(task.X_test), model.predict_proba(task.X_test))
    return found


def predict_merged(task: Task, n_rounds: int, n_trees: int) -> dict[str, Any]:
    """Return one class of each level by all methods; H-Ada.MH has only its costs left."""
    rounds = {"n_estimators": n_rounds, "n_jobs": 2}
    boosted = HierarchicalAdaBoostMHClassifier(task.hierarchy, costs=task.costs, **rounds)
    as_published = AdaBoostMHClassifier(task.hierarchy, max_bins=10, **rounds)
    bayes = GlobalNaiveBayes(task.hierarchy).fit(task.X, task.Y)
    found = {}
    for name, model in (("H-Ada.MH", boosted), ("published", as_published)):
        margins = model.fit(task.X, task.Y).decision_function(task.X_test)
        found[name] = task.one_per_level(margins)
    local = np.zeros(task.Y_test.shape, dtype=np.int32)
    for columns in task.levels:
        rows = np.asarray(task.Y[:, columns].sum(axis=1) > 0)
        classes = task.Y[:, columns].toarray()[rows].argmax(axis=1)
        forest = RandomForestClassifier(n_trees, random_state=0).fit(task.X[rows], classes)
        local[np.arange(len(local)), columns[forest.predict(task.X_test)]] = 1
    found["Local"] = local
    found["Global"] = task.one_per_level(bayes.predict_joint_log_proba(task.X_test))
    return found


def print_table_two(task: Task, encoding: str, predictions: dict[str, Any]) -> dict[str, Any]:
    """Print our measures beside the paper's."""
    ours = {name: task.figures(predicted) for name, predicted in predictions.items()}
    paper = ("H-Ada.MH", "Local", "Global")
    others = [name for name in ours if name not in paper]
    print(f"\n{task.name}, {encoding} encoding, {task.Y.shape[1]} classes")
    heading = ["measure"]
    for name in paper:
        heading += [name, "paper"]
    rows = [heading + others]
    for k, measure in enumerate(MEASURES):
        row = [measure]
        for name, published in zip(paper, PAPER[task.name][k], strict=True):
            row += [f"{ours[name][measure]:.4f}", f"{published:.4f}"]
        rows.append(row + [f"{ours[name][measure]:.4f}" for name in others])
    print_table(rows)
    return ours


def print_figures(task: Task, found: dict[str, tuple[Any, Any]]) -> dict[str, Any]:
    """Print top-k and per-level accuracy, the paper's Figures 5 and 6."""
    figures = {}
    rows = [["method", "top-k", *(f"level {k + 1}" for k in range(task.hierarchy.depth))]]
    for name, (predicted, scores) in found.items():
        top = top_k_accuracy(task.Y_test, scores, hierarchy=task.hierarchy)
        levels = level_accuracy(task.Y_test, predicted, hierarchy=task.hierarchy).tolist()
        figures[name] = {"top_k": top, "levels": levels}
        rows.append([name, f"{top:.4f}", *(f"{value:.4f}" for value in levels)])
    print()
    print_table(rows)
    return figures


# ---- curves and ablation -------------------------------------------------------------------


def staged_losses(task: Task, model: Any) -> dict[int, dict[str, float]]:
    """Return the test losses of closed label sets after every tenth round and some others."""
    measures: dict[str, Callable[..., float]] = {
        "hierarchical": hierarchical_hamming_loss,
        "hamming": hamming_loss,
        "H-F": hierarchical_f1,
    }
    losses = {}
    for k, predicted in enumerate(model.staged_predict(task.X_test), start=1):
        if k in STAGES or k % 10 == 0 or k == model.n_rounds_:
            losses[k] = {
                name: measure(task.Y_test, predicted, hierarchy=task.hierarchy)
                for name, measure in measures.items()
            }
    return losses


def run_ablation(task: Task, n_rounds: int) -> dict[str, Any]:
    """Learn with each set of changes, and print the error against the number of rounds."""
    stages = [stage for stage in STAGES if stage <= n_rounds]
    rows = [["hierarchy-aware Hamming loss after", *map(str, stages), "rounds", "relaxed", "H-F"]]
    found = {}
    for name, changes in ABLATION.items():
        model = HierarchicalAdaBoostMHClassifier(
            task.hierarchy, n_estimators=n_rounds, n_jobs=2, **changes
        ).fit(task.X, task.Y)
        losses = staged_losses(task, model)
        relaxed = int(model.relaxed_.sum())
        rows.append(
            [
                name,
                *(f"{losses[k]['hierarchical']:.4f}" if k in losses else "–" for k in stages),
                str(model.n_rounds_),
                str(relaxed),
                f"{losses[model.n_rounds_]['H-F']:.4f}",
            ]
        )
        found[name] = {"losses": losses, "relaxed": relaxed, "reason": model.stop_reason_}
    print(f"\n{task.name}, test error against rounds, and the ablation of the three changes")
    print_table(rows)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Print all tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chelmis2021", description=__doc__)
    parser.add_argument("--sets", nargs="+", default=list(ROUNDS), choices=list(ROUNDS))
    parser.add_argument("--rounds", type=int, help="instead of the paper's 600, 600 and 200")
    parser.add_argument("--trees", type=int, default=100, help="of a random forest")
    parser.add_argument("--without", nargs="+", default=[], choices=("tables", "curves"))
    options = parser.parse_args(arguments)
    folder = BUILD / "benchmarks"
    folder.mkdir(parents=True, exist_ok=True)
    report: dict[str, Any] = {"machine": describe_machine()}
    for name in options.sets:
        n_rounds = options.rounds or ROUNDS[name]
        task = true_task(name)
        found: dict[str, Any] = {"rounds": n_rounds}
        if "tables" not in options.without:
            predictions = predict_true(task, n_rounds, options.trees)
            sets = {method: predicted for method, (predicted, _) in predictions.items()}
            found["true"] = print_table_two(task, "true", sets)
            found["figures"] = print_figures(task, predictions)
            merged = merged_task(task)
            found["merged"] = print_table_two(
                merged, "merged", predict_merged(merged, n_rounds, options.trees)
            )
        if "curves" not in options.without:
            found["ablation"] = run_ablation(task, n_rounds)
        report[name] = found
        (folder / "chelmis2021.json").write_text(json.dumps(report, indent=1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
