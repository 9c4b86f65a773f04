"""
Which module is this about?
===========================

The documentation of NumPy, SciPy and scikit-learn (BSD licence) says of every function and class
in one sentence what it does. A linear model learns from these texts to which module it belongs:
the package is the first level, and the module the second. Texts need no preparation.
"""

import inspect
import pkgutil
from importlib import import_module

import matplotlib.pyplot as plt
import numpy as np

from ramify import LinearClassifier, PCTForestClassifier, PerParentClassifier
from ramify.metrics import plot_level_accuracy


def sentences(package):
    """Return the first sentences of the docstrings of a package, with the names of modules."""
    found = {}
    root = import_module(package)
    for _, name, is_package in pkgutil.iter_modules(root.__path__):
        if not is_package or name.startswith("_") or name in ("tests", "testing", "externals"):
            continue
        module = import_module(f"{package}.{name}")
        for own in getattr(module, "__all__", ()):
            text = inspect.getdoc(vars(module).get(own)) or ""
            first = " ".join(text.partition("\n\n")[0].split())
            if len(first.split()) > 2:
                found.setdefault(first, f"{package}/{name}")
    return found


texts = {
    text: y for package in ("numpy", "scipy", "sklearn") for text, y in sentences(package).items()
}
X, y = np.array(list(texts), dtype=object), np.array(list(texts.values()))
names, counts = np.unique(y, return_counts=True)
kept = np.isin(y, names[counts >= 10])
X, y = X[kept], y[kept]
order = np.random.default_rng(0).permutation(len(X))
train, test = np.split(order, [len(X) * 3 // 4])
print(f"{len(X)} texts, {len(set(y))} modules")
for k in test[:3]:
    print(f"{y[k]:22} {X[k]}")

# %%
# Linear models weigh every word a little, which suits texts better than trees do.

models = {
    "linear": LinearClassifier(),
    "linear, per parent": PerParentClassifier(),
    "forest": PCTForestClassifier(n_estimators=30, w0=10, random_state=0),
}
predictions = {
    name: model.fit(X[train], y[train]).predict(X[test]) for name, model in models.items()
}

fig, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
plot_level_accuracy(y[test], predictions, hierarchy=models["linear"].hierarchy_, ax=ax)
ax.set_title("Sentences with the right package and the right module")
ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))

# %%
# The model also answers questions in other words. It knows no module for the last one, as the low
# probability shows.

questions = [
    "eigenvalues of a symmetric matrix",
    "split data into folds for cross-validation",
    "probability density of the beta distribution",
    "gradient boosted trees",
    "shortest path between nodes of a graph",
]
answers = models["linear"].predict(questions)
best = models["linear"].predict_proba(questions)
for question, answer, scores in zip(questions, answers, best, strict=True):
    column = models["linear"].hierarchy_.index(answer)
    print(f"{answer:24} {scores[column]:.2f}  {question}")
