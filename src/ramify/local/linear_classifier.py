"""Linear classifiers, alone and as local models."""

from __future__ import annotations

from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify._base.classifier import ArrayClassifier
from ramify._parallel import count_threads
from ramify._schema import Anything, Flag, IfPresent, MapOf, Part, Schema
from ramify._validation import check_number
from ramify.data.rows import as_rows, indicator
from ramify.decision import make_coherent
from ramify.decision.best_sets import count_ends
from ramify.labels.class_weight import check_class_weight
from ramify.labels.encoding import EncodedLabels
from ramify.labels.hierarchy import Hierarchy
from ramify.local.learning import (
    LocalModel,
    LocalModels,
    ModelLearner,
    label_columns,
    multiply_down,
)
from ramify.local.linear import LinearColumns, LinearModel, Rotation
from ramify.local.problems import ROOT, LabelRows, LocalProblem, edges_of, parent_problems
from ramify.trees.tree_data import LabelTargets, TreeData

__all__ = ["LinearClassifier", "LinearLearner"]

_TOLERANCE = 0.1
_MAX_EPOCHS = 100
_LEAST_WEIGHT = 0.02
_SEED = 0
_MANY_CELLS = 20_000_000
"""Cells times outputs of a problem from which threads are worth starting."""


class LinearClassifier(ArrayClassifier):
    """Linear model of all labels, for texts and other data with many features.

    A hyperplane separates the rows of each class from all others: an L2-regularised support vector
    machine with squared hinge loss. Probabilities follow from the distances of the rows to the
    hyperplanes.

    If every row has one label or path, the classes are the labels at which rows end, and the
    probability of any other label is the sum over those below it. In a tree of several levels, the
    classes are separated twice: from all others at once, and label by label among siblings, as in
    `PerParentClassifier`; the probability of a class is the geometric mean of the two. If rows
    have label sets, there is a hyperplane for every label, and the probability of a label is
    limited, from the top down, to the probabilities of its parents.

    As the `estimator` of a local architecture such as `PerParentClassifier`, it is fast with
    thousands of labels: a model of a parent reads only the rows of the parent, and only the
    features that occur in them.

    Parameters
    ----------
    hierarchy : Hierarchy, optional
        The label hierarchy. If None, a tree is inferred from path labels; all other labels are
        treated as flat.
    C : float
        The cost of errors: a larger value fits the training rows more closely.
    class_weight : "balanced" or dict of label to float, optional
        Factors on the weights of the rows of each class; "balanced" gives all classes the same
        total weight. Only for rows with one label or path.
    max_classes : int
        The largest number of classes that are separated from all others at once in a tree of
        several levels; more are only separated among siblings, which takes much less time.
    categorical_features : array-like of bool, int or str, optional
        The nominal features, as a boolean mask, indices or column names; see `PCTClassifier`.
        They are encoded as columns of 0 and 1; missing numbers are replaced with the mean of the
        feature.
    n_jobs : int, optional
        Number of threads; -1 means all cores. The result does not depend on it.

    Attributes
    ----------
    hierarchy_ : Hierarchy
        The label hierarchy, as passed or as inferred from y.
    classes_ : ndarray of shape (n_labels,)
        The labels, in the order of the columns of `predict_proba`.

    See Also
    --------
    PerParentClassifier : One model per parent, e.g. a linear one.
    SiblingLassoClassifier : Linear models with few features.

    Notes
    -----
    Numbers are standardised. Words, the terms of texts or the features of sparse X, are not
    centred. Numbers, words and categories are each multiplied by a factor, after which the mean
    squared length of a row is 1 in each of them. So `C` means the same for any X.

    Models of siblings know the levels, and those of all classes at once see what any class has in
    common with a distant one: either is better on some texts, and their mean about as good as the
    better one, or better than both.

    The dual problem is solved by coordinate descent (Hsieh et al., 2008). The scale of the
    probabilities, and an offset for each class or label, are those which make the training rows
    most likely, each judged by an estimate of the hyperplanes learnt without it. To correct these
    estimates, learning goes on without a few rows. Small weights are not stored.

    References
    ----------
    C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. S. Keerthi and S. Sundararajan. A dual coordinate
    descent method for large-scale linear SVM. ICML 2008.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> from ramify import LinearClassifier, PerParentClassifier
    >>> texts = ["red cotton shirt", "wool jumper", "oak table", "pine table", "oak chair"]
    >>> y = ["clothes/shirts", "clothes/jumpers"] + ["furniture/tables"] * 2 + ["furniture/chairs"]
    >>> words = TfidfVectorizer().fit(texts)
    >>> model = PerParentClassifier(LinearClassifier()).fit(words.transform(texts), y)
    >>> model.predict(words.transform(["green shirt", "walnut table"]))
    array(['clothes/shirts', 'furniture/tables'], dtype='<U16')
    """

    columns_: LinearColumns
    exclusive_: bool  # whether every training row has one label or path
    model_: LinearModel  # of all classes or labels; absent if there are only models of siblings
    siblings_: LocalModels  # by parent; absent unless classes are separated among siblings

    _saved_schema: ClassVar[Schema] = {
        "columns_": Part(LinearColumns, n_features="n_variables"),
        "exclusive_": Flag(),
        "model_": IfPresent(Part(LinearModel)),
        "siblings_": IfPresent(
            MapOf(
                Anything(),
                Part(
                    LocalModel,
                    n_features="n_features_in_",
                    n_variables="n_variables",
                    n_labels="n_labels",
                ),
            )
        ),
    }

    def __init__(
        self,
        hierarchy: Hierarchy | None = None,
        *,
        C: float = 1.0,
        class_weight: Any = None,
        max_classes: int = 300,
        categorical_features: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.hierarchy = hierarchy
        self.C = C
        self.class_weight = class_weight
        self.max_classes = max_classes
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        check_number("max_classes", self.max_classes, 1, whole=True)
        check_number("C", self.C, 1e-9, 1e9)
        check_class_weight(self.class_weight)

    def _learn(self, X: Any, encoded: EncodedLabels, weights: NDArray[np.float64]) -> None:
        Y = encoded.Y
        data = TreeData(X, self.schema_, LabelTargets(Y), weights, n_jobs=self.n_jobs)
        # The weights include those of the classes.
        learner = LinearLearner(LinearClassifier(C=self.C), data, self.hierarchy_)
        learner.prepare()
        self.columns_ = cast("LinearColumns", learner.columns)
        rows = LabelRows(Y, self.hierarchy_, weights)
        counts = count_ends(Y[weights > 0], self.hierarchy_)
        self.exclusive_ = bool((counts == 1).all())
        labels = self._outputs()
        if self._has_families():
            problems = parent_problems(rows, exclusive=True)
            self.siblings_ = LocalModels(
                (problem.key, learner.learn(problem, None)) for problem in problems
            )
            if len(labels) > self.max_classes:
                return
        parts = rows.ending_at if self.exclusive_ else rows.of
        self.model_ = train_model(
            learner.rows,
            rows.all,
            [parts(int(label)) for label in labels],
            weights,
            self.C,
            exclusive=self.exclusive_,
            n_threads=count_threads(self.n_jobs),
            rotation=learner.rotation,
        )

    def _outputs(self) -> NDArray[np.intp]:
        """Return the labels that have a hyperplane."""
        if self.exclusive_:
            return np.flatnonzero(self.ends_)
        return np.arange(self.hierarchy_.n_labels)

    def _has_families(self) -> bool:
        """Return whether classes are separated among siblings."""
        hierarchy = self.hierarchy_
        return self.exclusive_ and hierarchy.is_tree and hierarchy.depth > 1

    def _predict_scores(self, X: Any) -> NDArray[np.float64]:
        labels = self._outputs()
        rows = as_rows(self.columns_.transform(X))
        n_rows = X.shape[0]
        if not hasattr(self, "model_"):
            return self._multiply_siblings(rows, n_rows)
        found = self.model_.predict(rows, n_rows, len(labels))
        if not self.exclusive_:
            return make_coherent(found, self.hierarchy_, "min")
        if hasattr(self, "siblings_"):
            below = self._multiply_siblings(rows, n_rows)
            found = _geometric_mean(found, self._ending(below)[:, labels])
        ends = indicator((np.arange(len(labels) + 1), labels), self.hierarchy_.n_labels)
        above: Any = self.hierarchy_.close(ends).T.tocsr()
        total: NDArray[np.float64] = np.ascontiguousarray((above @ found.T).T)
        return np.minimum(total, 1.0)

    def _multiply_siblings(self, rows: _core.Rows, n_rows: int) -> NDArray[np.float64]:
        """Return the probabilities of all labels by the models of siblings."""
        models, stack = self.siblings_, self.siblings_.stack
        if stack is None:
            shares = [share for model in models.values() for share in model.shares]
            answers = np.repeat(np.array(shares, dtype=np.float64)[:, None], n_rows, axis=1)
        else:
            answers = stack.predict(rows, n_rows, count_threads(self.n_jobs))
        hierarchy = self.hierarchy_
        parents = [ROOT if key is None else hierarchy.index(key) for key in models]
        repeated = np.repeat(parents, [len(model.labels) for model in models.values()])
        found: NDArray[np.float64] = multiply_down(answers, repeated, models.labels, hierarchy)
        return found

    def _ending(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how probable it is that a row ends at each label of a tree."""
        parents, children = edges_of(self.hierarchy_)
        found: NDArray[np.float64] = scores.copy()
        inner = np.flatnonzero(parents != ROOT)
        np.subtract.at(found.T, parents[inner], scores.T[children[inner]])
        found[found < 0] = 0.0
        return found

    def _get_saved_state(self) -> dict[str, Any]:
        state = super()._get_saved_state()
        if "siblings_" in state:
            state["siblings_"] = dict(self.siblings_)
        return state

    def _set_saved_state(self, state: Any) -> None:
        super()._set_saved_state(state)
        if "columns_" not in state:
            return
        n_columns = self.columns_.n_columns
        if (
            (self.exclusive_ and "ends_" not in state)
            or ("siblings_" in state) != self._has_families()
            or not state.keys() & {"model_", "siblings_"}
        ):
            raise ValueError("the linear models do not fit the labels")
        if "model_" in state:
            self.model_.check(n_columns, len(self._outputs()))
        if "siblings_" in state:
            self.siblings_ = LocalModels(self.siblings_)
            for model in self.siblings_.values():
                model.check(self.hierarchy_.n_labels)
                if model.linear is not None:
                    model.linear.check(n_columns, len(model.learnt))
                elif model.learnt:
                    raise ValueError("the models of siblings must be linear")
            if sorted(self.siblings_.labels) != list(range(self.hierarchy_.n_labels)):
                raise ValueError("the models of siblings do not fit the labels")


def _geometric_mean(
    first: NDArray[np.float64], second: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the mean of two distributions over classes; the first where none is in both."""
    found = np.sqrt(first * second)
    total = found.sum(axis=1)
    agree = total > 0
    found[agree] /= total[agree, None]
    found[~agree] = first[~agree]
    return found


def train_model(
    X: _core.Rows,
    rows: NDArray[np.int64],
    positives: list[NDArray[np.int64]],
    weights: NDArray[np.float64],
    cost: float,
    *,
    exclusive: bool,
    n_threads: int,
    rotation: Rotation | None = None,
) -> LinearModel:
    """Learn the outputs of one linear model; `rotation`: how the numbers of X were turned."""
    places = [np.searchsorted(rows, positive) for positive in positives]
    if exclusive:
        rest = np.ones(len(rows), dtype=bool)
        for part in places:
            rest[part] = False
        if rest.any() or len(places) == 1:
            places.append(np.flatnonzero(rest))
    pair = exclusive and len(places) == 2
    if pair:
        places.pop()
    found: Any = _core.train_linear(
        X,
        rows,
        np.cumsum([0, *map(len, places)], dtype=np.int64),
        np.concatenate(places).astype(np.int32),
        np.ascontiguousarray(weights[rows]),
        exclusive and not pair,
        cost,
        _TOLERANCE,
        _MAX_EPOCHS,
        _LEAST_WEIGHT if rotation is None else 0.0,
        _SEED,
        n_threads,
    )
    if rotation is not None:
        found |= _turn_back(found, rotation)
    return LinearModel(
        found["features"],
        found["indptr"],
        found["outputs"],
        found["weights"],
        found["intercepts"],
        found["scales"],
        found["offsets"],
        exclusive=exclusive and not pair,
        pair=pair,
    )


def _turn_back(found: Any, rotation: Rotation) -> dict[str, NDArray[Any]]:
    """Return the weights that the core found, for numbers as they were before they were turned."""
    columns = found["features"]
    n_columns = 1 + max(int(columns.max(initial=-1)), int(rotation.places[-1]))
    at = (np.repeat(columns, np.diff(found["indptr"])), found["outputs"])
    shape = (n_columns, len(found["intercepts"]))
    weights = rotation.undo(sparse.csr_array((found["weights"], at), shape=shape))
    used = np.flatnonzero(np.diff(weights.indptr))
    return {
        "features": used.astype(np.int32),
        "indptr": np.append(0, weights.indptr[used + 1]).astype(np.int64),
        "outputs": weights.indices.astype(np.int32, copy=False),
        "weights": weights.data.astype(np.float32),
    }


class LinearLearner(ModelLearner):
    """Learns a linear model for each problem, all from the same columns."""

    prefer = "threads"
    rotation: Rotation | None

    def prepare(self) -> None:
        """Convert the features once for all problems."""
        own, data = self.estimator, self.data
        own._check_parameters()
        if self.columns is None:
            self.columns = LinearColumns.learn(data.by_rows, data.schema, data.weights)
        converted = self.columns.transform(data.by_rows)
        self._n_cells = np.diff(converted.indptr)
        self.rotation = Rotation.learn(converted, self.columns.numbers, data.weights)
        self.rows = self._turned(converted)

    def _turned(self, converted: Any) -> _core.Rows:
        return as_rows(converted if self.rotation is None else self.rotation.apply(converted))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "rows"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self.columns is not None:
            self.rows = self._turned(self.columns.transform(self.data.by_rows))

    def _fit(self, problem: LocalProblem, seed: int | None) -> tuple[Any, str]:
        weights, own = self.data.weights, self.estimator
        if own.class_weight is not None:
            weights = weights * self._factors(problem)
        size = int(self._n_cells[problem.rows].sum()) * len(problem.labels)
        model = train_model(
            self.rows,
            problem.rows,
            list(problem.positives),
            weights,
            own.C,
            exclusive=problem.exclusive,
            n_threads=count_threads(self.data.n_jobs) if size > _MANY_CELLS else 1,
            rotation=self.rotation,
        )
        return model, "columns"

    def _factors(self, problem: LocalProblem) -> NDArray[np.float64]:
        return self._class_factors(
            self.estimator.class_weight,
            label_columns(problem.positives, self.data.n_rows),
            problem,
        )
