"""Write the defaults of CLUS's options, as CLUS prints them, to clus_defaults.json.

Run with ``python -m tests.golden.make_clus_defaults``. Requires CLUS; see
tests/support/clus_program.py. A settings file that names a section makes CLUS print it.
"""

import json
import tempfile
from pathlib import Path

from tests.support.clus_program import DATA, printed_settings, run_clus

FILE = Path(__file__).with_name("clus_defaults.json")
NAMED = (
    *("OptionTree", "Phylogeny", "Exhaustive", "kNNTree", "Experimental", "Ensemble", "Beam"),
    *("Rules", "Relief", "SIT", "kNN"),
)
# What CLUS prints for these depends on the data.
OF_THE_DATA = {
    ("Data", "File"),
    ("Attributes", "Target"),
    ("Attributes", "Clustering"),
    ("Attributes", "Descriptive"),
    ("Hierarchical", "Type"),
    ("Hierarchical", "HSeparator"),
    ("Tree", "Heuristic"),
    ("Tree", "PruningMethod"),
    ("Exhaustive", "Exhaustive"),
}
LABELS = (
    DATA.replace(
        "@attribute class hierarchical a,a/b,a/b/c,d", "@attribute y {0,1}\n@attribute z {0,1}"
    )
    .replace("a/b/c", "1,0")
    .replace("d\n", "0,1\n")
)


def clus_defaults() -> dict[str, dict[str, str]]:
    """Return the defaults that CLUS prints, by section and option."""
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder, "run.s")
        Path(folder, "four.arff").write_text(DATA)
        headings = "\n".join(f"[{name}]" for name in NAMED)
        run.write_text(
            "[Data]\nFile = four.arff\n[Hierarchical]\nType = Tree\nHSeparator = /\n" + headings
        )
        run_clus(run)
        found = printed_settings(run.with_suffix(".out"))
        Path(folder, "four.arff").write_text(LABELS)
        run.write_text("[Data]\nFile = four.arff\n[Attributes]\nTarget = 2-3\n")
        run_clus(run)
        found["Multilabel"] = printed_settings(run.with_suffix(".out"))["Multilabel"]
    return {
        section: {
            name: value for name, value in options.items() if (section, name) not in OF_THE_DATA
        }
        for section, options in found.items()
    }


if __name__ == "__main__":
    FILE.write_text(json.dumps(clus_defaults(), indent=1) + "\n")
