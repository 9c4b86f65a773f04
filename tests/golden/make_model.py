"""Write a model file of each kind, and what it predicts.

Run with ``python -m tests.golden.make_model`` after a change of the format.
"""

import json
import math
from pathlib import Path

import ramify
from ramify import (
    Hierarchy,
    PCTClassifier,
    PCTForestClassifier,
    PCTGradientBoostingClassifier,
    PerEdgeClassifier,
)
from ramify._base import HierarchicalClassifier

NAMES = ("tree", "forest", "local", "boosting")
FOLDER = Path(__file__).parent
HIERARCHY = Hierarchy.from_edges(
    [("animal", "mammal"), ("animal", "pet"), ("mammal", "cat"), ("pet", "cat"), ("pet", "fish")]
)
SETS = [["cat"], ["fish"], ["mammal"], ["mammal", "pet"], []]


def rows() -> list[list[float]]:
    """Two numeric columns, the second with unknown values, and a nominal one of three codes."""
    return [
        [math.sin(i), math.nan if i % 7 == 0 else math.cos(2 * i), float(i * i % 3)]
        for i in range(80)
    ]


def labels() -> list[list[str]]:
    """Label sets that depend on the rows."""
    return [SETS[int(abs(3 * row[0]) + row[2]) % len(SETS)] for row in rows()]


def make(name: str) -> HierarchicalClassifier:
    """Return the model that a golden file holds."""
    settings = {"hierarchy": HIERARCHY, "categorical_features": [2]}
    models = {
        "tree": PCTClassifier(min_samples_leaf=3, **settings),
        "forest": PCTForestClassifier(n_estimators=4, max_depth=4, random_state=0, **settings),
        "boosting": PCTGradientBoostingClassifier(
            loss="logistic", max_iter=6, max_depth=3, random_state=0, **settings
        ),
        "local": PerEdgeClassifier(estimator=PCTClassifier(max_depth=2), **settings),
    }
    return models[name].fit(rows(), labels())


def write(name: str) -> None:
    """Write a model file and the predictions that it must give."""
    model = make(name)
    ramify.save(model, FOLDER / f"{name}.ramify")
    told = {
        "labels": list(model.classes_),
        "predict_proba": model.predict_proba(rows()).tolist(),
        "predict": [sorted(found) for found in model.predict(rows())],
    }
    text = json.dumps(told)
    (FOLDER / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    for name in NAMES:
        write(name)
