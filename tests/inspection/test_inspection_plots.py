"""Pictures of trees: boxes that do not overlap, valid SVG and Graphviz, matplotlib."""

from __future__ import annotations

import subprocess
import xml.etree.ElementTree as ET
from itertools import combinations
from shutil import which

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify import BRDTClassifier, Hierarchy, PCTClassifier, PerEdgeClassifier
from ramify.inspection import (
    export_graphviz,
    export_svg,
    importances,
    plot_label_graph,
    plot_tree,
    summarise,
)
from ramify.inspection.drawing.layout import make_picture
from ramify.inspection.outline import LabelChoice
from ramify.metrics import plot_prediction
from tests.support.budget import budget
from tests.support.inspection_cases import TREE, animal_forest, animal_tree, problems

SVG = "{http://www.w3.org/2000/svg}"


def overlap(a, b):
    return (
        abs(a.x - b.x) < (a.width + b.width) / 2 - 1e-6
        and abs(a.y - b.y) < (a.height + b.height) / 2 - 1e-6
    )


@given(problems(), st.booleans(), st.sampled_from([None, 2]))
@budget(25)
def test_boxes_do_not_overlap(problem, sideways, max_depth):
    params, X, Y, _ = problem
    trees = summarise(PCTClassifier(**params).fit(X, Y)).trees
    picture = make_picture(trees, LabelChoice(), max_depth=max_depth, sideways=sideways)
    assert not any(overlap(a, b) for a, b in combinations(picture.boxes, 2))
    for box in picture.boxes:
        assert box.x - box.width / 2 >= 0
        assert box.x + box.width / 2 <= picture.width
        assert box.y - box.height / 2 >= 0
        assert box.y + box.height / 2 <= picture.height
    assert len(picture.edges) == len(picture.boxes) - 1


def test_several_trees_in_one_picture():
    trees = summarise(animal_forest()).trees
    picture = make_picture(trees[:4], LabelChoice(), max_depth=1, sideways=False)
    assert not any(overlap(a, b) for a, b in combinations(picture.boxes, 2))
    assert [title for title, _, _ in picture.titles] == [f"tree {k}" for k in range(1, 5)]


def test_svg_contains_all_nodes_and_their_conditions(tmp_path):
    model = animal_tree()
    text = export_svg(model, tmp_path / "tree.svg", max_depth=None)
    root = ET.fromstring(text)
    assert len(root.findall(f"{SVG}g")) == len(model.tree_.feature)
    hints = [title.text for title in root.iter(f"{SVG}title")]
    assert hints[0] == "node 0: all rows"
    assert any("birth in {live-birth, pouch} and diet is meat" in hint for hint in hints)
    assert (tmp_path / "tree.svg").read_text(encoding="utf-8") == text


def test_svg_escapes_names():
    model = PCTClassifier().fit([[1.0], [2.0]], ["<b>", "a&b"])
    root = ET.fromstring(export_svg(model, feature_names=["x < y"]))
    assert any("<b>" in (text.text or "") for text in root.iter(f"{SVG}text"))
    assert '\\"q\\"' in export_graphviz(model, feature_names=['"q"'])


def test_depth_limit_marks_cut_nodes():
    text = export_svg(animal_tree(), max_depth=1)
    assert text.count("tests below") == 2
    assert text.count('class="frame cut"') == 2


def test_missing_values_are_shown_where_they_matter():
    X = [[1.0], [2.0], [3.0], [4.0], [np.nan]]
    tree = PCTClassifier(max_depth=1).fit(X, ["a", "a", "b", "b", "b"])
    assert "1 missing: 50 % yes, 50 % no" in export_svg(tree)


def test_trees_of_few_labels_show_them_all():
    X = np.arange(12.0)[:, np.newaxis]
    y = [["a/x/p"]] * 2 + [["a/y"]] * 2 + [["b/z"]] * 8
    text = export_svg(PerEdgeClassifier(PCTClassifier(), hierarchy=TREE).fit(X, y))
    assert "no label from" not in text
    assert "a → a/x" in text


def test_chosen_labels_are_shown_in_every_leaf():
    model = animal_tree()
    text = export_svg(model, labels=["taxonomy/bird", "habitat/sea"], max_depth=None)
    assert text.count(">taxonomy/bird<") == model.get_n_leaves()
    with pytest.raises(ValueError, match="unknown label 'taxonomy/brid'"):
        export_svg(model, labels=["taxonomy/brid"])


def test_graphviz_reads_what_is_written(tmp_path):
    for name, model in {"tree": animal_tree(), "forest": animal_forest()}.items():
        text = export_graphviz(model, tmp_path / f"{name}.dot", max_trees=2)
        assert text.startswith("digraph ramify {\n")
        if which("dot"):
            subprocess.run(
                ["dot", "-Tsvg", tmp_path / f"{name}.dot", "-o", "/dev/null"], check=True
            )


def test_dollar_signs_are_drawn_as_they_are():
    X = pd.DataFrame({"$a_{$": [1.0, 2.0, 3.0, 4.0] * 5, "b": [0.0, 1.0] * 10})
    hierarchy = Hierarchy.from_paths(["$x^{$/y", "z"])
    tree = PCTClassifier(hierarchy, min_samples_leaf=1).fit(X, ["$x^{$/y", "z"] * 10)
    for ax in (
        plot_tree(tree),
        importances(tree).plot(labels=["z", "$x^{$"]),
        importances(tree).plot(),
        plot_prediction([["z"]], [["$x^{$/y"]], hierarchy=hierarchy),
    ):
        ax.figure.canvas.draw()


def test_matplotlib_draws_boxes_bars_and_texts():
    pytest.importorskip("matplotlib").use("Agg")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    ax = plot_tree(animal_tree(), max_depth=2)
    written = {text.get_text() for text in ax.texts}
    assert "birth in {live-birth," in written
    assert "yes" in written
    _, small = pyplot.subplots(figsize=(3, 2))
    assert plot_tree(animal_tree(), ax=small) is small
    assert max(text.get_fontsize() for text in small.texts) < 9
    plot_tree(
        PerEdgeClassifier(PCTClassifier(), hierarchy=TREE).fit([[0.0], [1.0]], [["a/y"], ["b/z"]]),
        max_trees=3,
    )
    pyplot.close("all")


def test_arguments_are_checked():
    with pytest.raises(ValueError, match=r"max_depth must be .*, got -1"):
        plot_tree(animal_tree(), max_depth=-1)
    with pytest.raises(ValueError, match=r"max_trees must be .*, got 0"):
        plot_tree(animal_forest(), max_trees=0)


def test_the_label_graph_shows_frequencies_and_accuracies():
    pytest.importorskip("matplotlib")
    pytest.importorskip("networkx")
    X = np.arange(12.0)[:, None]
    y = [["cat", "purrs"]] * 6 + [["dog"]] * 3 + [["dog", "old"]] * 3
    model = BRDTClassifier().fit(X, y)
    ax = plot_label_graph(model)
    texts = [text.get_text() for text in ax.texts]
    assert "dog\n50%" in texts
    assert "old\n25%" in texts
    assert len(texts) == len(model.classes_)
    graph = model.to_networkx()
    assert len(ax.lines) == graph.number_of_edges()
    # Each of "cat" and "dog" determines the other.
    assert graph.edges["cat", "dog"]["accuracy"] == 1.0
    assert graph.nodes["old"]["share"] == 0.25
    assert len(plot_label_graph(model, max_labels=2).texts) == 2
    with pytest.raises(TypeError, match="model must be a BRDTClassifier, got PCTClassifier"):
        plot_label_graph(animal_tree())
