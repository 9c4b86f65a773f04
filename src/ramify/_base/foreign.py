"""Adapter for classifiers of other libraries: labels encoded as y, predictions as scores.

Both the local classifiers and the meta-estimators fit such classifiers. The adapter is part of
`_base` so that both can import it: `ramify.local` must not import from `ramify.meta`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import has_fit_parameter

from ramify._base.classifier import HierarchicalClassifier
from ramify.labels.formats import label_array

ANSWERS = ("positive", "indicator", "classes")
"""The kinds of y that a classifier of another library can be fitted on; see `Question`."""

NO_CLASS = ""
"""The class of rows without any of the labels. No label has an empty name."""


def takes_weights(estimator: Any) -> bool:
    """Return whether `fit` takes or routes sample weights, also in the estimators inside."""
    return _find_without_weights(estimator) is None


def check_takes_weights(estimator: Any) -> None:
    """Raise an error if an estimator, or one inside it, does not accept sample weights."""
    found = _find_without_weights(estimator)
    if found is not None:
        raise TypeError(
            f"sample_weight is given, but {type(found).__name__}.fit takes none. Omit it, or use "
            "an estimator that accepts sample weights. In a pipeline, enable scikit-learn's "
            "metadata routing."
        )


def _find_without_weights(estimator: Any) -> Any:
    """Return the first estimator that does not accept weights: the given one or one inside it."""
    if isinstance(estimator, FrozenEstimator):  # will not be fitted
        return None
    if not has_fit_parameter(estimator, "sample_weight") and not _routes_weights(estimator):
        return estimator
    if isinstance(estimator, HierarchicalClassifier):
        for inner in wrapped_estimators(estimator):
            found = _find_without_weights(inner)
            if found is not None:
                return found
    return None


def wrapped_estimators(estimator: Any) -> list[Any]:
    """Return the estimators directly inside another one, alone or as (name, estimator) pairs.

    >>> from ramify import HierarchicalVotingClassifier, PCTClassifier, PerEdgeClassifier
    >>> wrapped_estimators(PerEdgeClassifier(PCTClassifier()))
    [PCTClassifier()]
    >>> wrapped_estimators(HierarchicalVotingClassifier([("tree", PCTClassifier())]))
    [PCTClassifier()]
    """
    given = dict(estimator.get_params(deep=False))
    pairs = given.pop("estimators", None) or ()
    found = [*given.values(), *(inner for _, inner in pairs)]
    return [inner for inner in found if hasattr(inner, "fit") and not isinstance(inner, type)]


def _routes_weights(estimator: Any) -> bool:
    if not sklearn.get_config()["enable_metadata_routing"]:
        return False
    return bool(get_routing_for_object(estimator).consumes("fit", ["sample_weight"]))


def takes_labels(estimator: Any) -> bool:
    """Return whether an estimator supports several labels per row."""
    tags = get_tags(estimator)
    return bool(tags.classifier_tags.multi_label or tags.target_tags.multi_output)


def copy_input_tags(tags: Any, *estimators: Any) -> None:
    """Set the tags for sparse X and missing values: what all wrapped estimators support."""
    # `fit` refuses what is no estimator; a fitted model does not need it.
    given = [estimator for estimator in estimators if hasattr(estimator, "fit")]
    inner = [get_tags(estimator).input_tags for estimator in given]
    tags.input_tags.sparse = all(one.sparse for one in inner)
    tags.input_tags.allow_nan = all(one.allow_nan for one in inner)


_NUMBERS_ONLY = ("sklearn", "lightgbm", "xgboost")
"""Libraries whose classifiers read only numbers and, some of them, categories."""


def reads_texts(estimator: Any) -> bool:
    """Return whether an estimator turns texts into features itself.

    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> reads_texts(make_pipeline(TfidfVectorizer())), reads_texts(make_pipeline("passthrough"))
    (True, False)
    """
    if isinstance(estimator, HierarchicalClassifier):
        return False
    inside = estimator.get_params(deep=True).values() if hasattr(estimator, "get_params") else ()
    inner = [one for one in inside if hasattr(one, "fit") and not isinstance(one, type)]
    return any(map(_reads_strings, [estimator, *inner]))


def _reads_strings(estimator: Any) -> bool:
    """Return whether an estimator, regardless of those inside it, may read strings."""
    if type(estimator).__module__.partition(".")[0] not in _NUMBERS_ONLY:
        return True
    tags = get_tags(estimator).input_tags
    # A column transformer takes columns of data frames; a function takes anything.
    return bool(tags.string or any(hasattr(estimator, name) for name in ("transformers", "func")))


def set_random_state(estimator: Any, seed: int) -> None:
    """Set a different seed for an estimator and for each estimator inside it."""
    random = check_random_state(seed)
    seeds = {
        name: int(random.randint(np.iinfo(np.int32).max))
        for name in sorted(estimator.get_params(deep=True))
        if name == "random_state" or name.endswith("__random_state")
    }
    if seeds:
        estimator.set_params(**seeds)


def clone_seeded(estimator: Any, seed: int | None) -> Any:
    """Return an unfitted clone of an estimator, seeded unless `seed` is None."""
    copy = clone(estimator)
    if seed is not None:
        set_random_state(copy, seed)
    return copy


@dataclass(frozen=True)
class Question:
    """How labels are encoded as y for a classifier of another library, and how to read scores."""

    # "positive": there is a single label; y is 1 for rows with the label, and its score is the
    # probability of class 1. "indicator": y is an indicator matrix with one column per label.
    # "classes": no row has more than one of the labels; the class of a row is the name of its
    # label, or "" if it has none.
    answer: str
    # The labels, in the order of the columns, which are also the names of the classes.
    names: Sequence[Any]

    @classmethod
    def about(cls, names: Sequence[Any], *, exclusive: bool) -> Question:
        """Choose the encoding for some labels; if `exclusive`, a row has at most one of them."""
        if exclusive:
            return cls("classes", names)
        return cls("positive" if len(names) == 1 else "indicator", names)

    def write(self, Y: sparse.csr_array[np.int32]) -> NDArray[Any]:
        """Encode a label matrix as y."""
        if self.answer != "classes":
            columns = Y.toarray()
            return columns[:, 0] if self.answer == "positive" else columns
        number = np.full(Y.shape[0], len(self.names), dtype=np.int64)
        has_label = np.diff(Y.indptr) > 0
        number[has_label] = Y.indices[Y.indptr[:-1][has_label]]
        names = tuple(self.names) if has_label.all() else (*self.names, NO_CLASS)
        y: NDArray[Any] = label_array(names)[number]
        return y

    def read(self, model: Any, X: Any) -> NDArray[np.float64]:
        """Return the scores of a fitted classifier."""
        if not hasattr(model, "predict_proba"):
            return self.read_predictions(np.asarray(model.predict(X)))
        return self.read_probabilities(model, model.predict_proba(X))

    def read_probabilities(self, model: Any, answer: Any) -> NDArray[np.float64]:
        """Return the scores of a fitted classifier from the result of its `predict_proba`."""
        if self.answer == "classes":
            return _columns_of(np.asarray(answer), model.classes_, self.names)
        if self.answer == "positive":
            return _columns_of(np.asarray(answer), model.classes_, [1])
        if isinstance(answer, list):  # one array per label, as returned by scikit-learn's forests
            parts = zip(answer, model.classes_, strict=True)
            return np.hstack([_columns_of(np.asarray(part), own, [1]) for part, own in parts])
        return np.asarray(answer, dtype=np.float64)

    def read_predictions(self, predicted: NDArray[Any]) -> NDArray[np.float64]:
        """Return the scores of a fitted classifier from the result of its `predict`."""
        if self.answer == "classes":
            return np.stack([predicted == name for name in self.names], axis=1).astype(np.float64)
        return predicted.reshape(len(predicted), len(self.names)).astype(np.float64)


def _columns_of(
    answer: NDArray[Any], classes: Sequence[Any], wanted: Sequence[Any]
) -> NDArray[np.float64]:
    """Return the columns of the wanted classes; zeros for classes not seen in training."""
    known = np.asarray(classes).tolist()
    if known == list(wanted):
        return np.asarray(answer, dtype=np.float64)
    place = {value: k for k, value in enumerate(known)}
    if all(name in place for name in wanted):
        return np.asarray(answer, dtype=np.float64)[:, [place[name] for name in wanted]]
    found = np.zeros((len(answer), len(wanted)))
    for k, name in enumerate(wanted):
        if name in place:
            found[:, k] = answer[:, place[name]]
    return found
