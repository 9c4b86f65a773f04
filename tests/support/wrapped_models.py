"""Small models around classifiers of scikit-learn, for fuzzing their files."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.feature_selection import (
    SelectFromModel,
    SelectKBest,
    SelectPercentile,
    VarianceThreshold,
    f_classif,
)
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import all_estimators

import ramify

_QUICK = {"n_estimators": 3, "max_iter": 20, "random_state": 0}
_SETTINGS: dict[str, dict[str, Any]] = {
    "CategoricalNB": {"min_categories": 4},
    "ClassifierChain": {"estimator": LogisticRegression()},
    "DummyClassifier": {"strategy": "stratified", "random_state": np.random.RandomState(0)},
    "FixedThresholdClassifier": {"estimator": LogisticRegression()},
    "KNeighborsClassifier": {"algorithm": "brute", "metric": "manhattan", "n_neighbors": 3},
    "LogisticRegressionCV": {"cv": 2, "Cs": 2},
    "MLPClassifier": {"hidden_layer_sizes": (3,)},
    "OneVsOneClassifier": {"estimator": LogisticRegression()},
    "OneVsRestClassifier": {"estimator": LogisticRegression()},
    "OutputCodeClassifier": {"estimator": LogisticRegression()},
    "StackingClassifier": {"estimators": [("a", GaussianNB()), ("b", LinearSVC())], "cv": 2},
    "TunedThresholdClassifierCV": {"estimator": LogisticRegression(), "cv": 2},
    "VotingClassifier": {
        "estimators": [("a", GaussianNB()), ("b", LogisticRegression())],
        "voting": "soft",
    },
}
_MULTILABEL = ("ClassifierChain", "MultiOutputClassifier", "forest of many outputs")
_WORDS = ("red", "green", "blue", "grey")
_UNFIT = ("SelfTrainingClassifier",)  # takes no strings as classes


def rows() -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return rows of three features, none negative, the last a small integer."""
    rng = np.random.default_rng(0)
    X = np.abs(rng.normal(size=(36, 3)))
    X[:, 2] = rng.integers(0, 3, len(X))
    return X


def labels() -> list[str]:
    """Return a path for each of the rows."""
    return [("p/q", "p/r", "s")[int(2 * a + b) % 3] for a, b, _ in rows()]


def label_sets() -> list[list[str]]:
    """Return one to three flat labels for each of the rows."""
    return [["a", "b", "c"][int(a) % 3 :] for a, _, _ in rows()]


def texts() -> list[str]:
    """Return a text for each of the rows."""
    return [" ".join(_WORDS[: 1 + int(2 * a) % 4]) for a, _, _ in rows()]


def classifiers() -> dict[str, Any]:
    """Return the classifiers of scikit-learn by name, unfitted, and variants of some."""
    found = {}
    for name, cls in all_estimators("classifier"):
        parameters = cls._get_param_names()
        if name not in _UNFIT and (name in _SETTINGS or "estimators" not in parameters):
            quick = {key: value for key, value in _QUICK.items() if key in parameters}
            needs = {"estimator": LogisticRegression()} if name == "MultiOutputClassifier" else {}
            found[name] = cls(**{**quick, **_SETTINGS.get(name, {}), **needs})
    logistic = LogisticRegression()
    found |= {
        "calibrated": CalibratedClassifierCV(LinearSVC(), cv=2, ensemble=True),
        "columns": make_pipeline(
            make_column_transformer((OneHotEncoder(), [2]), (StandardScaler(), [0, 1])), logistic
        ),
        "forest of many outputs": RandomForestClassifier(n_estimators=2, random_state=0),
        "frozen": FrozenEstimator(LogisticRegression().fit(rows(), labels())),
        "neighbours, euclidean": KNeighborsClassifier(3, algorithm="brute"),
        "neighbours, weighted": KNeighborsClassifier(3, algorithm="brute", weights="distance"),
        "network, adam": MLPClassifier((3,), solver="adam", max_iter=5),
        "ordinal": make_pipeline(
            OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), GaussianNB()
        ),
        "scalers": make_pipeline(
            SimpleImputer(),
            MinMaxScaler(),
            MaxAbsScaler(),
            RobustScaler(),
            Normalizer(),
            Binarizer(),
            FunctionTransformer(np.log1p),
            PCA(2),
            logistic,
        ),
        "selections": make_pipeline(
            VarianceThreshold(),
            SelectKBest(f_classif, k=2),
            SelectPercentile(percentile=100),
            SelectFromModel(DecisionTreeClassifier()),
            logistic,
        ),
        "sgd, hinge": SGDClassifier(loss="log_loss", max_iter=5),
        "union": make_pipeline(make_union(PCA(1), TruncatedSVD(1)), logistic),
    }
    return found


def wrapped_models(only: str = "") -> dict[str, Any]:
    """Return fitted models by the names of what they wrap; "counts" and "words" read texts.

    Parameters
    ----------
    only : str
        A part of the names.
    """
    found: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = {name: one for name, one in classifiers().items() if only in name}
        for name, classifier in wanted.items():
            y = label_sets() if name in _MULTILABEL else labels()
            found[name] = ramify.PerParentClassifier(estimator=classifier).fit(rows(), y)
        tree = ramify.PCTClassifier(max_depth=2)
        readers = {"counts": CountVectorizer(), "words": TfidfVectorizer()}
        for name, reader in readers.items():
            if only not in name:
                continue
            found[name] = make_pipeline(reader, tree).fit(texts(), labels())
    return found
