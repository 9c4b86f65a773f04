"""
The k best suggestions
======================

A person who files documents or specimens may prefer a short list of suggestions to one answer.
How long must the list be to contain the right label?
"""

import matplotlib.pyplot as plt

from ramify import (
    GlobalNaiveBayes,
    PCTClassifier,
    PCTForestClassifier,
    make_hierarchical_classification,
)
from ramify.decision import top_k_labels

data = make_hierarchical_classification(
    1200, 30, n_labels=90, depth=3, labels_per_row=1, noise=0.8, random_state=0
)
X, y, X_test, y_test = data.X[:800], data.y[:800], data.X[800:], data.y[800:]
models = {
    "forest": PCTForestClassifier(data.hierarchy, n_estimators=60, random_state=0),
    "naive Bayes": GlobalNaiveBayes(data.hierarchy),
    "tree": PCTClassifier(data.hierarchy, min_samples_leaf=5),
}
leaves = [data.hierarchy.index(leaf) for leaf in data.hierarchy.leaves]
truth = y_test.toarray()[:, leaves] > 0

fig, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
ks = range(1, 16)
for name, model in models.items():
    scores = model.fit(X, y).predict_proba(X_test)
    found = []
    for k in ks:
        suggested = top_k_labels(scores, data.hierarchy, k).toarray()[:, leaves] > 0
        found.append((suggested & truth).any(axis=1)[truth.any(axis=1)].mean())
    ax.plot(ks, found, "o-", label=name)
chance = [k / len(leaves) for k in ks]
ax.plot(ks, chance, ":", color="grey", label="chance")
ax.set(xlabel="suggestions", ylabel="lists with the true label", ylim=(0, 1))
ax.set_title(f"Suggestions out of {len(leaves)} leaves of the hierarchy")
ax.legend(loc="center right")
