"""
A taxonomy that has changed
===========================

Zoologists now count whales among the even-toed ungulates and termites among the cockroaches, and
call the order of the salamanders Urodela. The two versions are compared, with the changes marked,
and a model of the old version predicts the new labels without training
(:doc:`/changing-taxonomies`).
"""

import matplotlib.pyplot as plt
import numpy as np

from ramify import Hierarchy, LabelMapping, PCTForestClassifier, load_animals

animals = load_animals()
old = animals.hierarchy
moved = {
    "taxonomy/mammal/cetacea/": "taxonomy/mammal/artiodactyla/",
    "taxonomy/amphibian/caudata": "taxonomy/amphibian/urodela",
    "habitat/land/farmland": "habitat/land/countryside",
    "habitat/freshwater/swamp": "habitat/wetland/swamp",
}
text = "\n".join(label for label in old.labels if label != "taxonomy/mammal/cetacea")
for before, after in moved.items():
    text = text.replace(before, after)
paths = text.split("\n")
paths += ["taxonomy/insect/blattodea/termitidae", "habitat/wetland/bog"]
paths += ["habitat/land/town/house", "habitat/land/town/park"]
new = Hierarchy.from_paths(paths)

comparison = old.compare(new, animals.y)
print(comparison.to_text())
fig, ax = plt.subplots(figsize=(10, 5), layout="constrained")
comparison.plot(ax=ax)

# The names tell nothing about farmland: a line is changed, as one would in the file.
lines = [x for x in LabelMapping.of(comparison).lines if x.old != "habitat/land/farmland"]
lines.append(("habitat/land/farmland", "habitat/land/countryside"))
mapping = LabelMapping(old, new, lines)
forest = PCTForestClassifier(old, n_estimators=50, random_state=0).fit(animals.X, animals.y)
model = forest.with_hierarchy(new, mapping)
statuses, counts = np.unique(model.label_status_, return_counts=True)
print(dict(zip(statuses.tolist(), counts.tolist(), strict=True)))
