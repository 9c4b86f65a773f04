"""
Which feature for which label?
==============================

The importance of a feature differs from label to label: the cover of an animal distinguishes birds
from other animals, and its mass distinguishes birds from each other.
"""

import matplotlib.pyplot as plt
import numpy as np

from ramify import PCTForestClassifier, load_animals
from ramify.inspection import importances

animals = load_animals()
forest = PCTForestClassifier(animals.hierarchy, random_state=0).fit(animals.X, animals.y)
found = importances(forest)

labels = [
    "habitat/land", "habitat/sea", "habitat/freshwater",
    "taxonomy/bird", "taxonomy/mammal", "taxonomy/fish", "taxonomy/insect", "taxonomy/reptile",
]  # fmt: skip
table = np.array([found.for_label(label) for label in labels])
names = found.features.names
order = np.argsort(-table.sum(axis=0))

fig, ax = plt.subplots(figsize=(9, 4.4), layout="constrained")
image = ax.imshow(table[:, order], cmap="GnBu", aspect="auto", vmin=0)
for (i, j), value in np.ndenumerate(table[:, order]):
    if value >= 0.05:
        dark = value > 0.6 * table.max()
        ax.text(
            j,
            i,
            f"{value:.2f}",
            ha="center",
            va="center",
            fontsize=8,
            color="white" if dark else "black",
        )
ax.set_xticks(range(len(order)), [names[k] for k in order], rotation=35, ha="right")
ax.set_yticks(range(len(labels)), labels)
fig.colorbar(image, label="share of the label's variance")
ax.set_title("Importance of traits for labels")
