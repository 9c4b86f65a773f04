"""Model files with one changed field are refused, or load and predict. `make fuzz` tries more."""

import pytest

import ramify
from ramify import LevelPowerset, PCTClassifier
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


def test_a_fitted_model_does_not_need_the_estimator_it_was_given(tmp_path):
    X, y = [[1.0], [2.0], [3.0]], ["a/b", "c", "a/b"]
    model = LevelPowerset(PCTClassifier()).fit(X, y)
    expected = model.predict(X)
    model.estimator = None
    ramify.save(model, tmp_path / "m.ramify")
    assert ramify.load(tmp_path / "m.ramify").predict(X).tolist() == expected.tolist()
