"""Trees and forests whose impurity is that of labels and features: rows without labels help."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from ramify.labels.unknown import UnknownLabels
from ramify.trees.growing import grow
from ramify.trees.supervision import mix_features
from tests.reference import supervision as reference
from tests.reference.trees import Settings
from tests.reference.unknown import Rows
from tests.support.budget import budget
from tests.support.partial_problems import PartialProblem, assert_same, partial_problems
from tests.support.tree_problems import assert_equal_trees, growth, plan_of

SHARES = st.sampled_from([0.0, 0.3, 0.8])


@budget(150)
@given(partial=partial_problems(), wanted=growth, share=SHARES)
def test_trees_equal_the_reference(
    partial: PartialProblem, wanted: Settings, share: float
) -> None:
    wanted = replace(wanted, criterion="variance")
    data = mix_features(partial.data(partial.targets), share)
    rows = Rows(partial.y, partial.hierarchy)
    expected = reference.grow(
        partial.problem.columns,
        rows,
        wanted,
        share,
        label_weights=partial.problem.label_weights,
        sample_weight=partial.problem.sample_weight,
    )
    assert_same(grow(data, plan_of(wanted)), 0, expected, rows)


@budget(40)
@given(partial=partial_problems(), wanted=growth, share=SHARES)
def test_sparse_features_give_the_same_tree(
    partial: PartialProblem, wanted: Settings, share: float
) -> None:
    wanted = replace(wanted, criterion="variance")
    dense = partial.data(partial.targets)
    stored = replace(dense, X=sparse.csc_array(dense.X), _prepared={})
    one, other = (grow(mix_features(data, share), plan_of(wanted)) for data in (dense, stored))
    assert_equal_trees(one, other)


@budget(40)
@given(partial=partial_problems(), wanted=growth)
def test_full_supervision_is_todays_tree(partial: PartialProblem, wanted: Settings) -> None:
    wanted = replace(wanted, criterion="variance")
    data = partial.data(partial.targets)
    assert mix_features(data, 1.0) is data
    # As the part of the features vanishes, so does its effect, unless tests are as good.
    unknown = data.targets.unknown
    if unknown is None:
        nothing = sparse.csr_array((1, partial.hierarchy.n_labels), dtype=np.int32)
        unknown = UnknownLabels(np.zeros(data.n_rows, dtype=np.uint32), nothing)
    known = data.with_targets(replace(data.targets, unknown=unknown))
    tree, mixed = (
        grow(known, plan_of(wanted)),
        grow(mix_features(data, 1 - 1e-14), plan_of(wanted)),
    )
    if wanted.min_impurity_decrease == 0:
        assert_equal_but_for_scale(tree, mixed)


def assert_equal_but_for_scale(one, other) -> None:
    for name in ("feature", "threshold", "child", "value_label"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    np.testing.assert_allclose(one.value, other.value, atol=1e-9)
