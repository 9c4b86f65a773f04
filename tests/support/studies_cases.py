"""Small studies, and stored results with fixed numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ramify.apps.studies.cell import higher_is_better
from ramify.apps.studies.plan import Study
from ramify.studies import StudyResults, make_study, run_study

TIMES = (
    "seconds",
    "cpu_seconds",
    "fit_seconds",
    "fit_cpu_seconds",
    "predict_seconds",
    "peak_memory_mb",
)

MODELS: list[dict[str, Any]] = [
    {"name": "shares", "title": "label shares", "model": "shares"},
    {"name": "tree", "title": "one tree", "model": "tree", "parameters": {"max_depth": 3}},
    {
        "name": "edges",
        "title": "a tree per edge",
        "model": "per-edge",
        "inside": {"model": "tree", "parameters": {"max_depth": 2}},
    },
]


def tables(**changes: Any) -> dict[str, Any]:
    """Return the tables of a small study of the animals."""
    return {
        "name": "small",
        "title": "A small study",
        "datasets": [{"name": "animals", "title": "Animals"}],
        "models": MODELS,
        "measures": {
            "auprc": {"measure": "pooled_auprc", "title": "pooled AU(PRC)", "train": True},
            "loss": {"measure": "hmc_loss", "title": "HMC loss"},
        },
        "protocol": {"folds": 3},
        **changes,
    }


def small(**changes: Any) -> Study:
    return make_study(tables(**changes))


def without_times(record: dict[str, Any]) -> dict[str, Any]:
    """Return the part of a record that must not differ between runs."""
    return {name: value for name, value in record.items() if name not in (*TIMES, "started")}


def stored_record(key: str, **changes: Any) -> dict[str, Any]:
    """Return the record of a finished cell without scores."""
    sizes = dict.fromkeys(("rows", "features", "labels", "leaves", "levels"), 3)
    return {
        "key": key,
        "dataset": "animals",
        "model": "tree",
        "repeat": 0,
        "fold": 0,
        "seed": 1,
        "status": "done",
        "started": "",
        "seconds": 0.1,
        "cpu_seconds": 0.1,
        "scores": {},
        "overfit": {},
        "chosen": {},
        "fit_cpu_seconds": 0.1,
        "complexity": 1,
        "n_train": 2,
        "n_test": 1,
        "peak_memory_mb": 9.0,
        "data": {**sizes, "leaf_labels_per_row": 1.0},
        **changes,
    }


def results_of_cells(
    study: Study, cells: Mapping[tuple[str, str], Mapping[str, Any]]
) -> StudyResults:
    """Return the results of a study, given the figures of one cell per data set and model."""
    places = {f"{data} {model}": [data, model, 0, 0] for data, model in cells}
    facts = {
        "alpha": study.alpha,
        "posthoc": study.posthoc,
        "groups": {},
        "claims": [asdict(claim) for claim in study.claims],
        "reference": [],
        "datasets": [asdict(data) for data in study.data],
        "models": [asdict(model) for model in study.models],
        "measures": [
            {**asdict(measure), "higher_is_better": higher_is_better(measure)}
            for measure in study.measures
        ],
        "cells": places,
    }
    records = [
        {"key": key, "dataset": data, "model": model, "repeat": 0, "fold": 0, **figures}
        for key, ((data, model), figures) in zip(places, cells.items(), strict=True)
    ]
    return StudyResults(facts, records, [])


def stored(folder: Path) -> dict[str, dict[str, Any]]:
    """Read the records of all finished cells in a folder."""
    paths = sorted((folder / "cells").glob("*.json"))
    return {path.stem: json.loads(path.read_text("utf-8")) for path in paths}


def settled_results(folder: Path, **changes: Any) -> Path:
    """Run a small study, and replace its numbers by values that depend only on the cells."""
    study = small(**changes)
    run_study(study, folder)
    facts = json.loads((folder / "study.json").read_text("utf-8"))
    facts |= {"results_version": 1, "versions": {"python": "3", "ramify": "0"}}
    (folder / "study.json").write_text(json.dumps(facts), "utf-8")
    models = [model.name for model in study.models]
    data = [one.name for one in study.data]
    for key, record in stored(folder).items():
        place = 10 * models.index(record["model"]) + record["fold"] + data.index(record["dataset"])
        value = 0.4 + place / 100
        record |= {name: float(1 + place) for name in TIMES}
        record |= {
            "scores": {"auprc": value, "loss": 1 - value},
            "overfit": {"auprc": 0.5 - place / 100},
            "complexity": None if record["model"] == "shares" else 100 + place,
            "started": "2020-01-01T00:00:00+00:00",
        }
        (folder / "cells" / f"{key}.json").write_text(json.dumps(record), "utf-8")
    return folder
