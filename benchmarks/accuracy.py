"""Accuracy on the 20 data sets on which C-HMCNN and other neural networks are evaluated.

``python -m benchmarks.accuracy`` fits all models with five seeds and prints AU(PRC) next to the
published figures of C-HMCNN and HMCN-F. The protocol is C-HMCNN's: models are trained on the train
and valid rows together and tested on the test rows; AU(PRC) is the average precision over all
pairs of a row and a label, without the three roots of the Gene Ontology. Missing values are passed
to the models as they are.

Every model has one configuration for all data sets (`MODELS`). Boosting and the larger extra trees
use the first 20 principal components of the numeric columns as additional features. "3 × boosting"
is the mean of three models with different seeds, and "vote" the weighted mean of these three, the
larger extra trees and ML-kNN with the cosine distance between standardised columns, which is a
different kind of model. The number of boosting rounds and the weights of the vote are chosen by
training on the train rows and scoring on the valid rows, or on a fifth of the training rows where
no valid rows are published. In the same way, one model is chosen for each data set: the one with
the largest mean score on these rows over all seeds. No choice uses test rows. "Boosting by
default" and "blend", which is `ramify.BlendClassifier`, have no settings and get the training rows
alone: they hold out rows themselves.

``--draw K`` divides the rows of each data set anew, with K as the seed: as many train, valid and
test rows as in the published division, which some settings were chosen on. There are no published
figures for these rows.

Each result is a file in the output folder, named after the set, the model, the seed and a digest
of settings and versions, and is not computed again: a run that was stopped continues where it left
off, and several runs can share a folder. Tables (Markdown and CSV) and a plot are written to the
same folder. Times are CPU seconds.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import ramify
from benchmarks import accuracy_report
from benchmarks.accuracy_protocol import HELD_OUT, Fits, Model, load_split
from benchmarks.clus import describe_machine
from ramify._progress import track
from ramify.apps.studies.store import RESULTS_VERSION
from ramify.datasets.registry import find_entry
from ramify.io.files import replacing

FUNCAT = ("cellcycle", "derisi", "eisen", "expr", "gasch1", "gasch2", "seq", "spo")
SETS = (
    *(f"{name}_FUN" for name in FUNCAT),
    *(f"{name}_GO" for name in FUNCAT),
    *("enron_hmc", "diatoms", "imclef07a", "imclef07d"),
)
QUICK = ("derisi_FUN", "enron_hmc")
PACKAGES = ("numpy", "scipy", "scikit-learn")


MODELS = {
    "label-shares": Model("label shares", "LabelShares", candidate=False),
    "clus": Model(
        # Equal to CLUS's forest tree by tree: see benchmarks.forest_quality.
        "CLUS forest",
        "PCTForestClassifier",
        {"n_estimators": 100, "max_features": "sqrt", "min_weight": 5, "clus_compat": True},
        candidate=False,
    ),
    "forest": Model("forest", "PCTForestClassifier", {"n_estimators": 100}),
    "extra-trees": Model(
        "extra trees", "PCTExtraTreesClassifier", {"n_estimators": 100, "min_samples_leaf": 2}
    ),
    "larger-extra-trees": Model(
        "larger extra trees",
        "PCTExtraTreesClassifier",
        {"n_estimators": 200, "max_features": 0.5, "min_samples_leaf": 3, "w0": 1.0},
        n_components=20,
    ),
    "boosting": Model(
        "boosting",
        "PCTGradientBoostingClassifier",
        {"learning_rate": 0.03, "max_iter": 5_000, "early_stopping": False},
        step=50,
        patience=200,
        n_components=20,
    ),
    "neighbours": Model(
        "neighbours",
        "MLkNN",
        {"n_neighbors": 10, "metric": "cosine"},
        standardised=True,
        seeded=False,
    ),
    "boosting-3": Model("3 × boosting", members=tuple(("boosting", k) for k in range(3))),
    "vote": Model(
        "vote",
        members=(
            *(("boosting", k) for k in range(3)),
            ("larger-extra-trees", 0),
            ("neighbours", 0),
        ),
        weigh=True,
    ),
    "default": Model("boosting by default", "PCTGradientBoostingClassifier", candidate=False),
    "blend": Model("blend", "BlendClassifier", candidate=False),
}


@dataclass(frozen=True)
class Cell:
    """One result: a model on a data set with a seed."""

    set: str
    model: str
    seed: int
    draw: int | None = None  # None for the published division of the rows


class Results:
    """A folder with one file per result, whose name ends in a digest of settings and versions."""

    def __init__(self, folder: Path, models: dict[str, Model]) -> None:
        self.folder = folder
        self.models = models

    def path(self, cell: Cell) -> Path:
        """Return the file of a result."""
        settings = settings_of(cell, self.models)
        packages = [version(name) for name in PACKAGES]
        digest = short_digest([settings, RESULTS_VERSION, packages])
        drawn = "" if cell.draw is None else f"-draw{cell.draw}"
        name = f"{cell.set}{drawn}-{cell.model}-{cell.seed}-{digest}.json"
        return self.folder / "cells" / name

    def read(self, cell: Cell) -> dict[str, Any] | None:
        """Return a result, None if there is none."""
        path = self.path(cell)
        return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None

    def write(self, cell: Cell, record: dict[str, Any]) -> None:
        """Write a result atomically."""
        path = self.path(cell)
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as temporary:
            temporary.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def short_digest(content: Any) -> str:
    """Return ten hexadecimal digits."""
    text = json.dumps(content, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def parts_of(model: Model, models: dict[str, Model]) -> list[Model]:
    """Return the members of a vote, or the model itself."""
    return [models[name] for name, _ in model.members] or [model]


def is_available(model: Model, models: dict[str, Model]) -> bool:
    """Tell whether this version of ramify has the estimators of a model."""
    names = [part.estimator for part in parts_of(model, models)]
    return all(name == "LabelShares" or hasattr(ramify, name) for name in names)


def shrink(model: Model) -> Model:
    """Return the same model with a tenth of the trees, for a quick look."""
    sizes = {
        name: value // 10
        for name, value in model.parameters.items()
        if name in ("n_estimators", "max_iter")
    }
    return replace(model, parameters=model.parameters | sizes, step=model.step // 5)


def settings_of(cell: Cell, models: dict[str, Model]) -> list[Any]:
    """Return everything that a result depends on, apart from the code."""
    parts = parts_of(models[cell.model], models)
    configurations = [
        [part.estimator, part.parameters, part.step, part.patience, part.n_components]
        + [part.standardised] * part.standardised
        for part in parts
    ]
    weigh = models[cell.model].weigh
    return [data_digest(cell.set), configurations, weigh, HELD_OUT, cell.seed]


@cache
def data_digest(name: str) -> list[str]:
    """Return the checksums of the files of a data set."""
    return sorted(file.text_sha256 for file in find_entry(name).files)


def run_cell(cell: Cell, fits: Fits) -> dict[str, Any]:
    """Fit one model and return its scores and times."""
    split, model = fits.split, fits.models[cell.model]
    start = time.perf_counter()
    record: dict[str, Any] = {"set": cell.set, "model": cell.model, "seed": cell.seed}
    if model.candidate:
        valid = fits.valid(cell.model, cell.seed)
        record["valid_auprc"] = split.score(split.valid, valid.probabilities)
        record["choice_s"] = valid.fit_s + valid.predict_s
    test = fits.test(cell.model, cell.seed)
    return record | {
        "test_auprc": split.score(split.test, test.probabilities),
        "rounds": test.rounds,
        "weights": test.weights,
        "fit_s": test.fit_s,
        "predict_s": test.predict_s,
        "wall_s": time.perf_counter() - start,
        "n_labels": int(split.scored.sum()),
        "n_train": split.train.Y.shape[0],
        "finished": time.strftime("%Y-%m-%d %H:%M:%S"),
    }


def run(cells: Sequence[Cell], results: Results, options: argparse.Namespace) -> Iterator[Cell]:
    """Compute the results that do not exist yet, those of one data set together."""
    known = ""
    for cell in cells:
        if known != cell.set:
            known = cell.set
            split = load_split(cell.set, cell.draw)
            fits = Fits(split, results.models, options.seeds, options.jobs)
        results.write(cell, run_cell(cell, fits))
        yield cell


def parse_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.accuracy",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--datasets", nargs="+", choices=SETS, metavar="SET", help="some of the data sets"
    )
    parser.add_argument("--models", nargs="+", choices=MODELS, help="some of the models")
    parser.add_argument("--seeds", type=int, default=5, help="number of seeds (default 5)")
    parser.add_argument("--jobs", type=int, default=2, help="threads (default 2)")
    parser.add_argument(
        "--draw", type=int, metavar="K", help="divide the rows anew, with K as the seed"
    )
    parser.add_argument(
        "--output", type=Path, default=Path("results/accuracy"), help="folder of the results"
    )
    parser.add_argument(
        "--quick", action="store_true", help="two data sets, one seed, a tenth of the trees"
    )
    parser.add_argument(
        "--report", action="store_true", help="write the tables of what is there, fit nothing"
    )
    options = parser.parse_args(arguments)
    if options.seeds < 1:
        parser.error(f"--seeds must be an integer >= 1, got {options.seeds}.")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the tables and return the number of requirements missed."""
    options = parse_options(arguments)
    models = {name: shrink(model) if options.quick else model for name, model in MODELS.items()}
    missing = [name for name, model in models.items() if not is_available(model, models)]
    names = [name for name in options.models or models if name not in missing]
    if missing:
        print(f"not in this version of ramify, left out: {', '.join(missing)}", file=sys.stderr)
    seeds = range(1 if options.quick else options.seeds)
    sets = options.datasets or (QUICK if options.quick else SETS)
    cells = [
        Cell(name, model, seed, options.draw) for name in sets for seed in seeds for model in names
    ]
    results = Results(options.output, models)
    if not options.report:
        waiting = [cell for cell in cells if results.read(cell) is None]
        print(f"{describe_machine()}; {len(waiting)} of {len(cells)} results to compute")
        for _ in track(
            run(waiting, results, options), len(waiting), "Fitting", shown=bool(waiting)
        ):
            pass
    found = [record for cell in cells if (record := results.read(cell)) is not None]
    shown = {name: models[name] for name in names}
    return accuracy_report.write(found, sets, shown, options.output, draw=options.draw)


if __name__ == "__main__":
    raise SystemExit(main())
