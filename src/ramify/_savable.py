"""Registry of the classes that `ramify.save` writes and `ramify.load` creates.

A model file names classes. Only classes registered here are created from a file, so a file cannot
choose which code runs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import import_module
from typing import Any, TypeVar

_CLASSES: dict[str, type] = {}
_MODULES = {
    "boosting.adaboost": (
        "AdaBoostMHClassifier",
        "HierarchicalAdaBoostMHClassifier",
        "Rounds",
    ),
    "boosting.classifier": ("PCTGradientBoostingClassifier",),
    "data.embedding": ("TextEmbedder",),
    "data.features": ("FeatureSchema",),
    "data.scaling": ("Components", "Scaling"),
    "data.texts": ("Terms",),
    "labels.encoding": ("HierarchyBinarizer",),
    "local.binary_relevance": (
        "BinaryRelevance",
        "BinaryRelevancePlus",
    ),
    "local.brdt": ("BRDTClassifier",),
    "local.classifiers": (
        "FlatClassifier",
        "PerEdgeClassifier",
        "PerLevelClassifier",
        "PerNodeClassifier",
        "PerParentClassifier",
    ),
    "local.label_powerset": (
        "LabelPowerset",
        "RAkEL",
    ),
    "local.lasso_groups": ("LinearFeatures",),
    "local.learning": (
        "ConstantClassifier",
        "LocalModel",
    ),
    "local.linear": (
        "LinearColumns",
        "LinearModel",
    ),
    "local.linear_classifier": ("LinearClassifier",),
    "local.ml_knn": ("MLkNN",),
    "local.naive_bayes": (
        "GlobalNaiveBayes",
        "CategoryTables",
        "Gaussians",
    ),
    "local.sibling_lasso": ("SiblingLassoClassifier",),
    "meta.bagging": ("HierarchicalBaggingClassifier",),
    "meta.blend": ("BlendClassifier",),
    "meta.calibration": (
        "CalibratedHierarchicalClassifier",
        "IsotonicCurve",
        "SigmoidCurve",
    ),
    "meta.carried": ("CarriedClassifier",),
    "meta.level_powerset": ("LevelPowerset",),
    "meta.mandatory_leaf": ("MandatoryLeafClassifier",),
    "meta.members": ("BlendMember", "MemberInputs"),
    "meta.metalabeler": ("MetaLabeler",),
    "meta.promises": ("PathPromise", "SetPromise"),
    "meta.selective": ("SelectiveClassifier",),
    "meta.thresholds": ("TunedThresholdClassifierCV",),
    "meta.voting": ("HierarchicalVotingClassifier",),
    "model_selection.splitting": (
        "HierarchicalStratifiedKFold",
        "HierarchicalStratifiedShuffleSplit",
    ),
    "taxonomies.mapping": ("LabelMapping", "MappingLine"),
    "taxonomies.probabilities": ("Revision",),
    "trees.classifier": ("PCTClassifier",),
    "trees.forests": (
        "PCTBaggingClassifier",
        "PCTExtraTreesClassifier",
        "PCTForestClassifier",
    ),
    "trees.target_classifiers": (
        "PCTMultiTargetClassifier",
        "PCTMultiTargetForestClassifier",
    ),
    "trees.target_regressors": (
        "PCTForestRegressor",
        "PCTRegressor",
    ),
}
"""ramify's own classes in model files, by the module that registers them when it is imported."""
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}
_FITTED = re.compile(r"[A-Za-z]\w*_")

AnyClass = TypeVar("AnyClass", bound=type)


def savable(cls: AnyClass) -> AnyClass:
    """Class decorator that allows models containing instances of the class to be saved.

    Estimators are saved as their parameters and fitted attributes, dataclasses as their fields.
    Subclasses of `HierarchicalClassifier` need no decorator.
    """
    _CLASSES[saved_name(cls)] = cls
    return cls


def saved_name(cls: type) -> str:
    """Return the name of a class in files: without the module for ramify's own, which may move."""
    is_ours = cls.__module__.partition(".")[0] == "ramify"
    return cls.__qualname__ if is_ours else f"{cls.__module__}.{cls.__qualname__}"


def find_savable(name: str) -> type | None:
    """Return the class registered under a name, or None; import the module of ramify's own."""
    if name not in _CLASSES and name in _MODULE_OF:
        import_module(f"ramify.{_MODULE_OF[name]}")
    return _CLASSES.get(name)


def get_fitted(estimator: Any) -> dict[str, Any]:
    """Return the fitted attributes: by scikit-learn's convention, those that end in "_"."""
    return {name: value for name, value in vars(estimator).items() if _FITTED.fullmatch(name)}


def set_fitted(estimator: Any, state: Mapping[str, Any]) -> None:
    """Set fitted attributes; raise an error for names that `fit` cannot have set."""
    for name, value in state.items():
        on_class = getattr(type(estimator), name, None)
        is_taken = isinstance(on_class, property) or callable(on_class)
        if is_taken or not _FITTED.fullmatch(name):
            raise ValueError(f"{type(estimator).__name__} has no fitted attribute {name!r}")
        setattr(estimator, name, value)
