"""BR-DT: one readable tree for every group of related labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ramify import _core
from ramify._base.features import FeatureSchema
from ramify._validation import check_choice, check_number, import_extra
from ramify.brdt.learning import LearningPlan, Learnt, learn_trees
from ramify.decision import make_coherent
from ramify.hierarchy.hierarchy import Hierarchy
from ramify.local.base import LocalClassifier
from ramify.local.models import LocalModel
from ramify.local.problems import LabelRows
from ramify.local.trees import name_tree
from ramify.tree.checks import check_min_samples
from ramify.tree.classifier import PCTClassifier
from ramify.tree.training_data import TrainingData

__all__ = ["BRDTClassifier"]

_MAX_SEED = np.iinfo(np.int32).max


class BRDTClassifier(LocalClassifier):
    """Binary relevance with decision trees that speak of all related labels (BR-DT).

    A C4.5-like tree for every label predicts it from the other labels; labels that a tree tests
    are related to its own, and the connected components of these relations are groups. Then a
    tree for every label predicts it from X, and each of its leaves is extended to the other labels
    of the group, by the rules of the first trees. Of each group the tree with the lowest Hamming
    loss stays: one tree if all labels are related, binary relevance if none are.

    Parameters
    ----------
    hierarchy : Hierarchy, optional
        The labels. None infers a tree from path labels, and takes other labels as flat.
    variant : {"pruned", "balanced"}
        What the other parameters are where they are None. "pruned": rows as they are, all trees
        pruned (BR-DT Pru). "balanced": balanced samples, trees over labels unpruned, trees over X
        pruned (BR-DT Unpr-Pr(1)).
    balancing : bool, optional
        Whether each label's trees grow on a balanced sample, as `balance_weights` draws it; it
        balances rows, whatever their weights.
    prune_relations : bool, optional
        Whether trees over labels are pruned.
    prune_trees : bool
        Whether trees over X are pruned.
    min_samples_leaf : int or float
        The least number of rows on each side of a test, or a share of the rows that a tree grows
        on, rounded up.
    pruning_confidence : float
        The confidence of pessimistic pruning; smaller ones prune more.
    validation_fraction : float, optional
        The share of rows that are held out to choose the tree of each group; no tree grows on
        them. None: choose by the training rows.
    categorical_features : array-like of bool, int or str, optional
        Nominal columns as a mask, positions or names; as for `PCTClassifier`.
    n_jobs : int, optional
        How many trees grow at the same time, -1 for as many as there are cores. Nothing depends on
        it but the time.
    random_state : int, RandomState instance or None
        Draws balanced samples and held-out rows.
    verbose : bool
        Whether to show a progress bar.

    Attributes
    ----------
    label_graph_ : csr_array of shape (n_labels, n_labels)
        1 where two labels are related; symmetric.
    components_ : list of tuple
        The groups of related labels.
    losses_ : ndarray of shape (n_labels,)
        The Hamming loss of each label's extended tree, on its group; a row with unknown values
        counts in the leaf of the larger branches.
    shares_ : ndarray of shape (n_labels,)
        The share of each label among the training rows. If y had one label per row, it decides
        between labels that the trees predict alike.
    named_estimators_ : dict of label to PCTClassifier
        The trees that stayed, by the label that they were grown for. Their leaves have all labels
        of the group, with 1 or 0.
    estimators_ : list
        The same models without their names.
    hierarchy_ : Hierarchy
        The hierarchy given or inferred.
    classes_ : ndarray of shape (n_labels,)
        The labels, in the order of the columns of `predict_proba`.

    See Also
    --------
    BinaryRelevance : A tree for every label.
    ramify.inspection.export_text : Writes the trees.

    Notes
    -----
    A leaf with premise B and conclusion Yᵢ = v takes, of the rules of the tree that predicts Yᵢ
    from labels, those that conclude Yᵢ = v, and of their premises P the one for which
    (n(B ∧ Yᵢ = v ∧ P) + 1) / (n(B) + 2) is largest. Then it continues with the rules of the most
    accurate tree among the labels it has, everything it has so far in place of Yᵢ = v. A
    label once given is not changed; of equal rules the one that is right for more training rows
    counts; labels that no rule reaches take the commoner value of the leaf's rows. Weights of
    rows count like rows, and should be 1 on average: small ones cannot pay the price of a
    threshold, which is in bits. A row with unknown values counts for the leaf of the larger
    branches.

    Examples
    --------
    >>> from ramify import BRDTClassifier
    >>> X = [[float(i)] for i in range(12)]
    >>> y = [["cat", "purrs"]] * 6 + [["dog", "barks"]] * 6
    >>> model = BRDTClassifier().fit(X, y)
    >>> model.components_
    [('barks', 'cat', 'dog', 'purrs')]
    >>> model.predict([[2.0], [9.0]])
    [['cat', 'purrs'], ['barks', 'dog']]
    """

    components_: list[tuple[Any, ...]]
    label_graph_: sparse.csr_array[np.int32]
    losses_: NDArray[np.float64]
    shares_: NDArray[np.float64]
    relation_models_: dict[Any, LocalModel]

    _renamed: ClassVar[dict[str, str]] = {"held_out": "validation_fraction"}

    def __init__(
        self,
        hierarchy: Hierarchy | None = None,
        *,
        variant: str = "pruned",
        balancing: bool | None = None,
        prune_relations: bool | None = None,
        prune_trees: bool = True,
        min_samples_leaf: float = 2,
        pruning_confidence: float = 0.25,
        validation_fraction: float | None = None,
        categorical_features: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.hierarchy = hierarchy
        self.variant = variant
        self.balancing = balancing
        self.prune_relations = prune_relations
        self.prune_trees = prune_trees
        self.min_samples_leaf = min_samples_leaf
        self.pruning_confidence = pruning_confidence
        self.validation_fraction = validation_fraction
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        check_choice("variant", self.variant, ("pruned", "balanced"))
        check_min_samples("min_samples_leaf", self.min_samples_leaf, 1)
        check_number("pruning_confidence", self.pruning_confidence, 1e-6, 0.5)
        if self.validation_fraction is not None:
            check_number("validation_fraction", self.validation_fraction, 0.01, 0.9)

    def _learn_local(self, data: TrainingData) -> None:
        random = check_random_state(self.random_state)
        self._keep(learn_trees(self._learning_plan(random), data, self.hierarchy_))
        self.shares_ = LabelRows(data.Y, self.hierarchy_, data.weights).shares()

    def _learning_plan(self, random: np.random.RandomState) -> LearningPlan:
        balanced = self.variant == "balanced"
        return LearningPlan(
            relations=self._relation_tree(),
            tree=self._tree(self.prune_trees),
            balancing=balanced if self.balancing is None else bool(self.balancing),
            held_out=self.validation_fraction,
            seed=int(random.randint(_MAX_SEED)),
            n_jobs=self.n_jobs,
            verbose=bool(self.verbose),
        )

    def _relation_tree(self) -> PCTClassifier:
        pruned = self.prune_relations
        return self._tree(self.variant == "pruned" if pruned is None else bool(pruned))

    def _tree(self, pruned: bool) -> PCTClassifier:
        return PCTClassifier(
            criterion="gain_ratio",
            min_samples_leaf=self.min_samples_leaf,
            nominal_tests="nary",
            pruning="pessimistic" if pruned else None,
            pruning_confidence=self.pruning_confidence,
            random_state=0,
        )

    def _decide(self, scores: NDArray[np.float64], threshold: Any) -> sparse.csr_array[np.int32]:
        if self.format_.single_label:
            # Leaves say 0 or 1: of labels that are all 0, or several 1, the commonest counts.
            scores = scores + 1e-9 * self.shares_
        return super()._decide(scores, threshold)

    def _keep(self, learnt: Learnt) -> None:
        names = self.hierarchy_.labels
        self.label_graph_ = learnt.graph
        self.losses_ = learnt.losses
        self.components_ = [tuple(names[c] for c in part) for part in learnt.components]
        self.relation_models_ = dict(zip(names, learnt.relations, strict=True))
        self.local_models_ = {names[label]: model for label, model in learnt.models.items()}

    def _local_estimator(self) -> PCTClassifier:
        return self._tree(self.prune_trees)

    def _combine(self, answers: list[NDArray[np.float64]]) -> NDArray[np.float64]:
        scores = np.zeros((self.hierarchy_.n_labels, answers[0].shape[1]))
        for model, answer in zip(self.local_models_.values(), answers, strict=True):
            scores[list(model.labels)] = answer
        return make_coherent(scores.T, self.hierarchy_, "min")

    def relation_tree(self, label: Any) -> PCTClassifier:
        """Return the tree that predicts a label from the other labels.

        Parameters
        ----------
        label : label
            One of `classes_`.

        Returns
        -------
        PCTClassifier
            Its features are the labels.
        """
        check_is_fitted(self)
        model = self.relation_models_[self.hierarchy_.labels[self.hierarchy_.index(label)]]
        if not isinstance(model.estimator, _core.Tree):
            raise ValueError(
                f"label is {label!r}, on which all training rows agree: it has no tree. Ask for "
                "another label."
            )
        fitted = name_tree(self._relation_tree(), model.estimator, [label])
        n_labels = self.hierarchy_.n_labels
        fitted.n_features_in_ = n_labels
        fitted.feature_names_in_ = np.array(list(map(str, self.hierarchy_.labels)), dtype=object)
        fitted.schema_ = FeatureSchema.numeric(n_labels)
        return fitted

    def to_networkx(self) -> Any:
        """Return the graph of related labels.

        Returns
        -------
        networkx.Graph
            A node for every label.
        """
        check_is_fitted(self)
        networkx = import_extra("networkx", "obo")
        graph = networkx.Graph()
        names = self.hierarchy_.labels
        graph.add_nodes_from(names)
        pairs: Any = sparse.triu(self.label_graph_).tocoo()
        graph.add_edges_from(
            (names[i], names[j])
            for i, j in zip(pairs.row.tolist(), pairs.col.tolist(), strict=True)
        )
        return graph

    def _set_saved_state(self, state: Mapping[str, Any]) -> None:
        super()._set_saved_state(state)
        n_labels = self.hierarchy_.n_labels if "hierarchy_" in state else 0
        for model in state.get("relation_models_", {}).values():
            if not isinstance(model, LocalModel):
                raise ValueError(f"{type(model).__name__} is no local model")
            model.check(n_labels)
