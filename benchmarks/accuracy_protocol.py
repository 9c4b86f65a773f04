"""Protocol of `benchmarks.accuracy`: the rows that fits use, and how they are scored.

The rows of a data set are split once. Choices (the number of boosting rounds, and which model to
report) use only the training and validation rows; only `Fits.test` uses the test rows.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import average_precision_score
from sklearn.model_selection import ShuffleSplit

import ramify
from ramify import _core
from ramify.datasets import fetch
from ramify.hierarchy import Hierarchy
from ramify.studies.code_digest import digest_modules

# C-HMCNN leaves these out of its scores, as the authors of the data sets advise.
GO_ROOTS = ("GO0003674", "GO0005575", "GO0008150")
HELD_OUT = 0.2  # of the training rows, where no validation rows are published


@dataclass(frozen=True)
class Rows:
    """Features of some rows and their closed 0/1 label matrix."""

    X: Any
    Y: sp.csr_array


@dataclass(frozen=True)
class Split:
    """The rows of a data set by what they are used for.

    Choices are made by fitting on `learn` and scoring on `valid`; the final models are fitted on
    `train`, which is both together, and scored on `test`.
    """

    hierarchy: Hierarchy
    learn: Rows
    valid: Rows
    train: Rows
    test: Rows

    @cached_property
    def scored(self) -> np.ndarray:
        """Which labels count in the score: all except the roots of the Gene Ontology."""
        return ~np.isin(self.hierarchy.labels, GO_ROOTS)

    def score(self, rows: Rows, probabilities: np.ndarray) -> float:
        """Return AU(PRC): the average precision over all pairs of a row and a label."""
        truth = rows.Y[:, self.scored].toarray().ravel()
        return float(average_precision_score(truth, probabilities[:, self.scored].ravel()))


def load_split(name: str) -> Split:
    """Return a data set's published split.

    Where no validation rows are published, a fifth of the training rows is drawn for them, the
    same for all seeds.
    """
    data = fetch(name)

    def take(*parts: str) -> Rows:
        X, y = data.rows(*parts)
        return Rows(X, sp.csr_array(y))

    test = take("test")
    if "valid" in data.splits:
        both = take("train", "valid")
        return Split(data.hierarchy, take("train"), take("valid"), both, test)
    train = take("train")
    draw = ShuffleSplit(1, test_size=HELD_OUT, random_state=0)
    learn, valid = (pick(train, rows) for rows in next(draw.split(np.arange(train.Y.shape[0]))))
    return Split(data.hierarchy, learn, valid, train, test)


def pick(rows: Rows, chosen: np.ndarray) -> Rows:
    """Return some of the rows."""
    X = rows.X.iloc[chosen] if hasattr(rows.X, "iloc") else rows.X[chosen]
    return Rows(X, rows.Y[chosen])


class LabelShares:
    """Baseline: the share of every label among the training rows, whatever the features."""

    def __init__(self, hierarchy: Hierarchy, **ignored: Any) -> None:
        self.hierarchy = hierarchy

    def fit(self, X: Any, Y: sp.csr_array) -> LabelShares:
        """Count the labels."""
        self.shares_ = np.asarray(Y.mean(axis=0)).ravel()
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the same shares for every row."""
        return np.tile(self.shares_, (X.shape[0], 1))


@dataclass(frozen=True)
class Model:
    """A model of the table, with the one configuration that it has on all data sets.

    `estimator` is a class of ramify, looked up when it is needed, or `LabelShares`. A model with
    `members` is the mean of their probabilities; a number with the name of a member is added to
    the seed. A `candidate` may be chosen on the validation rows; the others are shown beside them.
    If `step` is set, the number of rounds is chosen among its multiples up to `max_iter`, and no
    more are tried after `patience` without improvement.
    """

    title: str
    estimator: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    members: tuple[tuple[str, int], ...] = ()
    candidate: bool = True
    step: int = 0
    patience: int = 0

    @property
    def estimator_class(self) -> Callable[..., Any]:
        """The class of the estimator."""
        return LabelShares if self.estimator == "LabelShares" else getattr(ramify, self.estimator)


@dataclass(frozen=True)
class Fit:
    """Probabilities of some rows, the rounds of the model and the CPU seconds they took."""

    probabilities: np.ndarray
    rounds: int | None
    fit_s: float
    predict_s: float


class Fits:
    """The fits of all models on one data set; each is made once, when asked for."""

    def __init__(self, split: Split, models: dict[str, Model], n_seeds: int, n_jobs: int) -> None:
        self.split = split
        self.models = models
        self.n_seeds = n_seeds
        self.n_jobs = n_jobs
        self._valid: dict[tuple[str, int], Fit] = {}
        self._test: dict[tuple[str, int], Fit] = {}

    def valid(self, name: str, seed: int) -> Fit:
        """Return the predictions for the validation rows, after the best number of rounds."""
        if (name, seed) not in self._valid:
            model, split = self.models[name], self.split
            if model.members:
                fit = mean_fit([self.valid(*member) for member in self.members(model, seed)])
            elif model.step:
                fit = self._choose_rounds(model, seed)
            else:
                fit = self._predict(self._make(model, seed, {}), split.learn, split.valid.X)
            self._valid[name, seed] = fit
        return self._valid[name, seed]

    def test(self, name: str, seed: int) -> Fit:
        """Return the predictions for the test rows, learned from all training rows."""
        if (name, seed) not in self._test:
            model, split = self.models[name], self.split
            if model.members:
                fit = mean_fit([self.test(*member) for member in self.members(model, seed)])
            else:
                chosen = {"max_iter": self.valid(name, seed).rounds} if model.step else {}
                fit = self._predict(self._make(model, seed, chosen), split.train, split.test.X)
            self._test[name, seed] = fit
        return self._test[name, seed]

    def members(self, model: Model, seed: int) -> list[tuple[str, int]]:
        """Return the names and seeds of the members of a vote.

        Seeds wrap around, so that votes share their members: their spread over the seeds is
        smaller than that of independent votes.
        """
        return [(name, (seed + offset) % self.n_seeds) for name, offset in model.members]

    def _make(self, model: Model, seed: int, changes: dict[str, Any]) -> Any:
        shared = {"n_jobs": self.n_jobs, "random_state": seed}
        return model.estimator_class(
            self.split.hierarchy, **{**shared, **model.parameters, **changes}
        )

    def _predict(self, estimator: Any, rows: Rows, X: Any) -> Fit:
        start = time.process_time()
        estimator.fit(rows.X, rows.Y)
        fitted = time.process_time()
        probabilities = estimator.predict_proba(X)
        end = time.process_time()
        rounds = getattr(estimator, "n_iter_", None)
        return Fit(probabilities, rounds, fitted - start, end - fitted)

    def _choose_rounds(self, model: Model, seed: int) -> Fit:
        """Fit on part of the training rows and return the best stage on the validation rows."""
        split = self.split
        stopping = {
            "early_stopping": True,
            "n_iter_no_change": model.patience,
            "score_every": model.step,
            "scoring": lambda fitted, X, y: split.score(split.valid, fitted.predict_proba(X)),
        }
        estimator = self._make(model, seed, stopping)
        start = time.process_time()
        estimator.fit(split.learn.X, split.learn.Y, X_val=split.valid.X, y_val=split.valid.Y)
        fitted = time.process_time()
        probabilities = estimator.predict_proba(split.valid.X)
        end = time.process_time()
        return Fit(probabilities, max(1, estimator.n_iter_), fitted - start, end - fitted)


def mean_fit(fits: list[Fit]) -> Fit:
    """Return the mean of probabilities; it is coherent if they are."""
    probabilities = np.mean([fit.probabilities for fit in fits], axis=0)
    times = (sum(fit.fit_s for fit in fits), sum(fit.predict_s for fit in fits))
    return Fit(probabilities, None, *times)


def digest_code(models: Sequence[Model]) -> str:
    """Return a digest of the code that results depend on: estimators, core and this module."""
    parts = [digest_modules(Path(__file__).parent, [__name__]), _core.source_digest()]
    package = Path(str(ramify.__file__)).parent
    parts += [digest_modules(package, [model.estimator_class.__module__]) for model in models]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
