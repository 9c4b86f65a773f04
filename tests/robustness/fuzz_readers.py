"""Damage files and read them: python -m tests.robustness.fuzz_readers --n 10000.

Every format has a valid document: ARFF, CSV, spreadsheets, parquet, edges, outlines, paths, JSON
hierarchies, OBO, Mulan XML, settings for reading data, TOML studies and settings of CLUS. A
damaged document must be read, or refused with a `ValueError` that has a message and, if it is
data or a hierarchy, names the file. Any other error, a crash of the process and a document that
takes more than ten seconds are findings.
"""

from __future__ import annotations

import argparse
import importlib
import json
import logging
import random
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ramify.apps.clus.explaining import explain
from ramify.apps.reading.any_file import read_data, read_hierarchy
from ramify.apps.reading.settings import ReadingSettings
from ramify.clus import Switches, read_settings
from ramify.inspection.page.performance import Performance
from ramify.io import read_mulan
from ramify.io.files import read_utf8
from ramify.studies import load_study
from tests.support.text_damage import BINARIES, DOCUMENTS, damaged

MOST_SECONDS = 10.0


@dataclass
class Findings:
    """What happened to the damaged files.

    Attributes
    ----------
    outcomes : Counter of (str, str)
        How many files of which document were read or refused.
    findings : list of str
        All other outcomes.
    """

    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)

    def count(self, outcome: str) -> int:
        """Return the number of files with an outcome."""
        return sum(n for (_, found), n in self.outcomes.items() if found == outcome)

    def write(self) -> str:
        """Return a summary."""
        total = self.outcomes.total()
        counts = ", ".join(f"{self.count(kind)} {kind}" for kind in ("read", "refused", "found"))
        return "\n".join([f"{total} damaged files: {counts}", *self.findings[:20]])


def _read_labels(path: Path) -> Any:
    data = path.with_name("data.arff")
    header = "".join(f"@attribute l{i} {{0,1}}\n" for i in range(1, 4))
    data.write_text(f"@relation r\n@attribute x numeric\n{header}@data\n1,0,1,0\n")
    return read_mulan(data, path)


def _read_clus_settings(path: Path) -> Any:
    header = "@attribute x numeric\n@attribute name string\n"
    labels = "@attribute class hierarchical a,a/b,a/b/c\n"
    path.with_name("data.arff").write_text(f"@relation r\n{header}{labels}@data\n1,n,a/b\n2,m,a\n")
    settings = read_settings(path).supported(Switches(), ignore_unsupported=True)
    return explain(settings, Switches())


def _read_german(path: Path) -> Any:
    settings = ReadingSettings(decimal=",", thousands=".", missing=("k.A.",))
    return read_data(path, None, settings.options())


def _read_settings(path: Path) -> Any:
    return ReadingSettings.from_dict(json.loads(read_utf8(path)))


def _read_performance(path: Path) -> Any:
    return Performance.from_dict(json.loads(read_utf8(path)), 2)


def _read_sheet(path: Path) -> Any:
    """Read a spreadsheet whose sheet is the damaged file."""
    openpyxl = importlib.import_module("openpyxl")
    book, changed = path.with_name("book.xlsx"), path.with_name("changed.xlsx")
    openpyxl.Workbook().save(book)
    with zipfile.ZipFile(book) as given, zipfile.ZipFile(changed, "w") as archive:
        for name in given.namelist():
            is_sheet = name == "xl/worksheets/sheet1.xml"
            archive.writestr(name, path.read_bytes() if is_sheet else given.read(name))
    return read_data(changed)


READERS: dict[str, Callable[[Path], Any]] = {
    "german.csv": _read_german,
    "reading.json": _read_settings,
    "performance.json": _read_performance,
    "sheet.xml": _read_sheet,
    "edges.csv": read_hierarchy,
    "outline.txt": read_hierarchy,
    "paths.txt": read_hierarchy,
    "hierarchy.json": read_hierarchy,
    "terms.obo": read_hierarchy,
    "labels.xml": _read_labels,
    "study.toml": load_study,
    "settings.s": _read_clus_settings,
}


# Their readers get the content, and the caller names the file.
_PARTS = ("reading.json", "performance.json", "study.toml")


def read(name: str, path: Path) -> tuple[str, str]:
    """Read a file; return the outcome and the text of an error."""
    started = time.process_time()
    try:
        READERS.get(name, read_data)(path)
        outcome = "read", ""
    except ValueError as error:
        is_clear = str(error) and (name in _PARTS or str(path.parent) in str(error))
        outcome = ("refused", str(error)) if is_clear else ("found", traceback.format_exc())
    except Exception:
        outcome = "found", traceback.format_exc()
    seconds = time.process_time() - started
    if seconds > MOST_SECONDS:
        return "found", f"took {seconds:.0f} s"
    return outcome


def fuzz_readers(
    n: int, seed: int, *, seconds: float = float("inf"), keep: Path | None = None
) -> Findings:
    """Read damaged documents of all formats in turn.

    Parameters
    ----------
    n : int
        Number of damaged files.
    seed : int
        Decides the damage.
    seconds : float
        Time after which to stop.
    keep : path, optional
        Folder for the files that gave a finding.

    Returns
    -------
    Findings
        Counts and findings.
    """
    rng, found, names = random.Random(seed), Findings(), [*DOCUMENTS, *BINARIES]
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        logging.disable()  # obonet logs warnings
        with np.errstate(all="ignore"):
            for number in range(n):
                if time.monotonic() - started > seconds:
                    break
                name = names[number % len(names)]
                path = Path(folder) / name
                path.write_bytes(damaged(rng, name))
                outcome, told = read(name, path)
                found.outcomes[name, outcome] += 1
                if outcome == "found":
                    found.findings.append(f"{name} ({seed}, {number}): {told.strip()[-600:]}")
                    if keep is not None:
                        keep.mkdir(parents=True, exist_ok=True)
                        (keep / f"{seed}-{number}-{name}").write_bytes(path.read_bytes())
    logging.disable(logging.NOTSET)
    return found


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=10_000, help="the number of damaged files")
    parser.add_argument("--seed", type=int, default=0, help="decides the damage")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this time")
    parser.add_argument("--keep", type=Path, help="folder for files that gave a finding")
    options = parser.parse_args()
    found = fuzz_readers(options.n, options.seed, seconds=options.seconds, keep=options.keep)
    print(found.write())
    return int(bool(found.findings))


if __name__ == "__main__":
    sys.exit(main())
