"""How times grow with rows, features, labels and threads: a table and a plot of each.

``python -m benchmarks.growth`` varies one size of a generated problem at a time and prints the CPU
seconds of one thread; with threads, it prints seconds by the clock on one larger problem.
``--parts`` chooses among rows, features, labels and threads, and ``--out`` is the folder in which
``growth-PART.csv`` and ``growth-PART.svg`` are written (default: docs/benchmarks).
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from threadpoolctl import threadpool_limits

from benchmarks.clus import describe_machine
from benchmarks.problems import Problem, generate
from benchmarks.suite_report import COLOURS, ROOT, write_csv
from benchmarks.threads import fits, powers_of_two, seconds
from benchmarks.trees import print_table
from ramify.io.files import replacing

SIZES = {
    "rows": (1_000, 4_000, 16_000, 64_000, 256_000),
    "features": (10, 40, 160, 640, 2_560),
    "labels": (80, 400, 2_000, 10_000, 50_000),
    "threads": tuple(powers_of_two()),
}
POSITIVES = 9  # labels of a row
N_TREES, N_ROUNDS = 16, 20

Curves = dict[str, list[float]]


def make(part: str, size: int) -> Problem:
    """Make the problem of which one size is varied."""
    shape = {"rows": 4_000, "features": 50, "labels": 500}
    if part == "threads":
        shape = {"rows": 50_000, "features": 100, "labels": 500}
    else:
        shape[part] = size
    return generate(shape["rows"], shape["features"], shape["labels"], POSITIVES)


def grow(part: str, sizes: Sequence[int]) -> Curves:
    """Return the seconds of each work for each size."""
    found: Curves = defaultdict(list)
    for size in sizes if part != "threads" else (0,):
        for name, work in fits(make(part, size), N_TREES, N_ROUNDS):
            if part == "threads":
                found[name] = [seconds(work, n) for n in sizes]
            else:
                with threadpool_limits(1):
                    found[name].append(seconds(work, 1, time.process_time))
            print(f"{part} {size or sizes}: {name} {found[name]}", flush=True)
    return found


def times(part: str, name: str, curves: Curves) -> str:
    """Say how a time changes from the first size to the last."""
    first, last = curves[name][0], curves[name][-1]
    return f"{first / last:.1f}" if part == "threads" else f"{last / first:.1f}"


def tabulate(part: str, sizes: Sequence[int], curves: Curves) -> tuple[list[str], list[list[str]]]:
    """Return headings and rows of the table of a part."""
    last = f"{sizes[-1] / sizes[0]:,.0f}"
    ending = "times as fast" if part == "threads" else f"times for {last} times the {part}"
    headings = [f"seconds by {part}", *(f"{size:,}" for size in sizes), ending]
    rows = [
        [name, *(f"{second:.3g}" for second in curves[name]), times(part, name, curves)]
        for name in curves
    ]
    return headings, rows


def draw(part: str, sizes: Sequence[int], curves: Curves, path: Path) -> None:
    """Draw seconds by size, or how many times as fast threads are, with logarithmic axes."""
    import matplotlib as mpl  # noqa: PLC0415 (slow)

    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415

    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "ramify"}):
        figure, axes = plt.subplots(figsize=(7.2, 4.0), layout="constrained")
        for (name, found), colour in zip(curves.items(), COLOURS, strict=False):
            heights = [found[0] / second for second in found] if part == "threads" else found
            axes.plot(sizes, heights, "o-", color=colour, label=name, markersize=4)
        first = 1.0 if part == "threads" else min(found[0] for found in curves.values()) / 2
        guide = [first * size / sizes[0] for size in sizes]
        axes.plot(sizes, guide, ":", color="#8a979c", label=f"in proportion to {part}")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log", base=2 if part == "threads" else 10)
        axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
        axes.minorticks_off()
        if part == "threads":
            axes.set_yticks(sizes, [f"{size:,}" for size in sizes])
        axes.set_xlabel(part)
        axes.set_ylabel("times as fast" if part == "threads" else "CPU seconds")
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize=9, loc="center left", bbox_to_anchor=(1.0, 0.5))
        with replacing(path) as temporary:
            figure.savefig(temporary, format="svg", metadata={"Date": None})
        plt.close(figure)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; write them and the plots."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("--parts", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "benchmarks")
    options = parser.parse_args(arguments)
    print(describe_machine(), flush=True)
    for part in options.parts:
        sizes = SIZES[part]
        curves = grow(part, sizes)
        headings, rows = tabulate(part, sizes, curves)
        print_table([headings, *rows])
        write_csv(options.out / f"growth-{part}.csv", headings, rows)
        draw(part, sizes, curves, options.out / f"growth-{part}.svg")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
