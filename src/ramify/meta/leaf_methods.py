"""The methods that Bi and Kwok (2012) compare for mandatory leaf prediction, ready to fit."""

from __future__ import annotations

from typing import Any

from ramify._validation import check_choice
from ramify.hierarchy.hierarchy import Hierarchy
from ramify.local.classifiers import FlatClassifier
from ramify.meta.level_powerset import LevelPowerset
from ramify.meta.mandatory_leaf import MandatoryLeafClassifier
from ramify.meta.metalabeler import MetaLabeler
from ramify.sibling_lasso.classifier import SiblingLassoClassifier
from ramify.tree.classifier import PCTClassifier

__all__ = ["LEAF_METHODS", "make_leaf_classifier"]

LEAF_METHODS = ("mas", "masr", "hmc_lp", "hbr", "clus_hmc", "br")
"""The names of the methods."""


def make_leaf_classifier(
    method: str,
    hierarchy: Hierarchy | None = None,
    *,
    alpha: Any = "cv",
    n_jobs: int | None = None,
    random_state: Any = None,
) -> Any:
    """Return a classifier whose label sets end in leaves, by the name of the method.

    Parameters
    ----------
    method : {"mas", "masr", "hmc_lp", "hbr", "clus_hmc", "br"}
        "mas" and "masr": `MandatoryLeafClassifier` for the joint probability and for the
        expected loss, over `SiblingLassoClassifier`. "hmc_lp": `LevelPowerset` over the same
        linear model; trees only. "hbr", "clus_hmc" and "br": `MetaLabeler` over a
        `SiblingLassoClassifier`, a `PCTClassifier`, and a linear model for each leaf.
    hierarchy : Hierarchy, optional
        The labels. None infers them from y.
    alpha : "cv" or float
        The `alpha` of the linear models; see `SiblingLassoClassifier`.
    n_jobs : int, optional
        How many models are fitted at a time.
    random_state : int, RandomState instance or None
        The seed of all models.

    Returns
    -------
    classifier
        Unfitted.

    Examples
    --------
    >>> from ramify import make_leaf_classifier
    >>> make_leaf_classifier("mas", alpha=0.1)
    MandatoryLeafClassifier(estimator=SiblingLassoClassifier(alpha=0.1))
    """
    check_choice("method", method, LEAF_METHODS)
    lasso = SiblingLassoClassifier(alpha=alpha, random_state=random_state)
    if method in ("mas", "masr"):
        objective = "map" if method == "mas" else "risk"
        lasso.set_params(n_jobs=n_jobs)
        return MandatoryLeafClassifier(
            lasso, hierarchy=hierarchy, objective=objective, n_jobs=n_jobs
        )
    if method == "hmc_lp":
        return LevelPowerset(lasso, hierarchy=hierarchy, n_jobs=n_jobs, random_state=random_state)
    if method == "br":
        each = FlatClassifier(estimator=lasso, n_jobs=n_jobs, random_state=random_state)
        return MetaLabeler(each, hierarchy=hierarchy, counter=lasso, leaves_only=True)
    if method == "hbr":
        inner = SiblingLassoClassifier(alpha=alpha, n_jobs=n_jobs, random_state=random_state)
        return MetaLabeler(inner, hierarchy=hierarchy, counter=lasso)
    tree = PCTClassifier(min_samples_leaf=5, random_state=random_state)
    return MetaLabeler(tree, hierarchy=hierarchy, counter=lasso)
