"""Settings files of CLUS: every spelling that CLUS reads means the same here."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from ramify.apps.clus.options import OPTIONS, Option
from ramify.apps.clus.values import columns_of, same_value
from ramify.clus import Settings, SettingsError, Switches, UnsupportedOptionError, read_settings
from tests.support.budget import budget
from tests.support.clus_oracle import TINY, requires_oracle
from tests.support.clus_oracle import read_settings as read_plainly


@pytest.fixture
def write(tmp_path: Path):
    def written(text: str | bytes) -> Path:
        path = tmp_path / "run.s"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return written


def refusal(path: Path) -> str:
    with pytest.raises(SettingsError) as caught:
        read_settings(path)
    message = str(caught.value)
    assert "\n" not in message
    return message.removeprefix(str(path))


@pytest.mark.parametrize(
    "text",
    [
        "[Model]\nMinimalWeight = 3\n",
        "[Model]\nMinimalWeight=3",
        "[Model]\n  MinimalWeight\t=\t3.0  \n",
        "[Model]\r\nMinimalWeight = 3\r\n",
        "\ufeff[Model]\nMinimalWeight = 3\n",
        "% a comment\n\n[Model] % another\n% MinimalWeight = 5\nMinimalWeight = 3 % a third\n",
        "[ Model ]\nMinimalWeight = 3\n",
        "[Model]\nMinimalWeight = 4\n[Tree]\n[Model]\nMinimalWeight = 3\n",
        "[Model]\nMinimalWeight = 4\nMinimalWeight = 3e0\n",
        "[Model]\nMinimalWeight = 3d\n",
        "[Model]\nMinimalWeight = '3'\n",
    ],
)
def test_spellings_of_a_number(write, text):
    assert read_settings(write(text)).number("Model", "MinimalWeight") == 3.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[0.001,0.01]", (0.001, 0.01)),
        ("[0.001, 0.01]", (0.001, 0.01)),
        ("{0.001,0.01}", (0.001, 0.01)),
        ("[0.001,\n  0.01, % the usual level\n  0.1]", (0.001, 0.01, 0.1)),
        ("0.01", (0.01,)),
        ("[0.01]", (0.01,)),
    ],
)
def test_spellings_of_a_list_of_numbers(write, text, expected):
    assert read_settings(write(f"[Tree]\nFTest = {text}\n")).numbers("Tree", "FTest") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[Train,Test]", ("Train", "Test")),
        ("{Train, Test}", ("Train", "Test")),
        ("Test", ("Test",)),
        ("{}", ()),
        ("[]", ()),
    ],
)
def test_spellings_of_a_list_of_names(write, text, expected):
    found = read_settings(write(f"[Output]\nWritePredictions = {text}\n"))
    assert found.names("Output", "WritePredictions") == expected


@pytest.mark.parametrize("text", ["Yes", "yes", "YES", "on", "true", "True"])
def test_yes(write, text):
    assert read_settings(write(f"[Output]\nWriteCurves = {text}")).yes_no("Output", "WriteCurves")


@pytest.mark.parametrize("text", ["No", "no", "off", "False", "0"])
def test_no(write, text):
    found = read_settings(write(f"[Model]\nNominalSubsetTests = {text}"))
    assert not found.yes_no("Model", "NominalSubsetTests")


def test_older_spellings(write):
    found = read_settings(
        write(
            "[Hierarchical]\nType = TREE\nClassificationTreshold = [90,95]\n"
            "[MultiLabel]\nMLCThreshold = 0.3\n[Tree]\nPruningMethod = C4.5\n"
        )
    )
    assert found.text("Hierarchical", "Type") == "Tree"
    assert found.numbers("Hierarchical", "ClassificationThreshold") == (90.0, 95.0)
    assert found.number("Multilabel", "MLCThreshold") == 0.3
    assert found.text("Tree", "PruningMethod") == "C45"


def test_names_of_values_besides_numbers(write):
    found = read_settings(write("[Attributes]\nWeights = Normalize\n"))
    assert found.numbers("Attributes", "Weights") == ()
    assert found.numbers("Hierarchical", "RecallValues") == ()


def test_limits(write):
    def depth(text: str) -> int | None:
        found = read_settings(write(f"[Constraints]\nMaxDepth = {text}\n"))
        return found.limit("Constraints", "MaxDepth")

    assert [depth(text) for text in ("3", "Infinity", "-1")] == [3, None, None]
    assert read_settings(write("[Data]")).limit("Constraints", "MaxDepth") is None


def test_columns(write):
    found = read_settings(write("[Attributes]\nTarget = 2-4, 8\nDisable = None\n"))
    assert found.columns("Attributes", "Target", 8) == (1, 2, 3, 7)
    assert found.columns("Attributes", "Disable", 8) == ()
    assert found.columns("Attributes", "Descriptive", 8) is None
    with pytest.raises(SettingsError, match=r"line 2: \[Attributes\] Target .* from 1 to 7, got"):
        found.columns("Attributes", "Target", 7)


@given(st.sets(st.integers(0, 60), min_size=1), st.randoms())
def test_columns_are_those_of_the_ranges(wanted, random):
    """Write a set of columns as numbers and ranges in any order, and read it again."""
    parts, left = [], set(wanted)
    while left:
        first = last = min(left)
        while last + 1 in left and random.random() < 0.7:
            last += 1
        left -= set(range(first, last + 1))
        parts.append(f"{first + 1}-{last + 1}" if last > first else str(first + 1))
    random.shuffle(parts)
    assert columns_of(",".join(parts), 61, "here") == tuple(sorted(wanted))


def test_names_and_lines_are_kept(write):
    found = read_settings(write("\n[Tree]\n%\nFTest = 0.01\n"))
    assert found.given("Tree", "FTest")
    assert not found.given("Tree", "Heuristic")
    assert found.place("Tree", "FTest").endswith("run.s, line 4: [Tree] FTest")
    assert found.place("Tree", "Heuristic").endswith("run.s: [Tree] Heuristic")
    assert found.sections == {"Tree"}


def test_paths(write, tmp_path, monkeypatch):
    (tmp_path / "sub").mkdir()
    beside = tmp_path / "sub" / "run.s"
    beside.write_text('[Data]\nFile = "my train.arff"\nTestSet = test.arff\n')
    (tmp_path / "sub" / "my train.arff").touch()
    (tmp_path / "sub" / "test.arff").touch()
    (tmp_path / "test.arff").touch()
    monkeypatch.chdir(tmp_path)
    found = read_settings(Path("sub/run.s"))
    assert found.file("Data", "File") == Path("sub/my train.arff")
    assert found.file("Data", "TestSet") == Path("test.arff"), "the working directory is first"
    assert found.file("Data", "PruneSet") is None
    assert found.application == Path("sub/run")


def test_the_data_file_has_the_name_of_the_settings_by_default(write, tmp_path):
    settings = read_settings(write("[Data]\n"))
    with pytest.raises(SettingsError, match=r"File must name an existing file, got"):
        settings.data_file()
    (tmp_path / "run.arff").touch()
    assert settings.data_file() == tmp_path / "run.arff"


def test_lines_before_the_first_section_are_ignored_and_reported(write):
    found = read_settings(write("FTest = 0.01\n[Tree]\n"))
    assert not found.given("Tree", "FTest")
    (line,) = found.ignored
    assert "line 1: 'FTest = 0.01' stands before the first section" in line


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ": the file has no section such as [Data]"),
        ("Tree\nFTest\n", ": the file has no section such as [Data]"),
        ("[Tre]\n", ", line 1: unknown section [Tre]. Did you mean 'Tree'?"),
        ("[data]\n", ", line 1: unknown section [data]. Did you mean 'Data'?"),
        ("[Tree\n", ", line 1: expected a section such as [Data], got '[Tree'."),
        ("[]\n", ", line 1: expected a section such as [Data], got '[]'."),
        ("[Tree]\nFtest = 1", ", line 2: [Tree] has no option 'Ftest'. Did you mean 'FTest'?"),
        (
            "[Tree]\nMinimalWeight = 1",
            ", line 2: [Tree] has no option 'MinimalWeight'. It belongs",
        ),
        ("[Tree]\nFTest 0.01\n", ", line 2: expected NAME = VALUE or [SECTION], got 'FTest 0.01'"),
        ("[Tree]\n= 0.01\n", ", line 2: expected NAME = VALUE or [SECTION], got '= 0.01'"),
        ("[Tree]\nFTest =\n", ", line 2: 'FTest' has no value."),
        ("[Tree]\nFTest = abc\n", ", line 2: [Tree] FTest must be a number, got 'abc'."),
        ("[Tree]\nFTest = nan\n", ", line 2: [Tree] FTest must be a number, got 'nan'."),
        ("[Tree]\nFTest = 1_0\n", ", line 2: [Tree] FTest must be a number, got '1_0'."),
        ("[Tree]\nFTest = [0.1,,0.2]\n", ", line 2: [Tree] FTest must be a number, got ''."),
        ("[Tree]\nFTest = [0.1\n", ", line 2: the list of 'FTest' has no end."),
        ("[Tree]\nFTest = [0.1\n[Data]\n", ", line 2: the list of 'FTest' has no end."),
        ("[Tree]\nHeuristic = Gian\n", "must be one of Default, ReducedError, Gain,"),
        ("[Tree]\nBinarySplit = maybe\n", "[Tree] BinarySplit must be Yes or No, got 'maybe'."),
        ("[Tree]\nBinarySplit = 1\n", "[Tree] BinarySplit must be Yes or No, got '1'."),
        ("[General]\nRandomSeed = 1.5\n", "RandomSeed must be an integer, got '1.5'."),
        ("[General]\nRandomSeed = 2147483648\n", "must be an integer, got '2147483648'."),
        ("[Constraints]\nMaxDepth = deep\n", "must be an integer or Infinity, got 'deep'."),
        ("[Tree]\nFTest = 2\n", ", line 2: [Tree] FTest must be from 1e-12 to 1, got 2."),
        ("[Tree]\nFTest = []\n", "[Tree] FTest must have at least one number, got '[]'."),
        ("[Ensemble]\nIterations = []\n", "Iterations must have at least one integer, got '[]'."),
        ("[Model]\nMinimalWeight = -1\n", "MinimalWeight must be at least 0, got -1."),
        ("[Data]\nXVal = 1\n", "[Data] XVal must be LOO or an integer >= 2, got '1'."),
        ("[Data]\nTestSet = 1.5\n", "a fraction of the rows between 0 and 1, got '1.5'."),
        ("[Ensemble]\nSelectRandomSubspaces = many\n", "must be SQRT, LOG, an integer >= 0 or"),
        ("[Attributes]\nTarget = 5-3\n", "increasing order such as 2-5,8, got '5-3'."),
        ("[Attributes]\nTarget = 0\n", "columns from 1 on in increasing order"),
        ("[Attributes]\nTarget = x\n", "must be a range of columns such as 2-5,8, got 'x'."),
        ("[Attributes]\nTarget = ²\n", "must be a range of columns such as 2-5,8, got '²'."),
        (b"[Tree]\n\x00\x01", ": expected a settings file, got binary data."),
    ],
)
def test_mistakes_are_named_in_one_line(write, text, expected):
    assert expected in refusal(write(text))


def test_long_values_are_shortened_in_messages(write):
    message = refusal(write(f"[Tree]\nFTest = {'9' * 5000}x\n"))
    assert len(message) < 200


def test_missing_files_and_folders(tmp_path):
    assert refusal(tmp_path / "none.s") == ": there is no such file; expected a settings file."
    assert refusal(tmp_path) == ": expected a settings file, got a folder."


def test_very_large_files_are_refused(write, monkeypatch):
    monkeypatch.setattr("ramify.apps.clus.settings.MOST_BYTES", 10)
    assert "must have at most 10 bytes" in refusal(write("[Tree]\nFTest = 1\n"))


def test_huge_ranges_need_no_memory(write):
    found = read_settings(write("[Attributes]\nTarget = 1-999999999\n"))
    with pytest.raises(SettingsError, match="from 1 to 4"):
        found.columns("Attributes", "Target", 4)


def test_other_encodings(write):
    found = read_settings(write("[Data]\nFile = données.arff\n".encode("latin-1")))
    assert found.text("Data", "File") == "données.arff"


class TestUnsupported:
    def test_it_stops_the_run(self, write):
        found = read_settings(write("[Tree]\nFTest = 0.1\nConvertToRules = Leaves\n"))
        expected = (
            r"run\.s, line 3: \[Tree\] ConvertToRules = 'Leaves' is not supported: .*rules.*\. "
            r"Remove the line, or pass --ignore-unsupported"
        )
        with pytest.raises(UnsupportedOptionError, match=expected):
            found.supported(Switches())

    def test_or_is_ignored(self, write):
        found = read_settings(write("[Tree]\nFTest = 0.1\nConvertToRules = Leaves\n"))
        kept = found.supported(Switches(), ignore_unsupported=True)
        assert kept.text("Tree", "ConvertToRules") == "No"
        assert kept.numbers("Tree", "FTest") == (0.1,)
        assert len(kept.ignored) == 1
        assert kept.ignored[0].endswith("Ignored.")

    def test_the_default_is_no_request(self, write):
        text = "[Tree]\nConvertToRules = No\n[Hierarchical]\nPruneInSig = 0\n"
        assert read_settings(write(text)).supported(Switches()).ignored == ()

    def test_a_name_of_a_value(self, write):
        found = read_settings(write("[Ensemble]\nEnsembleMethod = Pert\n"))
        with pytest.raises(UnsupportedOptionError, match="The value must be Bagging or RForest"):
            found.supported(Switches(forest=True))
        assert found.supported(Switches(forest=False)).ignored == ()


BOUNDED = {  # values that are within bounds
    ("Data", "XVal"): ["LOO", "3", "10"],
    ("Ensemble", "SelectRandomSubspaces"): ["SQRT", "LOG", "0", "17", "0.25"],
    ("Ensemble", "Iterations"): ["[10,50]", "0", "3"],
    ("Ensemble", "NumberOfThreads"): ["0", "8"],
    ("Model", "ParamTuneNumberFolds"): ["2", "10"],
}
SHARES = {
    *[("Tree", "FTest"), ("Multilabel", "MLCThreshold"), ("Hierarchical", "RecallValues")],
    ("Ensemble", "SymbolicWeight"),
}


def value_of(option: Option) -> st.SearchStrategy[str]:
    """Return values that an option accepts, as CLUS 2.12.8 spells them."""
    key = option.section, option.name
    if key in BOUNDED:
        return st.sampled_from(BOUNDED[key])
    integers = st.integers(0, 2**31 - 1).map(str)
    numbers = st.floats(1e-3, 1 if key in SHARES else 100).map(repr)
    names = st.sampled_from(option.choices) if option.choices else st.just("None")
    texts = st.text("abc./xyz", min_size=1)
    return {
        "yes_no": st.sampled_from(["Yes", "No"]),
        "integer": integers,
        "limit": st.just("Infinity") | integers,
        "number": numbers,
        "numbers": numbers | st.lists(numbers, min_size=1).map(lambda n: f"[{','.join(n)}]"),
        "choice": names,
        "choices": st.lists(names, unique=True).map(lambda found: f"[{', '.join(found)}]"),
        "columns": st.sampled_from(["1", "2-5,8", "None"]),
    }.get(option.kind, texts)


@st.composite
def chosen_values(draw) -> dict[tuple[str, str], str]:
    keys = draw(st.lists(st.sampled_from(sorted(OPTIONS)), unique=True, min_size=1, max_size=30))
    return {key: draw(value_of(OPTIONS[key])) for key in keys}


@given(chosen_values(), st.randoms())
@budget(75, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_written_is_read(tmp_path, wanted, random):
    lines = []
    for (section, name), value in wanted.items():
        mark = random.choice(["=", " = ", "\t= "])
        lines += [f"[{section}]", "% a comment", f"{name}{mark}{value}", ""]
    path = tmp_path / "written.s"
    path.write_text("\n".join(lines), encoding="utf-8")
    found = read_settings(path)
    assert {key: entry.value for key, entry in found.entries.items()} == wanted
    for (section, name), entry in found.entries.items():
        assert lines[entry.line - 1].startswith(name)
        assert section in found.sections


@requires_oracle
@pytest.mark.parametrize(
    "path", sorted(TINY.glob("*/*.s")), ids=lambda p: f"{p.parent.name}/{p.stem}"
)
def test_the_files_of_the_recorded_runs(path):
    found: Settings = read_settings(path).supported(Switches(forest=True))
    for section, options in read_plainly(path).items():
        for name, value in options.items():
            assert same_value(found.text(section, name), value)


def test_values_without_effect_are_not_refused(write):
    text = "[Relief]\nIterations = [0.2,0.5,1]\nNeighbours = [10, 15]\n[kNNTree]\nk = many\n"
    settings = read_settings(write(text))
    assert settings.numbers("Relief", "Iterations") == (0.2, 0.5, 1.0)
    assert settings.text("Relief", "Neighbours") == "[10,15]"
    (note,) = settings.ignored
    assert "[kNNTree] k must be an integer, got 'many'. It has no effect." in note
