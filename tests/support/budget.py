"""How many examples hypothesis tries, in proportion to its profile in tests/conftest.py."""

from __future__ import annotations

from typing import Any

from hypothesis import settings

_USUAL = 50
"""The number of examples of the default profile for tests without a budget."""


def budget(n_examples: int, **others: Any) -> settings:
    """Return the settings of a test that tries n_examples in the default profile."""
    scale = settings().max_examples / _USUAL
    return settings(max_examples=max(1, round(n_examples * scale)), **others)
