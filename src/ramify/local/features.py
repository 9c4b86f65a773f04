"""X once for all local models: as our trees read it, and as other classifiers want it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify._base.features import FeatureSchema, make_dataset

__all__ = ["SharedFeatures"]


@dataclass
class SharedFeatures:
    """The training features, prepared once however many models learn from them.

    A copy that travels to another process prepares its own ranks there.

    Attributes
    ----------
    X : ndarray or csc_array
        What `read_training_features` returned.
    given : ndarray, csr_array or data frame
        The same rows for classifiers of other libraries: a data frame as it came, with its
        names and its nominal columns; otherwise checked numbers.
    schema : FeatureSchema
        Which columns of X are nominal.
    names : ndarray of str, optional
        The names of the columns, if X was a data frame.
    stop : StopFlag
        Ends all trees that grow on these features.
    """

    X: Any
    given: Any
    schema: FeatureSchema
    names: NDArray[Any] | None = None
    stop: _core.StopFlag = field(default_factory=_core.StopFlag)

    @cached_property
    def dataset(self) -> _core.Dataset:
        """X as the core grows trees on it."""
        return make_dataset(self.X, self.schema)

    @cached_property
    def by_rows(self) -> Any:
        """X in a layout whose rows can be picked."""
        return cast("Any", self.X).tocsr() if sparse.issparse(self.X) else self.X

    def __getstate__(self) -> dict[str, Any]:
        left_here = ("dataset", "by_rows", "stop")
        return {k: v for k, v in self.__dict__.items() if k not in left_here}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, stop=_core.StopFlag())

    def describe(self, estimator: Any) -> None:
        """Set what a fitted estimator of ours knows about its features."""
        estimator.schema_ = self.schema
        estimator.n_features_in_ = self.X.shape[1]
        if self.names is not None:
            estimator.feature_names_in_ = np.array(self.names, dtype=object)


def given_features(X: Any, coded: Any) -> Any:
    """Return what classifiers of other libraries get: data frames as they came, else numbers."""
    if hasattr(X, "columns") and not sparse.issparse(X):
        return X
    return cast("Any", coded).tocsr() if sparse.issparse(coded) else coded
