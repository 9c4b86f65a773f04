"""Texts are refused as features at once, unless another estimator reads them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import ramify

TEXTS = [f"a {'red' if k % 2 else 'blue'} pan, number {k}" for k in range(40)]
LABELS = ["home/red" if k % 2 else "home/blue" for k in range(40)]
FRAME = pd.DataFrame({"title": TEXTS, "body": TEXTS[::-1]})


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (TEXTS, "X must have rows of numbers, got the text"),
        (pd.Series(TEXTS), "X must have rows of numbers, got the text"),
        (FRAME, "got only texts, in 'title', 'body'"),
        (FRAME[["title"]].to_numpy(), "X must be numbers if it is an array"),
        (np.array(TEXTS).reshape(-1, 1), "X must be numbers if it is an array"),
    ],
    ids=["list", "series", "frame", "objects", "strings"],
)
@pytest.mark.parametrize(
    "model",
    [
        ramify.PCTForestClassifier(n_estimators=2),
        ramify.PerParentClassifier(),
        ramify.MandatoryLeafClassifier(ramify.PCTClassifier()),
    ],
    ids=lambda model: type(model).__name__,
)
def test_texts_are_refused_with_a_remedy(model, X, message):
    with pytest.raises(ValueError, match=f"{message}.*TfidfVectorizer"):
        model.fit(X, LABELS)


def test_missing_texts_are_not_counted():
    frame = pd.DataFrame({"title": [*TEXTS, *[None] * 60]})
    with pytest.raises(ValueError, match="got only texts, in 'title'"):
        ramify.PCTClassifier().fit(frame, [*LABELS, *["home"] * 60])


def test_categories_and_texts_beside_other_columns_are_used():
    colours = pd.DataFrame({"colour": ["dark red", "light blue"] * 20})
    ramify.PCTClassifier().fit(colours, LABELS)
    ramify.PCTClassifier().fit(FRAME.assign(x=1.5), LABELS)
    ramify.PCTClassifier().fit(FRAME.astype("category"), LABELS)


def test_an_estimator_that_reads_texts_gets_them():
    words = make_column_transformer((TfidfVectorizer(), "title"))
    model = ramify.PerParentClassifier(estimator=make_pipeline(words, LogisticRegression()))
    assert list(model.fit(FRAME, LABELS).predict(FRAME[:2])) == LABELS[:2]
