"""Protocol of `benchmarks.accuracy`: the rows that each fit uses, and how it is scored.

The rows of a data set are split once. Choices (the number of boosting rounds, and which model to
report) use only the training and validation rows; only `Fits.test` uses the test rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.metrics import average_precision_score
from sklearn.model_selection import ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import ramify
from ramify.datasets import fetch
from ramify.labels import Hierarchy
from ramify.meta.voting import search_weights

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


def load_split(name: str, draw: int | None = None) -> Split:
    """Return a data set's published split, or one of the same sizes drawn with a seed.

    Where no validation rows are published, a fifth of the training rows is drawn for them, the
    same for all seeds.
    """
    data = fetch(name)
    if draw is not None:
        sizes = [len(rows) for rows in data.splits.values()]
        order = np.random.default_rng(draw).permutation(sum(sizes))
        drawn = np.split(order, np.cumsum(sizes)[:-1])
        data.splits = dict(zip(data.splits, map(np.sort, drawn), strict=True))

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


def add_components(split: Split, n_components: int) -> Split:
    """Add principal components of the numeric columns to the features.

    They are those of the rows that a model is fitted on, with mean imputation and unit variances.
    """
    learn, valid = _add_components(split.learn, split.valid, n_components)
    train, test = _add_components(split.train, split.test, n_components)
    return replace(split, learn=learn, valid=valid, train=train, test=test)


def _add_components(fitted: Rows, others: Rows, n_components: int) -> tuple[Rows, Rows]:
    numbers = _numeric_columns(fitted.X)
    reduce = make_pipeline(
        SimpleImputer(keep_empty_features=True),
        StandardScaler(),
        PCA(min(n_components, *numbers.shape), random_state=0),
    ).fit(numbers)

    def add(rows: Rows) -> Rows:
        found = reduce.transform(_numeric_columns(rows.X))
        if isinstance(rows.X, pd.DataFrame):
            names = [f"component {k + 1}" for k in range(found.shape[1])]
            columns = pd.DataFrame(found, columns=names, index=rows.X.index)
            return Rows(pd.concat([rows.X, columns], axis=1), rows.Y)
        return Rows(np.hstack([rows.X, found]), rows.Y)

    return add(fitted), add(others)


def standardise(split: Split) -> Split:
    """Replace the features by numbers with mean 0 and variance 1, for distances.

    Means are imputed, and nominal columns become a column for each category.
    """
    learn, valid = _standardise(split.learn, split.valid)
    train, test = _standardise(split.train, split.test)
    return replace(split, learn=learn, valid=valid, train=train, test=test)


def _standardise(fitted: Rows, others: Rows) -> tuple[Rows, Rows]:
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), _nominal_columns),
        remainder="passthrough",
    )
    scale = make_pipeline(encode, SimpleImputer(keep_empty_features=True), StandardScaler()).fit(
        fitted.X
    )
    return Rows(scale.transform(fitted.X), fitted.Y), Rows(scale.transform(others.X), others.Y)


def _nominal_columns(X: Any) -> list[str]:
    return list(X.select_dtypes(exclude="number")) if isinstance(X, pd.DataFrame) else []


def _numeric_columns(X: Any) -> np.ndarray:
    return np.asarray(X.select_dtypes("number") if isinstance(X, pd.DataFrame) else X, dtype=float)


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
    the seed. If `weigh`, members of the same name have one weight, which is chosen on the
    validation rows. A `candidate` may be chosen on the validation rows; the others are shown
    beside them. If `step` is set, the number of rounds is chosen among its multiples up to
    `max_iter`, and no more are tried after `patience` without improvement. `n_components`
    principal components of the numeric columns are added to the features, or the features are
    replaced by those of `standardise`. A model that is not `seeded` is the same for all seeds.
    """

    title: str
    estimator: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    members: tuple[tuple[str, int], ...] = ()
    weigh: bool = False
    candidate: bool = True
    step: int = 0
    patience: int = 0
    n_components: int = 0
    standardised: bool = False
    seeded: bool = True

    @property
    def estimator_class(self) -> Callable[..., Any]:
        """The class of the estimator."""
        return LabelShares if self.estimator == "LabelShares" else getattr(ramify, self.estimator)


@dataclass(frozen=True)
class Fit:
    """Probabilities of some rows, the rounds of the model and the CPU seconds they took.

    For a vote: the weights of its members.
    """

    probabilities: np.ndarray
    rounds: int | None
    fit_s: float
    predict_s: float
    weights: dict[str, float] | None = None


class Fits:
    """The fits of all models on one data set; each is made once, when asked for."""

    def __init__(self, split: Split, models: dict[str, Model], n_seeds: int, n_jobs: int) -> None:
        self.split = split
        self.models = models
        self.n_seeds = n_seeds
        self.n_jobs = n_jobs
        self._splits: dict[tuple[bool, int], Split] = {}
        self._valid: dict[tuple[str, int], Fit] = {}
        self._test: dict[tuple[str, int], Fit] = {}

    def valid(self, name: str, seed: int) -> Fit:
        """Return the predictions for the validation rows, after the best number of rounds."""
        model = self.models[name]
        seed = seed if model.seeded else 0
        if (name, seed) not in self._valid:
            if model.members:
                fit = self._vote_on_valid(model, seed)
            elif model.step:
                fit = self._choose_rounds(model, seed)
            else:
                split = self._features(model)
                fit = self._predict(self._make(model, seed, {}), split.learn, split.valid.X)
            self._valid[name, seed] = fit
        return self._valid[name, seed]

    def test(self, name: str, seed: int) -> Fit:
        """Return the predictions for the test rows, learned from all training rows."""
        model = self.models[name]
        seed = seed if model.seeded else 0
        if (name, seed) not in self._test:
            if model.members:
                weights = self.valid(name, seed).weights or {}
                fit = vote({n: self._mean(self.test, model, seed, n) for n in weights}, weights)
            else:
                chosen = {"max_iter": self.valid(name, seed).rounds} if model.step else {}
                split = self._features(model)
                fit = self._predict(self._make(model, seed, chosen), split.train, split.test.X)
            self._test[name, seed] = fit
        return self._test[name, seed]

    def _features(self, model: Model) -> Split:
        """Return the split with the features of a model."""
        key = (model.standardised, model.n_components)
        if key not in self._splits:
            split = standardise(self.split) if model.standardised else self.split
            n = model.n_components
            self._splits[key] = add_components(split, n) if n else split
        return self._splits[key]

    def _mean(self, fits: Callable[[str, int], Fit], model: Model, seed: int, name: str) -> Fit:
        """Return the mean of the members of a vote with the same name."""
        seeds = [number for member, number in self.members(model, seed) if member == name]
        parts = [fits(name, number) for number in seeds]
        times = (sum(fit.fit_s for fit in parts), sum(fit.predict_s for fit in parts))
        return Fit(np.mean([fit.probabilities for fit in parts], axis=0), None, *times)

    def _vote_on_valid(self, model: Model, seed: int) -> Fit:
        names = list(dict.fromkeys(name for name, _ in model.members))
        groups = {name: self._mean(self.valid, model, seed, name) for name in names}

        def score(weights: np.ndarray) -> float:
            found = vote(groups, dict(zip(names, weights, strict=True)))
            return self.split.score(self.split.valid, found.probabilities)

        if model.weigh:
            chosen, _ = search_weights(score, len(names))
        else:
            counts = [sum(name == other for other, _ in model.members) for name in names]
            chosen = np.array(counts) / len(model.members)
        return vote(groups, dict(zip(names, chosen.tolist(), strict=True)))

    def members(self, model: Model, seed: int) -> list[tuple[str, int]]:
        """Return the names and seeds of the members of a vote.

        Seeds wrap around, so that votes share their members: their spread over the seeds is
        smaller than that of independent votes.
        """
        return [(name, (seed + offset) % self.n_seeds) for name, offset in model.members]

    def _make(self, model: Model, seed: int, changes: dict[str, Any]) -> Any:
        shared: dict[str, Any] = {"n_jobs": self.n_jobs}
        if model.seeded:
            shared["random_state"] = seed
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
        split = self._features(model)
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


def vote(groups: dict[str, Fit], weights: dict[str, float]) -> Fit:
    """Return the weighted mean of probabilities; it is coherent if they are."""
    probabilities = sum(weights[name] * fit.probabilities for name, fit in groups.items())
    times = (
        sum(fit.fit_s for fit in groups.values()),
        sum(fit.predict_s for fit in groups.values()),
    )
    return Fit(np.asarray(probabilities), None, *times, weights=weights)
