"""Model files with one changed field are refused, or load and predict. `make fuzz` tries more."""

import pytest

from tests.robustness.fuzz_model_fields import Here, Worker, fuzz_fields


def test_changed_fields_do_no_harm():
    found = fuzz_fields(200, 7, Here())
    assert not found.findings, found.write()
    assert found.outcomes["refused"] > 80, found.write()


@pytest.mark.process
def test_changed_fields_take_little_memory():
    found = fuzz_fields(200, 8, Worker())
    assert not found.findings, found.write()
    assert 0 < found.peak_mb < 2000, found.write()
