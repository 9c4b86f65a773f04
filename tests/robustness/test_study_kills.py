"""A study that is killed loses no finished cell. `make fuzz` kills more often."""

import random
from pathlib import Path

import pytest

from tests.robustness.kill_studies import kill_and_resume, run_whole


@pytest.mark.process
def test_a_killed_study_resumes_with_the_same_results(tmp_path: Path) -> None:
    rng = random.Random()  # another moment at every run
    assert kill_and_resume(tmp_path / "killed", run_whole(tmp_path), 3, rng) == 3
