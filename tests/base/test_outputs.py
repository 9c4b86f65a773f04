"""Data frames as predictions: the names of y come back."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import ramify
from ramify import HierarchicalVotingClassifier, PCTClassifier

X = pd.DataFrame({"x": np.arange(9.0)})
LEVELS = pd.DataFrame({"genus": list("aab") * 3, "species": list("cde") * 3})
MODELS = [PCTClassifier(), HierarchicalVotingClassifier([("tree", PCTClassifier())])]


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("model", MODELS)
def test_level_columns_keep_their_names(model, library, tmp_path):
    for y in (LEVELS, pl.from_pandas(LEVELS)):
        model.fit(X, y).set_output(predict=library)
        assert list(model.predict(X).columns) == ["genus", "species"]
        ramify.save(model, tmp_path / "m.ramify")
        again = ramify.load(tmp_path / "m.ramify").set_output(predict=library)
        assert list(again.predict(X).columns) == ["genus", "species"]


@pytest.mark.parametrize(("library", "kind"), [("pandas", pd.Series), ("polars", pl.Series)])
@pytest.mark.parametrize("model", MODELS)
def test_columns_keep_their_names(model, library, kind):
    paths = ["a/b", "a/c", "d"] * 3
    for y in (pd.Series(paths, name="taxon"), pl.Series("taxon", paths)):
        column = model.fit(X, y).set_output(predict=library).predict(X)
        assert isinstance(column, kind)
        assert column.name == "taxon"
    model.fit(X, paths)  # forgets the names of an earlier y
    assert not model.predict(X).name
    assert not hasattr(model, "target_names_")
