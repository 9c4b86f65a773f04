"""The methods for mandatory leaf prediction that Bi and Kwok (2012) compare."""

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
    """Return the classifier for mandatory leaf prediction with the given name.

    These are the methods that Bi and Kwok (2012) compare.

    Parameters
    ----------
    method : {"mas", "masr", "hmc_lp", "hbr", "clus_hmc", "br"}
        "mas" and "masr" are `MandatoryLeafClassifier` with the objectives "map" and "risk" around
        `SiblingLassoClassifier`. "hmc_lp" is `LevelPowerset` around the same linear model, for
        trees only. "hbr", "clus_hmc" and "br" are `MetaLabeler` around a
        `SiblingLassoClassifier`, a `PCTClassifier`, and one linear model per leaf.
    hierarchy : Hierarchy, optional
        The label hierarchy. If None, a tree is inferred from path labels; all other labels are
        treated as flat.
    alpha : "cv" or float
        Parameter `alpha` of the linear models; see `SiblingLassoClassifier`.
    n_jobs : int, optional
        Number of models to fit in parallel; -1 means all cores. The result does not
        depend on it.
    random_state : int, RandomState instance or None
        The `random_state` of all models.

    Returns
    -------
    classifier
        The unfitted classifier.

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
