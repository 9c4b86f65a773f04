"""
Distances between label sets
============================

What makes two animals similar? Trees can be grown with different distances between label sets
(:doc:`/distances-and-pruning`). The Hamming distance counts labels that only one of the two has;
the Jaccard distance divides by the number of labels in either, so that small sets count as much as
large ones.
"""

import matplotlib.pyplot as plt
import numpy as np

from ramify import PCTClassifier, load_animals
from ramify.metrics import example_f1, jaccard_accuracy, subset_accuracy

animals = load_animals()
names = ["lion", "tiger", "grey wolf", "blue whale", "great tit", "mute swan", "great white shark"]
Y = animals.y.toarray()[[animals.names.index(name) for name in names]].astype(int)
both = Y @ Y.T
either = Y.sum(axis=1)[:, None] + Y.sum(axis=1) - both
distances = {"Hamming": either - both, "Jaccard": 1 - both / either}

fig, axes = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
for ax, (name, matrix) in zip(axes, distances.items(), strict=True):
    ax.imshow(matrix, cmap="GnBu_r")
    for (i, j), value in np.ndenumerate(matrix):
        colour = "black" if value > matrix.max() * 0.3 else "white"
        ax.text(j, i, f"{value:.2g}", ha="center", va="center", color=colour, fontsize=9)
    ax.set_xticks(range(len(names)), names, rotation=40, ha="right")
    ax.set_yticks(range(len(names)), names if name == "Hamming" else [""] * len(names))
    ax.set_title(f"{name} distance")

# %%
# Trees grown with each distance, with the label set of the medoid in every leaf, evaluated on the
# other half of the animals:

measures = {
    "Jaccard": jaccard_accuracy,
    "F1": example_f1,
    "whole set right": subset_accuracy,
}
criteria = ["variance", "hamming", "jaccard", "matching"]
fig, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
for k, criterion in enumerate(criteria):
    tree = PCTClassifier(
        animals.hierarchy, criterion=criterion, prototype="medoid", min_samples_leaf=3
    )
    labels = tree.fit(animals.X[::2], animals.y[::2]).predict(animals.X[1::2])
    values = [measure(animals.y[1::2], labels) for measure in measures.values()]
    ax.bar(np.arange(3) + 0.2 * k - 0.3, values, 0.18, label=criterion)
ax.set_xticks(range(3), measures)
ax.set(ylim=(0, 1), title="Trees by criterion")
ax.legend(ncols=4, loc="upper right", fontsize=9)
