"""Boosting for labels that form a hierarchy: AdaBoost.MH and H-Ada.MH."""

from __future__ import annotations

from typing import Any

from ramify.adaboost.base import BoostedClassifier
from ramify.hierarchy.hierarchy import Hierarchy

__all__ = ["AdaBoostMHClassifier", "HierarchicalAdaBoostMHClassifier"]


class AdaBoostMHClassifier(BoostedClassifier):
    r"""AdaBoost.MH: one boosted sum of small trees for every label, with weights in common.

    Every row has a weight for every label, all equal at first. In each round every label gets the
    decision stump with the least weighted error; the votes h of all of them have one weight

    .. math:: \alpha = \tfrac12 \ln \frac{1 + r}{1 - r}, \quad r = \sum_{i,j} w_{ij} y_{ij} h_{ij}

    with y and h in {-1, +1}; then wrong votes gain weight and right ones lose it. The hierarchy
    plays no part in learning; predictions are made coherent afterwards.

    Parameters
    ----------
    hierarchy : Hierarchy, optional
        The labels. None infers a tree from path labels, and takes other labels as flat.
    n_estimators : int
        The largest number of rounds.
    max_depth : int
        The number of tests on a path: 1 for stumps, at most 8. Nodes are divided where that
        lowers the weighted error most.
    shared_test : bool
        Whether all labels share the tests of a round, and only vote by themselves.
    max_bins : int, optional
        Search only the lower bounds of this many bins of equal width per feature. None: search
        every midpoint between two neighbouring values.
    early_stopping : bool
        Whether to keep rows apart, and stop when the loss on them has not fallen for a while. The
        model keeps the rounds with the least loss.
    validation_fraction : float
        The share of rows that are kept apart.
    n_iter_no_change : int
        How many rounds to wait for a smaller loss.
    categorical_features : array-like of bool, int or str, optional
        Nominal columns of X as a mask, positions or names. Text and categorical columns of a
        data frame are nominal anyway; in an array cells of nominal columns are codes 0, 1, ….
    n_jobs : int, optional
        The number of threads, -1 for all cores. The model does not depend on it.
    random_state : int, RandomState instance or None
        Draws the rows that are kept apart; nothing else is random.
    verbose : bool
        Whether to show a progress bar (needs the package rich).

    Attributes
    ----------
    rounds_ : Rounds
        The weak hypotheses as flat arrays.
    n_rounds_ : int
        Their number.
    alphas_ : ndarray of shape (n_rounds_,)
        Their weights.
    edges_ : ndarray of shape (n_rounds_,)
        The r of each round.
    relaxed_ : ndarray of bool, shape (n_rounds_,)
        Rounds that count without corrections; see `HierarchicalAdaBoostMHClassifier`.
    validation_losses_ : ndarray
        With `early_stopping` the Hamming loss on the rows kept apart, after each round.
    stop_reason_ : {"rounds", "chance", "perfect", "validation", "interrupted"}
        Why learning ended: all rounds were done; the next hypothesis was no better than chance;
        the last one made no mistake; the loss stopped falling; Ctrl-C, which keeps the rounds
        so far.
    hierarchy_ : Hierarchy
        The hierarchy given or inferred.
    classes_ : ndarray of shape (n_labels,)
        The labels, in the order of the columns of `predict_proba`.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of str
        Their names, if X was a data frame with string names.

    See Also
    --------
    HierarchicalAdaBoostMHClassifier : The same with the hierarchy in the learning.
    CalibratedHierarchicalClassifier : Probabilities that are frequencies.

    Notes
    -----
    A test sends unknown values to the side where they lower the error more, and a category of a
    nominal feature to the side of its own majority. Probabilities are the logistic function of
    twice the margin, as the exponential loss implies, and a label gets the least of its own and
    its ancestors': labels of 0.5 or more are those that are voted for with all their ancestors.

    References
    ----------
    R. E. Schapire and Y. Singer. Improved boosting algorithms using confidence-rated predictions.
    Machine Learning 37, 1999.

    Examples
    --------
    >>> from ramify import AdaBoostMHClassifier, load_animals
    >>> animals = load_animals()
    >>> boosted = AdaBoostMHClassifier(animals.hierarchy, n_estimators=20)
    >>> boosted = boosted.fit(animals.X, animals.y)
    >>> boosted.predict_proba(animals.X).shape == animals.y.shape
    True
    """

    costs = "uniform"
    top_down = False
    inherit_mistakes = False
    at_chance = "stop"

    def __init__(
        self,
        hierarchy: Hierarchy | None = None,
        *,
        n_estimators: int = 200,
        max_depth: int = 1,
        shared_test: bool = False,
        max_bins: int | None = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        categorical_features: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.hierarchy = hierarchy
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.shared_test = shared_test
        self.max_bins = max_bins
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose


class HierarchicalAdaBoostMHClassifier(BoostedClassifier):
    r"""H-Ada.MH: AdaBoost.MH that knows the hierarchy while it learns.

    It changes `AdaBoostMHClassifier` in three ways, each with its own switch: labels near the top
    start with more weight (`costs`); in every round a label is voted against where one of its
    parents is (`top_down`); and a vote counts as wrong where an ancestor's is
    (`inherit_mistakes`), which is the hierarchy-aware Hamming loss. All three off give
    AdaBoost.MH.

    Parameters
    ----------
    hierarchy : Hierarchy, optional
        The labels, a tree or DAG. None infers a tree from path labels, and takes other labels as
        flat.
    costs : {"shared", "uniform"} or array-like of shape (n_labels,)
        The weights that labels start with: a parent's shared among its children
        (`Hierarchy.costs`), all equal, or any.
    top_down : bool
        Whether a vote below a negative one is negative; in a DAG below any negative parent's.
    inherit_mistakes : bool
        Whether a vote below a wrong one counts as wrong, for the weight of the round and for the
        weights of the next.
    at_chance : {"relax", "stop"}
        What to do in a round in which the votes, so corrected, are no better than chance: take
        them as they are for this round, or stop, as the method says by the letter.
    n_estimators, max_depth, shared_test, max_bins
        As in `AdaBoostMHClassifier`.
    early_stopping, validation_fraction, n_iter_no_change
        As in `AdaBoostMHClassifier`; the loss is the hierarchy-aware Hamming loss if mistakes
        are inherited.
    categorical_features, n_jobs, random_state, verbose
        As in `AdaBoostMHClassifier`.

    Attributes
    ----------
    rounds_, n_rounds_, alphas_, edges_, relaxed_, validation_losses_, stop_reason_, hierarchy_, \
    classes_, n_features_in_, feature_names_in_
        As in `AdaBoostMHClassifier`.

    Notes
    -----
    A label's stump knows nothing of the corrections, and after some rounds all that the next one
    gains they take away: r falls to 0, the weights stay, and every further round would be the
    same. On ImCLEF07A that happens after 15 rounds. `at_chance` says how to go on; AdaBoost.MH's
    own votes always have an edge, and predictions are made coherent in the end anyway.

    References
    ----------
    C. Chelmis and W. Qi. Hierarchical multiclass AdaBoost. IEEE Big Data, 2021.

    Examples
    --------
    >>> from ramify import HierarchicalAdaBoostMHClassifier, load_animals
    >>> animals = load_animals()
    >>> boosted = HierarchicalAdaBoostMHClassifier(animals.hierarchy, n_estimators=20)
    >>> boosted = boosted.fit(animals.X, animals.y)
    >>> boosted.predict_proba(animals.X).shape == animals.y.shape
    True

    What a change does, the ablation of one of them shows:

    >>> unweighted = HierarchicalAdaBoostMHClassifier(animals.hierarchy, costs="uniform")
    """

    def __init__(
        self,
        hierarchy: Hierarchy | None = None,
        *,
        costs: Any = "shared",
        top_down: bool = True,
        inherit_mistakes: bool = True,
        at_chance: str = "relax",
        n_estimators: int = 200,
        max_depth: int = 1,
        shared_test: bool = False,
        max_bins: int | None = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        categorical_features: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.hierarchy = hierarchy
        self.costs = costs
        self.top_down = top_down
        self.inherit_mistakes = inherit_mistakes
        self.at_chance = at_chance
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.shared_test = shared_test
        self.max_bins = max_bins
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
