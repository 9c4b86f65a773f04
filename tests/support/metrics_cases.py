"""Random problems for the tests of measures, and layouts of label matrices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from scipy import sparse

from ramify import Hierarchy
from tests.support.budget import budget

quickly = budget(40)

HIERARCHIES = [
    Hierarchy.from_labels(["a", "b", "c"]),
    Hierarchy.from_paths(["a/x", "a/y/u", "a/y/v", "b", "c/z"]),
    Hierarchy.from_edges([("a", "c"), ("b", "c"), ("a", "d"), ("c", "e"), ("d", "e"), ("b", "f")]),
]

LAYOUTS: dict[str, Callable[[np.ndarray], Any]] = {
    "list": lambda Y: Y.tolist(),
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "strided": lambda Y: np.repeat(np.repeat(Y, 2, axis=0), 3, axis=1)[::2, ::3],
    "bool": lambda Y: Y.astype(bool),
    "csr_array": sparse.csr_array,
    "csr_matrix": sparse.csr_matrix,
    "csc_array": sparse.csc_array,
    "coo_array": sparse.coo_array,
    "frame": pd.DataFrame,
}


@dataclass(frozen=True)
class Problem:
    """True labels and predictions including ancestors, and scores with many ties."""

    hierarchy: Hierarchy
    truth: np.ndarray
    predicted: np.ndarray
    scores: np.ndarray


@st.composite
def problems(draw: st.DrawFn, *, min_rows: int = 1) -> Problem:
    hierarchy = draw(st.sampled_from(HIERARCHIES))
    n_rows = draw(st.integers(min_rows, 7))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    shape = (n_rows, hierarchy.n_labels)
    density = rng.choice([0.0, 0.1, 0.3, 0.7], size=(2, shape[1]))
    truth, predicted = ((rng.random(shape) < d).astype(int) for d in density)
    # Few distinct values give many ties; some are exactly 0, some negative.
    values = rng.choice([0.0, 0.1, 0.25, 0.5, 0.75, 1.0, -1.0, rng.random()], size=shape)
    return Problem(
        hierarchy,
        hierarchy.close(truth).toarray(),
        hierarchy.close(predicted).toarray(),
        values,
    )
