"""Change fields of valid model files: python -m tests.robustness.fuzz_model_fields --n 10000.

A valid file of every estimator is taken apart, one field is changed within or beyond its schema,
and the file is put together again with valid checksums. It must be refused with a
`ModelFileError`, or load and predict, or refuse to predict with a `ValueError`. Crashes, hangs,
lack of memory and any other error are findings. --keep names a folder for files that gave one.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import selectors
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import ramify
from tests.robustness.field_worker import inputs, use
from tests.support.fuzz_models import NAMES, fuzz_model
from tests.support.model_file_fields import change_field, take_apart

HARMLESS = ("refused", "predicted", "refused rows")


# The worker imports the same package as this process: without the hook of an editable install, if
# tools/run_sanitized.py has removed it here.
_WORKER = f"""
import runpy, sys
if not {any("editable" in type(finder).__module__ for finder in sys.meta_path)}:
    sys.meta_path[:] = [f for f in sys.meta_path if "editable" not in type(f).__module__]
runpy.run_module("tests.robustness.field_worker", run_name="__main__")
"""


@dataclass
class Findings:
    """What happened to the changed files.

    Attributes
    ----------
    outcomes : Counter of str
        How many files had which outcome.
    by_model : Counter of (str, str)
        The same by model and outcome.
    findings : list of str
        Outcomes other than a refusal or a prediction, with what was changed.
    peak_mb, most_seconds : float
        The largest memory of a worker and time of a file.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    by_model: Counter[tuple[str, str]] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)
    peak_mb: float = 0.0
    most_seconds: float = 0.0

    def count(
        self, name: str, told: str, answer: dict[str, Any], harmless: tuple[str, ...]
    ) -> None:
        """Add the answer of a worker about a changed file."""
        outcome = answer["outcome"]
        self.outcomes[outcome] += 1
        self.by_model[name, outcome] += 1
        self.peak_mb = max(self.peak_mb, answer.get("peak_mb", 0.0))
        self.most_seconds = max(self.most_seconds, answer.get("seconds", 0.0))
        if outcome not in harmless:
            last = answer["told"].strip().splitlines()[-1:]
            self.findings.append(f"{outcome}: {name}: {told}: {''.join(last)}")

    def write(self) -> str:
        """Return a summary."""
        counts = ", ".join(f"{n} {outcome}" for outcome, n in self.outcomes.most_common())
        lines = [
            f"{self.outcomes.total()} changed files: {counts or 'none'}",
            f"at most {self.peak_mb:.0f} MB in a worker and {self.most_seconds:.1f} s for a file",
        ]
        return "\n".join(lines + self.findings[:40])


class Here:
    """This process, which a crash would end."""

    def ask(self, path: Path, forms: list[str]) -> dict[str, Any]:
        """Return what became of a file and its predictions for rows of some forms."""
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            outcome, told = use(path, forms)
        return {"outcome": outcome, "told": told}

    def close(self) -> None:
        """Do nothing."""


class Worker:
    """A process that loads files and may crash; a new one is started when needed.

    Parameters
    ----------
    timeout : float
        Seconds after which a file counts as a hang.
    """

    def __init__(self, timeout: float = 60.0) -> None:
        self._timeout = timeout
        self._process: subprocess.Popen[str] | None = None

    def ask(self, path: Path, forms: list[str]) -> dict[str, Any]:
        """Return what became of a file and its predictions for rows of some forms."""
        if self._process is None or self._process.poll() is not None:
            self._start()
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{path} {' '.join(forms)}\n")
        self._process.stdin.flush()
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            if not selector.select(self._timeout):
                self.close()
                return {"outcome": "hang", "told": f"no answer in {self._timeout} s"}
        answer = self._process.stdout.readline()
        if not answer:
            code = self._process.wait()
            self._process = None
            return {"outcome": "crash", "told": f"exit code {code}"}
        found: dict[str, Any] = json.loads(answer)
        return found

    def _start(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        assert self._process.stdout is not None
        if self._process.stdout.readline() != "ready\n":
            raise RuntimeError("the worker could not be started")

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def forms_of(worker: Worker, path: Path) -> list[str]:
    """Return the forms of rows that the model in a file can read."""
    return [form for form in inputs() if worker.ask(path, [form])["outcome"] == "predicted"]


def fuzz_fields(
    n: int,
    seed: int,
    worker: Here | Worker,
    *,
    seconds: float = float("inf"),
    keep: Path | None = None,
) -> Findings:
    """Change fields of the files of all models in turn.

    Parameters
    ----------
    n : int
        Number of changed files.
    seed : int
        Decides the changes.
    worker : Here or Worker
        Loads the files; it is closed at the end.
    seconds : float
        Time after which to stop.
    keep : path, optional
        Folder for the files that gave a finding.

    Returns
    -------
    Findings
        Counts and findings.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.ramify"
        files = {}
        for name in NAMES:
            ramify.save(fuzz_model(name), path)
            # Some models cannot read missing values or sparse rows.
            forms = forms_of(worker, path)
            assert "dense" in forms, (name, worker.ask(path, ["dense"]))
            files[name] = take_apart(path.read_bytes()), forms
        return try_changes(
            *(files, change_field, n, seed), worker=worker, path=path, seconds=seconds, keep=keep
        )


def try_changes(
    files: Mapping[str, tuple[Any, list[str]]],
    change: Callable[[random.Random, Any], tuple[bytes, str]],
    n: int,
    seed: int,
    *,
    worker: Here | Worker,
    path: Path,
    seconds: float,
    keep: Path | None,
    harmless: tuple[str, ...] = HARMLESS,
) -> Findings:
    """Change files in turn, load them from `path` and count what happens.

    `files`: the content that `change` changes, and the forms of rows to predict, by model.
    """
    rng, found, names = random.Random(seed), Findings(), list(files)
    started = time.monotonic()
    for number in range(n):
        if time.monotonic() - started > seconds:
            break
        name = names[number % len(names)]
        content, forms = files[name]
        data, told = change(rng, content)
        path.write_bytes(data)
        answer = worker.ask(path, forms)
        found.count(name, told, answer, harmless)
        if keep is not None and answer["outcome"] not in harmless:
            keep.mkdir(parents=True, exist_ok=True)
            (keep / f"{seed}-{number}.ramify").write_bytes(data)
            (keep / f"{seed}-{number}.txt").write_text(f"{name}: {told}\n{answer['told']}\n")
    worker.close()
    return found


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=10_000, help="the number of changed files")
    parser.add_argument("--seed", type=int, default=0, help="decides the changes")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this time")
    parser.add_argument("--keep", type=Path, help="folder for files that gave a finding")
    options = parser.parse_args()
    found = fuzz_fields(
        options.n, options.seed, Worker(), seconds=options.seconds, keep=options.keep
    )
    print(found.write())
    return int(bool(found.findings))


if __name__ == "__main__":
    sys.exit(main())
