"""Permutation importances: the drop in a measure when a column is shuffled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from ramify._base.features import read_features
from ramify._base.measuring import measure_scores, read_measure
from ramify._progress import track
from ramify._validation import check_number, check_same_length
from ramify.inspection.importance import Importances
from ramify.inspection.node_tests import read_feature_names
from ramify.labels.encoding import read_labels
from ramify.metrics.inputs import read_ranking
from ramify.metrics.ranking import areas_of_labels

__all__ = ["permutation_importances"]


def permutation_importances(
    model: Any,
    X: Any,
    y: Any,
    *,
    measure: Any = "pooled_auprc",
    n_repeats: int = 5,
    feature_names: Sequence[Any] | None = None,
    random_state: Any = None,
    verbose: bool = False,
) -> Importances:
    """Compute how much a measure drops when the values of a feature are shuffled.

    Parameters
    ----------
    model : any classifier of ramify
        A fitted model.
    X, y : array-like
        Rows and their labels, preferably rows that were not used for training.
    measure : str or callable
        The name of a measure in `ramify.metrics`, or a function of (truth, scores); higher is
        better. It is used for the importances for all labels together. Importances per label
        always use AUPRC.
    n_repeats : int
        Number of times each feature is shuffled.
    feature_names : sequence of str, optional
        One name per feature. By default, the columns of the data frame passed to `fit`, or x0,
        x1, ….
    random_state : int, RandomState instance or None
        Seed for shuffling.
    verbose : bool
        Whether to show a progress bar (requires rich).

    Returns
    -------
    Importances
        Mean and standard deviation of the drop over the repeats.

    Examples
    --------
    >>> from ramify import PCTClassifier
    >>> X = [[1.0, 5.0], [2.0, 5.0], [3.0, 5.0], [4.0, 5.0]]
    >>> y = ["pet/cat", "pet/cat", "pet/dog", "wolf"]
    >>> tree = PCTClassifier().fit(X, y)
    >>> found = permutation_importances(tree, X, y, random_state=0)
    >>> (found.overall > 0).tolist()
    [True, False]
    """
    check_number("n_repeats", n_repeats, 1, whole=True)
    judge = _Judge(model, read_measure(measure), read_labels(y, model.hierarchy_).Y)
    rows = read_features(model, X, model.schema_)
    check_same_length(rows.shape[0], judge.truth.shape[0])
    names = read_feature_names(model, feature_names)
    base = judge.score(rows)
    random = check_random_state(random_state)
    n_features, n_labels = len(names.names), model.hierarchy_.n_labels
    overall, spread = np.zeros(n_features), np.zeros(n_features)
    by_label, label_spread = (np.zeros((n_features, n_labels)) for _ in range(2))
    shuffled = track(range(n_features), n_features, "Shuffling features", shown=verbose)
    for j in shuffled:
        found = [judge.score(other) for other in _shuffle(rows, j, n_repeats, random)]
        drops = base[0] - np.array([total for total, _ in found])
        overall[j], spread[j] = drops.mean(), drops.std()
        areas = base[1] - np.stack([area for _, area in found])
        by_label[j], label_spread[j] = areas.mean(axis=0), areas.std(axis=0)
    positives = np.asarray(judge.truth.sum(axis=0), dtype=np.float64).ravel()
    unit = f"drop in {getattr(judge.measure, '__name__', 'the measure')}"
    return Importances(
        names,
        model.hierarchy_,
        unit,
        overall,
        spread,
        by_label,
        label_spread,
        (positives > 0).astype(np.float64),
    )


@dataclass(frozen=True)
class _Judge:
    """Scores a model by a measure, and by AUPRC for each label."""

    model: Any
    measure: Any
    truth: sparse.csr_array[np.int32]

    def score(self, rows: Any) -> tuple[float, NDArray[np.float64]]:
        scores = self.model._predict_scores(rows)
        hierarchy = self.model.hierarchy_
        total = measure_scores(
            self.measure,
            self.truth,
            scores,
            hierarchy,
            lambda found: self.model._decide(found, None),
        )
        ranking = read_ranking(self.truth, scores, hierarchy, "all", None)
        areas, _, positives = areas_of_labels(ranking)
        return float(total), np.where(positives > 0, areas, np.nan)


def _shuffle(rows: Any, feature: int, n_repeats: int, random: Any) -> Iterator[Any]:
    """Yield copies of rows with the values of one column shuffled."""
    if isinstance(rows, np.ndarray):
        shuffled = rows.copy()
        for _ in range(n_repeats):
            shuffled[:, feature] = rows[random.permutation(len(rows)), feature]
            yield shuffled
        return
    columns = rows.tocsc()
    for _ in range(n_repeats):
        order = random.permutation(rows.shape[0])
        parts = [columns[:, :feature], columns[order][:, [feature]], columns[:, feature + 1 :]]
        yield sparse.csr_array(sparse.hstack(parts))
