"""Significance tests: examples from the literature, scipy, scikit-posthocs, edge cases."""

from __future__ import annotations

import csv
from collections import defaultdict
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats as scipy_stats

from ramify import stats

TABLES = Path(__file__).resolve().parents[3] / "shared" / "reference" / "paper-tables"
requires_tables = pytest.mark.skipif(not TABLES.is_dir(), reason="no paper tables beside the repo")

# Demšar (2006), Table 6: AUC of C4.5 and three variants on 14 data sets. On "voting" the third
# and fourth print as equal but are ranked 2 and 3.
DEMSAR = {
    "C4.5": [
        *(0.763, 0.599, 0.954, 0.628, 0.882, 0.936, 0.661),
        *(0.583, 0.775, 1.000, 0.940, 0.619, 0.972, 0.957),
    ],
    "C4.5+m": [
        *(0.768, 0.591, 0.971, 0.661, 0.888, 0.931, 0.668),
        *(0.583, 0.838, 1.000, 0.962, 0.666, 0.981, 0.978),
    ],
    "C4.5+cf": [
        *(0.771, 0.590, 0.968, 0.654, 0.886, 0.916, 0.609),
        *(0.563, 0.866, 1.000, 0.965, 0.614, 0.9751, 0.946),
    ],
    "C4.5+m+cf": [
        *(0.798, 0.569, 0.967, 0.657, 0.898, 0.931, 0.685),
        *(0.625, 0.875, 1.000, 0.962, 0.669, 0.975, 0.970),
    ],
}


def _paper_table(name: str, method: tuple[str, ...]) -> dict[str, list[float]]:
    columns: dict[str, list[float]] = defaultdict(list)
    with (TABLES / name).open() as file:
        for row in csv.DictReader(file):
            columns[" ".join(row[key] for key in method)].append(float(row["auprc"]))
    return dict(columns)


def test_friedman_reproduces_demsar():
    result = stats.friedman(DEMSAR, tie_correction=False)
    assert result.ranks.ranks == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=5e-4)
    assert result.chi2 == pytest.approx(9.28, abs=5e-3)
    assert result.f == pytest.approx(3.69, abs=5e-3)
    assert result.df == (3, 39)
    # He compares with the critical value 2.85 of F(3, 39) at 0.05.
    assert result.p_value < 0.05


def test_nemenyi_reproduces_demsar():
    result = stats.nemenyi(DEMSAR, alpha=0.05)
    assert result.critical_difference == pytest.approx(1.25, abs=5e-3)
    at_ten_percent = stats.nemenyi(DEMSAR, alpha=0.10)
    assert at_ten_percent.critical_difference == pytest.approx(1.12, abs=5e-3)
    different = at_ten_percent.p_values < 0.10
    assert different[0].tolist() == [False, True, False, True]


def test_wilcoxon_reproduces_demsar():
    result = stats.wilcoxon(DEMSAR["C4.5+m"], DEMSAR["C4.5"])
    assert result.statistic == 12
    assert (result.wins, result.ties, result.losses) == (10, 2, 2)
    assert result.p_value < 0.05


@requires_tables
def test_single_trees_rank_as_in_levatic2015():
    scores = _paper_table("levatic2015-table4-single-trees.csv", ("task",))
    assert stats.friedman(scores).p_value < 0.05
    result = stats.nemenyi(scores)
    order = [name for name, _ in result.ranks.ordered()]
    assert order == ["HMC", "HSC", "Single-label", "Multi-label"]
    # Fig. 3: HMC is significantly better than multi-label trees; nothing else is.
    assert result.groups == (
        ("HMC", "HSC", "Single-label"),
        ("HSC", "Single-label", "Multi-label"),
    )


@requires_tables
def test_ensembles_do_not_differ_in_levatic2015():
    scores = _paper_table("levatic2015-table5-ensembles.csv", ("task", "ensemble"))
    assert stats.friedman(scores).p_value > 0.05
    result = stats.nemenyi(scores)
    best = [name for name, _ in result.ranks.ordered()][:2]
    assert best == ["Single-label random_forest", "Single-label bagging"]
    assert len(result.groups) == 1
    assert len(result.groups[0]) == 8


SCORES = hnp.arrays(
    np.float64,
    st.tuples(st.integers(2, 9), st.integers(3, 6)),
    elements=st.integers(0, 6).map(float),
)


@given(SCORES)
def test_friedman_equals_scipy(scores: np.ndarray):
    ours = stats.friedman(scores)
    if (scores == scores[:, :1]).all():
        assert (ours.chi2, ours.p_chi2) == (0.0, 1.0)
        return
    expected = scipy_stats.friedmanchisquare(*scores.T)
    assert ours.chi2 == pytest.approx(expected.statistic, abs=1e-9)
    assert ours.p_chi2 == pytest.approx(expected.pvalue, abs=1e-12)


@pytest.mark.filterwarnings("ignore::Warning")
def test_nemenyi_equals_scikit_posthocs():
    posthocs = pytest.importorskip("scikit_posthocs")
    scores = np.column_stack(list(DEMSAR.values()))
    ours = stats.nemenyi(scores).p_values
    assert ours == pytest.approx(posthocs.posthoc_nemenyi_friedman(scores).to_numpy(), abs=1e-6)


@given(hnp.arrays(np.float64, st.integers(1, 12), elements=st.floats(0, 1)))
def test_benjamini_hochberg_equals_its_definition(p_values: np.ndarray):
    ours = stats.benjamini_hochberg(p_values, alpha=0.1)
    n = len(p_values)
    ordered = np.sort(p_values)
    passed = [k for k in range(n) if ordered[k] <= 0.1 * (k + 1) / n]
    limit = ordered[max(passed)] if passed else -1.0
    # At the very limit p <= alpha k / n and p n / k <= alpha may round differently.
    clear = np.abs(ours.adjusted - 0.1) > 1e-12
    assert (ours.rejected == (p_values <= limit))[clear].all()


def test_benjamini_hochberg_ignores_untested_hypotheses():
    ours = stats.benjamini_hochberg([0.01, np.nan, 0.04, 0.03])
    assert ours.adjusted == pytest.approx([0.03, np.nan, 0.04, 0.04], nan_ok=True)
    assert ours.rejected.tolist() == [True, False, True, True]


def test_missing_cells_can_be_dropped_ranked_last_or_refused():
    scores = np.array([[0.9, 0.8, 0.7], [0.9, np.nan, 0.7], [0.6, 0.8, 0.7]])
    dropped = stats.average_ranks(scores)
    assert (dropped.n_blocks, dropped.n_dropped) == (2, 1)
    assert dropped.ranks == pytest.approx([2.0, 1.5, 2.5])
    worst = stats.average_ranks(scores, missing="worst")
    assert worst.ranks == pytest.approx([5 / 3, 2.0, 7 / 3])
    with pytest.raises(ValueError, match=r"missing cell in row 1, column 1.*missing='drop'"):
        stats.average_ranks(scores, missing="raise")


def test_two_infinite_results_tie():
    scores = {"a": [0.9, np.nan, 0.5, 0.4], "b": [0.8, np.nan, 0.4, 0.2]}
    result = stats.pairwise(scores, test="wilcoxon", missing="worst")
    assert np.isfinite(result.p_values.p_values).all()


@pytest.mark.parametrize(
    "differences", [[1, 1, 2, -3, 0], [0, 0, 4, 5, -1, 5], [3, -1, 2, 4, 5], [1, 0]]
)
def test_wilcoxon_with_few_data_sets_tries_all_signs(differences):
    result = stats.wilcoxon(np.zeros(len(differences)), differences)
    ranks = scipy_stats.rankdata(np.abs(differences))
    zeros = np.equal(differences, 0)
    sums = [
        ranks[~zeros & np.array(positive)].sum() + ranks[zeros].sum() / 2
        for positive in product([False, True], repeat=len(differences))
    ]
    tail = np.mean(np.array(sums) <= result.statistic)
    assert result.p_value == pytest.approx(min(1.0, 2 * tail))


def test_losses_are_ranked_in_reverse():
    losses = {"a": [0.1, 0.2], "b": [0.3, 0.4]}
    assert stats.average_ranks(losses, higher_is_better=False).ranks.tolist() == [1.0, 2.0]
    counted = stats.wins_ties_losses(losses, higher_is_better=False)
    assert counted.wins.tolist() == [[0, 2], [0, 0]]


def test_two_methods_only():
    scores = {"a": [5, 6, 7, 8, 9, 7], "b": [1, 2, 3, 4, 5, 6]}
    result = stats.nemenyi(scores)
    # With two methods the critical difference is that of a sign test: 1.96 / sqrt(N).
    assert result.critical_difference == pytest.approx(1.959964 / np.sqrt(6), abs=1e-5)
    assert result.groups == ()
    assert stats.friedman(scores).f == np.inf
    assert stats.friedman(scores).p_value == scipy_stats.binomtest(6, 6).pvalue == 2**-5


def test_p_value_of_full_agreement_counts_orders():
    # The second row has the order of the first in 1 of 3! cases; with two methods tied, 1 of 3.
    assert stats.friedman([[1, 2, 3], [4, 5, 6]]).p_value == pytest.approx(1 / 6)
    assert stats.friedman([[1, 1, 3], [4, 4, 6]]).p_value == pytest.approx(1 / 3)


def test_equal_scores_do_not_differ():
    scores = np.ones((5, 3))
    assert stats.friedman(scores).p_value == 1.0
    assert stats.nemenyi(scores).groups == (("method 1", "method 2", "method 3"),)
    assert stats.wilcoxon(np.ones(5), np.ones(5)).p_value == 1.0


@given(SCORES, st.floats(0.01, 0.5))
def test_groups_are_exactly_the_pairs_that_do_not_differ(scores: np.ndarray, alpha: float):
    result = stats.nemenyi(scores, alpha=alpha)
    ranked = list(result.ranks.ordered())
    for (a, rank_a), (b, rank_b) in combinations(ranked, 2):
        together = any(a in group and b in group for group in result.groups)
        assert together == (abs(rank_a - rank_b) < result.critical_difference)


def test_wins_ties_losses_with_tolerance():
    counted = stats.wins_ties_losses(
        {"a": [1.0, 2.0, np.nan], "b": [1.05, 1.0, 3.0]}, tolerance=0.1
    )
    assert (counted.wins[0, 1], counted.ties[0, 1], counted.losses[0, 1]) == (1, 1, 0)
    assert "1/1/0" in str(counted)


def test_results_as_text():
    assert str(stats.friedman(DEMSAR, tie_correction=False)).startswith(
        "Friedman chi2(3) = 9.279, p = 0.02581; Iman-Davenport F(3, 39) = 3.686, p = 0.01982"
    )
    assert "Critical difference at 0.05: 1.254" in str(stats.nemenyi(DEMSAR))
    assert "C4.5 - C4.5+m " in str(stats.pairwise(DEMSAR))


def test_column_names_of_data_frames_are_used():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, 2.0], "b": [0.0, 3.0]})
    assert stats.average_ranks(frame).names == ("a", "b")
    assert stats.average_ranks(frame, ["x", "y"]).names == ("x", "y")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: stats.friedman([1.0, 2.0]),
            r"scores must have .*at least two columns.*got shape \(2,\)",
        ),
        (lambda: stats.friedman([[1, 2]], ["a"]), "names has 1 entries, but scores has 2 columns"),
        (lambda: stats.friedman([[1, np.nan]]), "no row without missing cells"),
        (lambda: stats.friedman([[1, 2]], missing="skip"), "missing must be .*, got 'skip'"),
        (lambda: stats.nemenyi(DEMSAR, alpha=5), "alpha must be strictly between 0 and 1, got 5"),
        (lambda: stats.wilcoxon([1, 2], [1]), r"shapes \(2,\) and \(1,\)"),
        (lambda: stats.wilcoxon([np.nan], [1]), "no data set for which both"),
        (lambda: stats.pairwise(DEMSAR, test="t"), "test must be 'ranks' or 'wilcoxon', got 't'"),
        (lambda: stats.benjamini_hochberg([1.2]), r"numbers from 0 to 1, got \[1.2\]"),
    ],
)
def test_mistakes_are_explained(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_diagram_shows_every_method_and_group(tmp_path: Path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    ax = stats.rank_diagram(DEMSAR, alpha=0.10, title="C4.5")
    texts = [text.get_text().strip() for text in ax.texts]
    assert "C4.5+m+cf (1.96)" in texts
    assert "critical difference 1.12" in texts
    bars = [line for line in ax.lines if line.get_linewidth() > 3]
    assert len(bars) == len(stats.nemenyi(DEMSAR, alpha=0.10).groups) == 2
    left, right = ax.get_xlim()
    assert left > right, "the best method is on the right"
    ax.figure.savefig(tmp_path / "ranks.pdf")
    plt.close(ax.figure)


def test_diagram_draws_on_given_axes():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots()
    assert stats.rank_diagram(stats.nemenyi(DEMSAR), ax=ax) is ax
    plt.close(figure)
