"""
Product categories from text
============================

Each product of a shop has one category in three levels, and few words of its text indicate which.
A model per parent only has to distinguish the children of one label, and is fast. With the few
texts of this example, naive Bayes does as well as any other model; with thousands of texts, linear
models are better (:doc:`/text-categories`).
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline

from ramify import FlatClassifier, GlobalNaiveBayes, PCTForestClassifier, PerParentClassifier
from ramify.metrics import plot_level_accuracy

SHOP = {
    "clothes/tops": "shirt blouse jumper", "clothes/shoes": "boot sandal sneaker",
    "home/furniture": "table chair shelf", "home/kitchen": "pan knife kettle",
    "garden/tools": "spade rake shears", "garden/plants": "rose fern tulip",
}  # fmt: skip
SHARED = ["red", "blue", "green", "small", "large", "classic", "modern", "new", "sale", "gift"]
rng = np.random.default_rng(0)
texts, y = [], []
for group, kinds in SHOP.items():
    for kind in kinds.split():
        own = [f"{kind}{k}" for k in range(12)]  # brands and models of this kind of product
        near = [f"{group.split('/')[1]}{k}" for k in range(12)]
        for _ in range(25):
            words = [*rng.choice(own, 1), *rng.choice(near, 1), *rng.choice(SHARED, 5)]
            texts.append(" ".join(rng.permutation(words)))
            y.append(f"{group}/{kind}")
order = rng.permutation(len(texts))
texts, y = [texts[k] for k in order], [y[k] for k in order]
train, test = slice(0, 300), slice(300, None)

# %%
# All models get the same words.

linear = SGDClassifier(loss="log_loss", random_state=0)
models = {
    "linear, per parent": PerParentClassifier(linear),
    "linear, per leaf": FlatClassifier(linear),
    "naive Bayes": GlobalNaiveBayes(),
    "forest": PCTForestClassifier(n_estimators=30, w0=10, random_state=0),
}
predictions = {}
for name, model in models.items():
    pipeline = make_pipeline(TfidfVectorizer(), model).fit(texts[train], y[train])
    predictions[name] = pipeline.predict(texts[test])

hierarchy = pipeline[-1].hierarchy_
fig, ax = plt.subplots(figsize=(8, 3.8), layout="constrained")
plot_level_accuracy(y[test], predictions, hierarchy=hierarchy, ax=ax)
ax.set_title("Products with the right category, by level")
ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
