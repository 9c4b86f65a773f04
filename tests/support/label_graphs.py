"""Random label graphs and scores for property tests."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ramify import Hierarchy

DIAMOND = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("d", "e")]
SEGMENT = st.text("abc019 .-é", min_size=1, max_size=3).filter(lambda s: s.strip() == s)
PATH = st.lists(SEGMENT, min_size=1, max_size=4).map("/".join)
PATHS = st.lists(PATH, min_size=1, max_size=8)


@st.composite
def label_graphs(draw, max_labels=12):
    """Draw the parents of each label of a random tree or DAG; parents have smaller numbers."""
    n = draw(st.integers(1, max_labels))
    one = draw(st.booleans())
    parents = {}
    for child in range(n):
        most = min(child, 1 if one else 3)
        chosen = st.sets(st.integers(0, max(child - 1, 0)), max_size=most)
        parents[f"n{child}"] = [f"n{p}" for p in sorted(draw(chosen))] if child else []
    return parents


def build(parents):
    edges = [(p, child) for child, above in parents.items() for p in above]
    edges += [("root", child) for child, above in parents.items() if not above]
    return Hierarchy.from_edges(edges, root="root")


def naive_ancestors(parents, label):
    found = set(parents[label])
    for parent in parents[label]:
        found |= naive_ancestors(parents, parent)
    return found


def edges(hierarchy):
    indptr, parents = hierarchy.parent_rows
    return np.repeat(np.arange(hierarchy.n_labels), np.diff(indptr)), parents


@st.composite
def graphs_and_scores(draw, n_rows=3):
    hierarchy = build(draw(label_graphs()))
    # Few distinct values give ties, which are the difficult case for pooling.
    cells = st.one_of(st.floats(0, 1), st.integers(0, 4).map(lambda k: k / 4))
    scores = draw(hnp.arrays(np.float64, (n_rows, hierarchy.n_labels), elements=cells))
    return hierarchy, scores
