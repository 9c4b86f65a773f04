"""Ensembles of trees: growing, voting, leaves, importances, out-of-bag scores."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from joblib import delayed
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from ramify import _core
from ramify._base.classifier import INPUT_ATTRIBUTES, HierarchicalClassifier
from ramify._base.measuring import measure_scores, read_measure
from ramify._base.relearning import Relearning
from ramify._base.streaming import VotingTrees
from ramify._base.tree_models import ModelTree, TreeModel
from ramify._parallel import count_threads, in_parallel
from ramify._schema import Array, IfPresent, ListOf, Number, Schema, TreeOf, Whole
from ramify.data.features import FeatureSchema, read_features
from ramify.labels.class_weight import check_class_weight, class_factors
from ramify.labels.encoding import EncodedLabels
from ramify.trees.classifier import PCTClassifier
from ramify.trees.clus import label_conventions
from ramify.trees.conventions import Conventions
from ramify.trees.criteria import (
    check_criterion,
    check_label_weight,
    usual_w0,
    weight_of_children,
)
from ramify.trees.growing import grow_member, grow_members
from ramify.trees.options import TreeOptions
from ramify.trees.parameters import check_parameters, mixes_features, why_not_unknown
from ramify.trees.relearning import check_relearns, relearn_leaves
from ramify.trees.sampling import Sampling, count_draws
from ramify.trees.supervision import (
    SUPERVISION_SCHEMA,
    find_labelled,
    mix_features,
    supervise,
    with_labels_only,
)
from ramify.trees.tree_data import TreeData, label_data
from ramify.trees.views import (
    as_model_tree,
    check_tree_fits,
    find_leaves,
    find_paths,
    sum_gains,
)

__all__ = [
    "PCTEnsemble",
    "TreeEnsemble",
    "grow_in_turn",
]

# The cross-validation that chooses `supervision`: its folds, and the most trees of each forest.
_FOLDS = 3
_FEW_TREES = 20


class TreeEnsemble:
    """Methods common to all estimators with fitted trees, `trees_`.

    `_n_values` is the number of values that a leaf may store.
    """

    n_estimators: int
    bootstrap: bool
    max_samples: int | float | None
    oob_score: Any
    warm_start: bool
    n_jobs: int | None
    random_state: Any
    verbose: bool

    _member: ClassVar[Any]  # the class of a single tree
    _describing: ClassVar[tuple[str, ...]]  # the fitted attributes that describe X and y
    _outputs: ClassVar[str] = "labels"  # what messages call the columns of y

    trees_: list[_core.Tree]
    schema_: FeatureSchema
    _seed: int

    @property
    def _conventions(self) -> Conventions:
        raise NotImplementedError

    @property
    def _clus(self) -> bool:
        return self._conventions.clus

    @property
    def _n_values(self) -> int:
        raise NotImplementedError

    def _fit_trees(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Grow the trees; `fit` of all ensembles."""
        kept = self._keep_trees()
        before = self._describe_output() if kept else None
        data = self._read_data(X, y, sample_weight)
        if before is not None and before != self._describe_output():
            raise ValueError(
                f"X and y must have the same features and {self._outputs} as in the previous fit "
                "with warm_start=True. Pass the same data, or set warm_start=False."
            )
        left_out = self._grow_trees(data, kept)
        if self.oob_score:
            self._score_out_of_bag(data, *self._vote_out_of_bag(data.X, left_out))

    def _read_data(self, X: Any, y: Any, sample_weight: Any) -> TreeData:
        """Validate all input, and set what prediction needs."""
        raise NotImplementedError

    def _describe_output(self) -> tuple[Any, ...]:
        """Return what must not change between two fits with `warm_start`."""
        raise NotImplementedError

    def _score_out_of_bag(
        self, data: TreeData, columns: NDArray[np.float64], has_votes: NDArray[np.bool_]
    ) -> None:
        """Set the out-of-bag attributes; rows without votes are NaN."""
        raise NotImplementedError

    def _describe_choices(self) -> str:
        """Return what was chosen from the rows, for the progress bar."""
        return ""

    def _keep_trees(self) -> list[_core.Tree]:
        """Return the trees of the previous fit that a fit with `warm_start` keeps."""
        if not self.warm_start or not hasattr(self, "trees_"):
            return []
        if self.n_estimators < len(self.trees_):
            raise ValueError(
                f"n_estimators must be at least {len(self.trees_)} with warm_start=True, the "
                f"number of trees in the previous fit, got {self.n_estimators}. Increase "
                "n_estimators, or set warm_start=False."
            )
        return self.trees_

    def _sampling(
        self, known: NDArray[np.bool_], chances: NDArray[np.float64] | None = None
    ) -> Sampling:
        """Return how to draw rows, given which of them have a known target."""
        n_draws = count_draws(self.max_samples, len(known)) if self.bootstrap else None
        sampling = self._conventions.sampling(n_draws, known)
        return sampling if chances is None else replace(sampling, chances=chances)

    def _grow_trees(self, data: TreeData, kept: list[_core.Tree]) -> NDArray[np.uint8]:
        """Grow the trees that `kept` lacks; return the rows that each tree leaves out."""
        own = self._conventions
        sampling = self._sampling(data.targets.known, data.chances)
        if (labelled := find_labelled(data)) is not None:
            sampling = replace(sampling, apart=labelled)
        # As in scikit-learn, fractions refer to all rows, not to the sample of a tree.
        n_rows = int(np.count_nonzero(own.learnt_weights(data.targets, data.weights) > 0))
        options = TreeOptions.of(self).for_rows(n_rows)
        if not kept:
            self._seed = own.read_seed(self.random_state)
        seeds = sampling.seeds(self._seed, self.n_estimators)
        if len(kept) < self.n_estimators:
            new = seeds[len(kept) :]
            verbose = bool(self.verbose)
            grown = grow_members(
                data,
                options,
                sampling,
                new,
                n_jobs=self.n_jobs,
                verbose=verbose,
                note=self._describe_choices(),
            )
            self.trees_ = [*kept, *grown]
        else:
            warnings.warn(
                f"warm_start=True adds no trees: there are {len(kept)} trees already. Increase "
                "n_estimators to grow more.",
                UserWarning,
                stacklevel=5,
            )
        return sampling.left_out(seeds) if self.oob_score else np.empty((0, 0), dtype=np.uint8)

    def _vote_out_of_bag(
        self, X: Any, left_out: NDArray[np.uint8]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return the out-of-bag predictions, and which rows have one; the others are NaN."""
        columns = np.full((X.shape[0], self._n_values), np.nan)
        self._vote(X, columns, left_out)
        has_votes = np.asarray(left_out.any(axis=0))
        if not has_votes.all():
            warnings.warn(
                f"{int((~has_votes).sum())} of {len(has_votes)} rows were drawn by every tree and "
                "have no out-of-bag prediction. Increase n_estimators.",
                UserWarning,
                stacklevel=5,
            )
        return columns, has_votes

    def _vote(
        self, X: Any, out: NDArray[np.float64], voters: NDArray[np.uint8] | None = None
    ) -> None:
        """Write the mean prediction to `out`; a tree is left out for rows with 0 in `voters`."""
        self._conventions.vote(self.trees_, X, out, count_threads(self.n_jobs), voters)

    def _named_trees(self, outputs: NDArray[np.int64]) -> tuple[ModelTree, ...]:
        pairs = enumerate(self.trees_, start=1)
        return tuple(as_model_tree(f"tree {k}", tree, outputs) for k, tree in pairs)

    def apply(self, X: Any) -> NDArray[np.int32]:
        """Return the index of the leaf that each row reaches in each tree.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the same features as in `fit`.

        Returns
        -------
        ndarray of int32, shape (n, n_estimators)
            Node indices. A row with a missing value follows the largest branch here, whereas its
            prediction combines all branches.
        """
        check_is_fitted(self)
        return find_leaves(self.trees_, read_features(self, X, self.schema_))

    def decision_path(self, X: Any) -> tuple[sparse.csr_array[np.int8], NDArray[np.int64]]:
        """Return the nodes that each row passes through in each tree.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the same features as in `fit`.

        Returns
        -------
        indicator : csr_array of shape (n, n_nodes)
            Indicator matrix over the nodes of all trees: 1 if the row passes through the node. A
            row with a missing value may pass through several branches.
        n_nodes_ptr : ndarray of shape (n_estimators + 1,)
            The columns of tree k are those from ``n_nodes_ptr[k]`` to ``n_nodes_ptr[k + 1]``.
        """
        check_is_fitted(self)
        X = read_features(self, X, self.schema_)
        paths = [find_paths(tree, X) for tree in self.trees_]
        ends = np.cumsum([0, *(path.shape[1] for path in paths)])
        return sparse.csr_array(sparse.hstack(paths, format="csr")), ends

    @property
    def estimators_(self) -> list[Any]:
        """The trees, each as a fitted estimator."""
        return list(self)

    def __len__(self) -> int:
        """Return the number of trees."""
        check_is_fitted(self)
        return len(self.trees_)

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the trees, each as a fitted estimator."""
        check_is_fitted(self)
        return map(self._as_estimator, self.trees_)

    def __getitem__(self, index: Any) -> Any:
        """Return a tree as a fitted estimator, or a list of them for a slice."""
        check_is_fitted(self)
        found = self.trees_[index]
        if isinstance(found, list):
            return list(map(self._as_estimator, found))
        return self._as_estimator(found)

    def _as_estimator(self, tree: _core.Tree) -> Any:
        """Return one of the trees as a fitted estimator."""
        names = set(self._member._get_param_names()) - {"n_jobs", "random_state"}
        shared = {name: getattr(self, name) for name in names if hasattr(self, name)}
        member = self._member(**shared)
        for name in self._describing:
            if hasattr(self, name):
                setattr(member, name, getattr(self, name))
        member.tree_ = tree
        return member

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Impurity-based feature importances: the mean of the importances in the trees."""
        check_is_fitted(self)
        n_variables = self.schema_.n_variables
        total = np.zeros(n_variables)
        for tree in self.trees_:
            total += sum_gains(tree, n_variables)
        return self.schema_.sum_by_feature(total / max(total.sum(), np.finfo(float).tiny))

    def _get_saved_state(self) -> dict[str, Any]:
        state: dict[str, Any] = super()._get_saved_state()  # type: ignore[misc]
        return {**state, "_seed": self._seed} if "trees_" in state else state

    def _set_saved_state(self, state: Mapping[str, Any]) -> None:
        fitted = dict(state)
        seed: Any = fitted.pop("_seed", None)
        super()._set_saved_state(fitted)  # type: ignore[misc]
        if "trees_" in fitted:
            for tree in self.trees_:
                check_tree_fits(tree, self.schema_.n_variables, self._n_values)
            self._seed = int(seed)  # required by warm_start


# ---- forests, bagging and extra trees -------------------------------------------------------


class PCTEnsemble(TreeEnsemble, HierarchicalClassifier):
    """Base class of the ensembles of predictive clustering trees.

    All parameters that a subclass has in common with `PCTClassifier` are passed on to the trees.
    """

    oob_score: Any
    warm_start: bool
    clus_compat: bool
    label_weight: Any
    class_weight: Any
    supervision: Any
    supervision_: float
    supervision_scores_: dict[float, float]
    w0: float | None
    w0_: float
    oob_score_: float
    oob_decision_function_: NDArray[np.float64]

    _saved_schema: ClassVar[Schema] = {
        "w0_": Number(0),
        "trees_": ListOf(TreeOf("n_variables", "n_labels")),
        "_seed": Whole(-(2**63)),
        "oob_decision_function_": IfPresent(Array(("n_rows", "n_labels"), finite=False)),
        "oob_score_": IfPresent(Number(finite=False)),
        **SUPERVISION_SCHEMA,
    }

    _member = PCTClassifier
    _describing = INPUT_ATTRIBUTES

    splitter: str = "best"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> PCTEnsemble:
        """Grow the trees.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Training rows, or texts. NaN marks missing values; string and categorical columns of a
            data frame are nominal, unless they are texts.
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
        kind = "labels" if self._clus else self.row_kind_
        self.w0_ = usual_w0(self.hierarchy_, kind) if self.w0 is None else float(self.w0)
        data = label_data(self, X, encoded.Y, weights, many=True, unknown=encoded.unknown)
        if self._learns_from_features:
            return self._supervise(data)
        if not self._draws_by_class:
            return data
        factors = class_factors(self.class_weight, encoded.Y, encoded.format, weights)
        return data.with_factors(factors, draws=True)

    @property
    def _learns_from_features(self) -> bool:
        return mixes_features(self)

    def _supervise(self, data: TreeData) -> TreeData:
        if self.warm_start and hasattr(self, "supervision_"):  # as in the trees that are kept
            chosen = self.supervision_
            return mix_features(data, chosen) if chosen < 1 else with_labels_only(data)
        seed = self._conventions.read_seed(self.random_state)
        return supervise(self, data, _FOLDS, np.random.RandomState(seed))

    def _score_held_out(self, data: TreeData, X: Any) -> NDArray[np.float64]:
        """Return the predictions for other rows after growing on `data.rows`."""
        few: PCTEnsemble = clone(self).set_params(n_estimators=min(self.n_estimators, _FEW_TREES))
        few.hierarchy_ = self.hierarchy_
        grow_in_turn(few, data, TreeOptions.of(few))
        return few._predict_scores(X)

    def _describe_choices(self) -> str:
        return "" if self.hierarchy_.depth <= 1 else f" (w0={self.w0_:g})"

    def _text_form(self) -> str:
        return "presence"

    def _why_not_unknown(self) -> str | None:
        return why_not_unknown(self)

    def _describe_output(self) -> tuple[Any, ...]:
        return self.schema_.variables, self.hierarchy_

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
            self._decide,
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

    def _relearn(self, old: Any, task: Relearning) -> NDArray[np.str_]:
        check_relearns(old)
        tasks = (delayed(relearn_leaves)(tree, task) for tree in old.trees_)
        with closing(in_parallel(tasks, n_jobs=self.n_jobs, prefer="threads")) as found:
            self.trees_ = list(found)
        self._seed, self.w0_ = old._seed, old.w0_
        return task.statuses_after(task.changed)

    def _voting_trees(self) -> VotingTrees | None:
        if not self._conventions.votes_are_means:
            return None
        n_threads = count_threads(self.n_jobs)
        return VotingTrees(self.trees_, self.hierarchy_.n_labels, self._clus, n_threads)

    def _as_estimator(self, tree: _core.Tree) -> PCTClassifier:
        member: PCTClassifier = super()._as_estimator(tree).set_params(w0=self.w0_)
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
    if (labelled := find_labelled(data)) is not None:
        sampling = replace(sampling, apart=labelled)
    ensemble._seed = options.conventions.read_seed(ensemble.random_state)
    seeds = sampling.seeds(ensemble._seed, ensemble.n_estimators)
    options = options.for_rows(n_rows)
    ensemble.w0_ = weight_of_children(ensemble)
    ensemble.trees_ = [grow_member(data, options, sampling, seed) for seed in seeds]
