"""The pages that make tables: their commands print what the pages show."""

from __future__ import annotations

import re
import shlex
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, OutputChecker
from pathlib import Path
from typing import Any

import pytest

from ramify import load
from tests.support.cli_runs import run

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(
    ("page", "least", "n_features"), [("your-table.md", 6, 5), ("text-categories.md", 3, 4)]
)
def test_the_page_runs_as_written(
    page: str, least: int, n_features: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    text = (DOCS / page).read_text("utf-8")
    blocks = re.findall(r"^```(\w+)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {}
    n_commands = 0
    for kind, text in blocks:
        if text.startswith(">>>"):  # run as a doctest
            continue
        if kind == "python":
            exec(text, names)
        elif kind == "console":
            for part in re.split(r"^\$ ramify ", text, flags=re.MULTILINE)[1:]:
                command, _, expected = part.partition("\n")
                result = run(*shlex.split(command))
                assert result.exit_code == 0, result.output
                same = OutputChecker().check_output(
                    expected, result.output, ELLIPSIS | NORMALIZE_WHITESPACE
                )
                assert same, f"{command}\n\n{result.output}"
                n_commands += 1
        else:
            first = (tmp_path / "predicted.csv").read_text("utf-8").splitlines()[:4]
            assert text.splitlines() == first
    assert n_commands >= least
    (model,) = tmp_path.glob("*.ramify")
    assert load(model).n_features_in_ == n_features
