"""Base class of forests, bagging and extra trees: fitting, out-of-bag scores, members."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify._base.classifier import HierarchicalClassifier, copy_input_attributes
from ramify._base.measuring import measure_scores, read_measure
from ramify._base.streaming import VotingTrees
from ramify._parallel import count_threads
from ramify._schema import Array, IfPresent, ListOf, Number, Schema, TreeOf, Whole
from ramify._validation import check_number
from ramify.labels.encoding import EncodedLabels
from ramify.trees.classifier import PCTClassifier
from ramify.trees.members import (
    Sampling,
    check_max_samples,
    grow_member,
    keep_trees,
    multilabel_votes,
    read_seed,
)
from ramify.trees.parameters import check_labelled, check_tree, is_list, plan_growth, weigh_labels
from ramify.trees.plan import GrowthPlan
from ramify.trees.training_data import TrainingData
from ramify.trees.tree_ensemble import TreeEnsemble

__all__ = [
    "PCTEnsemble",
    "check_ensemble",
    "grow_in_turn",
    "make_member",
]


_SHARED_PARAMETERS = tuple(
    name
    for name in PCTClassifier().get_params(deep=False)
    if name not in ("splitter", "n_jobs", "random_state")
)
"""Parameters that an ensemble passes on to its trees, if it has them."""


class PCTEnsemble(TreeEnsemble, HierarchicalClassifier):
    """Base class of the ensembles of predictive clustering trees.

    All parameters that a subclass has in common with `PCTClassifier` are passed on to the trees.
    """

    oob_score: Any
    warm_start: bool
    clus_compat: bool
    oob_score_: float
    oob_decision_function_: NDArray[np.float64]

    _saved_schema: ClassVar[Schema] = {
        "trees_": ListOf(TreeOf("n_features_in_", "n_labels")),
        "_seed": Whole(-(2**63)),
        "oob_decision_function_": IfPresent(Array(("n_rows", "n_labels"), finite=False)),
        "oob_score_": IfPresent(Number(finite=False)),
    }

    _splitter: ClassVar[str] = "best"
    """The `splitter` of the trees."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> PCTEnsemble:
        """Grow the trees.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Training rows. NaN marks missing values; string and categorical columns of a data
            frame are nominal.
        y : array-like
            Labels of the n rows, in any format accepted by `ramify.labels.read_labels`.
        sample_weight : array-like of shape (n,), optional
            Sample weights. They do not affect which rows are drawn; a row drawn twice has twice
            its weight.

        Returns
        -------
        PCTEnsemble
            The fitted classifier.
        """
        kept = keep_trees(self)
        previous = (self.n_features_in_, self.hierarchy_) if kept else None
        X, encoded, weights = self._read_training(X, y, sample_weight, clus_order=self._clus)
        if previous is not None and previous != (self.n_features_in_, encoded.hierarchy):
            raise ValueError(
                "X and y must have the same features and labels as in the previous fit with "
                "warm_start=True. Pass the same data, or set warm_start=False."
            )
        self._grow(X, encoded, weights, kept)
        return self

    def _check_parameters(self) -> None:
        check_ensemble(self)

    def _grow(
        self,
        X: Any,
        encoded: EncodedLabels,
        weights: NDArray[np.float64],
        kept: list[_core.Tree],
    ) -> None:
        member, single_label = make_member(self), self.format_.single_label
        plan = plan_growth(member, self.hierarchy_, X.shape[1], single_label=single_label)
        check_labelled(plan, encoded.Y, weights)
        # As in scikit-learn, fractions refer to all rows, not to the sample of a tree.
        plan = plan.for_rows(int(np.count_nonzero(weights > 0)))
        label_weights = weigh_labels(member, self.hierarchy_, encoded.Y, weights)
        data = TrainingData(
            X,
            self.schema_,
            encoded.Y,
            weights,
            label_weights,
            many=True,
            clus=self._clus,
            n_jobs=self.n_jobs,
        )
        sampling = self._sampling(np.diff(encoded.Y.indptr) > 0)
        seeds = self._grow_trees(data, data.find_sets(plan), sampling, kept)
        if self.oob_score:
            self._score_out_of_bag(X, encoded.Y, sampling.left_out(seeds))

    def _sampling(self, labelled: NDArray[np.bool_]) -> Sampling:
        if self._clus and self.criterion != "variance":
            # In multi-label mode, rows without labels are negatives of all labels.
            labelled = np.ones_like(labelled)
        return super()._sampling(labelled)

    def _score_out_of_bag(
        self, X: Any, Y: sparse.csr_array[np.int32], left_out: NDArray[np.uint8]
    ) -> None:
        scores, has_votes = self._vote_out_of_bag(X, left_out)
        self.oob_decision_function_ = scores
        if not has_votes.any():
            self.oob_score_ = float("nan")
            return
        rows = np.flatnonzero(has_votes)
        self.oob_score_ = measure_scores(
            read_measure(self.oob_score),
            Y[rows],
            scores[rows],
            self.hierarchy_,
            lambda found: self._decide(found, None),
        )

    @property
    def _n_values(self) -> int:
        return self.hierarchy_.n_labels

    def _vote(
        self, X: Any, out: NDArray[np.float64], voters: NDArray[np.uint8] | None = None
    ) -> None:
        super()._vote(X, out, voters)
        np.minimum(out, 1.0, out=out)

    def _predict_scores(self, X: Any) -> NDArray[np.float64]:
        if self._clus and self.criterion != "variance":
            return multilabel_votes(self.trees_, X, self.hierarchy_.n_labels)
        scores = np.empty((X.shape[0], self.hierarchy_.n_labels))
        self._vote(X, scores)
        return scores

    def _voting_trees(self) -> VotingTrees | None:
        if self._clus and self.criterion != "variance":
            return None
        n_threads = count_threads(self.n_jobs)
        return VotingTrees(self.trees_, self.hierarchy_.n_labels, self._clus, n_threads)

    def _as_estimator(self, tree: _core.Tree) -> PCTClassifier:
        member = make_member(self)
        copy_input_attributes(self, member)
        member.tree_, member.f_test_ = tree, member.f_test
        return member


def check_ensemble(ensemble: PCTEnsemble) -> None:
    """Raise an error if a parameter of an ensemble is invalid."""
    check_number("n_estimators", ensemble.n_estimators, 1, whole=True)
    if is_list(ensemble.f_test):
        raise ValueError(
            f"f_test must be a single level in an ensemble, got {ensemble.f_test!r}: only "
            "PCTClassifier accepts a list. Pass one level, or use scikit-learn's GridSearchCV."
        )
    if ensemble.f_test is not None:
        check_number("f_test", ensemble.f_test, 1e-12, 1)
    check_max_samples(ensemble.max_samples)
    if ensemble.max_samples is not None and not ensemble.bootstrap:
        raise ValueError(
            f"max_samples must be None with bootstrap=False, got {ensemble.max_samples!r}. "
            "Set bootstrap=True to draw rows."
        )
    if ensemble.oob_score and not ensemble.bootstrap:
        raise ValueError(
            f"oob_score must be False with bootstrap=False, got {ensemble.oob_score!r}: all trees "
            "use all rows. Set bootstrap=True, or oob_score=False."
        )
    read_measure(ensemble.oob_score)
    check_tree(make_member(ensemble))


def make_member(ensemble: PCTEnsemble) -> PCTClassifier:
    """Return an unfitted tree with the parameters of an ensemble.

    Examples
    --------
    >>> from ramify import PCTExtraTreesClassifier
    >>> make_member(PCTExtraTreesClassifier(n_estimators=10, max_depth=3)).splitter
    'random'
    """
    names = [name for name in _SHARED_PARAMETERS if hasattr(ensemble, name)]
    shared = {name: getattr(ensemble, name) for name in names}
    return PCTClassifier(splitter=ensemble._splitter, **shared)


def grow_in_turn(ensemble: PCTEnsemble, data: TrainingData, plan: GrowthPlan) -> None:
    """Grow the trees of an ensemble sequentially on converted data, instead of calling `fit`.

    `ensemble`: receives the trees.
    """
    n_rows = data.n_rows if data.rows is None else len(data.rows)
    sampling = ensemble._sampling(np.ones(n_rows, dtype=bool))
    ensemble._seed = read_seed(ensemble.random_state, clus=ensemble._clus)
    seeds = sampling.seeds(ensemble._seed, ensemble.n_estimators)
    plan = data.find_sets(plan).for_rows(n_rows)
    ensemble.trees_ = [grow_member(data, plan, sampling, seed) for seed in seeds]
