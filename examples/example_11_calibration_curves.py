"""
Calibration curves
==================

Of the cases with a probability of 0.6, six in ten should be right. The votes of a forest are less
confident than that; :class:`~ramify.CalibratedHierarchicalClassifier` corrects them label by label
and keeps the order of the hierarchy (:doc:`/calibration`).
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import calibration_curve

from ramify import (
    CalibratedHierarchicalClassifier,
    PCTClassifier,
    PCTForestClassifier,
    make_hierarchical_classification,
)

data = make_hierarchical_classification(1500, 20, n_labels=20, noise=1.0, random_state=0)
X, y, X_test, y_test = data.X[:900], data.y[:900], data.X[900:], data.y[900:]

forest = PCTForestClassifier(data.hierarchy, n_estimators=50, random_state=0)
models = {
    "tree": PCTClassifier(data.hierarchy, min_samples_leaf=3),
    "forest": forest,
    "calibrated forest": CalibratedHierarchicalClassifier(forest, cv=3, random_state=0),
}

fig, (top, bottom) = plt.subplots(
    2, 1, figsize=(6, 6.4), height_ratios=(3, 1), sharex=True, layout="constrained"
)
top.plot([0, 1], [0, 1], color="grey", linestyle=":", label="perfect")
truth = y_test.toarray().ravel()
for name, model in models.items():
    scores = model.fit(X, y).predict_proba(X_test)
    shares, means = calibration_curve(truth, scores.ravel(), n_bins=10)
    error = np.mean((scores - y_test.toarray()) ** 2)
    top.plot(means, shares, "o-", label=f"{name}, squared error {error:.3f}")
    bottom.hist(scores.ravel(), bins=20, histtype="step", linewidth=2)
top.set(ylabel="share that is right", title="All pairs of a row and a label")
top.legend()
bottom.set(xlabel="probability", ylabel="pairs", yscale="log")
