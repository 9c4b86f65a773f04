"""Change what scikit-learn fitted, in files: python -m tests.robustness.fuzz_wrapped --n 10000.

Every classifier of scikit-learn that a file may contain without trust is wrapped, fitted and
saved. In a copy of the file, one array, number or random state of the wrapped estimator is
replaced by an extreme one, or an object by another. Loading and predicting may fail with an
exception, but may not crash, hang or use up the memory. --table lists which classifiers load
without trust.
"""

from __future__ import annotations

import argparse
import copy
import io
import json
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import ramify
from tests.robustness.fuzz_model_fields import Findings, Worker, forms_of, try_changes
from tests.support.model_file_damage import Members, forge, pack, unpack
from tests.support.wrapped_models import wrapped_models

_HARMLESS = ("refused", "predicted", "refused rows", "failed to predict")
_WRAPPED, _SCHEMA = "wrapped.skops", "schema.json"
_WHOLE = (0, 1, -1, -2, 2, 7, 625, 2**15, 2**30, 2**31 - 1, -(2**31), 2**40, -(2**40), 2**62,
          -(2**62))  # fmt: skip
_REAL = (0.0, -1.0, 0.5, 1e18, 1e308, -1e308, 5e-324, np.nan, np.inf, -np.inf)
_OTHERS = ("null", "true", "false", '""', '"brute"', '"kd_tree"', '"uniform"', '"precomputed"',
           "[]", "1e308", "NaN", "Infinity", "-0.5")  # fmt: skip
_TYPES = ("i4", "i8", "u8", "f4", "f8", "b1", "U3", "c16", "f2")


def _extreme(rng: random.Random, dtype: Any) -> Any:
    """Return an extreme value of a data type."""
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return min(max(rng.choice(_WHOLE), limits.min), limits.max)
    if dtype.kind in "fc":
        return rng.choice(_REAL)
    return rng.random() < 0.5 if dtype.kind == "b" else "\U0010ffff"


def _change_values(rng: random.Random, array: Any) -> Any:
    changed = array.copy()
    part = changed
    if changed.dtype.names:
        part = changed[rng.choice(changed.dtype.names)]
    if part.size:
        n = rng.choice([1, 1, 2, part.size])
        for _ in range(min(n, 40)):
            part[np.unravel_index(rng.randrange(part.size), part.shape)] = _extreme(
                rng, part.dtype
            )
    return changed


def _change_shape(rng: random.Random, array: Any) -> Any:
    flat = array.ravel()
    ways = [
        lambda: flat[:0],
        lambda: flat[: max(1, flat.size // 2)],
        lambda: np.concatenate([flat, flat]),
        lambda: array[:1] if array.ndim else array,
        lambda: array[:-1] if array.ndim else array,
        lambda: np.concatenate([array, array]) if array.ndim else array,
        lambda: array[..., :1] if array.ndim else array,
        lambda: array.T,
        lambda: np.asfortranarray(array),
        lambda: array.reshape(1, *array.shape),
        lambda: array.reshape(*array.shape, 1),
        lambda: np.zeros((0, *array.shape[1:]), array.dtype),
        lambda: np.zeros((*array.shape[:-1], 0), array.dtype),
    ]
    return rng.choice(ways)()


def _change_type(rng: random.Random, array: Any) -> Any:
    if array.dtype.names:
        return array[list(array.dtype.names)[:-1]].copy()
    with np.errstate(all="ignore"):
        return array.astype(rng.choice(_TYPES))


def change_array(rng: random.Random, array: Any) -> Any:
    """Return an array with extreme values, or of another shape or data type."""
    change = rng.choice([_change_values] * 4 + [_change_shape] * 2 + [_change_type])
    try:
        return change(rng, array)
    except (ValueError, TypeError, OverflowError):
        return _change_shape(rng, array)


def _nodes(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the nodes of a skops schema."""
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting.extend(node)
        elif isinstance(node, dict):
            if isinstance(node.get("__loader__"), str):
                yield node
            waiting.extend(node.values())


def change_wrapped(rng: random.Random, data: bytes) -> tuple[bytes, str]:
    """Return a model file with a change in its wrapped estimators, and what was changed."""
    members = unpack(data)
    inner = unpack(members[_WRAPPED])
    told = _change_member(rng, inner)
    members[_WRAPPED] = pack(inner, members[_WRAPPED])
    return forge(members, data), told


def _change_member(rng: random.Random, inner: Members) -> str:
    arrays = sorted(name for name in inner if name.endswith((".npy", ".npz")))
    schema = json.loads(inner[_SCHEMA])
    nodes = list(_nodes(schema))
    if rng.random() < 0.3:
        return _exchange(rng, inner, schema, nodes)
    if not arrays or rng.random() < 0.5:
        node = rng.choice([one for one in nodes if one["__loader__"] == "JsonNode"])
        before = node["content"]
        node["content"] = rng.choice([json.dumps(rng.choice(_WHOLE)), rng.choice(_OTHERS)])
        inner[_SCHEMA] = json.dumps(schema).encode()
        return f"{_name_of(schema, node)}: {before} to {node['content']}"
    name = rng.choice(arrays)
    if name.endswith(".npz"):
        parts = unpack(inner[name])
        part = rng.choice(sorted(parts))
        parts[part], told = _change_npy(rng, parts[part])
        inner[name] = pack(parts, inner[name])
        return f"{part}: {told}"
    inner[name], told = _change_npy(rng, inner[name])
    return f"{_name_of(schema, name)}: {told}"


def _exchange(rng: random.Random, inner: Members, schema: Any, nodes: list[Any]) -> str:
    """Put a node in place of another, which it stands for if it keeps the number of that one."""
    node, other = rng.sample(nodes, 2)
    told = f"{_name_of(schema, node)}: node of {_name_of(schema, other)}"
    changed = copy.deepcopy(other)
    if rng.random() < 0.5:
        changed["__id__"] = node.get("__id__")
    node.clear()
    node.update(changed)
    inner[_SCHEMA] = json.dumps(schema).encode()
    return told


def _change_npy(rng: random.Random, data: bytes) -> tuple[bytes, str]:
    array = np.load(io.BytesIO(data))
    changed = change_array(rng, array)
    stream = io.BytesIO()
    np.save(stream, changed, allow_pickle=False)
    shown = " ".join(str(changed.ravel()[:12]).split())
    return stream.getvalue(), f"{array.shape} {array.dtype} to {changed.shape}: {shown}"


def _name_of(schema: Any, wanted: Any) -> str:
    """Return the keys that lead to a node of a schema, or to the node of a file."""
    waiting: list[tuple[Any, str]] = [(schema, "")]
    while waiting:
        node, path = waiting.pop()
        if node is wanted or (isinstance(node, dict) and node.get("file") == wanted):
            return path.replace(".content", "")
        if isinstance(node, dict):
            waiting.extend((value, f"{path}.{key}") for key, value in node.items())
        elif isinstance(node, list):
            waiting.extend((value, f"{path}[{i}]") for i, value in enumerate(node))
    return "?"


def load_all(folder: Path, only: str = "") -> tuple[dict[str, bytes], dict[str, str]]:
    """Save all models; return the files that load without trust, and why others do not."""
    files, refused = {}, {}
    for name, model in wrapped_models(only).items():
        path = folder / "model.ramify"
        ramify.save(model, path)
        try:
            ramify.load(path)
        except ramify.ModelFileError as error:
            refused[name] = str(error)
        else:
            files[name] = path.read_bytes()
    return files, refused


def fuzz_wrapped(
    n: int,
    seed: int,
    *,
    seconds: float = float("inf"),
    only: str = "",
    keep: Path | None = None,
) -> Findings:
    """Change the wrapped estimators of all files in turn.

    Parameters
    ----------
    n : int
        Number of changed files.
    seed : int
        Decides the changes.
    seconds : float
        Time after which to stop.
    only : str
        A part of the names of the models to change; all by default.
    keep : path, optional
        Folder for the files that gave a finding.

    Returns
    -------
    Findings
        Counts and findings.
    """
    worker = Worker(timeout=30.0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.ramify"
        files = {}
        for name, data in load_all(Path(folder), only)[0].items():
            if _WRAPPED in unpack(data):
                path.write_bytes(data)
                files[name] = data, forms_of(worker, path)
                assert files[name][1], name
        return try_changes(
            *(files, change_wrapped, n, seed),
            worker=worker,
            path=path,
            seconds=seconds,
            keep=keep,
            harmless=_HARMLESS,
        )


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=10_000, help="the number of changed files")
    parser.add_argument("--seed", type=int, default=0, help="decides the changes")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this time")
    parser.add_argument("--only", default="", help="a part of the names of the models to change")
    parser.add_argument("--keep", type=Path, help="folder for files that gave a finding")
    parser.add_argument("--table", action="store_true", help="list the classifiers and stop")
    options = parser.parse_args()
    if options.table:
        with tempfile.TemporaryDirectory() as folder:
            files, refused = load_all(Path(folder))
        print("\n".join(f"{name:32} {'listed' if name in files else 'needs trust'}"
                        for name in sorted([*files, *refused])))  # fmt: skip
        return 0
    found = fuzz_wrapped(
        options.n, options.seed, seconds=options.seconds, only=options.only, keep=options.keep
    )
    print(found.write())
    return int(bool(found.findings))


if __name__ == "__main__":
    sys.exit(main())
