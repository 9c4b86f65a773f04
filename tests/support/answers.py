"""Hashes of what every estimator answers: ``python -m tests.support.answers [--write]``.

For a change that must not change any answer. A case is an estimator with some settings, a layout
of X, a format of y and a seed; its hashes are those of predict_proba, predict and the file that
`save` writes. Without ``--write``, they are compared with those in tests/golden/answers.json.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse

import ramify
from ramify import Hierarchy, PCTClassifier
from tests.support.estimators import make, multi_target_estimators, public_classifiers

PATH = Path(__file__).parents[1] / "golden" / "answers.json"
N_ROWS, N_TRAIN = 90, 60
TREE = Hierarchy.from_paths(["a/b/c", "a/b/d", "a/e", "f/g", "f/h", "i"])
DAG = Hierarchy.from_edges(
    [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("c", "e"), ("f", "e"), ("f", "g")]
)
TREES = ("PCTClassifier", "PCTForestClassifier", "PCTBaggingClassifier", "PCTExtraTreesClassifier")
SEEDS = (0, 1)

# Settings that change what is computed, beyond the default: name of the class, settings.
VARIANTS: tuple[tuple[str, dict[str, Any]], ...] = (
    *(("PCTClassifier", {"criterion": name}) for name in ("gini", "entropy", "gain_ratio")),
    *(("PCTClassifier", {"criterion": name}) for name in ("hamming", "jaccard", "matching")),
    ("PCTClassifier", {"criterion": "euclidean", "squared_distances": False}),
    ("PCTClassifier", {"prototype": "medoid", "max_depth": 3}),
    ("PCTClassifier", {"smoothing": 2.0}),
    ("PCTClassifier", {"splitter": "random"}),
    ("PCTClassifier", {"max_features": 0.5, "redraw": True, "min_samples_leaf": 2}),
    ("PCTClassifier", {"f_test": 0.05}),
    ("PCTClassifier", {"f_test": [0.01, 0.1]}),
    ("PCTClassifier", {"pruning": "pessimistic", "criterion": "gain_ratio"}),
    ("PCTClassifier", {"threshold_at": "observed", "nominal_tests": "nary"}),
    ("PCTClassifier", {"nominal_tests": "single", "min_weight": 3.0}),
    ("PCTClassifier", {"label_weight": "balanced", "w0": 0.4, "weighting": "max"}),
    ("PCTClassifier", {"min_impurity_decrease": 0.01, "min_samples_split": 0.2}),
    ("PCTClassifier", {"clus_compat": True}),
    ("PCTClassifier", {"clus_compat": True, "f_test": 0.05, "max_features": 0.5}),
    ("PCTClassifier", {"clus_compat": True, "criterion": "gini"}),
    ("PCTClassifier", {"clus_compat": True, "criterion": "entropy", "pruning": "pessimistic"}),
    ("PCTForestClassifier", {"clus_compat": True}),
    ("PCTForestClassifier", {"clus_compat": True, "criterion": "gini", "oob_score": True}),
    ("PCTForestClassifier", {"oob_score": True, "max_samples": 0.6}),
    ("PCTBaggingClassifier", {"criterion": "jaccard", "max_depth": 4}),
    ("PCTExtraTreesClassifier", {"bootstrap": True, "smoothing": 1.0}),
    ("PCTGradientBoostingClassifier", {"max_iter": 6, "loss": "logistic", "sketch_size": 2}),
    ("PCTGradientBoostingClassifier", {"max_iter": 6, "max_leaf_nodes": 5, "subsample": 0.7}),
    ("PCTGradientBoostingClassifier", {"max_iter": 30, "early_stopping": True, "refit": True}),
    ("AdaBoostMHClassifier", {"max_depth": 2, "max_bins": 8}),
    ("AdaBoostMHClassifier", {"shared_test": True}),
    ("HierarchicalAdaBoostMHClassifier", {"top_down": False, "costs": "uniform"}),
    ("HierarchicalAdaBoostMHClassifier", {"top_down": True, "inherit_mistakes": True}),
    ("PerEdgeClassifier", {"estimator": PCTClassifier(max_depth=2)}),
    ("PerNodeClassifier", {"policy": "exclusive_siblings"}),
    ("PerNodeClassifier", {"policy": "all"}),
    ("FlatClassifier", {"labels": "all"}),
    ("BRDTClassifier", {"variant": "balanced"}),
    ("BRDTClassifier", {"unreached": "majority"}),
    ("RAkEL", {"overlapping": False, "voting": "soft"}),
    ("MLkNN", {"n_neighbors": 4}),
    ("GlobalNaiveBayes", {"candidates": "all"}),
    ("MandatoryLeafClassifier", {"estimator": PCTClassifier(max_depth=3), "objective": "map"}),
)

# Settings of estimators for several targets, used where the class has the parameter.
TARGET_VARIANTS: tuple[dict[str, Any], ...] = (
    {},
    {"clus_compat": True},
    {"criterion": "entropy"},
    {"f_test": 0.1, "normalize": False},
    {"criterion": "gain_ratio", "pruning": "pessimistic"},
    {"pruning": "m5", "max_depth": 6},
    {"splitter": "random"},
    {"max_features": 0.5, "redraw": True},
    {"nominal_tests": "nary", "min_samples_leaf": 3},
    {"oob_score": True},
)


@dataclass(frozen=True)
class Case:
    """One model: how to make and train it, and under which name its hashes are kept."""

    name: str
    make: Callable[[], Any]
    X: Any
    y: Any
    weights: np.ndarray | None

    def hashes(self) -> list[str]:
        """Train the model and return the hashes of its probabilities, answers and file."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            weights = {} if self.weights is None else {"sample_weight": self.weights}
            try:
                model = self.make().fit(self.X[0], self.y, **weights)
            except ValueError as error:  # what is refused must be refused for the same reason
                return ["refused", _hash(str(error).encode())]
            found = [
                _hash_array(getattr(model, method)(self.X[1]))
                for method in ("predict_proba", "predict")
                if hasattr(model, method)
            ]
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "model.ramify"
                try:
                    ramify.save(model, path)
                except (TypeError, ValueError) as error:
                    return [*found, _hash(str(error).encode())]
                return [*found, _hash(path.read_bytes())]


def _hash(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=5).hexdigest()


def _hash_array(found: Any) -> str:
    """Hash an array, a sparse matrix, a frame, or nested lists of these."""
    if sparse.issparse(found):
        found = found.toarray()
    if isinstance(found, np.ndarray) and found.dtype.kind in "fiub":
        # -0.0 and 0.0 are the same answer.
        return _hash(np.ascontiguousarray(found + 0.0 if found.dtype.kind == "f" else found))
    if isinstance(found, list | tuple):
        return _hash("".join(_hash_array(part) for part in found).encode())
    if isinstance(found, set | frozenset):
        return _hash(repr(sorted(map(str, found))).encode())
    if isinstance(found, np.ndarray):
        return _hash(repr([_text(value) for value in found.tolist()]).encode())
    return _hash(str(found).encode())


def _text(value: Any) -> str:
    return repr(sorted(map(str, value))) if isinstance(value, set | frozenset) else repr(value)


# ---- the data ------------------------------------------------------------------------------


def _columns() -> np.ndarray:
    """Three numeric columns, one of them mostly zero, and a nominal one; none missing."""
    rng = np.random.default_rng(7)
    numbers = rng.normal(size=(N_ROWS, 2)).round(2)
    rare = np.where(rng.random(N_ROWS) < 0.7, 0.0, rng.integers(1, 4, N_ROWS))
    return np.column_stack([numbers, rare, rng.integers(0, 3, N_ROWS)])


def layouts() -> dict[str, Any]:
    """Training and test rows in every layout of X; "missing" is the only one with NaN."""
    X = _columns()
    missing = X.copy()
    missing[np.random.default_rng(8).random(X.shape) < 0.1] = np.nan
    missing[:3] = X[:3]  # every category occurs
    names = ["width", "height", "spots", "colour"]
    frame = pd.DataFrame(X, columns=names)
    frame["colour"] = np.array(["red", "green", "blue"])[X[:, 3].astype(int)]
    ways: dict[str, Any] = {
        "dense": X,
        "float32": X.astype(np.float32),
        "fortran": np.asfortranarray(X),
        "csr": sparse.csr_array(X),
        "csc": sparse.csc_matrix(X),
        "missing": missing,
        "pandas": frame,
        "polars": pl.from_pandas(frame),
    }
    return {
        name: (_slice(table, 0, N_TRAIN), _slice(table, N_TRAIN, N_ROWS))
        for name, table in ways.items()
    }


def _slice(table: Any, first: int, last: int) -> Any:
    return table.iloc[first:last] if isinstance(table, pd.DataFrame) else table[first:last]


def _one_path() -> list[str]:
    """A path per training row, which depends on the row."""
    X = _columns()[:N_TRAIN]
    ends = ["a/b/c", "a/b/d", "a/e", "f/g", "f/h", "i"]
    score = (2 * (X[:, 0] > 0) + (X[:, 3] > 1) + 2 * (X[:, 2] > 0)).astype(int)
    return [ends[(s + (i % 11 == 0)) % len(ends)] for i, s in enumerate(score)]


def _sets() -> list[set[str]]:
    """A label set per training row, some of them empty, others with an inner end."""
    more = [set(), {"f/g"}, {"a"}, {"i"}]
    paths = enumerate(_one_path())
    return [set() if i % 17 == 0 else {end} | more[i % 4] for i, end in paths]


def formats() -> dict[str, tuple[Any, Hierarchy | None]]:
    """Labels of the training rows in every format of y, and the hierarchy that is passed."""
    paths, sets = _one_path(), _sets()
    matrix = TREE.encode(sets)
    levels = np.array([[*path.split("/"), "", ""][:3] for path in paths], dtype=object)
    dag_ends = {"a/b/c": "d", "a/b/d": "e", "a/e": "c", "f/g": "g", "f/h": "b", "i": "f"}
    dag = [{dag_ends[end] for end in labels if end in dag_ends} for labels in sets]
    clus = ["@".join(sorted(labels)) for labels in sets]
    return {
        "paths": (paths, None),
        "sets": (sets, TREE),
        "dag": (dag, DAG),
        "matrix": (matrix.toarray(), TREE),
        "sparse": (sparse.csr_array(matrix), TREE),
        "flat matrix": (matrix.toarray()[:, :4], None),
        "clus": (clus, None),
        "levels": (levels, None),
        "series": (pd.Series(paths, name="kind"), None),
        "polars": (pl.Series("kind", [sorted(labels) for labels in sets]), TREE),
        "classes": ([path.split("/")[0] for path in paths], None),
        "binary": ([int(path.startswith("a")) for path in paths], None),
    }


def targets() -> dict[str, np.ndarray]:
    """Targets of the training rows: numbers, classes, and both with missing values."""
    X = _columns()[:N_TRAIN]
    numbers = np.column_stack([X[:, 0] + X[:, 2], X[:, 1] * X[:, 3], X[:, 2]])
    known = numbers.copy()
    known[np.random.default_rng(9).random(known.shape) < 0.2] = np.nan
    return {"numbers": numbers, "unknown": known, "one": numbers[:, 0]}


# ---- the cases -----------------------------------------------------------------------------


def cases() -> Iterator[Case]:
    """Yield every layout with sets, every format with dense X, and all pairs for trees."""
    X, y = layouts(), formats()
    for cls in public_classifiers():
        for layout in X:
            for kind in y:
                if layout != "dense" and kind != "sets" and cls is not PCTClassifier:
                    continue
                yield from _of_labels(cls, {}, (layout, X[layout]), (kind, y[kind]))
    for name, settings in VARIANTS:
        cls = getattr(ramify, name)
        for layout, kind in _few_pairs():
            yield from _of_labels(cls, settings, (layout, X[layout]), (kind, y[kind]))
    for cls in multi_target_estimators():
        for layout, (kind, values) in ((a, b) for a in X for b in targets().items()):
            for settings in TARGET_VARIANTS if layout in ("missing", "csr") else ({},):
                yield from _of_targets(cls, settings, (layout, X[layout]), (kind, values))


def _few_pairs() -> list[tuple[str, str]]:
    return [
        *(("dense", "sets"), ("missing", "dag"), ("csr", "paths"), ("pandas", "clus")),
        *(("missing", "classes"), ("csr", "binary"), ("missing", "sets")),
    ]


def _of_labels(
    cls: type, settings: dict[str, Any], X: tuple[str, Any], y: tuple[str, Any]
) -> Iterator[Case]:
    labels, hierarchy = y[1]
    weights = 0.5 + np.arange(N_TRAIN) % 3 if y[0] == "dag" else None
    takes_weights = "sample_weight" in getattr(cls.fit, "__code__").co_varnames  # noqa: B009
    seeds = SEEDS if (X[0], y[0]) == ("dense", "sets") else SEEDS[:1]
    nominal = {"categorical_features": [3]} if X[0] in ("missing", "csr") else {}
    for seed in seeds:
        given = {"hierarchy": hierarchy, **nominal, "random_state": seed}
        names = set(cls._get_param_names())  # type: ignore[attr-defined]
        given = {key: value for key, value in given.items() if key in names}
        yield Case(
            _name(cls, settings, X[0], y[0], seed),
            lambda given=given: make(cls, **given, **settings),
            X[1],
            labels,
            weights if takes_weights else None,
        )


def _of_targets(
    cls: type, settings: dict[str, Any], X: tuple[str, Any], y: tuple[str, np.ndarray]
) -> Iterator[Case]:
    names = set(cls._get_param_names())  # type: ignore[attr-defined]
    if not names.issuperset(settings):
        return
    nominal = {"categorical_features": [3]} if X[0] in ("missing", "csr") else {}
    values = y[1] if "Regressor" in cls.__name__ else np.sign(np.round(y[1], 1))
    for seed in SEEDS if not settings else SEEDS[:1]:
        yield Case(
            _name(cls, settings, X[0], y[0], seed),
            lambda seed=seed: make(cls, **{**nominal, "random_state": seed, **settings}),
            X[1],
            values,
            1.0 + np.arange(N_TRAIN) % 2,
        )


def _name(cls: type, settings: dict[str, Any], layout: str, kind: str, seed: int) -> str:
    told = ", ".join(f"{key}={value!r}" for key, value in settings.items())
    return f"{cls.__name__}({told}) | {layout} | {kind} | {seed}"


# ---- the table -----------------------------------------------------------------------------


def compute(every: int = 1) -> dict[str, list[str]]:
    """Return the hashes of every case, or of each `every`-th one."""
    return {case.name: case.hashes() for i, case in enumerate(cases()) if i % every == 0}


def stored() -> dict[str, list[str]]:
    """Return the hashes in the table."""
    return dict(json.loads(PATH.read_text(encoding="utf-8")))


def main() -> None:
    """Compare all hashes with the table, or write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="replace the table")
    found = compute()
    if parser.parse_args().write:
        lines = (f" {json.dumps(name)}: {json.dumps(told)}" for name, told in found.items())
        PATH.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
        return
    expected = stored()
    changed = [name for name in {**expected, **found} if expected.get(name) != found.get(name)]
    for name in changed[:50]:
        print(name, expected.get(name), found.get(name))  # noqa: T201
    raise SystemExit(f"{len(changed)} of {len(found)} cases differ" if changed else 0)


if __name__ == "__main__":
    main()
