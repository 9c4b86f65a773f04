"""A quiet run of pytest prints a few lines, and all of a failure."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def _lines(*arguments: object) -> list[str]:
    """Return what pytest prints to a pipe for some quick tests."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c"]
    command += ["pyproject.toml", "tests/test_imports.py", *map(str, arguments)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert not result.stderr
    return [line for line in result.stdout.splitlines() if line]


@pytest.mark.process
@pytest.mark.parametrize("processes", [0, 2])
def test_a_quiet_run_prints_a_few_lines(processes: int) -> None:
    *progress, last = _lines("-n", processes)
    assert re.match(r"\d+ passed.* in ", last)
    assert 1 <= len(progress) <= 3
    assert all(re.fullmatch(r"[\d,]+ of [\d,]+ tests", line) for line in progress)


@pytest.mark.process
def test_failures_are_shown_in_full(tmp_path: Path) -> None:
    (tmp_path / "test_wrong.py").write_text("def test_sum():\n    assert 1 + 1 == 3\n")
    lines = _lines(tmp_path, "-n", 0)
    assert ">       assert 1 + 1 == 3" in lines
    assert any(re.match(r"FAILED .*test_sum", line) for line in lines)
    assert re.match(r"1 failed, \d+ passed.* in ", lines[-1])
