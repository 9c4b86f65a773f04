"""Reports are made of stored results alone, in every format, and look right in a browser."""

from __future__ import annotations

import csv
import io
import re
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ramify.apps.studies.comparing import compare_overall
from ramify.apps.studies.findings import data_table
from ramify.apps.studies.reports.figures import dots_svgs, rank_svg
from ramify.apps.studies.reports.html_page import to_html
from ramify.apps.studies.reports.markdown import to_markdown
from ramify.apps.studies.reports.tables import to_latex
from ramify.apps.studies.verdicts import check_claims
from ramify.studies import StudyResults, run_study, write_reports
from tests.support.studies_cases import MODELS, settled_results, small

GOLDEN = Path(__file__).parents[1] / "golden" / "study.md"
CHROMIUM = shutil.which("chromium")

CHANGES = {
    "text": "Two views of the animals.",
    "datasets": [
        {"name": "animals", "title": "Animals"},
        {"name": "coarse", "title": "Coarse animals", "fetch": "animals", "max_level": 2},
        {"name": "gone", "title": "Gone", "missing": "not public."},
    ],
    "claims": [
        {"text": "Edges win.", "kind": "first", "models": ["edges", "tree", "shares"]},
        {"text": "Shares win.", "kind": "first", "models": ["shares", "tree"]},
        {"text": "Trees beat shares.", "kind": "better", "pairs": [["shares", "tree"]]},
        {"text": "All are alike.", "kind": "alike", "models": ["shares", "tree", "edges"]},
    ],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = settled_results(tmp_path_factory.mktemp("settled"), **CHANGES)
    shutil.copytree(folder, copy := tmp_path_factory.mktemp("alone") / "results")
    return copy


@pytest.fixture(scope="module")
def results(folder: Path) -> StudyResults:
    found = StudyResults.read(folder)
    found.study["reference"] = [
        {"dataset": "animals", "model": model["name"], "quantity": "auprc", "value": value}
        for model, value in zip(MODELS, (0.41, 0.5, 0.61), strict=True)
    ]
    found.study["reference_name"] = "the paper"
    return found


def test_markdown_is_the_golden_file(results: StudyResults) -> None:
    """After a wanted change: read it, then write the text of this test to the file."""
    assert to_markdown(results) == GOLDEN.read_text(encoding="utf-8")


def test_all_reports_come_from_the_folder_alone(folder: Path) -> None:
    files = write_reports(folder)
    names = ["report.html", "report.md", "tables.tex", "scores.csv", "cells.csv"]
    assert [path.name for path in files] == names
    assert all(path.stat().st_size > 300 for path in files)


def test_csv_has_every_cell_and_every_mean(folder: Path) -> None:
    write_reports(folder)
    cells = _rows(folder / "cells.csv")
    assert len(cells) == 2 * 3 * 3
    assert {cell["status"] for cell in cells} == {"done"}
    means = _rows(folder / "scores.csv")
    mine = [float(c["auprc"]) for c in cells if (c["dataset"], c["model"]) == ("animals", "tree")]
    row = next(
        m
        for m in means
        if (m["dataset"], m["model"], m["quantity"]) == ("animals", "tree", "auprc")
    )
    assert float(row["mean"]) == pytest.approx(sum(mine) / 3)
    assert row["n_folds"] == "3"


def _rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))


def test_latex_escapes_and_marks_the_best(results: StudyResults) -> None:
    text = to_latex(results)
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == 6
    assert r"\textbf{0.610 $\pm$ 0.010}" in text
    assert not re.search(r"(?<!\\)_", text)


def test_claims_are_judged(results: StudyResults) -> None:
    outcomes = [verdict.outcome for verdict in check_claims(results)]
    assert outcomes == ["confirmed", "not confirmed", "confirmed", "confirmed"]


def test_figures_are_sound_svg(results: StudyResults) -> None:
    quantities = [results.measures[0], results.quantity("fit_cpu_seconds")]
    figures = [ElementTree.fromstring(svg) for svg in dots_svgs(results, "animals", quantities)]
    assert all(int(figure.attrib["width"]) < 320 for figure in figures)  # the width of a phone
    circles = [part for figure in figures for part in figure if part.tag.endswith("circle")]
    assert len(circles) == 2 * 3 * (3 + 1)
    (comparison,) = compare_overall(results, results.measures[0])
    assert comparison.nemenyi is not None
    texts = [part.text for part in ElementTree.fromstring(rank_svg(comparison.nemenyi, "ranks"))]
    assert "a tree per edge 1.00" in texts


def test_the_page_needs_nothing_from_elsewhere(results: StudyResults) -> None:
    page = to_html(results)
    links = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert all(link.startswith(("#", "data:")) for link in links)
    assert "@import" not in page
    assert "url(" not in page
    assert '<td class="best"' in page
    assert "<p>Findings: 3 confirmed, 1 not confirmed.</p>" in page


def test_text_of_users_is_escaped(tmp_path: Path) -> None:
    models = [{**MODELS[0], "title": "<b>&|`"}, MODELS[1]]
    text = "[see](javascript:x)\n# Heading *1*"
    found = run_study(small(models=models, title="<script>", text=text), tmp_path)
    page, marked = to_html(found), to_markdown(found)
    assert "<b>&" not in page
    assert "<h1>&lt;script&gt;</h1>" in page
    assert marked.startswith("# \\<script>\n")
    assert "[see]\\(javascript:x) # Heading \\*1\\*" in marked
    assert marked.count("<b>") == marked.count("\\<b>&\\|\\`") > 5


def test_failures_and_unfinished_cells_are_told(tmp_path: Path) -> None:
    broken = {"name": "broken", "model": "tree", "parameters": {"max_depth": -1}}
    found = run_study(small(models=[MODELS[0], broken]), tmp_path)
    for text in (to_markdown(found), to_html(found)):
        assert "broken on animals, fold 1: ValueError" in text
    for path in sorted((tmp_path / "cells").glob("*.json"))[:1]:
        path.unlink()
    assert "not run yet" in to_html(StudyResults.read(tmp_path))


def test_reports_of_nothing_are_no_errors(tmp_path: Path) -> None:
    found = run_study(small(datasets=[{"name": "gone", "missing": "not public"}]), tmp_path)
    write_reports(tmp_path)
    for text in (to_markdown(found), to_html(found)):
        assert "No cell has a result yet" in text
        assert "not public" in text


@pytest.mark.process
@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium and playwright to look at the page")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_in_a_browser(folder: Path, scheme: str) -> None:
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    write_reports(folder)
    problems: list[str] = []
    with playwright.sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1200, "height": 900}, color_scheme=scheme)
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto((folder / "report.html").as_uri())
        assert page.locator("table").first.is_visible()
        assert page.locator("svg").first.is_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 1200
        before = page.evaluate("getComputedStyle(document.body).backgroundColor")
        page.click("button.theme")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before
        browser.close()
    assert problems == []


@pytest.mark.process
@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium and playwright to look at the page")
def test_the_page_on_a_phone(folder: Path) -> None:
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    write_reports(folder)
    with playwright.sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 390, "height": 900})
        page.goto((folder / "report.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        ranks = page.locator("table.ranked td:last-child").first
        names = page.locator("svg:visible text.name").all()
        assert names
        for part in (ranks, *names):
            box = part.bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 390
            assert box["height"] >= 12  # neither clipped nor shrunk
        browser.close()


def test_csv_module_reads_what_was_written(results: StudyResults) -> None:
    from ramify.apps.studies.reports.tables import to_scores_csv

    rows = list(csv.DictReader(io.StringIO(to_scores_csv(results))))
    published = [row["published"] for row in rows if row["quantity"] == "auprc"]
    assert published[:3] == ["0.41", "0.5", "0.61"]


def test_claims_are_judged_by_the_published_figures_too(results: StudyResults) -> None:
    verdicts = check_claims(results)
    # Published: 0.41 for shares, 0.5 for the tree, 0.61 for edges, on one data set.
    outcomes = ["confirmed", "not confirmed", "confirmed", "open"]
    assert [verdict.published for verdict in verdicts] == outcomes
    assert verdicts[0].explanation.endswith(" By the published figures: confirmed.")
    assert "published" not in verdicts[3].explanation


def test_published_sizes_stand_beside_ours(folder: Path) -> None:
    results = StudyResults.read(folder)
    results.study["reference"] = [
        {"dataset": "animals", "model": "", "quantity": "rows", "value": 1234.0},
        {"dataset": "animals", "model": "", "quantity": "leaf_labels_per_row", "value": 1.5},
    ]
    ((_, cells),) = [row for row in data_table(results).rows if row[0] == "Animals"]
    assert cells[0].text.endswith(" (1,234)")
    assert cells[-1].text.endswith(" (1.50)")
    assert "(" not in cells[1].text
    assert check_claims(results)[0].published == ""


@pytest.mark.parametrize(
    ("claim", "outcome"),
    [
        # By every measure edges are best, then the tree, then shares.
        ({"kind": "top", "place": 2, "models": ["tree", "edges", "shares"]}, "confirmed"),
        ({"kind": "top", "place": 2, "models": ["shares", "edges", "tree"]}, "not confirmed"),
        ({"kind": "top", "place": 1, "models": ["tree", "edges", "shares"]}, "not confirmed"),
        ({"kind": "first", "models": ["edges", "tree", "shares"]}, "confirmed"),
        ({"kind": "first", "by": "mean", "models": ["edges", "tree", "shares"]}, "confirmed"),
        ({"kind": "first", "by": "mean", "models": ["tree", "edges"]}, "not confirmed"),
        ({"kind": "wins", "models": ["edges", "tree", "shares"]}, "confirmed"),
        ({"kind": "wins", "models": ["shares", "edges"]}, "not confirmed"),
        ({"kind": "better", "pairs": [["shares", "edges"]]}, "confirmed"),
    ],
)
@pytest.mark.parametrize("measure", ["all", "loss"])
def test_claims_over_all_measures_and_the_best_of_them(
    folder: Path, claim: dict, outcome: str, measure: str
) -> None:
    results = StudyResults.read(folder)
    results.study["claims"] = [{"text": "x", "pairs": [], "measure": measure, **claim}]
    assert check_claims(results)[0].outcome == outcome


def test_the_best_of_several_may_be_tied(folder: Path) -> None:
    results = StudyResults.read(folder)
    for cell in results.cells:
        cell["scores"] = {"auprc": 0.9 if cell["model"] == "edges" else 0.5, "loss": 0.5}
    claim = {"text": "x", "kind": "top", "place": 2, "models": ["edges", "tree", "shares"]}
    results.study["claims"] = [claim]
    assert check_claims(results)[0].outcome == "partly"


def test_among_the_best_are_models_that_a_paired_t_test_does_not_find_worse(folder: Path) -> None:
    """The tree is worse in all folds of one data set, and on average on the other."""
    results = StudyResults.read(folder)
    first, second = [data["name"] for data in results.datasets]
    differences = {first: (0.1, 0.1, 0.11), second: (-0.1, 0.2, 0.3)}
    for cell in results.cells:
        less = differences[cell["dataset"]][cell["fold"]] if cell["model"] == "tree" else 0.0
        score = 0.5 + 0.1 * cell["fold"] - less
        cell["scores"] = {"auprc": score, "loss": 1 - score}
    claims = [
        {"text": "x", "kind": "among_best", "models": ["tree", "edges"], "measure": "auprc"},
        {"text": "x", "kind": "among_best", "models": ["tree", "edges"], "measure": "loss"},
        {"text": "y", "kind": "among_best", "models": ["edges", "tree"]},
        {"text": "z", "kind": "among_best", "models": ["edges", "shares"]},
    ]
    results.study["claims"] = claims
    tree, by_loss, edges, equal = check_claims(results)
    assert tree.outcome == by_loss.outcome == "not confirmed"
    title = results.datasets[0]["title"]
    words = f"on 1 of 2 data sets; worse than a tree per edge on {title}."
    assert tree.words == by_loss.words == f"Not significantly worse than the best {words}"
    assert edges.outcome == equal.outcome == "confirmed"
    assert edges.words == "Not significantly worse than the best on 2 of 2 data sets."


def test_the_best_mean_and_the_most_wins_differ(folder: Path) -> None:
    """The tree is a little better on one of two data sets, edges are much better on the other."""
    results = StudyResults.read(folder)
    first, second = [data["name"] for data in results.datasets]
    scores = {(first, "tree"): 0.6, (first, "edges"): 0.5, (second, "edges"): 0.9}
    for cell in results.cells:
        cell["scores"] = {"auprc": scores.get((cell["dataset"], cell["model"]), 0.5), "loss": 0.5}
    models = ["edges", "tree"]
    reason = "Why it is so."
    results.study["claims"] = [
        {"text": "x", "kind": "first", "by": "mean", "models": models, "reason": reason},
        {"text": "y", "kind": "wins", "models": models, "reason": reason},
    ]
    mean, wins = check_claims(results)
    assert (mean.outcome, wins.outcome) == ("confirmed", "partly")
    assert mean.words == "Means over 2 data sets: a tree per edge 0.700, one tree 0.550."
    assert wins.words == "Best on so many of 2 data sets: a tree per edge 1, one tree 1."
    # The reason explains a difference, so that a confirmed claim has none.
    assert reason not in mean.explanation
    assert wins.explanation.endswith(reason)
