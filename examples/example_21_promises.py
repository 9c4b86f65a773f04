"""
How specific answers may be
===========================

:class:`~ramify.SelectiveClassifier` ends an answer where it is not sure enough, so that at most a
promised share of answers is wrong. The more errors are allowed, the deeper the answers: on the
left, how many rows have an answer on which level, for every promise and the same fitted forest; on
the right, how many answers of new rows are wrong (:doc:`/guarantees`).
"""

import matplotlib.pyplot as plt
import numpy as np

from ramify import PCTForestClassifier, SelectiveClassifier, make_hierarchical_classification
from ramify.metrics import hierarchical_risk

data = make_hierarchical_classification(
    4000, 10, n_labels=40, depth=4, labels_per_row=1, noise=0.7, random_state=0
)
X, y, X_new, y_new = data.X[:2000], data.y[:2000], data.X[2000:], data.y[2000:]
forest = PCTForestClassifier(data.hierarchy, n_estimators=30, random_state=0)
on_average = SelectiveClassifier(forest, random_state=0).fit(X, y)
with_confidence = SelectiveClassifier(forest, confidence=0.95, random_state=0).fit(X, y)

promises = np.arange(1, 25, 2) / 100
depths = on_average.answer_depths(X_new, promises)  # a row for each promise, a column per level

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
ends = -np.diff(np.column_stack([np.ones(len(promises)), depths, np.zeros(len(promises))]))
names = ["no answer", *(f"level {k}" for k in range(1, data.hierarchy.depth + 1))]
colours = ["#e5e5e5", *plt.cm.viridis_r(np.linspace(0.15, 0.9, data.hierarchy.depth))]
left.stackplot(promises, ends.T[::-1], labels=names[::-1], colors=colours[::-1])
left.set(title="Where answers end", ylabel="share of rows", xlim=(0.01, 0.23), ylim=(0, 1))
left.legend(fontsize="small", reverse=True, loc="center left", bbox_to_anchor=(1, 0.5))

for model, name in ((on_average, "on average"), (with_confidence, "with 95 % confidence")):
    answers = (model.predict(X_new, max_error=share) for share in promises)
    wrong = [hierarchical_risk(y_new, each, hierarchy=data.hierarchy) for each in answers]
    right.plot(promises, wrong, label=name)
right.plot([0, 0.24], [0, 0.24], color="grey", linestyle=":", label="promise")
right.set(title="Wrong answers of 2,000 new rows", ylabel="share of rows", xlim=(0, 0.24))
right.legend()
for ax in (left, right):
    ax.set_xlabel("promised share of wrong answers")
