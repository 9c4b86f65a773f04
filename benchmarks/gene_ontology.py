"""The Gene Ontology end to end: time and memory, and CAFA's evaluator on the same files.

``python -m benchmarks.gene_ontology real`` trains a forest on a data set of $RAMIFY_DATA whose
labels are terms of the Gene Ontology, writes its predictions, and evaluates them with ramify and
with cafaeval (if installed), each in a separate process. It prints the largest difference of all
figures, the seconds and the peak memory.

``python -m benchmarks.gene_ontology large`` makes up an ontology of 45,000 terms and 20,000
annotated genes, trains a forest with the command line, writes predictions for 10,000 targets and
evaluates them. It prints the seconds and the peak memory of every step.
"""

# Only the standard library here: a child process starts with the memory peak of its parent.
from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

EVALUATOR = """
import sys
from cafaeval.evaluation import cafa_eval
table, _ = cafa_eval(*sys.argv[1:4], ia=sys.argv[4])
table.reset_index().to_csv(sys.argv[5], sep="\\t", index=False, float_format="%.17g")
"""


def main() -> None:
    """Run one of the two parts."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("part", choices=["real", "large"])
    parser.add_argument("--dataset", default="cellcycle_GO")
    parser.add_argument("--folder", type=Path, help="keep the files in this folder")
    parser.add_argument("--terms", type=int, default=45_000)
    parser.add_argument("--genes", type=int, default=20_000)
    parser.add_argument("--targets", type=int, default=10_000)
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--trees", type=int, default=20)
    parser.add_argument("--min-count", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(exist_ok=True)
        print(f"{'step':<44}{'seconds':>9}{'of CPU':>9}{'peak MiB':>10}")
        if options.part == "real":
            real(folder, options.dataset)
        else:
            large(folder, options)


def step(name: str, command: list[str]) -> None:
    """Run a command in a process of its own; print its time and memory."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if status:
        sys.exit(f"{name} failed: {' '.join(command)}")
    unit = 2**20 if sys.platform == "darwin" else 2**10
    busy = usage.ru_utime + usage.ru_stime
    figures = f"{seconds:>9.1f}{busy:>9.1f}{usage.ru_maxrss / unit:>10.0f}"
    print(f"{name:<44}{figures}", flush=True)


def ramify(*arguments: object) -> list[str]:
    """Return a command of the command line."""
    code = "from ramify.apps.cli import main; main()"
    return [sys.executable, "-c", code, *(str(argument) for argument in arguments)]


def real(folder: Path, dataset: str) -> None:
    """Compare ramify with CAFA's evaluator on a data set."""
    call = f"write_real({str(folder)!r}, {dataset!r})"
    make = f"from benchmarks.gene_ontology import write_real; {call}"
    step(f"train on {dataset} and write predictions", [sys.executable, "-c", make])
    files = [folder / "go.obo", folder / "predictions", folder / "truth.tsv", folder / "ia.tsv"]
    out = folder / "ours"
    evaluate = ["evaluate", files[1] / "p.tsv", files[2], "--cafa", "--ontology", files[0]]
    step("evaluate with ramify", ramify(*evaluate, "--information", files[3], "-o", out))
    if find_spec("cafaeval") is None:
        print("cafaeval is not installed")
        return
    theirs = folder / "theirs.tsv"
    paths = [str(file) for file in files]
    step("evaluate with cafaeval", [sys.executable, "-c", EVALUATOR, *paths, str(theirs)])
    n_figures, largest = compare(out / "evaluation_all.tsv", theirs)
    print(f"{n_figures:,} figures, largest difference {largest:.2g}")


def write_real(folder: str, dataset: str) -> None:
    """Train a forest on a data set and write its predictions for the test rows."""
    from benchmarks.problems import load_parts  # noqa: PLC0415 (the parent stays small)
    from ramify import PCTForestClassifier  # noqa: PLC0415
    from ramify.io import write_cafa, write_information  # noqa: PLC0415
    from ramify.metrics import information_content  # noqa: PLC0415

    train, test = load_parts(dataset)
    assert test is not None, f"{dataset} has no test rows"
    hierarchy = train.hierarchy
    path = Path(folder)
    with (path / "go.obo").open("w", encoding="utf-8") as file:
        for label in hierarchy.labels:
            parents = "".join(f"is_a: {parent}\n" for parent in hierarchy.parents(label))
            file.write(f"\n[Term]\nid: {label}\nname: {label}\nnamespace: go\n{parents}")
    with (path / "truth.tsv").open("w", encoding="utf-8") as file:
        for row, labels in enumerate(hierarchy.decode(test.Y)):
            file.writelines(f"row{row}\t{label}\n" for label in labels)
    (path / "predictions").mkdir(exist_ok=True)
    forest = PCTForestClassifier(hierarchy, n_estimators=20, random_state=0, n_jobs=1)
    scores = forest.fit(train.X, train.Y).predict_proba(test.X)
    ids = [f"row{row}" for row in range(len(scores))]
    write_cafa(path / "predictions" / "p.tsv", ids, scores, hierarchy)
    write_information(
        path / "ia.tsv", information_content(train.Y, hierarchy=hierarchy), hierarchy
    )


def compare(ours: Path, theirs: Path) -> tuple[int, float]:
    """Return the number of figures and the largest difference between two tables."""
    tables = []
    for path in (ours, theirs):
        with path.open(encoding="utf-8") as file:
            rows = csv.DictReader(file, delimiter="\t")
            tables.append({(row.pop("ns"), round(float(row.pop("tau")), 9)): row for row in rows})
    mine, others = tables
    assert set(mine) == set(others), "the tables have different thresholds"
    differences = [
        abs(float(value) - float(others[key][name]))
        for key, row in mine.items()
        for name, value in row.items()
    ]
    return len(differences), max(differences)


def large(folder: Path, options: argparse.Namespace) -> None:
    """Run the command line on made-up files of real proportions."""
    sizes = (options.terms, options.genes, options.targets, options.features)
    call = f"write_large({str(folder)!r}, *{sizes})"
    make = f"from benchmarks.gene_ontology import write_large; {call}"
    step("make up the files", [sys.executable, "-c", make])
    names = ["go.obo", "genes.gaf", "genes.parquet", "targets.gaf", "targets.parquet"]
    obo, genes, features, truth, targets = (folder / name for name in names)
    model, found = folder / "model.ramify", folder / "predictions.tsv"
    ontology = ["--ontology", obo]
    read = (
        "from ramify import Ontology; from ramify.io import read_annotations; "
        f"o = Ontology.from_obo({str(obo)!r}); print(read_annotations({str(genes)!r}, o))"
    )
    step("read the ontology and the annotations", [sys.executable, "-c", read])
    fit = ["train", features, "--annotations", genes, *ontology, "-o", model, "--folds", 0]
    fit += ["--set", f"n_estimators={options.trees}", "--min-count", options.min_count]
    step(f"read and train a forest of {options.trees} trees", ramify(*fit))
    write = ["predict", model, targets, "--format", "cafa", "-o", found]
    step(f"predict {options.targets:,} targets", ramify(*write))
    evaluate = ["evaluate", found, truth, "--cafa", *ontology, "-o", folder / "results"]
    step("evaluate", ramify(*evaluate))
    print((folder / "results" / "evaluation_best.tsv").read_text())
    print(f"predictions: {found.stat().st_size / 2**20:.0f} MiB")


def write_large(folder: str, n_terms: int, n_genes: int, n_targets: int, n_features: int) -> None:
    """Write an ontology, annotations and features of genes and of targets."""
    import pandas  # noqa: PLC0415 (the parent stays small)

    from benchmarks.made_up_ontology import (  # noqa: PLC0415
        features,
        write_annotations,
        write_ontology,
    )

    path = Path(folder)
    made_up = write_ontology(path / "go.obo", n_terms)
    for name, size, seed in (("genes", n_genes, 0), ("targets", n_targets, 1)):
        ids = write_annotations(path / f"{name}.gaf", made_up, size, seed, prefix=name[0].upper())
        X = features(size, n_features, seed)
        frame = pandas.DataFrame(X, columns=[f"x{k}" for k in range(n_features)])
        frame.insert(0, "gene", ids)
        frame.to_parquet(path / f"{name}.parquet")


if __name__ == "__main__":
    main()
