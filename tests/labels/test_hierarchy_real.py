"""Hierarchies of real data sets against the statistics that come with them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from ramify import Hierarchy
from ramify.io import read_arff

DATA = os.environ.get("RAMIFY_DATA", "")
pytestmark = pytest.mark.skipif(not DATA, reason="RAMIFY_DATA names no folder of data sets")


@pytest.mark.parametrize(
    ("name", "split"),
    [("church_FUN", ".train"), ("pheno_GO", ".train"), ("exprindiv_ara_GO_subset", "")],
)
def test_statistics(name, split):
    folder = Path(DATA)
    stated = json.loads((folder / "MANIFEST.json").read_text())["datasets"][name]["labels"]
    hierarchy = read_arff(folder / name / f"{name}{split}.arff.gz").hierarchy
    assert hierarchy.n_labels == stated["nodes"]
    assert len(hierarchy.leaves) == stated["leaves"]
    assert hierarchy.depth == stated["depth"]
    assert [len(level) for level in hierarchy.levels] == stated["nodes_per_level"]
    several = sum(len(hierarchy.parents(label)) > 1 for label in hierarchy.labels)
    assert several == stated["nodes_with_several_parents"]
    assert hierarchy.is_tree == (stated["hierarchy"] == "tree")
    assert Hierarchy.from_json(hierarchy.to_json()) == hierarchy
    assert Hierarchy.from_text(hierarchy.to_text()) == hierarchy
