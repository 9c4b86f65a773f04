"""Every public estimator with every function of inspection, export and saving."""

import inspect
import re
from functools import lru_cache
from importlib.util import find_spec

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import ramify
from ramify import (
    BinaryRelevancePlus,
    Hierarchy,
    LabelPowerset,
    PCTForestClassifier,
    RAkEL,
    export,
    inspection,
    saving,
)
from ramify.inspection import explore, export_text, importances, rules, summarise
from ramify.metrics import model_complexity
from tests.support.estimators import make, multi_target_estimators, public_estimators
from tests.support.inspection_cases import data_of

mpl.use("Agg")
pytestmark = pytest.mark.filterwarnings(  # of shap's own import
    "ignore::PendingDeprecationWarning", "ignore::DeprecationWarning"
)
if not all(map(find_spec, ("onnx", "shap"))):
    pytest.skip("needs onnx and shap", allow_module_level=True)

HIERARCHY = Hierarchy.from_paths(["a/x", "a/y", "b"])
REMEDY = re.compile(r"\. (Use|Pass|Save|Inspect|Explain|Fit|Omit|Set) ")


@pytest.fixture(autouse=True)
def _no_compiling(monkeypatch):
    """Keep shap from compiling, as in other tests of the process that imports it."""
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")


@lru_cache(maxsize=1)
def rows():
    return np.random.default_rng(0).normal(size=(60, 3))


def label_sets():
    X = rows()
    limits = (("a/x", 0), ("a/y", 1), ("b", 2))
    return [[name for name, j in limits if x[j] > 0] for x in X]


@lru_cache(maxsize=100)
def fitted(cls):
    X = rows()
    if cls in multi_target_estimators():
        y = X[:, :2].round(1) if "Regressor" in cls.__name__ else (X[:, :2] > 0).astype(int)
        return make(cls).fit(X, y)
    if cls is ramify.HierarchyBinarizer:
        return cls(HIERARCHY).fit(label_sets())
    return make(cls, hierarchy=HIERARCHY).fit(X, label_sets())


CALLS = {
    "explain": lambda model, folder: inspection.explain(model, rows()[3]).to_text(),
    "explore": lambda model, folder: explore(model, rows(), label_sets(), folder / "page.html"),
    "export_graphviz": lambda model, folder: inspection.export_graphviz(model),
    "export_svg": lambda model, folder: inspection.export_svg(model),
    "export_text": lambda model, folder: export_text(model),
    "importances": lambda model, folder: importances(model),
    "model_complexity": lambda model, folder: model_complexity(model),
    "permutation_importances": lambda model, folder: inspection.permutation_importances(
        model, rows(), label_sets(), n_repeats=1, random_state=0
    ),
    "plot_label_graph": lambda model, folder: inspection.plot_label_graph(model),
    "plot_tree": lambda model, folder: inspection.plot_tree(model, max_trees=1),
    "rules": lambda model, folder: rules(model),
    "rules of rows": lambda model, folder: rules(model, rows(), label_sets()).to_text(),
    "save": lambda model, folder: saving.save(model, folder / "model.ramify"),
    "load": lambda model, folder: saving.load(folder / "model.ramify"),
    "shap_values": lambda model, folder: inspection.shap_values(model, rows()[:1]),
    "shap_values with a background": lambda model, folder: inspection.shap_values(
        model, rows()[:1], rows()[:5]
    ),
    "summarise": lambda model, folder: summarise(model),
    "to_onnx": lambda model, folder: export.to_onnx(model),
}


def refusal(name, model, folder):
    """Return the message with which a function refuses a model, or None if it works."""
    try:
        CALLS[name](model, folder)
    except (TypeError, ValueError) as error:
        return str(error)
    return None


def test_no_function_is_left_out():
    public = {
        name
        for package in (inspection, export, saving)
        for name in package.__all__
        if inspect.isfunction(getattr(package, name))
    }
    assert public - {"look"} <= set(CALLS)  # look shows tables, not models


@pytest.mark.parametrize("cls", public_estimators(), ids=lambda cls: cls.__name__)
def test_works_or_names_the_class_and_a_remedy(cls, tmp_path):
    model = fitted(cls)
    for name in CALLS:
        text = refusal(name, model, tmp_path)
        if text is not None:
            assert cls.__name__ in text, f"{name}: {text}"
            assert REMEDY.search(text), f"{name}: {text}"
    mpl.pyplot.close("all")


WORKING = {
    "PCTClassifier": {"explain", "rules of rows", "shap_values", "to_onnx"},
    "PCTForestClassifier": {"explain", "rules of rows", "shap_values", "to_onnx"},
    "PCTGradientBoostingClassifier": {"explain", "rules of rows", "model_complexity"},
    "PCTRegressor": {"model_complexity", "summarise"},
    "PCTMultiTargetForestClassifier": {"model_complexity", "summarise"},
    "BRDTClassifier": {"explore", "plot_label_graph", "rules of rows"},
    "BinaryRelevancePlus": {"explore", "importances", "plot_tree", "rules of rows"},
    "PerLevelClassifier": {"explore", "importances", "rules of rows"},
    "LabelPowerset": {"explore", "importances", "rules"},
    "RAkEL": {"explore", "importances", "rules"},
    "MandatoryLeafClassifier": {"model_complexity"},
    "GlobalNaiveBayes": {"permutation_importances", "shap_values with a background"},
}


@pytest.mark.parametrize("name", WORKING)
def test_what_has_to_work(name, tmp_path):
    model = fitted(getattr(ramify, name))
    for call in WORKING[name] | ({"export_text"} if "explore" in WORKING[name] else set()):
        assert CALLS[call](model, tmp_path) is not None


def test_labels_are_features_of_binary_relevance_plus(tmp_path):
    X = pd.DataFrame({"size": rows()[:, 0], "kind": np.where(rows()[:, 1] > 0, "round", "flat")})
    forest = PCTForestClassifier(n_estimators=2, random_state=0)
    y = [[*labels, "c"] if "b" in labels else labels for labels in label_sets()]
    for estimator in (None, forest):
        model = BinaryRelevancePlus(estimator, random_state=0).fit(X, y)
        assert re.search(r"^b > 0\.5\?", export_text(model), re.MULTILINE)
        assert "weight > " in export_text(model, feature_names=["weight", "shape"])
        data = data_of(explore(model, X, y, tmp_path / "page.html"))
        names = [feature["name"] for feature in data["features"]]
        assert names == ["size", "kind", *model.hierarchy_.labels]
        assert data["features"][1]["categories"] == ["flat", "round"]
        assert {len(row) for row in data["rows"]["X"]} == {len(names)}
        assert importances(model).overall[2:].max() > 0
        rule = rules(model, X, y, deduplicate=False)[0]
        assert rule.support > 0


def test_pages_of_label_sets_have_no_curves(tmp_path):
    for model in (RAkEL(group_size=2, random_state=0), LabelPowerset(random_state=0)):
        model.fit(rows(), label_sets())
        data = data_of(explore(model, rows(), label_sets(), tmp_path / "page.html"))
        assert data["labels"] == list(summarise(model).hierarchy.labels)
        assert not {"curves", "truth", "scores"} & {*data, *data["rows"]}
        assert len(importances(model).overall) == 3


class Stumps(ramify.PCTForestClassifier):
    """A new ensemble whose trees are told apart by their features."""

    def _as_trees(self):
        found = super()._as_trees()
        trees = [one for one in found.trees if one.tree.feature[0] >= 0]
        return type(found)(tuple(trees), found.hierarchy, found.predict, combination=None)


def test_a_new_ensemble_needs_only_to_say_what_its_trees_are():
    model = Stumps(n_estimators=3, random_state=0).fit(rows(), label_sets())
    assert export_text(model).count("# tree") == 3
    assert summarise(model).combination is None
    assert model_complexity(model) == sum(len(tree.feature) for tree in model.trees_)
    with pytest.raises(TypeError, match=r"got Stumps\. Save other models"):
        export.to_onnx(model)
    with pytest.raises(ValueError, match=r"mean of its trees, got Stumps\. Explain one"):
        inspection.explain(model, rows()[0])


def test_local_trees_with_a_chosen_f_test_are_shown():
    tree = ramify.PCTClassifier(f_test=[0.1, 0.5], cv=2, random_state=0)
    model = ramify.PerNodeClassifier(tree, hierarchy=HIERARCHY).fit(rows(), label_sets())
    assert [one.name for one in summarise(model).trees] == ["a", "a/x", "a/y", "b"]


def test_other_objects_are_refused():
    for model in (ramify.PCTClassifier, "model.ramify"):
        with pytest.raises(TypeError, match=r"Save other models with ramify\.save"):
            export.to_onnx(model)
    for call in ("export_text", "explain", "permutation_importances", "shap_values", "to_onnx"):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            CALLS[call](ramify.PCTClassifier(), None)


if __name__ == "__main__":
    pytest.main([__file__])
