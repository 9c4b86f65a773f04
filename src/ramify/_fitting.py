"""All-or-nothing `fit`: a failed or interrupted `fit` leaves an estimator unchanged."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np

from ramify._savable import get_fitted

_NOT_ONLY_FLAGS = ("oob_score", "verbose")
"""Parameters that also take the name of a measure or a number."""

Fit = TypeVar("Fit", bound=Callable[..., Any])


def all_or_nothing(fit: Fit) -> Fit:
    """Make a `fit` method replace the fitted state at its end, or not at all.

    It runs on a copy that has the parameters but, unless `warm_start` is True, no fitted
    attributes, the old values of which it must not modify in place. If it raises anything,
    including KeyboardInterrupt, the estimator is unchanged.

    >>> class Mean:
    ...     @all_or_nothing
    ...     def fit(self, values):
    ...         self.n_ = len(values)
    ...         self.mean_ = sum(values) / self.n_
    >>> model = Mean().fit([1, 3])
    >>> model.fit([])
    Traceback (most recent call last):
    ZeroDivisionError: division by zero
    >>> model.n_, model.mean_
    (2, 2.0)
    """

    @wraps(fit)
    def fit_copy(self: Any, *args: Any, **kwargs: Any) -> Any:
        if type(self).fit is not fit_copy:  # called by an overriding fit, so part of that one
            return fit(self, *args, **kwargs)
        _check_flags(self)
        dropped = {} if getattr(self, "warm_start", False) else get_fitted(self)
        learner = object.__new__(type(self))
        vars(learner).update({k: v for k, v in vars(self).items() if k not in dropped})
        fit(learner, *args, **kwargs)
        # A single assignment: an interrupt comes before or after it.
        self.__dict__ = vars(learner)
        return self

    fit_copy._is_all_or_nothing = True  # type: ignore[attr-defined]
    return cast("Fit", fit_copy)


def is_all_or_nothing(fit: Callable[..., Any]) -> bool:
    """Return whether a method is decorated with `all_or_nothing`."""
    return bool(getattr(fit, "_is_all_or_nothing", False))


def _check_flags(estimator: Any) -> None:
    """Refuse other values than True and False for flags; "false", for one, would count as true."""
    for name, parameter in inspect.signature(type(estimator)).parameters.items():
        if isinstance(parameter.default, bool) and name not in _NOT_ONLY_FLAGS:
            value = getattr(estimator, name)
            if not isinstance(value, bool | np.bool_):
                raise ValueError(f"{name} must be True or False, got {value!r}.")
