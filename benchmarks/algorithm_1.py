"""A literal NumPy version of Algorithm 1 of H-Ada.MH: what happens below chance.

Run as ``python -m benchmarks.algorithm_1 imclef07a --rounds 120``. The paper does not say what to
do if the corrected votes of a round have an r (Eq. 9) of 0 or less. Read literally, the round gets
an alpha of 0 or less (Eq. 8) and boosting continues; ramify stops. Both are printed. No code of
ramify is used: features have 256 bins, and label sets follow the sign of the votes (Eq. 12).
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ramify import Hierarchy, fetch

N_BINS = 256
PRINTED = (1, 2, 5, 10, 15, 20, 30, 50, 75, 100, 150, 200, 300, 400, 500, 600)


@dataclass(frozen=True)
class Labels:
    """A tree of labels: the columns of each level, and the parent of each column or -1."""

    levels: list[np.ndarray]
    parents: np.ndarray

    @classmethod
    def of(cls, hierarchy: Hierarchy) -> Labels:
        """Read a hierarchy."""
        levels = [np.asarray(hierarchy.indices(level)) for level in hierarchy.levels]
        parents = np.full(hierarchy.n_labels, -1)
        for column, label in enumerate(hierarchy.labels):
            for parent in hierarchy.indices(hierarchy.parents(label)):
                parents[column] = parent
        return cls(levels, parents)

    def costs(self) -> np.ndarray:
        """Return the cost of each label (Eq. 6)."""
        found = np.ones(len(self.parents))
        for level in self.levels:
            for column in level:
                parent = self.parents[column]
                whole = found[parent] if parent >= 0 else 1.0
                found[column] = whole / np.count_nonzero(self.parents == parent)
        return found

    def correct(self, votes: np.ndarray) -> np.ndarray:
        """Make votes negative below negative votes (Eq. 7), in place."""
        for level in self.levels[1:]:
            votes[:, level] = np.where(votes[:, self.parents[level]] > 0, votes[:, level], -1)
        return votes


def bins_of(X: np.ndarray, train: np.ndarray) -> np.ndarray:
    """Return the bin of every value; the edges are middles or quantiles of the training rows."""
    found = np.empty(X.shape, dtype=np.intp)
    for feature, column in enumerate(X.T):
        values = np.unique(column[train])
        edges = (values[1:] + values[:-1]) / 2
        if len(edges) >= N_BINS:
            shares = np.linspace(0, 1, N_BINS + 1)[1:-1]
            edges = np.unique(np.quantile(column[train], shares))
        found[:, feature] = np.searchsorted(edges, column)
    return found


def best_stumps(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the feature, the last bin on the left and the votes of the best stump of each label.

    `sums` has the weighted labels by feature, bin and label.
    """
    left = np.cumsum(sums, axis=1)
    right = left[:, -1:] - left
    n_features, n_bins, n_labels = sums.shape
    flat = (n_features * n_bins, n_labels)
    best = (np.abs(left) + np.abs(right)).reshape(flat).argmax(axis=0)
    own = best, np.arange(n_labels)
    votes = [np.where(side.reshape(flat)[own] > 0, 1.0, -1.0) for side in (left, right)]
    return best // n_bins, best % n_bins, votes[0], votes[1]


def scores(signs: np.ndarray, truth: np.ndarray, labels: Labels) -> tuple[float, float]:
    """Return micro-F1 and the hierarchy-aware Hamming loss (Eq. 2 and 3) of corrected signs."""
    given, true = labels.correct(np.where(signs > 0, 1.0, -1.0)) > 0, truth > 0
    wrong = given != true
    for level in labels.levels[1:]:
        wrong[:, level] |= wrong[:, labels.parents[level]]
    return 2 * (given & true).sum() / (given.sum() + true.sum()), float(wrong.mean())


def run(name: str, n_rounds: int) -> None:
    """Boost by Algorithm 1 and print r and the scores on the test rows."""
    data = fetch(name, as_frame=False)
    labels = Labels.of(data.hierarchy)
    train, test = data.splits["train"], data.splits["test"]
    X = data.X.toarray() if sparse.issparse(data.X) else np.asarray(data.X, dtype=np.float64)
    Y = np.where(data.y.toarray() > 0, 1.0, -1.0)
    bins = bins_of(X, train)
    n, n_features = len(train), X.shape[1]
    cells = bins[train] + N_BINS * np.arange(n_features)
    shape = (n, N_BINS * n_features)
    ones = np.ones(cells.size)
    by_bin = sparse.csr_array((ones, (np.repeat(np.arange(n), n_features), cells.ravel())), shape)
    by_bin = by_bin.T.tocsr()
    costs = labels.costs()
    weights = np.tile(costs / costs.sum() / n, (n, 1))
    total = np.zeros((len(test), Y.shape[1]))
    below = False
    for number in range(1, n_rounds + 1):
        sums = (by_bin @ (weights * Y[train])).reshape(n_features, N_BINS, -1)
        feature, last, left, right = best_stumps(sums)
        votes = labels.correct(np.where(bins[:, feature] <= last, left, right))
        r = float((weights * Y[train] * votes[train]).sum())
        if r <= 0 and not below:
            below = True
            f1, loss = scores(total, Y[test], labels)
            print(f"{name}: r is {r:.4f} in round {number}; stopped there: {f1:.3f}, {loss:.4f}")
        alpha = 0.5 * np.log((1 + r) / (1 - r))
        weights *= np.exp(-alpha * Y[train] * votes[train])
        weights /= weights.sum()
        total += alpha * votes[test]
        if number in PRINTED or number == n_rounds:
            f1, loss = scores(total, Y[test], labels)
            print(
                f"{name}: round {number}, r {r:.4f}, micro-F1 {f1:.3f}, loss {loss:.4f}",
                flush=True,
            )


def main() -> None:
    """Run on the data sets named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="*", default=["imclef07a", "imclef07d"])
    parser.add_argument("--rounds", type=int, default=100)
    options = parser.parse_args()
    for name in options.datasets:
        run(name, options.rounds)


if __name__ == "__main__":
    main()
