"""Predictive clustering trees and forests for several nominal targets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ramify._base.classifier import log_of
from ramify._schema import AnyOf, Array, IfPresent, ListOf, Schema
from ramify._validation import check_choice, check_same_length, check_sample_weight
from ramify.data.features import read_features
from ramify.trees.clus import ClusNominal
from ramify.trees.conventions import OURS, Conventions
from ramify.trees.target_base import TargetEstimator, TargetForest, TargetTree
from ramify.trees.targets import (
    Columns,
    read_classes,
    read_columns,
    read_target_weight,
    weigh_classes,
)
from ramify.trees.tree_data import TableTargets, TreeData

__all__ = [
    "PCTMultiTargetClassifier",
    "PCTMultiTargetForestClassifier",
]


class _Classifier(ClassifierMixin, TargetEstimator):  # type: ignore[misc]
    """Methods common to trees and forests for nominal targets."""

    criterion: str
    normalize: bool
    classes_: Any

    _saved_schema: ClassVar[Schema] = {
        "target_classes_": ListOf(
            Array(("?",), "O U i1 i2 i4 i8 u1 u2 u4 u8 f4 f8 b1"), "n_outputs_"
        ),
    }

    @property
    def _conventions(self) -> Conventions:
        if not self.clus_compat:
            return OURS
        return ClusNominal(tuple(self._spans()) if hasattr(self, "target_classes_") else ())

    def _check_parameters(self) -> None:
        check_choice("criterion", self.criterion, ("gini", "entropy", "gain_ratio"))
        super()._check_parameters()

    def _read_targets(self, columns: Columns, weights: NDArray[np.float64]) -> TableTargets:
        codes, classes = read_classes(columns, clus_order=self.clus_compat)
        self._set_classes(classes)
        n_classes = [len(values) for values in classes]
        self.n_columns_ = sum(n_classes)
        names = getattr(self, "target_names_", None)
        target_weights = read_target_weight(self.target_weight, self.n_outputs_, names)
        if self.normalize:
            target_weights = target_weights * weigh_classes(codes, weights, n_classes)
        counts = np.array(n_classes, dtype=np.int32)
        return TableTargets(codes, target_weights, n_classes=counts, clus=self.clus_compat)

    def _set_classes(self, classes: list[NDArray[Any]]) -> None:
        self.target_classes_ = classes
        self.classes_ = classes[0] if self.flat_output_ else classes

    def _spans(self) -> list[slice]:
        """Return the columns of each target."""
        ends = np.cumsum([len(values) for values in self.target_classes_]).tolist()
        return [slice(begin, end) for begin, end in zip([0, *ends[:-1]], ends, strict=True)]

    def predict_proba(self, X: Any) -> Any:
        """Predict the probability of every class.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the same features as in `fit`.

        Returns
        -------
        list of ndarray of shape (n, n_classes), or ndarray
            For each target, the probabilities of its classes, in the order of `classes_`. A single
            array if y was one-dimensional in `fit`.
        """
        check_is_fitted(self)
        columns = self._predict_columns(read_features(self, X, self.schema_))
        found = [np.ascontiguousarray(columns[:, span]) for span in self._spans()]
        return found[0] if self.flat_output_ else found

    def predict_log_proba(self, X: Any) -> Any:
        """Predict the logarithm of the probability of every class.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the same features as in `fit`.

        Returns
        -------
        list of ndarray of shape (n, n_classes), or ndarray
            The logarithms of what `predict_proba` returns; -inf where it is 0.
        """
        found = self.predict_proba(X)
        return log_of(found) if self.flat_output_ else [log_of(part) for part in found]

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the most probable class of every target.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the same features as in `fit`.

        Returns
        -------
        ndarray of shape (n,) or (n, n_targets)
            The predicted classes; one-dimensional if y was one-dimensional in `fit`.
        """
        probabilities = self.predict_proba(X)
        found = [probabilities] if self.flat_output_ else probabilities
        return self._name_classes(found)

    def _name_classes(self, probabilities: list[NDArray[np.float64]]) -> NDArray[Any]:
        predicted = [
            classes[share.argmax(axis=1)]
            for classes, share in zip(self.target_classes_, probabilities, strict=True)
        ]
        if self.flat_output_:
            return np.asarray(predicted[0])
        alike = len({column.dtype.kind for column in predicted}) == 1
        return np.stack([c if alike else c.astype(object) for c in predicted], axis=1)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the fraction of rows for which all targets are predicted correctly.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the same features as in `fit`.
        y : array-like or data frame of shape (n,) or (n, n_targets)
            The true classes.
        sample_weight : array-like of shape (n,), optional
            Sample weights.

        Returns
        -------
        float
            From 0 to 1.
        """
        predicted = self.predict(X)
        truth = read_columns(y).columns
        check_same_length(len(predicted), len(truth[0]))
        weights = check_sample_weight(sample_weight, len(predicted))
        found = predicted[:, None] if self.flat_output_ else predicted
        if len(truth) != found.shape[1]:
            raise ValueError(f"y must have {found.shape[1]} columns, got {len(truth)}.")
        pairs = zip(found.T, truth, strict=True)
        right = np.all([column == true for column, true in pairs], axis=0)
        return float(np.average(right, weights=weights))

    def _get_saved_state(self) -> dict[str, Any]:
        state = super()._get_saved_state()
        state.pop("classes_", None)  # restored from the classes of the targets
        return state

    def _set_saved_state(self, state: Mapping[str, Any]) -> None:
        super()._set_saved_state(state)
        if "target_classes_" not in state:
            return
        if sum(len(values) for values in self.target_classes_) != self.n_columns_:
            raise ValueError("target_classes_ and n_columns_ do not fit together")
        self._set_classes(self.target_classes_)


class PCTMultiTargetClassifier(_Classifier, TargetTree):
    """A predictive clustering tree (PCT) for several nominal targets.

    A single decision tree predicts one class for each of several targets (multi-target
    classification). Each node uses the test that most reduces the impurity of the targets. A leaf
    predicts, for each target, the fraction of its training rows in each class.

    Use `PCTClassifier` for labels that a row either has or does not have, with or without a
    hierarchy.

    Parameters
    ----------
    criterion : {"gini", "entropy", "gain_ratio"}
        The impurity that a test reduces. "gini": the mean of the Gini indices of the targets.
        "entropy": the sum of their entropies. "gain_ratio": as "entropy", but the gain is divided
        by the entropy of the split itself, as in C4.5.
    splitter, max_depth, min_samples_split, min_samples_leaf, min_weight, min_impurity_decrease, \
    max_features, redraw, threshold_at, nominal_tests, missing, categorical_features
        As in `PCTRegressor`.
    f_test : float, optional
        Significance level of an F-test that every split must pass; smaller levels give smaller
        trees. Only for criterion "gini".
    pruning : {"pessimistic"}, optional
        How to prune the tree after growing it. "pessimistic": the method of C4.5. A node is
        replaced with a leaf or with its largest branch if this does not increase the expected
        number of errors, computed from upper confidence limits of the error rates; the number of
        errors is the mean over the targets.
    pruning_confidence : float
        Confidence factor of pessimistic pruning: the probability that an error rate exceeds its
        upper limit. Smaller values prune more.
    target_weight : array-like of shape (n_targets,) or dict of str to float, optional
        Factors by which to multiply the weights of the targets in the choice of tests; targets not
        in a dict have factor 1. Only for criterion "gini". Called ClusteringWeights in CLUS.
    normalize : bool
        Whether to divide the Gini index of each target by that of all training rows. Only for
        criterion "gini".
    n_jobs, random_state
        As in `PCTRegressor`.
    clus_compat : bool
        Whether to reproduce the results of CLUS exactly. "gini" is VarianceReduction, "entropy" is
        Gain; with ``pruning="pessimistic"``, the tree is the one that CLUS calls Pruned. The
        values of leaves are weights of classes instead of fractions.

    Attributes
    ----------
    tree_ : ramify._core.Tree
        The tree as flat arrays; see its docstring for how to traverse it. It has a column for
        every class of every target.
    classes_ : list of ndarray, or ndarray
        The classes of each target; a single array if y was one-dimensional.
    target_classes_ : list of ndarray
        The same as `classes_`, but always a list.
    n_outputs_, target_names_, n_features_in_, feature_names_in_, feature_importances_
        As in `PCTRegressor`.

    See Also
    --------
    PCTMultiTargetForestClassifier : Random forest of these trees.
    PCTRegressor : The same for numeric targets.

    Notes
    -----
    A row with a missing target is used for the other targets only. A leaf without a known class of
    a target predicts the same as the nearest node above it that has one.

    Examples
    --------
    >>> from ramify import PCTMultiTargetClassifier
    >>> X = [[1.0], [2.0], [3.0], [4.0]]
    >>> y = [["red", "small"], ["red", "small"], ["blue", "small"], ["blue", "large"]]
    >>> tree = PCTMultiTargetClassifier().fit(X, y)
    >>> tree.predict([[1.5], [4.0]])
    array([['red', 'small'],
           ['blue', 'large']], dtype='<U5')
    """

    def __init__(
        self,
        *,
        criterion: str = "gini",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight: float = 0.0,
        min_impurity_decrease: float = 0.0,
        max_features: Any = None,
        redraw: bool = False,
        f_test: float | None = None,
        pruning: str | None = None,
        pruning_confidence: float = 0.25,
        threshold_at: str | None = None,
        nominal_tests: str = "subset",
        missing: str | None = None,
        categorical_features: Any = None,
        target_weight: Any = None,
        normalize: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        clus_compat: bool = False,
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight = min_weight
        self.min_impurity_decrease = min_impurity_decrease
        self.max_features = max_features
        self.redraw = redraw
        self.f_test = f_test
        self.pruning = pruning
        self.pruning_confidence = pruning_confidence
        self.threshold_at = threshold_at
        self.nominal_tests = nominal_tests
        self.missing = missing
        self.categorical_features = categorical_features
        self.target_weight = target_weight
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.clus_compat = clus_compat

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("pruning", self.pruning, (None, "pessimistic"))


class PCTMultiTargetForestClassifier(_Classifier, TargetForest):
    """A random forest of predictive clustering trees for several nominal targets.

    Every tree predicts one class for each of several targets. It is grown on a bootstrap sample of
    the rows, and considers a random subset of the features at each node. The predicted
    probabilities are the mean over the trees.

    Parameters
    ----------
    n_estimators : int
        Number of trees.
    criterion, splitter, max_depth, min_samples_split, min_samples_leaf, min_weight, \
    min_impurity_decrease, redraw, f_test, threshold_at, nominal_tests, missing
        As in `PCTMultiTargetClassifier`.
    max_features, bootstrap, max_samples
        As in `PCTForestRegressor`.
    oob_score : bool
        Whether to compute out-of-bag predictions and their accuracy, averaged over the targets.
    categorical_features, target_weight, normalize
        As in `PCTMultiTargetClassifier`.
    warm_start, n_jobs, random_state, verbose, clus_compat
        As in `PCTForestRegressor`.

    Attributes
    ----------
    trees_ : list of ramify._core.Tree
        The trees as flat arrays.
    estimators_ : list of PCTMultiTargetClassifier
        The trees as fitted classifiers, made anew when the attribute is read.
    classes_, target_classes_, n_outputs_, target_names_, n_features_in_, feature_names_in_, \
    feature_importances_
        As in `PCTMultiTargetClassifier`.
    oob_score_ : float
        Accuracy of the out-of-bag predictions, averaged over the targets. Defined only if
        `oob_score` is True.
    oob_decision_function_ : list of ndarray of shape (n, n_classes), or ndarray
        Out-of-bag probabilities, NaN for rows drawn by every tree. Defined only if `oob_score` is
        True.

    See Also
    --------
    PCTMultiTargetClassifier : A single tree.

    Examples
    --------
    >>> from ramify import PCTMultiTargetForestClassifier
    >>> X = [[1.0], [2.0], [3.0], [4.0]]
    >>> y = [["red", 1], ["red", 1], ["blue", 1], ["blue", 2]]
    >>> forest = PCTMultiTargetForestClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> forest.predict([[1.0], [4.0]])
    array([['red', '1'],
           ['blue', '2']], dtype='<U21')
    """

    oob_decision_function_: Any

    _saved_schema: ClassVar[Schema] = {
        "oob_decision_function_": IfPresent(
            AnyOf(
                Array(("n_rows", "n_columns_"), finite=False),
                ListOf(Array(("n_rows", "?"), finite=False), "n_outputs_"),
            )
        ),
    }

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        criterion: str = "gini",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight: float = 0.0,
        min_impurity_decrease: float = 0.0,
        max_features: Any = "sqrt",
        redraw: bool = False,
        f_test: float | None = None,
        threshold_at: str | None = None,
        nominal_tests: str = "subset",
        missing: str | None = None,
        bootstrap: bool = True,
        max_samples: int | float | None = None,
        oob_score: bool = False,
        categorical_features: Any = None,
        target_weight: Any = None,
        normalize: bool = True,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
        clus_compat: bool = False,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight = min_weight
        self.min_impurity_decrease = min_impurity_decrease
        self.max_features = max_features
        self.redraw = redraw
        self.f_test = f_test
        self.threshold_at = threshold_at
        self.nominal_tests = nominal_tests
        self.missing = missing
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.categorical_features = categorical_features
        self.target_weight = target_weight
        self.normalize = normalize
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.clus_compat = clus_compat

    _member = PCTMultiTargetClassifier

    def _describe_output(self) -> tuple[Any, ...]:
        classes = tuple(tuple(values.tolist()) for values in self.target_classes_)
        return (*super()._describe_output(), classes)

    def _score_out_of_bag(
        self, data: TreeData, columns: NDArray[np.float64], has_votes: NDArray[np.bool_]
    ) -> None:
        found = [np.ascontiguousarray(columns[:, span]) for span in self._spans()]
        self.oob_decision_function_ = found[0] if self.flat_output_ else found
        scores = []
        for truth, share in zip(data.values.T, found, strict=True):
            both = ~np.isnan(truth) & ~np.isnan(share[:, 0])
            right = share[both].argmax(axis=1) == truth[both]
            scores.append(right.mean() if both.any() else np.nan)
        self.oob_score_ = float(np.mean(scores))
