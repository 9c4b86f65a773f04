"""Inspection of models of real data: large hierarchies, deep trees, many labels."""

from __future__ import annotations

import numpy as np
import pytest

from ramify import PCTClassifier, fetch
from ramify.inspection import explain, explore, export_text, rules, summarise
from tests.support.browser import browser, show  # noqa: F401  (fixtures)
from tests.support.clus_data import requires_data

pytestmark = requires_data


def grown(name):
    data = fetch(name)
    X, y = data.rows("train", "valid")
    return data, PCTClassifier(data.hierarchy, min_samples_leaf=2).fit(X, y)


@pytest.mark.process
@pytest.mark.parametrize("name", ["cellcycle_FUN", "cellcycle_GO"])
def test_page_of_many_labels_and_nodes(name, show, tmp_path):  # noqa: F811
    data, model = grown(name)
    path = explore(
        model,
        data.X_test,
        data.y_test,
        tmp_path / "page.html",
        feature_names=data.feature_names,
        max_rows=300,
    )
    assert path.stat().st_size < 8_000_000
    page = show(path)
    page.click("text=Expand all")
    assert page.evaluate("app.view.order.length") == len(model.tree_.feature) > 1000
    page.click("text=Collapse")
    page.click("#tab-label")
    label = str(data.hierarchy.labels[7])
    page.fill("input[type=search]", label)
    page.keyboard.press("Enter")
    assert page.inner_text("#label-details h2") == label
    # Only visible lines are in the document, regardless of the number of labels.
    page.evaluate("app.model.labels.forEach((_, l) => app.panes.label.outline.open.add(l))")
    page.fill("input[type=search]", "")
    assert page.evaluate("app.panes.label.outline.shown.length") == data.hierarchy.n_labels
    assert page.locator("#pane-label .line").count() < 60
    page.click("#tab-example")
    page.fill("input[list]", "row 0")
    page.keyboard.press("Tab")
    values = page.evaluate("Array.from(app.panes.example.outline.values)")
    np.testing.assert_allclose(values, model.predict_proba(data.X_test[:1])[0], atol=1e-3)


def test_rules_and_contributions_hold_with_many_missing_values():
    data, model = grown("cellcycle_FUN")
    rows = data.X_test[:40]
    expected = model.predict_proba(rows)
    np.testing.assert_allclose(rules(model).predict_proba(rows), expected, atol=1e-12)
    for i in range(3):
        found = explain(model, rows[i])
        total = found.baseline + found.contributions.sum(axis=0)
        np.testing.assert_allclose(total, expected[i], atol=1e-9)


def test_rivers_as_in_the_paper():
    """Fig. 8 (c) of Levatić et al. (2015): upper levels are certain where species are not."""
    data = fetch("slovenian_rivers")
    model = PCTClassifier(data.hierarchy, f_test=0.001, max_depth=2).fit(data.X, data.y)
    text = export_text(
        model,
        feature_names=data.feature_names,
        labels=["diptera", "diptera/diptera_chironomus"],
    )
    assert text.startswith("KMnO4 > 2.55?  1,060 rows\n├─ yes: BPK > 7.55?  542 rows\n")
    tree = summarise(model).trees[0]
    genus, species = data.hierarchy.indices(["diptera", "diptera/diptera_chironomus"])
    for leaf in tree.leaves:
        value = tree.value(leaf.number)
        assert value[genus] > 0.96
        assert value[species] < 0.52
