"""Choice of the learner for an estimator, and the learner for classifiers of other libraries."""

from __future__ import annotations

from typing import Any

from sklearn.utils import _safe_indexing

from ramify._base.classifier import HierarchicalClassifier
from ramify._base.foreign import Question, check_takes_weights, clone_seeded, takes_labels
from ramify._messages import shorten
from ramify._validation import check_classifier
from ramify.hierarchy.hierarchy import Hierarchy
from ramify.local.learning import Learner, ModelLearner, label_columns
from ramify.local.problems import LocalProblem
from ramify.local.trees import own_learner
from ramify.tree.training_data import TrainingData

__all__ = ["make_learner"]


def make_learner(estimator: Any, data: TrainingData, hierarchy: Hierarchy) -> Learner:
    """Return a learner that suits an estimator.

    Parameters
    ----------
    estimator : estimator
        The unfitted estimator.
    data : TrainingData
        The features, sample weights and labels of all rows.
    hierarchy : Hierarchy
        The labels of the problems.

    Returns
    -------
    Learner
        The learner of local problems.
    """
    is_ours = isinstance(estimator, HierarchicalClassifier)
    if is_ours and estimator.hierarchy is not None:
        raise ValueError(
            f"the hierarchy of estimator must be None, got {estimator.hierarchy!r}. Local models "
            "predict one label or siblings only; pass the hierarchy to the outer classifier."
        )
    check_classifier(estimator)
    if data.weighted:
        check_takes_weights(estimator)
    kind = own_learner(estimator) if is_ours else ForeignLearner
    return kind(estimator, data, hierarchy)


class ForeignLearner(ModelLearner):
    """Fits a classifier of another library for each problem.

    Parameters
    ----------
    estimator, data, hierarchy
        See `Learner`.
    """

    def _fit(self, problem: LocalProblem, seed: int | None) -> tuple[Any, str]:
        names = self._names(problem)
        question = Question.about(names, exclusive=problem.exclusive)
        if question.answer == "indicator" and not takes_labels(self.estimator):
            raise ValueError(
                "estimator must support multi-label targets, because rows may have several of the "
                f"labels {shorten(names)}, got {type(self.estimator).__name__}. Use "
                "PerEdgeClassifier, or wrap the estimator in "
                "sklearn.multioutput.MultiOutputClassifier. If every row is one path, with a name "
                "per level, pass ramify.as_levels(y)."
            )
        estimator, data = clone_seeded(self.estimator, seed), self.data
        y = question.write(label_columns(problem.positives, data.n_rows)[problem.rows])
        whole = len(problem.rows) == data.n_rows
        X = data.given if whole else _safe_indexing(data.given, problem.rows)
        options = {"sample_weight": data.weights[problem.rows]} if data.weighted else {}
        estimator.fit(X, y, **options)
        return estimator, question.answer
