"""Gradient boosting on a GPU: ramify on both devices, and SketchBoost of Py-Boost.

``python -m benchmarks.gpu`` needs an NVIDIA GPU and CuPy. It prints three tables:

- *delicious* (983 labels): ramify on the processor and on the GPU, and SketchBoost (``pip install
  py-boost``) with several widths of its sketch, with the same rounds, depth, learning rate and
  bins on all rows and features. The cross-entropy is the mean over test rows and labels. Both are
  also fitted until the loss of a fifth of the training rows stops decreasing.
- *equality*: whether the trees of both devices of ramify are the same to the last bit.
- *large*: 100,000 rows, 1,000 features and 10,000 labels, 100 rounds on the GPU.

Times include binning and the transfer of the rows; the first fit of each learner, which compiles
its kernels, is made on a few rows and not counted.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from benchmarks.problems import Problem, generate, load_parts
from benchmarks.trees import print_table
from ramify import PCTGradientBoostingClassifier
from ramify.boosting.cuda.device import load_cupy

SHARED = {"max_depth": 6, "learning_rate": 0.05, "min_samples_leaf": 10}
SKETCHES = (1, 5, 20)  # of SketchBoost; its default is 1
PATIENCE = 100


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=500, help="rounds on delicious")
    parser.add_argument("--most", type=int, default=4000, help="most rounds with early stopping")
    parser.add_argument("--large-rows", type=int, default=100_000)
    parser.add_argument("--large-rounds", type=int, default=100)
    parts = ["delicious", "equality", "large"]
    parser.add_argument("--parts", nargs="+", default=parts, choices=parts)
    arguments = parser.parse_args()
    print(describe_gpu())
    if "delicious" in arguments.parts:
        compare_on_delicious(arguments.rounds, arguments.most)
    if "equality" in arguments.parts:
        compare_devices()
    if "large" in arguments.parts:
        measure_large(arguments.large_rows, arguments.large_rounds)


def describe_gpu() -> str:
    """Describe the GPU and the versions of its software."""
    cupy = load_cupy()
    name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    driver = cupy.cuda.runtime.runtimeGetVersion()
    return f"{name}; CUDA {driver // 1000}.{driver % 1000 // 10}; CuPy {cupy.__version__}"


def fit_ramify(
    problem: Problem, rounds: int, device: str, *, stop: bool = False, n_jobs: int = -1
) -> PCTGradientBoostingClassifier:
    """Fit ramify with its default sketch."""
    model = PCTGradientBoostingClassifier(
        problem.hierarchy,
        loss="logistic",
        max_iter=rounds,
        max_bins=255,
        max_features=None,
        subsample=1.0,
        early_stopping=stop,
        validation_fraction=0.2,
        n_iter_no_change=PATIENCE,
        device=device,
        n_jobs=n_jobs,
        random_state=0,
        **SHARED,
    )
    return model.fit(problem.X, problem.Y)


def fit_sketchboost(problem: Problem, rounds: int, width: int, *, stop: bool = False) -> Any:
    """Fit SketchBoost with random projections, the method that its paper recommends."""
    from py_boost import SketchBoost  # noqa: PLC0415 (optional)

    model = SketchBoost(
        "bce",
        ntrees=rounds,
        lr=SHARED["learning_rate"],
        max_depth=SHARED["max_depth"],
        min_data_in_leaf=SHARED["min_samples_leaf"],
        lambda_l2=1,
        max_bin=256,
        sketch_method="proj",
        sketch_outputs=width,
        es=PATIENCE if stop else 0,
        verbose=10**9,
        seed=0,
    )
    X, Y = problem.X.astype(np.float32), problem.Y.toarray().astype(np.float32)
    if not stop:
        return model.fit(X, Y)
    held = np.random.default_rng(0).permutation(len(X)) < len(X) // 5
    return model.fit(X[~held], Y[~held], eval_sets=[{"X": X[held], "y": Y[held]}])


def cross_entropy(p: NDArray[Any], Y: NDArray[Any]) -> float:
    """Return the mean cross-entropy over rows and labels."""
    p = np.clip(p.astype(np.float64), 1e-7, 1 - 1e-7)
    return float(-(Y * np.log(p) + (1 - Y) * np.log1p(-p)).mean())


def timed(function: Callable[..., Any], *arguments: Any, **options: Any) -> tuple[float, Any]:
    """Return the seconds that a call took, and its result."""
    start = time.perf_counter()
    result = function(*arguments, **options)
    return time.perf_counter() - start, result


def dense(problem: Problem | None) -> Problem:
    """Return rows with a dense X, which SketchBoost needs."""
    assert problem is not None, "the data set has test rows"
    X = problem.X.toarray() if sp.issparse(problem.X) else problem.X
    return replace(problem, X=np.asarray(X, dtype=np.float64))


def compare_on_delicious(rounds: int, most: int) -> None:
    """Print times and cross-entropies on delicious."""
    train, test = (dense(part) for part in load_parts("delicious"))
    truth = test.Y.toarray()
    small = Problem("small", train.X[:500], train.Y[:500], train.hierarchy)
    fit_ramify(small, 2, "cuda")
    rows = [("delicious", "rounds", "s", "cross-entropy")]
    for device, name in (("cpu", "ramify, all cores"), ("cuda", "ramify, GPU")):
        seconds, model = timed(fit_ramify, train, rounds, device)
        entropy = cross_entropy(model.predict_proba(test.X), truth)
        rows.append((name, str(rounds), f"{seconds:.2f}", f"{entropy:.4f}"))
    seconds, model = timed(fit_ramify, train, most, "cuda", stop=True)
    entropy = cross_entropy(model.predict_proba(test.X), truth)
    rows.append(
        ("ramify, GPU, stopped early", f"{model.n_iter_}", f"{seconds:.2f}", f"{entropy:.4f}")
    )
    if find_spec("py_boost") is not None:
        rows += run_sketchboost(small, train, test, rounds, most)
    print_table(rows)


def run_sketchboost(
    small: Problem, train: Problem, test: Problem, rounds: int, most: int
) -> list[tuple[str, ...]]:
    """Return the lines of SketchBoost."""
    fit_sketchboost(small, 2, 1)
    X, truth = test.X.astype(np.float32), test.Y.toarray()
    lines = []
    for width in SKETCHES:
        seconds, model = timed(fit_sketchboost, train, rounds, width)
        entropy = cross_entropy(model.predict(X), truth)
        lines.append((f"SketchBoost {width}", str(rounds), f"{seconds:.2f}", f"{entropy:.4f}"))
    seconds, model = timed(fit_sketchboost, train, most, SKETCHES[-1], stop=True)
    entropy = cross_entropy(model.predict(X), truth)
    name = f"SketchBoost {SKETCHES[-1]}, stopped early"
    lines.append((name, str(model.best_round), f"{seconds:.2f}", f"{entropy:.4f}"))
    return lines


def compare_devices() -> None:
    """Print whether the trees of both devices are the same to the last bit."""
    for problem in (load_parts("delicious")[0], generate(20_000, 100, 1000, 10, shifted=True)):
        models = [fit_ramify(problem, 20, device) for device in ("cpu", "cuda")]
        trees = [[model.trees_.arrays(i) for i in range(20)] for model in models]
        equal = all(
            np.array_equal(a[name], b[name]) for a, b in zip(*trees, strict=True) for name in a
        )
        print(f"20 trees of both devices, {problem.name}: {'equal' if equal else 'not equal'}")


def measure_large(n_rows: int, rounds: int) -> None:
    """Print time and memory of a large problem on the GPU."""
    cupy = load_cupy()
    problem = generate(n_rows, 1000, 10_000, 10)
    pool = cupy.get_default_memory_pool()
    pool.free_all_blocks()
    few_s, _ = timed(fit_ramify, problem, 2, "cuda")
    many_s, model = timed(fit_ramify, problem, rounds, "cuda")
    predict_s, _ = timed(model.predict_proba, problem.X[:10_000])
    print_table(
        [
            (
                "rows × features × labels",
                "rounds",
                "s",
                "s a round",
                "predict 10,000 rows, s",
                "GiB",
            ),
            (
                f"{n_rows:,} × 1,000 × 10,000",
                str(rounds),
                f"{many_s:.1f}",
                f"{(many_s - few_s) / (rounds - 2):.3f}",
                f"{predict_s:.2f}",
                f"{pool.total_bytes() / 2**30:.1f}",
            ),
        ]
    )


if __name__ == "__main__":
    main()
