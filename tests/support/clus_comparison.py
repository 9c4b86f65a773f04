"""Run CLUS and ``ramify clus`` on the same settings file, and compare what they write."""

from __future__ import annotations

import difflib
import gzip
import hashlib
import json
import multiprocessing
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ramify.apps.clus.running  # noqa: F401 - imported once, not in every process
from tests.support.cli_runs import run
from tests.support.clus_program import JAR, OPENS

TIMES = re.compile(
    r"^(Date|(?:Induction|Pruning|Preprocessing) [Tt]ime): .*|"
    r"^(Prediction Time).*\n\t.* microsecs\n\t.* millisecs\n\t.* secs\n(Prediction Time).*",
    re.MULTILINE,
)
Files = dict[str, list[str]]
_QUICK = ("-Xmx1500m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")  # for many short runs


@dataclass(frozen=True)
class Outcome:
    """What a program wrote: lines of files by name, or why it failed."""

    files: Files
    failure: str = ""


@dataclass(frozen=True)
class Verdict:
    """Whether two programs wrote the same: a kind and where the first difference is."""

    kind: str  # "equal", "differs", "refused", "only CLUS fails" or "both fail"
    detail: str = ""


def snapshot(folder: Path) -> dict[Path, tuple[int, int]]:
    """Return the time and size of every file below a folder."""
    return {
        path: (path.stat().st_mtime_ns, path.stat().st_size)
        for path in folder.rglob("*")
        if path.is_file()
    }


def take_written(folder: Path, before: dict[Path, tuple[int, int]]) -> Files:
    """Return the files that are new or changed since a snapshot, and remove them."""
    found = {}
    for path, stamp in snapshot(folder).items():
        if before.get(path) != stamp:
            text = _unpacked(path).decode("utf-8", "replace")
            found[path.name] = TIMES.sub(r"\1: -", text).splitlines()
            path.unlink()
    return found


def _unpacked(path: Path) -> bytes:
    """Return the content of a file; of a gzip file that a failed run left, nothing."""
    if path.suffix != ".gz":
        return path.read_bytes()
    try:
        return gzip.decompress(path.read_bytes())
    except (EOFError, OSError):
        return b""


def run_theirs(settings: Path, cwd: Path, switches: Iterable[str], memory: Path) -> Outcome:
    """Run CLUS, or recall what it wrote for the same files and switches."""
    switches = [f"-{switch}" for switch in switches]
    key = hashlib.sha256(repr(switches).encode())
    for path in [settings, *sorted(cwd.glob("*.arff*")), *sorted(settings.parent.glob("*"))]:
        if path.is_file() and path.suffix != ".out":
            key.update(path.name.encode() + path.read_bytes())
    recalled = memory / f"{key.hexdigest()[:24]}.json"
    if recalled.exists():
        return Outcome(**json.loads(recalled.read_text()))
    before = snapshot(settings.parent) | snapshot_here(cwd)
    command = ["java", *_QUICK, *OPENS, "-jar", str(JAR), *switches]
    command.append(os.path.relpath(settings, cwd))
    try:
        done = subprocess.run(
            command, cwd=cwd, capture_output=True, text=True, check=False, timeout=240
        )
        log = done.stdout + done.stderr
        failed = done.returncode or "[SEVERE]" in log  # an incomplete file, but no error status
        failure = _reason(log) or f"status {done.returncode}" if failed else ""
    except subprocess.TimeoutExpired:
        failure = "more than 240 seconds"
    written = take_written(settings.parent, before)
    written |= {} if cwd == settings.parent else take_here(cwd, before)
    found = Outcome({} if failure else written, failure)
    memory.mkdir(parents=True, exist_ok=True)
    recalled.write_text(json.dumps({"files": found.files, "failure": found.failure}))
    return found


def snapshot_here(folder: Path) -> dict[Path, tuple[int, int]]:
    """Return the time and size of the files in a folder, without those in folders below."""
    return {p: (p.stat().st_mtime_ns, p.stat().st_size) for p in folder.iterdir() if p.is_file()}


def take_here(folder: Path, before: dict[Path, tuple[int, int]]) -> Files:
    """Remove the new files in a folder itself, such as CLUS's copies, and return none."""
    for path in set(snapshot_here(folder)) - set(before):
        path.unlink()
    return {}


def _reason(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    wanted = [line for line in lines if re.search("Error|Exception|SEVERE", line)]
    return (wanted or lines or [""])[0][:160]


def run_ours(settings: Path, cwd: Path, switches: Iterable[str]) -> Outcome:
    """Run ``ramify clus`` in a process of its own."""
    before = snapshot(settings.parent) | snapshot_here(cwd)
    arguments = [*(f"-{switch}" for switch in switches), os.path.relpath(settings, cwd)]
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=_run_command, args=(theirs, cwd, arguments))
    process.start()
    theirs.close()
    try:
        failure = ours.recv() if ours.poll(240) else "more than 240 seconds"
    except EOFError:
        failure = "the process ended"
    process.terminate()
    process.join()
    written = take_written(settings.parent, before)
    return Outcome({} if failure else written, failure)


def _run_command(answer: Any, cwd: Path, arguments: list[str]) -> None:
    os.chdir(cwd)
    done = run("clus", *arguments)
    text = " ".join(done.output.split())
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        text = f"CRASH {done.exception!r} {text}"
    answer.send(text or "failed" if done.exit_code else "")


def judge(theirs: Outcome, ours: Outcome) -> Verdict:
    """Compare two outcomes."""
    if theirs.failure:
        kind = "both fail" if ours.failure else "only CLUS fails"
        return Verdict(kind, f"CLUS: {theirs.failure}" + f" | ramify: {ours.failure}"[:200])
    if ours.failure:
        return Verdict("refused", ours.failure)
    missing = sorted(set(theirs.files) - set(ours.files))
    added = sorted(set(ours.files) - set(theirs.files))
    differ = [
        f"{name}: {count_differences(lines, ours.files[name])} of {len(lines)}"
        for name, lines in theirs.files.items()
        if name in ours.files and lines != ours.files[name]
    ]
    notes = [*differ, *(f"{name} is missing" for name in missing)]
    notes += [f"{name} is written by ramify only" for name in added]
    return Verdict("differs" if notes else "equal", "; ".join(notes))


def first_differences(theirs: Outcome, ours: Outcome, most: int = 12) -> list[str]:
    """Return the first lines that differ, file by file."""
    found = []
    for name, lines in theirs.files.items():
        other = ours.files.get(name)
        if other is not None and other != lines:
            changes = difflib.unified_diff(lines, other, "CLUS", "ramify", n=0, lineterm="")
            shown = [line[:200] for line in list(changes)[2 : most + 2]]
            found += [f"--- {name}", *shown]
    return found


def count_differences(one: list[str], other: list[str]) -> int:
    """Return the number of lines that differ."""
    if len(one) == len(other):
        return sum(a != b for a, b in zip(one, other, strict=True))
    if len(one) + len(other) > 20_000:  # difflib would take minutes
        return sum(a != b for a, b in zip(one, other, strict=False)) + abs(len(one) - len(other))
    return sum(line[0] in "+-" for line in difflib.unified_diff(one, other, n=0)) - 2


def compare_in(
    folder: Path, prepare: Callable[[Path], Path], switches: Iterable[str], memory: Path
) -> tuple[Outcome, Outcome]:
    """Prepare two folders with the same settings file, and run a program in each."""
    outcomes = []
    switches = list(switches)
    for name, program in (("clus", None), ("ramify", run_ours)):
        place = folder / name
        place.mkdir(parents=True)
        settings = prepare(place)
        if program is None:
            outcomes.append(run_theirs(settings, place, switches, memory))
        else:
            outcomes.append(program(settings, place, switches))
        shutil.rmtree(place)
    return outcomes[0], outcomes[1]
