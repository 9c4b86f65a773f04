"""Linear classifiers, alone and as local models."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify._base.classifier import ArrayClassifier
from ramify._parallel import count_threads
from ramify._schema import Part, Schema
from ramify._validation import check_number
from ramify.data.rows import as_rows
from ramify.decision import make_coherent
from ramify.labels.class_weight import check_class_weight
from ramify.labels.hierarchy import Hierarchy
from ramify.labels.unknown import UnknownLabels
from ramify.local.learning import ModelLearner, label_columns
from ramify.local.linear import LinearColumns, LinearModel
from ramify.local.problems import LabelRows, LocalProblem

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

    If y has one label or path per row, the classes are the labels at which rows end, and the
    probability of any other label is the sum over those below it. If y has label sets, there is
    a hyperplane for every label, and the probability of a label is limited, from the top down, to
    the probabilities of its parents.

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

    The dual problem is solved by coordinate descent (Hsieh et al., 2008). The scale of the
    probabilities is that which makes the training rows most likely, each judged by an estimate of
    the hyperplanes learnt without it. Small weights are not stored.

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
    model_: LinearModel

    _saved_schema: ClassVar[Schema] = {
        "columns_": Part(LinearColumns, n_features="n_variables"),
        "model_": Part(LinearModel),
    }

    def __init__(
        self,
        hierarchy: Hierarchy | None = None,
        *,
        C: float = 1.0,
        class_weight: Any = None,
        categorical_features: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.hierarchy = hierarchy
        self.C = C
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        check_number("C", self.C, 1e-9, 1e9)
        check_class_weight(self.class_weight)

    def _learn(
        self,
        X: Any,
        Y: sparse.csr_array[np.int32],
        weights: NDArray[np.float64],
        unknown: UnknownLabels | None,
    ) -> None:
        self.columns_ = LinearColumns.learn(X, self.schema_, weights)
        rows = LabelRows(Y, self.hierarchy_, weights)
        labels = self._outputs()
        parts = rows.ending_at if self.format_.single_label else rows.of
        self.model_ = train_model(
            as_rows(self.columns_.transform(X)),
            rows.all,
            [parts(int(label)) for label in labels],
            weights,
            self.C,
            exclusive=self.format_.single_label,
            n_threads=count_threads(self.n_jobs),
        )

    def _outputs(self) -> NDArray[np.intp]:
        """Return the labels that have a hyperplane."""
        if self.format_.single_label:
            return np.flatnonzero(self.ends_)
        return np.arange(self.hierarchy_.n_labels)

    def _predict_scores(self, X: Any) -> NDArray[np.float64]:
        labels = self._outputs()
        rows = as_rows(self.columns_.transform(X))
        found = self.model_.predict(rows, X.shape[0], len(labels))
        if not self.format_.single_label:
            return make_coherent(found, self.hierarchy_, "min")
        ones = np.ones(len(labels), dtype=np.int32)
        shape = (len(labels), self.hierarchy_.n_labels)
        ends = sparse.csr_array((ones, labels, np.arange(len(labels) + 1)), shape=shape)
        above: Any = self.hierarchy_.close(ends).T.tocsr()
        total: NDArray[np.float64] = np.ascontiguousarray((above @ found.T).T)
        return np.minimum(total, 1.0)

    def _set_saved_state(self, state: Any) -> None:
        super()._set_saved_state(state)
        if "model_" in state:
            self.model_.check(self.columns_.n_columns, len(self._outputs()))


def train_model(
    X: _core.Rows,
    rows: NDArray[np.int64],
    positives: list[NDArray[np.int64]],
    weights: NDArray[np.float64],
    cost: float,
    *,
    exclusive: bool,
    n_threads: int,
) -> LinearModel:
    """Learn the outputs of one linear model.

    `X`: all rows, as of `LinearColumns.transform`.
    `rows`: those to learn from.
    `positives`: the rows of each output.
    `weights`: of all rows.
    `cost`: of an error in a row of weight 1.
    `exclusive`: whether no row has more than one output. Rows without any then are a class.
    """
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
        _LEAST_WEIGHT,
        _SEED,
        n_threads,
    )
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


class LinearLearner(ModelLearner):
    """Learns a linear model for each problem, all from the same columns."""

    prefer = "threads"

    def prepare(self) -> None:
        """Convert the features once for all problems."""
        own, data = self.estimator, self.data
        own._check_parameters()
        if self.columns is None:
            self.columns = LinearColumns.learn(data.by_rows, data.schema, data.weights)
        converted = self.columns.transform(data.by_rows)
        self._n_cells = np.diff(converted.indptr)
        self._X = as_rows(converted)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_X"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self.columns is not None:
            self._X = as_rows(self.columns.transform(self.data.by_rows))

    def _fit(self, problem: LocalProblem, seed: int | None) -> tuple[Any, str]:
        weights, own = self.data.weights, self.estimator
        if own.class_weight is not None:
            weights = weights * self._factors(problem)
        size = int(self._n_cells[problem.rows].sum()) * len(problem.labels)
        model = train_model(
            self._X,
            problem.rows,
            list(problem.positives),
            weights,
            own.C,
            exclusive=problem.exclusive,
            n_threads=count_threads(self.data.n_jobs) if size > _MANY_CELLS else 1,
        )
        return model, "columns"

    def _factors(self, problem: LocalProblem) -> NDArray[np.float64]:
        return self._class_factors(
            self.estimator.class_weight,
            label_columns(problem.positives, self.data.n_rows),
            problem,
        )
