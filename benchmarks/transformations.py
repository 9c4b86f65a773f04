"""Multi-label transformations: ramify against scikit-multilearn-ng, in one run, one thread each.

``python -m benchmarks.transformations`` prints the results with the requirements and writes them
to ``build/benchmarks/transformations.json``. Both fit and then predict the same new rows; ramify
with its own trees, scikit-multilearn-ng with scikit-learn's. Figures are CPU seconds. What does
not finish within the limit is stopped: its ratio is then a lower bound, marked "≥". The limit is
extended for scikit-multilearn-ng if it would not show whether ramify is fast enough.
"""

from __future__ import annotations

import argparse
import math
import resource
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from benchmarks.clus import describe_machine, write_report
from benchmarks.problems import generate
from benchmarks.trees import print_table
from ramify import BinaryRelevance, LabelPowerset, MLkNN, PCTClassifier, RAkEL

NEEDED = 20.0
METHODS = ("MLkNN", "BR", "LP", "RAkEL")

Rows = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Figure:
    """CPU seconds of one method; None if stopped by the limit."""

    method: str
    ramify_s: float | None
    theirs_s: float | None
    limit_s: float  # theirs

    @property
    def times(self) -> float | None:
        """How many times as long scikit-multilearn-ng took, at least."""
        if self.ramify_s is None:
            return None
        return (self.theirs_s or self.limit_s) / self.ramify_s


def cpu_seconds(action: Callable[[], Any], limit_s: float) -> float | None:
    """Return the CPU seconds that an action takes, None if it needs more than allowed.

    It runs in a process of its own, which the system ends at the limit: an exception would wait
    until native code returns.
    """
    context = get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=time_action, args=(action, limit_s, sender))
    process.start()
    sender.close()
    try:
        seconds: float = receiver.recv()
    except EOFError:
        process.join()
        if process.exitcode not in (-signal.SIGXCPU, -signal.SIGKILL):
            raise RuntimeError(f"the process failed with exit code {process.exitcode}") from None
        return None
    process.join()
    return seconds


def time_action(action: Callable[[], Any], limit_s: float, sender: Connection) -> None:
    """Send the CPU seconds that an action takes in this process."""
    whole = math.ceil(limit_s)
    resource.setrlimit(resource.RLIMIT_CPU, (whole, whole + 1))
    start = time.process_time()
    with threadpool_limits(1):
        action()
    sender.send(time.process_time() - start)


def run_ramify(method: str, rows: Rows) -> Any:
    """Fit and predict with ours."""
    X, Y, new = rows
    models = {
        "MLkNN": MLkNN(),
        "BR": BinaryRelevance(PCTClassifier()),
        "LP": LabelPowerset(),
        "RAkEL": RAkEL(random_state=0),
    }
    return models[method].fit(X, Y).predict(new)


def run_theirs(method: str, rows: Rows) -> Any:
    """Fit and predict with scikit-multilearn-ng; its RAkEL makes one model more than requested."""
    from skmultilearn.adapt import MLkNN as TheirMLkNN  # noqa: PLC0415 (optional)
    from skmultilearn.ensemble import RakelO  # noqa: PLC0415
    from skmultilearn.problem_transform import BinaryRelevance as TheirBR  # noqa: PLC0415
    from skmultilearn.problem_transform import LabelPowerset as TheirLP  # noqa: PLC0415

    X, Y, new = rows
    tree, dense = DecisionTreeClassifier(random_state=0), [True, True]
    models = {
        "MLkNN": TheirMLkNN(k=10),
        "BR": TheirBR(tree, require_dense=dense),
        "LP": TheirLP(tree, require_dense=dense),
        "RAkEL": RakelO(tree, 2 * Y.shape[1] - 1, 3, base_classifier_require_dense=dense),
    }
    return models[method].fit(X, Y).predict(new)


def make_rows(n_rows: int, n_labels: int) -> Rows:
    """Return training rows with nine labels each, and a quarter as many new rows."""
    problem = generate(n_rows + n_rows // 4, 77, n_labels, positives=9)
    Y = problem.Y[:n_rows].toarray()
    return problem.X[:n_rows], Y, problem.X[n_rows:]


def measure(method: str, rows: Rows, limit_s: float) -> Figure:
    """Time both, theirs only as long as necessary to decide."""
    ours = cpu_seconds(lambda: run_ramify(method, rows), limit_s)
    enough = math.ceil(max(limit_s, 1.1 * NEEDED * (ours or 0)))
    theirs = cpu_seconds(lambda: run_theirs(method, rows), enough)
    return Figure(method, ours, theirs, enough)


def cells(figure: Figure) -> list[str]:
    """Return a figure as a row of the printed table."""
    unfinished = f"> {figure.limit_s:g}"
    times = figure.times
    bound = "≥ " if figure.theirs_s is None else ""
    return [
        figure.method,
        unfinished if figure.ramify_s is None else f"{figure.ramify_s:.2f}",
        unfinished if figure.theirs_s is None else f"{figure.theirs_s:.1f}",
        "-" if times is None else f"{bound}{times:.1f}",
        "pass" if times is not None and times >= NEEDED else "FAIL",
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table and return the number of requirements missed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.transformations", description=__doc__
    )
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--rows", type=int, default=2_000, help="training rows")
    parser.add_argument("--labels", type=int, default=500, help="labels")
    parser.add_argument("--limit", type=float, default=120.0, help="CPU seconds for each")
    options = parser.parse_args(arguments)
    print(f"CPU seconds of one thread each; {describe_machine()}")
    print(f"{options.rows} rows, 77 features, {options.labels} labels\n", flush=True)
    rows = make_rows(options.rows, options.labels)
    figures = []
    for method in options.methods:
        figures.append(measure(method, rows, options.limit))
        print("  ".join(cells(figures[-1])), flush=True)
    print()
    print_table(
        [("method", "ramify s", "multilearn s", "times", "needed 20"), *map(cells, figures)]
    )
    report = {
        "figures": [asdict(figure) | {"times": figure.times} for figure in figures],
        "needed": NEEDED,
    }
    write_report(report, "transformations.json")
    return sum((figure.times or 0) < NEEDED for figure in figures)


if __name__ == "__main__":
    raise SystemExit(main())
