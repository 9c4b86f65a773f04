"""HSC models of levatic2015 with smoothed leaves, as with CLUS's option MEstimate.

``python -m benchmarks.smoothed_leaves imclef07d --folds 10`` fits the HSC models of the study and
scores them without and with ``smoothing=1``, which makes a leaf with k positive rows out of n
predict (k + p) / (n + 1), where p is the share at the root. The paper does not mention smoothing;
that its HSC models have it is our reading. Trees have the same level of the F-test at all edges,
and all levels are tried. Numbers of nodes and scores are means over folds; overfit scores are in
brackets.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.tree_sizes import LEVELS, QUICK, count_nodes, published
from ramify.metrics import overfit_score, pooled_auprc
from ramify.studies import Study, load_study
from ramify.studies.data import StudyData, load_data, split_rows
from ramify.studies.models import build, take
from ramify.studies.plan import Cell, ModelSpec

MODELS = ("hsc-tree", "hsc-forest", "hsc-bagging")
GRID = np.linspace(0.0, 1.0, 51)

Scores = dict[str, tuple[float, float]]
"""The score and the overfit score, without ("plain") and with smoothing ("smoothed")."""


def score(data: StudyData, rows: NDArray[np.intp], predicted: NDArray[np.float64]) -> float:
    """Return the measure of the study."""
    return float(
        pooled_auprc(
            data.y[rows],
            predicted,
            hierarchy=data.hierarchy,
            labels="leaves",
            thresholds=GRID,
            interpolation="linear",
        )
    )


def run(study: Study, cell: Cell) -> tuple[int, Scores]:
    """Fit one model on one fold; return the number of nodes of its trees and its scores."""
    data = load_data(cell.data)
    protocol = study.protocol_of(cell.data)
    train, test = split_rows(data, protocol, cell.repeat, cell.fold, study.seed)
    parts = [(rows, take(data.X, rows)) for rows in (train, test)]
    found: Scores = {}
    for name, smoothing in (("plain", 0.0), ("smoothed", 1.0)):
        model = build(with_parameter(cell.model, "smoothing", smoothing), data, cell.seed)
        model.fit(parts[0][1], data.y[train])
        seen, unseen = (score(data, rows, model.predict_proba(X)) for rows, X in parts)
        found[name] = unseen, overfit_score(seen, unseen)
    return count_nodes(model), found


def with_parameter(model: ModelSpec, name: str, value: Any) -> ModelSpec:
    """Return the same model with another parameter of its local models."""
    assert model.inside is not None
    parameters = {**model.inside.parameters, name: value}
    return replace(model, inside=replace(model.inside, parameters=parameters))


def variants(model: ModelSpec) -> Iterator[tuple[str, ModelSpec]]:
    """Yield the names and models to fit: trees by level of the F-test, ensembles by variance."""
    name, values = ("f_test", LEVELS) if model.name == "hsc-tree" else ("criterion", ("variance",))
    for value in values:
        yield f"{model.title}, {value}", with_parameter(model, name, value)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the mean scores of each model on each data set."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.smoothed_leaves", description=__doc__
    )
    parser.add_argument("datasets", nargs="*", default=QUICK)
    parser.add_argument("--folds", type=int, default=10, help="how many of the ten folds to run")
    parser.add_argument("--models", nargs="*", choices=MODELS, default=MODELS)
    options = parser.parse_args(arguments)
    study = load_study("levatic2015").on(options.datasets)
    score_of, overfit_of = published("auprc"), published("overfit:auprc")
    print(f"{'data set':18} {'model':21} {'nodes':>7} {'plain':>13} {'smoothed':>13} published")
    for data in study.data:
        by_model: dict[str, list[Cell]] = defaultdict(list)
        for cell in study.cells(data):
            if cell.model.name in options.models and cell.fold < options.folds:
                for title, model in variants(cell.model):
                    by_model[title].append(replace(cell, model=model))
        for title, cells in by_model.items():
            nodes, found = zip(*(run(study, cell) for cell in cells), strict=True)
            means = [
                "{:.3f} ({:.3f})".format(*np.mean([one[name] for one in found], axis=0))
                for name in ("plain", "smoothed")
            ]
            key = data.name, cells[0].model.name
            size = f"{np.mean(nodes):,.0f}" if key[1] == "hsc-tree" else ""
            print(
                f"{data.title:18} {title:21} {size:>7} {means[0]:>13} {means[1]:>13} "
                f"{score_of[key]:.3f} ({overfit_of[key]:.3f})",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
