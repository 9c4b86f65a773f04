"""Ways to damage a model file: accidents, and forgeries with valid checksums."""

from __future__ import annotations

import copy
import hashlib
import io
import json
import random
import struct
import zipfile
from collections.abc import Callable
from typing import Any

Members = dict[str, bytes]
Damage = Callable[[random.Random, bytes], bytes]

_MANIFEST, _MODEL, _WRAPPED = "manifest.json", "model.json", "wrapped.skops"


# ---- accidents -----------------------------------------------------------------------------


def flip_bits(rng: random.Random, data: bytes) -> bytes:
    """Flip one to eight bits."""
    damaged = bytearray(data)
    for _ in range(rng.randint(1, 8)):
        damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
    return bytes(damaged)


def overwrite(rng: random.Random, data: bytes) -> bytes:
    """Overwrite a piece with random bytes or zeros."""
    start, stop = _piece(rng, data)
    filler = rng.randbytes(stop - start) if rng.random() < 0.5 else bytes(stop - start)
    return data[:start] + filler + data[stop:]


def truncate(rng: random.Random, data: bytes) -> bytes:
    """Cut off the end."""
    return data[: rng.randrange(len(data))]


def cut_out(rng: random.Random, data: bytes) -> bytes:
    """Remove a piece."""
    start, stop = _piece(rng, data)
    return data[:start] + data[stop:]


def repeat(rng: random.Random, data: bytes) -> bytes:
    """Write a piece twice."""
    start, stop = _piece(rng, data)
    return data[:stop] + data[start:]


def swap_pieces(rng: random.Random, data: bytes) -> bytes:
    """Swap two parts of a piece."""
    start, stop = _piece(rng, data)
    middle = rng.randint(start, stop)
    return data[:start] + data[middle:stop] + data[start:middle] + data[stop:]


def append(rng: random.Random, data: bytes) -> bytes:
    """Append random bytes."""
    return data + rng.randbytes(rng.randint(1, 200))


def swap_members(rng: random.Random, data: bytes) -> bytes:
    """Swap the contents of two members without changing the manifest."""
    members = unpack(data)
    first, second = rng.sample(sorted(members), 2)
    members[first], members[second] = members[second], members[first]
    return pack(members, data)


def drop_member(rng: random.Random, data: bytes) -> bytes:
    """Remove a member."""
    members = unpack(data)
    del members[rng.choice(sorted(members))]
    return pack(members, data)


def rename_member(rng: random.Random, data: bytes) -> bytes:
    """Rename a member."""
    members = unpack(data)
    name = rng.choice(sorted(members))
    members[name[:-1] if rng.random() < 0.5 else f"../{name}"] = members.pop(name)
    return pack(members, data)


def _piece(rng: random.Random, data: bytes) -> tuple[int, int]:
    start = rng.randrange(len(data))
    return start, min(len(data), start + rng.randint(1, 400))


# ---- forgeries -----------------------------------------------------------------------------

_LENGTHS = (0, 1, 2**31 - 1, 2**31, 2**40, 2**62, 2**63, 10**17)
_DESCRIPTIONS = (
    *(b"|O", b"<U999999999", b"<M8[s]", b"[('a', '<f8')]", b">f8", b"<c16"),
    *(b"<f16", b"|V8", b"<i8", b"<U0", b"|b1", b"<f2"),
)
_JSON_VALUES = (
    *(None, True, -1, 0, 1, 2**31, 2**63, 10**30, 1e308, float("nan"), "", "x", "__class__"),
    *([], {}, [[]], {"$ref": 0}, {"$ref": -1}, {"$ref": 10**9}, {"$ref": True}),
    *({"$dict": [[[], 1]]}, {"$tuple": 3}, {"$float": "x"}, {"kind": "tree"}, {"$eval": "1+1"}),
    *([-1], [2**62], [2**40, 2**40], "posix.system", "object array", "sparse", "wrapped"),
)


def forge_shape(rng: random.Random, data: bytes) -> bytes:
    """Declare a different shape of an array."""
    members, name = _with_array(rng, data)
    shape = ", ".join(str(rng.choice(_LENGTHS)) for _ in range(rng.randint(1, 3)))
    return forge(_with_header(members, name, "shape", f"({shape},)".encode()), data)


def forge_type(rng: random.Random, data: bytes) -> bytes:
    """Declare a different data type of an array."""
    members, name = _with_array(rng, data)
    described = b"'" + rng.choice(_DESCRIPTIONS) + b"'"
    return forge(_with_header(members, name, "descr", described), data)


def forge_header(rng: random.Random, data: bytes) -> bytes:
    """Write a Python expression or deep nesting to the header of an array."""
    members, name = _with_array(rng, data)
    text = rng.choice([b"__import__('os').abort()", b"(" * 9000, b"{" * 300, b"1" * 9000])
    header = text.ljust(118) + b"\n"
    members[name] = members[name][:8] + struct.pack("<H", len(header)) + header
    return forge(members, data)


def forge_numbers(rng: random.Random, data: bytes) -> bytes:
    """Change some bytes of an array."""
    members, name = _with_array(rng, data)
    array = bytearray(members[name])
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(128, len(array)) if len(array) > 128 else len(array) - 1
        array[at] = rng.choice([0, 1, 127, 128, 255, rng.randrange(256)])
    members[name] = bytes(array)
    return forge(members, data)


def forge_json(rng: random.Random, data: bytes) -> bytes:
    """Replace, remove or add a random value in the table of objects."""
    members = unpack(data)
    document = json.loads(members[_MODEL])
    for _ in range(rng.randint(1, 2)):
        whole = rng.random() < 0.05 or not isinstance(document.get("objects"), list)
        _change(rng, document if whole else document["objects"])
    members[_MODEL] = json.dumps(document).encode()
    return forge(members, data)


def forge_wrapped(rng: random.Random, data: bytes) -> bytes:
    """Damage the member written by skops, if there is one: its bytes, arrays or schema."""
    members = unpack(data)
    if _WRAPPED not in members:
        return forge_json(rng, data)
    inner = unpack(members[_WRAPPED])
    name = rng.choice(sorted(inner))
    if rng.random() < 0.3:
        members[_WRAPPED] = flip_bits(rng, members[_WRAPPED])
        return forge(members, data)
    if name.endswith(".npy"):
        shape = f"({rng.choice(_LENGTHS)}, {rng.choice(_LENGTHS)})".encode()
        inner = _with_header(inner, name, "shape", shape)
    else:
        schema = json.loads(inner["schema.json"])
        _change(rng, schema)
        inner["schema.json"] = json.dumps(schema).encode()
    members[_WRAPPED] = pack(inner, members[_WRAPPED])
    return forge(members, data)


def forge_depth(rng: random.Random, data: bytes) -> bytes:
    """Nest JSON more deeply than a parser's stack allows."""
    members = unpack(data)
    depth = rng.choice([900, 5_000, 200_000])
    members[_MODEL] = rng.choice([b"[" * depth + b"]" * depth, b'{"a":' * depth])
    return forge(members, data)


def forge_version(rng: random.Random, data: bytes) -> bytes:
    """Change the version, the format or another field of the manifest."""
    members = unpack(data)
    manifest = json.loads(members[_MANIFEST])
    key = rng.choice(["version", "format", "members", "ramify"])
    manifest[key] = rng.choice([0, -1, 2, 10**9, "1", None, [], 1.5, True])
    members[_MANIFEST] = json.dumps(manifest).encode()
    return pack(members, data, hashlib.sha256(members[_MANIFEST]).hexdigest().encode())


def forge_sizes(rng: random.Random, data: bytes) -> bytes:
    """Change sizes or offsets in the central directory of the archive."""
    damaged = bytearray(data)
    entries = [at for at in range(len(data)) if data.startswith(b"PK\x01\x02", at)]
    # Positions of compressed size, size and offset in an entry of the central directory.
    at = rng.choice(entries) + rng.choice([20, 24, 42])
    damaged[at : at + 4] = struct.pack("<I", rng.choice([0, 1, 2**20, 2**31, 2**32 - 2]))
    return bytes(damaged)


def bomb(rng: random.Random, data: bytes) -> bytes:
    """Append many equal bytes, which compress to almost nothing, to a member."""
    members = unpack(data)
    name = rng.choice(sorted(members))
    filler = b" " if name.endswith(".json") else b"\0"
    members[name] += filler * rng.choice([1 << 20, 40 << 20, 300 << 20])
    return forge(members, data)


def _with_array(rng: random.Random, data: bytes) -> tuple[Members, str]:
    members = unpack(data)
    return members, rng.choice(sorted(name for name in members if name.endswith(".npy")))


def _with_header(members: Members, name: str, key: str, value: bytes) -> Members:
    array = members[name]
    start = 10 + int.from_bytes(array[8:10], "little")
    fields = eval(array[10:start])  # the file is trusted: the tests wrote it
    told = {name: repr(field).encode() for name, field in fields.items()} | {key: value}
    header = b"{%b, }" % b", ".join(b"'%b': %b" % (k.encode(), told[k]) for k in fields)
    header = header.ljust(117) + b"\n"
    members[name] = array[:8] + struct.pack("<H", len(header)) + header + array[start:]
    return members


def _change(rng: random.Random, document: Any) -> None:
    """Change a random value of a JSON document."""
    node = document
    while True:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        if not keys:
            return
        key = rng.choice(keys)
        below = node[key]
        if isinstance(below, dict | list) and below and rng.random() < 0.85:
            node = below
            continue
        if rng.random() < 0.15:
            del node[key]
        elif isinstance(node, dict) and rng.random() < 0.15:
            node[rng.choice(["x", "__class__", "predict", "tree_", "$ref"])] = below
        else:
            node[key] = copy.deepcopy(rng.choice(_JSON_VALUES))
        return


# ---- archives ------------------------------------------------------------------------------


def unpack(data: bytes) -> Members:
    """Return the members of a valid model file."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def pack(members: Members, original: bytes, comment: bytes | None = None) -> bytes:
    """Write members to an archive, with the comment of the original by default."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        with zipfile.ZipFile(io.BytesIO(original)) as before:
            archive.comment = before.comment if comment is None else comment
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def forge(members: Members, original: bytes) -> bytes:
    """Write changed members to an archive with valid checksums."""
    manifest = json.loads(members[_MANIFEST].strip())
    for name in manifest["members"]:
        digest = hashlib.sha256(members[name]).hexdigest()
        manifest["members"][name] = {"size": len(members[name]), "sha256": digest}
    text = json.dumps(manifest).encode()
    text += members[_MANIFEST][len(members[_MANIFEST].rstrip()) :]
    return pack({**members, _MANIFEST: text}, original, hashlib.sha256(text).hexdigest().encode())


ACCIDENTS: tuple[Damage, ...] = (
    *(flip_bits, overwrite, truncate, cut_out, repeat, swap_pieces, append),
    *(swap_members, drop_member, rename_member),
)
FORGERIES: tuple[Damage, ...] = (
    *(forge_shape, forge_type, forge_header, forge_numbers, forge_json, forge_wrapped),
    *(forge_depth, forge_version, forge_sizes),
)
