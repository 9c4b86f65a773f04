"""Run CLUS as a peer: a separate Java program, fetched from PyPI and timed by its own clock.

CLUS 2.12.8 comes as a jar inside the PyPI package pyclus. It is GPL software that is only
run for comparison; no part of it is included in ramify. It needs ``java`` (11 or later) on the
path.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import scipy.sparse as sp

from benchmarks.problems import Problem
from ramify.io.files import replacing

BUILD = Path(__file__).resolve().parents[1] / "build"
PACKAGE = "pyclus==1.0.2"

# Ensembles copy objects by reflection, which Java 9 and later forbid unless told otherwise.
_OPENED = (
    "java.util java.lang java.math java.net java.util.regex java.util.concurrent"
    " java.util.concurrent.atomic java.io java.text"
)
OPENS = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED.split()]


@dataclass(frozen=True)
class ClusRun:
    """The results of one run of CLUS; `status` is "ok", "timeout" or "failed"."""

    status: str
    wall_s: float
    induction_s: float = float("nan")
    cpu_s: float = float("nan")  # of the whole process: start, reading and all its threads too
    nodes: int = 0
    leaves: int = 0
    measures: dict[str, float] = field(default_factory=dict)
    finished: float = field(default_factory=time.time)  # seconds since 1970
    message: str = ""
    recalled: bool = False  # from an earlier run


def find_jar() -> Path:
    """Return the path of clus.jar, downloading it into ``build/clus`` the first time."""
    if shutil.which("java") is None:
        raise RuntimeError("CLUS needs Java: no 'java' on the path; install a JRE (11 or later)")
    folder = BUILD / "clus"
    jar = folder / "clus.jar"
    if not jar.exists():
        folder.mkdir(parents=True, exist_ok=True)
        download = [sys.executable, "-m", "pip", "download", "-qq", "--no-deps"]
        subprocess.run([*download, "--dest", str(folder), PACKAGE], check=True)
        (wheel,) = folder.glob("pyclus-*.whl")
        with zipfile.ZipFile(wheel) as archive, archive.open("clus/clus.jar") as packed:
            jar.with_suffix(".part").write_bytes(packed.read())
        jar.with_suffix(".part").rename(jar)  # never a half-written jar under the final name
    return jar


def write_arff(problem: Problem, path: Path) -> None:
    """Write the rows in CLUS's dialect (sparse rows count attributes from 1)."""
    n_features = problem.X.shape[1]
    with path.open("w") as file:
        file.write("@relation benchmark\n")
        for j in range(n_features):
            values = problem.categories.get(j)
            kind = (
                "{" + ",".join(value_name(k) for k in range(len(values))) + "}"
                if values
                else "numeric"
            )
            file.write(f"@attribute x{j} {kind}\n")
        file.write(f"@attribute class hierarchical {','.join(_header_labels(problem))}\n@data\n")
        # In CLUS's sparse rows a nominal value that is not listed would be unknown.
        if sp.issparse(problem.X) and not problem.categories:
            _write_sparse_rows(problem, file)
        else:
            _write_dense_rows(problem, file)


def value_name(code: int) -> str:
    """Name a nominal value so that CLUS, which sorts values, keeps the order of the codes."""
    return f"v{code:05d}"


def _header_labels(problem: Problem) -> list[str]:
    hierarchy = problem.hierarchy
    if hierarchy.is_tree:
        return [str(label) for label in hierarchy.labels]
    return [
        f"{parent}/{label}"
        for label in hierarchy.labels
        for parent in (hierarchy.parents(label) or ("root",))
    ]


def _label_cells(problem: Problem) -> list[str]:
    labels = np.array([str(label) for label in problem.hierarchy.labels], dtype=object)
    Y = problem.Y
    rows = (labels[Y.indices[Y.indptr[i] : Y.indptr[i + 1]]] for i in range(Y.shape[0]))
    return ["@".join(row) or "n" for row in rows]


def _write_dense_rows(problem: Problem, file: TextIO) -> None:
    cells = _label_cells(problem)
    columns = []
    X = problem.X.toarray() if sp.issparse(problem.X) else problem.X
    for j, column in enumerate(np.asarray(X, dtype=float).T):
        if j in problem.categories:
            columns.append(["?" if np.isnan(x) else value_name(int(x)) for x in column])
        else:
            columns.append(["?" if np.isnan(x) else repr(float(x)) for x in column])
    file.writelines(",".join(row) + "\n" for row in zip(*columns, cells, strict=True))


def _write_sparse_rows(problem: Problem, file: TextIO) -> None:
    X = problem.X.tocsr()
    X.sort_indices()
    last = X.shape[1] + 1
    for i, labels in enumerate(_label_cells(problem)):
        stored = slice(X.indptr[i], X.indptr[i + 1])
        cells = zip(X.indices[stored], X.data[stored], strict=True)
        pairs = [f"{j + 1} {float(x)!r}" for j, x in cells]
        file.write("{" + ",".join([*pairs, f"{last} {labels}"]) + "}\n")


def settings_text(
    problem: Problem,
    min_weight: float = 5.0,
    test: str | None = None,
    extra: dict[str, dict[str, str]] | None = None,
) -> str:
    """Write the settings of one tree with the usual label weights (w0 = 0.75, average)."""
    sections: dict[str, dict[str, str]] = {
        "General": {"RandomSeed": "0", "Verbose": "0"},
        "Data": {"File": "train.arff", **({"TestSet": test} if test else {})},
        "Model": {"MinimalWeight": str(min_weight)},
        "Tree": {"FTest": "1.0"},
        "Hierarchical": {
            "Type": "Tree" if problem.hierarchy.is_tree else "DAG",
            "WType": "ExpAvgParentWeight",
            "WParam": "0.75",
            "HSeparator": "/",
        },
        "Output": {"TrainErrors": "No", "TestErrors": "Yes" if test else "No"},
    }
    for section, options in (extra or {}).items():
        sections.setdefault(section, {}).update(options)
    blocks = (
        f"[{section}]\n" + "".join(f"{name} = {value}\n" for name, value in options.items())
        for section, options in sections.items()
    )
    return "".join(blocks)


def run_clus(
    problem: Problem,
    *,
    min_weight: float = 5.0,
    test: Problem | None = None,
    extra: dict[str, dict[str, str]] | None = None,
    switches: tuple[str, ...] = (),
    timeout_s: float = 1200.0,
    cached: bool = False,
) -> ClusRun:
    """Run CLUS in a separate process; the result contains its own induction time.

    `switches` are CLUS's ("-forest"); `extra` adds settings by section. With `cached` an earlier
    answer to the same data and settings is used if there is one.
    """
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        write_arff(problem, work / "train.arff")
        if test is not None:
            write_arff(test, work / "test.arff")
        name = "test.arff" if test is not None else None
        (work / "run.s").write_text(settings_text(problem, min_weight, name, extra))
        memory = _memory_path(work, switches)
        if cached and memory.exists():
            return ClusRun(**{**json.loads(memory.read_text()), "recalled": True})
        result = _run_java(work, switches, timeout_s)
    if result.status != "failed":
        memory.parent.mkdir(parents=True, exist_ok=True)
        memory.write_text(json.dumps(asdict(result), indent=1))
    return result


def _memory_path(work: Path, switches: tuple[str, ...]) -> Path:
    digest = hashlib.sha256(repr((PACKAGE, switches)).encode())
    for file in sorted(work.iterdir()):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return BUILD / "benchmarks" / "clus" / f"{digest.hexdigest()[:24]}.json"


def _run_java(work: Path, switches: tuple[str, ...], timeout_s: float) -> ClusRun:
    command = ["java", *OPENS, "-jar", str(find_jar()), *switches, "run.s"]
    start = time.perf_counter()
    cpu_before = children_cpu_s()
    try:
        done = subprocess.run(
            command, cwd=work, capture_output=True, text=True, timeout=timeout_s, check=False
        )
    except subprocess.TimeoutExpired:
        return ClusRun("timeout", wall_s=time.perf_counter() - start, induction_s=timeout_s)
    wall_s = time.perf_counter() - start
    out = work / "run.out"
    if done.returncode or not out.exists():
        message = (done.stderr or done.stdout).strip()[-2000:]
        return ClusRun("failed", wall_s=wall_s, message=message)
    return _read_out(out.read_text(), wall_s, children_cpu_s() - cpu_before)


def children_cpu_s() -> float:
    """Return the CPU seconds of all child processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _read_out(text: str, wall_s: float, cpu_s: float) -> ClusRun:
    def number(pattern: str, default: float = 0.0) -> float:
        match = re.search(pattern, text, flags=re.MULTILINE)
        return float(match[1]) if match else default

    measures = {}
    testing = text.partition("Testing error")[2].partition("Multilabel error")[0]
    model = re.split(r"^   (?!Default)\S.*: *$", testing, maxsplit=1, flags=re.MULTILINE)[-1]
    for line, name in {
        "Average AUROC": "auroc",
        "Average AUPRC": "auprc",
        r"Average AUPRC \(weighted\)": "auprc_weighted",
        "Pooled AUPRC": "auprc_pooled",
    }.items():
        if match := re.search(rf"^ +{line}: +(\S+)$", model, flags=re.MULTILINE):
            measures[name] = float(match[1])
    return ClusRun(
        "ok",
        wall_s=wall_s,
        induction_s=number(r"^Induction Time: (\S+) sec", default=float("nan")),
        cpu_s=cpu_s,
        nodes=int(number(r"^ +(?:Original|Forest).*?[Nn]odes(?: =|:) (\d+)")),
        leaves=int(number(r"^ +(?:Original|Forest).*?[Ll]eaves(?: =|:) (\d+)")),
        measures=measures,
    )


def java_version() -> str:
    """Return the first line of ``java -version``."""
    if shutil.which("java") is None:
        return "no java"
    done = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False)
    return (done.stderr or done.stdout).splitlines()[0] if done.returncode == 0 else "no java"


@contextmanager
def one_core(wanted: bool = True) -> Iterator[None]:
    """Pin this process and its children to one core.

    Java compiles and collects garbage on threads of its own: with a core for them CLUS would not
    be a program of one thread. Does nothing where a system cannot say which core.
    """
    if not wanted or not hasattr(os, "sched_setaffinity"):
        yield
        return
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def describe_machine() -> str:
    """Describe the machine and its load, since timings on a busy machine are imprecise."""
    cores, words = os.cpu_count() or 1, []
    if hasattr(os, "getloadavg"):
        load = os.getloadavg()[0]
        words.append(
            f"load {load:.1f}" + (" (busy: figures are rough)" if load > cores / 2 else "")
        )
    return "; ".join([f"{cores} cores", *words, java_version()])


def write_report(report: dict[str, Any], name: str) -> None:
    """Write figures as JSON into the folder of benchmarks, with the time and the machine."""
    folder = BUILD / "benchmarks"
    folder.mkdir(parents=True, exist_ok=True)
    told = {"finished": time.strftime("%Y-%m-%d %H:%M:%S"), "machine": describe_machine()}
    with replacing(folder / name) as temporary:
        temporary.write_text(json.dumps(told | report, indent=1), encoding="utf-8")
