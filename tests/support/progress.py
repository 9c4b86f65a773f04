"""A line on the progress of a quiet run of pytest, instead of a letter for each test."""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Any

import pytest

_SECONDS = 0.2  # between updates of the line on a terminal
_PARTS = 4  # in which progress is told where no line can be updated, as in a log


class Progress:
    """Plugin for pytest; failures and the last line of the run stay as they are."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._reporter: Any = None
        self._n_tests = self._n_done = self._n_failed = self._told = 0
        self._updated = 0.0

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """Leave out what pytest-xdist says about its workers; their crashes are failures."""
        plugins = self._config.pluginmanager
        self._reporter = plugins.getplugin("terminalreporter")
        workers: Any = plugins.getplugin("terminaldistreporter")
        if workers is not None:
            workers.write_line = workers.rewrite = lambda *_, **__: None

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Count the tests of this process."""
        self._n_tests = len(session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Count the tests of the workers, which all collect the same."""
        self._n_tests = len(ids)

    @pytest.hookimpl(wrapper=True)
    def pytest_report_teststatus(
        self, report: pytest.TestReport
    ) -> Generator[None, Any, tuple[str, str, Any]]:
        """Print no letter; the word is used in the summary of failures."""
        category, _, word = yield
        return category, "", word

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count failures."""
        self._n_failed += report.failed

    def pytest_runtest_logfinish(self) -> None:
        """Count a test, and tell how many are done from time to time."""
        self._n_done += 1
        text = f"{self._n_done:,} of {self._n_tests:,} tests"
        if self._n_failed:
            text += f", {self._n_failed:,} failed"
        if self._reporter.isatty:
            now = time.monotonic()
            if now >= self._updated + _SECONDS or self._n_done == self._n_tests:
                self._reporter.rewrite(text, erase=True)
                self._updated = now
            return
        part = _PARTS * self._n_done // max(1, self._n_tests)
        if self._told < part < _PARTS:
            self._reporter.write_line(text)
            self._told = part
