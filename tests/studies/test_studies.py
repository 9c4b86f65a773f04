"""The study engine: TOML in, one file per finished cell out, whatever happens between."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import KFold

from ramify import Hierarchy, PCTClassifier, load_animals
from ramify.apps.studies import running, store
from ramify.apps.studies.cell import run_cell
from ramify.apps.studies.data import StudyData, load_data, split_rows
from ramify.apps.studies.models import build, label_sets
from ramify.apps.studies.plan import ModelSpec, Protocol
from ramify.apps.studies.store import Store, cell_key
from ramify.metrics import pooled_auprc
from ramify.studies import StudyResults, list_studies, load_study, make_study, run_study
from tests.support.studies_cases import (
    MODELS,
    small,
    stored,
    stored_record,
    tables,
    without_times,
)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> StudyResults:
    return run_study(small(), tmp_path_factory.mktemp("study"))


def test_cells_hold_scores_seeds_versions_times_and_memory(results: StudyResults) -> None:
    assert len(results.cells) == 9
    assert results.n_waiting == 0
    for cell in results.cells:
        assert cell["status"] == "done"
        assert 0 < cell["scores"]["auprc"] < 1
        assert cell["overfit"]["auprc"] == pytest.approx(
            1 - cell["scores"]["auprc"] / cell["train_scores"]["auprc"]
        )
        assert cell["n_train"] + cell["n_test"] == 189
        assert cell["versions"]["numpy"] == np.__version__
        assert cell["fit_seconds"] > 0
        assert cell["peak_memory_mb"] > 1
    seeds = {(cell["fold"], cell["seed"]) for cell in results.cells}
    assert len(seeds) == 3  # all models meet the same luck


def test_a_cell_is_what_one_would_compute_by_hand(results: StudyResults) -> None:
    data = load_animals(as_frame=False)
    train, test = list(KFold(3, shuffle=True, random_state=0).split(data.X))[1]
    cell = next(c for c in results.cells if c["model"] == "tree" and c["fold"] == 1)
    nominal = [name in data.categories for name in data.feature_names]
    tree = PCTClassifier(
        data.hierarchy, max_depth=3, categorical_features=nominal, random_state=cell["seed"]
    ).fit(data.X[train], data.y[train])
    expected = pooled_auprc(data.y[test], tree.predict_proba(data.X[test]))
    assert cell["scores"]["auprc"] == pytest.approx(expected, abs=1e-12)
    assert cell["complexity"] == len(tree.tree_.feature)


def test_a_second_run_learns_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_study(small(), tmp_path)
    before = stored(tmp_path)
    monkeypatch.setattr(running, "run_cell", lambda *_: pytest.fail("learnt again"))
    again = run_study(small(), tmp_path)
    assert stored(tmp_path) == before
    assert len(again.cells) == 9


@pytest.mark.process
def test_results_in_parallel_are_the_same(tmp_path: Path, results: StudyResults) -> None:
    parallel = run_study(small(), tmp_path, n_jobs=2)
    assert list(map(without_times, parallel.cells)) == list(map(without_times, results.cells))


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 1},
        {"protocol": {"folds": 4}},
        {"protocol": {"folds": 3, "rows": 100}},
        {"measures": {"auprc": {"measure": "mean_auprc"}}},
        {"models": [MODELS[0], {**MODELS[1], "parameters": {"max_depth": 4}}]},
        {"datasets": [{"name": "animals", "max_level": 2}]},
    ],
)
def test_other_settings_are_other_cells(change: dict, results: StudyResults) -> None:
    other = make_study(tables(**change))
    keys = {cell_key(other, cell, "data") for cell in other.cells(other.data[0])}
    study = small()
    mine = {cell_key(study, cell, "data") for cell in study.cells(study.data[0])}
    shared = {k for k in mine if k in keys}
    # A model that did not change keeps its results.
    assert len(shared) == (3 if "models" in change else 0)


def test_other_data_or_results_versions_are_other_cells(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    study = small()
    cell = next(study.cells(study.data[0]))
    first = cell_key(study, cell, "data")
    assert cell_key(study, cell, "data") == first
    assert cell_key(study, cell, "other data") != first
    retitled = replace(study, title="Another title")
    assert cell_key(retitled, cell, "data") == first
    monkeypatch.setattr(store, "RESULTS_VERSION", store.RESULTS_VERSION + 1)
    assert cell_key(study, cell, "data") != first


def test_results_of_another_study_in_the_folder_are_left_out(tmp_path: Path) -> None:
    run_study(small(seed=1), tmp_path)
    found = run_study(small(), tmp_path)
    assert len(stored(tmp_path)) == 18
    assert len(found.cells) == 9
    assert {cell["key"] for cell in found.cells} == set(found.study["cells"])


def test_a_study_can_be_run_a_few_data_sets_at_a_time(tmp_path: Path) -> None:
    data = [{"name": name, "fetch": "animals", "max_level": k} for k, name in enumerate("abc", 1)]
    study = small(datasets=data, models=MODELS[:2])
    first = run_study(study, tmp_path / "parts", only=["c"])
    assert [one["name"] for one in first.datasets] == ["c"]
    both = run_study(study, tmp_path / "parts", only=["a"])
    assert [one["name"] for one in both.datasets] == ["a", "c"]  # as in the study
    assert (len(both.cells), both.n_waiting) == (12, 0)
    whole = run_study(study, tmp_path / "parts")
    at_once = run_study(study, tmp_path / "at once")
    assert list(map(without_times, whole.cells)) == list(map(without_times, at_once.cells))


def test_results_of_data_that_have_changed_since_are_left_out(tmp_path: Path) -> None:
    rows = ["size,taxon", *(f"{k},{'AB'[k > 9]}" for k in range(20))]
    (tmp_path / "my.csv").write_text("\n".join(rows), "utf-8")
    data = [{"name": "mine", "file": "my.csv", "target": "taxon"}, {"name": "animals"}]
    study = make_study(tables(datasets=data, models=MODELS[:1]), tmp_path)
    assert len(run_study(study, tmp_path / "out").cells) == 6
    (tmp_path / "my.csv").write_text("\n".join(rows[:-1]), "utf-8")
    found = run_study(study, tmp_path / "out", only=["animals"])
    assert [one["name"] for one in found.datasets] == ["animals"]


def test_the_example_of_the_documentation_is_a_study(tmp_path: Path) -> None:
    path = Path(__file__).parents[2] / "docs" / "studies.md"
    text = path.read_text("utf-8").split("## From Python")[0]
    lines = [line[4:] for line in text.splitlines() if line.startswith("    ")]
    (tmp_path / "mine.toml").write_text("\n".join(lines), "utf-8")
    study = load_study(tmp_path / "mine.toml")
    assert [data.name for data in study.data] == ["cellcycle_FUN", "beetles"]
    assert len(study.models) == 5
    assert [curve.over for curve in study.curves] == ["stages", "option", "levels", "nested"]
    variant = load_study(tmp_path / "mine.toml", variant="deep")
    assert [model.name for model in variant.models] == ["forest", "bagging"]
    assert [data.min_count for data in variant.data] == [20]


def test_what_other_settings_found_on_other_data_is_no_part_of_a_study(tmp_path: Path) -> None:
    data = [{"name": name, "fetch": "animals"} for name in "ab"]
    run_study(small(datasets=data, models=MODELS[:1], seed=1), tmp_path, only=["a"])
    found = run_study(small(datasets=data, models=MODELS[:1]), tmp_path, only=["b"])
    assert [one["name"] for one in found.study["datasets"]] == ["b"]
    (tmp_path / "study.json").write_text("{", "utf-8")
    assert len(run_study(small(datasets=data, models=MODELS[:1]), tmp_path, only=["b"]).cells) == 3


def test_a_failing_model_loses_nothing_else(tmp_path: Path) -> None:
    broken = {"name": "broken", "model": "tree", "parameters": {"max_depth": -1}}
    found = run_study(small(models=[*MODELS, broken]), tmp_path)
    assert len(found.cells) == 9
    assert [cell["model"] for cell in found.failures] == ["broken"] * 3
    assert "max_depth" in found.failures[0]["error"]
    assert "Traceback" in found.failures[0]["traceback"]


def test_failures_are_tried_again_and_never_hide_a_result(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.prepare()
    place = {"0a": ["animals", "tree", 0, 0]}
    store.write(stored_record("0a", status="failed", error="no memory"))
    assert store.done(place) == set()
    assert store.read("0a", failed=True) is not None
    store.write(stored_record("0a"))
    store.write(stored_record("0a", status="failed", error="later"))
    assert store.done(place) == {"0a"}
    assert store.done({"0a": ["animals", "tree", 0, 1]}) == set()
    assert store.read("0a", failed=True) is None


def test_damaged_and_half_written_files_are_no_results(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.prepare()
    (store.cells / "a.json").write_text('{"key": "a", "status"', "utf-8")
    (store.cells / "b.json").write_text(json.dumps(stored_record("c")), "utf-8")
    (store.cells / ".c.json.1234.part").write_text("{", "utf-8")
    assert store.done({key: ["animals", "tree", 0, 0] for key in "abc"}) == set()
    store.prepare()
    assert not list(store.cells.glob(".*.part"))


def test_tuning_chooses_on_training_rows_and_says_what() -> None:
    tuned = {
        "name": "tuned",
        "model": "tree",
        "tune": {"grid": {"max_depth": [1, 4]}, "folds": 2},
    }
    study = small(models=[tuned])
    cell = next(study.cells(study.data[0]))
    data = load_data(cell.data)
    rows, _ = split_rows(data, study.protocol, 0, 0, 0)
    means = {}
    for depth in (1, 4):
        model = replace(cell.model, parameters={"max_depth": depth}, tune=None)
        scores = []
        for train, test in KFold(2, shuffle=True, random_state=cell.seed).split(rows):
            tree = build(model, data, cell.seed).fit(data.X[rows[train]], data.y[rows[train]])
            proba = tree.predict_proba(data.X[rows[test]])
            scores.append(pooled_auprc(data.y[rows[test]], proba))
        means[depth] = np.mean(scores)
    best = max(means, key=lambda depth: means[depth])
    assert run_cell(study, cell, "key")["chosen"] == {"max_depth": best}


def one_path_data() -> StudyData:
    """Rows with one path each: the first class of a tree by x, noisy below."""
    hierarchy = Hierarchy.from_paths(["a/b", "a/c", "d/e", "d/f", "d/g"])
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 2))
    noisy = X[:, 1] + random.normal(scale=1.5, size=120)
    names = np.where(X[:, 0] > 0.5, np.where(noisy > 0, "a/b", "a/c"), "d/e")
    names = np.where((X[:, 0] < 0.5) & (noisy > 0), np.where(noisy > 1, "d/f", "d/g"), names)
    return StudyData(X, hierarchy.encode([[name] for name in names]), hierarchy, None, {})


def test_models_of_paths_predict_one_path_per_row() -> None:
    data = one_path_data()
    inside = ModelSpec("f", "f", "sklearn.ensemble.RandomForestClassifier", {"max_depth": 1})
    spec = ModelSpec("m", "m", "per-level", {}, inside)
    by_path = build(replace(spec, labels="paths"), data, 0).fit(data.X, data.y)
    predicted = by_path.predict(data.X)
    assert set(map(len, data.hierarchy.decode(predicted))) == {1}
    assert predicted.shape == by_path.predict_proba(data.X).shape == data.y.shape
    by_threshold = label_sets(build(spec, data, 0).fit(data.X, data.y), data.X)
    assert by_threshold.sum() < predicted.sum()
    assert not hasattr(by_path, "staged_predict")
    boosted = ModelSpec("b", "b", "boosting", {"n_estimators": 3}, labels="paths")
    *_, last = (fitted := build(boosted, data, 0).fit(data.X, data.y)).staged_predict(data.X)
    assert (last != fitted.predict(data.X)).nnz == 0


def test_models_of_paths_need_one_path_per_row() -> None:
    data = one_path_data()
    spec = ModelSpec("m", "m", "tree", labels="paths")
    y = data.y.toarray()
    y[3] = 1
    with pytest.raises(ValueError, match=r'labels must not be "paths".* got 5 paths in row 3'):
        build(spec, data, 0).fit(data.X, data.hierarchy.close(sparse.csr_array(y)))


def test_models_of_flat_labels_need_not_be_coherent() -> None:
    data = one_path_data()
    spec = ModelSpec("m", "m", "adaboost-mh", {"n_estimators": 30})
    flat = build(replace(spec, labels="flat"), data, 0).fit(data.X, data.y)
    scores = flat.predict_proba(data.X)
    raw = 1 / (1 + np.exp(-2 * flat.decision_function(data.X)))
    np.testing.assert_allclose(scores, raw)
    coherent = build(spec, data, 0).fit(data.X, data.y).predict_proba(data.X)
    assert (coherent <= scores + 1e-9).all()
    assert (coherent < scores - 1e-9).any()


def test_leaf_models_learn_flat_labels_and_answer_for_all() -> None:
    flat = {"name": "flat", "model": "tree", "labels": "leaves"}
    study = small(models=[flat])
    found = run_cell(study, next(study.cells(study.data[0])), "key")
    assert found["status"] == "done"
    assert found["scores"]["auprc"] > 0.3


def test_published_splits_levels_and_rows() -> None:
    data = load_data(small(datasets=[{"name": "animals", "max_level": 2}]).data[0])
    assert data.hierarchy.depth == 2
    assert data.facts()["rows"] == 189
    train, test = split_rows(data, Protocol(folds=2, rows=50), 0, 0, 0)
    assert len(train) == len(test) == 25
    whole = split_rows(data, Protocol(train=("all",), test=("all",)), 0, 0, 0)
    assert len(whole[0]) == 189
    with pytest.raises(ValueError, match="the split 'test', but the data set has all"):
        split_rows(data, Protocol(train=("all",), test=("test",)), 0, 0, 0)


def test_data_that_are_not_at_hand_are_named(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("RAMIFY_DATA", str(tmp_path))
    monkeypatch.setenv("RAMIFY_CACHE", str(tmp_path))
    data = [
        {"name": "animals"},
        {"name": "gone", "missing": "not public"},
        {"name": "church_GO"},
    ]
    found = run_study(small(datasets=data, models=MODELS[:1]), tmp_path / "out")
    reasons = {one["name"]: one["missing"] for one in found.missing}
    assert reasons["gone"] == "not public"
    assert "cannot be downloaded" in reasons["church_GO"]
    assert len(found.cells) == 3


def test_a_study_of_a_users_file(tmp_path: Path) -> None:
    rows = ["size,colour,taxon"] + [
        f"{i / 2},{'red' if i % 3 else 'blue'},{'A/B;C' if i > 15 else 'C'}" for i in range(30)
    ]
    (tmp_path / "my.csv").write_text("\n".join(rows), "utf-8")
    data = [{"name": "mine", "file": "my.csv", "target": "taxon"}]
    study = make_study(tables(datasets=data), tmp_path)
    found = run_study(study, tmp_path / "out")
    assert not found.failures
    assert found.mean("auprc", "mine", "tree") > 0.9
    (tmp_path / "my.csv").write_text("\n".join(rows[:-1]), "utf-8")
    assert not set(run_study(study, tmp_path / "out").study["cells"]) & set(found.study["cells"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"foldds": 3}, "the study has no setting 'foldds'"),
        ({"models": []}, "the study has no 'models'"),
        ({"models": [{"name": "a", "model": "forrest"}]}, "Did you mean 'forest'"),
        ({"models": [{"name": "a"}]}, "model 'a' has no 'model'"),
        ({"models": [MODELS[0]] * 2}, "names of models must be unique, got 'shares'"),
        (
            {"measures": {"m": {"measure": "auprcc"}}},
            "measure 'm' must be .*, got 'auprcc'",
        ),
        ({"protocol": {"folds": 1}}, "folds of .* must be at least 2"),
        ({"protocol": {"folds": "two"}}, r"folds of \[protocol\] must be an integer, got 'two'"),
        ({"protocol": {"train": ["a"]}}, "train without test"),
        ({"tests": {"groups": {"g": ["treee"]}}}, "group 'g' names the model 'treee'"),
        ({"claims": [{"text": "x", "kind": "best"}]}, "kind of a claim must be .*, got 'best'"),
        ({"datasets": [{"title": "x"}]}, "a data set has no 'name'"),
    ],
)
def test_mistakes_are_found_before_anything_runs(change: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_study(tables(**change))


def test_a_grid_is_several_models_and_quick_is_less() -> None:
    grid = {"name": "tree", "model": "tree", "grid": {"max_depth": [2, 4], "w0": [0.5]}}
    study = small(models=[grid], quick={"folds": 2, "rows": 40})
    assert [model.name for model in study.models] == [
        "tree[max_depth=2, w0=0.5]",
        "tree[max_depth=4, w0=0.5]",
    ]
    short = make_study(tables(quick={"folds": 2, "rows": 40}), quick=True)
    assert (short.protocol.folds, short.protocol.rows) == (2, 40)


def test_files_that_are_no_study(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"got 'levatic2051'\. Did you mean 'levatic2015'"):
        load_study("levatic2051")
    with pytest.raises(FileNotFoundError, match="does not exist"):
        load_study(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("name = ", "utf-8")
    with pytest.raises(ValueError, match="is not a valid TOML file"):
        load_study(tmp_path / "bad.toml")
    with pytest.raises(FileNotFoundError, match="contains no results of a study"):
        StudyResults.read(tmp_path)


@pytest.mark.parametrize("name", list_studies())
def test_studies_of_the_package_can_be_read(name: str) -> None:
    for quick in (False, True):
        study = load_study(name, quick=quick)
        assert json.dumps(running._facts(study, running._Work({}, {}, {})))


def test_levatic2015_has_twelve_models_and_the_papers_numbers() -> None:
    study = load_study("levatic2015")
    assert len(study.models) == 12
    assert len(study.data) == 8
    assert sum(one.missing is not None for one in study.data) == 2
    scores = [row for row in study.reference if row["quantity"] == "auprc"]
    assert len(scores) == 8 * 12
    names = {model.name for model in study.models}
    assert {row["model"] for row in study.reference} == names
    assert {row["dataset"] for row in study.reference} == {one.name for one in study.data}


@pytest.mark.parametrize("protocol", [{"folds": 3}, {"test_rows": 20}])
def test_folds_keep_groups_together(tmp_path: Path, protocol: dict[str, int]) -> None:
    rows = "".join(f"{k % 7},{k // 4},{'ab'[k % 2]}\n" for k in range(60))
    (tmp_path / "sites.csv").write_text("x,site,labels\n" + rows)
    data = {"name": "sites", "file": str(tmp_path / "sites.csv"), "reading": {"groups": "site"}}
    study = small(datasets=[{**data, "protocol": protocol}])
    found = load_data(study.data[0])
    assert found.groups is not None
    assert found.X.shape == (60, 1)
    tested: list[int] = []
    for fold in range(3 if "folds" in protocol else 1):
        train, test = split_rows(found, study.protocol_of(study.data[0]), 0, fold, 1)
        assert set(found.groups[train]).isdisjoint(found.groups[test])
        assert sorted([*train, *test]) == list(range(60))
        tested += test.tolist()
    assert sorted(tested) == list(range(60)) or len(tested) == 20


def test_groups_need_folds_that_are_not_stratified() -> None:
    data = [{"name": "lost", "missing": "not public", "reading": {"groups": "site"}}]
    with pytest.raises(ValueError, match="groups cannot be combined with stratify = true"):
        small(datasets=[{**data[0], "protocol": {"stratify": True}}])
