"""Stored results: a value for every quantity, model, data set and fold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify.apps.studies.claims import COSTS, Quantity
from ramify.apps.studies.store import Store


class StudyResults:
    """The results of one study in a folder.

    Parameters
    ----------
    study : dict
        The facts of ``study.json``.
    cells : list of dict
        Finished cells, in the order of the study.
    failures : list of dict
        Failed cells.

    Attributes
    ----------
    study, cells, failures
        As given.
    n_waiting : int
        Number of cells that have not run yet.
    """

    def __init__(
        self, study: dict[str, Any], cells: list[dict[str, Any]], failures: list[dict[str, Any]]
    ) -> None:
        self.study = study
        self.cells = cells
        self.failures = failures
        self.n_waiting = len(study["cells"]) - len(cells) - len(failures)
        self._by_place: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
        for cell in cells:
            self._by_place[cell["dataset"], cell["model"]].append(cell)

    @classmethod
    def read(cls, folder: str | Path) -> StudyResults:
        """Read the results of a study; cells of other studies in the folder are left out.

        Parameters
        ----------
        folder : path
            The folder passed to `run_study` as `out`.

        Returns
        -------
        StudyResults
            The results.
        """
        store = Store(Path(folder))
        study = store.read_study()
        cells, failures = [], []
        for key, place in study["cells"].items():
            record = store.read(key, place)
            failure = store.read(key, place, failed=True) if record is None else None
            if record is not None:
                cells.append(record)
            elif failure is not None:
                failures.append(failure)
        order = {key: place for place, key in enumerate(_in_order(study))}
        cells.sort(key=lambda cell: order[cell["key"]])
        failures.sort(key=lambda cell: order[cell["key"]])
        return cls(study, cells, failures)

    @property
    def datasets(self) -> list[dict[str, Any]]:
        """Data sets with results, in the order of the study."""
        found = {cell["dataset"] for cell in self.cells}
        return [data for data in self.study["datasets"] if data["name"] in found]

    @property
    def missing(self) -> list[dict[str, Any]]:
        """Data sets that are not available, with the reason under "missing"."""
        return [data for data in self.study["datasets"] if data["missing"]]

    @property
    def family(self) -> str:
        """The family of data sets of these results; if empty, all data sets."""
        return str(self.study.get("part", ""))

    def parts(self) -> list[StudyResults]:
        """Return the results of every family of data sets; only itself if there are no families.

        Returns
        -------
        list of StudyResults
            Each with the models that are run on its data sets.
        """
        families = list(dict.fromkeys(data.get("family", "") for data in self.datasets))
        return [self] if families in ([], [""]) else [self.part(one) for one in families]

    def part(self, family: str) -> StudyResults:
        """Return the results of one family of data sets.

        Parameters
        ----------
        family : str
            Its name.

        Returns
        -------
        StudyResults
            With the models that are run on its data sets.
        """
        data = self.study["datasets"]
        found = self.on([one["name"] for one in data if one.get("family", "") == family])
        planned = {place[1] for place in found.study["cells"].values()}
        groups = {
            group: [model for model in models if model in planned]
            for group, models in self.study["groups"].items()
        }
        study = {
            **found.study,
            "part": family,
            "models": [model for model in self.models if model["name"] in planned],
            "groups": {group: models for group, models in groups.items() if models},
        }
        return StudyResults(study, found.cells, found.failures)

    def on(self, names: Sequence[str]) -> StudyResults:
        """Return the results on some data sets.

        Parameters
        ----------
        names : sequence of str
            Names of data sets.

        Returns
        -------
        StudyResults
            With all models.
        """
        places = self.study["cells"]
        study = {
            **self.study,
            "datasets": [one for one in self.study["datasets"] if one["name"] in names],
            "cells": {key: place for key, place in places.items() if place[0] in names},
        }
        cells, failures = (
            [cell for cell in found if cell["dataset"] in names]
            for found in (self.cells, self.failures)
        )
        return StudyResults(study, cells, failures)

    @property
    def models(self) -> list[dict[str, Any]]:
        """Models, in the order of the study."""
        return list(self.study["models"])

    @property
    def published(self) -> dict[tuple[str, str, str], float]:
        """Published figures by data set, model and quantity."""
        return {
            (row["dataset"], row["model"], row["quantity"]): row["value"]
            for row in self.study["reference"]
        }

    @property
    def measures(self) -> list[Quantity]:
        """The study's measures."""
        return [
            Quantity(one["name"], one["title"], one["higher_is_better"], "score")
            for one in self.study["measures"]
        ]

    @property
    def costs(self) -> list[Quantity]:
        """Overfit scores, learning time, size and memory."""
        found = [
            Quantity(f"overfit:{one['name']}", f"overfit score ({one['title']})", False, "overfit")
            for one in self.study["measures"]
            if one["train"]
        ]
        return [*found, *COSTS]

    def quantity(self, name: str) -> Quantity:
        """Return a measure or cost by name.

        Parameters
        ----------
        name : str
            Such as "fit_cpu_seconds".

        Returns
        -------
        Quantity
            The quantity with that name.
        """
        return next(one for one in (*self.measures, *self.costs) if one.name == name)

    def cells_of(self, data: str, model: str) -> list[dict[str, Any]]:
        """Return the finished cells of a model on a data set.

        Parameters
        ----------
        data, model : str
            Names.

        Returns
        -------
        list of dict
            In the order of repeats and folds.
        """
        return self._by_place.get((data, model), [])

    def folds(self, quantity: str, data: str, model: str) -> NDArray[np.float64]:
        """Return a quantity in every finished fold.

        Parameters
        ----------
        quantity, data, model : str
            Names.

        Returns
        -------
        ndarray of shape (n_folds,)
            NaN where it is not defined.
        """
        cells = self.cells_of(data, model)
        return np.array([_figure(cell, quantity) for cell in cells], dtype=np.float64)

    def mean(self, quantity: str, data: str, model: str) -> float:
        """Return the mean of a quantity over the folds; NaN if there is none.

        Parameters
        ----------
        quantity, data, model : str
            Names.

        Returns
        -------
        float
            The mean over the folds in which it is defined.
        """
        values = self._defined(quantity, data, model)
        return float(values.mean()) if values.size else float("nan")

    def spread(self, quantity: str, data: str, model: str) -> float:
        """Return the standard deviation of a quantity over the folds.

        Parameters
        ----------
        quantity, data, model : str
            Names.

        Returns
        -------
        float
            NaN with fewer than two folds.
        """
        values = self._defined(quantity, data, model)
        return float(values.std(ddof=1)) if values.size > 1 else float("nan")

    def _defined(self, quantity: str, data: str, model: str) -> NDArray[np.float64]:
        values = self.folds(quantity, data, model)
        return values[np.isfinite(values)]

    def block(self, quantity: str, data: str, models: list[str]) -> NDArray[np.float64]:
        """Return a row for each fold that all models have finished, and a column for each model.

        Parameters
        ----------
        quantity, data : str
            Names.
        models : list of str
            The columns.

        Returns
        -------
        ndarray of shape (n_folds, n_models)
            Figures of the same folds side by side.
        """
        columns = [
            {
                (cell["repeat"], cell["fold"]): _figure(cell, quantity)
                for cell in self.cells_of(data, model)
            }
            for model in models
        ]
        shared = sorted(set.intersection(*map(set, columns))) if columns else []
        return np.array([[column[fold] for column in columns] for fold in shared]).reshape(
            len(shared), len(models)
        )

    def planned(self, data: str) -> set[str]:
        """Return the models that are run on a data set.

        Parameters
        ----------
        data : str
            Its name.

        Returns
        -------
        set of str
            Their names, whether or not they are finished.
        """
        return {place[1] for place in self.study["cells"].values() if place[0] == data}

    def complete(self, data: str, model: str) -> bool:
        """Return whether all folds of a model on a data set are finished.

        Parameters
        ----------
        data, model : str
            Names.

        Returns
        -------
        bool
            False where some failed or have not run.
        """
        planned = sum(place[:2] == [data, model] for place in self.study["cells"].values())
        return bool(len(self.cells_of(data, model)) == planned)


def _in_order(study: dict[str, Any]) -> list[str]:
    """Return keys by data set, model, repeat and fold: cells run fold by fold."""
    data = {one["name"]: place for place, one in enumerate(study["datasets"])}
    models = {one["name"]: place for place, one in enumerate(study["models"])}
    places = study["cells"]
    return sorted(
        places,
        key=lambda k: (data[places[k][0]], models[places[k][1]], places[k][2], places[k][3]),
    )


def _figure(cell: dict[str, Any], quantity: str) -> float:
    if quantity in cell.get("scores", {}):
        value = cell["scores"][quantity]
    elif quantity.startswith("overfit:"):
        value = cell.get("overfit", {}).get(quantity.removeprefix("overfit:"))
    else:
        value = cell.get(quantity)
    return float("nan") if value is None else float(value)
