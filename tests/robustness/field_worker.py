"""Load model files named on standard input and predict with them; one line of JSON for each.

A line is the path of a file and the forms of rows to predict, see `inputs`.
`fuzz_model_fields` runs this in processes of its own, which may crash.
"""

from __future__ import annotations

import json
import os
import re
import resource
import sys
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import ramify
from tests.support.fuzz_models import rows

# Python's and C++'s own words about what went wrong in the code.
_INTERNAL = re.compile(
    r"\w(Error|Exception): |object (is not|has no|of type)|std::|__\w+__|unpack|unhashable|"
    r"positional|keyword argument|abstract class|index out of range|reshape|broadcast"
)
MAX_MEMORY = 6 << 30
"""Address space of a worker, except under a sanitizer, which reserves terabytes."""


def peak_memory() -> float:
    """Return the largest memory of this process so far, in MiB.

    Linux counts the memory of the process that started this one in ru_maxrss, but not in VmHWM.
    """
    status = Path("/proc/self/status")
    if status.is_file():
        lines = status.read_text(encoding="ascii", errors="replace").splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def inputs() -> dict[str, Any]:
    """Return rows in the forms that a model may be able to read."""
    known = np.nan_to_num(rows())
    return {
        "dense": known,
        "missing": rows(),
        "sparse": sparse.csr_matrix(known),
        "whole": np.clip(np.round(known), 0, 2),
        "texts": ["red green grey", "blue", "", "red red unknown"],
    }


def use(path: Path, forms: list[str]) -> tuple[str, str]:
    """Load a file and predict; return the outcome and the text of an error."""
    try:
        model = ramify.load(path)
    except ramify.ModelFileError as error:
        return "unclear refusal" if _INTERNAL.search(str(error)) else "refused", str(error)
    except Exception:
        return "failed to load", traceback.format_exc()
    try:
        for form in forms:
            model.predict_proba(inputs()[form])
            model.predict(inputs()[form])
    except MemoryError:
        return "out of memory", traceback.format_exc()
    except ValueError as error:
        # E.g. probabilities that overflow, or that are not coherent.
        return "refused rows", str(error)
    except Exception:
        return "failed to predict", traceback.format_exc()
    return "predicted", ""


def main() -> None:
    """Read paths from standard input and write one outcome per line."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    if not os.environ.get("ASAN_OPTIONS"):
        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    answers, sys.stdout = sys.stdout, sys.stderr  # models with a changed `verbose` print
    answers.write("ready\n")  # imports take long under a sanitizer
    answers.flush()
    for line in sys.stdin:
        started = time.process_time()
        path, *forms = line.split()
        outcome, told = use(Path(path), forms)
        answer = {
            "outcome": outcome,
            "told": told,
            "seconds": time.process_time() - started,
            "peak_mb": peak_memory(),
        }
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
