"""
Which labels are related: BR-DT
===============================

:class:`~ramify.BRDTClassifier` first learns to predict each label from the other labels. Labels
that help to predict each other are related. One readable tree is then kept for each group of
them.
"""

import matplotlib.pyplot as plt

from ramify import BRDTClassifier, load_animals
from ramify.inspection import export_text, plot_label_graph

animals = load_animals()
habitats = [
    [label for label in labels if label.startswith("habitat") and label.count("/") == 2]
    for labels in animals.hierarchy.decode(animals.y)
]
habitats = [[label.split("/")[2] for label in labels] for labels in habitats]

model = BRDTClassifier(random_state=0).fit(animals.X, habitats)

fig, ax = plt.subplots(figsize=(8, 5.5), layout="constrained")
plot_label_graph(model, ax=ax)
ax.set_title("Habitats that predict each other")

# %%
# The first tests of the tree of the first group:

print(export_text(model, max_depth=2, max_trees=1, max_labels=4))
