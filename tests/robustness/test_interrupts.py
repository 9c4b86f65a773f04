"""Interrupted threads and threads that cannot start. `make fuzz` interrupts more often."""

import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import ramify
from ramify import HierarchicalBaggingClassifier, PCTClassifier, PCTForestClassifier
from tests.robustness.interrupt_estimators import ESTIMATORS, interrupt

FEW_THREADS = """
import resource
import numpy as np
from ramify import PCTClassifier, PCTForestClassifier
X = np.random.default_rng(0).normal(size=(3000, 100))
y = [["a" if row[0] > 0 else "b"] for row in X]
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
limit = used + 2**29  # room for the work, but not for the stack of any thread
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
for model in (PCTClassifier(n_jobs=64), PCTForestClassifier(n_estimators=4, n_jobs=64)):
    assert model.fit(X, y).predict_proba(X[:5]).shape == (5, 2)
"""


@pytest.mark.process
@pytest.mark.parametrize("name", ["forest", "bagging", "edges", "calibration", "vote"])
def test_an_interrupted_estimator_raises_keyboard_interrupt(name: str) -> None:
    rng = random.Random(name)
    assert interrupt(ESTIMATORS[name], rng.random()) == ""


@pytest.mark.parametrize(
    "model",
    [PCTClassifier(), PCTForestClassifier(n_estimators=4), HierarchicalBaggingClassifier()],
    ids=lambda model: type(model).__name__,
)
def test_far_too_many_threads_give_the_same_model(model: ramify.PCTClassifier) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 4))
    y = [["a/b" if row[0] > 0 else "a/c"] for row in X]
    model.set_params(random_state=0)
    expected = model.set_params(n_jobs=1).fit(X, y).predict_proba(X)
    assert_array_equal(model.set_params(n_jobs=40_000).fit(X, y).predict_proba(X), expected)


@pytest.mark.process
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits memory as Linux does")
def test_work_goes_on_if_no_thread_can_start() -> None:
    resource = pytest.importorskip("resource")

    def ask_for_large_stacks() -> None:
        resource.setrlimit(resource.RLIMIT_STACK, (2**30, 2**30))

    source = Path(ramify.__file__).parents[1]
    run = subprocess.run(
        [sys.executable, "-c", FEW_THREADS],
        env={"PYTHONPATH": str(source), "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=ask_for_large_stacks,
    )
    assert run.returncode == 0, run.stderr
