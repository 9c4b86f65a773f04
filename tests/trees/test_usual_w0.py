"""The weight of lower levels that forests choose from the kind of rows."""

import numpy as np
import pytest

import ramify
from ramify import (
    Hierarchy,
    PCTBaggingClassifier,
    PCTExtraTreesClassifier,
    PCTForestClassifier,
    make_hierarchical_classification,
)

ENSEMBLES = (PCTForestClassifier, PCTBaggingClassifier, PCTExtraTreesClassifier)


def paths(n_rows=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    k = (X[:, 0] > 0) + 2 * (X[:, 1] > 0)
    return X, np.array(["a/x", "a/y", "b/x", "b/y"])[k]


@pytest.mark.parametrize("ensemble", ENSEMBLES)
def test_one_path_a_row_weighs_its_end(ensemble):
    X, y = paths()
    chosen = ensemble(n_estimators=5, random_state=0).fit(X, y)
    given = ensemble(n_estimators=5, random_state=0, w0=4).fit(X, y)
    assert chosen.w0_ == given.w0_ == 4
    assert chosen.w0 is None
    np.testing.assert_array_equal(chosen.predict_proba(X), given.predict_proba(X))


@pytest.mark.parametrize("ensemble", ENSEMBLES)
def test_label_sets_weigh_as_in_clus(ensemble):
    data = make_hierarchical_classification(60, 4, n_labels=9, random_state=0)
    chosen = ensemble(data.hierarchy, n_estimators=5, random_state=0).fit(data.X, data.y)
    given = ensemble(data.hierarchy, n_estimators=5, random_state=0, w0=0.75)
    assert chosen.row_kind_ != "path"
    assert chosen.w0_ == 0.75
    found = given.fit(data.X, data.y).predict_proba(data.X)
    np.testing.assert_array_equal(chosen.predict_proba(data.X), found)


def test_clus_weighs_paths_as_label_sets():
    X, y = paths()
    assert PCTForestClassifier(n_estimators=2, clus_compat=True).fit(X, y).w0_ == 0.75


def test_a_chain_of_hundreds_of_levels_keeps_exact_weights():
    X, y = paths()
    deep = "/".join(map(str, range(300)))
    model = PCTForestClassifier(n_estimators=2, random_state=0).fit(X, [f"{v}/{deep}" for v in y])
    assert 1 < model.w0_ < 4
    assert model.hierarchy_.weights(model.w0_).max() < 1e31


def test_members_and_files_keep_the_weight(tmp_path):
    X, y = paths()
    model = PCTForestClassifier(n_estimators=3, random_state=0).fit(X, y)
    assert model[0].w0 == 4
    ramify.save(model, tmp_path / "m.ramify")
    assert ramify.load(tmp_path / "m.ramify").w0_ == 4


def test_the_weight_is_checked_and_told(capsys):
    X, y = paths()
    with pytest.raises(ValueError, match="w0 must"):
        PCTForestClassifier(w0=-1).fit(X, y)
    PCTForestClassifier(n_estimators=2, verbose=True).fit(X, y)
    assert "w0=4" in capsys.readouterr().err


def test_relearnt_forests_keep_the_weight():
    X, y = paths()
    model = PCTForestClassifier(n_estimators=3, random_state=0).fit(X, y)
    new = Hierarchy.from_paths(["a/x", "a/y", "b/x", "b/y", "b/z"])
    assert model.with_hierarchy(new, X=X, y=y).w0_ == 4
