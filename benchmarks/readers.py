"""Reading ARFF files: time and peak memory, against pandas.read_csv on the same rows.

``python -m benchmarks.readers`` reads whole data sets from $RAMIFY_DATA, every reader and file in
a separate process, and prints a table. *peak* is how much the process grew beyond its size after
its imports; *arrays* is the size of what it returned. Sparse files cannot be written as CSV;
pandas reads struc_FUN as a frame of 19,628 text columns.
"""

# Only the standard library here: a child process starts with the memory peak of its parent.
from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

DATASETS = ("struc_FUN", "reuters", "expr_GO")
READERS = ("ramify", "pandas")
MIB = 2**20


def main() -> None:
    """Print the table, or, in a child process, read one file."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--repeat", type=int, default=3, help="processes per file (default 3)")
    parser.add_argument("--read", nargs=2, metavar=("READER", "FILE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.read:
        print(json.dumps(measure(*options.read)))
        return
    folder = data_folder()
    titles = f"{'reader':>9}{'seconds':>9}{'peak MiB':>10}{'arrays MiB':>12}"
    print(f"{'data set':<12}{'text MiB':>9}{titles}")
    for name in DATASETS:
        files = sorted(Path(folder, name).glob("*.arff.gz"))
        text = sum(map(n_bytes, files)) / MIB
        for reader in READERS:
            row = total([best(reader, file, options.repeat) for file in files])
            print(f"{name:<12}{text:>9.1f}{reader:>9}{row}", flush=True)


def data_folder() -> str:
    """Return the folder of the public data sets, or exit with a message."""
    folder = os.environ.get("RAMIFY_DATA", "")
    if not Path(folder, DATASETS[0]).is_dir() or not folder:
        sys.exit(
            f"RAMIFY_DATA is {folder!r}, but it must name the folder of the public data sets, "
            f"with {DATASETS[0]}/ in it."
        )
    return folder


def n_bytes(file: Path) -> int:
    """Return the length of the unpacked text."""
    with gzip.open(file) as stream:
        return stream.seek(0, os.SEEK_END)


def best(reader: str, file: Path, repeat: int) -> dict[str, float] | None:
    """Read a file in fresh processes; the fastest time and the largest peak."""
    command = [sys.executable, "-m", "benchmarks.readers", "--read", reader, str(file)]
    runs = []
    for _ in range(repeat):
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        runs.append(json.loads(output))
    if runs[0] is None:
        return None
    return {
        "seconds": min(run["seconds"] for run in runs),
        "peak": max(run["peak"] for run in runs),
        "arrays": runs[0]["arrays"],
    }


def total(runs: list[dict[str, float] | None]) -> str:
    """Write one line for the files of a data set: times and arrays added up, the largest peak."""
    known = [run for run in runs if run is not None]
    if not known:
        return f"{'cannot':>9}"
    seconds = sum(run["seconds"] for run in known)
    peak = max(run["peak"] for run in known)
    arrays = max(run["arrays"] for run in known)
    return f"{seconds:>9.2f}{peak / MIB:>10.1f}{arrays / MIB:>12.1f}"


def measure(reader: str, path: str) -> dict[str, float] | None:
    """Read one file and report on it; None when the reader cannot."""
    import pandas  # noqa: PLC0415 (the parent stays small)

    from ramify.io import read_arff  # noqa: PLC0415

    first_row, n_header = find_rows(path)
    if reader == "pandas" and first_row.startswith("{"):
        return None
    before = peak_memory()
    start = time.perf_counter()
    if reader == "pandas":
        result: Any = pandas.read_csv(path, header=None, skiprows=n_header, na_values="?")
        size = int(result.memory_usage(index=False).sum())
    else:
        result = read_arff(path, duplicate_names="rename")
        size = array_size(result.X) + array_size(result.y)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "peak": peak_memory() - before, "arrays": size}


def find_rows(path: str) -> tuple[str, int]:
    """Return the first data row and the number of lines before it."""
    with gzip.open(path, "rt") as lines:
        in_data = False
        for number, line in enumerate(lines):
            if in_data and line.strip():
                return line, number
            in_data = in_data or line.lower().startswith("@data")
    return "", 0


def peak_memory() -> int:
    """Return the largest memory of this process so far, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def array_size(X: Any) -> int:
    """Return the bytes of an array, sparse matrix or frame."""
    if hasattr(X, "indptr"):
        return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)
    if hasattr(X, "nbytes"):
        return int(X.nbytes)
    columns = (column.array for _, column in X.items())
    return sum(int(c.codes.nbytes if hasattr(c, "codes") else c.nbytes) for c in columns)


if __name__ == "__main__":
    main()
