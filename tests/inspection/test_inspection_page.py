"""The data of the explorer page; test_inspection_browser.py opens it."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from ramify import (
    PCTClassifier,
    PCTForestClassifier,
    PerEdgeClassifier,
    RAkEL,
    SelectiveClassifier,
    make_hierarchical_classification,
)
from ramify.inspection import explore
from ramify.inspection.page.data import describe_answers
from ramify.inspection.page.performance import measure_rows
from ramify.metrics import answer_curve, pooled_auprc
from tests.support.inspection_cases import (
    TREE,
    animal_forest,
    animal_pages,
    animal_tree,
    animals,
    data_of,
    related_labels,
)


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    return animal_pages(tmp_path_factory.mktemp("pages"))


def test_page_loads_no_external_resources(pages):
    text = pages["tree"].read_text(encoding="utf-8")
    assert "<title>Animals &lt;b&gt;</title>" in text
    assert "default-src 'none'" in text
    assert not re.search(r'(src|href)="(?!data:)', text)
    outside = set(re.findall(r"https?://[^\s\"'<>]+", text))
    assert outside <= {"http://www.w3.org/2000/svg"}
    assert len(text) < 200_000


def test_page_contains_the_tree_and_the_rows(pages):
    model, data = animal_tree(), data_of(pages["tree"])
    tree = data["trees"][0]
    assert tree["feature"] == model.tree_.feature.tolist()
    assert tree["child"] == model.tree_.child.tolist()
    np.testing.assert_allclose(tree["value"], model.tree_.value, atol=5e-5)
    assert data["rows"]["names"] == list(animals().X.index)
    truth = animals().y
    assert sum(map(len, data["rows"]["truth"])) == truth.nnz
    bird = animals().hierarchy.index("taxonomy/bird")
    assert data["curves"][str(bird)]["area"] > 0.8
    assert data["features"][8]["categories"][1] == "feathers"


def test_page_of_a_forest_has_some_trees_and_all_scores(pages):
    data = data_of(pages["forest"])
    assert (data["nTrees"], len(data["trees"])) == (10, 3)
    scores = data["rows"]["scores"]
    expected = animal_forest().predict_proba(animals().X)[5]
    begin, end = scores["start"][5], scores["start"][6]
    found = np.zeros_like(expected)
    found[scores["label"][begin:end]] = scores["value"][begin:end]
    np.testing.assert_allclose(found, expected, atol=0.0101)


def test_rows_are_chosen_evenly_and_named(tmp_path):
    X = np.arange(10.0)[:, np.newaxis]
    model = PCTClassifier().fit(X, ["a"] * 5 + ["b"] * 5)
    data = data_of(explore(model, X, None, tmp_path / "p.html", max_rows=4))
    assert data["rows"]["names"] == ["row 0", "row 3", "row 6", "row 9"]
    assert "curves" not in data
    twice = data_of(explore(model, X, None, tmp_path / "p.html", names=["n"] * 10))
    assert twice["rows"]["names"][1] == "n (row 1)"
    with pytest.raises(ValueError, match="names has 1 entries, but X has 10 rows"):
        explore(model, X, None, tmp_path / "p.html", names=["n"])
    with pytest.raises(ValueError, match="y was passed without X"):
        explore(model, y=["a"], path=tmp_path / "p.html")


def test_nothing_in_the_data_ends_the_script(tmp_path):
    model = PCTClassifier().fit([[1.0], [2.0]], ["</script><b>", "{{title}}"])
    path = explore(model, path=tmp_path / "p.html", feature_names=["<!--"])
    assert data_of(path)["labels"] == ["<", "</script><b>", "{{title}}"]


def test_small_trees_of_local_models_are_on_the_page(tmp_path):
    X = np.arange(12.0)[:, np.newaxis]
    y = [["a/x/p"]] * 2 + [["a/y"]] * 2 + [["b/z"]] * 8
    model = PerEdgeClassifier(PCTClassifier(), hierarchy=TREE).fit(X, y)
    data = data_of(explore(model, X, y, tmp_path / "p.html"))
    assert [tree["name"] for tree in data["trees"]][:2] == ["a", "a → a/x"]
    position = TREE.index("a/x")
    assert set(data["trees"][1]["valueLabel"]) == {position}


def test_page_of_brdt_has_the_graph_of_related_labels(tmp_path, pages):
    model = related_labels()
    related = data_of(explore(model, path=tmp_path / "p.html"))["related"]
    names = [model.classes_[k] for k in related["label"]]
    assert dict(zip(names, related["share"], strict=True)) == {
        "cat": pytest.approx(4 / 12, abs=1e-4),
        "dog": pytest.approx(7 / 12, abs=1e-4),
        "purrs": pytest.approx(4 / 12, abs=1e-4),
    }
    pairs = {frozenset((names[one], names[other])) for one, other, _ in related["edges"]}
    assert frozenset(("cat", "purrs")) in pairs
    assert "related" not in data_of(pages["tree"])


def test_the_page_begins_with_how_good_the_model_is(pages):
    data, model = animals(), animal_tree()
    (answer,) = data_of(pages["tree"])["answers"]
    assert answer["about"] == "On 189 rows"
    assert "If the model was trained on these rows" in answer["note"]
    scores = model.predict_proba(data.X)
    figures = {name: (value, baseline) for name, value, baseline in answer["measures"]}
    shares = np.tile(np.asarray(data.y.mean(axis=0)).ravel(), (189, 1))
    assert figures["pooled AU(PRC)"] == (
        pytest.approx(pooled_auprc(data.y, scores), abs=1e-4),
        pytest.approx(pooled_auprc(data.y, shares), abs=1e-4),
    )
    chosen = model.predict(data.X)
    counts = {name: np.array(values) for name, values in answer["counts"].items()}
    assert (counts["rows"] == np.asarray(data.y.sum(axis=0)).ravel()).all()
    assert (counts["predicted"] == np.asarray(chosen.sum(axis=0)).ravel()).all()
    assert (counts["right"] == np.asarray(data.y.multiply(chosen).sum(axis=0)).ravel()).all()


def test_scores_of_training_rows_give_way_to_those_of_test_rows(tmp_path):
    data, model = animals(), animal_tree()
    own = measure_rows(data.y, model.predict_proba(data.X), data.y, data.hierarchy, [0.1] * 203)
    tested = replace(own, n_folds=5)
    (answer,) = describe_answers(own, tested)
    assert answer["about"] == "5-fold cross-validation on 189 rows"
    (answer,) = describe_answers(own, replace(own, values={}, baseline={}, counts=None))
    assert answer["note"].startswith("The model was trained on these rows")
    other = replace(own, n_rows=100)
    answers = describe_answers(other, tested, "test.csv")
    assert [answer["about"] for answer in answers] == [
        "On 100 rows of test.csv",
        "5-fold cross-validation on 189 rows",
    ]
    assert answers[0]["note"] is None


def test_dates_are_dates_on_the_page(tmp_path):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({"found": pandas.date_range("2024-01-01", periods=10), "size": 1.0})
    model = PCTClassifier().fit(X, ["a"] * 5 + ["b"] * 5)
    features = data_of(explore(model, X, path=tmp_path / "p.html"))["features"]
    assert features[0]["time"] == "date"
    assert "time" not in features[1]


def test_models_of_label_sets_are_measured_on_their_labels(tmp_path):
    X = np.arange(30.0)[:, np.newaxis]
    y = [["a", "b"]] * 10 + [["b", "c"]] * 10 + [["c"]] * 10
    model = RAkEL(group_size=2, random_state=0).fit(X, y)
    data = data_of(explore(model, X, y, tmp_path / "p.html"))
    assert data["labels"] != ["a", "b", "c"]
    assert data["answerLabels"]["labels"] == ["a", "b", "c"]
    (answer,) = data["answers"]
    assert answer["counts"]["rows"] == [10, 20, 20]
    assert answer["counts"]["right"] == [10, 20, 20]


@pytest.fixture(scope="module")
def careful():
    data = make_hierarchical_classification(
        600, 5, n_labels=12, labels_per_row=1, noise=0.9, random_state=0
    )
    y = np.array([labels[0] for labels in data.hierarchy.decode(data.y)])
    forest = PCTForestClassifier(data.hierarchy, n_estimators=5, random_state=0)
    model = SelectiveClassifier(forest, max_error=0.1, random_state=0).fit(data.X[:400], y[:400])
    return model, data.X[400:], y[400:]


def test_answers_of_all_promises_are_on_the_page(careful, tmp_path):
    model, X, y = careful
    page = data_of(explore(model, X, y, tmp_path / "p.html"))
    found = page["certainty"]
    assert found["promised"]
    for share in (0.01, 0.05, 0.3):
        k = found["shares"].index(share)
        np.testing.assert_allclose(
            found["reached"][k], model.answer_depths(X, [share])[0], atol=1e-4
        )
        answers = model.predict(X, max_error=share)
        right = [
            a in ("", t, *model.hierarchy_.ancestors(t)) for a, t in zip(answers, y, strict=True)
        ]
        assert found["wrong"][k] == pytest.approx(1 - np.mean(right), abs=1e-4)
        for changes, answer in zip(found["rows"], answers, strict=True):
            last = [label for first, label in changes if first <= k][-1]
            assert answer == ("" if last < 0 else page["labels"][last])
    unlabelled = data_of(explore(model, X, None, tmp_path / "p.html"))["certainty"]
    assert unlabelled["reached"] == found["reached"]
    assert unlabelled["wrong"] is None
    of_calibration = data_of(explore(model, path=tmp_path / "p.html"))["certainty"]
    assert of_calibration["about"] == "100 rows of the calibration"


def test_rows_are_scored_no_more_often_than_needed(careful, tmp_path, monkeypatch):
    model, X, y = careful
    scored = []
    score = PCTForestClassifier._predict_scores

    def counted(self, X):
        scored.append(len(X))
        return score(self, X)

    monkeypatch.setattr(PCTForestClassifier, "_predict_scores", counted)
    explore(model.estimator_, X, y, tmp_path / "p.html")
    assert scored == [200, 200]  # probabilities and label sets
    explore(model, X, y, tmp_path / "p.html")
    assert scored[2:] == [200, 200, 200]  # those of the promise, too


def test_without_a_promise_thresholds_are_those_of_the_rows(careful, tmp_path):
    model, X, y = careful
    found = data_of(explore(model.estimator_, X, y, tmp_path / "p.html"))["certainty"]
    assert not found["promised"]
    scores = model.estimator_.predict_proba(X)
    table = answer_curve(y, scores, model.hierarchy_).at_errors([0.05, 0.2])
    for share, row in zip((0.05, 0.2), table.rows(), strict=True):
        k = found["shares"].index(share)
        assert found["reached"][k][0] == pytest.approx(row["level 1"], abs=1e-4)
        assert found["wrong"][k] <= row["errors"]
    assert "certainty" not in data_of(explore(model.estimator_, X, None, tmp_path / "p.html"))
    sets = data_of(explore(animal_tree(), animals().X, animals().y, tmp_path / "p.html"))
    assert "certainty" not in sets  # rows have several labels
