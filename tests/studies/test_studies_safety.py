"""Study files are data: nothing that they name is called, and results stay in their folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from ramify.apps.named_estimators import make_inner
from ramify.apps.studies.store import Store
from ramify.io.files import replacing
from ramify.studies import load_study
from tests.support.cli_runs import run
from tests.support.studies_cases import MODELS, small


def test_a_study_calls_no_function_of_scikit_learn(tmp_path: Path) -> None:
    folder = tmp_path / "home"
    folder.mkdir()
    inside = {
        "model": "sklearn.datasets.clear_data_home",
        "parameters": {"data_home": str(folder)},
    }
    with pytest.raises(ValueError, match=r"got 'sklearn\.datasets\.clear_data_home'"):
        small(models=[{**MODELS[2], "inside": inside}])
    with pytest.raises(ValueError, match=r"got 'sklearn\.datasets\.clear_data_home'"):
        make_inner("sklearn.datasets.clear_data_home", [f"data_home={folder}"])
    assert folder.is_dir()


@pytest.mark.parametrize(
    "name",
    [
        "sklearn.datasets.fetch_california_housing",
        "sklearn.datasets.load_files",
        "sklearn.linear_model.LinearRegression",
        "sklearn.utils.all_estimators",
        "sklearn.tree.np.load",
        "sklearn.externals.os.system",
        "sklearn.",
    ],
)
def test_only_classifiers_can_be_named(name: str) -> None:
    message = "must be a model of ramify or the full name of a scikit-learn classifier"
    with pytest.raises(ValueError, match=message):
        small(models=[{**MODELS[2], "inside": {"model": name}}])
    with pytest.raises(ValueError, match=message):
        small(models=[{"name": "x", "model": "flat", "parameters": {"estimator": name}}])


def test_nothing_is_made_while_a_study_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        pytest.fail("made while reading")

    monkeypatch.setattr(HistGradientBoostingClassifier, "__init__", fail)
    inside = {"model": "sklearn.ensemble.HistGradientBoostingClassifier"}
    small(models=[{**MODELS[2], "inside": inside}])


def test_parameters_of_a_classifier_are_checked_by_name() -> None:
    inside = {"model": "sklearn.tree.DecisionTreeClassifier", "parameters": {"max_dept": 3}}
    message = r"has no parameter 'max_dept'\. Did you mean 'max_depth'"
    with pytest.raises(ValueError, match=message):
        small(models=[{**MODELS[2], "inside": inside}])


@pytest.mark.parametrize("name", ["../../x", "/tmp/x", "a/b", "a\\b", "..", ".hidden", "a\n", 3])
def test_the_name_of_a_study_stays_in_the_results_folder(name: Any) -> None:
    with pytest.raises(ValueError, match="name of the study must consist of"):
        small(name=name)


def test_a_name_that_leaves_the_results_folder_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(
        'name = "../../x"\ndatasets = [{name = "animals"}]\n'
        'models = [{name = "shares", model = "shares"}]\nmeasures = {pooled_auprc = {}}\n',
        "utf-8",
    )
    result = run("study", path)
    assert result.exit_code == 2
    assert "got '../../x'" in result.output
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"measures": ["pooled_auprc"]}, r"measures must be a table, got \['pooled_auprc'\]"),
        ({"measures": {"auprc": "pooled_auprc"}}, "measure 'auprc' must be a table"),
        ({"models": {"name": "tree"}}, "models must be a list of tables"),
        ({"models": ["tree"]}, "an entry of models must be a table, got 'tree'"),
        ({"datasets": ["animals"]}, "an entry of datasets must be a table"),
        ({"curves": ["a"]}, "curves must be a table"),
        ({"claims": [3]}, "an entry of claims must be a table, got 3"),
        ({"protocol": 3}, "protocol must be a table, got 3"),
        ({"models": [{**MODELS[2], "inside": "tree"}]}, "inside of model 'edges' must be a table"),
        ({"models": [{**MODELS[1], "tune": 3}]}, "tune of model 'tree' must be a table"),
    ],
)
def test_values_of_the_wrong_kind_are_named(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        small(**change)


def test_a_deeply_nested_study_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "deep.toml"
    path.write_text("name = " + "[" * 5000 + "]" * 5000, "utf-8")
    with pytest.raises(ValueError, match="nested too deeply"):
        load_study(path)


def test_a_second_run_in_a_folder_keeps_what_the_first_is_writing(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.prepare()
    with replacing(store.cells / "a.json") as ours:
        ours.write_text("{}", "utf-8")
        Store(tmp_path).prepare()
        assert ours.exists()
    assert [path.name for path in store.cells.iterdir()] == ["a.json"]


@pytest.mark.process
@pytest.mark.skipif(os.name == "nt", reason="Windows has no kill -9")
def test_files_of_a_killed_run_are_removed_by_the_next(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.prepare()
    code = (
        "import os, signal, sys\nfrom ramify.io.files import replacing\n"
        "with replacing(sys.argv[1]) as path:\n"
        "    path.write_text('{')\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    for folder in (store.cells, store.folder):
        subprocess.run([sys.executable, "-c", code, str(folder / "b.json")], check=False)
        assert len(list(folder.glob(".b.json.*.part"))) == 1
    store.prepare()
    assert not list(tmp_path.rglob("*.part"))


def test_fresh_files_of_another_computer_are_kept_for_a_day(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.prepare()
    part = store.cells / ".c.json.elsewhere_org-7-0123abcd.part"
    part.touch()
    store.prepare()
    assert part.exists()
    os.utime(part, (0, 0))
    store.prepare()
    assert not part.exists()
