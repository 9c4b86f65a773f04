"""Run CAFA's evaluator in a process of its own: a line of JSON in, a line of JSON out.

The evaluator is a separate program under the GNU General Public License, which tests compare with.
"""

from __future__ import annotations

import json
import logging
import sys
import warnings
from typing import Any


def main() -> None:
    """Answer requests until the input ends."""
    from cafaeval.evaluation import cafa_eval

    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    answers = sys.stdout
    sys.stdout = sys.stderr
    for line in sys.stdin:
        request = json.loads(line)
        try:
            table, best = cafa_eval(**request)
            answer: Any = {"table": _rows(table), "best": {k: _rows(v) for k, v in best.items()}}
        except Exception as error:  # the evaluator fails on some files without predictions
            answer = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def _rows(table: Any) -> list[dict[str, Any]]:
    return [] if table is None else table.reset_index().to_dict("records")


if __name__ == "__main__":
    main()
