"""Scores of labels are given to their ancestors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from ramify import Hierarchy, _core
from ramify.decision import make_coherent
from tests.reference.propagation import propagate
from tests.support.label_graphs import graphs_and_scores

CHAIN = Hierarchy.from_paths(["a/b/c", "d"])


@given(graphs_and_scores(), st.sampled_from(["max", "fill"]))
def test_propagation_equals_its_twin(problem, how):
    hierarchy, scores = problem
    expected = [propagate(hierarchy, row, how) for row in scores.tolist()]
    found = hierarchy.propagate(sparse.csr_array(scores), how)
    assert found.has_canonical_format
    assert (found.data > 0).all()
    np.testing.assert_array_equal(found.toarray(), np.array(expected).reshape(scores.shape))
    if how == "max":
        np.testing.assert_array_equal(found.toarray(), make_coherent(scores, hierarchy, "max"))


def test_a_label_beyond_the_first_words_of_the_set():
    hierarchy = Hierarchy.from_edges([(f"n{k}", f"n{k + 1}") for k in range(10_000)])
    row = sparse.csr_array(([0.5, 0.25], ([0, 0], [5_000, 10_000])), shape=(1, 10_001))
    found = hierarchy.propagate(row).toarray()[0]
    np.testing.assert_array_equal(found, np.where(np.arange(10_001) <= 5_000, 0.5, 0.25))


@pytest.mark.parametrize(
    ("scores", "how", "message"),
    [
        ([[0, 0, 0]], "max", r"one column per label, 4, got the shape \(1, 3\)"),
        ([[0, 0, np.nan, 0]], "max", "scores must be finite numbers"),
        ([[0, 0, -0.5, 0]], "max", "scores must not be negative, got -0.5"),
        ([[0, 0, 0, 0]], "min", "how must be one of 'max', 'fill', got 'min'"),
    ],
)
def test_mistakes_are_explained(scores, how, message):
    with pytest.raises(ValueError, match=message):
        CHAIN.propagate(scores, how)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"indptr": [0, 2]}, "end at len"),
        ({"indptr": [0, 2, 1]}, "must not decrease"),
        ({"indices": [4]}, "indices must lie in"),
        ({"indices": [-1]}, "indices must lie in"),
        ({"scores": [0.1, 0.2]}, "one entry per index"),
        ({"parent_indices": [0, 2]}, "topological order"),
        ({"how": "min"}, "how must be 'max' or 'fill'"),
    ],
)
def test_the_native_function_checks_its_arguments(changes, message):
    given = {"indptr": [0, 1], "indices": [2], "scores": [0.5], "how": "max"}
    parents = {"parent_indptr": CHAIN.parent_rows[0], "parent_indices": CHAIN.parent_rows[1]}
    arguments = {**given, **parents, **changes}

    def rows(name: str) -> _core.LabelRows:
        indptr, indices = arguments[f"{name}indptr"], arguments[f"{name}indices"]
        return _core.LabelRows(np.array(indptr, np.int64), np.array(indices, np.int32), 4)

    with pytest.raises(ValueError, match=message):
        _core.propagate(rows(""), np.array(arguments["scores"]), rows("parent_"), arguments["how"])
