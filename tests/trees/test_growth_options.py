"""Options of the core: typed attributes and the choice of the engine."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ramify import _core
from ramify.trees.clus import ClusMultilabel
from ramify.trees.options import TreeOptions
from tests.support.tree_problems import Problem


def make_rare(n_labels: int = 1) -> Problem:
    """Make numeric rows of which at least half have the first class."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 4))
    classes = np.where(X[:, 0] > 0.5, rng.integers(1, max(n_labels, 2), 60), 0)
    Y = np.eye(max(n_labels, 2))[classes]
    Y = Y[:, 1:] if n_labels == 1 else Y
    return Problem(X, np.zeros(4, np.int32), Y, np.ones(n_labels), np.ones(60))


def test_misspelled_options_raise_errors():
    with pytest.raises(TypeError, match="GrowOptions has no option max_dept"):
        _core.GrowOptions(max_dept=3)
    with pytest.raises(TypeError, match="criterion is of the wrong type"):
        _core.GrowOptions(criterion=1)
    with pytest.raises(ValueError, match=r"criterion must be one of variance, .*, got varience"):
        _core.GrowOptions(criterion="varience")
    with pytest.raises(TypeError, match="midpoint is of the wrong type"):
        _core.GrowOptions(midpoint="yes")
    with pytest.raises(ValueError, match=r"engine must be one of auto, .*, got fast"):
        make_rare().grow(TreeOptions(engine="fast"))


def test_options_do_not_change():
    options = _core.GrowOptions(min_weight=2.5)
    with pytest.raises(AttributeError):
        options.min_weight = 3.0


@pytest.mark.parametrize(
    ("engine", "changes", "reason"),
    [
        ("counting", {"criterion": "entropy"}, "criterion must be variance"),
        ("counting", {"max_features": 2}, "max_features must be all"),
        ("counting", {"splitter": "random"}, "random_thresholds must be off"),
        ("counting", {"pruning": "reduced_error"}, "inner nodes must not keep values"),
        ("counting", {"conventions": ClusMultilabel()}, "clus must be off"),
        ("rare_class", {"f_test": 0.05}, "no F-test"),
        ("rare_class", {"min_samples_leaf": 2}, "min_samples_leaf must be at most 1"),
        ("rare_class", {"min_weight": 2.0}, "min_weight must be at most 1"),
    ],
)
def test_engines_reject_unsupported_options(engine, changes, reason):
    problem = make_rare()
    problem.grow(TreeOptions(engine=engine))
    with pytest.raises(ValueError, match=f"engine {engine} does not support .*{reason}"):
        problem.grow(TreeOptions(engine=engine, **changes))
    problem.grow(TreeOptions(**changes))


def test_engines_reject_unsupported_data():
    one, several = make_rare(), make_rare(3)
    with pytest.raises(ValueError, match="there must be one label"):
        several.grow(TreeOptions(engine="counting"))
    plan = TreeOptions(engine="rare_class")
    several.grow(plan)
    holes = one.X.copy()
    holes[0, 0] = np.nan
    for problem, reason in (
        (replace(one, sample_weight=np.full(60, 2.0)), "all rows must have weight 1"),
        (replace(several, Y=np.ones((60, 3))), "each row must have one class"),
        (replace(several, label_weights=np.arange(3.0)), "label weights must be equal"),
        (replace(one, n_categories=np.array([0, 0, 0, 2], np.int32), X=one.X > 0), "numeric"),
        (replace(one, X=holes), "no value must be missing"),
    ):
        with pytest.raises(ValueError, match=reason):
            problem.grow(plan)


@pytest.mark.parametrize("engine", ["general", "counting", "rare_class"])
@pytest.mark.parametrize(("rounding", "n_nodes"), [(1e-12, 3), (1e-6, 1)])
def test_a_gain_equal_to_min_impurity_decrease_is_sufficient(engine, rounding, n_nodes):
    problem = make_rare()
    plan = TreeOptions(engine=engine, max_depth=1)
    gain = problem.grow(plan).gain[0] / 60
    tree = problem.grow(replace(plan, min_impurity_decrease=gain * (1 + rounding)))
    assert len(tree.feature) == n_nodes
