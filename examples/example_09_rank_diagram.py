"""
Rank diagrams
=============

Which of several models is best over several data sets, and which differences may be chance? The
diagram shows average ranks; a bar connects models whose ranks do not differ significantly
according to Nemenyi's test.
"""

from ramify import (
    GlobalNaiveBayes,
    MLkNN,
    PCTBaggingClassifier,
    PCTClassifier,
    PCTExtraTreesClassifier,
    PCTForestClassifier,
    make_hierarchical_classification,
)
from ramify.metrics import pooled_auprc
from ramify.stats import friedman, rank_diagram

models = {
    "tree": PCTClassifier(f_test=0.05),
    "bagging": PCTBaggingClassifier(n_estimators=25, random_state=0),
    "forest": PCTForestClassifier(n_estimators=25, random_state=0),
    "extra trees": PCTExtraTreesClassifier(n_estimators=25, random_state=0),
    "naive Bayes": GlobalNaiveBayes(),
    "neighbours": MLkNN(),
}
scores = {name: [] for name in models}
for seed in range(12):
    data = make_hierarchical_classification(
        240, 15, n_labels=15 + 3 * seed, noise=0.3 + 0.1 * seed, random_state=seed
    )
    for name, model in models.items():
        model.set_params(hierarchy=data.hierarchy).fit(data.X[:160], data.y[:160])
        scores[name].append(pooled_auprc(data.y[160:], model.predict_proba(data.X[160:])))

print(friedman(scores))

# %%
ax = rank_diagram(scores, title="AU(PRC) on twelve generated data sets")
