"""Kill a study with SIGKILL at random moments: python -m tests.robustness.kill_studies --kills 20.

After every kill each stored cell must be a whole file, no finished cell may be learnt again, and
the resumed study must have the results of an uninterrupted run.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from ramify.apps.studies import running
from ramify.studies import StudyResults, load_study, run_study
from tests.support.studies_cases import stored, without_times

TOML = """
name = "killed"
[[datasets]]
name = "animals"
[[models]]
name = "forest"
model = "forest"
parameters = { n_estimators = 150 }
[[models]]
name = "tree"
model = "tree"
[measures.auprc]
measure = "pooled_auprc"
[protocol]
folds = 10
"""


def kill_and_resume(folder: Path, whole: StudyResults, n_kills: int, rng: random.Random) -> int:
    """Kill runs into a new folder, each a few cells later, then let one finish; return the kills.

    Fails with an `AssertionError` where a kill lost, damaged or changed a result.
    """
    path = folder.with_suffix(".toml")
    path.write_text(TOML, "utf-8")
    seen: dict[str, dict[str, Any]] = {}
    n_done = 0
    while n_done < n_kills and len(seen) + 2 < len(whole.cells):
        _start_and_kill(path, folder, len(seen) + rng.randint(1, 4), rng)
        n_done += 1
        now = stored(folder)  # raises if a file is not whole
        assert {key: now[key] for key in seen} == seen, "a finished cell was learnt again"
        seen = now
    resumed = run_study(load_study(path), folder)
    assert {key: stored(folder)[key] for key in seen} == seen
    assert list(map(without_times, resumed.cells)) == list(map(without_times, whole.cells))
    assert not list(folder.rglob("*.part"))
    return n_done


def run_whole(folder: Path) -> StudyResults:
    """Run the study without a kill."""
    path = folder / "whole.toml"
    path.write_text(TOML, "utf-8")
    return run_study(load_study(path), folder / "whole")


def _start_and_kill(path: Path, folder: Path, n_cells: int, rng: random.Random) -> None:
    """Kill a run at a random moment after it has written some cells, if it still runs."""
    code = f"from ramify.studies import *; run_study(load_study({str(path)!r}), {str(folder)!r})"
    source = str(Path(running.__file__).parents[2])
    process = subprocess.Popen(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": source}
    )
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        if len(list(folder.glob("cells/*.json"))) >= n_cells:
            break
        time.sleep(0.005)
    time.sleep(rng.random() * 0.05)
    process.send_signal(signal.SIGKILL)
    assert process.wait() in (0, -signal.SIGKILL)


def main() -> None:
    """Kill and resume studies until there were enough kills."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=None, help="decides the moments")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    n_kills = n_rounds = 0
    with tempfile.TemporaryDirectory() as name:
        whole = run_whole(Path(name))
        while n_kills < options.kills:
            target = Path(name) / f"killed{n_rounds}"
            n_kills += kill_and_resume(target, whole, options.kills - n_kills, rng)
            n_rounds += 1
    print(f"{n_kills} kills of {n_rounds} studies: every result as in an uninterrupted run")


if __name__ == "__main__":
    main()
