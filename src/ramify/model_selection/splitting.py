"""Stratified splits for hierarchical labels, which preserve the proportion of every label."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state

from ramify._messages import did_you_mean, shorten
from ramify._savable import savable
from ramify.labels.encoding import read_labels
from ramify.labels.hierarchy import Hierarchy

Rows = NDArray[np.intp]


@savable
class HierarchicalStratifiedKFold(BaseCrossValidator):  # type: ignore[misc]  # untyped
    """Stratified k-fold cross-validator that preserves the proportion of every label.

    The folds are built by iterative stratification (Sechidis et al., 2011) on the labels
    including their ancestors: the rarest remaining label is distributed first, and each of its
    rows goes to the fold that lacks this label most. Rows without a label are distributed
    evenly. A label with fewer rows than folds cannot occur in every fold; its ancestors are
    stratified instead.

    Parameters
    ----------
    n_splits : int
        Number of folds. Must be at least 2.
    hierarchy : Hierarchy or None
        The label hierarchy, as in the estimators. If None, it is inferred from path labels, and
        the columns of a label matrix are flat labels.
    shuffle : bool
        Whether to shuffle the rows first. Without shuffling, every call gives the same folds.
    random_state : int, RandomState or None
        Seed for shuffling and for breaking ties. Not used without shuffling.

    Notes
    -----
    The folds are those of the package iterative-stratification, which works on a dense matrix, in
    time proportional to rows × labels². Here only the labels of each row are visited.

    Labels with fewer rows than folds are dropped in favour of their ancestors because the rarest
    labels are distributed first and would determine the fold of most rows. On the 4,125 labels of
    cellcycle_GO, 3 % of the pairs of a fold and a sufficiently frequent label are empty with them,
    and 0.3 % without them.

    Examples
    --------
    >>> import numpy as np
    >>> from ramify.model_selection import HierarchicalStratifiedKFold
    >>> y = ["a/b", "a/b", "a/c", "a/c", "d", "d"]
    >>> for train, test in HierarchicalStratifiedKFold(2, random_state=0).split(np.zeros(6), y):
    ...     print(sorted(y[i] for i in test))
    ['a/b', 'a/c', 'd']
    ['a/b', 'a/c', 'd']
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        hierarchy: Hierarchy | None = None,
        shuffle: bool = True,
        random_state: Any = None,
    ) -> None:
        self.n_splits = n_splits
        self.hierarchy = hierarchy
        self.shuffle = shuffle
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds; the arguments are ignored."""
        return self.n_splits

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[Rows, Rows]]:
        """Yield the row numbers of the training and the test set of every fold.

        Parameters
        ----------
        X : array-like or None
            Only its number of rows is used.
        y : labels in any format accepted by the estimators
            The labels to stratify by. Unknown labels are not counted.
        groups : object
            Ignored.

        Yields
        ------
        train, test : ndarray of int
            Sorted row numbers.
        """
        labels = read_labels(y, self.hierarchy, allow_unknown=True)
        n = _count_rows(X, labels.Y)
        if not isinstance(self.n_splits, int | np.integer) or not 2 <= self.n_splits <= n:
            raise ValueError(
                f"n_splits must be an integer from 2 to the number of rows, which is {n}, got "
                f"{self.n_splits!r}."
            )
        rng = check_random_state(self.random_state if self.shuffle else 0)
        order = rng.permutation(n) if self.shuffle else np.arange(n)
        folds = np.empty(n, dtype=np.intp)
        Y = _without_rare(labels.Y, labels.hierarchy, self.n_splits)
        folds[order] = stratify(Y[order], np.full(self.n_splits, 1 / self.n_splits), rng)
        for fold in range(self.n_splits):
            yield np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)


@savable
class HierarchicalStratifiedShuffleSplit(BaseCrossValidator):  # type: ignore[misc]  # untyped
    """Random train/test splits that preserve the proportion of every label.

    Parameters
    ----------
    n_splits : int
        Number of splits.
    test_size : float or int
        If float, the fraction of the rows in the test set; if int, their number. The test set
        can be a few rows larger or smaller, because label proportions take precedence.
    hierarchy : Hierarchy or None
        As in `HierarchicalStratifiedKFold`.
    random_state : int, RandomState or None
        Seed for shuffling and for breaking ties.

    Examples
    --------
    A single train/test split:

    >>> from ramify.datasets import load_animals
    >>> from ramify.model_selection import HierarchicalStratifiedShuffleSplit
    >>> data = load_animals()
    >>> splitter = HierarchicalStratifiedShuffleSplit(
    ...     1, test_size=0.2, hierarchy=data.hierarchy, random_state=0)
    >>> train, test = next(splitter.split(data.X, data.y))
    >>> X_train, y_train = data.X.iloc[train], data.y[train]
    >>> mammal = data.hierarchy.index("taxonomy/mammal")
    >>> float(round(data.y[test].toarray()[:, mammal].mean(), 2))
    0.29
    """

    def __init__(
        self,
        n_splits: int = 10,
        *,
        test_size: float = 0.25,
        hierarchy: Hierarchy | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_splits = n_splits
        self.test_size = test_size
        self.hierarchy = hierarchy
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits; the arguments are ignored."""
        return self.n_splits

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[Rows, Rows]]:
        """Yield the row numbers of the training and the test set of every split.

        Parameters
        ----------
        X : array-like or None
            Only its number of rows is used.
        y : labels in any format accepted by the estimators
            The labels to stratify by. Unknown labels are not counted.
        groups : object
            Ignored.

        Yields
        ------
        train, test : ndarray of int
            Sorted row numbers.
        """
        labels = read_labels(y, self.hierarchy, allow_unknown=True)
        n = _count_rows(X, labels.Y)
        share = self._test_share(n)
        Y = _without_rare(labels.Y, labels.hierarchy, 1 / min(share, 1 - share))
        rng = check_random_state(self.random_state)
        for _ in range(self.n_splits):
            order = rng.permutation(n)
            parts = stratify(Y[order], np.array([1 - share, share]), rng)
            yield np.sort(order[parts == 0]), np.sort(order[parts == 1])

    def _test_share(self, n: int) -> float:
        size = self.test_size
        share = size / n if isinstance(size, int | np.integer) and n else size
        if not 0 < share < 1:
            raise ValueError(
                "test_size must be a fraction strictly between 0 and 1, or a number of rows from "
                f"1 to {n - 1}, got {size!r}."
            )
        return float(share)


def predefined_split(
    data: Any, train: str | Sequence[str] | None = None, test: str | Sequence[str] = "test"
) -> list[tuple[Rows, Rows]]:
    """Return the published split of a data set as a cross-validation with one fold.

    The result can be passed as ``cv`` to ``cross_validate`` and to scikit-learn's search
    estimators, together with all rows, ``data.X`` and ``data.y``.

    Parameters
    ----------
    data : DataSet
        A data set with `splits`, a dict that maps names to row numbers.
    train : str, sequence of str or None
        The splits to train on. If None, all splits except those in `test`.
    test : str or sequence of str
        The splits to test on.

    Returns
    -------
    list of one tuple (train, test)
        Row numbers of the training and the test rows.

    Examples
    --------
    >>> from ramify.model_selection import predefined_split
    >>> from types import SimpleNamespace
    >>> data = SimpleNamespace(splits={"train": [0, 1], "valid": [2], "test": [3, 4]})
    >>> predefined_split(data)
    [(array([0, 1, 2]), array([3, 4]))]

    To tune parameters on the validation rows without using the test rows:

    >>> predefined_split(data, train="train", test="valid")
    [(array([0, 1]), array([2]))]
    """
    tested = [test] if isinstance(test, str) else list(test)
    if train is None:
        trained = [name for name in data.splits if name not in tested]
    else:
        trained = [train] if isinstance(train, str) else list(train)
    twice = [name for name in trained if name in tested]
    if twice:
        raise ValueError(
            f"train and test must not share a split, got {shorten(twice)} in both. Pass different "
            "splits."
        )
    return [(_rows(data.splits, trained, "train"), _rows(data.splits, tested, "test"))]


def _rows(splits: Mapping[str, Any], names: Sequence[str], argument: str) -> Rows:
    for name in names:
        if name not in splits:
            raise ValueError(
                f"{argument} must name splits of the data set, which are {shorten(splits)}, got "
                f"{name!r}.{did_you_mean(name, splits)}"
            )
    if not names:
        raise ValueError(
            f"{argument} must name at least one split, but none is left: the data set has only "
            f"{shorten(splits)}. Use HierarchicalStratifiedKFold for data with one split."
        )
    return np.concatenate([np.asarray(splits[name], dtype=np.intp) for name in names])


def _count_rows(X: Any, Y: sparse.csr_array[np.int32]) -> int:
    """Return the number of rows, which must be the same in X and Y."""
    n = int(Y.shape[0])
    n_rows = n if X is None else X.shape[0] if hasattr(X, "shape") else len(X)
    if n_rows != n:
        raise ValueError(f"X has {n_rows} rows, but y has {n}. Pass one label set per row of X.")
    return n


def _without_rare(
    Y: sparse.csr_array[np.int32], hierarchy: Hierarchy, enough: float
) -> sparse.csr_array[np.int32]:
    """Drop labels with fewer than `enough` rows if an ancestor has at least `enough`."""
    counts = np.bincount(Y.indices, minlength=hierarchy.n_labels)
    common = (counts >= enough).tolist()
    indptr, indices = (rows.tolist() for rows in hierarchy.parent_rows)
    covered: list[bool] = []  # has an ancestor with enough rows
    for start, stop in pairwise(indptr):
        covered.append(any(common[p] or covered[p] for p in indices[start:stop]))
    return sparse.csr_array(Y[:, np.flatnonzero(np.array(common) | ~np.array(covered))])


def stratify(
    labels: sparse.csr_array[np.int32], shares: NDArray[np.float64], rng: np.random.RandomState
) -> Rows:
    """Assign rows to parts of the given sizes by iterative stratification."""
    n, n_labels = labels.shape
    columns = labels.tocsc()
    left = np.bincount(labels.indices, minlength=n_labels)  # unassigned rows of every label
    wanted = np.outer(shares, left)
    wanted_rows = shares * n
    parts = np.full(n, -1, dtype=np.intp)
    while left.any():
        label = _draw(np.flatnonzero(left == left[left > 0].min()), rng)
        rows = columns.indices[columns.indptr[label] : columns.indptr[label + 1]]
        for row in rows[parts[rows] < 0]:
            part = _neediest(wanted[:, label], wanted_rows, rng)
            its_labels = labels.indices[labels.indptr[row] : labels.indptr[row + 1]]
            parts[row] = part
            wanted[part, its_labels] -= 1
            wanted_rows[part] -= 1
            left[its_labels] -= 1
    for row in np.flatnonzero(parts < 0):
        parts[row] = _draw(np.flatnonzero(wanted_rows == wanted_rows.max()), rng)
        wanted_rows[parts[row]] -= 1
    return parts


def _neediest(
    wanted: NDArray[np.float64], wanted_rows: NDArray[np.float64], rng: np.random.RandomState
) -> int:
    """Choose the part that lacks the label most; break ties by the number of rows it lacks."""
    parts = np.flatnonzero(wanted == wanted.max())
    lacks = wanted_rows[parts]
    return _draw(parts[lacks == lacks.max()], rng)


def _draw(choices: NDArray[Any], rng: np.random.RandomState) -> int:
    """Draw one choice; a single choice uses no random number."""
    return int(choices[rng.choice(choices.size)] if choices.size > 1 else choices[0])
