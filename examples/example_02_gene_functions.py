"""
Gene functions with an ontology
===============================

The labels of genes form a DAG: a function may have several parents. The genes of this example
are made up. :doc:`/gene-ontology` shows how to read an ontology and annotations from files.

The curves are those of the CAFA challenges. Dots mark F-max, the best F1 of any threshold, and
S-min, the smallest distance from perfect knowledge.
"""

from ramify import (
    PCTClassifier,
    PCTForestClassifier,
    PCTGradientBoostingClassifier,
    make_hierarchical_classification,
)
from ramify.metrics import information_content, plot_protein_curves, protein_curve

genes = make_hierarchical_classification(
    900, 40, n_labels=80, depth=4, dag_share=0.3, labels_per_row=2, noise=0.8, random_state=1
)
X, y, X_test, y_test = genes.X[:600], genes.y[:600], genes.X[600:], genes.y[600:]

# %%
# Rare functions tell more about a gene than frequent ones. Their information content is computed
# from the training genes.

information = information_content(y, hierarchy=genes.hierarchy, smoothing=1)

models = {
    "tree": PCTClassifier(genes.hierarchy, f_test=0.05),
    "forest": PCTForestClassifier(genes.hierarchy, random_state=0),
    "boosting": PCTGradientBoostingClassifier(genes.hierarchy, max_iter=150, random_state=0),
}
curves = {}
for name, model in models.items():
    scores = model.fit(X, y).predict_proba(X_test)
    curves[name] = protein_curve(
        y_test, scores, hierarchy=genes.hierarchy, information=information
    )

left, right = plot_protein_curves(curves)
left.figure.suptitle("300 genes that the models have not seen")
