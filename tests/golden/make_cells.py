"""Write the scores of some cells of every study: ``python -m tests.golden.make_cells``.

Scores may be replaced only by those of another `RESULTS_VERSION`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from ramify.apps.studies.store import RESULTS_VERSION
from tests.support.recomputed_cells import STUDIES, compute_scores

PATH = Path(__file__).with_name("cells.json")


def main() -> None:
    """Compute and write all scores."""
    scores = {name: compute_scores(name) for name in STUDIES}
    if PATH.exists():
        stored = json.loads(PATH.read_text(encoding="utf-8"))
        changed = [
            f"{study} {model}"
            for study, models in stored["scores"].items()
            for model, found in models.items()
            if scores.get(study, {}).get(model, found) != found
        ]
        if changed and stored["results_version"] == RESULTS_VERSION:
            sys.exit(
                f"The scores of {', '.join(changed)} have changed. Raise RESULTS_VERSION in "
                "apps/studies/store.py first."
            )
    content = {"results_version": RESULTS_VERSION, "scores": scores}
    PATH.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
