"""Texts become vectors by a model on this machine, here a made-up one."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import ramify
from ramify import LinearClassifier, TextEmbedder
from ramify.data import embedding
from tests.support.cli_runs import run

MEANINGS = {"oak": 0, "pine": 0, "walnut": 0, "wool": 1, "cotton": 1, "linen": 1}


class Encoder:
    """Knows to which of two groups words belong."""

    loaded: ClassVar[list[dict[str, Any]]] = []

    def __init__(self, name: str, **options: Any) -> None:
        if name == "absent":
            raise OSError("could not connect")
        if name == "own code":
            raise ValueError("it has code.\nMore lines.")
        self.length = 4 if name == "longer" else 3
        self.loaded.append({"name": name, **options})

    def encode(self, texts: list[str], **options: Any) -> np.ndarray:
        found = np.zeros((len(texts), self.length), dtype=np.float32)
        for row, text in zip(found, texts, strict=True):
            for word in text.lower().split():
                row[MEANINGS.get(word, 2)] += 1
        return found


@pytest.fixture(autouse=True)
def library(monkeypatch: pytest.MonkeyPatch) -> None:
    module = SimpleNamespace(SentenceTransformer=Encoder)
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    monkeypatch.setattr(Encoder, "loaded", [])
    embedding._load.cache_clear()


def test_texts_become_vectors():
    embedder = TextEmbedder("small").fit(["oak table", None])
    found = embedder.transform(pd.Series(["oak table", None, "wool"]))
    np.testing.assert_array_equal(found, [[1, 0, 1], [np.nan] * 3, [0, 1, 0]])
    assert found.dtype == np.float64
    assert embedder.get_feature_names_out().tolist() == [f"embedding[{k}]" for k in range(3)]
    only = {"name": "small", "local_files_only": True, "trust_remote_code": False}
    assert Encoder.loaded == [only]
    assert clone(embedder).fit_transform(["linen"]).tolist() == [[0, 1, 0]]
    assert np.isnan(embedder.transform([None, "oak"])[0]).all()


def test_saved_files_name_the_model(tmp_path: Path):
    embedder = TextEmbedder(Path("small"), batch_size=8).fit(["oak"])
    with pytest.raises(TypeError, match="model"):
        ramify.save(embedder, tmp_path / "e.ramify")
    embedder = TextEmbedder("small", batch_size=8).fit(["oak"])
    ramify.save(embedder, tmp_path / "e.ramify")
    for again in (ramify.load(tmp_path / "e.ramify"), pickle.loads(pickle.dumps(embedder))):
        assert again.get_params() == {"model": "small", "batch_size": 8}
        np.testing.assert_array_equal(again.transform(["wool"]), [[0, 1, 0]])
    assert (tmp_path / "e.ramify").stat().st_size < 5000


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(ValueError, match="model 'absent' was not found on this machine"):
        TextEmbedder("absent").fit(["oak"])
    with pytest.raises(ValueError, match=r"by sentence-transformers: it has code\. Pass"):
        TextEmbedder("own code").fit(["oak"])
    with pytest.raises(ValueError, match="X must be texts, got DataFrame"):
        TextEmbedder("small").fit(pd.DataFrame({"a": ["oak"]}))
    with pytest.raises(ValueError, match="batch_size must be"):
        TextEmbedder("small", batch_size=0).fit(["oak"])
    fitted = TextEmbedder("small").fit(["oak"]).set_params(model="longer")
    with pytest.raises(ValueError, match="must give vectors of 3 numbers, as in fit, but gives 4"):
        fitted.transform(["oak"])
    embedding._load.cache_clear()
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ImportError, match=r"pip install 'ramify\[embed\]'"):
        TextEmbedder("small").fit(["oak"])


def test_vectors_tell_what_words_do_not():
    random = np.random.default_rng(0)
    words = np.array(["oak", "pine", "wool", "cotton"])[random.integers(0, 4, 60)]
    texts = [f"{word} number {k}" for k, word in enumerate(words)]
    y = np.where(np.isin(words, ["oak", "pine"]), "furniture", "clothes")
    embedder = TextEmbedder("small").fit(texts)

    def table(texts: list[str]) -> pd.DataFrame:
        return pd.DataFrame({"title": texts, "embedding": list(embedder.transform(texts))})

    model = LinearClassifier().fit(table(texts), y)
    new = ["walnut number 99", "linen number 98"]
    assert model.predict(table(new)).tolist() == ["furniture", "clothes"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    random = np.random.default_rng(1)
    words = np.array(["oak", "pine", "wool", "cotton"])[random.integers(0, 4, 80)]
    titles = [f"a fine {word} thing, number {k}" for k, word in enumerate(words)]
    y = np.where(np.isin(words, ["oak", "pine"]), "home/furniture", "clothes/all")
    frame = pd.DataFrame({"title": titles, "price": random.normal(size=80).round(2), "labels": y})
    frame.to_csv(tmp_path / "t.csv", index=False)
    pd.DataFrame({"title": ["walnut", "linen"], "price": [1.0, 2.0]}).to_csv(
        tmp_path / "new.csv", index=False
    )
    return tmp_path


def test_train_embeds_and_models_remember_it(folder: Path, monkeypatch: pytest.MonkeyPatch):
    model = folder / "m.ramify"
    trained = run("train", folder / "t.csv", "-o", model, "--embed", "small", "--folds", "0")
    assert trained.exit_code == 0, trained.output
    assert "title: texts embedded as 3 numbers by small" in " ".join(trained.output.split())
    assert list(ramify.load(model).feature_names_in_) == ["title", "price", "embedding"]
    for size in (2**26, 0):  # a file is read as a whole, or else in blocks
        monkeypatch.setattr("ramify.apps.cli.prediction_files._STREAMED_BYTES", size)
        predicted = run("predict", model, folder / "new.csv", "-o", folder / "p.csv")
        assert predicted.exit_code == 0, predicted.output
        found = pd.read_csv(folder / "p.csv")["labels"].tolist()
        assert found == ["home/furniture", "clothes/all"]
    assert run("evaluate", model, folder / "t.csv").exit_code == 0
    embedding._load.cache_clear()
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    missing = run("predict", model, folder / "new.csv")
    assert missing.exit_code == 2
    assert "pip install 'ramify[embed]'" in " ".join(missing.output.split())


def test_tables_without_texts_are_refused_before_training(folder: Path):
    pd.DataFrame({"x": range(40), "labels": ["a", "b"] * 20}).to_csv(folder / "n.csv", index=False)
    given = ("-o", folder / "m.ramify", "--embed")
    for table, model, message in (
        ("n.csv", "small", "n must have a column of texts to embed, got 'x'"),
        ("t.csv", "absent", "model 'absent' was not found on this machine"),
    ):
        result = run("train", folder / table, *given, model)
        assert result.exit_code == 2
        assert message in " ".join(result.output.split())
