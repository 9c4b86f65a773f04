"""Model files with one changed field are refused, or load and predict. `make fuzz` tries more."""

from tests.robustness.fuzz_model_fields import fuzz_fields


def test_changed_fields_do_no_harm():
    found = fuzz_fields(200, seed=7)
    assert not found.findings, found.write()
    assert found.outcomes["refused"] > 80, found.write()
    assert found.peak_mb < 2000, found.write()
