"""The points that one fitted model adds to a curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from ramify.decision import nested_approximation
from ramify.metrics import label_imbalance, level_accuracy
from ramify.studies.curves import CurveSpec
from ramify.studies.data import Rows, StudyData
from ramify.studies.measuring import Predictions, scorer_of, value_of
from ramify.studies.models import label_sets, take

__all__ = ["FittedCell", "curve_points"]

Points = tuple[list[float], list[float | None]]


@dataclass(frozen=True)
class FittedCell:
    """A fitted model with the rows it was trained on and those it is tested on.

    Attributes
    ----------
    model : estimator
        A fitted model.
    data : StudyData
        The data set.
    train, test : ndarray of int
        Row numbers.
    """

    model: Any
    data: StudyData
    train: Rows
    test: Rows


def curve_points(curve: CurveSpec, cell: FittedCell) -> dict[str, Any] | None:
    """Return the points of a curve.

    Parameters
    ----------
    curve : CurveSpec
        What to draw.
    cell : FittedCell
        The model and the rows.

    Returns
    -------
    dict or None
        "x" and "y", ready for JSON; None if the model has no such curve.
    """
    test = cell.test if curve.rows is None else cell.test[: curve.rows]
    cell = FittedCell(cell.model, cell.data, cell.train, test)
    points = _POINTS[curve.over](curve, cell)
    return None if points is None else {"x": points[0], "y": points[1]}


def _over_stages(curve: CurveSpec, cell: FittedCell) -> Points | None:
    """Measure after some rounds, and after the last."""
    of_scores = scorer_of(curve.measure).of_scores
    staged = getattr(cell.model, "staged_predict_proba" if of_scores else "staged_predict", None)
    if staged is None:
        return None
    xs: list[float] = []
    ys: list[float | None] = []
    stage, predicted = 0, None
    for stage, predicted in enumerate(staged(take(cell.data.X, cell.test)), start=1):
        if stage in curve.values:
            xs.append(stage)
            ys.append(_value(curve, cell, predicted))
    if stage and stage not in curve.values:
        xs.append(stage)
        ys.append(_value(curve, cell, predicted))
    return xs, ys


def _over_option(curve: CurveSpec, cell: FittedCell) -> Points | None:
    """Measure at several values of an option; models that have it as a parameter follow it."""
    follows = hasattr(cell.model, "get_params") and hasattr(cell.model, "estimator_")
    follows = follows and curve.option in cell.model.get_params(deep=False)
    fixed = None if follows else _predicted(curve, cell.model, cell)
    ys = []
    for value in curve.values:
        model = _told(cell, curve.option, value) if follows else cell.model
        predicted = _predicted(curve, model, cell) if follows else fixed
        ys.append(_value(curve, cell, predicted, {curve.option: value}))
    return list(curve.values), ys


def _told(cell: FittedCell, option: str, value: float) -> Any:
    """Return the model with another value of a parameter; the one inside is not fitted again."""
    changed = {option: value, "estimator": FrozenEstimator(cell.model.estimator_)}
    model = clone(cell.model).set_params(**changed)
    return model.fit(take(cell.data.X, cell.train), cell.data.y[cell.train])


def _over_levels(curve: CurveSpec, cell: FittedCell) -> Points | None:
    data = cell.data
    predicted = label_sets(cell.model, take(data.X, cell.test))
    found = level_accuracy(data.y[cell.test], predicted, hierarchy=data.hierarchy)
    return list(range(1, len(found) + 1)), _finite(found)


def _over_leaves(curve: CurveSpec, cell: FittedCell) -> Points | None:
    """Count nested best sets by the probabilities and, if it has one, the objective of a model."""
    X = take(cell.data.X, cell.test)
    ks = [int(k) for k in curve.values]
    options: dict[str, Any] = {}
    if getattr(cell.model, "objective", "map") == "risk":
        scores = cell.model.predict_proba(X)
        options = {"objective": "risk", "alpha": cell.model.alpha_, "costs": cell.model.costs}
    else:
        inner = getattr(cell.model, "estimator_", cell.model)
        conditional = options["conditional"] = hasattr(inner, "predict_conditional_proba")
        scores = inner.predict_conditional_proba(X) if conditional else cell.model.predict_proba(X)
    found = nested_approximation(scores, cell.data.hierarchy, ks, **options)
    return found.k.tolist(), _finite(found.share)


def _predicted(curve: CurveSpec, model: Any, cell: FittedCell) -> Any:
    X = take(cell.data.X, cell.test)
    of_scores = scorer_of(curve.measure).of_scores
    return model.predict_proba(X) if of_scores else label_sets(model, X)


def _value(
    curve: CurveSpec, cell: FittedCell, predicted: Any, more: dict[str, Any] | None = None
) -> float | None:
    predictions = Predictions(cell.test, predicted, predicted)
    imbalance = label_imbalance(cell.data.y[cell.train])
    options = {**curve.options, **(more or {})}
    return value_of(curve.measure, options, cell.data, predictions, imbalance)


def _finite(values: Any) -> list[float | None]:
    return [float(value) if np.isfinite(value) else None for value in values]


_POINTS = {
    "stages": _over_stages,
    "option": _over_option,
    "levels": _over_levels,
    "nested": _over_leaves,
}
