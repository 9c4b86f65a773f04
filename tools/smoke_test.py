"""Check an installed wheel: learn, predict, save and load without optional dependencies."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

import ramify


def main() -> None:
    """Raise an error if anything is wrong; otherwise print the versions."""
    data = ramify.make_hierarchical_classification(300, 10, n_labels=20, random_state=0)
    X = np.asarray(data.X, dtype=np.float64)
    X[::7, 0] = np.nan
    for model in (
        ramify.PCTClassifier(data.hierarchy),
        ramify.PCTForestClassifier(data.hierarchy, n_estimators=5, n_jobs=2, random_state=0),
        ramify.PCTGradientBoostingClassifier(data.hierarchy, max_iter=5, random_state=0),
        ramify.PerEdgeClassifier(ramify.PCTClassifier(max_depth=3), hierarchy=data.hierarchy),
        ramify.GlobalNaiveBayes(data.hierarchy),
    ):
        model.fit(X, data.y)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.ramify"
            ramify.save(model, path)
            loaded = ramify.load(path)
        probabilities = model.predict_proba(X)
        np.testing.assert_array_equal(loaded.predict_proba(X), probabilities)
        indptr, parents = data.hierarchy.parent_rows
        children = np.repeat(np.arange(20), np.diff(indptr))
        assert (probabilities[:, children] <= probabilities[:, parents]).all()  # noqa: S101
    ramify.show_versions()


if __name__ == "__main__":
    main()
