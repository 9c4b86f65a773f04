"""
Codes of images
===============

X-ray images are filed under codes, each digit of which says something more specific than the one
before. Here, small images of digits are used instead: the first part of a code says how a digit is
drawn, and the second part says which digit it is. If the model is not sure of the whole code, it
predicts only the first part.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from ramify import PCTExtraTreesClassifier
from ramify.decision import confident_path

STROKES = {
    "loop": (0, 6, 8, 9),
    "line": (1, 4, 7),
    "curve": (2, 3, 5),
}
code = {digit: f"{stroke}/{digit}" for stroke, digits in STROKES.items() for digit in digits}

digits = load_digits()
y = [code[digit] for digit in digits.target]
model = PCTExtraTreesClassifier(n_estimators=30, min_samples_leaf=2, random_state=0)
model.fit(digits.data[:900], y[:900])

# %%
# `confident_path` follows the most probable labels and stops before the first one whose
# probability is less than 0.6.

scores = model.predict_proba(digits.data[900:])
hierarchy = model.hierarchy_
paths = confident_path(scores, hierarchy, 0.6, allow_empty=False)
answers = [label for (label,) in hierarchy.decode(paths)]

unsure = [k for k, answer in enumerate(answers) if "/" not in answer][:8]
sure = [k for k, answer in enumerate(answers) if "/" in answer][:8]

fig, axes = plt.subplots(2, 8, figsize=(9, 3.2), layout="constrained")
for ax, k in zip(axes.flat, [*sure, *unsure], strict=True):
    truth = y[900 + k]
    ax.imshow(digits.images[900 + k], cmap="gray_r")
    ax.set_title(answers[k], color="tab:green" if truth.startswith(answers[k]) else "tab:red")
    ax.set_xlabel(f"is {truth}", fontsize=8)
    ax.set(xticks=[], yticks=[])
axes[0, 0].set_ylabel("sure")
axes[1, 0].set_ylabel("stops early")
right = sum(truth.startswith(answer) for truth, answer in zip(y[900:], answers, strict=True))
fig.suptitle(f"{right / len(answers):.1%} of the answers are right as far as they go")
