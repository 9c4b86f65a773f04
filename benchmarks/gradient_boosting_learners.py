"""Learners of `benchmarks.gradient_boosting`, each fitted in a separate process.

All get the same dense X (NaN is missing), rounds, depth, bins, learning rate, threads and L2
penalty, and otherwise their own defaults. CatBoost and scikit-learn refuse labels that are the
same in all training rows. The peers therefore learn only the other labels, and the share is
predicted for the constant ones. As the peers do not know the hierarchy, their probabilities are
made coherent by the maximum over the descendants before they are scored.
"""

from __future__ import annotations

import math
import resource
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import average_precision_score
from threadpoolctl import threadpool_limits

import ramify
from benchmarks.accuracy_protocol import GO_ROOTS
from benchmarks.problems import Problem, generate, load_parts
from ramify.decision import make_coherent

GIB = 2.0**30
Probabilities = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Task:
    """A fit: the learner, the rows and the settings that all learners share.

    `name` is a data set, or "generated" with `shape` = (rows, features, labels). If `n_labels` is
    set, only this many labels are learned, drawn at random: for learners with a model per label.
    """

    learner: str
    name: str
    rounds: int
    depth: int = 5
    bins: int = 64
    learning_rate: float = 0.1
    threads: int = 2
    sketch_size: int = 128  # of ours
    shape: tuple[int, int, int] | None = None
    n_labels: int | None = None


@dataclass(frozen=True)
class Measured:
    """What a fit took; `status` is "ok", or why there is no result."""

    status: str
    wall_s: float = math.nan
    cpu_s: float = math.nan  # of all threads
    peak_gib: float = math.nan  # of the process, data included
    data_gib: float = math.nan  # of the process before the fit
    auprc: float = math.nan
    labels_of_all: float = 1.0  # the fraction that was learned


def fit_ramify(task: Task, problem: Problem, X: np.ndarray) -> Probabilities:
    """Fit ours with all features in every tree, as the peers do.

    The loss is the default: softmax where every row has one path, else logistic as that of the
    peers. The sketch is twice as large as by default unless another size is asked for: delicious
    needs it to be as accurate as peers with the full gradient after few rounds.
    """
    model = ramify.PCTGradientBoostingClassifier(
        problem.hierarchy,
        sketch_size=task.sketch_size,
        learning_rate=task.learning_rate,
        max_iter=task.rounds,
        max_depth=task.depth,
        max_bins=task.bins,
        max_leaf_nodes=None,
        max_features=None,
        l2_regularization=1.0,
        early_stopping=False,
        n_jobs=task.threads,
        random_state=0,
    )
    return model.fit(X, problem.Y).predict_proba


def fit_xgboost(task: Task, X: np.ndarray, Y: np.ndarray) -> Probabilities:
    """Fit XGBoost's trees with a vector in every leaf."""
    from xgboost import XGBClassifier  # noqa: PLC0415 (optional)

    model = XGBClassifier(
        multi_strategy="multi_output_tree",
        tree_method="hist",
        n_estimators=task.rounds,
        max_depth=task.depth,
        max_bin=task.bins,
        learning_rate=task.learning_rate,
        reg_lambda=1.0,
        n_jobs=task.threads,
        random_state=0,
    )
    return model.fit(X, Y).predict_proba


def fit_reduced_xgboost(task: Task, X: np.ndarray, Y: np.ndarray, width: int) -> Probabilities:
    """Fit XGBoost's trees with splits that are found from a random projection of the gradient.

    New projections are drawn for every tree, and margins start at the labels' shares, as ours.
    """
    import xgboost  # noqa: PLC0415 (optional)
    from xgboost.objective import TreeObjective  # noqa: PLC0415 (optional)

    n_rows, n_labels = Y.shape
    random = np.random.default_rng(0)

    class Reduced(TreeObjective):  # type: ignore[misc]
        """Logistic loss of every label."""

        def __call__(
            self, iteration: int, y_pred: np.ndarray, dtrain: object
        ) -> tuple[np.ndarray, np.ndarray]:
            p = 1 / (1 + np.exp(-y_pred.reshape(n_rows, n_labels)))
            return p - Y, p * (1 - p)

        def split_grad(
            self, iteration: int, grad: np.ndarray, hess: np.ndarray
        ) -> tuple[np.ndarray, np.ndarray]:
            projection = random.normal(0, width**-0.5, (n_labels, width)).astype(np.float32)
            mean = hess.mean(axis=1, keepdims=True)
            return grad @ projection, np.repeat(mean, width, axis=1)

    shares = np.clip(Y.mean(axis=0), 0.5 / n_rows, 1 - 0.5 / n_rows)
    start = np.log(shares / (1 - shares)).astype(np.float32)

    def hold(rows: np.ndarray, labels: np.ndarray | None = None) -> xgboost.DMatrix:
        if labels is None:
            matrix = xgboost.DMatrix(rows, nthread=task.threads)
        else:
            matrix = xgboost.QuantileDMatrix(rows, labels, max_bin=task.bins, nthread=task.threads)
        matrix.set_base_margin(np.tile(start, (len(rows), 1)))
        return matrix

    Y = Y.astype(np.float32)
    settings = {
        "multi_strategy": "multi_output_tree",
        "tree_method": "hist",
        "num_target": n_labels,
        "max_depth": task.depth,
        "max_bin": task.bins,
        "eta": task.learning_rate,
        "lambda": 1.0,
        "nthread": task.threads,
        "base_score": 0.0,
        "disable_default_eval_metric": True,
    }
    model = xgboost.train(settings, hold(X, Y), task.rounds, obj=Reduced())

    def predict(rows: np.ndarray) -> np.ndarray:
        margins = model.predict(hold(rows), output_margin=True).reshape(len(rows), n_labels)
        return np.asarray(1 / (1 + np.exp(-margins)))

    return predict


def fit_lightgbm(task: Task, X: np.ndarray, Y: np.ndarray) -> Probabilities:
    """Fit LightGBM's model once for every label."""
    from lightgbm import LGBMClassifier  # noqa: PLC0415 (optional)

    models = [
        LGBMClassifier(
            n_estimators=task.rounds,
            max_depth=task.depth,
            num_leaves=2**task.depth,
            max_bin=task.bins,
            learning_rate=task.learning_rate,
            reg_lambda=1.0,
            n_jobs=task.threads,
            random_state=0,
            verbose=-1,
        ).fit(X, target)
        for target in Y.T
    ]
    return lambda new: np.column_stack([model.predict_proba(new)[:, 1] for model in models])


def fit_catboost(task: Task, X: np.ndarray, Y: np.ndarray) -> Probabilities:
    """Fit CatBoost's symmetric trees with a vector in every leaf."""
    from catboost import CatBoostClassifier  # noqa: PLC0415 (optional)

    model = CatBoostClassifier(
        loss_function="MultiLogloss",
        iterations=task.rounds,
        depth=task.depth,
        border_count=task.bins,
        learning_rate=task.learning_rate,
        l2_leaf_reg=1.0,
        thread_count=task.threads,
        random_seed=0,
        allow_writing_files=False,
        verbose=False,
    )
    return model.fit(X, Y).predict_proba


def fit_sklearn(task: Task, X: np.ndarray, Y: np.ndarray) -> Probabilities:
    """Fit scikit-learn's model once for every label."""
    models = [
        HistGradientBoostingClassifier(
            max_iter=task.rounds,
            max_depth=task.depth,
            max_leaf_nodes=None,
            max_bins=task.bins,
            learning_rate=task.learning_rate,
            l2_regularization=1.0,
            early_stopping=False,
            random_state=0,
        ).fit(X, target)
        for target in Y.T
    ]
    return lambda new: np.column_stack([model.predict_proba(new)[:, 1] for model in models])


PEERS: dict[str, Callable[[Task, np.ndarray, np.ndarray], Probabilities]] = {
    "XGBoost": fit_xgboost,
    "XGBoost k=20": partial(fit_reduced_xgboost, width=20),
    "XGBoost k=5": partial(fit_reduced_xgboost, width=5),
    "CatBoost": fit_catboost,
    "LightGBM": fit_lightgbm,
    "scikit-learn": fit_sklearn,
}
REDUCED = ("XGBoost k=20", "XGBoost k=5")
OURS = "ramify"
PER_LABEL = ("LightGBM", "scikit-learn")  # a model per label: some labels show the time of all
_MODULES = {
    "XGBoost": "xgboost",
    **dict.fromkeys(REDUCED, "xgboost.objective"),  # from version 3.2 on
    "CatBoost": "catboost",
    "LightGBM": "lightgbm",
    "scikit-learn": "sklearn",
}


def is_available(learner: str) -> bool:
    """Tell whether a learner is installed."""
    if learner == OURS:
        return hasattr(ramify, "PCTGradientBoostingClassifier")
    module = _MODULES[learner]
    return find_spec(module.split(".")[0]) is not None and find_spec(module) is not None


def load_rows(task: Task) -> tuple[Problem, Problem | None]:
    """Return the training rows and the test rows, dense."""
    if task.shape is not None:
        return generate(*task.shape, positives=9), None
    train, test = load_parts(task.name)

    def densify(part: Problem) -> Problem:
        X = part.X.toarray() if sp.issparse(part.X) else part.X
        return replace(part, X=np.ascontiguousarray(X, dtype=np.float32))

    return densify(train), densify(test) if test is not None else None


def learned_labels(task: Task, problem: Problem) -> np.ndarray:
    """Return the columns of the labels that peers learn: those that vary, or some of them."""
    counts = np.asarray(problem.Y.sum(axis=0)).ravel()
    vary = np.flatnonzero((counts > 0) & (counts < problem.Y.shape[0]))
    if task.n_labels is None or task.n_labels >= vary.size:
        return vary
    return np.sort(np.random.default_rng(0).choice(vary, task.n_labels, replace=False))


def measure_here(task: Task) -> Measured:
    """Fit and score in this process."""
    train, test = load_rows(task)
    columns = learned_labels(task, train)
    all_labels = learned_labels(replace(task, n_labels=None), train)
    fit: Callable[[], Probabilities]
    if task.learner == OURS:
        fit = lambda: fit_ramify(task, train, train.X)  # noqa: E731
    else:
        Y = np.ascontiguousarray(train.Y.toarray()[:, columns])
        fit = lambda: PEERS[task.learner](task, train.X, Y)  # noqa: E731
    data_gib = peak_memory()
    with threadpool_limits(task.threads):
        wall, cpu = time.perf_counter(), time.process_time()
        predict = fit()
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    found = Measured("ok", wall, cpu, peak_memory(), data_gib)
    if task.learner in PER_LABEL and columns.size < all_labels.size:
        return replace(found, labels_of_all=columns.size / all_labels.size)
    return found if test is None else replace(found, auprc=score(task, predict, train, test))


def score(task: Task, predict: Probabilities, train: Problem, test: Problem) -> float:
    """Return AU(PRC) on the test rows, without the roots of the Gene Ontology."""
    found = np.asarray(predict(test.X))
    if task.learner != OURS:
        shares = np.asarray(train.Y.mean(axis=0)).ravel()
        filled = np.tile(shares, (test.X.shape[0], 1))
        filled[:, learned_labels(task, train)] = found
        found = make_coherent(filled, train.hierarchy, "max")
    scored = ~np.isin(train.hierarchy.labels, GO_ROOTS)
    truth = test.Y[:, scored].toarray().ravel()
    return float(average_precision_score(truth, found[:, scored].ravel()))


def peak_memory() -> float:
    """Return the largest memory of this process so far, in GiB.

    Linux counts the memory of the parent in ru_maxrss, but not in VmHWM.
    """
    status = Path("/proc/self/status")
    if status.is_file():
        lines = status.read_text(encoding="ascii", errors="replace").splitlines()
        return next(int(line.split()[1]) / 2**20 for line in lines if line.startswith("VmHWM"))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def measure(task: Task, limit_s: float, memory_gib: float) -> Measured:
    """Fit in a new process, which the system ends if it uses too much CPU time or memory."""
    context = get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=serve, args=(task, limit_s, memory_gib, sender))
    process.start()
    sender.close()
    try:
        found: Measured = receiver.recv()
    except EOFError:
        process.join()
        if process.exitcode == -signal.SIGXCPU:
            return Measured("too slow", cpu_s=limit_s)
        if process.exitcode in (-signal.SIGKILL, -signal.SIGABRT):
            return Measured("out of memory")  # ended by the system, or std::bad_alloc
        return Measured(f"failed with exit code {process.exitcode}")
    finally:
        process.join()
    return found


def serve(task: Task, limit_s: float, memory_gib: float, sender: Connection) -> None:
    """Measure in this process and send the result."""
    whole, size = math.ceil(limit_s), int(memory_gib * GIB)
    resource.setrlimit(resource.RLIMIT_CPU, (whole, whole + 1))
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    try:
        found = measure_here(task)
    except MemoryError:
        found = Measured("out of memory")
    except Exception as error:  # the libraries have their own exceptions for a lack of memory
        short = "bad_alloc" in str(error) or "memory" in str(error).lower()
        found = Measured("out of memory" if short else f"{type(error).__name__}: {error}"[:200])
    sender.send(found)
