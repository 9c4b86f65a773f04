"""Files in a folder of results are checked: a damaged one is named, or its cell is run again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from ramify.studies import StudyResults, run_study, write_reports
from tests.support.budget import budget
from tests.support.studies_cases import MODELS, small

STUDY = {
    "claims": [
        {
            "text": "x",
            "kind": "first",
            "by": "mean",
            "measure": "all",
            "models": ["tree", "shares"],
        },
        {"text": "y", "kind": "better", "pairs": [["shares", "tree"]], "measure": "overfit:auprc"},
        {"text": "z", "kind": "close", "pairs": [["shares", "tree"]], "within": 0.1},
        {"text": "u", "kind": "place", "models": ["tree", "shares"], "place": 2},
        {
            "text": "v",
            "kind": "significant",
            "models": ["tree", "shares"],
            "pairs": [["shares", "tree"]],
        },
    ],
    "datasets": [{"name": "animals"}, {"name": "again", "fetch": "animals", "max_level": 2}],
    "curves": {"levels": {"over": "levels", "title": "by level"}},
    "models": [MODELS[0], {**MODELS[1], "show": True}],
    "tests": {"groups": {"both": ["shares", "tree"]}},
}
STRANGE = [
    *(None, True, -1, 3, 3.5, 1e308, "", "x", "../x", [], [[]], {}, {"name": 3}, [3, "x"]),
    *("tree", ["tree"], ["tree", "tree"], [["tree", "tree"]], "significant"),
]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished")
    run_study(small(**STUDY), folder)
    return folder


@pytest.fixture
def folder(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "results"))


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value inside a JSON document."""
    yield path
    if isinstance(value, dict | list):
        for name in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[name], (*path, name))


def changed(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    """Return a document with another value in one place; `...` removes what is there."""
    if not path:
        return None if value is ... else value
    copy = document.copy()
    if value is ... and len(path) == 1:
        del copy[path[0]]
    else:
        copy[path[0]] = changed(document[path[0]], path[1:], value)
    return copy


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "[" * 100_000, "{}", "\x00"])
def test_a_damaged_description_is_named(folder: Path, text: str) -> None:
    (folder / "study.json").write_text(text, "utf-8")
    with pytest.raises(ValueError, match=r"study\.json does not describe a study.*Run the study"):
        write_reports(folder)
    assert not list(folder.glob("report*"))


@given(data=st.data())
@budget(75, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_change_of_the_description_harms(
    finished: Path, folder: Path, data: st.DataObject
) -> None:
    facts = json.loads((finished / "study.json").read_text("utf-8"))
    path = data.draw(st.sampled_from(list(places(facts))))
    value = data.draw(st.sampled_from([*STRANGE, ...]))
    (folder / "study.json").write_text(json.dumps(changed(facts, path, value)), "utf-8")
    try:
        write_reports(folder)
    except ValueError as error:
        assert "study.json does not describe a study" in str(error)  # noqa: PT017


@given(data=st.data())
@budget(75, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_change_of_a_cell_harms(finished: Path, folder: Path, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(path.name for path in finished.glob("cells/*"))))
    record = json.loads((finished / "cells" / name).read_text("utf-8"))
    path = data.draw(st.sampled_from(list(places(record))))
    value = data.draw(st.sampled_from([*STRANGE, ...]))
    shutil.copytree(finished, folder, dirs_exist_ok=True)
    (folder / "cells" / name).write_text(json.dumps(changed(record, path, value)), "utf-8")
    write_reports(folder)


@pytest.mark.parametrize("change", [{"dataset": "other"}, {"fold": 7}, {"scores": 3}])
def test_a_cell_that_does_not_fit_is_run_again(folder: Path, change: dict[str, Any]) -> None:
    path = min(folder.glob("cells/*.json"))
    record = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**record, **change}), "utf-8")
    assert StudyResults.read(folder).n_waiting == 1
    again = run_study(small(**STUDY), folder)
    assert again.n_waiting == 0
    assert json.loads(path.read_text("utf-8"))["scores"] == record["scores"]
