"""Measures as scikit-learn scorers, for cross_validate, GridSearchCV and similar tools."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metadata_routing import MetadataRequest

from ramify._messages import shorten
from ramify.labels.encoding import EncodedLabels, read_more_labels
from ramify.labels.hierarchy import Hierarchy
from ramify.metrics import answers, hierarchical, losses, protein, ranking, sets
from ramify.metrics.inputs import is_matrix

_OF_SCORES: tuple[Callable[..., float], ...] = (
    ranking.pooled_auprc,
    ranking.mean_auprc,
    ranking.weighted_auprc,
    ranking.pooled_auroc,
    ranking.mean_auroc,
    hierarchical.top_k_accuracy,
    protein.f_max,
)
_OF_SETS: tuple[Callable[..., float], ...] = (
    sets.jaccard_accuracy,
    sets.subset_accuracy,
    sets.example_precision,
    sets.example_recall,
    sets.example_f1,
    sets.micro_f1,
    sets.macro_f1,
    hierarchical.hierarchical_f1,
    answers.hierarchical_coverage,
    answers.mean_depth,
)
_LOSSES_OF_SETS: tuple[Callable[..., float], ...] = (
    sets.hamming_loss,
    losses.hierarchical_hamming_loss,
    losses.hmc_loss,
    losses.h_loss,
    losses.symmetric_loss,
    answers.hierarchical_risk,
    answers.lca_distance,
)


class HierarchicalScorer:
    """A scorer that applies a measure to a fitted estimator: ``scorer(estimator, X, y)``.

    Higher is better; losses are negated. By default, the hierarchy is the ``hierarchy_`` of the
    estimator, which may be inside a pipeline or a search. If the estimator inferred it from its
    training rows, labels of y that it has not seen are added with the score 0, because they cannot
    be predicted.

    Parameters
    ----------
    measure : callable
        A function of (y_true, y_score or y_pred, hierarchy=…, sample_weight=…).
    sign : {1, -1}
        -1 for losses.
    of_scores : bool
        Whether the measure takes the result of `predict_proba` instead of `predict`.
    options : dict
        Keyword arguments of the measure, such as ``labels="leaves"``.
    """

    def __init__(
        self,
        measure: Callable[..., float],
        sign: int,
        of_scores: bool,
        options: dict[str, Any],
    ) -> None:
        self.measure = measure
        self.sign = sign
        self.of_scores = of_scores
        self.options = options
        self._routed: bool | str | None = None

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Score an estimator on X with true labels y."""
        options = dict(self.options)
        predicted: Any = scores_of(estimator, X) if self.of_scores else estimator.predict(X)
        if "hierarchy" not in options:
            n_labels = predicted.shape[1] if self.of_scores else None
            hierarchy = hierarchy_of(estimator, y, n_labels)
            if hierarchy is not None and not is_matrix(y) and is_inferred(estimator):
                hierarchy = read_with_unseen(y, hierarchy).hierarchy
            if self.of_scores and hierarchy is not None:
                predicted = add_zeros(predicted, hierarchy.n_labels)
            options["hierarchy"] = hierarchy
        return self.sign * self.measure(y, predicted, sample_weight=sample_weight, **options)

    @property
    def __name__(self) -> str:
        """The name of the measure, with "neg_" in front of losses."""
        return self.measure.__name__ if self.sign > 0 else f"neg_{self.measure.__name__}"

    def __repr__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self.options.items())
        sign = "" if self.sign > 0 else "negative "
        return f"HierarchicalScorer({sign}{self.measure.__name__}{options})"

    def set_score_request(self, *, sample_weight: bool | str | None) -> HierarchicalScorer:
        """Request sample weights through scikit-learn's metadata routing.

        Parameters
        ----------
        sample_weight : bool, str or None
            As in scikit-learn's ``set_score_request``.

        Returns
        -------
        HierarchicalScorer
            This object.
        """
        self._routed = sample_weight
        return self

    def get_metadata_routing(self) -> MetadataRequest:
        """Return the metadata request of this scorer; see scikit-learn's metadata routing.

        Returns
        -------
        MetadataRequest
            The request of ``score``.
        """
        request = MetadataRequest(owner=repr(self))
        request.score.add_request(param="sample_weight", alias=self._routed)
        return request


def get_scorer(name: str, **options: Any) -> HierarchicalScorer:
    """Return a measure as a scorer for scikit-learn.

    Parameters
    ----------
    name : str
        Name of a measure; see `get_scorer_names`. Losses are negated and have the prefix
        ``"neg_"``, as in ``"neg_hmc_loss"``.
    **options
        Keyword arguments of the measure, such as ``labels="leaves"`` or ``hierarchy=…``.

    Returns
    -------
    HierarchicalScorer
        A scorer to pass as ``scoring``.

    Notes
    -----
    scikit-learn's ``cross_validate`` does not accept a sparse ``y``. Pass label sets, paths or a
    dense matrix.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklearn.model_selection import cross_validate
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from ramify.metrics import get_scorer
    >>> X, y = make_multilabel_classification(random_state=0)
    >>> scoring = {n: get_scorer(n) for n in ("pooled_auprc", "micro_f1", "neg_hamming_loss")}
    >>> found = cross_validate(KNeighborsClassifier(), X, y, scoring=scoring, cv=3)
    >>> found["test_pooled_auprc"].shape
    (3,)
    """
    known = _registry()
    if name not in known:
        raise ValueError(
            f"name must be one of {', '.join(known)}, got {name!r}.{name_in_scikit_learn(name)}"
        )
    measure, sign, of_scores = known[name]
    return HierarchicalScorer(measure, sign, of_scores, options)


_OF_SCIKIT_LEARN = {
    "accuracy": "subset_accuracy",
    "average_precision": "mean_auprc",
    "f1": "micro_f1",
    "f1_macro": "macro_f1",
    "f1_micro": "micro_f1",
    "f1_samples": "example_f1",
    "jaccard": "jaccard_accuracy",
    "jaccard_samples": "jaccard_accuracy",
    "roc_auc": "mean_auroc",
    "roc_auc_ovr": "mean_auroc",
}
"""Names of scikit-learn's scorers, and ours for the same measure."""


def name_in_scikit_learn(name: object) -> str:
    """Return a sentence that names the measure that scikit-learn gives another name, or nothing.

    >>> name_in_scikit_learn("accuracy")
    " scikit-learn's 'accuracy' is 'subset_accuracy' here."
    """
    ours = _OF_SCIKIT_LEARN.get(name) if isinstance(name, str) else None
    return f" scikit-learn's {name!r} is {ours!r} here." if ours else ""


def get_scorers(names: Iterable[str], **options: Any) -> dict[str, HierarchicalScorer]:
    """Return several measures as scorers, keyed by name.

    Parameters
    ----------
    names : iterable of str
        Names of measures; see `get_scorer_names`.
    **options
        Keyword arguments of all measures.

    Returns
    -------
    dict of str to HierarchicalScorer
        Scorers to pass as ``scoring``.

    Examples
    --------
    >>> from ramify.metrics import get_scorers
    >>> get_scorers(["pooled_auprc", "neg_h_loss"])
    {'pooled_auprc': HierarchicalScorer(pooled_auprc),
     'neg_h_loss': HierarchicalScorer(negative h_loss)}
    """
    return {name: get_scorer(name, **options) for name in names}


def get_scorer_names() -> list[str]:
    """Return the names of all scorers.

    Returns
    -------
    list of str
        Sorted names.

    Examples
    --------
    >>> from ramify.metrics import get_scorer_names
    >>> get_scorer_names()[:3]
    ['example_f1', 'example_precision', 'example_recall']
    """
    return sorted(_registry())


def _registry() -> dict[str, tuple[Callable[..., float], int, bool]]:
    of_scores = {measure.__name__: (measure, 1, True) for measure in _OF_SCORES}
    of_sets = {measure.__name__: (measure, 1, False) for measure in _OF_SETS}
    losses = {f"neg_{measure.__name__}": (measure, -1, False) for measure in _LOSSES_OF_SETS}
    negated_scores = {"neg_s_min": (protein.s_min, -1, True)}
    return {**of_scores, **of_sets, **losses, **negated_scores}


def scores_of(estimator: Any, X: Any) -> NDArray[np.float64]:
    """Return predict_proba as one matrix, even if the estimator returns one array per label."""
    found = estimator.predict_proba(X)
    if not isinstance(found, list):
        return np.asarray(found, dtype=np.float64)
    # scikit-learn returns one array per label with one column per class; the last is class 1.
    columns = [
        proba[:, 1] if proba.shape[1] > 1 else np.full(len(proba), float(classes[0]))
        for proba, classes in zip(found, estimator.classes_, strict=True)
    ]
    return np.column_stack(columns)


def hierarchy_of(estimator: Any, y: Any, n_labels: int | None) -> Hierarchy | None:
    """Return the hierarchy of a fitted estimator, or a flat one of its classes."""
    owner = _owner(estimator)
    if owner is not None:
        found: Hierarchy = owner.hierarchy_
        return found
    if n_labels is None or is_matrix(y):
        return None
    names = np.asarray(estimator.classes_).tolist()
    return Hierarchy.from_labels(names) if len(names) == n_labels else None


def is_inferred(estimator: Any) -> bool:
    """Return whether a fitted estimator inferred its labels from the rows of `fit`."""
    owner = _owner(estimator)
    given = {} if owner is None else owner.get_params(deep=True)
    return not any(
        isinstance(value, Hierarchy)
        for name, value in given.items()
        if name.rpartition("__")[2] == "hierarchy"
    )


def read_with_unseen(y: Any, hierarchy: Hierarchy) -> EncodedLabels:
    """Read labels; append those that the hierarchy lacks to it, and warn about them."""
    encoded = read_more_labels(y, hierarchy, allow_unknown=True)
    unseen = encoded.hierarchy.labels[hierarchy.n_labels :]
    if unseen:
        warnings.warn(
            f"y has labels that did not occur in fit: {shorten(unseen)}. They cannot be "
            "predicted and count as missed. Pass hierarchy to know all labels in advance.",
            UserWarning,
            stacklevel=3,
        )
    return encoded


def add_zeros(scores: NDArray[np.float64], n_labels: int) -> NDArray[np.float64]:
    """Return scores with columns of zeros at the end, for labels that cannot be predicted."""
    lacking = n_labels - scores.shape[1]
    return np.pad(scores, ((0, 0), (0, lacking))) if lacking > 0 else scores


def _owner(estimator: Any) -> Any:
    """Return the estimator with a hierarchy, which may be inside a pipeline or a search."""
    inner = estimator
    while inner is not None and not isinstance(getattr(inner, "hierarchy_", None), Hierarchy):
        inner = _inside(inner)
    return inner


def _inside(estimator: Any) -> Any:
    steps = getattr(estimator, "steps", None)
    if steps:
        return steps[-1][1]
    return getattr(estimator, "best_estimator_", getattr(estimator, "estimator_", None))
