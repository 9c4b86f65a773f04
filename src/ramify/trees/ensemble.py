"""Base class of forests, bagging and extra trees: fitting, out-of-bag scores, members."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ramify import _core
from ramify._base.classifier import INPUT_ATTRIBUTES, HierarchicalClassifier
from ramify._base.measuring import measure_scores, read_measure
from ramify._base.streaming import VotingTrees
from ramify._base.tree_models import TreeModel
from ramify._parallel import count_threads
from ramify._schema import Array, IfPresent, ListOf, Number, Schema, TreeOf, Whole
from ramify.labels.class_weight import check_class_weight, class_factors
from ramify.labels.encoding import EncodedLabels
from ramify.trees.classifier import PCTClassifier
from ramify.trees.clus import label_conventions
from ramify.trees.conventions import Conventions
from ramify.trees.criteria import check_criterion, check_label_weight
from ramify.trees.growing import grow_member
from ramify.trees.options import TreeOptions
from ramify.trees.parameters import check_parameters
from ramify.trees.tree_data import TreeData, label_data
from ramify.trees.tree_ensemble import TreeEnsemble

__all__ = [
    "PCTEnsemble",
    "grow_in_turn",
]


class PCTEnsemble(TreeEnsemble, HierarchicalClassifier):
    """Base class of the ensembles of predictive clustering trees.

    All parameters that a subclass has in common with `PCTClassifier` are passed on to the trees.
    """

    oob_score: Any
    warm_start: bool
    clus_compat: bool
    label_weight: Any
    class_weight: Any
    oob_score_: float
    oob_decision_function_: NDArray[np.float64]

    _saved_schema: ClassVar[Schema] = {
        "trees_": ListOf(TreeOf("n_features_in_", "n_labels")),
        "_seed": Whole(-(2**63)),
        "oob_decision_function_": IfPresent(Array(("n_rows", "n_labels"), finite=False)),
        "oob_score_": IfPresent(Number(finite=False)),
    }

    _member = PCTClassifier
    _describing = INPUT_ATTRIBUTES

    splitter: str = "best"

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
        self._fit_trees(X, y, sample_weight)
        return self

    @property
    def _conventions(self) -> Conventions:
        return label_conventions(self)

    @property
    def _draws_by_class(self) -> bool:
        """Whether class weights decide how often rows are drawn, instead of their weights.

        Trees that are grown until their leaves are pure would hardly notice the weights.
        """
        return self.class_weight is not None and self.bootstrap and not self._clus

    def _weigh_classes(
        self, encoded: EncodedLabels, weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        found = super()._weigh_classes(encoded, weights)
        return np.where(found > 0, weights, 0.0) if self._draws_by_class else found

    def _check_parameters(self) -> None:
        check_criterion(self)
        check_label_weight(self.label_weight)
        check_class_weight(self.class_weight)
        read_measure(self.oob_score)
        check_parameters(self)

    def _read_data(self, X: Any, y: Any, sample_weight: Any) -> TreeData:
        X, encoded, weights = self._read_training(X, y, sample_weight, clus_order=self._clus)
        data = label_data(self, X, encoded.Y, weights, many=True)
        if not self._draws_by_class:
            return data
        factors = class_factors(self.class_weight, encoded.Y, encoded.format, weights)
        return data.with_factors(factors, draws=True)

    def _describe_output(self) -> tuple[Any, ...]:
        return self.n_features_in_, self.hierarchy_

    def _score_out_of_bag(
        self, data: TreeData, scores: NDArray[np.float64], has_votes: NDArray[np.bool_]
    ) -> None:
        self.oob_decision_function_ = scores
        if not has_votes.any():
            self.oob_score_ = float("nan")
            return
        rows = np.flatnonzero(has_votes)
        self.oob_score_ = measure_scores(
            read_measure(self.oob_score),
            data.Y[rows],
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
        scores = np.empty((X.shape[0], self.hierarchy_.n_labels))
        self._vote(X, scores)
        return scores

    def _as_trees(self) -> TreeModel:
        trees = self._named_trees(np.arange(self.hierarchy_.n_labels))
        combination = "votes" if self._clus and self.criterion != "variance" else "mean"
        return TreeModel(trees, self.hierarchy_, self._predict_scores, combination)

    def _voting_trees(self) -> VotingTrees | None:
        if not self._conventions.votes_are_means:
            return None
        n_threads = count_threads(self.n_jobs)
        return VotingTrees(self.trees_, self.hierarchy_.n_labels, self._clus, n_threads)

    def _as_estimator(self, tree: _core.Tree) -> PCTClassifier:
        member: PCTClassifier = super()._as_estimator(tree)
        member.f_test_ = member.f_test
        return member


def grow_in_turn(ensemble: PCTEnsemble, data: TreeData, options: TreeOptions) -> None:
    """Grow the trees of an ensemble sequentially on converted data, instead of calling `fit`.

    `ensemble`: receives the trees.
    """
    n_rows = data.n_rows if data.rows is None else len(data.rows)
    chances = data.chances
    if chances is not None and data.rows is not None:
        chances = chances[data.rows]
    sampling = ensemble._sampling(np.ones(n_rows, dtype=bool), chances)
    ensemble._seed = options.conventions.read_seed(ensemble.random_state)
    seeds = sampling.seeds(ensemble._seed, ensemble.n_estimators)
    options = options.for_rows(n_rows)
    ensemble.trees_ = [grow_member(data, options, sampling, seed) for seed in seeds]
