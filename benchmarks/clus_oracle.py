"""Repeat the recorded runs of CLUS on real data with ``ramify clus`` and compare the results.

``python -m benchmarks.clus_oracle [NAME ...]`` runs the settings of results.json, or those whose
data set and configuration contain one of the names, as in ``pheno`` or ``rf50``. It prints the
size of each model, how many figures and lines of printed trees were compared, the differences,
and the CPU seconds recorded for CLUS (on another machine, including the start of Java) and those
of the command. It needs the recorded results of CLUS and the data sets in RAMIFY_DATA.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from tests.support.cli_runs import run
from tests.support.clus_data import DATA
from tests.support.clus_oracle import ORACLE, read_results
from tests.support.clus_real_runs import Record, compare, is_forest, prepare


def compare_record(record: Record) -> tuple[str, int]:
    """Repeat a run; return a row of the table with its differences, and their number."""
    with tempfile.TemporaryDirectory(prefix="clus-oracle-") as name:
        settings = prepare(record, Path(name))
        begin = time.process_time()
        done = run("clus", *(["-forest"] if is_forest(record) else []), settings)
        seconds = time.process_time() - begin
        if done.exit_code:
            return f"{record['dataset']} {record['config']}: {done.output}", 1
        found = compare(record, settings.with_suffix(".out"))
    row = (
        f"{record['dataset']:<14} {record['config']:<14} {record['nodes']:>7} "
        f"{found.n_figures:>7} {found.n_tree_lines:>6} {len(found.differences):>6} "
        f"{record['user_cpu_s']:>8.1f} {seconds:>8.1f}"
    )
    shown = [f"    {line}" for line in found.differences[:20]]
    return "\n".join([row, *shown]), len(found.differences)


def main(names: list[str]) -> int:
    """Compare all runs, or some; return the number of differences."""
    if not ORACLE.is_dir() or DATA is None:
        raise SystemExit("Set RAMIFY_CLUS_ORACLE and RAMIFY_DATA to the results and the data.")
    print(f"{'data set':<14} {'run':<14}   nodes figures  lines differ     CLUS   ramify")
    total = n_runs = 0
    for record in read_results():
        title = f"{record['dataset']} {record['config']}"
        if not names or any(name in title for name in names):
            text, n_differences = compare_record(record)
            print(text, flush=True)
            total, n_runs = total + n_differences, n_runs + 1
    print(f"{n_runs} runs, {total} differences")
    return total


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1:]) else 0)
