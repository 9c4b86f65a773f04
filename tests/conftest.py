"""Configuration of the test suite: results must be reproducible."""

from __future__ import annotations

import os
import random

# The workers of pytest-xdist take all cores: more threads of BLAS and OpenMP would wait for each
# other. These are read when numpy and scikit-learn are imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pytest
from hypothesis import settings

from tests.support.progress import Progress

# Profiles of hypothesis; --hypothesis-profile chooses another than the first. The number of
# examples of every test is in proportion to max_examples (tests/support/budget.py). No deadline:
# the time that an example takes depends on the load of the machine.
settings.register_profile("ramify", deadline=None, max_examples=50, derandomize=True)
# Under a sanitizer, native code is many times slower.
settings.register_profile("sanitized", settings.get_profile("ramify"), max_examples=10)
# New examples in every run: as many as usual, or many.
settings.register_profile(
    "random", deadline=None, max_examples=50, derandomize=False, print_blob=True
)
settings.register_profile("deep", settings.get_profile("random"), max_examples=500)
settings.load_profile("ramify")


def pytest_configure(config: pytest.Config) -> None:
    """Print little if pytest is told to be quiet, as by make; workers print nothing."""
    if config.get_verbosity() < 0 and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Progress(config))


@pytest.fixture(autouse=True)
def _seeds() -> None:
    """Seed the global generators, which estimators without a random_state use."""
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002
