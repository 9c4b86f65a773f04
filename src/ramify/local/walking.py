"""Probabilities computed on demand: one path per row needs few of the local models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import delayed
from numpy.typing import NDArray
from scipy import sparse

from ramify._parallel import count_threads, in_parallel
from ramify.decision.paths import walk_to_candidates
from ramify.labels.hierarchy import Hierarchy
from ramify.local.learning import LocalModel, Queries
from ramify.local.problems import ROOT, parents_of

__all__ = [
    "StepsDown",
    "predict_paths",
]


_CELLS_AT_A_TIME = 16_000_000

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class StepsDown:
    """P(c) as the minimum over the parents p of combine(answer for c, P(p))."""

    # Returns the key of the model that gives the answer, given the positions of the parent (-1 for
    # the root) and of the label.
    find_key: Callable[[int, int], Any]
    # ``np.multiply`` if models estimate P(c | p), ``np.minimum`` if they estimate P(c).
    combine: np.ufunc

    def check(self, models: Mapping[Any, LocalModel], hierarchy: Hierarchy) -> None:
        """Raise an error if models, e.g. from a file, lack an answer."""
        for label in range(hierarchy.n_labels):
            for parent in parents_of(hierarchy, label):
                key = self.find_key(parent, label)
                if key not in models or label not in models[key].labels:
                    raise ValueError("the local models do not fit the labels")


def predict_paths(
    models: Mapping[Any, LocalModel],
    queries: Queries,
    hierarchy: Hierarchy,
    steps: StepsDown,
    *,
    decide: Callable[[NDArray[np.float64]], sparse.csr_array[np.int32]] | None = None,
    ends: NDArray[np.bool_] | None = None,
    n_jobs: int | None = None,
) -> sparse.csr_array[np.int32]:
    """Predict one path per row; models that cannot change the path are not evaluated.

    `decide` gets the probabilities of all labels; if None, the path follows the most probable
    child, and ends at one of `ends`.
    """
    n_rows, n_threads = queries.X.shape[0], count_threads(n_jobs)
    step = max(1, _CELLS_AT_A_TIME // hierarchy.n_labels)
    found = []
    for first in range(0, n_rows, step):
        part = queries.take(np.arange(first, min(first + step, n_rows)))
        scores = ScoresOnDemand(models, part, hierarchy, steps, n_threads=n_threads)
        if decide is None:
            found.append(walk_to_candidates(scores, hierarchy, ends))
        else:
            found.append(decide(scores.read_all()))
    if len(found) == 1:
        return found[0]
    paths: Any = sparse.vstack(found, format="csr")
    return sparse.csr_array(paths)


class ScoresOnDemand:
    """Probabilities of labels; each is computed for the rows that need it."""

    def __init__(
        self,
        models: Mapping[Any, LocalModel],
        queries: Queries,
        hierarchy: Hierarchy,
        steps: StepsDown,
        *,
        n_threads: int,
    ) -> None:
        self.n_rows = queries.X.shape[0]
        self._hierarchy = hierarchy
        self._models = models
        self._queries = queries
        self._steps = steps
        self._n_threads = n_threads
        # NaN marks what is not yet known.
        self._found = np.full((hierarchy.n_labels, self.n_rows), np.nan)
        self._answers: dict[Any, NDArray[np.float64]] = {}

    def prepare(self, steps: list[tuple[Rows, NDArray[Any]]]) -> None:
        """Compute the probabilities of labels for some rows, and those of their ancestors."""
        needed = [(rows, self._unknown(rows, labels)) for rows, labels in steps]
        self._evaluate(needed)
        for rows, labels in needed:
            self._fill(rows, labels)

    def read(self, rows: Rows, labels: NDArray[Any]) -> NDArray[np.float64]:
        """Return known probabilities, of shape (rows, labels), in C order."""
        return np.ascontiguousarray(self._found[np.ix_(labels, rows)].T)

    def read_all(self) -> NDArray[np.float64]:
        """Return the probabilities of all labels; below a label of 0, no model is evaluated."""
        hierarchy = self._hierarchy
        top = np.flatnonzero(np.diff(hierarchy.parent_rows[0]) == 0)
        self.prepare([(np.arange(self.n_rows), top)])
        indptr, children = hierarchy.child_rows
        for level in hierarchy.levels:
            steps = []
            for label in hierarchy.indices(level).tolist():
                rows = np.flatnonzero(self._found[label] > 0)
                below = children[indptr[label] : indptr[label + 1]]
                if len(rows) and len(below):
                    steps.append((rows, below))
            self.prepare(steps)
        return np.ascontiguousarray(np.nan_to_num(self._found.T))

    def _unknown(self, rows: Rows, labels: NDArray[Any]) -> list[int]:
        """Return the labels and ancestors that are not known for all rows, parents first."""
        unknown: set[int] = set()
        left = {int(label) for label in labels}
        while left:
            asked = np.array(sorted(left))
            found = self._found[np.ix_(asked, rows)]
            new = asked[np.isnan(found).any(axis=1)].tolist()
            unknown.update(new)
            above = {p for label in new for p in parents_of(self._hierarchy, label)}
            left = above - unknown - {ROOT}
        return sorted(unknown)  # positions of labels are in topological order

    def _evaluate(self, needed: list[tuple[Rows, list[int]]]) -> None:
        """Evaluate each model once, on the rows for which it is needed and was not evaluated."""
        wanted: dict[Any, list[Rows]] = {}
        for rows, labels in needed:
            for key in {k: None for label in labels for k in self._keys(label)}:
                if key not in self._answers:
                    shape = (len(self._models[key].labels), self.n_rows)
                    self._answers[key] = np.full(shape, np.nan)
                missing = rows[np.isnan(self._answers[key][0, rows])]
                if missing.size:
                    wanted.setdefault(key, []).append(missing)
        together: dict[bytes, tuple[Rows, list[Any]]] = {}
        for key, parts in wanted.items():
            rows = parts[0] if len(parts) == 1 else np.sort(np.concatenate(parts))
            together.setdefault(rows.tobytes(), (rows, []))[1].append(key)
        self._run(list(together.values()))

    def _keys(self, label: int) -> list[Any]:
        return [self._steps.find_key(p, label) for p in parents_of(self._hierarchy, label)]

    def _run(self, tasks: list[tuple[Rows, list[Any]]]) -> None:
        n_threads = self._n_threads
        if n_threads > 1 and len(tasks) < n_threads:
            tasks = [
                (rows, keys[k::n_threads])
                for rows, keys in tasks
                for k in range(min(n_threads, len(keys)))
            ]
        if n_threads == 1 or len(tasks) == 1:
            for rows, keys in tasks:
                self._answer(rows, keys)
            return
        calls = (delayed(self._answer)(rows, keys) for rows, keys in tasks)
        with closing(in_parallel(calls, n_jobs=n_threads, require="sharedmem")) as done:
            for _ in done:
                pass

    def _answer(self, rows: Rows, keys: list[Any]) -> None:
        part = self._queries.take(rows)
        for key in keys:
            self._answers[key][:, rows] = part.predict(self._models[key])

    def _fill(self, rows: Rows, labels: list[int]) -> None:
        """Compute probabilities from the answers of the models and those of the parents."""
        families: dict[tuple[tuple[int, Any], ...], list[int]] = {}
        for label in labels:
            parents = parents_of(self._hierarchy, label)
            sources = tuple((parent, self._steps.find_key(parent, label)) for parent in parents)
            families.setdefault(sources, []).append(label)
        # Labels are in topological order, so the family of a parent comes before its children's.
        for sources, family in families.items():
            values = [self._combine(*source, family, rows) for source in sources]
            least = values[0] if len(values) == 1 else np.min(values, axis=0)
            self._found[np.ix_(np.array(family), rows)] = least

    def _combine(
        self, parent: int, key: Any, labels: list[int], rows: Rows
    ) -> NDArray[np.float64]:
        own = self._models[key].labels
        places = np.array([own.index(label) for label in labels])
        values: NDArray[np.float64] = self._answers[key][np.ix_(places, rows)]
        if parent == ROOT:
            return values
        combined: NDArray[np.float64] = self._steps.combine(values, self._found[parent, rows])
        return combined
