"""Results on disk: one file for each finished cell, whole or not there."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ramify.io.files import replacing

__all__ = ["Store"]


class Store:
    """A folder of results.

    ``study.json`` says what belongs to the study, ``cells/KEY.json`` holds what was found. A
    key is the checksum of all that a result depends on, so that results of other code, data or
    settings may lie in the same folder without ever being mistaken for this study's.

    Parameters
    ----------
    folder : Path
        Made if it does not exist.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)
        self.cells = self.folder / "cells"
        self._study = self.folder / "study.json"

    def prepare(self) -> None:
        """Make the folders, and clear away what a killed run had begun to write."""
        self.cells.mkdir(parents=True, exist_ok=True)
        for part in [*self.cells.glob(".*.part"), *self.folder.glob(".*.part")]:
            part.unlink(missing_ok=True)

    def write_study(self, facts: dict[str, Any]) -> None:
        """Write which cells the study has.

        Parameters
        ----------
        facts : dict
            Ready for JSON.
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
                f"{self.folder} holds no results of a study. Run: ramify study NAME --out "
                f"{self.folder}"
            )
        return dict(json.loads(self._study.read_text(encoding="utf-8")))

    def write(self, record: dict[str, Any]) -> None:
        """Write a cell's result; a failure never takes the place of a result.

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

    def read(self, key: str, *, failed: bool = False) -> dict[str, Any] | None:
        """Return a cell's result, or None if there is none that can be read.

        Parameters
        ----------
        key : str
            The cell.
        failed : bool
            Return its failure instead.

        Returns
        -------
        dict or None
            What was written.
        """
        try:
            record = json.loads(self._path(key, failed).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return record if isinstance(record, dict) and record.get("key") == key else None

    def done(self, keys: Iterable[str]) -> set[str]:
        """Return which of the cells have results.

        Parameters
        ----------
        keys : iterable of str
            The cells.

        Returns
        -------
        set of str
            Those that need not run again; failures are tried again.
        """
        return {key for key in keys if self.read(key) is not None}

    def _path(self, key: str, failed: bool) -> Path:
        return self.cells / f"{key}{'.failed' if failed else ''}.json"


def _write(path: Path, facts: dict[str, Any]) -> None:
    """Write a file that is whole even if the process is killed or the power fails meanwhile."""
    text = json.dumps(_finite(facts), indent=1, ensure_ascii=False)
    with replacing(path) as temporary, temporary.open("x", encoding="utf-8") as file:
        file.write(text + "\n")
        file.flush()
        os.fsync(file.fileno())


def _finite(value: Any) -> Any:
    """Replace NaN and infinities, which JSON does not have, by null."""
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
