"""
Topics of e-mails
=================

An e-mail may be about several things at once. Here, each e-mail is a generated bag of words from
its topics. The words are the features, in a sparse matrix.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from ramify import PCTForestClassifier

WORDS = {
    "work/legal": "contract clause counsel agreement liability signature court",
    "work/trading": "price gas volume desk market position settle",
    "work/meeting": "agenda room monday slides minutes schedule call",
    "private/family": "kids school dinner mom birthday weekend soccer",
    "private/humour": "joke funny laugh blonde forward hilarious bar",
    "private/travel": "flight hotel beach ticket passport vacation suitcase",
}
COMMON = ["please", "thanks", "regards", "today", "attached", "send", "know", "week", "time"]
rng = np.random.default_rng(0)
topics = list(WORDS)


def write_email(labels):
    """Return words of the topics and some uninformative ones."""
    words = [word for label in labels for word in rng.choice(WORDS[label].split(), 4)]
    return " ".join([*words, *rng.choice(COMMON, 8)])


y = [list(rng.choice(topics, rng.integers(1, 3), replace=False)) for _ in range(500)]
emails = [write_email(labels) for labels in y]

words = CountVectorizer()
X = words.fit_transform(emails)
forest = PCTForestClassifier(n_estimators=100, redraw=True, random_state=0).fit(X[:400], y[:400])

# %%
# The figure shows the probabilities of nine new e-mails; dots mark their true topics. The first
# column of each group is the parent, which is never less probable than the topics below it.

shown = slice(400, 409)
scores = forest.predict_proba(X[shown])
labels = list(forest.classes_)

fig, ax = plt.subplots(figsize=(8, 4.6), layout="constrained")
image = ax.imshow(scores, cmap="GnBu", vmin=0, vmax=1, aspect="auto")
for row, true in enumerate(y[shown]):
    closed = {*true, *(label.split("/")[0] for label in true)}
    ax.plot([labels.index(label) for label in closed], [row] * len(closed), "o", color="tab:red")
ax.set_xticks(range(len(labels)), labels, rotation=30, ha="right")
ax.set_yticks(range(9), [f"{email[:34]}…" for email in emails[shown]], fontsize=8)
fig.colorbar(image, label="probability")
ax.set_title("Topics of new e-mails; red: the true ones")
