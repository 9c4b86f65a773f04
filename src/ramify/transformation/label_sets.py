"""Base class of classifiers whose classes are label sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify._schema import Anything, MapOf, Part, Schema, Sparse
from ramify.hierarchy.hierarchy import Hierarchy
from ramify.local.base import LocalArchitecture
from ramify.local.models import LocalModel
from ramify.local.problems import LabelRows, LocalProblem

__all__ = ["LabelSetClassifier"]

_BITS = 62  # labels per integer in the codes of label sets

Rows = NDArray[np.int64]


class LabelSetClassifier(LocalArchitecture):
    """Base class of classifiers whose models predict one of the label sets seen in training.

    Each model predicts some of the labels; its classes are the distinct sets of these labels. The
    classes of all models are numbered consecutively.
    """

    label_sets_: sparse.csr_array[np.int32]

    _saved_schema: ClassVar[Schema] = {
        "label_sets_": Sparse(("n_sets", "n_labels"), "i4 i8", low=1, high=1),
        "local_models_": MapOf(
            Anything(), Part(LocalModel, n_features="n_features_in_", n_labels="n_sets")
        ),
    }

    def _learn_sets(
        self, rows: LabelRows, groups: Sequence[NDArray[np.int64]]
    ) -> list[LocalProblem]:
        """Return a problem for each group of labels, and set `label_sets_`."""
        problems: list[LocalProblem] = []
        sets: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        n_classes = 0
        for number, group in enumerate(groups):
            positives, members = _classes_of(rows, group)
            classes = tuple(range(n_classes, n_classes + len(positives)))
            n_classes += len(positives)
            problems.append(
                LocalProblem(number, classes, rows.all, positives, exclusive=True, complete=True)
            )
            sets.append((np.repeat(classes, np.diff(members.indptr)), group[members.indices]))
        of_class = np.concatenate([classes for classes, _ in sets])
        labels = np.concatenate([chosen for _, chosen in sets])
        ones = np.ones(len(labels), dtype=np.int32)
        shape = (n_classes, rows.hierarchy.n_labels)
        self.label_sets_ = sparse.csr_array((ones, (of_class, labels)), shape=shape)
        self.__dict__.pop("_set_names", None)
        return problems

    @cached_property
    def _set_names(self) -> Hierarchy:
        return Hierarchy.from_labels(range(self.label_sets_.shape[0]))

    def _targets(self) -> Hierarchy:
        return self._set_names

    def _readable_targets(self) -> Hierarchy:
        names, groups = self.hierarchy_.labels, getattr(self, "groups_", None)
        found = [""] * self.label_sets_.shape[0]
        for number, model in self.local_models_.items():
            # The same set in several models is a different class in each of them.
            whose = "" if groups is None else f" of {_write_set(groups[number])}"
            for row in model.labels:
                start, end = self.label_sets_.indptr[row : row + 2].tolist()
                members = np.sort(self.label_sets_.indices[start:end]).tolist()
                found[row] = _write_set([names[c] for c in members]) + whose
        return Hierarchy.from_labels(found)

    def _set_saved_state(self, state: Mapping[str, Any]) -> None:
        sets = state.get("label_sets_")
        if sets is not None and sets.shape[1] != state["hierarchy_"].n_labels:
            raise ValueError("label_sets_ and hierarchy_ do not fit together")
        self.__dict__.pop("_set_names", None)
        super()._set_saved_state(state)


def _write_set(labels: Sequence[Any]) -> str:
    return "{" + ", ".join(map(str, labels)) + "}"


def _classes_of(
    rows: LabelRows, group: NDArray[np.int64]
) -> tuple[tuple[Rows, ...], sparse.csr_array[np.int32]]:
    """Return the rows of each distinct set of the group's labels, and the sorted sets."""
    codes = np.zeros((rows.n_rows, -(-len(group) // _BITS)), dtype=np.int64)
    for j, label in enumerate(group.tolist()):
        codes[rows.of(label), j // _BITS] |= 1 << (j % _BITS)
    known = codes[rows.all]
    keys = known[:, 0] if known.shape[1] == 1 else known
    distinct, number = np.unique(keys, axis=0, return_inverse=True)
    order = np.argsort(number.ravel(), kind="stable")
    counts = np.bincount(number.ravel(), minlength=len(distinct))
    positives = tuple(np.split(rows.all[order], np.cumsum(counts)[:-1]))
    words = distinct.reshape(len(distinct), -1)
    bits = (words[:, :, None] >> np.arange(_BITS)) & 1
    members = bits.reshape(len(distinct), -1)[:, : len(group)]
    return positives, sparse.csr_array(members.astype(np.int32))
