"""Valid files of every format that ramify reads, and damage to them."""

from __future__ import annotations

import gzip
import io
import random
import zipfile
from importlib import import_module
from importlib.util import find_spec
from typing import Any

DOCUMENTS: dict[str, str] = {
    "dense.arff": """@relation 'pets, dense'
% comment
@attribute size numeric
@attribute colour {brown,white,'dark red'}
@attribute name string
@attribute class hierarchical bird,mammal/cat,mammal/dog
@data
3.5,brown,'a b',mammal/dog
?,'dark red',x,mammal/cat@bird,{2.5}
-1e10,white,?,n
""",
    "sparse.arff": """@RELATION sparse
@ATTRIBUTE a INTEGER
@ATTRIBUTE b {x,y}
@ATTRIBUTE c REAL
@ATTRIBUTE l1 {0,1}
@DATA
{0 3, 2 -1.5}
{1 y, 3 1}
{}
""",
    "dag.arff": """@relation dag
@attribute x numeric
@attribute class hierarchical root/a,root/b,a/c,b/c
@data
1,c
2,a@b
""",
    "dates.arff": """@relation dates
@attribute a numeric
@attribute day date 'dd.MM.yyyy'
@attribute at date
@attribute class hierarchical bird,mammal/cat
@data
1,02.01.1970,'1970-01-01T00:01:00',bird
2,?,?,mammal/cat
""",
    "german.csv": "sep=;\nsize;size;labels\n1.000,5;k.A.;a/b\n2,5;3;c\n;;\n",
    "reading.json": '{"target": ["x", "y"], "delimiter": ";", "index_base": 1, "missing": []}',
    "performance.json": '{"rows": 9, "folds": 3, "values": {"mean_auprc": 0.5}, '
    '"baseline": {"mean_auprc": null}, "label_rows": [7, 2], '
    '"counts": {"rows": [7, 2], "predicted": [8, 0], "right": [6, 0]}}',
    "table.csv": 'size,colour,labels\n3.5,brown,mammal/dog;bird\n0.2,"a,b",mammal/cat\n?,NA,\n',
    "edges.csv": "parent,child\nroot,a\na,b\nroot,c\nc,b\n",
    "outline.txt": "a\n  b\n    c\n  d\ne\n",
    "paths.txt": "a/b/c\na/d\n10\n9\n",
    "hierarchy.json": '{"format": "ramify.hierarchy", "version": 1, "separator": "/", "labels": '
    '["a", "b", "c"], "parents": [[], [0], [0, 1]], "aliases": [["x", "a"]]}',
    "terms.obo": """format-version: 1.2
ontology: pets

[Term]
id: P:1
name: pet
alt_id: P:9

[Term]
id: P:2
name: dog
is_a: P:1 ! pet
relationship: part_of P:1 ! pet

[Typedef]
id: part_of
name: part of
""",
    "labels.xml": """<?xml version="1.0" encoding="utf-8"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
<label name="l1"><label name="l2"/></label><label name="l3"/>
</labels>
""",
    "study.toml": """name = "first"
title = "A study"
[[datasets]]
name = "animals"
[protocol]
folds = 2
[[models]]
name = "forest"
model = "forest"
parameters = { n_estimators = 3 }
[[models]]
name = "shares"
model = "shares"
[measures]
auprc = { measure = "pooled_auprc" }
""",
    "settings.s": """% a tree
[Data]
File = data.arff
[Attributes]
Target = 3
Disable = 2 % a name
[Tree]
FTest = [0.001,
  0.01]
[Hierarchical]
Type = Tree
HSeparator = /
[Output]
WritePredictions = {Train,Test}
""",
}
"""The text of a valid file of every format, by file name."""

if find_spec("openpyxl"):
    DOCUMENTS["sheet.xml"] = """<?xml version="1.0" encoding="UTF-8"?>
<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">
<dimension ref="A1:B2"/><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>x</t></is></c>
<c r="B1" t="inlineStr"><is><t>labels</t></is></c></row>
<row r="2"><c r="A2"><v>1.5</v></c><c r="B2" t="str"><v>a/b</v></c></row>
<row r="3"><c r="A3" t="b"><v>1</v></c><c r="B3" t="e"><v>#N/A</v></c></row>
</sheetData></worksheet>
"""


def _binary_documents() -> dict[str, bytes]:
    """Return a table in every format that is not text, by file name."""
    pandas = import_module("pandas")
    columns = {"size": [1.5, 2.0, 3.0], "colour": ["u", "v", "u"], "labels": ["a/b", "c", ""]}
    frame, found = pandas.DataFrame(columns), {}
    writers = {"book.xlsx": ("openpyxl", "to_excel"), "rows.parquet": ("pyarrow", "to_parquet")}
    for name, (library, method) in writers.items():
        if find_spec(library):
            stream = io.BytesIO()
            getattr(frame, method)(stream, index=False)
            found[name] = stream.getvalue()
    return found


BINARIES: dict[str, bytes] = _binary_documents() if find_spec("pandas") else {}
"""The content of valid files that are not text, by file name."""

_TOKENS = [
    *["", "?", "0", "-1", "1e308", "-1e999", "nan", "inf", "9" * 400, "18446744073709551616"],
    *["''", '"', "'", ",", ";", "@", "@@", "/", "//", "{", "}", "{}", "{0 1", "[", "]", "<", ">"],
    *["&a;", "<!DOCTYPE a>", "\\", "\\u0000", "\t", "\n", "\r", "\r\n", "\x00", "\x1a", "\ufeff"],
    *[
        "\u2028",
        "é",
        "𝒳",
        " ",
        "  ",
        "%",
        "#",
        "!",
        ":",
        "=",
        "root",
        "@data",
        "@attribute",
        "true",
    ],
    *["@attribute x {a,a}", "null", "[]", "a/" * 150, "[" * 500, "id: P:1", "is_a: P:2"],
    *["[[models]]", 'model = "os.system"', "x = 1979-05-27"],
    *["[Tree]", "1-999999999", "3-1", "FTest = ", "File = /", "MaxDepth = 1e999", "= ="],
]
_BYTES = [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\x00", b"\xfe\xff", b"\x1f\x8b"]


def damaged(rng: random.Random, name: str) -> bytes:
    """Return a valid document with one to four changes, sometimes compressed."""
    if name in BINARIES:
        return _damaged_bytes(rng, BINARIES[name])
    text = DOCUMENTS[name]
    for _ in range(rng.choice([1, 1, 1, 2, 2, 3, 4])):
        text = rng.choice(_CHANGES)(rng, text)
    data = text.encode("utf-8", "surrogatepass")
    if rng.random() < 0.1:
        at = rng.randrange(len(data) + 1)
        data = data[:at] + rng.choice(_BYTES) + data[at:]
    if rng.random() < 0.1:
        data = gzip.compress(data)
        if rng.random() < 0.5:
            data = data[: rng.randrange(len(data))]
    return data


def _damaged_bytes(rng: random.Random, data: bytes) -> bytes:
    """Change some bytes, those of a member of an archive included, or cut the file."""
    if data.startswith(b"PK") and rng.random() < 0.5:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        hit = rng.choice(sorted(members))
        members[hit] = _damaged_bytes(rng, members[hit])
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            for name, member in members.items():
                archive.writestr(name, member)
        return stream.getvalue()
    changed = bytearray(data)
    for _ in range(rng.choice([1, 2, 5, 30])):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed[: rng.randrange(len(changed))] if rng.random() < 0.2 else changed)


def _insert(rng: random.Random, text: str) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(_TOKENS) + text[at:]


def _replace_word(rng: random.Random, text: str) -> str:
    begin, end = sorted(rng.randrange(len(text) + 1) for _ in range(2))
    end = min(end, begin + rng.choice([1, 2, 5, 10]))
    return text[:begin] + rng.choice(_TOKENS) + text[end:]


def _change_lines(rng: random.Random, text: str) -> str:
    lines = text.split("\n")
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    kind = rng.randrange(4)
    if kind == 0:
        del lines[at]
    elif kind == 1:
        lines.insert(other, lines[at])
    elif kind == 2:
        lines[at], lines[other] = lines[other], lines[at]
    else:
        lines = lines[:at]
    return "\n".join(lines)


def _repeat(rng: random.Random, text: str) -> str:
    begin, end = sorted(rng.randrange(len(text) + 1) for _ in range(2))
    return text[:begin] + text[begin:end] * rng.choice([2, 3, 50]) + text[end:]


def _cross(rng: random.Random, text: str) -> str:
    """Continue with the end of a document of any format."""
    other = rng.choice(list(DOCUMENTS.values()))
    return text[: rng.randrange(len(text) + 1)] + other[rng.randrange(len(other)) :]


_CHANGES: list[Any] = [
    _insert,
    _insert,
    _replace_word,
    _replace_word,
    _change_lines,
    _repeat,
    _cross,
]
