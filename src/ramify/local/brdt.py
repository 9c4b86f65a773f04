"""BR-DT: one decision tree for each group of related labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ramify._base.classifier import USUAL, Asked
from ramify._base.tree_models import TreeModel
from ramify._messages import import_extra
from ramify._schema import Anything, Array, Label, ListOf, MapOf, Part, Schema, Sparse, TupleOf
from ramify._validation import check_choice, check_number
from ramify.data.features import FeatureSchema
from ramify.decision import make_coherent
from ramify.labels.hierarchy import Hierarchy
from ramify.local.base import LocalClassifier
from ramify.local.brdt_learning import LearningPlan, Learnt, learn_trees
from ramify.local.learning import LocalModel, LocalModels
from ramify.local.problems import LabelRows
from ramify.local.trees import name_tree
from ramify.trees.classifier import PCTClassifier
from ramify.trees.parameters import check_min_samples
from ramify.trees.tree_data import TreeData

__all__ = [
    "BRDTClassifier",
]


_MAX_SEED = np.iinfo(np.int32).max


class BRDTClassifier(LocalClassifier):
    """Binary relevance with one decision tree for each group of related labels (BR-DT).

    First, a C4.5-like tree per label predicts the label from the other labels. The labels that
    such a tree tests are related to its own label, and the connected components of these
    relations are the groups. Then, a tree per label predicts the label from X, and its leaves are
    extended to all labels of the group by the rules of the first trees. For each group, only the
    tree with the lowest Hamming loss is kept. The result is a single tree if all labels are
    related, and binary relevance if none are.

    Parameters
    ----------
    hierarchy : Hierarchy, optional
        The label hierarchy. If None, a tree is inferred from path labels; all other labels are
        treated as flat.
    variant : {"pruned", "balanced"}
        Defaults for `balancing` and `prune_relations`. "pruned" uses all rows and prunes all trees
        (BR-DT Pru). "balanced" uses balanced samples and prunes only the trees over X (BR-DT
        Unpr-Pr(1)).
    balancing : bool, optional
        Whether to grow the trees of each label on a balanced sample, drawn as by
        `balance_weights`. Numbers of rows are balanced, not their weights.
    prune_relations : bool, optional
        Whether to prune the trees that predict labels from other labels.
    prune_trees : bool
        Whether to prune the trees that predict labels from X.
    unreached : {"next_tree", "majority"}
        How to set labels of a leaf that no rule reaches. "next_tree": use the rules of the most
        accurate tree among those of the labels without a value, and repeat until all labels are
        set. "majority": use the majority value among the rows of the leaf.
    min_samples_leaf : int or float
        Minimum number of rows on each side of a test. A float strictly between 0 and 1 is a
        fraction of the rows that a tree is grown on, rounded up.
    pruning_confidence : float
        Confidence level of pessimistic pruning; smaller values prune more.
    validation_fraction : float, optional
        Fraction of the rows to hold out for choosing the tree of each group. No tree is grown on
        these rows. If None, trees are chosen on the training rows.
    categorical_features : array-like of bool, int or str, optional
        The nominal features, as a boolean mask, indices or column names; see `PCTClassifier`.
    n_jobs : int, optional
        Number of trees to grow or predict with in parallel; -1 means all cores. The result
        does not depend on it.
    random_state : int, RandomState instance or None
        Controls the balanced samples and the held-out rows. Pass an int for reproducible results.
    verbose : bool
        Whether to show a progress bar (requires rich).

    Attributes
    ----------
    label_graph_ : csr_array of shape (n_labels, n_labels)
        Symmetric adjacency matrix of related labels.
    components_ : list of tuple
        The groups of related labels.
    accuracies_ : ndarray of shape (n_labels,)
        The accuracy, on the training rows, of the tree that predicts each label from the others.
    losses_ : ndarray of shape (n_labels,)
        The Hamming loss of each label's extended tree on the labels of its group.
    shares_ : ndarray of shape (n_labels,)
        The fraction of training rows that have each label. Used to break ties between labels if y
        had one label per row.
    named_estimators_ : dict of label to PCTClassifier
        The trees that were kept, by the label for which they were grown. Their leaves predict 0 or
        1 for all labels of the group. If all rows agree on a label, its tree has a single leaf.
    estimators_ : list
        The values of `named_estimators_` as a list.
    hierarchy_ : Hierarchy
        The label hierarchy, as passed or as inferred from y.
    classes_ : ndarray of shape (n_labels,)
        The labels, in the order of the columns of `predict_proba`.

    See Also
    --------
    BinaryRelevance : One classifier per label.
    ramify.inspection.export_text : Text report of the trees.

    Notes
    -----
    A leaf with premise B and conclusion Yᵢ = v is extended as follows. In the tree that predicts
    Yᵢ from other labels, the rules with the conclusion Yᵢ = v are considered, and the leaf gets
    the label values in the premise P for which (n(B ∧ Yᵢ = v ∧ P) + 1) / (n(B) + 2) is largest.
    This is repeated with the rules of the most accurate tree among the labels that the leaf has so
    far, with all of its label values in place of Yᵢ = v. Values once set are not changed. Ties
    between rules are broken in favour of the rule that is correct for more training rows.

    The paper does not say what happens to labels that none of these rules reach (Algorithm 1,
    lines 22 to 24). There are such labels wherever the first tree is a bare leaf. With
    ``unreached="next_tree"``, the most accurate tree of the remaining labels is consulted next.
    Its rules for either value compete, and the leaf gets the conclusion and the premise of the
    best rule. With ``unreached="majority"``, trees that are never extended tend to win, because
    Hamming loss favours leaves without labels.

    A leaf predicts a label if more than half of its weight has the label; in a tie, it does not,
    as in J48.

    A row with sample weight w counts as w rows. Weights should be 1 on average: the gain of a test
    is reduced by the cost of its threshold in bits, which small weights cannot outweigh. For the
    extension of leaves and for `losses_`, a row with missing values belongs to the leaf that it
    reaches via the larger branches.

    References
    ----------
    E. A. Tanaka, S. R. Nozawa, A. A. Macedo and J. A. Baranauskas. A multi-label approach using
    binary relevance and decision trees applied to functional genomics. Journal of Biomedical
    Informatics, 2015.

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
    accuracies_: NDArray[np.float64]
    losses_: NDArray[np.float64]
    shares_: NDArray[np.float64]
    relation_models_: dict[Any, LocalModel]

    _saved_schema: ClassVar[Schema] = {
        "shares_": Array(("n_labels",), low=0),
        "label_graph_": Sparse(("n_labels", "n_labels"), "i4 i8", low=0),
        "losses_": Array(("n_labels",), finite=False),
        "accuracies_": Array(("n_labels",), low=0, high=1 + 1e-9),
        "components_": ListOf(TupleOf(Label())),
        "relation_models_": MapOf(
            Anything(),
            Part(LocalModel, n_features="n_labels", n_variables="n_labels", n_labels="n_labels"),
        ),
    }

    def __init__(
        self,
        hierarchy: Hierarchy | None = None,
        *,
        variant: str = "pruned",
        balancing: bool | None = None,
        prune_relations: bool | None = None,
        prune_trees: bool = True,
        unreached: str = "next_tree",
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
        self.unreached = unreached
        self.min_samples_leaf = min_samples_leaf
        self.pruning_confidence = pruning_confidence
        self.validation_fraction = validation_fraction
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        check_choice("variant", self.variant, ("pruned", "balanced"))
        check_choice("unreached", self.unreached, ("next_tree", "majority"))
        check_min_samples("min_samples_leaf", self.min_samples_leaf, 1)
        check_number("pruning_confidence", self.pruning_confidence, 1e-6, 0.5)
        if self.validation_fraction is not None:
            check_number("validation_fraction", self.validation_fraction, 0.01, 0.9)

    def _learn_local(self, data: TreeData) -> None:
        random = check_random_state(self.random_state)
        self._keep(learn_trees(self._learning_plan(random), data, self.hierarchy_))
        self.shares_ = LabelRows(data.Y, self.hierarchy_, data.weights).shares()

    def _learning_plan(self, random: np.random.RandomState) -> LearningPlan:
        balanced = self.variant == "balanced"
        return LearningPlan(
            relations=self._relation_tree(),
            tree=self._tree(self.prune_trees),
            balancing=balanced if self.balancing is None else bool(self.balancing),
            next_tree=self.unreached == "next_tree",
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
            missing="divide",
            pruning="pessimistic" if pruned else None,
            pruning_confidence=self.pruning_confidence,
            random_state=0,
        )

    def _as_trees(self) -> TreeModel:
        found = super()._as_trees()
        # Repairing the coherence of labels in a hierarchy changes what the trees predict.
        flat = self.hierarchy_.depth == 1
        return replace(found, combination="groups") if flat else found

    def _decide(
        self, scores: NDArray[np.float64], asked: Asked = USUAL
    ) -> sparse.csr_array[np.int32]:
        if self.format_.single_label:
            # Leaves predict 0 or 1: ties are broken in favour of the most frequent label.
            scores = (1 - 1e-9) * scores + 1e-9 * self.shares_
        return super()._decide(scores, asked)

    def _keep(self, learnt: Learnt) -> None:
        names = self.hierarchy_.labels
        self.label_graph_ = learnt.graph
        self.losses_ = learnt.losses
        self.accuracies_ = learnt.accuracies
        self.components_ = [tuple(names[c] for c in part) for part in learnt.components]
        self.relation_models_ = dict(zip(names, learnt.relations, strict=True))
        self.local_models_ = LocalModels(
            (names[label], model) for label, model in learnt.models.items()
        )

    def _local_estimator(self, data: TreeData | None = None) -> PCTClassifier:
        return self._tree(self.prune_trees)

    def _combine(self, answers: NDArray[np.float64]) -> NDArray[np.float64]:
        scores = np.zeros((self.hierarchy_.n_labels, answers.shape[1]))
        scores[self.local_models_.labels] = answers
        return make_coherent(scores.T, self.hierarchy_, "min")

    def relation_tree(self, label: Any) -> PCTClassifier:
        """Return the tree that predicts a label from the other labels.

        Parameters
        ----------
        label : label
            A label in `classes_`.

        Returns
        -------
        PCTClassifier
            The fitted tree; its features are the labels.
        """
        check_is_fitted(self)
        model = self.relation_models_[self.hierarchy_.find(label)]
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
            Undirected graph with one node per label. Nodes have the attribute "share", the
            fraction of training rows with the label. Edges have the attribute "accuracy", the
            accuracy of the better of the trees in which they were found.
        """
        check_is_fitted(self)
        networkx = import_extra("networkx", "obo")
        graph = networkx.Graph()
        names = self.hierarchy_.labels
        for name, share in zip(names, self.shares_.tolist(), strict=True):
            graph.add_node(name, share=share)
        for (one, other), accuracy in self.relations().items():
            graph.add_edge(names[one], names[other], accuracy=accuracy)
        return graph

    def relations(self) -> dict[tuple[int, int], float]:
        """Return the pairs of related labels, and the accuracy of the rules between them.

        Returns
        -------
        dict of (int, int) to float
            The positions of both labels in `classes_`, the smaller first, and the accuracy of the
            better of the trees in which the pair was found.
        """
        found: dict[tuple[int, int], float] = {}
        models = self.relation_models_.values()
        for label, (model, accuracy) in enumerate(zip(models, self.accuracies_, strict=True)):
            features = model.estimator.feature
            for other in np.unique(features[features >= 0]).tolist():
                pair = (min(label, other), max(label, other))
                found[pair] = max(found.get(pair, 0.0), float(accuracy))
        return dict(sorted(found.items()))

    def _set_saved_state(self, state: Mapping[str, Any]) -> None:
        super()._set_saved_state(state)
        n_labels = self.hierarchy_.n_labels if "hierarchy_" in state else 0
        for model in state.get("relation_models_", {}).values():
            if model.tree is None:
                raise ValueError(
                    "relation_models_ must contain only trees, got "
                    f"{type(model.estimator).__name__}"
                )
            model.check(n_labels)
