"""A `fit` that fails or is interrupted leaves every estimator as it was."""

from __future__ import annotations

import copy
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted

import ramify
from ramify import (
    HierarchicalAdaBoostMHClassifier,
    HierarchyBinarizer,
    MandatoryLeafClassifier,
    PCTClassifier,
    PCTForestClassifier,
    PerNodeClassifier,
)
from tests.support.estimators import make, public_classifiers

SOURCE = str(Path(ramify.__file__).parent)
every_classifier = pytest.mark.parametrize("cls", public_classifiers(), ids=lambda c: c.__name__)
every_error = pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])

_RNG = np.random.default_rng(3)
OLD_X = pd.DataFrame(_RNG.normal(size=(30, 4)), columns=["p", "q", "r", "s"])
OLD_Y = [["a/b"], ["a/c"], ["d"], ["a/b", "d"], ["a/c"]] * 6
NEW_X = _RNG.normal(size=(40, 3))
NEW_Y = [["v/w"], ["v/x", "y"], ["y"], ["v/w"], ["z"]] * 8


def run_until(call: int, error: type[BaseException] | None, function: Callable[[], Any]) -> int:
    """Run a function, raise `error` at one of its calls in ramify, and return their number."""
    n_calls = 0

    def trace(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal n_calls
        code = frame.f_code
        # Closing a generator is an event, too, but one where exceptions are ignored.
        if code.co_filename.startswith(SOURCE) and not code.co_flags & inspect.CO_GENERATOR:
            n_calls += 1
            if n_calls == call and error is not None:
                raise error("stopped")

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function()
    finally:
        sys.settrace(before)
    return n_calls


def count_calls(model: Any, *data: Any) -> int:
    """Return how many calls a fit makes once everything that is cached for good is cached."""
    copy.deepcopy(model).fit(*data)
    twin = copy.deepcopy(model)
    return run_until(0, None, lambda: twin.fit(*data))


def stop_fit(model: Any, error: type[BaseException], call: int, *data: Any) -> None:
    """Fit, and raise `error` at a call."""
    with pytest.raises(error, match="stopped"):
        run_until(max(1, call), error, lambda: model.fit(*data))


def assert_same_state(model: Any, before: dict[str, Any]) -> None:
    after = vars(model)
    assert after.keys() == before.keys()
    assert [name for name in before if after[name] is not before[name]] == []


class Unchanged:
    """Check that a fitted model is the same after the body as before."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def __enter__(self) -> None:
        self.state = dict(vars(self.model))
        self.scores = self.model.predict_proba(OLD_X)

    def __exit__(self, *error: object) -> None:
        assert_same_state(self.model, self.state)
        assert self.model.n_features_in_ == 4
        assert self.model.feature_names_in_.tolist() == ["p", "q", "r", "s"]
        assert self.model.classes_.tolist() == ["a", "a/b", "a/c", "d"]
        np.testing.assert_array_equal(self.model.predict_proba(OLD_X), self.scores)


REFUSED = {
    "y has 39": (NEW_X, NEW_Y[:-1]),
    "label": (NEW_X, [*NEW_Y[:-1], [float("nan")]]),
    "infinity": (np.where(NEW_X.max() == NEW_X, np.inf, NEW_X), NEW_Y),
}
"""Data that fit refuses, by a word of the message."""


@every_classifier
def test_a_refused_refit_changes_nothing(cls: type) -> None:
    model = make(cls).fit(OLD_X, OLD_Y)
    for message, data in REFUSED.items():
        with Unchanged(model), pytest.raises(ValueError, match=message):
            model.fit(*data)


@every_classifier
@every_error
def test_a_refit_that_stops_in_the_middle_changes_nothing(
    cls: type, error: type[BaseException]
) -> None:
    model = make(cls).fit(OLD_X, OLD_Y)
    n_calls = count_calls(model, NEW_X, NEW_Y)
    for share in (0.0, 0.5, 0.9, 1.0):
        with Unchanged(model):
            stop_fit(model, error, int(share * n_calls), NEW_X, NEW_Y)


@every_classifier
@every_error
def test_a_first_fit_that_stops_leaves_an_unfitted_model(
    cls: type, error: type[BaseException]
) -> None:
    model = make(cls)
    before = dict(vars(model))
    n_calls = count_calls(model, NEW_X, NEW_Y)
    stop_fit(model, error, n_calls, NEW_X, NEW_Y)
    assert_same_state(model, before)
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    with pytest.raises(ValueError, match="y has 39"):
        model.fit(*REFUSED["y has 39"])
    assert_same_state(model, before)


@every_classifier
def test_a_refit_leaves_nothing_of_the_old_model(cls: type) -> None:
    model = make(cls).fit(OLD_X, OLD_Y)
    assert model.fit(NEW_X, NEW_Y) is model
    fresh = make(cls).fit(NEW_X, NEW_Y)
    assert vars(model).keys() == vars(fresh).keys()
    np.testing.assert_array_equal(model.predict_proba(NEW_X), fresh.predict_proba(NEW_X))


def test_the_binarizer_keeps_its_labels() -> None:
    binarizer = HierarchyBinarizer().fit(OLD_Y)
    before = dict(vars(binarizer))
    stop_fit(binarizer, KeyboardInterrupt, count_calls(binarizer, NEW_Y), NEW_Y)
    assert_same_state(binarizer, before)
    with pytest.raises(ValueError, match="label"):
        binarizer.fit(REFUSED["label"][1])
    assert_same_state(binarizer, before)
    assert binarizer.fit(NEW_Y) is binarizer
    assert binarizer.classes_.tolist() == ["v", "v/w", "v/x", "y", "z"]


# ---- warm start ----------------------------------------------------------------------------


@every_error
def test_a_warm_start_that_fails_keeps_the_old_trees(error: type[BaseException]) -> None:
    model = make(PCTForestClassifier, warm_start=True, n_estimators=3).fit(OLD_X, OLD_Y)
    model.set_params(n_estimators=6)
    old = list(model.trees_)
    n_calls = count_calls(model, OLD_X, OLD_Y)
    for share in (0.5, 0.9, 1.0):
        with Unchanged(model):
            stop_fit(model, error, int(share * n_calls), OLD_X, OLD_Y)
    with Unchanged(model), pytest.raises(ValueError, match="warm_start"):
        model.fit(NEW_X, NEW_Y)
    assert model.trees_ == old
    model.fit(OLD_X, OLD_Y)
    assert model.trees_[:3] == old
    fresh = make(PCTForestClassifier, n_estimators=6).fit(OLD_X, OLD_Y)
    np.testing.assert_array_equal(model.predict_proba(OLD_X), fresh.predict_proba(OLD_X))


# ---- attributes that only some fits set ----------------------------------------------------


def test_out_of_bag_scores_go_with_their_forest() -> None:
    model = make(PCTForestClassifier, n_estimators=20, oob_score=True).fit(OLD_X, OLD_Y)
    assert hasattr(model, "oob_score_")
    model.set_params(oob_score=False).fit(NEW_X, NEW_Y)
    assert not hasattr(model, "oob_score_")
    assert not hasattr(model, "oob_decision_function_")


def test_scores_of_f_tests_go_with_their_tree() -> None:
    model = PCTClassifier(f_test=[0.01, 0.1], random_state=0).fit(OLD_X, OLD_Y)
    assert hasattr(model, "f_test_scores_")
    assert not hasattr(model.set_params(f_test=0.1).fit(OLD_X, OLD_Y), "f_test_scores_")


# ---- estimators of others ------------------------------------------------------------------


class FailingTree(DecisionTreeClassifier):  # type: ignore[misc]
    """A classifier whose fit fails at a call of the class."""

    calls_left = 1000

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> FailingTree:
        type(self).calls_left -= 1
        if type(self).calls_left < 0:
            raise RuntimeError("out of calls")
        super().fit(X, y, sample_weight)
        return self


def leaves_of_nodes(inner: Any) -> MandatoryLeafClassifier:
    return MandatoryLeafClassifier(PerNodeClassifier(inner))


@pytest.mark.parametrize("make_model", [PerNodeClassifier, leaves_of_nodes])
@pytest.mark.parametrize("calls_left", [0, 1, 3])
def test_a_wrapped_estimator_that_fails(
    make_model: Callable[[Any], Any], calls_left: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = FailingTree(random_state=0)
    model = make_model(inner).fit(OLD_X, OLD_Y)
    monkeypatch.setattr(FailingTree, "calls_left", calls_left)
    with Unchanged(model), pytest.raises(RuntimeError, match="out of calls"):
        model.fit(NEW_X, NEW_Y)
    assert vars(inner).keys() == inner.get_params().keys()


def test_boosting_that_is_interrupted_in_any_round_changes_nothing() -> None:
    model = HierarchicalAdaBoostMHClassifier(n_estimators=5).fit(OLD_X, OLD_Y)
    n_calls = count_calls(model, NEW_X, NEW_Y)
    for call in range(1, n_calls + 1, 7):
        with Unchanged(model), pytest.raises(KeyboardInterrupt, match="stopped"):
            run_until(call, KeyboardInterrupt, lambda: model.fit(NEW_X, NEW_Y))


# ---- classes derived from ramify's ---------------------------------------------------------


class Noting:
    """A mixin that sets an attribute before the fit of the other base."""

    def fit(self, X: Any, y: Any, fail: bool = False) -> Any:
        self.note_ = len(y)
        super().fit(X, y)  # type: ignore[misc]
        if fail:
            raise RuntimeError("too late")
        return self


class ByMixin(Noting, PCTClassifier):
    """A tree whose fit comes from the mixin."""


class ByOverriding(PCTClassifier):
    """A tree with the same fit of its own."""

    def fit(self, X: Any, y: Any, fail: bool = False) -> Any:  # type: ignore[override]
        self.note_ = len(y)
        super().fit(X, y)
        if fail:
            raise RuntimeError("too late")
        return self


@pytest.mark.parametrize("cls", [ByMixin, ByOverriding])
def test_the_fit_of_a_derived_class_is_all_or_nothing(cls: Any) -> None:
    model = cls().fit(OLD_X, OLD_Y)
    assert model.note_ == 30
    with Unchanged(model), pytest.raises(RuntimeError, match="too late"):
        model.fit(NEW_X, NEW_Y, fail=True)
    assert model.fit(NEW_X, NEW_Y) is model
    assert model.note_ == 40
