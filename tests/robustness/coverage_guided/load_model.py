"""A target for atheris: load a model file and predict. See tools/fuzz_coverage.

The input decides a change to a field of a valid file, so that checksums remain valid.
"""

from __future__ import annotations

import random
import sys
import tempfile
import warnings
from contextlib import suppress
from pathlib import Path


def main() -> None:
    """Save all models and start the fuzzer with the arguments of libFuzzer."""
    import atheris

    with atheris.instrument_imports(include=["ramify"]):
        import ramify
    from tests.robustness.field_worker import inputs
    from tests.support.fuzz_models import NAMES, fuzz_model
    from tests.support.model_file_fields import change_field, take_apart

    warnings.simplefilter("ignore")
    files = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.ramify"
        for model in map(fuzz_model, NAMES):
            ramify.save(model, path)
            files.append(take_apart(path.read_bytes()))

        def try_one(data: bytes) -> None:
            rng = random.Random(data)
            path.write_bytes(change_field(rng, files[sum(data) % len(files)])[0])
            with suppress(ValueError):  # a ModelFileError, or rows that the model refuses
                ramify.load(path).predict_proba(inputs()["dense"])

        atheris.Setup(sys.argv, try_one)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
