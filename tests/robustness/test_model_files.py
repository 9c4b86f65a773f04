"""Damaged model files are refused. `make fuzz` damages more of them."""

import pytest

from tests.robustness.fuzz_model_files import fuzz, models


@pytest.mark.parametrize("number", range(4), ids=["tree", "forest", "local", "pipeline"])
def test_damaged_files_are_refused(number):
    pytest.importorskip("skops")
    model, X = models()[number]
    summary = fuzz(model, X, 40, seed=number + 1)
    assert not summary.failures, summary.write()
    assert summary.most_bytes < 300 << 20, summary.write()
