"""The page docs/your-table.md: its table is made, and its commands print what it shows."""

from __future__ import annotations

import re
import shlex
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, OutputChecker
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli_runs import run

PAGE = (Path(__file__).parents[2] / "docs" / "your-table.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_the_page_runs_as_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    names: dict[str, Any] = {}
    n_commands = 0
    for kind, text in BLOCKS:
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
    assert n_commands >= 6
    assert names["forest"].n_features_in_ == 5
