"""The rounds of a boosted model as flat arrays, and the computation of margins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify._base.features import csr_parts
from ramify._savable import savable
from ramify._schema import Array, Flag, Increasing, Schema, Whole
from ramify.hierarchy.hierarchy import Hierarchy

__all__ = ["Rounds"]

_TESTS = ("feature", "threshold", "default_right")


@savable
@dataclass(frozen=True)
class Rounds:
    """The weak hypotheses of all rounds of a boosted model.

    A hypothesis consists of one complete tree per label, or of one tree for all labels. The nodes
    of a tree are stored level by level; the children of node k of a level are nodes 2k (left) and
    2k + 1 (right) of the next level. Arrays are ordered by round, then by node, then by label.

    Attributes
    ----------
    depth : int
        Number of tests on every path.
    shared : bool
        Whether all labels share one tree.
    feature : ndarray of int32
        The feature of each test; -1 sends all rows to the left.
    threshold : ndarray of float64
        The threshold of each test; larger values go to the right.
    default_right : ndarray of uint8
        Whether missing values go to the right.
    category_indptr, category_right : ndarrays of int64 and uint8
        The range of categories of each test, which is empty for numeric features, and whether
        each category goes to the right.
    sign : ndarray of int8
        The votes of the leaves for each label, +1 or -1.
    alpha : ndarray of float64
        The weight of each round.
    top_down : ndarray of uint8
        For each round and label, whether the vote is negative if the vote for a parent is
        negative.
    """

    depth: int
    shared: bool
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    default_right: NDArray[np.uint8]
    category_indptr: NDArray[np.int64]
    category_right: NDArray[np.uint8]
    sign: NDArray[np.int8]
    alpha: NDArray[np.float64]
    top_down: NDArray[np.uint8]

    _saved_schema: ClassVar[Schema] = {
        "depth": Whole(1, 64),
        "shared": Flag(),
        "feature": Array(("n_tests",), "i4", low=-1, below="n_features"),
        "threshold": Array(("n_tests",), finite=False),
        "default_right": Array(("n_tests",), "u1", high=1),
        "category_right": Array(("n_codes",), "u1", high=1),
        "category_indptr": Increasing("n_tests+1", "i8", first=0, last="n_codes"),
        "sign": Array(("n_signs",), "i1", low=-1, high=1),
        "alpha": Array(("n_rounds",)),
        "top_down": Array(("n_votes",), "u1", high=1),
    }

    @classmethod
    def join(
        cls,
        learnt: Sequence[Mapping[str, NDArray[Any]]],
        alphas: Sequence[float],
        *,
        depth: int,
        shared: bool,
    ) -> Rounds:
        """Concatenate rounds.

        Parameters
        ----------
        learnt : sequence of dicts
            The results of `Booster.learn`, one per round.
        alphas : sequence of float
            The weight of each round.
        depth, shared
            As in the attributes.

        Returns
        -------
        Rounds
            All rounds.
        """
        parts: dict[str, Any] = {}
        kinds = (np.int32, np.float64, np.uint8, np.uint8, np.int8, np.uint8)
        names = (*_TESTS, "category_right", "sign", "top_down")
        for name, kind in zip(names, kinds, strict=True):
            parts[name] = np.concatenate([np.zeros(0, kind), *(part[name] for part in learnt)])
        sizes = [np.diff(part["category_indptr"]) for part in learnt]
        indptr = np.concatenate([np.zeros(1, np.int64), *sizes])
        return cls(
            depth=depth,
            shared=shared,
            category_indptr=np.cumsum(indptr, dtype=np.int64),
            alpha=np.array(alphas, dtype=np.float64),
            **parts,
        )

    @property
    def n_rounds(self) -> int:
        """The number of rounds."""
        return len(self.alpha)

    def first(self, n_rounds: int) -> Rounds:
        """Return the first rounds only.

        Parameters
        ----------
        n_rounds : int
            Number of rounds to keep.

        Returns
        -------
        Rounds
            A copy of the first rounds.
        """
        n_tests = len(self.feature) // max(1, self.n_rounds) * n_rounds
        n_signs = len(self.sign) // max(1, self.n_rounds) * n_rounds
        n_votes = len(self.top_down) // max(1, self.n_rounds) * n_rounds
        indptr = self.category_indptr[: n_tests + 1].copy()
        return Rounds(
            depth=self.depth,
            shared=self.shared,
            category_indptr=indptr,
            category_right=self.category_right[: indptr[-1]].copy(),
            sign=self.sign[:n_signs].copy(),
            alpha=self.alpha[:n_rounds].copy(),
            top_down=self.top_down[:n_votes].copy(),
            **{name: getattr(self, name)[:n_tests].copy() for name in _TESTS},
        )

    def add_margins(
        self,
        X: Any,
        out: NDArray[np.float64],
        hierarchy: Hierarchy,
        *,
        first: int = 0,
        last: int | None = None,
        n_threads: int = 1,
    ) -> None:
        """Add the weighted votes of some rounds to `out`.

        Parameters
        ----------
        X : ndarray or sparse matrix
            Rows, as returned by `read_features`.
        out : ndarray of shape (n, n_labels)
            Receives the sums.
        hierarchy : Hierarchy
            The label hierarchy.
        first, last : int
            The range of rounds, excluding `last`; all rounds by default.
        n_threads : int
            Number of threads. The result does not depend on it.
        """
        arrays = {name: getattr(self, name) for name in self.__dataclass_fields__}
        last = self.n_rounds if last is None else last
        rest = (first, last, *hierarchy.parent_rows, n_threads, out)
        if sparse.issparse(X):
            indptr, indices, data, n_columns = csr_parts(X)
            _core.add_margins_csr(arrays, indptr, indices, data, n_columns, *rest)
        else:
            _core.add_margins(arrays, X, *rest)
