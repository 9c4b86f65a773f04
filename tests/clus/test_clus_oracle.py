"""`ramify clus` writes the files of CLUS byte for byte, except for dates and times."""

from __future__ import annotations

import gzip
import re
import shutil
from pathlib import Path

import pytest

from ramify.apps.clus.running import run
from ramify.clus import Switches, read_settings
from tests.support.clus_cases import Case, all_cases
from tests.support.clus_oracle import requires_oracle

GOLDEN = Path(__file__).parents[1] / "golden" / "clus"
GOLDEN_RUNS = sorted(GOLDEN.glob("*/*.s"))
TIMES = re.compile(r"^(Date|(?:Induction|Pruning|Preprocessing) [Tt]ime): .*", re.MULTILINE)
# The recorded results come from another build of CLUS, which differs from 2.12.8 in these lines.
OTHER_BUILD = re.compile(r"^(Prediction Time.*\n(\t.*\n)*|.*r\^2: (NaN|0)$)", re.MULTILINE)


def read_masked(path: Path) -> str:
    return TIMES.sub(r"\1: -", path.read_text())


def run_in(folder: Path, settings: Path, switches: Switches) -> dict[str, str]:
    """Run a copy of a settings file; return the files that it writes."""
    for path in settings.parent.iterdir():
        if path.suffix in (".arff", ".txt", ".s") and ".pred." not in path.name:
            shutil.copy(path, folder)
    files = run(read_settings(folder / settings.name), switches)
    return {path.name: read_masked(path) for path in files}


@pytest.mark.parametrize("settings", GOLDEN_RUNS, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_files_equal_those_of_clus(settings: Path, tmp_path: Path) -> None:
    name = settings.stem
    switches = Switches(**{s: name.startswith(s) for s in ("forest", "xval", "ssl")})
    found = run_in(tmp_path, settings, switches)
    expected = {
        path.name: read_masked(path)
        for path in settings.parent.iterdir()
        if re.match(rf"{name}(\.|Trees|_\d)", path.name) and path != settings
    }
    assert set(found) == set(expected)
    for file, text in expected.items():
        assert found[file].splitlines() == text.splitlines(), file


def test_a_fold_has_no_effect_as_in_clus(tmp_path: Path) -> None:
    settings = GOLDEN / "hierarchical" / "xval.s"
    found = run_in(tmp_path, settings, Switches(xval=True, fold=2))
    assert found["xval.xval"] == read_masked(settings.with_name("xval.xval"))
    assert found["xval.out"] == read_masked(settings.with_name("xval.out"))


def test_results_are_compressed_as_in_clus(tmp_path: Path) -> None:
    settings = GOLDEN / "hierarchical" / "forest.s"
    changed = tmp_path / "source" / "forest.s"
    shutil.copytree(settings.parent, changed.parent)
    changed.write_text(settings.read_text() + "GzipOutput = Yes\n")
    for path in run(read_settings(changed), Switches(forest=True)):
        packed = path.suffix == ".gz"
        assert packed == (".fimp" not in path.name and ".hierarchy" not in path.name)
        text = gzip.decompress(path.read_bytes()).decode() if packed else path.read_text()
        expected = read_masked(settings.with_name(path.name.removesuffix(".gz")))
        expected = expected.replace("GzipOutput = No", "GzipOutput = Yes")
        assert TIMES.sub(r"\1: -", text).splitlines() == expected.splitlines(), path.name


def test_there_are_golden_runs() -> None:
    assert len(GOLDEN_RUNS) >= 10


@requires_oracle
@pytest.mark.parametrize("case", all_cases(), ids=str)
def test_results_equal_those_of_the_oracle(case: Case, tmp_path: Path) -> None:
    switches = Switches(forest="Ensemble" in case.settings)
    found = run_in(tmp_path, case.path(".s"), switches)
    compared = 0
    for name, text in found.items():
        recorded = case.path(".s").with_name(name)
        if recorded.exists():
            # Some recorded results begin after the settings.
            start = "Run: " if name.endswith((".out", ".oob")) else ""
            ours, expected = (
                OTHER_BUILD.sub("", part[part.index(start) :]).splitlines()
                for part in (text, read_masked(recorded))
            )
            assert ours == expected, name
            compared += 1
    assert compared >= 2


def test_nothing_is_written_if_an_output_is_a_folder(tmp_path: Path) -> None:
    source = GOLDEN / "regression" / "tree.s"
    for path in (source, source.with_name("train.arff"), source.with_name("test.arff")):
        shutil.copy(path, tmp_path)
    (tmp_path / "tree.train.1.pred.arff").mkdir()
    before = set(tmp_path.iterdir())
    with pytest.raises(ValueError, match="must be a file, got a folder"):
        run(read_settings(tmp_path / "tree.s"), Switches())
    assert set(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "[Ensemble]\nEnsembleMethod = ExtraTrees",
            "'ExtraTrees' is not supported",
        ),
        (
            "[Ensemble]\nEnsembleMethod = RSubspaces\nFeatureRanking = [RForest]",
            "but not with RSubspaces",
        ),
        ("[Ensemble]\nEnsembleMethod = RSubspaces\nIterations = [1,2]", "Give one number"),
        (
            "[Ensemble]\nEnsembleMethod = BagSubspaces\nIterations = [1,2]\nOOBestimate = Yes",
            "CLUS repeats one forest in .oob files",
        ),
        (
            "[Ensemble]\nEnsembleMethod = BagSubspaces\nFeatureRanking = [Genie3]",
            "but not with BagSubspaces",
        ),
        ("[Output]\nOutputPythonModel = Yes", "OutputPythonModel = 'Yes' is not supported"),
        ("[Data]\nPruneSet = 0.3", "trees are not pruned on validation rows"),
        ("[Data]\nTestSet = nothing.arff", "TestSet must name an existing file"),
        ("[Attributes]\nTarget = 1-9", "must hold columns from 1 to 4"),
    ],
)
def test_unsupported_options_are_named(line: str, message: str, tmp_path: Path) -> None:
    shutil.copy(GOLDEN / "regression" / "train.arff", tmp_path)
    settings = tmp_path / "run.s"
    settings.write_text(f"[Data]\nFile = {tmp_path / 'train.arff'}\n{line}\n")
    with pytest.raises(ValueError, match=re.escape(message)):
        run(read_settings(settings), Switches(forest="Ensemble" in line))
    assert not list(tmp_path.glob("run.out"))
