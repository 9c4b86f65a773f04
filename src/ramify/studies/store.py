"""Results on disk: one file for each finished cell, written atomically."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ramify.io.files import remove_stale_parts, replacing
from ramify.studies.stored_schema import check_record, check_study_facts

__all__ = ["Store"]


class Store:
    """A folder of results.

    ``study.json`` lists the cells of the study, ``cells/KEY.json`` contains the result of a cell.
    A key is a checksum of everything the result depends on. Results of other code, data or
    settings can therefore be in the same folder without being mixed up.

    Parameters
    ----------
    folder : Path
        Created if it does not exist.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)
        self.cells = self.folder / "cells"
        self._study = self.folder / "study.json"

    def prepare(self) -> None:
        """Create the folders, and remove incomplete files of killed runs.

        Files that another run is writing now are kept.
        """
        self.cells.mkdir(parents=True, exist_ok=True)
        remove_stale_parts(self.cells)
        remove_stale_parts(self.folder)

    def write_study(self, facts: dict[str, Any]) -> None:
        """Write the description of the study.

        Parameters
        ----------
        facts : dict
            JSON-serializable.
        """
        _write(self._study, facts)

    def read_study(self) -> dict[str, Any]:
        """Return what `write_study` wrote.

        Returns
        -------
        dict
            The facts.
        """
        if not self._study.is_file():
            raise FileNotFoundError(
                f"{self.folder} contains no results of a study. Run: ramify study NAME --out "
                f"{self.folder}"
            )
        try:
            facts = json.loads(self._study.read_text(encoding="utf-8"))
            check_study_facts(facts)
        except (ValueError, RecursionError) as error:
            raise ValueError(
                f"{self._study} does not describe a study of this version of ramify: {error}. "
                f"Run the study again: ramify study NAME --out {self.folder}. Cells that this "
                "code has finished are kept."
            ) from None
        return dict(facts)

    def write(self, record: dict[str, Any]) -> None:
        """Write the result of a cell; a failure never replaces a result.

        Parameters
        ----------
        record : dict
            With "key" and "status".
        """
        failed = record["status"] == "failed"
        if failed and self.read(record["key"]) is not None:
            return
        _write(self._path(record["key"], failed), record)
        if not failed:
            self._path(record["key"], True).unlink(missing_ok=True)

    def read(
        self, key: str, place: Sequence[Any] | None = None, *, failed: bool = False
    ) -> dict[str, Any] | None:
        """Return the result of a cell, or None if there is no readable one.

        Parameters
        ----------
        key : str
            Key of the cell.
        place : sequence, optional
            Its data set, model, repeat and fold, if the record must be of them.
        failed : bool
            Whether to return its failure instead.

        Returns
        -------
        dict or None
            The record.
        """
        try:
            record = json.loads(self._path(key, failed).read_text(encoding="utf-8"))
            check_record(record, failed=failed)
        except (OSError, ValueError, RecursionError):
            return None
        found = [record[name] for name in ("dataset", "model", "repeat", "fold")]
        if record["key"] != key or (place is not None and found != list(place)):
            return None
        return dict(record)

    def done(self, places: Mapping[str, Sequence[Any]]) -> set[str]:
        """Return the cells that have results.

        Parameters
        ----------
        places : mapping of str to sequence
            Data sets, models, repeats and folds of cells by their keys.

        Returns
        -------
        set of str
            Keys of cells that need not run again; failed cells are run again.
        """
        return {key for key, place in places.items() if self.read(key, place) is not None}

    def _path(self, key: str, failed: bool) -> Path:
        return self.cells / f"{key}{'.failed' if failed else ''}.json"


def _write(path: Path, facts: dict[str, Any]) -> None:
    """Write a file atomically, even if the process is killed or the power fails."""
    text = json.dumps(_finite(facts), indent=1, ensure_ascii=False)
    with replacing(path) as temporary, temporary.open("x", encoding="utf-8") as file:
        file.write(text + "\n")
        file.flush()
        os.fsync(file.fileno())


def _finite(value: Any) -> Any:
    """Replace NaN and infinities with None, since JSON has neither."""
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
