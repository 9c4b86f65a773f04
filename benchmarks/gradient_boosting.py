"""Gradient boosting: ramify against XGBoost, CatBoost and scikit-learn, in the same run.

``python -m benchmarks.gradient_boosting`` fits all of them with the same rounds, depth and bins on
two threads and prints the time of a round, the peak memory and AU(PRC) on the test rows. The peers
are XGBoost with ``multi_strategy="multi_output_tree"``, with the full gradient and with splits
found from a random projection of it to 20 and to 5 numbers (from XGBoost 3.2 on), CatBoost with
``MultiLogloss``, whose leaves contain vectors as ramify's do, and LightGBM and scikit-learn's
HistGradientBoostingClassifier, one per label. All but LightGBM are installed by
``pip install 'ramify[benchmark-boosting]'``.

The time of a round is the slope between a fit of few and a fit of many rounds, so that reading,
binning and other work done once cancels out. The number of rounds of the larger fit depends on how
slow the learner is: as many of 50, 24, 12 or 6 as the limit allows. ramify is fitted with the same
numbers of rounds to compare AU(PRC). A fit that needs more CPU seconds than the limit is stopped.
If that is the fit of few rounds, the ratio is that of whole fits of few rounds, and is a lower
bound ("≥"). LightGBM and scikit-learn are timed on a sample of the labels if all take too long
("≈": models are independent of each other); they then have no AU(PRC).

Ratios are given in CPU seconds of both threads and in wall-clock seconds, and the smaller ratio is
compared with the requirement. Each fit runs in a separate process; its peak memory includes the
data. The benchmark then prints how ramify's time grows with labels, rows and threads, and how its
memory grows. Everything is written to ``build/benchmarks/gradient_boosting.json``.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import distributions

from benchmarks.clus import describe_machine, write_report
from benchmarks.gradient_boosting_learners import (
    OURS,
    PEERS,
    PER_LABEL,
    REDUCED,
    Measured,
    Task,
    is_available,
    measure,
)
from benchmarks.trees import Check, print_table

SETS = ("cellcycle_FUN", "cellcycle_GO", "delicious", "imclef07a", "enron_hmc")
FEW = 2
MANY = (50, 24, 12, 6)
SAMPLE = 10  # labels of a sample
NEEDED = {
    ("cellcycle_FUN", "CatBoost"): 20.0,
    ("imclef07a", "CatBoost"): 8.0,
    **{
        (name, peer): 10.0
        for name in ("cellcycle_GO", "delicious")
        for peer in PEERS
        if peer not in REDUCED
    },
    **{(name, "XGBoost k=20"): 5.0 for name in SETS},
}


@dataclass
class Figure:
    """A learner on a data set: a fit of few rounds and one of many."""

    set: str
    learner: str
    few: Measured
    many: Measured | None = None
    rounds: int = FEW  # of the fit of many
    finished: float = field(default_factory=time.time)

    @property
    def bound(self) -> bool:
        """Whether even few rounds were stopped by the limit."""
        return self.few.status == "too slow"

    @property
    def sampled(self) -> bool:
        """Whether the times are those of a sample of the labels, scaled up."""
        return self.few.labels_of_all < 1

    def round_s(self, clock: str) -> float:
        """Return the seconds of a round; `clock` is "cpu_s" or "wall_s"."""
        if self.many is None or self.many.status != "ok":
            return math.nan
        slope = getattr(self.many, clock) - getattr(self.few, clock)
        return float(slope / (self.rounds - FEW) / self.few.labels_of_all)


def measure_figure(task: Task, options: argparse.Namespace) -> Figure:
    """Fit few rounds, then as many as are affordable."""
    few = measure(replace(task, rounds=FEW), options.limit, options.memory)
    if few.status == "too slow" and task.learner in PER_LABEL:
        task = replace(task, n_labels=SAMPLE)
        few = measure(replace(task, rounds=FEW), options.limit, options.memory)
    figure = Figure(task.name, task.learner, few)
    if few.status == "ok":
        # Ours is quick: more rounds give a more precise slope.
        choices = MANY if task.learner == OURS else options.rounds
        affordable = (n for n in choices if few.cpu_s / FEW * n <= options.limit)
        figure.rounds = next(affordable, min(choices))
        many = replace(task, rounds=figure.rounds)
        figure.many = measure(many, 3 * options.limit, options.memory)
    return figure


def ratios(ours: Figure, peer: Figure) -> tuple[float, float]:
    """Return how many times as long a peer's round takes, in CPU seconds and by the clock."""
    if peer.bound:
        return peer.few.cpu_s / ours.few.cpu_s, math.nan
    cpu, wall = (peer.round_s(clock) / ours.round_s(clock) for clock in ("cpu_s", "wall_s"))
    return cpu, wall


HEADINGS = (
    *("set", "learner", "CPU s a round", "s a round", "× ramify, CPU", "clock", "peak GiB"),
    *("rounds", "AU(PRC)", "ramify's", "note"),
)


def show(number: float, digits: str, sign: str = "") -> str:
    """Return a number, or a dash if there is none."""
    return "–" if math.isnan(number) else f"{sign}{number:{digits}}"


def cells(figure: Figure, ours: Figure | None, equal: dict[int, float]) -> list[str]:
    """Return a figure as a row of the printed table; `equal` has our AU(PRC) by rounds."""
    sign = "≥ " if figure.bound else "≈ " if figure.sampled else ""
    last = figure.many or figure.few
    times = ratios(ours, figure) if ours and figure is not ours else (math.nan, math.nan)
    notes = [run.status for run in (figure.few, figure.many) if run and run.status != "ok"]
    if figure.sampled:
        notes.append(f"{figure.few.labels_of_all:.1%} of the labels")
    return [
        *(figure.set, figure.learner),
        *(show(figure.round_s(clock), ".3g", sign) for clock in ("cpu_s", "wall_s")),
        *(show(ratio, ".3g", sign) if figure is not ours else "" for ratio in times),
        *(show(last.peak_gib, ".2f"), str(figure.rounds), show(last.auprc, ".4f")),
        show(equal.get(figure.rounds, math.nan), ".4f") if figure is not ours else "",
        "; ".join(notes),
    ]


def judge(name: str, figures: Sequence[Figure], equal: dict[int, float]) -> list[Check]:
    """Compare the figures of a data set with the requirements."""
    ours = next((figure for figure in figures if figure.learner == OURS), None)
    checks = []
    for peer in figures if ours else ():
        known = [ratio for ratio in ratios(ours, peer) if not math.isnan(ratio)]
        needed = NEEDED.get((name, peer.learner))
        if needed and known:
            checks.append(Check(f"{name}: × {peer.learner}", min(known), needed))
        if peer is not ours and peer.many and not math.isnan(peer.many.auprc):
            gain = 1_000 * (equal.get(peer.rounds, math.nan) - peer.many.auprc)
            title = f"{name}: 1,000 × AU(PRC) above {peer.learner}, {peer.rounds} rounds"
            checks.append(Check(title, gain, 0.0))
    return checks


def compare(name: str, options: argparse.Namespace) -> tuple[list[Figure], list[Check]]:
    """Measure all learners on a data set and print the rows of the table."""
    task = Task(
        *("", name, FEW),
        depth=options.depth,
        threads=options.threads,
        sketch_size=options.sketch_size,
    )
    figures = []
    for learner in options.learners:
        figures.append(measure_figure(replace(task, learner=learner), options))
        print(f"{name}: {learner} measured", file=sys.stderr, flush=True)
    ours = next((figure for figure in figures if figure.learner == OURS), None)
    equal: dict[int, float] = {}
    for rounds in sorted({figure.rounds for figure in figures}) if ours else ():
        done = ours.many if rounds == ours.rounds else None
        again = done or measure(
            replace(task, learner=OURS, rounds=rounds), options.limit, options.memory
        )
        equal[rounds] = again.auprc
    print_table([list(HEADINGS), *(cells(figure, ours, equal) for figure in figures)])
    print(flush=True)
    return figures, judge(name, figures, equal)


def round_of(shape: tuple[int, int, int], options: argparse.Namespace, threads: int) -> Figure:
    """Measure ours on generated rows."""
    task = Task(OURS, "generated", FEW, options.depth, threads=threads, shape=shape)
    return measure_figure(task, options)


def measure_growth(options: argparse.Namespace) -> tuple[list[Check], list[str]]:
    """Measure how time and memory of ours grow with labels, rows and threads."""
    n = 2_000 if options.quick else 8_000
    base = round_of((n, 50, 500), options, 2)
    labels = round_of((n, 50, 5_000), options, 2)
    rows = round_of((2 * n, 50, 500), options, 2)
    single = round_of((n, 50, 500), options, 1)
    checks = [
        Check(
            f"rows × 2, from {n:,}: × the CPU s of a round",
            rows.round_s("cpu_s") / base.round_s("cpu_s"),
            2.2,
            at_most=True,
        )
    ]
    lines = [
        f"{n:,} rows, 50 features, 500 labels: {base.round_s('cpu_s'):.4f} CPU s a round",
        f"labels × 10 at the same sketch: × {labels.round_s('cpu_s') / base.round_s('cpu_s'):.2f}",
        f"1 thread → 2: × {single.round_s('wall_s') / base.round_s('wall_s'):.2f} as fast",
        estimate_memory(base, labels, n),
    ]
    return checks, lines


def estimate_memory(small: Figure, large: Figure, n: int) -> str:
    """Extrapolate the memory of a fit, linear in rows × labels, to 100,000 × 10,000."""
    used = [(f.many.peak_gib - f.many.data_gib) if f.many else math.nan for f in (small, large)]
    per_cell = (used[1] - used[0]) / (n * 4_500)  # GiB for a pair of a row and a label
    return (
        f"memory of a fit beyond the data: {used[0]:.3f} GiB for 500 labels, {used[1]:.3f} GiB "
        f"for 5,000: {per_cell * 2**30:.1f} bytes for a row and a label, so about "
        f"{per_cell * 1e9:.1f} GiB for 100,000 rows and 10,000 labels (extrapolated)"
    )


def measure_large(options: argparse.Namespace) -> str:
    """Fit ours on 100,000 rows with 10,000 labels."""
    task = Task(OURS, "generated", FEW, options.depth, shape=(100_000, 100, 10_000))
    found = measure(task, 100 * options.limit, options.memory)
    return (
        f"100,000 × 100 cells, 10,000 labels, {FEW} rounds, 2 threads: {found.status}, "
        f"{found.wall_s:.0f} s, peak {found.peak_gib:.1f} GiB ({found.data_gib:.1f} GiB before)"
    )


def parse_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.gradient_boosting",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    everyone = (OURS, *PEERS)
    parser.add_argument("--datasets", nargs="+", choices=SETS, default=SETS)
    parser.add_argument("--learners", nargs="+", choices=everyone, default=everyone)
    parser.add_argument("--depth", type=int, default=5, help="depth of the trees (default 5)")
    parser.add_argument("--threads", type=int, default=2, help="threads of a fit (default 2)")
    parser.add_argument("--sketch-size", type=int, default=128, help="of ours (default 128)")
    parser.add_argument(
        "--rounds",
        type=int,
        nargs="+",
        default=MANY,
        help="possible rounds of the larger fit, the largest first (default 50 24 12 6)",
    )
    parser.add_argument(
        "--limit", type=float, default=300.0, help="CPU seconds for a fit (default 300)"
    )
    parser.add_argument("--memory", type=float, default=12.0, help="GiB for a fit (default 12)")
    parser.add_argument(
        "--quick", action="store_true", help="cellcycle_FUN alone, few rounds, small growth"
    )
    parser.add_argument("--without-growth", action="store_true", help="compare with peers only")
    parser.add_argument(
        "--large", action="store_true", help="fit 100,000 rows with 10,000 labels, nothing else"
    )
    options = parser.parse_args(arguments)
    if min(options.rounds) <= FEW:
        parser.error(f"--rounds must be integers > {FEW}, got {min(options.rounds)}.")
    if options.quick:
        options.datasets, options.rounds = SETS[:1], (4,)
    options.learners = [name for name in options.learners if is_available(name)]
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables and return the number of requirements missed."""
    options = parse_options(arguments)
    print(
        f"depth {options.depth}, 64 bins, {options.threads} threads; {', '.join(versions())}; "
        f"{describe_machine()}\n"
    )
    absent = [name for name in (OURS, *PEERS) if not is_available(name)]
    if absent:
        print(f"not installed, left out: {', '.join(absent)}\n", flush=True)
    if options.large:
        print(measure_large(options))
        return 0
    figures: list[Figure] = []
    checks: list[Check] = []
    lines: list[str] = []
    for name in options.datasets:
        found, judged = compare(name, options)
        figures += found
        checks += judged
        write_json(figures, checks, lines)
    if OURS in options.learners and not options.without_growth:
        judged, lines = measure_growth(options)
        checks += judged
        print(*lines, sep="\n", end="\n\n")
        write_json(figures, checks, lines)
    if checks:
        print_table([["requirement", "found", "needed", ""], *(check.cells() for check in checks)])
    return sum(not check.passed for check in checks)


def versions() -> list[str]:
    """Return the installed packages of the peers with their versions."""
    names = ("xgboost", "xgboost-cpu", "catboost", "lightgbm", "scikit-learn")
    found = {str(package.metadata["Name"]).lower(): package for package in distributions()}
    return [f"{name} {found[name].version}" for name in names if name in found]


def write_json(figures: Sequence[Figure], checks: Sequence[Check], lines: Sequence[str]) -> None:
    """Write the figures as JSON."""
    report = {
        "figures": [
            asdict(figure) | {clock: figure.round_s(clock) for clock in ("cpu_s", "wall_s")}
            for figure in figures
        ],
        "growth": list(lines),
        "requirements": [asdict(check) | {"passed": check.passed} for check in checks],
    }
    write_report(report, "gradient_boosting.json")


if __name__ == "__main__":
    raise SystemExit(main())
