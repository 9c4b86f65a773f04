"""Local models that learn from one part of the rows after the other."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from ramify._base.foreign import NO_CLASS, Question, clone_seeded
from ramify._messages import shorten
from ramify.labels.formats import label_array
from ramify.labels.hierarchy import Hierarchy
from ramify.local.learning import ConstantClassifier, Learner, LocalModel, label_columns
from ramify.local.problems import ROOT, LocalProblem, edges_of, parents_of
from ramify.trees.tree_data import TreeData

__all__ = ["PartLearner", "moved", "united"]


class PartLearner(Learner):
    """Goes on with the models of local problems, whose classes are known from the start."""

    def __init__(
        self,
        estimators: Mapping[Any, Any],
        data: TreeData,
        hierarchy: Hierarchy,
        models: Mapping[Any, LocalModel],
    ) -> None:
        super().__init__(estimators, data, hierarchy)
        self.models = models

    def learn(self, problem: LocalProblem, seed: int | None) -> LocalModel:
        """Return a copy of the model of a problem that has learnt from the new rows as well."""
        old = self.models.get(problem.key)
        if not len(problem.rows):
            if old is not None and old.labels == problem.labels:
                return old
            if old is None or not old.learnt:  # nothing is known yet
                zeros = (0.0,) * len(problem.labels)
                return LocalModel(ConstantClassifier(zeros), problem.labels, zeros)
        names = [self.hierarchy.labels[c] for c in problem.labels]
        question = Question.about(names, exclusive=problem.exclusive)
        y = question.write(label_columns(problem.positives, self.data.n_rows)[problem.rows])
        if old is not None and old.learnt:
            estimator, classes = deepcopy(old.estimator), old.estimator.classes_
        else:
            estimator = clone_seeded(self.estimator[problem.key], seed)
            classes = self._classes(problem, question)
        self._check(question, problem, y, classes)
        whole = len(problem.rows) == self.data.n_rows
        X = self.data.given if whole else _safe_indexing(self.data.given, problem.rows)
        options = {"sample_weight": self.data.weights[problem.rows]} if self.data.weighted else {}
        estimator.partial_fit(X, y, classes=classes, **options)
        return LocalModel(
            estimator, problem.labels, (None,) * len(problem.labels), question.answer
        )

    def _classes(self, problem: LocalProblem, question: Question) -> Any:
        """Return all classes of a problem, whether or not a row has had them."""
        if question.answer == "positive":
            return np.array([0, 1])
        at_top = all(parents_of(self.hierarchy, c) == [ROOT] for c in problem.labels)
        return np.unique(label_array((*question.names, *(() if at_top else (NO_CLASS,)))))

    def _check(self, question: Question, problem: LocalProblem, y: Any, classes: Any) -> None:
        """Raise an error if a model would have to learn classes of which it was not told."""
        if question.answer == "indicator":
            raise ValueError(
                "partial_fit requires one label or path per row, because models of several "
                f"labels, {shorten(question.names)}, have no classes. Use PerNodeClassifier or "
                "PerEdgeClassifier."
            )
        wanted = [1] if question.answer == "positive" else question.names
        new = sorted({*np.unique(y).tolist(), *wanted} - {0, *np.asarray(classes).tolist()})
        if new:
            raise ValueError(
                f"y has labels that appeared after the first call, {shorten(new)}, and a model "
                "of several classes cannot learn more of them. Pass a hierarchy with all labels, "
                "or use PerNodeClassifier or PerEdgeClassifier, which have a model for each."
            )


def united(old: Hierarchy, new: Hierarchy) -> Hierarchy:
    """Return a hierarchy with the labels and edges of both; the old one if it has all of them.

    >>> old = Hierarchy.from_paths(["pet/cat", "plant"])
    >>> united(old, Hierarchy.from_paths(["pet/dog"])).labels
    ('pet', 'pet/cat', 'pet/dog', 'plant')
    """
    before = _edges(old)
    edges = dict.fromkeys([*before, *_edges(new)])
    if len(edges) == len(before):
        return old
    if old.depth <= 1 and new.depth <= 1:
        return Hierarchy.from_labels(child for _, child in edges)
    found = Hierarchy.from_edges(edges, root=_ROOT, tree=old.is_tree and new.is_tree)
    return Hierarchy(found.labels, found.parent_rows, old.separator)


_ROOT = "\0"
"""Stands for the root: no label begins with it."""


def _edges(hierarchy: Hierarchy) -> list[tuple[Any, Any]]:
    names = [*hierarchy.labels, _ROOT]  # the position of the root is -1
    parents, children = edges_of(hierarchy)
    return [(names[p], names[c]) for p, c in zip(parents.tolist(), children.tolist(), strict=True)]


def moved(model: LocalModel, old: Hierarchy, new: Hierarchy) -> LocalModel:
    """Return a model with the positions that its labels have in a larger hierarchy."""
    if old is new:
        return model
    labels = new.indices([old.labels[c] for c in model.labels]).tolist()
    return replace(model, labels=tuple(labels))
