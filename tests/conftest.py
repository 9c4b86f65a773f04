"""Configuration of the test suite: results must be reproducible."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import settings

# No deadline: the time that an example takes depends on the load of the machine.
# By default, hypothesis tries the same examples in every run. To search for new ones:
# pytest --hypothesis-profile=search
settings.register_profile("ramify", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None, max_examples=300, print_blob=True)
settings.load_profile("ramify")


@pytest.fixture(autouse=True)
def _seeds() -> None:
    """Seed the global generators, which estimators without a random_state use."""
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002
