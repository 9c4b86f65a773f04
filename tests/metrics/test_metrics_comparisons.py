"""Plots that compare models: what is drawn where."""

import numpy as np
import pytest

from ramify import AdaBoostMHClassifier, Hierarchy
from ramify.metrics import (
    hierarchical_hamming_loss,
    plot_level_accuracy,
    plot_prediction,
    plot_staged_loss,
)

TREE = Hierarchy.from_paths(["a/b", "a/c", "d/e", "d/f"])


@pytest.fixture
def plt():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")


def test_losses_against_rounds(plt):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.where(X[:, 0] + X[:, 1] > 0, "a/b", np.where(X[:, 2] > 0, "d/e", "a/c"))
    model = AdaBoostMHClassifier(TREE, n_estimators=7).fit(X, y)
    ax = plot_staged_loss({"all": model}, X, y)
    every = plot_staged_loss({"some": model}, X, y, every=3)
    rounds, losses = ax.lines[0].get_data()
    assert rounds.tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert every.lines[0].get_xdata().tolist() == [1, 3, 6, 7]
    truth, predicted = TREE.encode([[one] for one in y]), model.predict(X)
    last = hierarchical_hamming_loss(truth, TREE.encode([[p] for p in predicted]), hierarchy=TREE)
    assert losses[-1] == pytest.approx(last)
    assert ax.get_ylabel() == "hierarchical hamming loss"
    with pytest.raises(ValueError, match="every must be an integer >= 1, got 0"):
        plot_staged_loss({"all": model}, X, y, every=0)


def test_accuracy_by_level(plt):
    truth = [["a/b"], ["d/e"]]
    ax = plot_level_accuracy(truth, {"x": truth, "y": [["a/c"], ["d/e"]]}, hierarchy=TREE)
    heights = [[bar.get_height() for bar in group] for group in ax.containers]
    assert heights == [[1.0, 1.0], [1.0, 0.5]]


def test_a_prediction_on_the_hierarchy(plt):
    ax = plot_prediction([["a/b"]], [["a/c"]], hierarchy=TREE)
    assert {text.get_text() for text in ax.texts} >= {"a", "b", "c"}
    ax.figure.canvas.draw()
    label, corner = next(t for t in ax.texts if t.get_text() == "b"), ax.get_window_extent()
    assert corner.x0 <= label.get_window_extent().x0 <= corner.x1
    with pytest.raises(ValueError, match="y_true and y_pred must have one row each, got 2"):
        plot_prediction([["a"], ["d"]], [["a"]], hierarchy=TREE)
