"""The terms of texts in model files, which may be damaged or made to do harm."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest

import ramify
from ramify import ModelFileError
from ramify._savable import saved_name
from ramify.data.features import FeatureSchema
from ramify.data.texts import Terms
from tests.support.model_file_damage import forge, unpack

TITLES = [
    f"{colour} {thing}" for colour in ("red", "blue") for thing in ("pan", "pans", "bowl")
] * 5
LABELS = [f"{title.split()[1]}/{title}" for title in TITLES]


@pytest.fixture
def sound(tmp_path):
    path = tmp_path / "model.ramify"
    ramify.save(ramify.PCTClassifier().fit(TITLES, LABELS), path)
    return path


def changed(path, field, change):
    """Change a field of the terms, or an array of it, in a model that is then saved."""
    model = ramify.load(path)
    terms = model.schema_.texts[0]
    value = getattr(terms, field)
    object.__setattr__(terms, field, change(value))
    return model


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("letters", lambda a: a[:-1]),
        ("letters", lambda a: np.append(a, a[:1])),
        ("letters", lambda a: np.full_like(a, 255)),
        ("letters", lambda a: np.full_like(a, 97)),
        ("letters", lambda a: a.astype("f8")),
        ("ends", lambda a: a[::-1].copy()),
        ("ends", lambda a: a - a[0]),
        ("ends", lambda a: a + 10**12),
        ("ends", lambda a: a[:-1]),
        ("n_words", lambda n: n + 10**6),
        ("n_words", lambda n: -1),
        ("n_words", lambda n: "7"),
        ("idf", lambda a: np.ones(3)),
        ("idf", lambda a: np.full(1, np.nan)),
        ("idf", lambda a: "x"),
    ],
)
def test_terms_that_do_not_fit_are_refused(field, change, sound, tmp_path, monkeypatch):
    model = changed(sound, field, change)
    # Save what could not have been fitted.
    monkeypatch.setattr("ramify.saving.kinds._check_instance", lambda *args: None)
    ramify.save(model, tmp_path / "damaged")
    monkeypatch.undo()
    with pytest.raises(ModelFileError):
        ramify.load(tmp_path / "damaged")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"texts": {"$dict": []}}, "do not fit together"),
        ({"vectors": {"$dict": [[0, 3]]}}, "do not fit together"),
        ({"vectors": {"$dict": [[0, 10**9]]}}, "at least 0 and below"),
        ({"vectors": {"$dict": [[5, 1]]}}, "at least 0 and below 1"),
        ({"texts": {"$dict": [[0, "x"]]}}, "must be a Terms"),
    ],
)
def test_schemas_that_do_not_fit_are_refused(change, message, sound):
    data = sound.read_bytes()
    members = unpack(data)
    document = json.loads(members["model.json"])
    name = saved_name(FeatureSchema)
    (entry,) = (entry for entry in document["objects"] if entry.get("class") == name)
    entry["given"] |= change
    sound.write_bytes(forge({**members, "model.json": json.dumps(document).encode()}, data))
    with pytest.raises(ModelFileError, match=message):
        ramify.load(sound)


def test_many_terms_load_and_answer_quickly(tmp_path):
    texts = [f"w{k} w{k + 1} w{k + 2}" for k in range(60_000)]
    labels = [f"{'ab'[k % 2]}" for k in range(len(texts))]
    model = ramify.PCTClassifier(max_depth=2).fit(texts, labels)
    assert model.schema_.n_variables > 100_000
    ramify.save(model, tmp_path / "model")
    start = time.process_time()
    model = ramify.load(tmp_path / "model")
    assert time.process_time() - start < 5
    model.predict(texts[:1])
    start = time.process_time()
    for k in range(20):
        model.predict(texts[k : k + 1])
    assert (time.process_time() - start) / 20 < 0.05


def test_terms_are_stored_once_in_a_forest(tmp_path):
    model = ramify.PCTForestClassifier(n_estimators=20, random_state=0).fit(TITLES, LABELS)
    ramify.save(model, tmp_path / "model")
    document = json.loads(unpack((tmp_path / "model").read_bytes())["model.json"])
    assert sum(one.get("class") == saved_name(Terms) for one in document["objects"]) == 1
