"""Take a model file apart, change one field, and put it together again with valid checksums.

Unlike `model_file_damage`, which damages bytes, this knows the structure of a file: every array,
every value, every reference and every class name is a field that can be changed.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ramify._savable import _CLASSES
from ramify.saving.values import ArrayPools, PoolReader
from tests.support.model_file_damage import forge, unpack

_DOCUMENT = "model.json"
Array = np.ndarray[Any, Any]


@dataclass
class Parts:
    """A model file taken apart.

    Attributes
    ----------
    original : bytes
        The file.
    others : dict of str to bytes
        Its members other than arrays and the table of objects.
    document : dict
        The table of objects.
    arrays : dict of (int, str) to ndarray
        The arrays by the number of their object and, in trees, their name.
    """

    original: bytes
    others: dict[str, bytes]
    document: dict[str, Any]
    arrays: dict[tuple[int, str], Array]


def take_apart(data: bytes) -> Parts:
    """Return the parts of a valid model file."""
    members = unpack(data)
    document = json.loads(members.pop(_DOCUMENT))
    pools = PoolReader(members)
    arrays: dict[tuple[int, str], Array] = {}
    for number, entry in enumerate(document["objects"]):
        if entry["kind"] == "array":
            flat = pools.take(entry["pool"], int(np.prod(entry["shape"])))
            arrays[number, ""] = flat.reshape(entry["shape"], order=entry["order"])
        elif entry["kind"] == "tree":
            for name, size in entry["sizes"].items():
                arrays[number, name] = pools.take(f"trees/{name}", size)
    others = {name: part for name, part in members.items() if not name.endswith(".npy")}
    return Parts(data, others, document, arrays)


def put_together(parts: Parts) -> bytes:
    """Return a file of changed parts; sizes, shapes and checksums are those of the new arrays."""
    pools = ArrayPools()
    document = copy.deepcopy(parts.document)
    for (number, name), array in parts.arrays.items():
        entry = document["objects"][number]
        if name:
            entry["sizes"][name] = array.size
            pools.put(f"trees/{name}", array)
        else:
            entry |= {"pool": f"arrays/{array.dtype.name}", "shape": list(array.shape)}
            entry["order"] = "C"
            pools.put(entry["pool"], array)
    members = {**parts.others, _DOCUMENT: json.dumps(document).encode(), **pools.members()}
    manifest = json.loads(members["manifest.json"])
    manifest["members"] = {name: {} for name in members if name != "manifest.json"}
    members["manifest.json"] = json.dumps(manifest).encode()
    return forge(members, parts.original)


# ---- arrays --------------------------------------------------------------------------------

_NUMBERS = (0, 1, -1, 2, 3, 5, 255, 2**15, 2**31 - 1, -(2**31), 2**40, 2**62, 2**63 - 1)
_FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 1e308, -1e308, 5e-324, np.nan, np.inf, -np.inf, 1e18)
_TYPES = ("i1", "i2", "i4", "i8", "u1", "u4", "u8", "f2", "f4", "f8", "b1", "U3", "S2")


def _edge(rng: random.Random, array: Array) -> Any:
    """Return a value that an element could have, or could not."""
    if array.dtype.kind in "iu":
        limits = np.iinfo(array.dtype)
        near = rng.choice(array.ravel().tolist() or [0]) + rng.choice([-1, 1])
        chosen = rng.choice([*_NUMBERS, array.size, array.size - 1, array.size + 1, near])
        return min(max(chosen, limits.min), limits.max)
    if array.dtype.kind == "f":
        with np.errstate(over="ignore"):
            return np.array(rng.choice(_FLOATS)).astype(array.dtype)
    return rng.choice([True, False]) if array.dtype.kind == "b" else "\U0010ffff"


def _set_elements(rng: random.Random, array: Array) -> Array:
    changed = array.copy()
    if changed.size:
        n = rng.choice([1, 1, 1, 2, changed.size])
        for _ in range(n if n < 50 else 50):
            changed.flat[rng.randrange(changed.size)] = _edge(rng, array)
    return changed


def _fill(rng: random.Random, array: Array) -> Array:
    return np.full_like(array, _edge(rng, array))


def _set_end(rng: random.Random, array: Array) -> Array:
    changed = array.copy()
    if changed.size:
        changed.flat[rng.choice([0, -1])] = _edge(rng, array)
    return changed


def _reorder(rng: random.Random, array: Array) -> Array:
    order = list(range(array.size))
    rng.shuffle(order)
    return array.ravel()[order].reshape(array.shape)


def _retype(rng: random.Random, array: Array) -> Array:
    if array.dtype.kind in "SU":
        array = np.char.str_len(array)
    with np.errstate(all="ignore"):
        return array.astype(rng.choice(_TYPES))


def _reshape(rng: random.Random, array: Array) -> Array:
    flat = array.ravel()
    return rng.choice(
        [
            array[..., None],
            array[None],
            array.T,
            flat,
            flat[:-1],
            flat[:0],
            np.concatenate([flat, flat]),
            np.concatenate([flat, flat[:1]]),
            array[:-1] if array.ndim else flat,
            np.concatenate([array, array[-1:]]) if array.ndim else flat,
            array[..., :-1] if array.ndim else flat,
        ]
    )


_ARRAY_CHANGES: tuple[Callable[[random.Random, Array], Array], ...] = (
    *(_set_elements, _set_elements, _set_elements, _fill, _set_end, _reorder),
    *(_retype, _reshape),
)


def change_array(rng: random.Random, parts: Parts) -> str:
    """Change one array: its elements, type or shape."""
    if not parts.arrays:
        return change_value(rng, parts)
    key = rng.choice(sorted(parts.arrays))
    change = rng.choice(_ARRAY_CHANGES)
    array = change(rng, parts.arrays[key])
    parts.arrays[key] = array.ravel() if key[1] else array
    return f"{change.__name__} of array {key}"


def swap_arrays(rng: random.Random, parts: Parts) -> str:
    """Put one array in place of another."""
    if not parts.arrays:
        return change_value(rng, parts)
    to, source = rng.choice(sorted(parts.arrays)), rng.choice(sorted(parts.arrays))
    array = parts.arrays[source]
    parts.arrays[to] = array.ravel() if to[1] else array
    return f"array {source} in place of {to}"


# ---- values --------------------------------------------------------------------------------

_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 7, 40_000, 2**31, 2**63, 10**30, 0.5, 1e308, -1.5),
    *("", "x", "min", "csr_array", "U999999999", "<f8,<f8", "hamming", "precomputed", "/dev/null"),
    *([], [0], [[]], [1] * 50, {"$float": "nan"}, {"$float": "inf"}, {"$tuple": []}),
    *({"$tuple": [0, 1]}, {"$dict": []}, {"$dict": [[0, 1]]}, {"$set": [1]}, {"$ref": 0}),
)


def _leaves(node: Any) -> Iterator[tuple[Any, Any]]:
    """Yield (container, key) of every value below a node."""
    keys = list(node) if isinstance(node, dict) else list(range(len(node)))
    for key in keys:
        yield node, key
        if isinstance(node[key], dict | list):
            yield from _leaves(node[key])


def change_value(rng: random.Random, parts: Parts) -> str:
    """Change, drop or repeat one value in the table of objects."""
    entries = parts.document["objects"]
    # `put_together` sets the fields of arrays and trees.
    numbers = [i for i, entry in enumerate(entries) if entry["kind"] not in ("array", "tree")]
    number = rng.choice(numbers)
    places = [(node, key) for node, key in _leaves(entries[number]) if key not in ("kind", "pool")]
    if not places:
        return "nothing"
    node, key = rng.choice(places)
    before = node[key]
    what = rng.random()
    if what < 0.1:
        del node[key]
        return f"without {key!r} of object {number}"
    if what < 0.2 and isinstance(node, list):
        node.append(before)
        return f"{key!r} of object {number} twice"
    if what < 0.35 and type(before) is int:
        node[key] = before + rng.choice([-1, 1, 1000, 2**31])
    else:
        node[key] = copy.deepcopy(rng.choice(_VALUES))
    return f"{key!r} of object {number}: {before!r:.40} -> {node[key]!r:.40}"


def change_reference(rng: random.Random, parts: Parts) -> str:
    """Let a reference name another object, possibly of another kind."""
    entries = parts.document["objects"]
    places = [
        (number, node)
        for number, entry in enumerate(entries)
        for node, key in _leaves(entry)
        if key == "$ref" and number > 1
    ]
    if not places:
        return change_value(rng, parts)
    number, node = rng.choice(places)
    before = node["$ref"]
    node["$ref"] = rng.randrange(number)
    return f"object {number} refers to {node['$ref']} in place of {before}"


def change_class(rng: random.Random, parts: Parts) -> str:
    """Let an object be of another class."""
    named = [entry for entry in parts.document["objects"] if entry["kind"] == "instance"]
    if not named:
        return change_value(rng, parts)
    entry = rng.choice(named)
    before, entry["class"] = entry["class"], rng.choice(sorted(_CLASSES))
    return f"a {entry['class']} in place of a {before}"


def change_attribute(rng: random.Random, parts: Parts) -> str:
    """Give a fitted attribute or parameter to another one, or another value."""
    named = [entry for entry in parts.document["objects"] if entry["kind"] == "instance"]
    group = rng.choice(named)[rng.choice(["given", "fitted"])] if named else {}
    if not group:
        return change_value(rng, parts)
    first, second = rng.choice(sorted(group)), rng.choice(sorted(group))
    if rng.random() < 0.5:
        group[first] = group[second]
        return f"{second} in place of {first}"
    group[first] = copy.deepcopy(rng.choice(_VALUES))
    return f"{first} = {group[first]!r:.40}"


CHANGES: tuple[Callable[[random.Random, Parts], str], ...] = (
    *(change_array, change_array, change_array, change_array, swap_arrays),
    *(change_value, change_value, change_reference, change_class, change_attribute),
)


def change_field(rng: random.Random, parts: Parts) -> tuple[bytes, str]:
    """Return a file with one changed field, and what was changed."""
    changed = Parts(
        parts.original, parts.others, copy.deepcopy(parts.document), dict(parts.arrays)
    )
    change = rng.choice(CHANGES)
    told = change(rng, changed)
    return put_together(changed), f"{change.__name__}: {told}"
