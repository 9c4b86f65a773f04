"""Base classes of the hierarchical classifiers: fit = encode + learn, predict = decide."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Any, ClassVar, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ramify._base.relearning import RELEARN, Relearning
from ramify._base.streaming import ManyLabelsMixin
from ramify._base.tree_models import TreeModel
from ramify._fitting import all_or_nothing, is_all_or_nothing
from ramify._savable import find_savable, get_fitted, savable, set_fitted
from ramify._schema import (
    AnyOf,
    Array,
    Estimator,
    Flag,
    IfPresent,
    Instance,
    ListOf,
    Maybe,
    Part,
    Schema,
    Text,
    Whole,
)
from ramify._validation import check_choice, check_same_length, check_sample_weight
from ramify.data.features import FeatureSchema, read_features, read_training_features
from ramify.data.frames import OUTPUTS, in_memory, make_frame, names_of
from ramify.data.rows import take_rows
from ramify.decision import apply_threshold
from ramify.decision.best_sets import DECISIONS, ROW_KINDS, Answers
from ramify.labels.class_weight import class_factors
from ramify.labels.encoding import (
    EncodedLabels,
    LabelFormat,
    PartialLabels,
    read_labels,
    unknown_not_allowed,
)
from ramify.labels.formats import IndicatorFormat
from ramify.labels.hierarchy import Hierarchy
from ramify.labels.unknown import UnknownLabels
from ramify.metrics.inputs import is_matrix
from ramify.metrics.scorers import is_inferred, read_with_unseen
from ramify.metrics.sets import subset_accuracy
from ramify.taxonomies.mapping import LabelMapping, check_mapping
from ramify.taxonomies.probabilities import Revision

INPUT_ATTRIBUTES = (
    "hierarchy_",
    "format_",
    "classes_",
    "row_kind_",
    "ends_",
    "schema_",
    "n_features_in_",
    "feature_names_in_",
    "target_names_",
)
"""Fitted attributes that describe X and y; every classifier has them."""

CANDIDATES = ("specific", "all")
"""Which labels a path may end at: those of the training rows, or all."""


class Asked(NamedTuple):
    """What a caller of `predict` asks for; see there."""

    threshold: Any = None
    candidates: str = "specific"
    decide: str = "jointly"


USUAL = Asked()


MAX_JOBS = 1024
"""The largest n_jobs, and the smallest negative one, of a model in a file."""


Method = TypeVar("Method", bound=Callable[..., Any])


def _framed(method: Method) -> Method:
    """Decorate a method that predicts to return what `set_output` asks for."""
    setting = "predict" if method.__name__ == "predict" else "predict_proba"

    @wraps(method)
    def predict(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        found = method(self, X, *args, **kwargs)
        library = getattr(self, "_sklearn_output_config", {}).get(setting, "default")
        if library == "default":
            return found
        names = getattr(self, "target_names_", ()) if setting == "predict" else ()
        return make_frame(found, library, self.classes_.tolist(), X, list(names))

    return cast("Method", predict)


class HierarchicalClassifier(
    ManyLabelsMixin,
    ClassifierMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
    metaclass=ABCMeta,
):
    """Base class of all classifiers, for X of any layout and labels in any format.

    A subclass stores its parameters in ``__init__`` (including `hierarchy` and
    `categorical_features`), learns in `fit` and computes probabilities in `_predict_scores`.

    `fit` is all or nothing in every subclass: it runs on a copy without fitted attributes, whose
    state replaces that of the estimator at the end. If `fit` raises an error or is interrupted,
    the estimator is unchanged. With `warm_start`, the copy keeps the fitted attributes; `fit` must
    set new values and not modify the old ones in place.

    Attributes
    ----------
    hierarchy_ : Hierarchy
        The label hierarchy, as passed or as inferred from y.
    classes_ : ndarray of shape (n_labels,)
        The labels, in the order of the columns of `predict_proba`.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features seen during `fit`. Defined only if X was a data frame with string
        column names.
    row_kind_ : {"path", "labels", "labels or none"}
        What `predict` answers for a row: one path, because 95 % of the training rows, by weight,
        have one; a label set with at least one label; or a label set that may be empty, because
        more than 5 % of the training rows have none.
    ends_ : ndarray of bool, shape (n_labels,)
        Whether a training row ends at the label, i.e. has the label and none of its children.
        Defined only if `row_kind_` is "path".
    target_names_ : ndarray of str
        Names of the columns of y. Defined only if y was a data frame of levels or a named column.
    label_status_ : ndarray of str, shape (n_labels,)
        What became of each label when the taxonomy was changed. Defined only after
        `with_hierarchy`.
    history_ : list of ramify.taxonomies.Revision
        The changes of the taxonomy since `fit`. Defined only after `with_hierarchy`.
    """

    hierarchy: Hierarchy | None
    categorical_features: Any
    hierarchy_: Hierarchy
    schema_: FeatureSchema
    format_: LabelFormat
    classes_: NDArray[Any]
    row_kind_: str
    ends_: NDArray[np.bool_]
    label_status_: NDArray[np.str_]
    history_: list[Revision]

    _saved_schema: ClassVar[Schema] = {
        "n_features_in_": Whole(1),
        "hierarchy_": Instance(Hierarchy, binds={"n_labels": "n_labels"}),
        "format_": Instance(LabelFormat),
        "schema_": Part(
            FeatureSchema, binds={"n_variables": "n_variables"}, n_features="n_features_in_"
        ),
        "row_kind_": Text(ROW_KINDS),
        "feature_names_in_": IfPresent(Array(("n_features_in_",), "O U")),
        "ends_": IfPresent(Array(("n_labels",), "b1")),
        "target_names_": IfPresent(Array(("?",), "O U")),
        "label_status_": IfPresent(Array(("n_labels",), "U")),
        "history_": IfPresent(ListOf(Part(Revision))),
    }
    _saved_parameters: ClassVar[Schema] = {
        "hierarchy": Maybe(Instance(Hierarchy)),
        "n_jobs": Maybe(AnyOf(Whole(-MAX_JOBS, 0), Whole(1, MAX_JOBS + 1))),
        "verbose": AnyOf(Flag(), Whole()),
        "clus_compat": Flag(),
        "estimator": Maybe(Estimator()),
        "counter": Maybe(Estimator()),
        "coherence": Text(("isotonic", "max", "min")),
    }

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        savable(cls)
        for name in ("predict", "predict_proba"):
            if name in vars(cls):
                setattr(cls, name, _framed(vars(cls)[name]))
        if not is_all_or_nothing(cls.fit):
            cls.fit = all_or_nothing(cls.fit)  # type: ignore[method-assign]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.classifier_tags.multi_label = True
        return tags

    def set_output(
        self, *, predict: str | None = None, predict_proba: str | None = None
    ) -> HierarchicalClassifier:
        """Choose the output type of `predict` and `predict_proba`.

        That of `predict_proba` is also that of `predict_log_proba`.

        Parameters
        ----------
        predict, predict_proba : {"default", "pandas", "polars"}, optional
            "default" returns arrays, sparse matrices or lists. "pandas" and "polars" return data
            frames, whose columns are labels or levels, or a column if there is one value per row.
            pandas data frames have the index of X. None does not change anything. Copies made by
            ``sklearn.base.clone`` keep the choice; model files do not.

        Returns
        -------
        HierarchicalClassifier
            This classifier.
        """
        config = dict(getattr(self, "_sklearn_output_config", {}))
        for name, value in (("predict", predict), ("predict_proba", predict_proba)):
            check_choice(name, value, (None, *OUTPUTS))
            if value is not None:
                config[name] = value
        self._sklearn_output_config = config
        return self

    @abstractmethod
    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> HierarchicalClassifier:
        """Fit the classifier."""

    def _read_training(
        self, X: Any, y: Any, sample_weight: Any, *, clus_order: bool = False
    ) -> tuple[Any, EncodedLabels, NDArray[np.float64]]:
        """Validate all input before any long computation, and set what prediction needs."""
        self._check_parameters()
        X, self.schema_ = read_training_features(
            self, X, self.categorical_features, clus_order=clus_order
        )
        encoded = read_labels(y, self.hierarchy, allow_unknown=True)
        check_same_length(X.shape[0], encoded.Y.shape[0])
        weights = check_sample_weight(sample_weight, X.shape[0])
        if encoded.unknown is not None:
            X, encoded, weights = self._drop_unlabelled(X, encoded, weights)
        weights = self._weigh_classes(encoded, weights)
        self._describe_labels(encoded, weights)
        self._name_targets(y)
        return X, encoded, weights

    def _why_not_unknown(self) -> str | None:
        """Return why `fit` cannot learn from labels that are partly unknown, or None."""
        return f"{type(self).__name__} requires all labels. Use PCTForestClassifier"

    @property
    def _learns_from_features(self) -> bool:
        """Whether `fit` uses rows that know no label."""
        return False

    def _drop_unlabelled(
        self, X: Any, encoded: EncodedLabels, weights: NDArray[np.float64]
    ) -> tuple[Any, EncodedLabels, NDArray[np.float64]]:
        """Leave out the rows that tell nothing; raise an error if labels must be known."""
        unknown = cast("UnknownLabels", encoded.unknown)
        why = self._why_not_unknown()
        if why is not None:
            raise unknown_not_allowed(unknown, encoded.hierarchy, why)
        if not weights[~unknown.nothing_known].any():
            raise ValueError("y must have a known label in some row, got none. Pass labels.")
        keep = unknown.informative(encoded.Y, weights)
        if keep.all() or self._learns_from_features:
            return X, encoded, weights
        rows = np.flatnonzero(keep)
        return take_rows(X, rows), encoded.take(rows), weights[rows]

    def _weigh_classes(
        self, encoded: EncodedLabels, weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Multiply sample weights by those of the classes, if there are any."""
        class_weight = getattr(self, "class_weight", None)
        if class_weight is None:
            return weights
        return weights * class_factors(class_weight, encoded.Y, encoded.format, weights)

    def _describe_labels(self, encoded: EncodedLabels, weights: NDArray[np.float64]) -> None:
        """Set the attributes that describe y."""
        self.hierarchy_ = encoded.hierarchy
        self.format_ = encoded.format
        self.classes_ = encoded.format.classes
        self._keep_answers(_answers_like(encoded, weights))

    def _keep_answers(self, answers: Answers) -> None:
        self.row_kind_ = answers.kind
        if answers.ends is not None:
            self.ends_ = answers.ends

    def _name_targets(self, y: Any) -> None:
        """Keep the names of y, a data frame or column, unless they are those of the labels."""
        names = names_of(in_memory(y, "y"))
        if names and not isinstance(self.format_, IndicatorFormat):
            self.target_names_ = np.array(names, dtype=object)

    def _check_parameters(self) -> None:
        """Raise an error if a parameter is invalid."""

    def _text_form(self) -> str:
        """Return what the classifier learns from texts; see `ramify.data.features.TEXT_FORMS`."""
        return "weights"

    def _check_fitted(self) -> None:
        """Raise an error if the classifier is not fitted."""
        # `fit` is all or nothing, so checking one attribute is enough. scikit-learn lists all of
        # them.
        if not hasattr(self, "format_"):
            check_is_fitted(self)

    @abstractmethod
    def _predict_scores(self, X: Any) -> NDArray[np.float64]:
        """Return coherent probabilities, n × n_labels, for X as returned by `read_features`."""

    @_framed
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict the probability of every label.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the same features as in `fit`.

        Returns
        -------
        ndarray of shape (n, n_labels)
            Probabilities, with columns in the order of `classes_`. No label is more probable than
            any of its parents, and the result for a row does not depend on the other rows.
        """
        return self._score_given(*self._read_rows(X))

    @_framed
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict the logarithm of the probability of every label.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the same features as in `fit`.

        Returns
        -------
        ndarray of shape (n, n_labels)
            The logarithms of what `predict_proba` returns; -inf where it is 0.
        """
        return log_of(self._score_given(*self._read_rows(X)))

    def _read_rows(self, X: Any) -> tuple[Any, Any]:
        """Return X as passed and as `_predict_scores` expects it; raise an error if not fitted."""
        self._check_fitted()
        return X, read_features(self, X, self.schema_)

    def _as_trees(self) -> TreeModel | None:
        """Return the trees that the fitted classifier is made of, or None."""
        return None

    def _tree_rows(self, X: Any) -> Any:
        """Return the rows that its trees test, for X as returned by `read_features`."""
        return X

    def _score_given(self, given: Any, X: Any) -> NDArray[np.float64]:
        """Score X; `given` is X as the user passed it, for wrapped classifiers that need it."""
        return self._predict_scores(X)

    @_framed
    def predict(
        self,
        X: Any,
        threshold: Any = None,
        *,
        candidates: str = "specific",
        decide: str = "jointly",
    ) -> Any:
        """Predict labels, in the format of the y passed to `fit`.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the same features as in `fit`.
        threshold : float, array-like of shape (n_labels,) or dict of label to float, optional
            Predict the labels whose probability is at least `threshold`, instead of deciding
            about all labels of a row jointly. Pass one threshold for all labels, or one per label;
            the threshold of a label must not be below those of its parents. Must be None if y had
            one label or path per row in `fit`.
        candidates : {"specific", "all"}
            The labels at which a path may end if `row_kind_` is "path". "specific": the labels at
            which a training row ends; no path then stops early where all training rows ended in
            leaves. "all": every label.
        decide : {"jointly", "separately"}
            "jointly" predicts the label set, or the path, that is expected to agree best with the
            true one; see :doc:`/thresholds`. "separately" decides label by label: it predicts the
            labels with a probability of at least 0.5, or the path from the top to the most
            probable child each time. So do trees and forests with `clus_compat`. Ignored if
            `threshold` is given.

        Returns
        -------
        array or list
            n label sets, paths or classes, in the format of y in `fit`.
        """
        self._check_fitted()
        check_choice("candidates", candidates, CANDIDATES)
        check_choice("decide", decide, DECISIONS)
        if self.format_.single_label and threshold is not None:
            raise ValueError(
                f"threshold must be None if y had one label per row in fit, got {threshold!r}. "
                "Omit threshold, or fit with label sets."
            )
        return self.format_.write(self._predict_sets(X, Asked(threshold, candidates, decide)))

    def _predict_sets(self, X: Any, asked: Asked = USUAL) -> sparse.csr_array[np.int32]:
        """Predict label sets with ancestors; by default, computed from the probabilities."""
        plain = type(self)._decide is HierarchicalClassifier._decide
        plain = plain and asked.decide == "jointly" and not getattr(self, "clus_compat", False)
        plain = plain and (asked.threshold is None or self.format_.single_label)
        sets = [
            self._decide(scores, asked)
            for scores in self._scores_to_decide(X, may_be_sparse=plain)
        ]
        return sets[0] if len(sets) == 1 else sparse.csr_array(sparse.vstack(sets))

    def _decide(self, scores: Any, asked: Asked = USUAL) -> sparse.csr_array[np.int32]:
        is_path = self.format_.single_label
        if asked.threshold is not None and not is_path:
            return apply_threshold(scores, asked.threshold, self.hierarchy_)
        return Answers(self.row_kind_, self._ends(asked.candidates)).decide(
            scores,
            self.hierarchy_,
            "separately" if getattr(self, "clus_compat", False) else asked.decide,
            is_path=is_path,
            n_jobs=getattr(self, "n_jobs", None),
        )

    def _ends(self, candidates: str) -> NDArray[np.bool_] | None:
        """Return a mask of the labels at which paths may end; None means all."""
        return self.ends_ if self.row_kind_ == "path" and candidates == "specific" else None

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the subset accuracy: the fraction of rows whose label set is predicted exactly.

        This is accuracy as defined by scikit-learn, and equals `ramify.metrics.subset_accuracy`.
        It is a strict measure if there are many labels; use ``ramify.metrics.get_scorer`` to score
        with another measure.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the same features as in `fit`.
        y : array-like
            True labels of the rows, in any format accepted by `fit`. Labels that did not occur in
            `fit` cannot be predicted; they are errors only if `hierarchy` was given. Unknown
            labels are left out.
        sample_weight : array-like of shape (n,), optional
            Sample weights.

        Returns
        -------
        float
            Subset accuracy, from 0 to 1.
        """
        predicted = self._predict_sets(X)
        if is_inferred(self) and not is_matrix(y):
            encoded = read_with_unseen(y, self.hierarchy_)
            predicted.resize((predicted.shape[0], encoded.Y.shape[1]))
        else:
            encoded = read_labels(y, self.hierarchy_, allow_unknown=True)
        check_same_length(predicted.shape[0], encoded.Y.shape[0])
        weights = check_sample_weight(sample_weight, predicted.shape[0])
        truth = encoded.Y if encoded.unknown is None else PartialLabels._of(encoded)
        return subset_accuracy(
            truth, predicted, hierarchy=encoded.hierarchy, sample_weight=weights
        )

    def with_hierarchy(
        self,
        hierarchy: Hierarchy,
        mapping: LabelMapping | None = None,
        *,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        relearn: str = "changed",
    ) -> HierarchicalClassifier:
        """Return a classifier that predicts the labels of a changed taxonomy.

        Without X, nothing is learnt. A label that has not changed keeps its probability; labels
        that were merged, and ancestors of labels that moved, get theirs from those of the old
        labels. A label that no old label became has the probability 0: rows with it are predicted
        to end at its parent. Labels are chosen by these probabilities: promises, thresholds and
        numbers of labels of classifiers such as `SelectiveClassifier` are not carried over. Model
        files keep what became of each label, and the changes since `fit`.

        Parameters
        ----------
        hierarchy : Hierarchy
            The new taxonomy.
        mapping : LabelMapping, optional
            Which of its labels take the place of the old ones. None if only equal labels and
            aliases do.
        X : array-like, sparse matrix or data frame of shape (n, n_features), optional
            Rows with labels of the new taxonomy, a sample like the rows of `fit`. Trees and
            forests learn the leaves of their trees from them, gradient boosting those of its
            trees, round by round, and local architectures the models whose labels or rows have
            changed. Tests of trees, and all else, are kept. Leaves of boosted trees and local
            models are learnt from these rows alone: if they are few, add the old rows whose labels
            the mapping carries exactly.
        y : array-like, optional
            Labels of the rows in the new taxonomy, in any format accepted by
            `ramify.labels.read_labels`.
        sample_weight : array-like of shape (n,), optional
            Sample weights.
        relearn : {"changed", "all"}
            Which labels to learn from X: those whose probability is not that of an old label, or
            all. Forests learn "changed" labels from the rows that have their parents, so that
            rows of a part of the taxonomy are enough.

        Returns
        -------
        HierarchicalClassifier
            Without X, a classifier around this one; otherwise, one of the same class. Both have
            the attributes `label_status_` ("kept", "remapped", "relearnt" or "unknown", for each
            label) and `history_`.

        Examples
        --------
        >>> from ramify import Hierarchy, LabelMapping, PCTClassifier
        >>> y = ["pets/cats", "pets/dogs", "food/dry", "food/tins"]
        >>> old = PCTClassifier().fit([[1.0], [2.0], [3.0], [4.0]], y)
        >>> new = Hierarchy.from_paths(["animals/cats", "animals/dogs/small", "food"])
        >>> mapping = LabelMapping(old.hierarchy_, new, [("pets", "animals")])
        >>> model = old.with_hierarchy(new, mapping)
        >>> model.predict([[1.0], [2.0], [3.0]])
        array(['animals/cats', 'animals/dogs', 'food'], dtype='<U18')
        >>> model.label_status_[model.classes_ == "animals/dogs/small"]
        array(['unknown'], dtype='<U8')
        """
        self._check_fitted()
        found = check_mapping(self.hierarchy_, hierarchy, mapping)
        check_choice("relearn", relearn, RELEARN)
        if (X is None) != (y is None) or (X is None and sample_weight is not None):
            raise ValueError(
                "X and y must be given together, got only one of them or only sample_weight. Pass "
                "both, or neither."
            )
        wrapper: Any = find_savable("CarriedClassifier")  # is built on top of this class
        carried = wrapper.of(self, found)
        if X is not None:
            carried = carried.relearn(X, y, sample_weight, everything=relearn == "all")
        return cast("HierarchicalClassifier", carried)

    def _relearn(self, old: Any, task: Relearning) -> NDArray[np.str_]:
        """Learn from rows with labels of a new taxonomy, given the classifier for the old one.

        Everything that describes X and the labels is set. Returns the statuses of the labels.
        """
        raise TypeError(
            f"X must be None for {type(self).__name__}: only trees, forests, gradient boosting "
            "and local architectures learn from rows with new labels. Omit X and y, or fit a new "
            "model."
        )

    def _get_saved_state(self) -> dict[str, Any]:
        """Return the fitted attributes that `ramify.save` stores in addition to the parameters.

        Values may be JSON types, tuples, sets, dicts, arrays, sparse matrices, trees, hierarchies,
        estimators and instances of classes marked with `savable`.
        """
        state = get_fitted(self)
        state.pop("classes_", None)  # restored from the format
        return state

    def _set_saved_state(self, state: Mapping[str, Any]) -> None:
        """Restore the output of `_get_saved_state`, which may come from a damaged file."""
        set_fitted(self, state)
        if "format_" not in state:
            return
        format_, schema = state["format_"], state["schema_"]
        if (
            not isinstance(format_, LabelFormat)
            or format_.hierarchy != self.hierarchy_
            or not isinstance(schema, FeatureSchema)
            or len(state.get("feature_names_in_", range(self.n_features_in_)))
            != self.n_features_in_
            or not kinds_fit(format_, state)
        ):
            raise ValueError(
                "hierarchy_, format_, row_kind_, ends_, schema_ and feature_names_in_ do not fit "
                "together"
            )
        schema.check(self.n_features_in_)
        self.classes_ = format_.classes


def kinds_fit(format_: LabelFormat, state: Mapping[str, Any]) -> bool:
    """Return whether the attributes that describe the answers of a model in a file agree."""
    is_path = state["row_kind_"] == "path"
    return (
        (is_path or not format_.single_label)
        and is_path == ("ends_" in state)
        and bool(np.any(state.get("ends_", True)))
    )


def log_of(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return logarithms, -inf for 0 without a warning."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(probabilities))


def share_classes(scores: NDArray[np.float64], format_: LabelFormat) -> NDArray[np.float64]:
    """Make the probabilities of every row sum to 1 if y had one flat class per row.

    For classifiers whose models of different labels are independent of each other.
    """
    if not format_.single_label or format_.hierarchy.depth > 1:
        return scores
    total = scores.sum(axis=1, keepdims=True)
    share: NDArray[np.float64] = np.where(total > 0, scores, 1.0) / np.where(
        total > 0, total, scores.shape[1]
    )
    return share


def copy_input_attributes(source: HierarchicalClassifier, target: HierarchicalClassifier) -> None:
    """Copy the attributes that describe X and y from a classifier fitted on the same data."""
    for name in INPUT_ATTRIBUTES:
        if hasattr(source, name):
            setattr(target, name, getattr(source, name))


def _answers_like(encoded: EncodedLabels, weights: NDArray[np.float64]) -> Answers:
    """Describe the training rows by those all of whose labels are known, if there are any."""
    is_path, hierarchy = encoded.format.single_label, encoded.hierarchy
    if encoded.unknown is None:
        return Answers.like(encoded.Y, hierarchy, weights, is_path=is_path)
    rows = np.flatnonzero(encoded.unknown.all_known & (weights > 0))
    if rows.size:
        return Answers.like(encoded.Y[rows], hierarchy, weights[rows], is_path=is_path)
    if not is_path:
        return Answers("labels")
    ends = np.zeros(hierarchy.n_labels, dtype=bool)
    ends[hierarchy.indices(hierarchy.leaves)] = True
    return Answers("path", ends)


class ArrayClassifier(HierarchicalClassifier):
    """Base class of classifiers that need only validated arrays; they learn in `_learn`."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> HierarchicalClassifier:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Training rows, or texts. NaN marks missing values; string and categorical columns of a
            data frame are nominal, unless they are texts.
        y : array-like
            Labels of the n rows, in any format accepted by `ramify.labels.read_labels`.
        sample_weight : array-like of shape (n,), optional
            Sample weights.

        Returns
        -------
        HierarchicalClassifier
            The fitted classifier.
        """
        X, encoded, weights = self._read_training(X, y, sample_weight)
        self._learn(X, encoded, weights)
        return self

    @abstractmethod
    def _learn(self, X: Any, encoded: EncodedLabels, weights: NDArray[np.float64]) -> None:
        """Learn from X as returned by `read_training_features` and from labels."""


class StagedClassifier(HierarchicalClassifier):
    """Base class of classifiers whose rounds add to the scores of the previous ones."""

    @abstractmethod
    def _staged_scores(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Check X and yield the probabilities after each round."""

    def staged_predict_proba(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield the probabilities after each round.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the same features as in `fit`.

        Yields
        ------
        ndarray of shape (n, n_labels)
            The result of `predict_proba` after each round.
        """
        yield from self._staged_scores(X)

    def staged_predict(self, X: Any, *, decide: str = "jointly") -> Iterator[Any]:
        """Yield the predictions after each round.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the same features as in `fit`.
        decide : {"jointly", "separately"}
            As in `predict`.

        Yields
        ------
        array or list
            The result of `predict` after each round.
        """
        check_choice("decide", decide, DECISIONS)
        for scores in self._staged_scores(X):
            yield self.format_.write(self._decide(scores, Asked(decide=decide)))
