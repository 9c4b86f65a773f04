"""
Rules of a tree
===============

Each leaf of a tree is a rule. For a label, rules are ranked by the share of its rows that they
cover; the best have few conditions and are nearly always right.
"""

import matplotlib.pyplot as plt

from ramify import PCTClassifier, load_animals
from ramify.inspection import rules

animals = load_animals()
tree = PCTClassifier(animals.hierarchy, min_samples_leaf=5).fit(animals.X, animals.y)
found = rules(tree)

groups = ["bird", "mammal", "fish", "insect", "reptile"]
fig, ax = plt.subplots(figsize=(8, 4.6), layout="constrained")
for group in groups:
    ranked = found.for_label(f"taxonomy/{group}")[:6]
    coverage = [rule.score for rule in ranked]
    precision = [rule.precision for rule in ranked]
    ax.scatter(
        coverage, precision, s=[40 + 12 * rule.lift for rule in ranked], alpha=0.7, label=group
    )
ax.set(
    xlabel="share of the group that the rule covers",
    ylabel="share of its animals that are in the group",
)
ax.set_title("Rules for five groups of animals; larger dots: higher lift")
ax.legend()

# %%
# The best rule for each group:

for group in groups:
    best = found.for_label(f"taxonomy/{group}")[0]
    print(
        f"{group}: {best.rule.to_text()}\n    precision {best.precision:.2f}, lift {best.lift:.1f}"
    )
