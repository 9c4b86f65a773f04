"""Tests of BR-DT: hand-computed cases, comparison with a reference implementation, options."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

import ramify
from ramify import BinaryRelevance, BRDTClassifier, Hierarchy, PCTClassifier
from ramify.inspection import export_text
from ramify.local.brdt_learning import Extender, LabelTree, Rule, bare_leaf
from tests.reference import brdt as twin
from tests.support.budget import budget
from tests.support.local_cases import is_coherent, make_data

C45 = PCTClassifier(
    criterion="gain_ratio", min_samples_leaf=2, nominal_tests="nary", pruning="pessimistic"
)


def to_rows(*columns: str) -> np.ndarray:
    """Return a matrix whose columns are given as strings of 0 and 1."""
    return np.array([[int(cell) for cell in column] for column in columns]).T


# ---- hand-computed cases -------------------------------------------------------------------

X = np.arange(12.0)[:, None]


def test_related_labels_share_one_tree():
    Y = to_rows("111111000000", "111111000000", "000000111111")
    model = BRDTClassifier().fit(X, Y)
    assert model.components_ == [(0, 1, 2)]
    assert list(model.named_estimators_) == [0]
    np.testing.assert_array_equal(model.predict(X), Y)
    (tree,) = model.named_estimators_.values()
    assert tree.get_n_leaves() == 2
    assert list(tree.classes_) == [0, 1, 2]


def test_unrelated_labels_give_binary_relevance():
    # All combinations are equally frequent, so labels are independent.
    grid = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)] * 4)
    rows = np.random.default_rng(0).permutation(grid)
    noisy = rows + np.random.default_rng(1).normal(scale=0.3, size=rows.shape)
    model = BRDTClassifier().fit(noisy, rows)
    assert model.label_graph_.nnz == 0
    assert model.components_ == [(0,), (1,), (2,)]
    alone = BinaryRelevance(estimator=C45).fit(noisy, rows)
    np.testing.assert_array_equal(model.predict(noisy), alone.predict(noisy))
    for label, tree in model.named_estimators_.items():
        np.testing.assert_array_equal(
            tree.tree_.feature, alone.named_estimators_[label].tree_.feature
        )


def test_two_groups_have_two_trees():
    a, b = "110011001100", "111111000000"
    Y = to_rows(a, b, a, b)
    two = np.column_stack([Y[:, 0], Y[:, 1]]) + X / 100
    model = BRDTClassifier(Hierarchy.from_labels(["p", "q", "r", "s"])).fit(two, Y)
    assert model.components_ == [("p", "r"), ("q", "s")]
    assert list(model.named_estimators_) == ["p", "q"]
    np.testing.assert_array_equal(model.predict(two), Y)
    graph = model.to_networkx()
    assert sorted(map(sorted, graph.edges)) == [["p", "r"], ["q", "s"]]


def test_rules_are_chosen_by_their_laplace_estimates():
    # The leaf has rows 0-9, all with label 0. The tree for label 0 has two rules that conclude 1:
    # "label 1" (rows 0-6 of the leaf) and "not label 1, label 2" (rows 7-9). Their estimates are
    # (7 + 1) / (10 + 2) = 2/3 and (3 + 1) / (10 + 2) = 1/3, so the leaf gets label 1, and no
    # value of label 2 from this rule.
    Y = to_rows("11111111110000", "11111110000000", "00000001110000")
    rules = [({1: 1}, 1), ({1: 0, 2: 1}, 1), ({1: 0, 2: 0}, 0)]
    tree = make_label_tree(rules, Y, 0)
    bare = [make_label_tree([({}, 0)], Y, label) for label in (1, 2)]
    extender = Extender(Y.astype(np.int8), [tree, *bare], np.ones(14))
    leaf = np.arange(10)
    # No rule of label 0 or 1 reaches label 2. Its own tree says 0.
    assert extend(extender, leaf, 0, 1, (0, 1, 2)) == {0: 1, 1: 1, 2: 0}
    # A leaf with rows 7-9 uses the other rule: (0 + 1) / (3 + 2) < (3 + 1) / (3 + 2).
    few = np.arange(7, 10)
    assert extend(extender, few, 0, 1, (0, 1, 2)) == {0: 1, 1: 0, 2: 1}
    # Only one rule concludes 0.
    rest = np.arange(10, 14)
    assert extend(extender, rest, 0, 0, (0, 1, 2)) == {0: 0, 1: 0, 2: 0}


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("preferred", [0, 7], "must lie in range"),
        ("premise_label", [3, 0], "must lie in range"),
        ("rule_of_row", [0, 0, 9, -1], "must be below the number of rules"),
        ("rule_indptr", [0, 3, 2], "must start at 0, not decrease"),
        ("has", [1, 0, 1], "matching lengths"),
    ],
)
def test_the_core_rejects_inconsistent_rules(name, values, message):
    rules = {
        "weight": np.ones(2),
        "has": np.array([1, 0, 1, 0], dtype=np.uint8),
        "rule_of_row": np.array([0, 1, -1, -1], dtype=np.int32),
        "accuracy": np.array([1.0, 0.5]),
        "rule_indptr": np.array([0, 2, 2]),
        "preferred": np.array([0, 1], dtype=np.int32),
        "conclusion": np.array([1, 0], dtype=np.uint8),
        "premise_indptr": np.array([0, 1, 2]),
        "premise_label": np.array([1, 1], dtype=np.int32),
        "premise_value": np.array([1, 0], dtype=np.uint8),
        "next_tree": False,
    }
    extension = ramify._core.LeafExtension(rules)
    bounds, both = np.array([0, 2]), np.array([0, 1], dtype=np.int32)
    leaf = (0, np.ones(1, dtype=np.uint8), both)
    assert extension.extend(bounds, np.arange(2), *leaf).tolist() == [1, 1]
    with pytest.raises(ValueError, match="must lie in range"):
        extension.extend(bounds, np.array([0, 2]), *leaf)
    with pytest.raises(ValueError, match=message):
        ramify._core.LeafExtension(rules | {name: np.array(values, dtype=rules[name].dtype)})


@pytest.mark.parametrize("unreached", ["next_tree", "majority"])
def test_labels_that_no_rule_reaches(unreached):
    # The tree for label 0 is a bare leaf, so that its rules reach no other label. That for label
    # 2 is correct for all 10 rows, that for label 1 for 6. Of its rules, "not label 1, so label 2"
    # holds for 4 of the 7 rows of the leaf, and "label 1, so not label 2" for 3: the leaf gets
    # label 2 and not label 1. Of the leaf's rows 3 of 7 have label 1, and 4 of 7 label 2.
    Y = to_rows("0000000111", "1110000000", "0001111111")
    rules = {0: [({}, 0)], 1: [({0: 0}, 0), ({0: 1}, 0)], 2: [({1: 1}, 0), ({1: 0}, 1)]}
    trees = [make_label_tree(own, Y, label) for label, own in rules.items()]
    options = {"next_tree": unreached == "next_tree"}
    extender = Extender(Y.astype(np.int8), trees, np.ones(10), **options)
    assert extend(extender, np.arange(7), 0, 0, (0, 1, 2)) == {0: 0, 1: 0, 2: 1}
    # Without the last row, both rules are correct for 3 rows; the second is correct for more rows
    # of the whole training set. The majority is a tie, which is a no.
    expected = {0: 0, 1: 0, 2: int(unreached == "next_tree")}
    assert extend(extender, np.arange(6), 0, 0, (0, 1, 2)) == expected
    found = twin.extend(Y, rules, np.arange(6), 0, value=0, group=(0, 1, 2), **options)
    assert found == expected


@pytest.mark.parametrize("n_rows", [20, 21])
@pytest.mark.parametrize("n_labels", [1, 2])
def test_a_balanced_leaf_is_a_no_whatever_the_number_of_rows(n_rows, n_labels):
    # X says nothing. Of a balanced sample, half of the rows have a rare label if n is even, and
    # fewer if it is odd.
    Y = np.repeat(np.arange(n_rows) < 3, n_labels).reshape(n_rows, n_labels).astype(int)
    constant = np.zeros((n_rows, 1))
    model = BRDTClassifier(balancing=True, random_state=0).fit(constant, sparse.csr_array(Y))
    assert model.predict(constant).nnz == 0


def test_labels_on_which_all_rows_agree_have_trees():
    Y = to_rows("000000000000", "111111111111", "111111000000")
    model = BRDTClassifier().fit(X, Y)
    assert [tree.get_n_leaves() for tree in model.estimators_] == [1, 1, 2]
    np.testing.assert_array_equal(model.predict(X), Y)
    for label in (0, 1):
        tree = model.relation_tree(label)
        assert tree.get_n_leaves() == 1
        assert tree.tree_.value.tolist() == [1.0] * label


@pytest.mark.parametrize("flipped", [False, True])
def test_the_most_accurate_tree_of_the_known_labels_is_used_next(flipped):
    # The leaf has labels 0 to 2. The tree for label 1 is correct for 6 of 10 rows and adds label
    # 3; the tree for label 2 is correct for 9 of 10 and excludes it. With the values of label 3
    # flipped, they are correct for 4 and 1 of 10 rows.
    Y = to_rows("1110000000", "1111110000", "1110001111", "0001111000")
    Y[:, 3] ^= flipped
    same, other = [({3: 1}, 1), ({3: 0}, 0)], [({3: 1}, 0), ({3: 0}, 1)]
    all_rules = {0: [({1: 1, 2: 1}, 1), ({1: 1, 2: 0}, 0), ({1: 0}, 0)], 1: same, 2: other}
    all_rules[3] = [({}, 0)]
    trees = [make_label_tree(rules, Y, label) for label, rules in all_rules.items()]
    extender = Extender(Y.astype(np.int8), trees, np.ones(10))
    expected = {0: 1, 1: 1, 2: 1, 3: int(flipped)}
    assert extend(extender, np.arange(3), 0, 1, (0, 1, 2, 3)) == expected
    leaf = twin.extend(Y, all_rules, np.arange(3), 0, value=1, group=(0, 1, 2, 3))
    assert leaf == expected


def extend(extender, rows, label, value, group):
    """Extend a single leaf that predicts one label; return the values of the group's labels."""
    (found,) = extender.extend(rows, np.array([0, len(rows)]), label, np.array([value]), group)
    return dict(zip(group, found.tolist(), strict=True))


def make_label_tree(rules, Y, label):
    """Return a label tree with the given rules."""
    tree = LabelTree(bare_leaf(False, 0), sparse.csr_array(Y), label, np.ones(len(Y)))
    tree.rules = [Rule(*rule) for rule in rules]
    tree.rule_of_row = np.array(
        [next(k for k, rule in enumerate(rules) if twin.holds(row, rule[0])) for row in Y]
    )
    is_correct = np.array([rule[1] for rule in rules])[tree.rule_of_row] == Y[:, label]
    n_correct = np.bincount(tree.rule_of_row, is_correct, len(rules))
    tree.preferred = np.argsort(-n_correct, kind="stable")
    tree.accuracy = twin.accuracy(rules, Y, label)
    return tree


def test_the_tree_with_the_lowest_loss_is_kept():
    # Label 0 is a noisy copy of label 1, which x determines exactly.
    y = to_rows("111101000000", "111111000000")
    model = BRDTClassifier(prune_relations=False).fit(X, y)
    assert model.components_ == [(0, 1)]
    assert list(model.named_estimators_) == [int(model.losses_.argmin())]
    predicted = model.predict(X)
    assert model.losses_.min() == pytest.approx((predicted != y).mean())


# ---- comparison with the reference implementation ------------------------------------------


def make_related(seed: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    rows = random.normal(size=(60, 3))
    Y = (rows @ random.normal(size=(3, 5)) + random.normal(scale=0.4, size=(60, 5)) > 0.3) * 1
    Y[:, 4] = Y[:, 0] & Y[:, 1]
    return rows, Y


def read_relations(model):
    return {label: twin.read_rules(model.relation_tree(label)) for label in model.relation_models_}


@given(st.integers(0, 1000), st.booleans(), st.sampled_from(["next_tree", "majority"]))
@budget(24)
def test_leaves_are_extended_as_by_the_reference(seed, pruned, unreached):
    rows, Y = make_related(seed)
    model = BRDTClassifier(prune_relations=pruned, unreached=unreached).fit(rows, Y)
    rules = read_relations(model)
    groups = {label: part for part in model.components_ for label in part}
    for label, tree in model.named_estimators_.items():
        alone = PCTClassifier(**C45.get_params()).fit(rows, sparse.csr_array(Y[:, [label]]))
        leaves, group = alone.apply(rows), groups[label]
        for leaf in np.unique(leaves):
            members = np.flatnonzero(leaves == leaf)
            value = int(alone.predict_proba(rows[members[:1]])[0, 0] > 0.5)
            options = {"value": value, "group": group, "next_tree": unreached == "next_tree"}
            expected = twin.extend(Y, rules, members, label, **options)
            found = tree.predict(rows[members[:1]])[0]
            assert dict(zip(group, found.tolist(), strict=True)) == expected


def find_losses(model, rows, Y, growing, choosing):
    """Return the Hamming loss of each label on its group; the reference extends the leaves."""
    rules, losses = read_relations(model), np.zeros(Y.shape[1])
    alone = BinaryRelevance(estimator=C45).fit(rows, Y, sample_weight=growing)
    for group in model.components_:
        for label in group:
            leaves = alone.named_estimators_[label].apply(rows)
            values = alone.named_estimators_[label].predict_proba(rows)[:, 0] > 0.5
            wrong = np.zeros(len(rows))
            for leaf in np.unique(leaves):
                members = np.flatnonzero(leaves == leaf)
                grown = members[growing[members] > 0]
                options = {"value": int(values[members[0]]), "group": group, "weights": growing}
                found = twin.extend(Y, rules, grown, label, **options)
                wrong[members] = (Y[members][:, group] != [found[c] for c in group]).mean(axis=1)
            losses[label] = np.average(wrong, weights=choosing)
    return losses


@pytest.mark.parametrize("seed", range(6))
def test_weighted_losses_equal_the_reference(seed):
    rows, Y = make_related(seed)
    weights = np.random.default_rng(seed).integers(0, 4, len(rows)).astype(float)
    model = BRDTClassifier(prune_relations=bool(seed % 2)).fit(rows, Y, sample_weight=weights)
    losses = find_losses(model, rows, Y, weights, weights)
    np.testing.assert_allclose(model.losses_, losses)


@pytest.mark.parametrize("seed", range(6))
def test_the_first_of_the_trees_with_the_fewest_errors_is_kept(seed):
    rows, Y = make_related(seed)
    model = BRDTClassifier(prune_relations=False).fit(rows, Y)
    losses = find_losses(model, rows, Y, np.ones(len(rows)), np.ones(len(rows)))
    for group in model.components_:
        n_cells = len(group) * len(rows)
        n_errors = np.round(losses[list(group)] * n_cells)
        assert model.losses_[list(group)].tolist() == (n_errors / n_cells).tolist()
        assert group[n_errors.argmin()] in model.named_estimators_


@pytest.mark.parametrize("seed", range(4))
def test_losses_on_held_out_rows_equal_the_reference(seed):
    rows, Y = (part[:40] for part in make_related(seed))
    # Row k has weight 1 + 2^-(k + 1): the bits of a root's weight show which rows were used.
    bits = 0.5 ** np.arange(1, 41)
    model = BRDTClassifier(validation_fraction=0.3, random_state=seed)
    model.fit(rows, Y, sample_weight=1 + bits)
    tree = next(iter(model.named_estimators_.values()))
    grew = tree.tree_.weight[0] // bits % 2 == 1
    assert grew.sum() == 28
    losses = find_losses(model, rows, Y, (1 + bits) * grew, (1 + bits) * ~grew)
    np.testing.assert_allclose(model.losses_, losses)
    for group in model.components_:
        (chosen,) = set(group) & set(model.named_estimators_)
        assert losses[chosen] == pytest.approx(losses[list(group)].min())


# ---- variants and options ------------------------------------------------------------------


def test_the_balanced_variant_equals_its_explicit_parameters():
    rows, Y = make_related(1)
    one = BRDTClassifier(variant="balanced", random_state=3).fit(rows, Y)
    parts = BRDTClassifier(balancing=True, prune_relations=False, random_state=3).fit(rows, Y)
    np.testing.assert_array_equal(one.predict_proba(rows), parts.predict_proba(rows))
    again = BRDTClassifier(variant="balanced", random_state=3, n_jobs=2).fit(rows, Y)
    np.testing.assert_array_equal(one.predict_proba(rows), again.predict_proba(rows))
    pruned = BRDTClassifier(random_state=3).fit(rows, Y)
    assert (pruned.label_graph_ != one.label_graph_).nnz or (pruned.losses_ != one.losses_).any()


def test_balancing_gives_equal_weight_to_positive_and_negative_rows():
    Y = to_rows("111000000000", "111000000000")
    for balancing, weights in ((False, [3, 9]), (True, [6, 6])):
        model = BRDTClassifier(balancing=balancing, random_state=0).fit(X, Y)
        for tree in (
            *model.named_estimators_.values(),
            model.relation_tree(0),
            model.relation_tree(1),
        ):
            assert tree.tree_.weight[0] == 12
            assert sorted(tree.tree_.weight[1:].tolist()) == weights


def test_balancing_finds_a_rare_label():
    # Of the 5 rows with code 1, 2 have the label. After balancing, these 2 have weight 10, and the
    # other 3 at most weight 3.
    y = [[]] * 15 + [["rare"], []] * 2 + [[]]
    code = np.repeat([[0.0], [1.0]], [15, 5], axis=0)
    assert BRDTClassifier().fit(code, y).predict(code) == [[]] * 20
    found = BRDTClassifier(balancing=True, random_state=0).fit(code, y).predict(code)
    assert found == [[]] * 15 + [["rare"]] * 5


@pytest.mark.parametrize(
    ("options", "of_tree", "of_relations"),
    [
        ({}, {}, {}),
        ({"prune_relations": False}, {}, {"pruning": None}),
        ({"prune_trees": False}, {"pruning": None}, {}),
        ({"min_samples_leaf": 8}, {"min_samples_leaf": 8}, {"min_samples_leaf": 8}),
        ({"pruning_confidence": 1e-3}, {"pruning_confidence": 1e-3}, {"pruning_confidence": 1e-3}),
        ({"variant": "balanced", "balancing": False}, {}, {"pruning": None}),
    ],
)
def test_parameters_are_passed_to_the_trees(options, of_tree, of_relations):
    random = np.random.default_rng(4)
    Y = random.integers(0, 2, size=(80, 6))
    Y[:, 0] = Y[:, 1:].sum(axis=1) > 2
    rows = Y[:, :1] + random.normal(scale=0.6, size=(80, 3))
    first = sparse.csr_array(Y[:, :1])
    relation = BRDTClassifier(**options).fit(rows, Y).relation_tree(0)
    assert_same_tree(relation, Y * (np.arange(6) > 0), first, of_relations)
    (tree,) = BRDTClassifier(**options).fit(rows, first).named_estimators_.values()
    assert_same_tree(tree, rows, first, of_tree)


def assert_same_tree(tree, rows, Y, options):
    """Compare with a tree of the same options, which differs from that of default options."""
    plain = clone(C45).fit(rows, Y).tree_.feature.tolist()
    expected = clone(C45).set_params(**options).fit(rows, Y).tree_.feature.tolist()
    assert tree.tree_.feature.tolist() == expected
    assert (expected != plain) == bool(options)


def test_the_most_frequent_label_is_predicted_if_no_label_is_and_y_had_one_per_row():
    y = np.repeat(["a", "b", "c", "d"], [2, 5, 4, 3])
    noise = np.random.default_rng(0).permutation(14)[:, None]
    model = BRDTClassifier(unreached="majority").fit(noise, y)
    silent = model.predict_proba(noise).sum(axis=1) == 0
    assert silent.any()
    assert set(model.predict(noise[silent])) == {"b"}


def test_a_single_row_cannot_be_held_out():
    with pytest.raises(
        ValueError, match="validation_fraction requires at least 2 rows of positive weight, got 1"
    ):
        BRDTClassifier(validation_fraction=0.3).fit(
            [[1.0], [2.0]], [["a"], ["b"]], sample_weight=[1, 0]
        )


def test_no_tree_is_grown_on_held_out_rows():
    rows, Y = make_related(2)
    model = BRDTClassifier(validation_fraction=0.3, random_state=0).fit(rows, Y)
    assert all(tree.tree_.weight[0] == 42 for tree in model.named_estimators_.values())
    assert ((model.losses_ >= 0) & (model.losses_ <= 1)).all()


def test_hierarchies_and_nominal_and_sparse_features_are_supported():
    data = make_data()
    model = BRDTClassifier(data.hierarchy).fit(data.X, data.y)
    assert is_coherent(model.predict_proba(data.X), data.hierarchy)
    thin = BRDTClassifier(data.hierarchy).fit(sparse.csr_array(data.X), data.y)
    np.testing.assert_array_equal(
        thin.predict_proba(sparse.csr_array(data.X)), model.predict_proba(data.X)
    )
    codes = np.repeat([[0], [1], [2]], 4, axis=0)
    Y = to_rows("111100001111", "000011110000")
    nominal = BRDTClassifier(categorical_features=[0]).fit(codes, Y)
    (tree,) = nominal.named_estimators_.values()
    assert tree.get_n_leaves() == 3
    np.testing.assert_array_equal(nominal.predict(codes), Y)


def test_trees_can_be_exported_as_text():
    names = Hierarchy.from_labels(["cat", "purrs", "barks"])
    Y = to_rows("111111000000", "111111000000", "000000111111")
    model = BRDTClassifier(names).fit(X, Y)
    text = export_text(model)
    assert "cat" in text
    assert "purrs" in text
    assert "barks" in text
    assert "cat" in export_text(model.relation_tree("purrs"))
    constant = BRDTClassifier(names).fit(X, to_rows("1" * 12, "111111000000", "000000111111"))
    assert constant.components_ == [("cat",), ("purrs", "barks")]
    assert constant.predict_proba(X)[:, 0].tolist() == [1.0] * 12
    assert "cat" in export_text(constant.relation_tree("cat"))


def test_loaded_models_have_the_same_relations(tmp_path):
    rows, Y = make_related(3)
    model = BRDTClassifier().fit(rows, Y)
    ramify.save(model, tmp_path / "model")
    loaded = ramify.load(tmp_path / "model")
    assert loaded.components_ == model.components_
    tested = [m.relation_tree(0).tree_.feature.tolist() for m in (model, loaded)]
    assert tested[0] == tested[1]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"variant": "best"}, "variant must be one of 'pruned', 'balanced'.*got 'best'"),
        (
            {"validation_fraction": 1.5},
            "validation_fraction must be a number from 0.01 to 0.9, got 1.5",
        ),
        ({"min_samples_leaf": 0}, "min_samples_leaf must be .*, got 0"),
        ({"pruning_confidence": 0.9}, "pruning_confidence must be .*, got 0.9"),
    ],
)
def test_errors_name_the_parameter_and_its_value(settings, message):
    with pytest.raises(ValueError, match=message):
        BRDTClassifier(**settings).fit(X, to_rows("111111000000", "111111000000"))
