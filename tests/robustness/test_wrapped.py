"""Changed estimators of scikit-learn in model files do no harm. `make fuzz` tries more."""

import pytest

from tests.robustness.fuzz_wrapped import fuzz_wrapped


@pytest.mark.process
@pytest.mark.parametrize("only", ["Neighbors", "Dummy", "Forest", "DecisionTree"])
def test_changed_estimators_do_no_harm(only):
    pytest.importorskip("skops")
    found = fuzz_wrapped(80, seed=5, only=only)
    assert not found.findings, found.write()
    assert found.outcomes.total() == 80
    assert found.outcomes["refused"] > 5, found.write()
    assert found.peak_mb < 2000, found.write()
