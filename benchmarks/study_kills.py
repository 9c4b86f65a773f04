"""Kill a study with SIGKILL at random moments; the results must equal an uninterrupted run.

Run: python -m benchmarks.study_kills [--kills 20]
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ramify.studies import load_study, run_study
from tests.support.studies_cases import stored, without_times

CODE = "from ramify.studies import *; run_study(load_study('animals'), {!r})"


def kill_once(folder: Path, rng: random.Random) -> int:
    """Start a run, kill it at a random moment after its first write, and count the cells."""
    before = len(list(folder.glob("cells/*.json")))
    process = subprocess.Popen([sys.executable, "-c", CODE.format(str(folder))])
    while process.poll() is None and len(list(folder.glob("cells/*.json"))) == before:
        time.sleep(0.001)
    time.sleep(rng.random() * 0.03)
    process.send_signal(signal.SIGKILL)
    process.wait()
    return len(stored(folder))  # raises if a file is not whole


def main() -> None:
    """Kill, resume, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    n_kills = parser.parse_args().kills
    rng = random.Random(time.time_ns())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        whole = run_study(load_study("animals"), folder / "whole")
        counts, rounds = [], 0
        while len(counts) < n_kills:
            rounds += 1
            target = folder / f"killed{rounds}"
            while len(counts) < n_kills:
                counts.append(kill_once(target, rng))
                if counts[-1] == len(whole.cells):
                    break
            resumed = run_study(load_study("animals"), target)
            same = [without_times(a) for a in resumed.cells] == [
                without_times(b) for b in whole.cells
            ]
            parts = len(list(target.rglob("*.part")))
            facts = {"round": rounds, "cells": len(resumed.cells), "equal": same, "parts": parts}
            print(json.dumps(facts), flush=True)
        print(f"{n_kills} kills; cells on disk after each: {counts}")


if __name__ == "__main__":
    main()
