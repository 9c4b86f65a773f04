"""Run the unfinished cells of a study in parallel, and store each finished cell in a file."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from joblib import delayed, effective_n_jobs

from ramify._parallel import in_parallel
from ramify._progress import track
from ramify.apps.studies.cell import higher_is_better, run_cell
from ramify.apps.studies.data import digest_data
from ramify.apps.studies.plan import Cell, DataSpec, Study
from ramify.apps.studies.results import StudyResults
from ramify.apps.studies.store import RESULTS_VERSION, Store, cell_key, versions


@dataclass(frozen=True)
class _Work:
    """The cells of a study by key, and the reasons why data sets are missing."""

    cells: dict[str, Cell]
    missing: dict[str, str]
    digests: dict[str, str]

    def __or__(self, other: _Work) -> _Work:
        """Add the cells of other data sets."""
        return _Work(
            self.cells | other.cells, self.missing | other.missing, self.digests | other.digests
        )


def run_study(
    study: Study,
    out: str | Path,
    *,
    only: Sequence[str] = (),
    n_jobs: int = 1,
    progress: bool = False,
) -> StudyResults:
    """Run the cells of a study that have no result yet, and return all results.

    Each finished cell is written immediately. The same call resumes an interrupted or killed run;
    only the cells that were running at that moment are run again.

    Parameters
    ----------
    study : Study
        A study returned by `load_study` or `make_study`.
    out : path
        The folder of results.
    only : sequence of str
        Data sets or families to run; if empty, all. Results of other data sets that are already in
        the folder are returned too.
    n_jobs : int
        Number of cells to run at the same time, through joblib; -1 means all cores.
        ``joblib.parallel_config("dask")`` runs them on a cluster. Each cell uses one thread, which
        makes learning times comparable.
    progress : bool
        Whether to show a progress bar.

    Returns
    -------
    StudyResults
        The results, including failed cells.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from ramify.studies import make_study, run_study
    >>> study = make_study({
    ...     "name": "first", "datasets": [{"name": "animals"}], "protocol": {"folds": 2},
    ...     "models": [{"name": "forest", "model": "forest", "parameters": {"n_estimators": 9}},
    ...                {"name": "shares", "model": "shares"}],
    ...     "measures": {"auprc": {"measure": "pooled_auprc"}}})
    >>> with TemporaryDirectory() as folder:
    ...     results = run_study(study, folder)
    >>> results.mean("auprc", "animals", "forest") > results.mean("auprc", "animals", "shares")
    True
    """
    store = Store(Path(out))
    store.prepare()
    work = _plan(study.on(only))
    earlier = _earlier(study, work, store)
    store.write_study(_facts(study, work | earlier))
    done = store.done(_places(work.cells))
    waiting = {key: cell for key, cell in work.cells.items() if key not in done}
    with closing(_run(study, waiting, n_jobs)) as found:
        for record in track(found, len(waiting), f"Study {study.name}", shown=progress):
            store.write(record)
    return StudyResults.read(store.folder)


def _plan(study: Study) -> _Work:
    """Find the cells, and the data sets that are not available, before anything is run."""
    cells: dict[str, Cell] = {}
    missing: dict[str, str] = {}
    digests: dict[str, str] = {}
    for data in study.data:
        reason = data.missing
        if reason is None:
            try:
                digests[data.name] = digest_data(data)
            except (OSError, ImportError) as error:
                reason = str(error)
        if reason is not None:
            missing[data.name] = reason
            continue
        digest = digests[data.name]
        cells |= {cell_key(study, cell, digest): cell for cell in study.cells(data)}
    return _Work(cells, missing, digests)


def _earlier(study: Study, work: _Work, store: Store) -> _Work:
    """Find the cells of data sets that are not run now but have results of this study."""
    found = _Work({}, {}, {})
    others = [data for data in study.data if data.name not in work.digests | work.missing]
    for data in others:
        there = _plan(replace(study, data=(data,)))
        if store.done(_places(there.cells)):
            found |= there
    return found


def _run(study: Study, cells: dict[str, Cell], n_jobs: int) -> Generator[dict[str, Any]]:
    """Yield results in the order in which cells finish, to store each immediately."""
    if effective_n_jobs(n_jobs) == 1:
        for key, cell in cells.items():
            yield run_cell(study, cell, key)
        return
    tasks = (delayed(run_cell)(study, cell, key) for key, cell in cells.items())
    yield from in_parallel(tasks, n_jobs=n_jobs, ordered=False)


def _facts(study: Study, work: _Work) -> dict[str, Any]:
    """Return everything that the reports need apart from the cells."""
    return {
        "name": study.name,
        "title": study.title,
        "text": study.text,
        "quick": study.quick,
        "seed": study.seed,
        "protocol": str(study.protocol),
        "alpha": study.alpha,
        "posthoc": study.posthoc,
        "groups": {name: list(group) for name, group in study.groups.items()},
        "claims": [asdict(claim) for claim in study.claims],
        "reference": [dict(row) for row in study.reference],
        "reference_name": study.reference_name,
        "datasets": [
            _data_facts(data, work)
            for data in study.data
            if data.name in work.digests or data.name in work.missing
        ],
        "models": [
            {"name": model.name, "title": model.title, **model.settings()}
            for model in study.models
        ],
        "measures": [
            {
                "name": measure.name,
                "title": measure.title,
                "higher_is_better": higher_is_better(measure),
                **measure.settings(),
            }
            for measure in study.measures
        ],
        "curves": [
            {
                "name": curve.name,
                "title": curve.title,
                "x_title": curve.x_title,
                "log": curve.log,
                **curve.settings(),
            }
            for curve in study.curves
        ],
        "results_version": RESULTS_VERSION,
        "versions": versions(),
        "cells": _places(work.cells),
    }


def _places(cells: Mapping[str, Cell]) -> dict[str, list[Any]]:
    return {
        key: [cell.data.name, cell.model.name, cell.repeat, cell.fold]
        for key, cell in cells.items()
    }


def _data_facts(data: DataSpec, work: _Work) -> dict[str, Any]:
    return {
        "name": data.name,
        "title": data.title,
        "note": data.note,
        "protocol": "" if data.protocol is None else str(data.protocol),
        "family": data.family,
        "without": dict(data.without),
        "max_level": data.max_level,
        "missing": work.missing.get(data.name),
        "digest": work.digests.get(data.name),
    }
