"""All public estimators with fast settings, and the scikit-learn checks that they fail."""

from __future__ import annotations

import inspect
from typing import Any

from sklearn.base import BaseEstimator

import ramify
from ramify._base.classifier import HierarchicalClassifier
from ramify.trees.target_base import TargetEstimator

# Settings that make an estimator fast, used if it has the parameter.
QUICK = {"n_estimators": 3, "cv": 2, "random_state": 0}

# Parameters that a class requires, or without which it learns nothing or too slowly.
REQUIRED: dict[str, dict[str, Any]] = {
    **{
        name: {"estimator": ramify.PCTClassifier(random_state=0)}
        for name in (
            "BinaryRelevance",
            "CalibratedHierarchicalClassifier",
            "FlatClassifier",
            "PerEdgeClassifier",
            "PerLevelClassifier",
            "PerNodeClassifier",
            "PerParentClassifier",
        )
    },
    "HierarchicalVotingClassifier": {
        "estimators": [
            ("tree", ramify.PCTClassifier(random_state=0)),
            ("shallow", ramify.PCTClassifier(max_depth=2, random_state=0)),
        ]
    },
    "LevelPowerset": {"estimator": ramify.PCTClassifier(random_state=0)},
    "MandatoryLeafClassifier": {"estimator": ramify.PCTClassifier(random_state=0)},
    "MetaLabeler": {
        "estimator": ramify.PCTClassifier(random_state=0),
        "counter": ramify.PCTClassifier(random_state=0),
    },
    "PCTGradientBoostingClassifier": {"max_iter": 10},
    "SelectiveClassifier": {"estimator": ramify.PCTClassifier(random_state=0), "max_error": 0.5},
    "SiblingLassoClassifier": {"alpha": 0.05},
    "TunedThresholdClassifierCV": {"estimator": ramify.PCTClassifier(random_state=0)},
}

_OPEN_INTERVAL = (
    "scikit-learn requires probabilities strictly between 0 and 1; pure leaves predict 0 and 1"
)
_BOOTSTRAP = (
    "bootstrap samples draw rows, not weights: a row of weight 2 and a row that occurs twice are "
    "drawn differently"
)
_DRAWN = "trees draw rows, not weights, and leaves need a number of rows, not a weight"
_TWO_ROWS = "a leaf needs two rows, and a row of weight 2 is one row"
_WEIGHTED_CLASSES = {
    "check_class_weight_classifiers": "the check relies on min_weight_fraction_leaf; without it, "
    "scikit-learn's single trees predict the heavy class for half of the rows, too"
}
_TOLERANCE = "the optimum is approached to a tolerance, and weights are stored as float32"
_EMPTY = "an answer is empty where nothing is certain enough"
_HELD_OUT = "rows of weight 2 are held out together, rows that occur twice are not"
_WEIGHT_OF_ROWS = "nearest neighbours take no weights, and trees draw rows"
_PURE_LEAVES = {"check_classifiers_multilabel_output_format_predict_proba": _OPEN_INTERVAL}
_SAMPLED = {
    "check_sample_weight_equivalence_on_dense_data": _BOOTSTRAP,
    "check_sample_weight_equivalence_on_sparse_data": _BOOTSTRAP,
}

# Checks of scikit-learn that an estimator fails, and the reasons.
EXPECTED_FAILURES: dict[str, dict[str, str]] = {
    "PCTClassifier": _PURE_LEAVES | _WEIGHTED_CLASSES,
    "BlendClassifier": {
        "check_sample_weight_equivalence_on_dense_data": _WEIGHT_OF_ROWS,
        "check_sample_weight_equivalence_on_sparse_data": _WEIGHT_OF_ROWS,
    },
    "HierarchicalVotingClassifier": _PURE_LEAVES,
    "LevelPowerset": _PURE_LEAVES,
    "MandatoryLeafClassifier": _PURE_LEAVES,
    "MetaLabeler": _PURE_LEAVES,
    "SelectiveClassifier": _PURE_LEAVES
    | {
        "check_supervised_y_2d": _EMPTY,
        "check_classifiers_one_label_sample_weights": _EMPTY,
        "check_sample_weight_equivalence_on_dense_data": _HELD_OUT,
        "check_sample_weight_equivalence_on_sparse_data": _HELD_OUT,
    },
    "TunedThresholdClassifierCV": _PURE_LEAVES,
    "PCTForestClassifier": _PURE_LEAVES | _SAMPLED,
    "PCTBaggingClassifier": _PURE_LEAVES | _SAMPLED,
    "PCTExtraTreesClassifier": _PURE_LEAVES | _WEIGHTED_CLASSES,
    "PCTGradientBoostingClassifier": {
        "check_sample_weight_equivalence_on_dense_data": _DRAWN,
        "check_sample_weight_equivalence_on_sparse_data": _DRAWN,
    },
    "PerEdgeClassifier": _PURE_LEAVES,
    "PerNodeClassifier": _PURE_LEAVES,
    "PerParentClassifier": _PURE_LEAVES,
    "PerLevelClassifier": _PURE_LEAVES,
    "FlatClassifier": _PURE_LEAVES,
    "BinaryRelevance": _PURE_LEAVES,
    "BinaryRelevancePlus": _PURE_LEAVES,
    "LabelPowerset": _PURE_LEAVES,
    "RAkEL": _PURE_LEAVES,
    "BRDTClassifier": _PURE_LEAVES
    | {
        "check_sample_weight_equivalence_on_dense_data": _TWO_ROWS,
        "check_sample_weight_equivalence_on_sparse_data": _TWO_ROWS,
    },
    "LinearClassifier": {
        "check_sample_weight_equivalence_on_dense_data": _TOLERANCE,
        "check_sample_weight_equivalence_on_sparse_data": _TOLERANCE,
    },
    "PCTForestRegressor": _SAMPLED,
    "PCTMultiTargetForestClassifier": _SAMPLED,
    "HierarchicalBaggingClassifier": _PURE_LEAVES | _SAMPLED,
}


def public_estimators() -> list[type]:
    """Return all estimators of the public API but `TextEmbedder`, which needs a model."""
    found = [getattr(ramify, name) for name in ramify.__all__ if name != "TextEmbedder"]
    return [cls for cls in found if inspect.isclass(cls) and issubclass(cls, BaseEstimator)]


def public_classifiers() -> list[type]:
    """Return all classifiers of the public API for labels."""
    return [cls for cls in public_estimators() if issubclass(cls, HierarchicalClassifier)]


def multi_target_estimators() -> list[type]:
    """Return all estimators of the public API for several targets."""
    return [cls for cls in public_estimators() if issubclass(cls, TargetEstimator)]


def make(cls: type, **settings: Any) -> Any:
    """Make an estimator with fast settings."""
    names = inspect.signature(cls).parameters
    quick = {name: value for name, value in QUICK.items() if name in names}
    return cls(**{**quick, **REQUIRED.get(cls.__name__, {}), **settings})


def expected_failures(estimator: Any) -> dict[str, str]:
    """Return the checks that an estimator is expected to fail, with reasons."""
    return EXPECTED_FAILURES.get(type(estimator).__name__, {})
