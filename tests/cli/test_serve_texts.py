"""A service for models that read texts and vectors."""

from __future__ import annotations

import json

import pandas as pd
import pytest

import ramify
from ramify.apps.serving import RequestError, ServedModel

TEXTS = [f"a {'red' if k % 2 else 'blue'} pan, number {k}" for k in range(40)]
LABELS = ["red", "blue"] * 20
FRAME = pd.DataFrame({"title": TEXTS, "embedding": [[float(k % 2), 1.0] for k in range(40)]})


@pytest.mark.parametrize(
    ("X", "rows"),
    [
        (FRAME, [{"title": TEXTS[0], "embedding": [0, 1.0]}, {"title": None}]),
        (TEXTS, [[TEXTS[0]], [None]]),
    ],
    ids=["frame", "list"],
)
def test_a_service_reads_texts_and_vectors(X: object, rows: list[object]) -> None:
    model = ramify.PCTClassifier().fit(X, LABELS)
    served = ServedModel(model, 10, 1000)
    answer = json.loads(b"".join(served.predict({"rows": rows})))
    assert answer["predictions"][0] == [model.predict(X[:1])[0]]  # type: ignore[index]
    assert len(answer["predictions"]) == 2
    types = [feature["type"] for feature in served.describe()["features"]]
    assert types == ["text", "vector"][: len(types)]
    with pytest.raises(RequestError, match="row 0 must have a text or null as"):
        served.predict({"rows": [[7, None][: len(types)]]})


def test_vectors_of_another_length_are_refused() -> None:
    served = ServedModel(ramify.PCTClassifier().fit(FRAME, LABELS), 10, 1000)
    with pytest.raises(RequestError, match="must have a list of 2 numbers or null as 'embedding'"):
        served.predict({"rows": [["a text", [1.0]]]})
