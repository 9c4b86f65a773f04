"""Comparison of PerEdgeClassifier with CLUS-HSC on the DAG of tiny/t15_hsc."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from ramify import (
    FlatClassifier,
    Hierarchy,
    PCTClassifier,
    PCTForestClassifier,
    PerEdgeClassifier,
    make_hierarchical_classification,
)
from ramify.metrics import mean_auprc, mean_auroc, pooled_auprc, weighted_auprc
from tests.support.clus_cases import Table, dag_parents, read_table
from tests.support.clus_oracle import TINY, read_measures, requires_oracle
from tests.support.clus_trees import TreeNode, differences, parse_tree
from tests.support.engine_trees import as_printed
from tests.support.tree_problems import assert_equal_trees

FOLDER = TINY / "t15_hsc"


def load(name: str) -> tuple[np.ndarray, list[list[str]], Table]:
    table = read_table(FOLDER / name)
    X = np.array([[float(cell or "nan") for cell in row[:-1]] for row in table.rows])
    return X, [str(row[-1]).split("@") for row in table.rows], table


def fit() -> PerEdgeClassifier:
    X, y, table = load("train.arff")
    parents = dag_parents(table.attributes[-1].paths)
    edges = [(p, c) for c, above in parents.items() for p in above or ("root",)]
    hierarchy = Hierarchy.from_edges(edges, root="root")
    tree = PCTClassifier(min_weight=2, clus_compat=True)
    return PerEdgeClassifier(hierarchy=hierarchy, estimator=tree).fit(X, y)


def clus_edge_trees() -> dict[tuple[str | None, str], TreeNode]:
    """Read the trees by edge; CLUS writes a label as "P=F" or "A=D", the root as "R"."""
    parts = re.split(
        r"^## edge (\S+)-(\S+)\n",
        (FOLDER / "old_hsc_edge_trees.txt").read_text(),
        flags=re.MULTILINE,
    )[1:]
    trees = {}
    for above, below, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        parent = above.split("=")[-1]
        trees[None if parent == "R" else parent, below.split("=")[-1]] = parse_tree(text.strip())
    return trees


def printed(node: TreeNode) -> TreeNode:
    """Round the shares of leaves as old CLUS prints them, to six digits."""
    if node.value is not None:
        node.value = tuple(float(f"{share:.6g}") for share in node.value)
    for branch in node.branches:
        printed(branch)
    return node


@requires_oracle
def test_every_edge_has_the_tree_of_clus() -> None:
    model, expected = fit(), clus_edge_trees()
    assert set(model.named_estimators_) == set(expected)
    for edge, local in model.named_estimators_.items():
        if not isinstance(local, PCTClassifier):
            # CLUS grows a single leaf if all rows agree.
            assert expected[edge].value == local.probabilities
            continue
        grown = printed(as_printed(local.tree_, ["x1", "x2", "x3"], [()] * 3, [0]))
        assert differences(expected[edge], grown) == [], edge


def divided(model: PerEdgeClassifier, X: np.ndarray) -> np.ndarray:
    """Combine probabilities as CLUS does: the minimum divided by the number of parents."""
    hierarchy = model.hierarchy_
    found: dict[Any, np.ndarray] = {None: np.ones(len(X))}
    for label in hierarchy.labels:
        parents = hierarchy.parents(label) or (None,)
        products = [
            found[p] * model.named_estimators_[p, label].predict_proba(X)[:, 0] for p in parents
        ]
        found[label] = np.min(products, axis=0) / len(parents)
    return np.stack([found[label] for label in hierarchy.labels], axis=1)


@requires_oracle
@pytest.mark.parametrize("part", ["train", "test"])
def test_measures_of_probabilities_combined_as_in_clus(part: str) -> None:
    expected = read_measures(FOLDER / "old_hsc_combined.out")[part]["Original"]
    model = fit()
    X, y, _ = load(f"{part}.arff")
    Y, scores = model.hierarchy_.encode(y), divided(model, X)
    found = {
        "auprc": mean_auprc(Y, scores),
        "auprc_weighted": weighted_auprc(Y, scores),
        "auprc_pooled": pooled_auprc(Y, scores),
        "auroc": mean_auroc(Y, scores),
    }
    assert found == pytest.approx(expected, abs=1e-12)


@requires_oracle
def test_labels_with_single_parents_have_the_scores_of_clus() -> None:
    model = fit()
    X, _, _ = load("test.arff")
    same = model.hierarchy_.indices(["A", "B", "C", "D"])
    ours, theirs = model.predict_proba(X), divided(model, X)
    np.testing.assert_array_equal(ours[:, same], theirs[:, same])
    others = model.hierarchy_.indices(["E", "G"])
    np.testing.assert_allclose(ours[:, others], 2 * theirs[:, others], rtol=1e-15)


@pytest.mark.parametrize("cls", [PerEdgeClassifier, FlatClassifier])
def test_levels_of_the_f_test_are_chosen_with_the_negative_rows(cls: Any) -> None:
    """Negative rows have no label of their own; CLUS would ignore them and grow single leaves."""
    data = make_hierarchical_classification(300, 5, n_labels=6, random_state=0, as_frame=False)
    tree = PCTClassifier(min_weight=2, clus_compat=True, f_test=[0.001, 0.1])
    local = cls(tree, hierarchy=data.hierarchy).fit(data.X, data.y)
    trees = [one for one in local.estimators_ if isinstance(one, PCTClassifier)]
    assert max(one.get_n_leaves() for one in trees) > 1
    fixed = [
        cls(clone(tree).set_params(f_test=level), hierarchy=data.hierarchy).fit(data.X, data.y)
        for level in tree.f_test
    ]
    for name, one in local.named_estimators_.items():
        if isinstance(one, PCTClassifier):
            same = fixed[tree.f_test.index(one.f_test_)].named_estimators_[name]
            assert_equal_trees(one.tree_, same.tree_)


def test_out_of_bag_scores_of_local_forests_of_clus_are_refused() -> None:
    forest = PCTForestClassifier(n_estimators=2, clus_compat=True, oob_score=True, random_state=0)
    with pytest.raises(ValueError, match=r"oob_score of estimator must be False .*, got True"):
        FlatClassifier(forest).fit([[0.0], [1.0], [2.0]], [["a"], ["b"], ["a", "b"]])
