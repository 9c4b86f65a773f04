"""Models of an old taxonomy that predict the labels of a new one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ramify
from ramify import (
    Hierarchy,
    LabelMapping,
    ModelFileError,
    PCTClassifier,
    PCTForestClassifier,
    PerParentClassifier,
    make_hierarchical_classification,
)
from ramify.meta.carried import CarriedClassifier
from ramify.taxonomies.probabilities import ProbabilityCarrier
from tests.reference.carrying import carry_paths
from tests.support.label_graphs import build, label_graphs
from tests.support.model_file_fields import put_together, take_apart

OLD = Hierarchy.from_paths(["pets/cats", "pets/dogs", "food/dry", "food/tins", "toys"])
NEW = Hierarchy.from_paths(["animals/cats", "animals/dogs/small", "shop/food", "shop/games"])
LINES = [("pets", "animals"), ("food", "shop/food"), ("food/dry", "shop/food"),
         ("food/tins", "shop/food"), ("toys", None)]  # fmt: skip
ROWS = np.arange(6.0)[:, None]
PATHS = ["pets/cats", "pets/dogs", "food/dry", "food/tins", "pets/cats", "food/tins"]


@st.composite
def mapped_paths(draw: st.DrawFn) -> tuple[LabelMapping, Any]:
    """Draw a mapping from a tree, and how probable it is that a row ends at each label."""
    n = draw(st.integers(1, 8))
    parents = {k: draw(st.integers(0, k)) for k in range(n)}  # those before it, or none
    old = build({f"n{k}": [f"n{p}"] if p < k else [] for k, p in parents.items()})
    new = build(draw(label_graphs()))
    lines: list[Any] = []
    for label in draw(st.sets(st.sampled_from(old.labels))):
        targets = draw(st.sets(st.sampled_from(new.labels), max_size=3))
        lines += [(label, target) for target in targets] or [(label, None)]
    weights = draw(st.lists(st.integers(0, 9), min_size=n, max_size=n))
    return LabelMapping(old, new, lines), np.array(weights) / max(1, sum(weights))


@given(mapped_paths())
def test_probabilities_of_paths_are_carried_exactly(case: tuple[LabelMapping, Any]) -> None:
    mapping, ends = case
    below = np.eye(len(ends), dtype=int)
    for k, label in enumerate(mapping.old.labels):
        below[mapping.old.indices(mapping.old.ancestors(label)), k] = 1
    scores = (below @ ends)[None, :]
    carried = ProbabilityCarrier(mapping, exclusive=True).carry(scores)[0]
    np.testing.assert_allclose(carried, carry_paths(mapping, ends), atol=1e-12)


def test_merged_and_moved_label_sets() -> None:
    old = Hierarchy.from_paths(["a/x", "a/y", "b"])
    new = Hierarchy.from_paths(["a/y", "b/x"])
    mapping = LabelMapping(old, new, [("a/x", "b/x")])
    scores = np.array([[0.8, 0.4, 0.2, 0.3]])  # a, a/x, a/y, b
    carried = ProbabilityCarrier(mapping, exclusive=False).carry(scores)[0]
    # a without x, if x and the rest of a are independent; b is at least as probable as x.
    expected = dict(zip(new.labels, carried, strict=True))
    assert expected == pytest.approx({"a": 0.8 * (1 - 0.5), "a/y": 0.2, "b": 0.4, "b/x": 0.4})


def test_labels_that_did_not_change_keep_their_probabilities() -> None:
    data = make_hierarchical_classification(200, 6, n_labels=12, random_state=0)
    model = PCTForestClassifier(data.hierarchy, n_estimators=5, random_state=0)
    model.fit(data.X, data.y)
    graph = data.hierarchy.to_networkx()
    graph.add_edge(data.hierarchy.labels[0], "another")
    more = Hierarchy.from_networkx(graph)
    carried = model.with_hierarchy(more)
    same = more.indices(data.hierarchy.labels)
    scores = carried.predict_proba(data.X)
    np.testing.assert_array_equal(scores[:, same], model.predict_proba(data.X))
    predicted = carried.predict(data.X).toarray()
    np.testing.assert_array_equal(predicted[:, same], model.predict(data.X).toarray())
    assert carried.label_status_[same].tolist() == ["kept"] * data.hierarchy.n_labels
    assert carried.label_status_[more.index("another")] == "unknown"


def carried_tree(y: Any = PATHS) -> Any:
    return PCTClassifier(OLD).fit(ROWS, y).with_hierarchy(NEW, LabelMapping(OLD, NEW, LINES))


def test_labels_have_a_status_and_new_ones_are_predicted_at_their_parent() -> None:
    model = carried_tree()
    assert model.predict(ROWS[:3]).tolist() == ["animals/cats", "animals/dogs", "shop/food"]
    assert dict(zip(model.classes_, model.label_status_, strict=True)) == {
        "animals": "remapped",
        "animals/cats": "remapped",
        "animals/dogs": "remapped",
        "animals/dogs/small": "unknown",
        "shop": "remapped",
        "shop/food": "remapped",
        "shop/games": "unknown",
    }
    scores = model.predict_proba(ROWS)
    assert not scores[:, model.label_status_ == "unknown"].any()
    old, new = OLD.index("food"), NEW.index("shop/food")
    np.testing.assert_array_equal(scores[:, new], model.estimator_.predict_proba(ROWS)[:, old])


def test_a_second_change_adds_to_the_history(tmp_path: Path) -> None:
    last = Hierarchy.from_paths(["animals/felines", "shop"])
    model = carried_tree()
    twice = model.with_hierarchy(
        last, LabelMapping(NEW, last, [("animals/cats", "animals/felines")])
    )
    ramify.save(twice, tmp_path / "twice.ramify")
    loaded = ramify.load(tmp_path / "twice.ramify")
    assert loaded.history_ == twice.history_
    assert [(r.n_old, r.kept, r.remapped, r.unknown) for r in loaded.history_] == [
        (7, 0, 5, 2),
        (7, 2, 1, 0),
    ]
    assert loaded.predict(ROWS[:3]).tolist() == ["animals/felines", "animals", "shop"]
    np.testing.assert_array_equal(loaded.predict_proba(ROWS), twice.predict_proba(ROWS))
    assert [line.old for line in loaded.mapping_.lines] == ["animals/cats"]


@pytest.mark.parametrize(
    "y",
    [
        [[path] for path in PATHS],
        pd.Series(PATHS, name="kind"),
        pd.DataFrame([path.split("/") for path in PATHS], columns=["top", "leaf"]),
        OLD.encode([[path] for path in PATHS]),
    ],
    ids=["sets", "series", "levels", "matrix"],
)
def test_answers_have_the_format_of_the_labels(y: Any) -> None:
    found = carried_tree(y).set_output(predict="pandas").predict(ROWS)
    assert len(found) == 6
    again = ramify.read_labels(found, NEW).Y
    expected = carried_tree().predict(ROWS)
    np.testing.assert_array_equal(again.toarray(), NEW.encode([[x] for x in expected]).toarray())


def test_it_fits_on_labels_of_the_old_taxonomy() -> None:
    mapping = LabelMapping(OLD, NEW, LINES)
    for estimator in (
        PCTClassifier(),
        make_pipeline(StandardScaler(), PCTClassifier()),
        FrozenEstimator(PCTClassifier(OLD).fit(ROWS, PATHS)),
        PerParentClassifier(PCTClassifier()),
    ):
        model = CarriedClassifier(estimator, mapping=mapping).fit(ROWS, PATHS)
        np.testing.assert_array_equal(model.predict(ROWS), carried_tree().predict(ROWS))


def test_mistakes() -> None:
    model = PCTClassifier(OLD).fit(ROWS, PATHS)
    with pytest.raises(TypeError, match=r"hierarchy must be a ramify.Hierarchy, got list"):
        model.with_hierarchy(["a"])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"mapping must be a ramify.LabelMapping, got dict"):
        model.with_hierarchy(NEW, {"a": "b"})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"mapping.old must be the old taxonomy"):
        model.with_hierarchy(NEW, LabelMapping(NEW, NEW, []))
    with pytest.raises(ValueError, match="mapping must have a successor of a label"):
        model.with_hierarchy(Hierarchy.from_labels(["z"]))
    wrong = CarriedClassifier(model, mapping=LabelMapping(OLD, NEW, LINES), hierarchy=NEW)
    with pytest.raises(ValueError, match=r"hierarchy must equal mapping.old"):
        wrong.fit(ROWS, PATHS)


@given(mapped_paths(), st.booleans())
def test_sparse_probabilities_are_carried_like_dense_ones(
    case: tuple[LabelMapping, Any], exclusive: bool
) -> None:
    mapping, ends = case
    scores = np.stack([ends, ends[::-1], np.zeros_like(ends)])
    carrier = ProbabilityCarrier(mapping, exclusive=exclusive)
    found = carrier.carry_sparse(sparse.csr_array(scores)).toarray()
    np.testing.assert_allclose(found, carrier.carry(scores), atol=1e-12)


@pytest.mark.parametrize(
    ("kind", "changed", "message"),
    [
        ("MappingLine", {"old": "food/wet"}, "unknown label 'food/wet'"),
        ("MappingLine", {"new": 7}, "unknown label 7"),
        ("MappingLine", {"score": -1}, r"score must be a number from 0 to 1, got -1"),
        ("MappingLine", {"reason": None}, "reason must be a string"),
        ("Revision", {"kept": 1.5}, "kept must be an integer"),
        ("Revision", {"n_old": 0}, "n_old must be at least 1"),
        ("CarriedClassifier", {"mapping_": None}, "mapping_"),
        ("CarriedClassifier", {"label_status_": None}, "label_status_"),
        ("CarriedClassifier", {"history_": None}, "history_"),
    ],
)
def test_damaged_files_are_refused(
    kind: str, changed: dict[str, Any], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "model.ramify"
    ramify.save(carried_tree(), path)
    parts = take_apart(path.read_bytes())
    damaged = next(o for o in parts.document["objects"] if o.get("class") == kind)
    damaged["fitted" if kind == "CarriedClassifier" else "given"] |= changed
    path.write_bytes(put_together(parts))
    with pytest.raises(ModelFileError, match=message):
        ramify.load(path)
    if kind == "CarriedClassifier":
        for name in changed:
            del damaged["fitted"][name]
        path.write_bytes(put_together(parts))
        with pytest.raises(ModelFileError, match=message):
            ramify.load(path)


def test_a_mapping_from_other_labels_than_those_of_the_model_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.ramify"
    ramify.save(carried_tree().with_hierarchy(NEW), path)
    parts = take_apart(path.read_bytes())
    mappings = [o for o in parts.document["objects"] if o.get("class") == "LabelMapping"]
    first, last = (one["given"] for one in mappings)
    last |= {"old": first["old"], "lines": first["lines"]}
    path.write_bytes(put_together(parts))
    with pytest.raises(ModelFileError, match="mapping_, estimator_ and hierarchy_ do not fit"):
        ramify.load(path)
