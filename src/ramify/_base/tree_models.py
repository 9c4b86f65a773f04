"""Models made of trees: the one description that everything reads that shows or exports them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify.labels.hierarchy import Hierarchy


@dataclass(frozen=True)
class ModelTree:
    """A tree of a model."""

    name: str  # empty if the model is a single tree
    tree: _core.Tree
    outputs: NDArray[np.int64]  # the output of the model that each label of the tree is
    # The branch that missing values take in each node, -1 if they are divided among all; None if
    # they are divided everywhere.
    missing_branch: NDArray[np.int64] | None = None


@dataclass(frozen=True)
class Margins:
    """How the sums of boosted trees become probabilities of labels."""

    start: NDArray[np.float32]  # the margins before the first tree
    # The margins are those of these label sets, with softmax; None if they are those of labels.
    label_sets: sparse.csr_array[np.int32] | None
    coherence: str  # how probabilities of labels are made coherent


@dataclass(frozen=True)
class TreeModel:
    """A fitted model as trees, all that inspection, export and sizes read; see `_as_trees`."""

    trees: tuple[ModelTree, ...]
    hierarchy: Hierarchy  # the names of the outputs
    # The combined output of the trees, n × n_outputs, for X as returned by `read_features`.
    predict: Callable[[Any], NDArray[Any]]
    # How the trees are combined: "mean"; "sum" of margins; "votes" of CLUS's multi-label forests;
    # "groups" if each output is predicted by one tree; None for any other way.
    combination: str | None = "mean"
    unit: str = "probability"  # what the leaves hold: "probability", "margin" or "value"
    outputs: str = "labels"  # what the outputs are: "labels", "label sets" or "targets"
    made_features: tuple[str, ...] = ()  # features that the model adds to those of X
    margins: Margins | None = None  # for the unit "margin"
