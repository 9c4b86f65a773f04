"""
Species from traits
===================

One tree predicts the taxonomy and the habitats of animals from 13 traits. The traits are numbers
and words, and some of them are missing. The data need no preparation.
"""

from ramify import PCTClassifier, load_animals
from ramify.inspection import plot_tree

animals = load_animals()
tree = PCTClassifier(animals.hierarchy, max_depth=3, min_samples_leaf=8)
tree.fit(animals.X, animals.y)

# %%
# Every leaf shows the labels that are frequent in it, or much more or less frequent than among
# all animals. The width of a branch is its share of the animals.

ax = plot_tree(tree, max_labels=5)
