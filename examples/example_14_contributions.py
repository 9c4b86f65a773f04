"""
Why this prediction?
====================

:func:`~ramify.inspection.explain` divides a prediction of a forest among the features: the
contributions and the share of the label among all rows add up to the probability.
"""

import matplotlib.pyplot as plt
import numpy as np

from ramify import PCTForestClassifier, load_animals
from ramify.inspection import explain

animals = load_animals()
forest = PCTForestClassifier(animals.hierarchy, random_state=0).fit(animals.X, animals.y)

labels = ["taxonomy/mammal", "taxonomy/mammal/carnivora", "taxonomy/mammal/carnivora/felidae"]
found = explain(forest, animals.X.loc[["lion"]])

fig, axes = plt.subplots(1, 3, figsize=(11, 4), sharex=True, layout="constrained")
for ax, label in zip(axes, labels, strict=True):
    column = animals.hierarchy.index(label)
    parts = found.for_label(label)
    largest = sorted(parts, key=lambda name: -abs(parts[name]))[:6]
    values = [found.baseline[column], *(parts[name] for name in largest)]
    names = ["all animals", *(f"{name} = {animals.X.loc['lion', name]}" for name in largest)]
    others = found.prediction[column] - sum(values)
    values, names = [*values, others], [*names, "other traits"]
    ends = np.cumsum(values)
    colours = ["grey"] + ["tab:blue" if value > 0 else "tab:red" for value in values[1:]]
    ax.barh(range(len(values)), values, left=ends - values, color=colours)
    ax.set_yticks(range(len(values)), names, fontsize=8)
    ax.invert_yaxis()
    ax.axvline(found.prediction[column], color="black", linestyle=":")
    ax.set_title(f"{label.split('/')[-1]}: {found.prediction[column]:.2f}")
    ax.set_xlabel("probability")
fig.suptitle("Why a lion is a mammal, a carnivore and a cat")
