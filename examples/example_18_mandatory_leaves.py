"""
Answers that end in leaves
==========================

By default, paths may end above the leaves. Mandatory leaf prediction looks for the best set of
whole paths: the most probable one (MAS), or the one with the smallest expected loss (MASR).
Green labels are correct, blue ones are missed, and red ones are wrong.
"""

import matplotlib.pyplot as plt

from ramify import MandatoryLeafClassifier, PCTForestClassifier, load_animals
from ramify.metrics import hierarchical_f1, plot_prediction

animals = load_animals()
labels = [label for label in animals.hierarchy.labels if label.startswith("habitat/")]
habitats = animals.hierarchy.subset(labels)
y = animals.y[:, [animals.hierarchy.index(label) for label in habitats.labels]]
X, X_test, y, y_test = animals.X[::2], animals.X[1::2], y[::2], y[1::2]

forest = PCTForestClassifier(habitats, random_state=0).fit(X, y)
models = {
    "default": forest,
    "MAS": MandatoryLeafClassifier(forest, objective="map").fit(X, y),
    "MASR": MandatoryLeafClassifier(forest, objective="risk", alpha=2.0).fit(X, y),
}

row = X_test.index.get_loc("european tree frog")
fig, axes = plt.subplots(3, 1, figsize=(10, 9), layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    predicted = model.predict(X_test)
    score = hierarchical_f1(y_test, predicted, hierarchy=habitats)
    plot_prediction(y_test[[row]], predicted[[row]], hierarchy=habitats, ax=ax)
    ax.set_title(f"{name}: habitats of a tree frog; F1 of all animals {score:.2f}", pad=24)
