"""
Boosting curves
===============

The curves show how the loss on new rows falls with the number of boosting rounds. AdaBoost.MH
treats labels as if they were independent. Algorithm 1 of H-Ada.MH stalls after a few rounds;
the default of ramify, which takes the better of two stumps for each label, continues to improve
(:doc:`/boosting`). Deeper trees help more than either.
"""

import matplotlib.pyplot as plt

from ramify import (
    AdaBoostMHClassifier,
    HierarchicalAdaBoostMHClassifier,
    PCTGradientBoostingClassifier,
    make_hierarchical_classification,
)
from ramify.metrics import plot_staged_loss, pooled_auprc

data = make_hierarchical_classification(
    600, 20, n_labels=20, depth=3, labels_per_row=1, noise=1.6, random_state=0
)
X, y, X_test, y_test = data.X[:400], data.y[:400], data.X[400:], data.y[400:]

models = {
    "AdaBoost.MH": AdaBoostMHClassifier(data.hierarchy, n_estimators=120),
    "Algorithm 1": HierarchicalAdaBoostMHClassifier(
        data.hierarchy, n_estimators=120, top_down=True
    ),
    "better of two stumps": HierarchicalAdaBoostMHClassifier(data.hierarchy, n_estimators=120),
    "better of two trees of depth 2": HierarchicalAdaBoostMHClassifier(
        data.hierarchy, n_estimators=120, max_depth=2
    ),
}
for model in models.values():
    model.fit(X, y)

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
plot_staged_loss(models, X_test, y_test, every=5, ax=ax)
ax.set_title("AdaBoost and the hierarchy")

# %%
# Gradient boosting has a learning rate: small steps need more rounds. The curves end at the best
# round, which early stopping finds on rows that are not used for learning, here the test rows.

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for rate in (0.3, 0.1, 0.03):
    boosted = PCTGradientBoostingClassifier(
        data.hierarchy, learning_rate=rate, max_iter=200, scoring="pooled_auprc",
        early_stopping=True, n_iter_no_change=200, score_every=5, random_state=0,
    )  # fmt: skip
    boosted.fit(X, y, X_val=X_test, y_val=y_test)
    scores = [pooled_auprc(y_test, p) for p in boosted.staged_predict_proba(X_test)]
    ax.plot(range(1, len(scores) + 1), scores, label=f"learning rate {rate}")
ax.set(xlabel="rounds", ylabel="AU(PRC)", title="Gradient boosting")
ax.legend()
