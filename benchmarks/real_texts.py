"""Convert public collections of texts with categories to tables for ``text_categories --texts``.

``python -m benchmarks.real_texts OUT FOLDER ...`` reads clones of the repositories in
``COLLECTIONS``, told by the files in them, and writes ``OUT/<name>.csv`` with the columns "text"
and "label", a path. Nothing is downloaded, and no collection is part of ramify.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

Rows = Iterator[tuple[str, str]]
"""Texts and paths."""


@dataclass(frozen=True)
class Collection:
    """A collection: where it is from, on which terms, and how it is read."""

    name: str
    repository: str  # at github.com
    licence: str
    found_by: str  # a file of the repository
    read: Callable[[Path], Rows]


def read_clinc(folder: Path) -> Rows:
    """Read CLINC150: requests to an assistant, with intents in ten domains."""
    domains = json.loads((folder / "data/domains.json").read_text())
    domain = {intent: name for name, intents in domains.items() for intent in intents}
    parts = json.loads((folder / "data/data_full.json").read_text())
    for part in ("train", "val", "test"):
        for text, intent in parts[part]:
            yield text, f"{domain[intent]}/{intent}"


def read_home(folder: Path) -> Rows:
    """Read the rows of HWU64: requests to a home assistant, with intents in scenarios."""
    for path in sorted(folder.glob("CrossValidation/*/*/CrossValidation/KFold_*/testset/csv/*")):
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file, delimiter=";"):
                yield row["answer_from_anno"], f"{row['scenario']}/{row['intent']}"


def read_questions(folder: Path) -> Rows:
    """Read the questions of TREC, with kinds of answers of two levels."""
    text = (folder / "data/train_5500.label").read_text(encoding="latin-1")
    for line in text.splitlines():
        kind, _, question = line.partition(" ")
        yield question, kind.replace(":", "/")


def read_banking(folder: Path) -> Rows:
    """Read Banking77: questions to a bank, with intents of one level."""
    for part in ("train", "test"):
        table = pd.read_csv(folder / f"banking_data/{part}.csv", dtype=str)
        yield from zip(table["text"], table["category"], strict=True)


def read_newsgroups(folder: Path) -> Rows:
    """Read 20 Newsgroups without headers, with the parts of the names as levels."""
    for path in sorted(folder.glob("data/20ng/20news-bydate-*/*/*")):
        body = path.read_text(encoding="latin-1").partition("\n\n")[2]
        if body.strip():
            yield body, path.parent.name.replace(".", "/")


def read_industries(folder: Path) -> Rows:
    """Read the index of the classification of industries NAICS: activities with codes.

    The levels are 2, 3, 4 and 6 digits: the fifth digit hardly divides.
    """
    table = pd.read_csv(folder / "2022_NAICS_Index_File.csv", dtype=str).dropna()
    for code, text in table.itertuples(index=False):
        if re.fullmatch(r"\d{6}", code.strip()):
            yield text, "/".join(code.strip()[:n] for n in (2, 3, 4, 6))


COLLECTIONS = (
    Collection("clinc150", "clinc/oos-eval", "CC BY 3.0", "data/domains.json", read_clinc),
    Collection("hwu64", "xliuhw/NLU-Evaluation-Data", "CC BY 4.0", "CrossValidation", read_home),
    Collection(
        "trec",
        "architrathore/QueClassifier",
        "none stated by the authors (Li and Roth, 2002)",
        "data/train_5500.label",
        read_questions,
    ),
    Collection(
        "banking77", "PolyAI-LDN/task-specific-datasets", "CC BY 4.0", "banking_data", read_banking
    ),
    Collection(
        "newsgroups",
        "yao8839836/text_gcn",
        "none stated (public messages of 1993)",
        "data/20ng/20news-bydate-train",
        read_newsgroups,
    ),
    Collection(
        "naics",
        "lauradls/C1DataEngineering",
        "public domain (US Census Bureau)",
        "2022_NAICS_Index_File.csv",
        read_industries,
    ),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Convert all collections that are found."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.real_texts")
    parser.add_argument("out", type=Path, help="folder for the tables")
    parser.add_argument("folders", type=Path, nargs="+", help="clones of the repositories")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    for one in COLLECTIONS:
        folder = next((path for path in options.folders if (path / one.found_by).exists()), None)
        if folder is None:
            print(f"{one.name}: no clone of github.com/{one.repository} among the folders")
            continue
        table = pd.DataFrame(one.read(folder), columns=["text", "label"]).drop_duplicates()
        table = table.drop_duplicates("text", keep=False)  # texts with several categories
        table.to_csv(options.out / f"{one.name}.csv", index=False)
        print(
            f"{one.name}: {len(table):,} texts, {table['label'].nunique():,} categories; "
            f"github.com/{one.repository}; licence: {one.licence}"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
