"""
Where is the model good?
========================

A single number hides the fact that some branches of a hierarchy are easy and others are not. Here,
every label is a box below its parent, as wide as its share of the rows, and coloured by the area
under its own precision-recall curve on held-out rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LinearSegmentedColormap

from ramify import PCTForestClassifier, load_animals
from ramify.metrics import precision_recall_curves
from ramify.model_selection import cross_val_predict

animals = load_animals()
hierarchy, y = animals.hierarchy, animals.y
forest = PCTForestClassifier(hierarchy, n_estimators=50, random_state=0)
scores = cross_val_predict(forest, animals.X, y, cv=3, method="predict_proba")

counts = np.asarray(y.sum(axis=0)).ravel()
areas = {}
for label in hierarchy.labels:
    if counts[hierarchy.index(label)] >= 3:
        column = [hierarchy.index(label)]
        areas[label] = precision_recall_curves(y[:, column], scores[:, column])[0].area

fig, ax = plt.subplots(figsize=(11, 5), layout="constrained")
colours = LinearSegmentedColormap.from_list("areas", ["#e9826f", "#f7e6a8", "#8fd0c0"])


def draw(label, left, width):
    """Draw a label between left and left + width, and its children below it."""
    level = label.count("/")
    ax.add_patch(
        plt.Rectangle(
            (left, -level), width, -0.95, facecolor=colours(areas[label]), edgecolor="white"
        )
    )
    name = label.split("/")[-1]
    if width > 0.012 * len(name):
        ax.text(left + width / 2, -level - 0.47, name, ha="center", va="center", fontsize=8)
    elif width > 0.012:
        ax.text(
            left + width / 2,
            -level - 0.47,
            name,
            ha="center",
            va="center",
            fontsize=7,
            rotation=90,
        )
    children = [child for child in hierarchy.children(label) if child in areas]
    shares = np.array([counts[hierarchy.index(child)] for child in children], dtype=float)
    if children:
        shares *= width / max(shares.sum(), counts[hierarchy.index(label)])
        for child, share, start in zip(children, shares, np.cumsum(shares) - shares, strict=True):
            draw(child, left + start, share)


draw("taxonomy", 0, 1)
draw("habitat", 1.02, 1)
ax.set(xlim=(0, 2.02), ylim=(-4, 0.05))
ax.axis("off")
fig.colorbar(plt.cm.ScalarMappable(cmap=colours), ax=ax, label="area under the curve of the label")
ax.set_title("Held-out AU(PRC) of every label with at least three animals")
