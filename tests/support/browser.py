"""Fixtures to open pages in Chromium; tests are skipped if it is not installed."""

from __future__ import annotations

import os
import shutil

import pytest


def chromium():
    named = os.environ.get("RAMIFY_CHROMIUM")
    found = (
        [named] if named else map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))
    )
    return next((path for path in found if path), None)


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = chromium()
    if path is None:
        pytest.skip("Chromium not found: install it, or set RAMIFY_CHROMIUM to its path")
    with sync_api.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def show(browser):
    """Open a page; check after the test that there were no errors and no network requests."""
    errors, requested, opened = [], [], []

    def show_(path, **settings):
        page = browser.new_page(**{"viewport": {"width": 1200, "height": 800}, **settings})
        page.on("console", lambda m: errors.append(m.text) if m.type != "log" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("request", lambda request: requested.append(request.url))
        page.goto(path.resolve().as_uri())
        page.wait_for_function("window.app")
        opened.append(page)
        return page

    yield show_
    for page in opened:
        page.close()
    assert errors == []
    assert all(url.startswith(("file:", "data:")) for url in requested)
