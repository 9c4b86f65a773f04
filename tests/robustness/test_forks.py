"""A process that was forked learns with threads of its own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

# The parent's threads wait or work when it is forked; the child has none of them.
SCRIPT = """
import os, threading, warnings
import numpy as np
from ramify import PCTClassifier

warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads
random = np.random.default_rng(0)
X = random.random((2000, 120))
Y = (random.random((2000, 10)) > 0.8).astype(int)

def scores():
    return PCTClassifier(max_depth=3, n_jobs=3).fit(X, Y).predict_proba(X)

def work():
    while not done.is_set():
        scores()

expected = scores()
done = threading.Event()
thread = threading.Thread(target=work)
thread.start()
for _ in range(5):
    child = os.fork()
    if child == 0:
        os._exit(not np.array_equal(scores(), expected))
    _, status = os.waitpid(child, 0)
    assert status == 0, status
done.set()
thread.join()
"""


@pytest.mark.process
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_a_forked_process_learns_with_threads():
    subprocess.run([sys.executable, "-c", SCRIPT], check=True, timeout=120)
