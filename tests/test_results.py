"""The tables of docs/results: their figures are those of the files next to them."""

import csv
import re
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import rankdata

from ramify.apps.studies.verdicts import check_claims
from ramify.studies import StudyResults, load_study
from tests.support.studies_cases import results_of_cells

DOCS = Path(__file__).parents[1] / "docs"

METHODS = {  # of brdt2015
    "CLUS unpruned": "clus-unpr",
    "LP": "lp",
    "RAkEL": "rakel",
    "BR": "br",
    "BR-DT Pru": "br-dt-pru",
    "BR-DT Unpr-Pr(1)": "br-dt-unpr-pr",
    "ML-kNN": "ml-knn",
    "CLUS pruned": "clus-pru",
}
BOOSTING = {  # of chelmis2021
    "AdaBoost.MH of depth 2 per parent, 200 rounds": "per-parent",
    "best of two searches, depth 2, 200 rounds": "deeper",
    "random forest per level": "per-level",
    "best of two searches (default), 600 rounds": "best-of-two",
    "best of two searches (ours)": "best-of-two",
    "AdaBoost.MH, raw: labels as flat, 600 rounds": "adaboost-mh-raw",
    "AdaBoost.MH, 600 rounds": "adaboost-mh",
    "global naive Bayes": "naive-bayes",
    "H-Ada.MH (Algorithm 1)": "h-ada-mh",
    "random forest of depth 2 per level": "per-level-shallow",
}
MERGED = {  # of the variant of chelmis2021
    "H-Ada.MH (Algorithm 1)": "h-ada-mh",
    "random forest of depth 2 per level": "per-level",
    "naive Bayes of label sets": "naive-bayes",
    "AdaBoost.MH": "adaboost-mh-raw",
    "costs only": "costs-only",
    "best of two searches (ours)": "best-of-two",
    "the authors' program": "program",
    "H-Ada.MH, every parent": "every-parent",
    "random forest per level, fully grown": "per-level-grown",
}
TASKS = {"single-label": "slc", "HSC": "hsc", "multi-label": "mlc", "HMC": "hmc"}


def read_table(page: str, header: str) -> dict[str, list[str]]:
    """Return the rows of a table, given the start of its first line, by their first cell."""
    lines = (DOCS / page).read_text("utf-8").splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith(f"| {header}"))
    rows = {}
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        rows[name] = cells
    return rows


def numbers(cells: list[str]) -> list[float]:
    """Return the first number of each cell."""
    return [float(re.findall(r"[\d.]+", cell)[0]) for cell in cells if cell]


def read_means(name: str, quantity: str, column: str = "mean") -> dict[str, dict[str, float]]:
    """Return the means of a quantity in a scores.csv, by model and data set."""
    means: dict[str, dict[str, float]] = defaultdict(dict)
    with (DOCS / "results" / name).open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["quantity"] == quantity:
                means[row["model"]][row["dataset"]] = float(row[column])
    return means


def test_ranks_and_means_of_brdt2015() -> None:
    table = read_table("results/brdt2015.md", "method | level 1 | level 2")
    means = read_means("brdt2015.csv", "micro_f1")
    for level in range(1, 5):
        sets = [name for name in means["br"] if name.endswith(f"-{level}")]
        scores = np.array([[means[model][name] for name in sets] for model in METHODS.values()])
        ranks = rankdata(-scores, axis=0).mean(axis=1)
        for title, rank, mean in zip(METHODS, ranks, scores.mean(axis=1), strict=True):
            row = numbers(table[title])
            assert row[level - 1] == round(rank, 2), title
            assert row[level + 3] == round(mean, 3), title
        baseline = numbers(table["the three most frequent labels"])[level - 1]
        assert baseline == round(np.mean([means["three-labels"][name] for name in sets]), 3)


def test_means_of_bi2012_on_go() -> None:
    table = read_table("results/bi2012.md", "data set | MAS, Table 1")
    means = read_means("bi2012.csv", "hierarchical_f1")
    models = ("mas", "masr", "hbr", "clus-hmc", "br")
    found = {
        title: [means[model][f"{title}_GO"] for model in models]
        for title in table
        if title != "mean"
    }
    found["mean"] = np.mean(list(found.values()), axis=0).tolist()
    for title, (_, mas, _, *others) in table.items():  # two columns are from elsewhere
        assert numbers([mas, *others]) == np.round(found[title], 2).tolist(), title


def test_scores_of_chelmis2021() -> None:
    micro_f1 = read_means("chelmis2021.csv", "micro_f1")
    hmc_loss = read_means("chelmis2021.csv", "hmc_loss")
    for title, row in read_table("results/chelmis2021.md", "model | micro-F1").items():
        found = [*micro_f1[BOOSTING[title]].values(), *hmc_loss[BOOSTING[title]].values()]
        assert numbers(row) == np.round(found, 3).tolist(), title
    losses = read_means("chelmis2021.csv", "hierarchical_hamming")
    for title, row in read_table("boosting.md", "micro-F1, train/test split").items():
        found = [*micro_f1[BOOSTING[title]].values(), losses[BOOSTING[title]]["imclef07a"]]
        assert numbers(row) == np.round(found, 3).tolist(), title


def test_scores_of_chelmis2021_on_merged_classes() -> None:
    scores = [read_means("chelmis2021-merged.csv", name) for name in ("micro_f1", "macro_f1")]
    for title, row in read_table("results/chelmis2021.md", "model, merged classes").items():
        found = [value for one in scores for value in one[MERGED[title]].values()]
        assert numbers(row) == np.round(found, 3).tolist(), title


def test_means_of_levatic2015() -> None:
    means = read_means("levatic2015.csv", "auprc")
    published = read_means("levatic2015.csv", "auprc", "published")
    for title, row in read_table("results/levatic2015.md", "model | Slovenian rivers").items():
        task, kind = title.split()
        model = f"{TASKS[task]}-{kind}"
        for cell, mean, other in zip(
            row, means[model].values(), published[model].values(), strict=True
        ):
            score, difference = re.findall(r"[+−]?[\d.]+", cell)
            assert score == f"{mean:.3f}", title
            assert float(difference.replace("−", "-")) == round(round(mean, 3) - other, 3), title


def read_results(name: str) -> StudyResults:
    """Return the means in the scores.csv of a study as its results."""
    paper, _, variant = name.partition("-")
    study = load_study(paper, variant=variant or None)
    cells: dict[tuple[str, str], dict] = {}
    with (DOCS / "results" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            cell = cells.setdefault((row["dataset"], row["model"]), {"scores": {}})
            if row["mean"]:
                cell["scores"][row["quantity"]] = float(row["mean"])
    return results_of_cells(study, cells)


@pytest.mark.parametrize(
    "name", ["brdt2015", "chelmis2021", "chelmis2021-merged", "gjorgjioski", "levatic2015"]
)
def test_numbers_of_findings(name: str) -> None:
    verdicts = check_claims(read_results(name))
    papers = [one.outcome for one in verdicts if not one.ours]
    counts = Counter(papers)
    ((_, row),) = [
        (title, row)
        for title, row in read_table("results.md", "study | findings").items()
        if title.startswith(f"[{name}]")
    ]
    found = [len(papers), *(counts[one] for one in ("confirmed", "partly", "not confirmed"))]
    assert numbers(row[:4]) == found
