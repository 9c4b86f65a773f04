"""
Thresholds against measures
===========================

No threshold is best for everything. The curves show measures on new rows at every threshold; the
lines show the thresholds that :class:`~ramify.TunedThresholdClassifierCV` chooses by
cross-validation for F1 and for a precision of at least 0.9.
"""

import matplotlib.pyplot as plt
import numpy as np

from ramify import (
    PCTForestClassifier,
    TunedThresholdClassifierCV,
    make_hierarchical_classification,
)
from ramify.metrics import macro_f1, micro_precision_recall_f1

data = make_hierarchical_classification(900, 30, n_labels=40, noise=0.8, random_state=0)
X, y, X_test, y_test = data.X[:600], data.y[:600], data.X[600:], data.y[600:]
forest = PCTForestClassifier(data.hierarchy, n_estimators=50, random_state=0).fit(X, y)
scores = forest.predict_proba(X_test)

grid = np.linspace(0.02, 0.9, 45)
curves = np.array([micro_precision_recall_f1(y_test, (scores >= t).astype(int)) for t in grid])
macro = [macro_f1(y_test, (scores >= t).astype(int)) for t in grid]

fig, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
for values, name in zip(curves.T, ("precision", "recall", "micro-F1"), strict=True):
    ax.plot(grid, values, label=name, linewidth=3 if name == "micro-F1" else 1.5)
ax.plot(grid, macro, label="macro-F1", linewidth=3)

for goal, name in (("micro_f1", "for F1"), ("precision", "for precision")):
    tuned = TunedThresholdClassifierCV(forest, goal=goal, cv=3, random_state=0).fit(X, y)
    threshold = tuned.thresholds_[0]
    ax.axvline(threshold, color="grey", linestyle="--")
    ax.text(threshold, 1.01, f"{name}\n{threshold:.2f}", ha="center", va="bottom", fontsize=9)
ax.axvline(0.5, color="lightgrey", linestyle=":")
ax.text(0.5, 1.01, "default\n0.50", ha="center", va="bottom", fontsize=9, color="grey")
ax.set(xlabel="threshold", xlim=(0, 0.9), ylim=(0, 1))
ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
