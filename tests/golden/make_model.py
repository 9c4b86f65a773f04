"""Write a model file of the current version, and what it predicts.

Run with ``python -m tests.golden.make_model``. A file stays as it is once its version has been
released; a new version gets a new file.
"""

import json
import math
from pathlib import Path

import ramify
from ramify import Hierarchy, PCTClassifier
from ramify.saving.container import VERSION

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


def make() -> PCTClassifier:
    """Return the model that the golden file of this version holds."""
    X = rows()
    y = [SETS[int(abs(3 * row[0]) + row[2]) % len(SETS)] for row in X]
    model = PCTClassifier(HIERARCHY, min_samples_leaf=3, categorical_features=[2])
    return model.fit(X, y)


def write() -> None:
    """Write the model file and the predictions that it must give."""
    model = make()
    ramify.save(model, FOLDER / f"model_v{VERSION}.ramify")
    told = {
        "labels": list(model.classes_),
        "predict_proba": model.predict_proba(rows()).tolist(),
        "predict": [sorted(labels) for labels in model.predict(rows())],
    }
    text = json.dumps(told, indent=1)
    (FOLDER / f"model_v{VERSION}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
