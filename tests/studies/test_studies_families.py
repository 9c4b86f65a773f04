"""What the studies of BR-DT and of mandatory leaves need: levels, paths, families, models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from ramify import Hierarchy, MLkNN, load_animals
from ramify.apps.studies.cell import run_cell
from ramify.apps.studies.comparing import compare_folds, compare_overall
from ramify.apps.studies.data import StudyData, _selected, load_data
from ramify.apps.studies.findings import Table, TableCell, headlines, left_out, score_table
from ramify.apps.studies.models import ScaledModel, build
from ramify.apps.studies.plan import DataSpec, ModelSpec
from ramify.apps.studies.reports.html_page import _table, to_html
from ramify.apps.studies.reports.markdown import table_lines, to_markdown
from ramify.apps.studies.reports.reference import reference_overviews
from ramify.apps.studies.reports.tables import to_latex
from ramify.apps.studies.store import cell_key
from ramify.apps.studies.verdicts import check_claims
from ramify.labels import flatten_level
from ramify.stats import pairwise
from ramify.studies import StudyResults, load_study, run_study
from tests.support.clus_data import requires_data
from tests.support.studies_cases import small

LEVELS = [{"name": "animals", "title": "Animals", "level": [1, 2]}]


def test_a_list_of_levels_is_several_data_sets_level_by_level() -> None:
    twice = [{"name": "first", "fetch": "animals", "level": [1, 2]}, {"name": "animals"}]
    study = small(datasets=twice)
    assert [one.name for one in study.data] == ["first-1", "animals", "first-2"]
    assert [one.fetch for one in study.data] == ["animals"] * 3
    assert study.data[0].title == "first, level 1"
    assert [one.family for one in study.data] == ["level 1", "", "level 2"]
    assert [one.name for one in study.on(["level 2", "animals"]).data] == ["animals", "first-2"]
    shared = small(all_datasets={"level": [2], "note": "x"}, datasets=twice)
    assert [(one.name, one.note) for one in shared.data] == [
        ("first-1", "x"),
        ("animals-2", "x"),
        ("first-2", "x"),
    ]


def test_a_level_is_flat_labels() -> None:
    animals = load_animals(as_frame=False)
    y, hierarchy = flatten_level(sparse.csr_array(animals.y), animals.hierarchy, 2)
    found = load_data(small(datasets=LEVELS).data[1])
    assert found.hierarchy.labels == hierarchy.labels
    assert (found.y != y).nnz == 0
    assert found.facts()["levels"] == 1


def leafy_data() -> StudyData:
    """Seven rows of a/b, a/c and d: some end above a leaf, some have no label."""
    hierarchy = Hierarchy.from_paths(["a/b", "a/c", "d"])
    sets = [["a/b"], ["a"], ["a/b", "d"], [], ["a/c"], ["a/c", "a/b"], ["d"]]
    splits = {"train": np.arange(5), "test": np.arange(5, 7)}
    X = np.arange(7.0)[:, None]
    return StudyData(X, hierarchy.close(hierarchy.encode(sets)), hierarchy, [False], splits)


@pytest.mark.parametrize(
    ("settings", "rows", "labels"),
    [
        ({"full_paths": True}, [0, 2, 4, 5, 6], ("a", "a/b", "a/c", "d")),
        ({"min_count": 3}, [0, 1, 2, 3, 4, 5, 6], ("a", "a/b")),
        # a/b has 3 rows; rows that had other leaves only are gone.
        ({"full_paths": True, "min_count": 3}, [0, 2, 5], ("a", "a/b")),
        ({"full_paths": True, "min_count": 3, "trim_paths": True}, [0, 2, 5], ("a", "a/b")),
        ({"splits": ("test",)}, [5, 6], ("a", "a/b", "a/c", "d")),
        ({"splits": ("train",), "full_paths": True}, [0, 2, 4], ("a", "a/b", "a/c", "d")),
    ],
)
def test_rows_and_labels_that_a_study_takes(
    settings: dict[str, Any], rows: list[int], labels: tuple[str, ...]
) -> None:
    whole = leafy_data()
    found = _selected(whole, DataSpec("x", "x", fetch="x", **settings))
    assert found.X.ravel().tolist() == rows
    assert found.hierarchy.labels == labels
    columns = whole.hierarchy.indices(labels)
    assert (found.y != whole.y[rows][:, columns]).nnz == 0
    for name, own in whole.splits.items():
        assert found.X[found.splits[name]].ravel().tolist() == [r for r in rows if r in own]


@pytest.mark.parametrize("trim", [False, True])
def test_rows_keep_all_labels_that_remain_unless_they_are_trimmed(trim: bool) -> None:
    hierarchy = Hierarchy.from_paths(["a/b", "c/d", "c/rare"])
    sets = [["a/b"], ["a/b", "c/d"], ["a/b", "c/rare"], ["c/rare"], ["c/d"], []]
    y = hierarchy.close(hierarchy.encode([*sets, ["c/d"]]))
    whole = StudyData(np.arange(7.0)[:, None], y, hierarchy, [False], {})
    settings = DataSpec("x", "x", fetch="x", full_paths=True, min_count=3, trim_paths=trim)
    found = _selected(whole, settings)
    # Row 2 lost c/rare: c stays, or goes with it. Row 3 has no leaf left, row 5 had none.
    assert found.X.ravel().tolist() == [0, 1, 2, 4, 6]
    ends = ["a/b"] if trim else ["a/b", "c"]
    expected = [["a/b"], ["a/b", "c/d"], ends, ["c/d"], ["c/d"]]
    assert list(map(list, found.hierarchy.decode(found.y))) == expected


def test_trimming_needs_what_it_trims() -> None:
    with pytest.raises(ValueError, match="trim_paths = true without full_paths and min_count"):
        small(datasets=[{"name": "animals", "trim_paths": True, "min_count": 3}])


def test_an_unknown_split_is_named() -> None:
    with pytest.raises(
        ValueError, match="splits names the split 'tset', but the data set has train"
    ):
        _selected(leafy_data(), DataSpec("x", "x", fetch="x", splits=("tset",)))


def test_what_is_taken_of_the_data_is_part_of_a_cells_name() -> None:
    keys = set()
    for settings in (
        {},
        {"level": 2},
        {"full_paths": True},
        {"min_count": 5},
        {"splits": ["all"]},
        {"full_paths": True, "min_count": 5},
        {"full_paths": True, "min_count": 5, "trim_paths": True},
    ):
        study = small(datasets=[{"name": "animals", **settings}])
        keys.add(cell_key(study, next(study.cells(study.data[0])), "digest"))
    assert len(keys) == 7


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> StudyResults:
    """Two families; in the second, on one data set, a model is left out."""
    reason = "because."
    data = [
        {"name": "one", "fetch": "animals", "family": "whole"},
        {"name": "two", "fetch": "animals", "family": "whole", "max_level": 3},
        {"name": "flat", "title": "flat, top", "fetch": "animals", "level": 2, "family": "top"},
        {"name": "low", "fetch": "animals", "max_level": 2, "family": "top"},
    ]
    for one in data[2:]:
        one["without"] = {"edges": reason}
    claims = [
        {"text": "2.", "kind": "place", "place": 2, "models": ["tree", "shares"], "family": "top"},
        {"text": "1.", "kind": "place", "place": 1, "models": ["tree", "shares"], "family": "top"},
        {"text": "?", "kind": "first", "models": ["edges", "tree"], "family": "top"},
        {"text": ">", "kind": "better", "pairs": [["shares", "edges"]]},
    ]
    tests = {"posthoc": "benjamini-hochberg", "alpha": 0.9}
    study = small(datasets=data, claims=claims, tests=tests)
    return run_study(study, tmp_path_factory.mktemp("families"))


def test_models_are_left_out_where_they_do_not_apply(results: StudyResults) -> None:
    assert not results.failures
    assert len(results.cells) == 3 * (2 * 3 + 2 * 2)
    assert left_out(results) == ["a tree per edge on flat, top and low: because."]
    assert results.planned("flat") == {"shares", "tree"}
    for text in (to_markdown(results), to_html(results)):
        assert "a tree per edge on flat, top and low: because." in text


def test_families_have_tables_ranks_and_headlines_of_their_own(results: StudyResults) -> None:
    parts = results.parts()
    assert [part.family for part in parts] == ["whole", "top"]
    tables = [score_table(part, results.measures[0]) for part in parts]
    assert [table.title for table in tables] == ["pooled AU(PRC), whole", "pooled AU(PRC), top"]
    assert tables[0].header == ["model", "one", "two", "average rank"]
    assert tables[1].header == ["model", "flat", "low", "average rank"]
    assert [len(table.rows) for table in tables] == [3, 2]
    assert sum(line.startswith("Best by HMC loss, top: ") for line in headlines(results)) == 1
    groups = [one.group for one in compare_overall(results, results.measures[0])]
    assert groups == ["whole: all models", "top: all models"]
    latex = to_latex(results)
    assert r"\label{tab:small-auprc-top}" in latex
    assert latex.count(r"\begin{table}") == 2 * len([*results.measures, *results.costs])


def test_many_data_sets_are_counted_in_headlines(monkeypatch: pytest.MonkeyPatch, results) -> None:
    monkeypatch.setattr("ramify.apps.studies.findings._NAMED", 1)
    assert any("on 2 of 2 data sets" in line for line in headlines(results))


def test_many_data_sets_are_rows_of_a_table(results: StudyResults) -> None:
    names = list("abcdefghi")
    cells = [TableCell(f"0.{k}", k / 10, best=k == 8) for k in range(9)]
    table = Table("F", ["model", *names], [("tree", cells), ("forest", cells[::-1])])
    assert table_lines(table)[0].split() == ["|", "|", "tree", "|", "forest", "|"]
    assert table_lines(table)[-1].split() == ["|", "i", "|", "**0.8**", "|", "0.0", "|"]
    page = _table(table, "F", results.measures[0])
    assert '<th scope="row">i</th><td class="best" style="--share:1.00">0.8</td>' in page
    narrow = Table("F", ["model", *names[:3]], [("tree", cells[:3])])
    assert narrow.upright() is narrow


def test_claims_of_places_in_a_family(results: StudyResults) -> None:
    verdicts = check_claims(results)
    assert [one.outcome for one in verdicts] == [
        "not confirmed",
        "confirmed",
        "open",
        "confirmed",
    ]
    assert verdicts[3].words == "True in 2 of 2 comparisons."


def test_pairs_by_benjamini_and_hochberg(results: StudyResults) -> None:
    quantity = results.measures[0]
    scores = results.block("auprc", "one", ["shares", "tree", "edges"])
    titles = ["label shares", "one tree", "a tree per edge"]
    expected = pairwise(scores, titles, alpha=0.9)
    (comparison,) = compare_folds(results, quantity, "one")
    assert comparison.words.count("is significantly better than") >= 1
    beaten = sum(comparison.words.count(f"{title} (p ") for title in titles)
    assert beaten == expected.p_values.rejected.sum()
    (two,) = compare_folds(results, quantity, "flat")
    assert "Wilcoxon" in two.words  # of three models one is not run there


def test_published_figures_are_compared_within_families(results: StudyResults) -> None:
    study = {
        **results.study,
        "reference": [
            {"dataset": data, "model": model, "quantity": "auprc", "value": 0.5}
            for data in ("one", "two", "flat")
            for model in ("shares", "tree")
        ],
    }
    compared = reference_overviews(StudyResults(study, results.cells, results.failures))
    assert [table.title for table, _ in compared] == [
        "pooled AU(PRC), whole",
        "pooled AU(PRC), top",
    ]
    whole, top = (table for table, _ in compared)
    assert whole.header == ["model", "one", "two", "rank", "published rank"]
    assert dict(whole.rows)["a tree per edge"][2].text == "–"  # never published
    assert dict(whole.rows)["one tree"][2].text == "1.00"
    assert top.header == ["model", "flat", "rank", "published rank"]


@pytest.mark.parametrize(
    ("model", "inside"),
    [
        ({"model": "br-dt"}, None),
        ({"model": "binary-relevance"}, "tree"),
        ({"model": "label-powerset"}, "tree"),
        ({"model": "rakel", "parameters": {"n_groups": 3}}, "tree"),
        ({"model": "ml-knn", "scale": True}, None),
        ({"model": "mandatory-leaf", "parameters": {"method": "masr", "alpha": 0.3}}, None),
        ({"model": "mandatory-leaf", "parameters": {"method": "clus_hmc", "alpha": 0.3}}, None),
    ],
)
def test_models_of_these_papers_run_by_name(model: dict[str, Any], inside: str | None) -> None:
    extra = {} if inside is None else {"inside": {"model": inside}}
    measures = {"f": {"measure": "micro_f1"}}
    study = small(models=[{"name": "m", **model, **extra}], measures=measures)
    record = run_cell(study, next(study.cells(study.data[0])), "key")
    assert record.get("error") is None
    assert 0 < record["scores"]["f"] <= 1


def test_models_inside_are_told_which_columns_are_nominal() -> None:
    data = load_data(small().data[0])
    assert any(data.nominal or [])
    for method in ("mas", "hbr", "clus_hmc", "br"):
        spec = ModelSpec("m", "m", "mandatory-leaf", {"method": method})
        model = build(spec, data, 0)
        assert model.estimator.categorical_features == data.nominal
        if hasattr(model, "counter"):
            assert model.counter.categorical_features == data.nominal
    vote = build(ModelSpec("m", "m", "vote"), data, 0)
    assert all(member.categorical_features == data.nominal for _, member in vote.estimators)


def test_columns_are_scaled_by_the_training_rows() -> None:
    X = np.array([[0.0, 2.0, np.nan, 5.0], [10.0, 1.0, np.nan, 5.0], [np.nan, 0.0, 1.0, 5.0]])
    y = [["a"], ["b"], ["a"]]
    model = ScaledModel(MLkNN(n_neighbors=1), [False, True, False, False]).fit(X, y)
    assert model.scaled([[20.0, 2.0, 3.0, 6.0]]).tolist() == [[2.0, 2.0, 2.0, 1.0]]
    assert np.isnan(model.scaled(X)[2, 0])
    assert len(model.predict(X)) == 3
    frame = pd.DataFrame({"x": [2.0, 4.0], "word": ["p", "q"]})
    framed = ScaledModel(MLkNN(n_neighbors=1), None).fit(frame, y[:2])
    assert framed.scaled(frame).to_dict("list") == {"x": [0.0, 1.0], "word": ["p", "q"]}
    flat = sparse.csr_array([[0.0, -4.0], [0.0, 2.0]])
    thin = ScaledModel(MLkNN(n_neighbors=1), [False, False]).fit(flat, y[:2])
    assert thin.scaled(flat).toarray().tolist() == [[0.0, -1.0], [0.0, 0.5]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"tests": {"posthoc": "bonferroni"}},
            "posthoc of .* one of nemenyi, .* got 'bonferroni'",
        ),
        ({"datasets": [{"name": "animals", "level": 1, "max_level": 2}]}, "level and max_level"),
        ({"datasets": [{"name": "animals", "without": {"tre": "x"}}]}, "without of .* 'tre'"),
        ({"claims": [{"text": "", "kind": "first", "family": "top"}]}, "names the family 'top'"),
    ],
)
def test_mistakes_are_found_before_anything_runs(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        small(**change)


def test_brdt2015_takes_four_levels_of_ten_data_sets() -> None:
    study = load_study("brdt2015")
    assert (len(study.data), len(study.models)) == (40, 11)
    assert [one.level for one in study.data] == [
        level for level in (1, 2, 3, 4) for _ in range(10)
    ]
    assert study.posthoc == "benjamini-hochberg"
    assert len(study.on(["level 3"]).data) == 10


def test_bi2012_leaves_hmc_lp_out_on_dags_and_has_the_papers_tables() -> None:
    study = load_study("bi2012")
    assert len(study.data) == 33
    assert sum(one.missing is not None for one in study.data) == 7
    for data in study.data:
        dag = data.name.endswith("_GO")
        assert data.family == ("DAGs" if dag else "trees")
        if data.missing is None:
            models = {cell.model.name for cell in study.cells(data)}
            assert ("hmc-lp" in models) == (not dag)
    assert len([row for row in study.reference if row["quantity"] == "hierarchical_f1"]) == 151
    assert len([row for row in study.reference if row["quantity"] == "loss"]) == 124


@requires_data
def test_bi2012_has_about_the_papers_rows_and_leaves() -> None:
    data = {one.name: one for one in load_study("bi2012").data}
    enron, eisen = load_data(data["enron_hmc"]).facts(), load_data(data["eisen_GO"]).facts()
    assert (enron["rows"], enron["leaves"]) == (1610, 24)  # the paper has 1607 and 24
    assert (eisen["rows"], eisen["leaves"]) == (407, 25)  # the paper has 404 and 28
