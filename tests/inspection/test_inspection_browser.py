"""The explorer page in a browser."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from ramify import (
    PCTClassifier,
    PCTForestClassifier,
    RAkEL,
    SelectiveClassifier,
    make_hierarchical_classification,
)
from ramify.inspection import explore, summarise
from tests.support.browser import browser, show  # noqa: F401  (fixtures)
from tests.support.inspection_cases import animal_pages, animal_tree, animals, related_labels

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    return animal_pages(tmp_path_factory.mktemp("pages"))


def test_nodes_expand_collapse_and_show_their_labels(pages, show):  # noqa: F811
    page = show(pages["tree"])
    shown = page.locator("#tree .node").count()
    page.click("text=Collapse")
    assert page.locator("#tree .node").count() == 1
    page.click("text=Expand all")
    assert page.evaluate("app.view.order.length") == len(animal_tree().tree_.feature)
    assert shown <= len(animal_tree().tree_.feature)
    page.evaluate("app.view.choose(0)")
    page.keyboard.press("Home")
    page.evaluate("app.view.focus()")
    page.keyboard.press("ArrowRight")
    assert "Path to this node" in page.inner_text("#pane-node")
    child = int(animal_tree().tree_.child[0])
    value = page.evaluate(f"Array.from(app.tree.values({child}))")
    expected = summarise(animal_tree()).trees[0].value(child)
    np.testing.assert_allclose(value, expected, atol=1e-3)
    assert page.inner_text("#live").startswith(f"Node {child}:")
    page.evaluate("app.view.fit()")
    page.keyboard.press("Enter")
    assert page.evaluate(f"app.view.open.has({child})") is False


def test_a_label_is_found_and_colours_the_tree(pages, show):  # noqa: F811
    page = show(pages["tree"])
    page.click("#tab-label")
    page.fill("input[type=search]", "bird")
    assert page.inner_text("#pane-label [role=status]") == "1 found"
    page.keyboard.press("Enter")
    assert page.inner_text("#label-details h2") == "taxonomy/bird"
    assert "Precision-recall curve" in page.inner_text("#label-details")
    assert page.locator("#label-details svg polyline").count() == 1
    assert "Colour: taxonomy/bird" in page.inner_text("#colour")
    page.locator("#label-details .link", has_text="leaf").first.click()
    leaf = page.evaluate("app.view.chosen")
    assert page.evaluate("app.tree.isLeaf(app.view.chosen)")
    tree = summarise(animal_tree()).trees[0]
    bird = animals().hierarchy.index("taxonomy/bird")
    leaves = [node.number for node in tree.leaves]
    assert tree.value(leaf)[bird] == max(tree.value(node)[bird] for node in leaves)
    page.click("#colour .link")
    assert "node purity" in page.inner_text("#colour")


def test_path_of_a_row_through_the_tree(pages, show):  # noqa: F811
    page = show(pages["tree"])
    model, X = animal_tree(), animals().X
    page.click("#tab-example")
    page.fill("input[list]", "platypus")
    page.keyboard.press("Tab")
    row = X.index.get_loc("platypus")
    expected = model.predict_proba(X.iloc[[row]])[0]
    values = list(page.evaluate("Array.from(app.panes.example.outline.values)"))
    np.testing.assert_allclose(values, expected, atol=1e-3)
    assert page.locator("#tree .node.passed").count() > 0
    assert page.locator("#pane-example .true", has_text="✓").count() > 0
    changed = X.iloc[[row]].copy()
    changed["moves"] = "flies"
    page.locator("#pane-example select").first.select_option(label="flies")
    values = list(page.evaluate("Array.from(app.panes.example.outline.values)"))
    np.testing.assert_allclose(values, model.predict_proba(changed)[0], atol=1e-3)


def test_every_animal_reaches_its_leaf(pages, show):  # noqa: F811
    """The page predicts the same as the engine, including rows with missing values."""
    page = show(pages["tree"])
    found = page.evaluate(
        "app.model.rows.X.map((row) => { const out = new Float64Array(app.model.labels.length);"
        "for (const [node, part] of app.tree.drop(row))"
        " if (app.tree.isLeaf(node)) app.tree.addValues(node, part, out);"
        "return Array.from(out); })"
    )
    np.testing.assert_allclose(found, animal_tree().predict_proba(animals().X), atol=1e-3)


def test_forest_one_tree_at_a_time_with_importances(pages, show):  # noqa: F811
    page = show(pages["forest"])
    page.select_option("#tree-select", "1")
    assert page.evaluate("app.tree.name") == "tree 2"
    page.click("#tab-feature")
    assert "mean of 10 trees" in page.inner_text("#pane-feature")
    page.click("#tab-example")
    page.fill("input[list]", "lion")
    page.keyboard.press("Tab")
    assert "by all 10 trees" in page.inner_text("#pane-example")


def test_the_answer_comes_first_and_leads_to_labels(pages, show):  # noqa: F811
    page = show(pages["tree"])
    answer, tree = page.locator("#answer").bounding_box(), page.locator("#map").bounding_box()
    assert answer["y"] + answer["height"] <= tree["y"] + 1
    words = page.inner_text("#answer")
    assert re.search(r"It finds \d+ % of the labels; \d+ % of the labels it predicts are", words)
    assert "level 4" in words
    assert re.search(r"\d+ labels with test rows are never predicted", words)
    page.locator("#answer button.link").first.click()
    label = page.inner_text("#label-details h2")
    assert label == page.locator("#answer button.link").first.inner_text()
    page.focus("#answer summary")
    page.keyboard.press("Enter")  # folds it
    assert page.locator("#map").bounding_box()["y"] < tree["y"]


def test_rows_have_names_and_dates(tmp_path, show):  # noqa: F811
    pandas = pytest.importorskip("pandas")
    days = pandas.date_range("2024-01-01", periods=20)
    X = pandas.DataFrame({"found": days, "size": np.arange(20.0) % 3})
    model = PCTClassifier().fit(X, ["a"] * 9 + ["b"] * 11)
    page = show(explore(model, X, path=tmp_path / "p.html", names=[f"P-{k}" for k in range(20)]))
    chips = page.locator("#pane-node .chips button")
    assert chips.count() == 9
    assert chips.last.inner_text() == "12 more"
    chips.last.click()
    assert chips.count() == 20
    page.locator("#pane-node .chips button", has_text="P-12").click()
    field = page.locator("#value-0")
    assert field.input_value() == "2024-01-13"
    assert "yes (found = 2024-01-13)" in page.inner_text("#pane-example")
    field.fill("2024-01-0")
    assert field.get_attribute("aria-invalid") == "true"
    field.fill("2024-01-02 08:30")
    assert "no (found = 2024-01-02 08:30)" in page.inner_text("#pane-example")


def test_nothing_is_clipped_on_a_phone(pages, show):  # noqa: F811
    page = show(pages["tree"], viewport={"width": 390, "height": 844})
    cards = page.locator("#tree .node").all()
    assert len(cards) > 5
    for card in cards:
        box = card.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
        for text in card.locator("text").all():
            inside = text.bounding_box()
            assert inside["x"] + inside["width"] <= box["x"] + box["width"] + 1
    assert page.locator("#tree .node text").nth(3).text_content().startswith(("yes: ", "no: "))
    for name in ("label", "example", "feature"):
        page.click(f"#tab-{name}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_dark_and_narrow(pages, show):  # noqa: F811
    page = show(pages["tree"], color_scheme="dark", viewport={"width": 400, "height": 800})
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    tree, panel = page.locator("#map").bounding_box(), page.locator("#panel").bounding_box()
    assert panel["y"] >= tree["y"] + tree["height"] - 1
    page.click("#theme")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(243, 246, 247)"


def test_keyboard_reaches_everything(pages, show):  # noqa: F811
    page = show(pages["tree"])
    reached = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.add(
            page.evaluate(
                "document.activeElement.id || document.activeElement.getAttribute('role')"
                " || document.activeElement.tagName"
            )
        )
    assert {"theme", "treeitem", "tab-node"} <= reached
    page.focus("#tab-node")
    page.keyboard.press("ArrowRight")
    assert page.get_attribute("#tab-label", "aria-selected") == "true"
    page.locator("#pane-label .line").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.inner_text("#label-details h2") == page.evaluate(
        "app.model.labels[app.panes.label.outline.shown[1]]"
    )


def test_page_of_brdt_shows_the_graph_of_related_labels(tmp_path, show):  # noqa: F811
    page = show(explore(related_labels(), path=tmp_path / "p.html"))
    page.click("#tab-related")
    assert page.locator("#pane-related h2").inner_text() == "3 labels in 1 group"
    page.locator(".related g", has_text="purrs").press("Enter")
    assert page.locator("#label-details h2").inner_text() == "purrs"


def test_pages_of_other_models_have_no_graph_of_related_labels(pages, show):  # noqa: F811
    assert not show(pages["tree"]).locator("#tab-related").is_visible()


def test_a_row_with_missing_values_is_shown_at_its_likeliest_leaf(tmp_path, show):  # noqa: F811
    """No branch may have a quarter of the row; the path to the leaf is expanded all the same."""
    rng = np.random.default_rng(0)
    X = rng.random((64, 6))
    y = [str(k) for k in (X > 0.5) @ (2 ** np.arange(6))]
    model = PCTClassifier().fit(X, y)
    X[0] = np.nan
    page = show(explore(model, X, path=tmp_path / "p.html"))
    page.click("#tab-example")
    page.click("#pane-example button[aria-label='Next row']")
    assert "leaves, mostly leaf" in page.inner_text("#pane-example")


def test_pages_of_label_sets_say_how_good_the_model_is(tmp_path, show):  # noqa: F811
    X = np.arange(30.0)[:, np.newaxis]
    y = [["a", "b"]] * 10 + [["b", "c"]] * 10 + [["c"]] * 10
    page = show(explore(RAkEL(group_size=2, random_state=0).fit(X, y), X, y, tmp_path / "p.html"))
    assert "It finds 100 % of the labels" in page.inner_text("#answer")
    names = page.locator("#answer tbody th").all_inner_texts()
    assert set(names) == {"level 1", "a", "b", "c"}


def test_the_slider_says_how_specific_answers_are(tmp_path, show):  # noqa: F811
    data = make_hierarchical_classification(
        600, 5, n_labels=12, labels_per_row=1, noise=0.9, random_state=0
    )
    forest = PCTForestClassifier(data.hierarchy, n_estimators=5, random_state=0)
    model = SelectiveClassifier(forest, random_state=0).fit(data.X[:400], data.y[:400])
    page = show(explore(model, data.X[400:], data.y[400:], tmp_path / "p.html"))
    assert "at most 5 % of the answers" in page.inner_text(".certainty label")
    page.click("#tab-example")
    page.fill("input[list]", "row 7")
    page.keyboard.press("Tab")
    decode = model.hierarchy_.decode
    for key, share in (("End", 0.5), ("Home", 0.001)):
        page.focus("#most-errors")
        page.keyboard.press(key)
        depths = model.answer_depths(data.X[400:], [share])[0]
        assert page.inner_text(".certainty tbody td >> nth=0").startswith(f"{100 * depths[0]:.0f}")
        (labels,) = decode(model.predict(data.X[407:408], max_error=share))
        expected = labels[0] if labels else "none is sure enough"
        assert page.inner_text("#row-answer strong") == expected


_HOSTILE = (
    "<img src=x onerror='window.hacked=1'>",
    "</script><script>window.hacked=1</script>",
    "\"' onmouseover=window.hacked=1 '\"",
    "{{title}} ${window.hacked=1} \\u003cb\\u003e",
    "__proto__",
    "\u202eabc\u2066",
)


def test_hostile_names_are_shown_as_text(tmp_path, show):  # noqa: F811
    rng = np.random.default_rng(0)
    X = pd.DataFrame({name: rng.normal(size=60) for name in _HOSTILE[:4]})
    X["constructor"] = pd.Categorical(rng.choice(_HOSTILE, 60))
    X.index = [f"{_HOSTILE[k % 6]} {k}" for k in range(60)]
    y = [[_HOSTILE[j] for j in range(6) if X.iloc[k, j % 4] > j / 4] for k in range(60)]
    model = PCTForestClassifier(n_estimators=2, max_depth=4, random_state=0).fit(X, y)
    path = tmp_path / "page.html"
    explore(model, X, y, path, title=_HOSTILE[0])
    page = show(path)
    page.click("text=Expand all")
    for k in range(6):
        page.click("#tab-label")
        page.fill("input[type=search]", _HOSTILE[k])
        page.keyboard.press("Enter")
        assert page.inner_text("#label-details h2") == _HOSTILE[k]
        page.click("#tab-example")
        page.fill("input[list]", X.index[k])
        page.keyboard.press("Tab")
        page.locator("#pane-example select").first.select_option(label=_HOSTILE[k])
    for tab in page.locator("[role=tab]:not([hidden])").all():
        tab.click()
    for node in page.locator("#tree .node").all()[:5]:
        node.hover()
    assert page.evaluate("window.hacked") is None
    assert page.locator("img[src=x]").count() == 0
