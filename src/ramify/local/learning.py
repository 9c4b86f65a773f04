"""Learners of local problems, and learning many problems in parallel."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np
from joblib import delayed, effective_n_jobs
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from ramify._parallel import in_parallel
from ramify._progress import track
from ramify.hierarchy.hierarchy import Hierarchy
from ramify.local.models import ConstantClassifier, LocalModel
from ramify.local.problems import LocalProblem
from ramify.tree.training_data import TrainingData

__all__ = ["Learner", "ModelLearner", "label_columns", "learn_all"]


class Learner(ABC):
    """Learns local problems with clones of one estimator and holds their shared data.

    Parameters
    ----------
    estimator : estimator
        The unfitted estimator.
    data : TrainingData
        The features, sample weights and labels of all rows.
    hierarchy : Hierarchy
        The labels of the problems.
    """

    prefer: str | None = None
    """Kind of workers that joblib should use."""

    def __init__(self, estimator: Any, data: TrainingData, hierarchy: Hierarchy) -> None:
        self.estimator = estimator
        self.data = data
        self.hierarchy = hierarchy

    def prepare(self) -> None:  # noqa: B027 (most have nothing to do)
        """Do the work that all problems share, before they are sent to workers."""

    @abstractmethod
    def learn(self, problem: LocalProblem, seed: int | None) -> LocalModel:
        """Learn one problem.

        Parameters
        ----------
        problem : LocalProblem
            The problem.
        seed : int, optional
            Seed of the estimator.

        Returns
        -------
        LocalModel
            The fitted model.
        """


class ModelLearner(Learner):
    """Fits a model to those labels of a problem that are not constant.

    Parameters
    ----------
    estimator, data, hierarchy
        See `Learner`.
    """

    def learn(self, problem: LocalProblem, seed: int | None) -> LocalModel:
        """Learn one problem, or return a constant if there is nothing to learn; see `Learner`."""
        n_rows = len(problem.rows)
        shares = tuple(
            None if 0 < len(positive) < n_rows else float(len(positive) > 0)
            for positive in problem.positives
        )
        constant = tuple(share for share in shares if share is not None)
        if len(constant) == len(shares):
            return LocalModel(ConstantClassifier(constant), problem.labels, shares)
        chosen = [k for k, share in enumerate(shares) if share is None]
        learnt = replace(
            problem,
            labels=tuple(problem.labels[k] for k in chosen),
            positives=tuple(problem.positives[k] for k in chosen),
        )
        model, answer = self._fit(learnt, seed)
        return LocalModel(model, problem.labels, shares, answer)

    @abstractmethod
    def _fit(self, problem: LocalProblem, seed: int | None) -> tuple[Any, str]:
        """Fit a model to a problem without constant labels; also return its kind of answer."""

    def _names(self, problem: LocalProblem) -> list[Any]:
        return [self.hierarchy.labels[c] for c in problem.labels]


def label_columns(
    positives: tuple[NDArray[np.int64], ...], n_rows: int
) -> sparse.csr_array[np.int32]:
    """Return a label matrix from the positive rows of each column.

    Examples
    --------
    >>> import numpy as np
    >>> label_columns((np.array([0, 2]), np.array([1])), 3).toarray().tolist()
    [[1, 0], [0, 1], [1, 0]]
    """
    if len(positives) == 1:  # a fast path: there may be thousands of problems
        counts = np.zeros(n_rows + 1, dtype=np.int64)
        counts[positives[0] + 1] = 1
        zeros = np.zeros(len(positives[0]), dtype=np.int64)
        parts = (zeros.astype(np.int32) + 1, zeros, np.cumsum(counts))
        return sparse.csr_array(parts, shape=(n_rows, 1))
    indices = np.concatenate(positives)
    indptr = np.cumsum([0, *map(len, positives)])
    ones = np.ones(len(indices), dtype=np.int32)
    columns = sparse.csc_array((ones, indices, indptr), shape=(n_rows, len(positives)))
    rows: sparse.csr_array[np.int32] = columns.tocsr()
    return rows


def learn_all(
    learner: Learner,
    problems: list[LocalProblem],
    *,
    random_state: Any,
    n_jobs: int | None,
    verbose: bool,
) -> list[LocalModel]:
    """Learn all problems in parallel; the models do not depend on `n_jobs`.

    Parameters
    ----------
    learner : Learner
        Learner of one problem.
    problems : list of LocalProblem
        The problems.
    random_state : int, RandomState instance or None
        Used to draw a seed for each problem. If None, the `random_state` of the estimator is kept.
    n_jobs : int, optional
        Number of workers.
    verbose : bool
        Whether to show a progress bar (requires rich).

    Returns
    -------
    list of LocalModel
        The models, in the order of the problems.
    """
    seeds: list[int | None] = [None] * len(problems)
    if random_state is not None:
        draws = check_random_state(random_state).randint(np.iinfo(np.int32).max, size=len(seeds))
        seeds = [int(seed) for seed in draws]
    learner.prepare()
    # Learning a tree may be faster than sending it to a worker: problems are sent in bundles.
    n_bundles = min(len(problems), 16 * effective_n_jobs(n_jobs))
    bundles = [range(k, len(problems), n_bundles) for k in range(n_bundles)]
    tasks = (
        delayed(_learn_bundle)(learner, [(problems[i], seeds[i]) for i in bundle])
        for bundle in bundles
    )
    running = in_parallel(tasks, n_jobs=n_jobs, prefer=learner.prefer, shared=[learner])
    with closing(running) as learnt:
        found = list(track(learnt, n_bundles, "Fitting local models", shown=verbose))
    models: list[Any] = [None] * len(problems)
    for bundle, answers in zip(bundles, found, strict=True):
        for i, model in zip(bundle, answers, strict=True):
            models[i] = model
    return models


def _learn_bundle(
    learner: Learner, bundle: list[tuple[LocalProblem, int | None]]
) -> list[LocalModel]:
    return [learner.learn(problem, seed) for problem, seed in bundle]
