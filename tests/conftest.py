"""Settings of the whole test suite: one state of the code, one verdict."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import settings

# How long an example takes says more about what else the machine does than about the code.
# The suite that gates a change tries the same examples on every run; to look for new ones:
# pytest --hypothesis-profile=search
settings.register_profile("ramify", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None, max_examples=300, print_blob=True)
settings.load_profile("ramify")


@pytest.fixture(autouse=True)
def _seeds() -> None:
    """Estimators without a random_state draw from the global generators; start those anew."""
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002
