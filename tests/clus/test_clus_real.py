"""``ramify clus`` repeats recorded runs of CLUS on real data: sizes, measures and printed trees.

``python -m benchmarks.clus_oracle`` repeats all of them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli_runs import run
from tests.support.clus_data import requires_data
from tests.support.clus_oracle import read_results, requires_oracle
from tests.support.clus_real_runs import Record, compare, is_forest, prepare

CHOSEN = {
    ("pheno_FUN", "tree"),
    ("pheno_FUN", "rf5_models"),
    ("Enron_corr", "tree_f01_w1"),
    ("pheno_GO", "tree_f01_sum"),
    ("wq_flat", "bag50"),
    ("emotions_mlc", "mlc_tree_gain"),
    ("emotions_mlc", "mlc_rf50"),
}
RECORDS = [r for r in read_results() if (r["dataset"], r["config"]) in CHOSEN]


@requires_oracle
@requires_data
@pytest.mark.parametrize("record", RECORDS, ids=lambda r: f"{r['dataset']}-{r['config']}")
def test_runs_on_real_data_equal_those_of_clus(record: Record, tmp_path: Path) -> None:
    settings = prepare(record, tmp_path)
    done = run("clus", *(["-forest"] if is_forest(record) else []), settings)
    assert done.exit_code == 0, done.output
    found = compare(record, settings.with_suffix(".out"))
    assert not found.differences
    assert found.n_figures >= 30
    assert (found.n_tree_lines > 0) == ("tree_file" in record)


@requires_oracle
def test_all_chosen_runs_are_recorded() -> None:
    assert len(RECORDS) == len(CHOSEN)
