"""Matrices of many rows: no copies, and the same model from files, layouts and float32."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.tree import DecisionTreeRegressor

from ramify import PCTClassifier, PCTForestClassifier, PCTGradientBoostingClassifier, io

LEARNERS: list[Any] = [
    PCTClassifier(min_samples_leaf=20),
    PCTForestClassifier(n_estimators=3, min_samples_leaf=20, random_state=0),
    PCTGradientBoostingClassifier(max_iter=4, random_state=0),
    PCTGradientBoostingClassifier(max_iter=4, early_stopping=True, random_state=0),
]


def rows(n_rows: int, n_features: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """Return single-precision features and three labels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features)).astype(np.float32)
    X[rng.random(X.shape) < 0.02] = np.nan
    X[:, 4] = np.round(X[:, 4])
    X[:, 5] *= rng.random(n_rows) < 0.2
    score = np.nan_to_num(X)
    Y = np.stack([score[:, 0] > 0.5, score[:, 4] > 0, score[:, 1] + score[:, 2] > 1], axis=1)
    return X, Y.astype(int)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("learner", LEARNERS, ids=lambda model: type(model).__name__)
def test_a_memory_map_gives_the_model_of_a_float64_copy(
    learner: Any, order: str, tmp_path: Path
) -> None:
    X, Y = rows(3000)
    np.save(tmp_path / "X.npy", np.asarray(X, order=order))
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    expected = clone(learner).fit(X.astype(np.float64), Y).predict_proba(X.astype(np.float64))
    found = clone(learner).fit(mapped, Y).predict_proba(mapped)
    assert found.tobytes() == expected.tobytes()


def test_a_parquet_file_gives_the_model_of_its_frame(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    X, Y = rows(500)
    frame = pandas.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    frame.assign(labels="a").to_parquet(tmp_path / "rows.parquet", row_group_size=100)
    mapped = io.parquet_to_npy(tmp_path / "rows.parquet", tmp_path / "X.npy", drop=["labels"])
    model = PCTForestClassifier(n_estimators=3, random_state=0)
    expected = model.fit(frame, Y).predict_proba(frame)
    assert model.fit(mapped, Y).predict_proba(mapped).tobytes() == expected.tobytes()


@pytest.mark.parametrize("n_rows", [400, 70_000])
def test_tests_of_large_nodes_are_those_of_scikit_learn(n_rows: int) -> None:
    """More distinct values than fit two bytes, so that rows and ranks do not share a key."""
    X, Y = rows(n_rows)
    X = np.nan_to_num(X)[:, :4]
    ours = PCTClassifier(max_depth=3).fit(X, Y).tree_
    theirs = DecisionTreeRegressor(max_depth=3).fit(X, Y).tree_
    thresholds = sorted(ours.threshold[ours.feature >= 0])
    np.testing.assert_allclose(
        thresholds, sorted(theirs.threshold[theirs.feature >= 0]), rtol=1e-12
    )
    assert sorted(ours.feature) == sorted(theirs.feature.clip(-1))


MEASURED = """
import json, re, sys
from pathlib import Path
import numpy as np
from ramify.data.features import FeatureSchema, make_dataset
from ramify import PCTGradientBoostingClassifier

def peak():
    # Unlike ru_maxrss, this leaves out the memory of the process that started this one.
    return 1024 * int(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1])

def resident(X):
    return float(X.sum())  # all pages are in memory, so that reading them adds nothing

X = np.load(sys.argv[1], mmap_mode="r")
small = PCTGradientBoostingClassifier(max_iter=1, early_stopping=False, sketch_size=16)
small.fit(X[:100], np.arange(100) % 2)
make_dataset(X[:100], FeatureSchema.numeric(X.shape[1]))
resident(X)
before = peak()
if sys.argv[2] == "ranks":
    kept = make_dataset(X, FeatureSchema.numeric(X.shape[1]))
else:
    small.fit(X, np.arange(len(X)) % 2)
print(json.dumps((peak() - before) / X.size))
"""


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize(
    ("kind", "dtype", "most"),
    # Ranks and distinct values take 8 and 12 bytes; the rest is a few columns on their way.
    [("ranks", "float32", 14.0), ("ranks", "float64", 19.0), ("bins", "float32", 10.0)],
)
def test_bytes_per_cell(kind: str, dtype: str, most: float, tmp_path: Path) -> None:
    path = tmp_path / "X.npy"
    np.save(path, np.random.default_rng(0).normal(size=(60_000, 80)).astype(dtype))
    command = [sys.executable, "-c", MEASURED, str(path), kind]
    found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    assert 1.0 < found < most
