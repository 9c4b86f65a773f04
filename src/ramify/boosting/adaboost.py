"""Boosting for hierarchical multi-label classification: AdaBoost.MH and H-Ada.MH."""

from __future__ import annotations

from typing import Any

from ramify.boosting.adaboost_base import BoostedClassifier
from ramify.labels.hierarchy import Hierarchy

__all__ = [
    "AdaBoostMHClassifier",
    "HierarchicalAdaBoostMHClassifier",
]


class AdaBoostMHClassifier(BoostedClassifier):
    r"""AdaBoost.MH: boosted decision stumps or small trees for multi-label classification.

    Every pair of a row and a label has a weight; initially, all weights are equal. In each round,
    the decision stump with the smallest weighted error is found for every label. The votes h of
    all these stumps share one weight

    .. math:: \alpha = \tfrac12 \ln \frac{1 + r}{1 - r}, \quad r = \sum_{i,j} w_{ij} y_{ij} h_{ij}

    with y and h in {-1, +1}. Then the weights of wrong votes are increased and those of correct
    votes decreased. The hierarchy is not used for learning; predictions are made coherent
    afterwards.

    Parameters
    ----------
    hierarchy : Hierarchy, optional
        The label hierarchy. If None, a tree is inferred from path labels; all other labels are
        treated as flat.
    n_estimators : int
        Maximum number of rounds.
    max_depth : int
        Depth of the trees, from 1 (decision stumps) to 8. Each test is the one that most reduces
        the weighted error.
    shared_test : bool
        Whether all labels share the tests of a round and differ only in their votes.
    max_bins : int, optional
        Number of bins of equal width per feature; only their lower bounds are considered as
        thresholds. None considers every midpoint between two neighbouring values.
    early_stopping : bool
        Whether to hold out validation rows, and to stop when the loss on them has not decreased
        for `n_iter_no_change` rounds. The model keeps the rounds up to the smallest loss.
    validation_fraction : float
        Fraction of the rows to hold out for early stopping.
    n_iter_no_change : int
        Number of rounds without a smaller loss after which to stop.
    categorical_features : array-like of bool, int or str, optional
        The nominal features, as a boolean mask, indices or column names. String and categorical
        columns of a data frame are always nominal. Nominal columns of an array must contain
        integer codes 0, 1, ….
    n_jobs : int, optional
        Number of threads; -1 means all cores. The result does not depend on it.
    random_state : int, RandomState instance or None
        Controls which rows are held out for early stopping; nothing else is random. Pass an int
        for reproducible results.
    verbose : bool
        Whether to show a progress bar (requires rich).

    Attributes
    ----------
    rounds_ : Rounds
        The weak hypotheses as flat arrays.
    n_rounds_ : int
        Number of rounds.
    alphas_ : ndarray of shape (n_rounds_,)
        The weight α of each round.
    edges_ : ndarray of shape (n_rounds_,)
        The edge r of each round.
    relaxed_ : ndarray of bool, shape (n_rounds_,)
        Whether a round uses votes without corrections; see `HierarchicalAdaBoostMHClassifier`.
    validation_losses_ : ndarray
        With `early_stopping`, the Hamming loss on the held-out rows after each round.
    stop_reason_ : {"rounds", "chance", "perfect", "validation"}
        Why boosting ended. "rounds": all rounds were completed. "chance": the next hypothesis was
        no better than chance. "perfect": the last hypothesis made no errors. "validation": the
        loss on the held-out rows stopped decreasing.
    hierarchy_ : Hierarchy
        The label hierarchy, as passed or as inferred from y.
    classes_ : ndarray of shape (n_labels,)
        The labels, in the order of the columns of `predict_proba`.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features seen during `fit`. Defined only if X was a data frame with string
        column names.

    See Also
    --------
    HierarchicalAdaBoostMHClassifier : Boosting that uses the hierarchy for learning.
    CalibratedHierarchicalClassifier : Calibrates the probabilities of a classifier.

    Notes
    -----
    A test sends missing values to the side where they reduce the error more, and each category of
    a nominal feature to the side of its own majority. The probability of a label is the logistic
    function of twice its margin, as implied by the exponential loss, or that of an ancestor if
    this is smaller. A probability of at least 0.5 therefore means that the votes are in favour of
    the label and of all its ancestors.

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
    r"""AdaBoost.MH that uses the hierarchy for learning; H-Ada.MH is one of its forms.

    It differs from `AdaBoostMHClassifier` in up to three ways, each with its own parameter:

    - Labels near the top have larger initial weights (`costs`).
    - In a round, the vote for a label may depend on the votes for its parents (`top_down`).
    - A vote may count as wrong if the vote for an ancestor is wrong (`inherit_mistakes`).

    By default, the tree for each label and round is the better of two: the best tree, and the best
    among those that vote against the label wherever the vote for a parent is negative. This form
    is not from the literature. Algorithm 1 of H-Ada.MH is ``top_down=True``.

    Parameters
    ----------
    hierarchy : Hierarchy, optional
        The label hierarchy. If None, a tree is inferred from path labels; all other labels are
        treated as flat.
    costs : {"shared", "uniform"} or array-like of shape (n_labels,)
        The initial weights of the labels. "shared": the weight of a label is divided among its
        children (see `Hierarchy.costs`). "uniform": all weights are equal.
    top_down : {"best", True, False}
        Whether the vote for a label is negative where the vote for a parent (in a DAG, for any
        parent) is negative. True: always, after the trees have been found. False: never. "best":
        for each label and round, a second tree is searched for only on the rows for which all
        parents get positive votes, and is used, with negative votes for all other rows, if its
        edge is larger. With `shared_test`, only the votes of the leaves differ.
    inherit_mistakes : bool
        Whether a vote counts as wrong if the vote for an ancestor is wrong, both for the weight
        of the round and for the weights of the next round.
    at_chance : {"stop", "relax"}
        What to do in a round whose votes are no better than chance after the corrections by
        ``top_down=True`` and `inherit_mistakes`. "stop": end boosting. "relax": use the votes
        without these corrections for this round.
    n_estimators, max_depth, shared_test, max_bins
        As in `AdaBoostMHClassifier`.
    early_stopping, validation_fraction, n_iter_no_change
        As in `AdaBoostMHClassifier`. The loss is the hierarchy-aware Hamming loss, unless both
        `top_down` and `inherit_mistakes` are False.
    categorical_features, n_jobs, random_state, verbose
        As in `AdaBoostMHClassifier`.

    Attributes
    ----------
    rounds_, n_rounds_, alphas_, edges_, relaxed_, validation_losses_, stop_reason_
        As in `AdaBoostMHClassifier`.
    hierarchy_, classes_, n_features_in_, feature_names_in_
        As in `AdaBoostMHClassifier`.

    See Also
    --------
    AdaBoostMHClassifier : Boosting that does not use the hierarchy for learning.

    Notes
    -----
    Algorithm 1 of the paper has two changes: the initial weights (Eq. 5 and 6), and votes that are
    negative below a negative vote (Eq. 7). The stump for a label is found without regard to the
    second change, and after some rounds the corrections cancel what a round gains: r (Eq. 9) is 0
    or less. The paper does not discuss this case; taken literally, such rounds get an alpha of 0
    or less (Eq. 8), and boosting stalls. Inherited mistakes are part of the paper's loss (Eq. 2
    and 3), but not of Algorithm 1 or of Eq. 8 to 11.

    With ``top_down="best"``, the edge of a round is at least that of AdaBoost.MH for the same
    weights. Boosting therefore continues as long as any tree is better than chance. A round takes
    about twice as long.

    The depth of the trees matters more than the form; see the user guide on boosting.

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

    Algorithm 1 of the paper:

    >>> algorithm1 = HierarchicalAdaBoostMHClassifier(animals.hierarchy, top_down=True)
    """

    def __init__(
        self,
        hierarchy: Hierarchy | None = None,
        *,
        costs: Any = "shared",
        top_down: bool | str = "best",
        inherit_mistakes: bool = False,
        at_chance: str = "stop",
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
