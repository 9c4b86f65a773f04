"""One class per label set: label powerset and RAkEL."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import check_is_fitted

from ramify._base.classifier import USUAL, Asked
from ramify._cached import cached_property
from ramify._schema import Anything, Array, Label, ListOf, MapOf, Part, Schema, Sparse, TupleOf
from ramify._validation import check_choice, check_number
from ramify.data.features import read_features
from ramify.data.rows import indicator_of_cells
from ramify.decision import make_coherent
from ramify.labels.hierarchy import Hierarchy
from ramify.local.base import LocalArchitecture
from ramify.local.learning import LocalModel
from ramify.local.problems import LabelRows, LocalProblem
from ramify.trees.classifier import PCTClassifier
from ramify.trees.tree_data import TreeData

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
            Anything(),
            Part(
                LocalModel,
                n_features="n_features_in_",
                n_variables="n_variables",
                n_labels="n_sets",
            ),
        ),
    }

    def _why_not_unknown(self) -> str | None:
        return f"{type(self).__name__} learns whole label sets. Use BinaryRelevance"

    def _default_estimator(self, *, is_linear: bool) -> Any:
        return PCTClassifier()

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
        shape = (n_classes, rows.hierarchy.n_labels)
        self.label_sets_ = indicator_of_cells(of_class, labels, shape)
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


# ---- the classifiers ------------------------------------------------------------------------


_BLOCK = 4096  # rows to predict at a time, which limits the memory for the models' answers


class LabelPowerset(LabelSetClassifier):
    """One multiclass classifier whose classes are the label sets of the training rows (LP).

    Predictions are the most probable label set, so only sets that occur in training are predicted.
    The classifier can model all dependencies between labels, but there are few rows from which to
    learn rare sets.

    Parameters
    ----------
    estimator : estimator, optional
        The classifier of label sets: any scikit-learn compatible multiclass classifier or one of
        ramify. If None, `PCTClassifier` is used.
    hierarchy : Hierarchy, optional
        The label hierarchy. If None, a tree is inferred from path labels; all other labels are
        treated as flat.
    categorical_features : array-like of bool, int or str, optional
        The nominal features, as a boolean mask, indices or column names; see `PCTClassifier`. Only
        used by classifiers of ramify.
    n_jobs : int, optional
        The `n_jobs` of the model, if `estimator` has this parameter. If None, the `n_jobs` of
        `estimator` is kept.
    random_state : int, RandomState instance or None
        Controls the seed of the model. If None, the `random_state` of `estimator` is kept. Pass
        an int for reproducible results.
    verbose : bool
        Whether to show a progress bar (requires rich).

    Attributes
    ----------
    label_sets_ : csr_array of shape (n_sets, n_labels)
        The distinct label sets with ancestors, one per class of the model.
    estimators_ : list of one estimator
        The fitted model; its classes are row indices of `label_sets_`.
    hierarchy_ : Hierarchy
        The label hierarchy, as passed or as inferred from y.
    classes_ : ndarray of shape (n_labels,)
        The labels, in the order of the columns of `predict_proba`.

    See Also
    --------
    RAkEL : Ensemble of label powersets of a few labels each.

    Notes
    -----
    The probability of a label is the sum over all sets that contain it. `predict` returns the most
    probable set, whose labels need not have a probability of at least 0.5. With a threshold, it
    returns all labels with at least that probability instead.

    Examples
    --------
    >>> from ramify import LabelPowerset
    >>> X = [[1.0], [2.0], [3.0], [4.0]]
    >>> y = [["cat", "black"], ["cat", "black"], ["dog"], []]
    >>> model = LabelPowerset().fit(X, y)
    >>> model.predict([[1.5], [3.1], [4.2]])
    [['black', 'cat'], ['dog'], []]
    >>> model.label_sets_.shape
    (3, 3)
    """

    def _local_estimator(self, data: TreeData | None = None) -> Any:
        estimator = super()._local_estimator(data)
        if self.n_jobs is None or not hasattr(estimator, "n_jobs"):
            return estimator
        return clone(estimator).set_params(n_jobs=self.n_jobs)

    def _problems(self, rows: LabelRows) -> list[LocalProblem]:
        return self._learn_sets(rows, [np.arange(rows.hierarchy.n_labels)])

    def _combine(self, answers: NDArray[np.float64]) -> NDArray[np.float64]:
        # With a sparse product, the sums of a row do not depend on other rows. The terms of a
        # label are among those of its parents, so sums are coherent.
        having: Any = self.label_sets_.T.tocsr()
        return np.asarray(np.minimum(having @ answers, 1.0).T, dtype=np.float64)

    def _predict_sets(self, X: Any, asked: Asked = USUAL) -> sparse.csr_array[np.int32]:
        if asked.threshold is not None:
            return super()._predict_sets(X, asked)
        check_is_fitted(self)
        coded = read_features(self, X, self.schema_)
        answer = self._predict_local(coded, self._given(X, coded))
        if self.format_.single_label:  # never the empty set, even if training rows had it
            answer[np.diff(self.label_sets_.indptr) == 0] = -1
        chosen: sparse.csr_array[np.int32] = self.label_sets_[answer.argmax(axis=0)]
        return chosen


class RAkEL(LabelSetClassifier):
    """Ensemble of label powersets of random groups of labels (random k-labelsets).

    Each model is a `LabelPowerset` of a few labels, and their votes are averaged.

    Parameters
    ----------
    estimator : estimator, optional
        The classifier to fit for each group: any scikit-learn compatible multiclass classifier or
        one of ramify. If None, `PCTClassifier` is used.
    hierarchy : Hierarchy, optional
        The label hierarchy. If None, a tree is inferred from path labels; all other labels are
        treated as flat.
    group_size : int
        Number of labels per group, k; limited to the number of labels.
    n_groups : int, optional
        Number of groups if they overlap; at most the number of distinct groups. If None, twice the
        number of labels.
    overlapping : bool
        Whether to draw distinct groups, which may overlap (RAkELo), or to partition the labels
        into disjoint groups (RAkELd).
    voting : {"hard", "soft"}
        Whether models vote with their most probable label set, or with the probabilities of
        labels.
    categorical_features : array-like of bool, int or str, optional
        The nominal features, as a boolean mask, indices or column names; see `PCTClassifier`. Only
        used by classifiers of ramify.
    n_jobs : int, optional
        Number of local models to fit or predict with in parallel; -1 means all cores. The
        result does not depend on it.
    random_state : int, RandomState instance or None
        Controls the groups and the seeds of the local models. Pass an int for reproducible
        results.
    verbose : bool
        Whether to show a progress bar (requires rich).

    Attributes
    ----------
    groups_ : list of tuple
        The labels of each group.
    label_sets_ : csr_array of shape (n_sets, n_labels)
        The label sets of all models, one per class of each model.
    shares_ : ndarray of shape (n_labels,)
        The fraction of training rows that have each label. It is predicted for labels in no group.
    estimators_ : list of estimators
        The fitted models in the order of `groups_`; their classes are row indices of
        `label_sets_`.
    hierarchy_ : Hierarchy
        The label hierarchy, as passed or as inferred from y.
    classes_ : ndarray of shape (n_labels,)
        The labels, in the order of the columns of `predict_proba`.

    See Also
    --------
    LabelPowerset : One classifier for all labels.

    Notes
    -----
    The probability of a label is the mean vote of the models whose group contains it, limited,
    from the top down, to the probabilities of its parents. `predict` returns the labels with a
    probability of at least 0.5.

    Examples
    --------
    >>> from ramify import RAkEL
    >>> X = [[1.0], [2.0], [3.0], [4.0]]
    >>> y = [["cat", "black"], ["cat", "black"], ["dog"], ["fish"]]
    >>> model = RAkEL(group_size=2, random_state=0).fit(X, y)
    >>> model.predict([[1.5], [3.1]])
    [['black', 'cat'], ['dog']]
    >>> len(model.groups_)
    6
    """

    _saved_schema: ClassVar[Schema] = {
        "groups_": ListOf(TupleOf(Label())),
        "shares_": Array(("n_labels",), low=0),
    }

    groups_: list[tuple[Any, ...]]
    shares_: NDArray[np.float64]

    def __init__(
        self,
        estimator: Any = None,
        *,
        hierarchy: Hierarchy | None = None,
        group_size: int = 3,
        n_groups: int | None = None,
        overlapping: bool = True,
        voting: str = "hard",
        categorical_features: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.estimator = estimator
        self.hierarchy = hierarchy
        self.group_size = group_size
        self.n_groups = n_groups
        self.overlapping = overlapping
        self.voting = voting
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        check_number("group_size", self.group_size, 1, whole=True)
        check_choice("voting", self.voting, ("hard", "soft"))
        if self.n_groups is not None:
            check_number("n_groups", self.n_groups, 1, whole=True)
            if not self.overlapping:
                raise ValueError(
                    f"n_groups must be None if overlapping is False, got {self.n_groups}. Use "
                    "group_size to set the number of groups."
                )

    def _problems(self, rows: LabelRows) -> list[LocalProblem]:
        n_labels = rows.hierarchy.n_labels
        random = check_random_state(self.random_state)
        size = min(self.group_size, n_labels)
        if self.overlapping:
            wanted = 2 * n_labels if self.n_groups is None else self.n_groups
            groups = _draw_groups(n_labels, size, wanted, random)
        else:
            dealt = random.permutation(n_labels)
            groups = [np.sort(dealt[k : k + size]) for k in range(0, n_labels, size)]
        names = rows.hierarchy.labels
        self.groups_ = [tuple(names[c] for c in group.tolist()) for group in groups]
        self.shares_ = rows.shares()
        return self._learn_sets(rows, groups)

    def _score(self, X: Any, given: Any) -> NDArray[np.float64]:
        n_rows = X.shape[0]
        if n_rows <= _BLOCK:
            return super()._score(X, given)
        blocks = [np.arange(k, min(k + _BLOCK, n_rows)) for k in range(0, n_rows, _BLOCK)]
        return np.concatenate(
            [super(RAkEL, self)._score(X[block], _safe_indexing(given, block)) for block in blocks]
        )

    def _combine(self, answers: NDArray[np.float64]) -> NDArray[np.float64]:
        votes = np.zeros((self.hierarchy_.n_labels, answers.shape[1]))
        n_voters = np.zeros(self.hierarchy_.n_labels)
        models, parts = self.local_models_.values(), self.local_models_.split(answers)
        for group, model, answer in zip(self.groups_, models, parts, strict=True):
            labels = self.hierarchy_.indices(group)
            sets = self.label_sets_[list(model.labels)][:, labels].toarray().astype(np.float64)
            chosen = sets[answer.argmax(axis=0)].T if self.voting == "hard" else None
            votes[labels] += _expect(sets, answer) if chosen is None else chosen
            n_voters[labels] += 1
        heard = n_voters > 0
        votes[heard] /= n_voters[heard, None]
        votes[~heard] = self.shares_[~heard, None]
        return make_coherent(np.minimum(votes, 1.0).T, self.hierarchy_, "min")


def _expect(sets: NDArray[np.float64], answer: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probabilities of labels, of shape (n_labels, n), from those of label sets."""
    having: Any = sparse.csr_array(sets.T)
    return np.asarray(having @ answer, dtype=np.float64)


def _draw_groups(
    n_labels: int, size: int, wanted: int, random: np.random.RandomState
) -> list[NDArray[np.int64]]:
    """Draw distinct groups of labels."""
    wanted = min(wanted, math.comb(n_labels, size))
    found: dict[tuple[int, ...], None] = {}
    while len(found) < wanted:
        drawn = random.choice(n_labels, size, replace=False)
        found[tuple(sorted(drawn.tolist()))] = None
    return [np.array(group, dtype=np.int64) for group in found]
