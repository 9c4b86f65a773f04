"""Start CAFA's evaluator as a separate program and ask it for its tables."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

requires_cafaeval = pytest.mark.skipif(
    find_spec("cafaeval") is None, reason="cafaeval is not installed"
)


class Evaluator:
    """A running process of the evaluator."""

    def __init__(self) -> None:
        worker = Path(__file__).with_name("cafa_evaluator_worker.py")
        self._process = subprocess.Popen(
            [sys.executable, str(worker)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def ask(self, **request: Any) -> dict[str, Any]:
        """Return the table and the best rows, or the error, for the arguments of the evaluator."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
