"""Random problems with flat labels."""

from __future__ import annotations

import numpy as np


def make_flat(seed: int, n_rows: int = 40, n_labels: int = 5) -> tuple[np.ndarray, ...]:
    """Return X, a label matrix with dependent labels, and new rows."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, 4))
    noise = random.normal(scale=0.5, size=(n_rows, n_labels))
    Y = (X @ random.normal(size=(4, n_labels)) + noise > 0.7).astype(int)
    Y[:, -1] = Y[:, 0] | Y[:, -1]
    return X, Y, random.normal(size=(15, 4))
