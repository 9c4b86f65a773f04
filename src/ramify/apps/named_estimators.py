"""Construction of estimators from names and parameters given as text."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ramify._messages import did_you_mean

if TYPE_CHECKING:
    from ramify.labels.hierarchy import Hierarchy


def _make_leaf_model(
    *,
    hierarchy: Hierarchy | None,
    method: str = "mas",
    alpha: Any = "cv",
    n_jobs: int | None = None,
    random_state: Any = None,
) -> Any:
    """Return a classifier for mandatory leaf prediction; all parameters are keywords."""
    from ramify.meta.mandatory_leaf import make_leaf_classifier  # noqa: PLC0415 (slow)

    return make_leaf_classifier(
        method, hierarchy, alpha=alpha, n_jobs=n_jobs, random_state=random_state
    )


def _make_vote(
    *,
    hierarchy: Hierarchy | None,
    estimators: Any = ("gradient-boosting", "extra-trees"),
    weights: Any = None,
    scoring: str = "pooled_auprc",
    cv: Any = 5,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> Any:
    """Return the vote of models given by name, each of which uses `n_jobs` threads."""
    from ramify.meta.voting import HierarchicalVotingClassifier  # noqa: PLC0415 (slow)

    members = [
        (name, make_inner(name, seed=random_state, n_jobs=n_jobs))
        for name in member_names(estimators)
    ]
    return HierarchicalVotingClassifier(
        members,
        hierarchy=hierarchy,
        weights=weights,
        scoring=scoring,
        cv=cv,
        random_state=random_state,
    )


def member_names(estimators: Any = None) -> list[str]:
    """Return the names of the members of a vote.

    >>> member_names("tree, forest")
    ['tree', 'forest']
    """
    if estimators is None:
        estimators = inspect.signature(_make_vote).parameters["estimators"].default
    given = estimators.split(",") if isinstance(estimators, str) else estimators
    if not isinstance(given, list | tuple) or not all(isinstance(name, str) for name in given):
        raise ValueError(
            f"estimators must be names of models separated by commas, got {estimators!r}. Write, "
            "for example, estimators=forest,extra-trees."
        )
    return [name.strip() for name in given]


class _Models(Mapping[str, Callable[..., Any]]):
    """Estimators by name. Only names are known at first: a lookup imports the estimator."""

    def __init__(self, makers: dict[str, str | Callable[..., Any]]) -> None:
        self._makers = makers

    def __getitem__(self, name: str) -> Callable[..., Any]:
        maker = self._makers[name]
        if not isinstance(maker, str):
            return maker
        module, _, own = maker.rpartition(".")
        found: Callable[..., Any] = getattr(import_module(f"ramify.{module}"), own)
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._makers

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


MODELS: Mapping[str, Callable[..., Any]] = _Models(
    {
        "forest": "trees.PCTForestClassifier",
        "tree": "trees.PCTClassifier",
        "bagging": "trees.PCTBaggingClassifier",
        "extra-trees": "trees.PCTExtraTreesClassifier",
        "gradient-boosting": "boosting.PCTGradientBoostingClassifier",
        "per-edge": "local.PerEdgeClassifier",
        "per-node": "local.PerNodeClassifier",
        "per-parent": "local.PerParentClassifier",
        "per-level": "local.PerLevelClassifier",
        "flat": "local.FlatClassifier",
        "linear": "local.LinearClassifier",
        "boosting": "boosting.HierarchicalAdaBoostMHClassifier",
        "adaboost-mh": "boosting.AdaBoostMHClassifier",
        "naive-bayes": "local.GlobalNaiveBayes",
        "br-dt": "local.BRDTClassifier",
        "binary-relevance": "local.BinaryRelevance",
        "binary-relevance-plus": "local.BinaryRelevancePlus",
        "label-powerset": "local.LabelPowerset",
        "rakel": "local.RAkEL",
        "ml-knn": "local.MLkNN",
        "mandatory-leaf": _make_leaf_model,
        "vote": _make_vote,
        "blend": "meta.BlendClassifier",
    }
)
"""Estimators by their name in ``ramify train --model``."""

DEFAULT = "forest"
"""The default of ``ramify train`` with parameters, or if no other is better on some rows."""


def parse_settings(settings: Sequence[str]) -> dict[str, Any]:
    """Parse parameters written as ``name=value``.

    >>> parse_settings(["n_estimators=50", "max_features=log2", "max_depth=None"])
    {'n_estimators': 50, 'max_features': 'log2', 'max_depth': None}
    """
    parameters = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name.strip():
            raise ValueError(
                f"parameters must have the form name=value, got {setting!r}. Write, for example, "
                "n_estimators=50."
            )
        try:
            parameters[name.strip()] = ast.literal_eval(value)
        except (SyntaxError, ValueError):
            parameters[name.strip()] = value
    return parameters


def make_model(
    name: str,
    hierarchy: Hierarchy | None,
    settings: Sequence[str] = (),
    *,
    seed: int = 0,
    n_jobs: int | None = None,
) -> Any:
    """Create an estimator by name."""
    check_model(name, settings)
    make = MODELS[name]
    known = inspect.signature(make).parameters
    parameters = parse_settings(settings)
    if isinstance(parameters.get("estimator"), str):
        parameters["estimator"] = make_inner(parameters["estimator"], seed=seed)
    defaults = {"random_state": seed, "n_jobs": n_jobs}
    shared = {key: value for key, value in defaults.items() if key in known}
    return make(hierarchy=hierarchy, **{**shared, **parameters})


def check_model(name: str, settings: Sequence[str] = ()) -> None:
    """Check the arguments of `make_model`; create nothing, and import nothing for a name alone."""
    _check_model_name(name)
    parameters = parse_settings(settings)
    if parameters:
        check_parameter_names(name, parameters)
    if isinstance(parameters.get("estimator"), str):
        check_inner(parameters["estimator"])


def _check_model_name(name: str) -> None:
    if name not in MODELS:
        raise ValueError(
            f"model must be one of {', '.join(MODELS)}, got {name!r}.{did_you_mean(name, MODELS)}"
        )


def check_parameter_names(name: str, parameters: Iterable[str]) -> None:
    """Raise an error if a model does not have some parameters; suggest the right names.

    >>> check_parameter_names("br-dt", ["validation"])
    Traceback (most recent call last):
        ...
    ValueError: br-dt has no parameter 'validation'. Did you mean 'validation_fraction'? ...
    """
    make = MODELS[name]
    known = [other for other in inspect.signature(make).parameters if other != "hierarchy"]
    for parameter in parameters:
        if parameter not in known:
            raise ValueError(
                f"{name} has no parameter {parameter!r}.{did_you_mean(parameter, known)} Its "
                f"parameters are {', '.join(known)}."
            )


def make_inner(
    name: str, settings: Sequence[str] = (), *, seed: int = 0, n_jobs: int | None = 1
) -> Any:
    """Create the inner estimator of a model that wraps another one, e.g. a local architecture."""
    if not name.startswith("sklearn."):
        return make_model(name, None, settings, seed=seed, n_jobs=n_jobs)
    parameters = parse_settings(settings)
    check_inner(name, parameters)
    make = _sklearn_classifiers()[name]
    shared = {"random_state": seed} if "random_state" in inspect.signature(make).parameters else {}
    return make(**{**shared, **parameters})


def check_inner(name: str, parameters: Iterable[str] = ()) -> None:
    """Check the name and the parameter names of a classifier for `make_inner`; create nothing.

    >>> check_inner("sklearn.datasets.clear_data_home")
    Traceback (most recent call last):
        ...
    ValueError: estimator must be a model of ramify or the full name of a scikit-learn ...
    """
    if not name.startswith("sklearn."):
        _check_model_name(name)
        check_parameter_names(name, parameters)
        return
    classifiers = _sklearn_classifiers()
    if name not in classifiers:
        raise ValueError(
            "estimator must be a model of ramify or the full name of a scikit-learn classifier, "
            f"e.g. sklearn.ensemble.RandomForestClassifier, got {name!r}."
            f"{did_you_mean(name, classifiers)}"
        )
    known = list(inspect.signature(classifiers[name]).parameters)
    for parameter in parameters:
        if parameter not in known:
            raise ValueError(
                f"{name} has no parameter {parameter!r}.{did_you_mean(parameter, known)} It has "
                f"{', '.join(known)}."
            )


@cache
def _sklearn_classifiers() -> dict[str, type]:
    """Return the classifiers of scikit-learn by full name; nothing else can be named."""
    from sklearn.utils import all_estimators  # noqa: PLC0415 (slow)

    found = {}
    for name, kind in all_estimators(type_filter="classifier"):
        module = kind.__module__.partition("._")[0]  # without private modules
        if module.startswith("sklearn."):
            found[f"{module}.{name}"] = kind
    return found
