"""Unusual input gives probabilities or a refusal with a message. `make fuzz` tries more."""

from tests.robustness.fuzz_inputs import fuzz_inputs


def test_unusual_input_does_no_harm():
    found = fuzz_inputs(250, seed=5)
    assert not found.findings, found.write()
    assert found.count("refused") > 50, found.write()
    assert found.count("predicted") > 20, found.write()
