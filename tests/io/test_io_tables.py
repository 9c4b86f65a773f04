"""Reading and writing CSV and parquet tables."""

import gzip
import json
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from ramify import Hierarchy, HierarchyBinarizer
from ramify.io import FormatError, read_obo, read_table, write_table
from tests.support.budget import budget

pandas = pytest.importorskip("pandas")
CSV = """size,colour,labels,count
3.5,brown,mammal/dog; pet,1
?,,bird,2
0.25,white,,3
"""


@pytest.fixture
def read(tmp_path):
    def read_text(text, name="pets.csv", **options):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_table(path, **options)

    return read_text


def label_sets(table):
    return table.hierarchy.decode(table.y)


def _last(text: str, cell: str) -> str:
    """Replace the first cell of the last row."""
    head, _, last = text.rstrip("\n").rpartition("\n")
    return f"{head}\n{cell},{last.split(',')[1]}\n"


def test_columns_by_kind(read):
    table = read(CSV)
    assert table.name == "pets"
    assert table.feature_names == ("size", "colour", "count")
    assert table.categories == {"colour": ("brown", "white")}
    assert table.X["colour"].tolist()[::2] == ["brown", "white"]
    np.testing.assert_array_equal(table.X["size"], [3.5, np.nan, 0.25])
    assert table.hierarchy.labels == ("bird", "mammal", "mammal/dog", "pet")
    assert label_sets(table) == [("mammal/dog", "pet"), ("bird",), ()]


def test_layouts(read):
    np.testing.assert_array_equal(
        read(CSV, as_frame=False).X, [[3.5, 0, 1], [np.nan, np.nan, 2], [0.25, 1, 3]]
    )
    numbers = "x,y,labels\n1,2,a\n"
    assert isinstance(read(numbers).X, np.ndarray)
    assert read(numbers, as_frame=True).X.columns.tolist() == ["x", "y"]


@pytest.mark.parametrize("ending", ["\r", "\r\n"])
def test_ends_of_lines(read, ending):
    expected = read("x,labels\n1,a\n2,b\n3,c\n").X
    np.testing.assert_array_equal(read(f"x,labels{ending}1,a{ending}2,b{ending}3,c").X, expected)
    np.testing.assert_array_equal(read(f"x,labels\n1,a{ending}2,b\n3,c\n").X, expected)


def test_a_carriage_return_in_a_line_starts_a_short_row(read):
    # pandas 2 alone would use up all memory here.
    text = "x,colour,labels\n3.5,brown,a\n0\n\nid:\r part\nname: part of\n"
    table = read(text, footer="keep")
    assert table.X["x"].tolist() == ["3.5", "0", "id:", "part", "name: part of"]


def test_separators(read):
    table = read("x|labels\n1|a.b,c\n", delimiter="|", separator=".", label_separator=",")
    assert table.hierarchy.labels == ("a", "a.b", "c")
    assert read("x\tlabels\n1\ta\n", name="t.tsv").hierarchy.labels == ("a",)


def test_labels_stay_text(read):
    table = read("x,labels\n1,01\n2,1\n3,NA\n4,1.50\n")
    assert label_sets(table) == [("01",), ("1",), ("NA",), ("1.50",)]


def test_hierarchy_of_the_training_file(read):
    trained = Hierarchy.from_edges([("pet", "dog"), ("pet", "cat")])
    table = read("x,labels\n1,dog\n2,cat;dog\n", hierarchy=trained)
    assert table.y.toarray().tolist() == [[1, 0, 1], [1, 1, 1]]
    with pytest.raises(
        FormatError, match=r"pets.csv: .* column \['labels'\]: unknown label 'dgo'"
    ):
        read("x,labels\n1,dgo\n", hierarchy=trained)


@pytest.mark.parametrize("words", [("0", "1"), ("False", "True"), ("0.0", "1.0")])
def test_indicator_columns(read, words):
    no, yes = words
    table = read(f"b,x,a\n{yes},1,{no}\n{no},2,{no}\n", target=["b", "a"])
    assert table.hierarchy.labels == ("b", "a")
    assert table.y.toarray().tolist() == [[1, 0], [0, 0]]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("['a/x', 'b']", "['b']"),
        ('["a/x", "b"]', '["b"]'),
        ("[['a', 'x'], ['b']]", "[['b']]"),
    ],
)
def test_lists_in_cells_are_lists_of_labels(read, first, second):
    table = read(f"n;labels\n1;{first}\n2;{second}\n3;[]\n", delimiter=";")
    assert label_sets(table) == [("a/x", "b"), ("b",), ()]
    assert "read as a list of labels" in " ".join(table.notes)


def test_names_in_brackets_are_no_lists(read):
    table = read("n,labels\n1,[a]\n2,[b]\n")
    assert label_sets(table) == [("[a]",), ("[b]",)]


def test_long_runs_of_consecutive_numbers_are_identifiers(read):
    rows = "".join(f"{7000 + k},{k % 7},{'ab'[k % 2]}\n" for k in range(301))
    table = read("patient,x,labels\n" + rows)
    assert (table.feature_names, table.X.shape) == (("x",), (301, 1))
    assert table.left_out == {"patient": "consecutive numbers"}
    years = "".join(f"{1900 + k},{k % 7},{'ab'[k % 2]}\n" for k in range(100))
    assert read("year,x,labels\n" + years).feature_names == ("year", "x")


def test_a_label_column_is_found_by_its_name_in_the_second_header_line(read):
    rows = "".join(f"{k},{k % 50},1.{k % 3}0\n" for k in range(60))
    table = read("Patient,,Label\nID,Age,Code\n" + rows, target="Code")
    assert table.feature_names == ("Patient Age",)
    assert table.hierarchy.labels == ("1.00", "1.10", "1.20")  # as they are written
    assert "the label columns are 'Label Code'" in table.notes
    with pytest.raises(ValueError, match=r"no column 'Codes'"):
        read("Patient,,Label\nID,Age,Code\n" + rows, target="Codes")


def test_all_columns_can_be_named_by_the_second_header_line(read):
    rows = "".join(f"{k},{k % 50},s{k % 4},0{k % 3},{k % 3}\n" for k in range(60))
    table = read("Patient,,,Label,\nID,Age,Site,Top,Below\n" + rows, target="Top, Below",
                 id_column="ID", groups="Site")  # fmt: skip
    assert table.feature_names == ("Patient Age",)
    assert table.hierarchy.labels == ("00", "00/0", "01", "01/1", "02", "02/2")
    assert list(table.groups[:2]) == ["s0", "s1"]
    assert "the label columns are 'Label Top', 'Label Below'" in table.notes


def test_levels_in_one_name_are_read_as_they_are_written(read):
    table = read("x,top,below\n1,01,1\n2,02,007\n", target="top,below")
    assert table.hierarchy.labels == ("01", "01/1", "02", "02/007")
    assert not any("label columns" in note for note in table.notes)


def test_label_columns_named_by_paths_are_a_tree(read):
    text = "x,animal,animal/cat,plant\n1,1,1,0\n2,0,0,1\n3,1,0,0\n"
    table = read(text, target=["animal", "animal/cat", "plant"])
    assert label_sets(table) == [("animal/cat",), ("plant",), ("animal",)]
    frame = pandas.DataFrame(table.y.toarray(), columns=table.hierarchy.labels)
    assert HierarchyBinarizer().fit(frame).hierarchy_ == table.hierarchy
    text = text.replace("/", "::")
    table = read(text, target=["animal", "animal::cat", "plant"], separator="::")
    assert table.hierarchy.depth == 2


@pytest.mark.parametrize("hour", ["{:02d}:30", "{}:30:10", "{} :30", "{}:30 am"])
def test_times_of_day_are_features(read, hour):
    cells = [hour.format(1 + k % 11).replace(" :", ":") for k in range(60)]
    text = "at,labels\n" + "".join(f"{cell},{'ab'[k % 2]}\n" for k, cell in enumerate(cells))
    table = read(text)
    assert table.X["at"][1].hour == 2
    assert table.left_out == {}
    with pytest.raises(FormatError, match=r"row 60 .* 'noon' is not a time of day such as 09:30"):
        read(_last(text, "noon"))
    assert read(_last(text, "n/a")).X["at"].isna().sum() == 1


def test_comments_above_the_table_are_no_names(read):
    rows = "s1  1.5  2  a\ns2  2.5  3  b\ns3  3  4  a\n"
    table = read("# made by LabSoft 3\n# in ppm\nid  x  y  labels\n" + rows)
    assert table.feature_names == ("id", "x", "y")
    table = read("# made by LabSoft 3\n#id,x,y,labels\n" + rows.replace("  ", ","))
    assert table.feature_names == ("#id", "x", "y")


def test_scales_are_units(read):
    cells = [f"{1 + k % 40 / 10} / 5" for k in range(60)]
    table = read("rating,labels\n" + "".join(f"{cell},a\n" for cell in cells), as_frame=True)
    assert table.X["rating"][1] == 1.1
    assert table.units == {"rating": "/ 5"}


def test_a_price_that_is_no_number_is_told(read):
    cells = [f'"$1,{100 + k}.00"' for k in range(60)]
    text = "price,labels\n" + "".join(f"{cell},a\n" for cell in cells)
    assert read(text).X[1, 0] == 1101
    with pytest.raises(FormatError, match="'call us' is not a number"):
        read(_last(text, "call us"))


@pytest.mark.parametrize("mark", ["-999", "9999.0", "-3.4028235e+38"])
def test_numbers_that_probably_mean_missing_values_are_told(read, mark):
    cells = [mark if k % 9 == 0 else f"{k / 10}" for k in range(60)]
    text = "x,labels\n" + "".join(f"{cell},a\n" for cell in cells)
    (note,) = read(text).notes
    assert "in 7 cells is far from all other numbers, 0.1 to 5.9" in note
    given = note.partition("missing=['")[2].partition("'")[0]
    assert read(text, missing=[given], as_frame=True).X["x"].isna().sum() == 7


def test_paths_of_ranks_are_no_sets_of_labels(read):
    taxa = ["k__B; p__F; c__X", "k__B; p__F; c__Y", "k__B; p__P; c__", "k__A; p__E; c__Z"]
    table = read("x\tlabels\n" + "".join(f"1\t{taxon}\n" for taxon in taxa), "t.tsv")
    assert table.hierarchy.depth == 3
    assert label_sets(table)[2] == ("k__B; p__P",)
    assert "separated by '; '" in " ".join(table.notes)
    same = read("x\tlabels\n1\tk__B; p__F; c__Y\n", "u.tsv", hierarchy=table.hierarchy)
    assert label_sets(same) == [("k__B; p__F; c__Y",)]
    text = "x\tlabels\n" + "".join(f"1\t{taxon}\n" for taxon in taxa)
    assert read(text, "t.tsv", label_separator=";").hierarchy.depth == 1


def test_label_sets_are_no_paths(read):
    sets = ["red;small;old", "red;old", "small;new;blue", "blue;red;old", "old"]
    table = read("x,labels\n" + "".join(f"1,{row}\n" for row in sets))
    assert table.hierarchy.labels == ("blue", "new", "old", "red", "small")


RECORDS = [{"x": 1, "c": "u", "labels": ["a/b"]}, {"x": None, "c": "v", "labels": ["a/c", "d"]}]


@pytest.mark.parametrize("name", ["rows.json", "rows.jsonl", "rows.ndjson.gz"])
def test_records_of_json_files_are_rows(read, name):
    text = "\n".join(map(json.dumps, RECORDS)) + "\n"
    content = json.dumps(RECORDS) if name == "rows.json" else text
    table = read(gzip.compress(content.encode()) if name.endswith(".gz") else content, name)
    assert label_sets(table) == [("a/b",), ("a/c", "d")]
    assert table.X["x"].isna().tolist() == [False, True]
    assert table.categories == {"c": ("u", "v")}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"x": 1, "labels": "a"}\n{"x": ', r"line 2: expected JSON, one object per line"),
        ("[1, 2]", r"expected an object such as .* in record 1, found 1"),
        ("[" * 100_000, r"nested too deeply|expected JSON"),
        (
            '{"x": [{"y": 1}], "labels": "a"}\n' * 2,
            r"column 'x': expected numbers, texts or lists",
        ),
        ('{"x": [], "labels": "a"}\n{"x": ["u"], "labels": "a"}', r"column 'x': .* found \['u'\]"),
        ("", "rows|columns|labels"),
    ],
)
def test_json_files_that_are_no_tables_are_refused(read, text, message):
    with pytest.raises(ValueError, match=message):
        read(text, "rows.jsonl")


NESTED = [
    {"x": 7, "size": {"length": k, "width": 2.5}, "labels": [label]}
    for k, label in enumerate("ab")
]


@pytest.mark.parametrize(
    "content",
    [
        NESTED,
        {"count": 2, "results": NESTED, "tags": []},
        {name: {str(k): row[name] for k, row in enumerate(NESTED)} for name in NESTED[0]},
    ],
    ids=["list", "answer of a service", "pandas"],
)
def test_objects_in_objects_are_columns(read, content):
    table = read(json.dumps(content), "rows.json", as_frame=True)
    assert table.feature_names == ("x", "size.length", "size.width")
    assert table.X["size.length"].tolist() == [0, 1]
    assert label_sets(table) == [("a",), ("b",)]
    assert read(json.dumps(NESTED), "rows.json", drop=["size"]).feature_names == ("x",)


def test_decimals_are_numbers_and_whole_labels_have_no_point(tmp_path):
    frame = pd.DataFrame(
        {
            "price": [Decimal("1.10"), None, Decimal("2.5")] * 10,
            "labels": [1.0, 2.0, np.nan] * 10,
        }
    )
    frame.to_parquet(path := tmp_path / "rows.parquet")
    for table in (read_table(path), read_table(frame)):
        np.testing.assert_equal(table.X[:3, 0], [1.1, np.nan, 2.5])
        assert table.hierarchy.labels == ("1", "2")


def test_repeated_column_names_are_left_out(read):
    table = read("x,labels\n1,a\nx,labels\n2.5,b\n")
    assert table.X.tolist() == [[1.0], [2.5]]
    assert table.notes == ("1 line with the column names below the first was left out",)


def test_lines_of_a_label_cell_are_labels(read):
    text = 'x,labels\n1,"red\nblue"\n2,red\n3,"blue\n green"\n'
    table = read(text)
    assert label_sets(table) == [("blue", "red"), ("red",), ("blue", "green")]
    assert "each line of a label cell is a label, as in 'red\\nblue'" in table.notes[0]
    assert label_sets(read(text, hierarchy=table.hierarchy)) == label_sets(table)
    wrapped = read('x,labels\n1,"pots\nand pans"\n2,cups\n')
    assert wrapped.hierarchy.n_labels == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\n<!DOCTYPE html><html><body>Log in</body></html>", "a web page, not a table"),
        (b"%PDF-1.4\n1 0 obj", r"a PDF file, not a table\. Save the table as"),
        (b"PAR1\x15\x04", r"is a parquet file\. Let its name end in \.parquet"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00", "spreadsheet in another format"),
    ],
)
def test_files_of_other_formats_are_named(tmp_path, content, message):
    path = tmp_path / "rows.csv"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=message):
        read_table(path)


def test_label_columns_without_labels_are_named(read):
    with pytest.raises(FormatError, match=r"no labels: all cells of 'labels' are empty\. Pass an"):
        read("x,labels\n1,\n2,\n")


def test_commas_that_may_join_labels_are_told(read):
    table = read("x,labels\n1,bags\n2,shoes\n3,'bags, other'\n".replace("'", '"'))
    assert table.hierarchy.labels == ("bags", "bags, other", "shoes")
    told = "'bags, other' was read as one label; if it is several, pass label_separator=','"
    assert table.notes == (told,)


def test_features_that_may_be_weights_and_spellings_are_told(read):
    cells = ["yes", "Yes", "never"] * 4
    text = "smoker,Sample weight,labels\n" + "".join(
        f"{cell},{k}.5,a\n" for k, cell in enumerate(cells)
    )
    notes = read(text).notes
    assert "pass sample_weight='Sample weight'" in notes[0]
    assert "column 'smoker': 'Yes' and 'yes' are read as different categories" in notes[1]
    assert not any("weight" in note for note in read(text, sample_weight="Sample weight").notes)


def test_extreme_numbers_among_others_are_no_marks(read):
    cells = [-999, 999, *range(-900, 900, 30)]
    assert read("x,labels\n" + "".join(f"{cell},a\n" for cell in cells)).notes == ()


def test_level_columns(read):
    table = read("x,top,below\n1,a,b\n2,c,\n3,,\n", target=["top", "below"])
    assert table.hierarchy.labels == ("a", "a/b", "c")
    assert label_sets(table) == [("a/b",), ("c",), ()]


def test_without_labels(read):
    table = read("x\n1\n", target=None)
    assert table.y is None
    assert table.hierarchy is None


def test_given_categories(read):
    values = {"colour": ["white", "brown"], "count": ["1", "2", "3"]}
    table = read(CSV, categories=values, as_frame=False)
    assert table.categories == {"colour": ("white", "brown"), "count": ("1", "2", "3")}
    np.testing.assert_array_equal(table.X[:, 1:], [[1, 0], [np.nan, 1], [0, 2]])
    with pytest.raises(
        FormatError, match=r"one of \{white\} in column 'colour', found 'brown' in"
    ):
        read(CSV, categories={"colour": ["white"]})


def test_weights(read):
    table = read("x,w,labels\n1,2.5,a\n2,0,a\n", sample_weight="w")
    assert table.feature_names == ("x",)
    assert table.sample_weight.tolist() == [2.5, 0.0]
    with pytest.raises(FormatError, match="non-negative numbers in the weight column 'w'"):
        read("x,w,labels\n1,-1,a\n", sample_weight="w")


def test_decimal_commas(read):
    text = "size;colour;labels\n3,5;red;a\n-1e3;blue;b\n1,25e-3;red;a\n"
    table = read(text, delimiter=";", decimal=",", as_frame=False)
    np.testing.assert_array_equal(table.X, [[3.5, 1], [-1000, 0], [0.00125, 1]])
    np.testing.assert_array_equal(read(text, as_frame=False).X, table.X)  # found
    kept = read(text, kinds={"size": "category"})
    assert kept.categories["size"] == ("-1e3", "1,25e-3", "3,5")


@pytest.mark.parametrize(
    ("marks", "message"),
    [
        (
            {"decimal": ",", "thousands": ","},
            "thousands must differ from the decimal, got ',' for",
        ),
        ({"delimiter": ";;"}, "delimiter must be a single punctuation character, got ';;'"),
        ({"delimiter": ""}, "delimiter must be a single punctuation character, got ''"),
        ({"delimiter": ";", "decimal": "0"}, "decimal must be a single .* character, got '0'"),
        ({"delimiter": '"'}, "delimiter must be a single .* character, got '\"'"),
    ],
)
def test_invalid_delimiters_and_decimal_points(read, marks, message):
    with pytest.raises(ValueError, match=message):
        read("x,labels\n1,a\n", **marks)


def test_gzip_and_encodings(read):
    text = "größe,labels\n1,a\n"
    assert read(gzip.compress(text.encode()), "t.csv.gz").feature_names == ("größe",)
    assert read(text.encode("latin-1"), encoding="latin-1").feature_names == ("größe",)
    assert read(text.encode("utf-8-sig")).feature_names == ("größe",)
    found = read(text.encode("latin-1"))
    assert found.feature_names == ("größe",)
    assert "the text is encoded in cp1252, as in 'größe' (encoding='cp1252')" in found.notes
    with pytest.raises(FormatError, match=r"text in utf-8, found byte 0xF6 at offset 2. Pass the"):
        read(text.encode("latin-1"), encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"pets.csv is not a table: it is empty"),
        ("x,labels\n1,a\n1,a,3\n", r"line 3: expected 2 cells"),
        ("x,labels\n1,a,3\n", "expected 2 cells in every row, as in line 1, found a row"),
        ("x,label\n1,a\n", r"has no column 'labels'.* Did you mean 'label'\? The columns are"),
        ("x,labels\n1,a//b\n", r"cannot read the labels of column \['labels'\]: "),
    ],
)
def test_messages(read, text, message):
    with pytest.raises(ValueError, match=message):
        read(text)


def test_wrong_parquet(tmp_path):
    path = tmp_path / "t.parquet"
    path.write_bytes(b"no parquet")
    with pytest.raises(FormatError, match=r"t.parquet: expected a parquet file"):
        read_table(path)
    with pytest.raises(FileNotFoundError):
        read_table(tmp_path / "none.parquet")


def test_texts_of_parquet_files_must_be_utf8(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    ends = pyarrow.py_buffer(np.array([0, 1, 2], dtype=np.int32).tobytes())
    texts = pyarrow.StringArray.from_buffers(2, ends, pyarrow.py_buffer(b"a\xb8"))
    path = tmp_path / "t.parquet"
    parquet.write_table(pyarrow.table({"colour": texts, "labels": ["a", "b"]}), path)
    with pytest.raises(FormatError, match=r"t.parquet: .*Invalid UTF8"):
        read_table(path)


def test_a_declared_delimiter_must_be_a_punctuation_character(read):
    with pytest.raises(FormatError, match=r"pets.csv: the first line declares the delimiter 'd'"):
        read("sep=d\nsizedlabels\n1da\n2db\n")


def test_numbers_must_be_below_the_largest_double(read):
    text = f"size,labels\n1,a\n{10**320},b\n3,a\n"
    with pytest.raises(FormatError, match=r"pets.csv: column 'size' must have numbers below"):
        read(text)


def test_columns_of_other_types_are_refused(tmp_path):
    frame = pandas.DataFrame({"t": pandas.period_range("2020", periods=1), "labels": ["a"]})
    with pytest.raises(
        ValueError, match=r"columns of X must be .*, got column 't' of type period"
    ):
        write_table(tmp_path / "t.csv", frame[["t"]])


WORDS = st.text("ab ,'\"\n;é01", min_size=1, max_size=3).map(lambda word: f"v{word}")


@st.composite
def samples(draw):
    n_rows = draw(st.integers(1, 4))

    def rows(cells):
        return st.lists(cells, min_size=n_rows, max_size=n_rows)

    values = tuple(sorted(draw(st.lists(WORDS, min_size=1, max_size=3, unique=True))))
    codes = draw(rows(st.integers(0, len(values) - 1) | st.just(np.nan)))
    numbers = draw(rows(st.floats(allow_infinity=False)))
    X = np.column_stack([numbers, codes]).astype(float)
    hierarchy = Hierarchy.from_paths(
        draw(st.lists(st.sampled_from(["a/b", "c", "d/e/f"]), min_size=1))
    )
    sets = draw(rows(st.lists(st.sampled_from(hierarchy.labels), max_size=2)))
    weights = draw(st.none() | rows(st.floats(0, 1e9)))
    return X, {"n": values}, hierarchy, hierarchy.encode(sets), weights


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.tsv", "t.parquet"])
@budget(40)
@given(sample=samples())
def test_round_trip(tmp_path_factory, name, sample):
    X, categories, hierarchy, y, weights = sample
    path = tmp_path_factory.mktemp("tables") / name
    options = {"feature_names": ["x", "n"], "categories": categories, "sample_weight": weights}
    write_table(path, X, y, hierarchy, **options)
    table = read_table(
        path,
        hierarchy=hierarchy,
        categories=categories,
        sample_weight=None if weights is None else "sample_weight",
        as_frame=False,
    )
    np.testing.assert_array_equal(table.X, X)
    assert table.categories == categories
    np.testing.assert_array_equal(table.y.toarray(), y.toarray())
    if weights is not None:
        np.testing.assert_array_equal(table.sample_weight, weights)
    assert list(path.parent.iterdir()) == [path]


def test_parquet_keeps_categories(tmp_path):
    frame = pandas.DataFrame({"c": pandas.Categorical(["v"], categories=["w", "v"])})
    write_table(tmp_path / "t.parquet", frame, ["a"])
    assert read_table(tmp_path / "t.parquet").categories == {"c": ("w", "v")}


def test_sparse_features_are_written_dense(tmp_path):
    write_table(tmp_path / "t.csv", sparse.csr_array([[0, 2.5]]), [["a"]])
    assert (tmp_path / "t.csv").read_text() == "x0,x1,labels\n0.0,2.5,a\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y": [["a;b"]]}, "label_separator must not occur in labels, got ';'.* label 'a;b'"),
        ({"feature_names": ["labels"]}, "target must not be the name of a feature, got 'labels'"),
        ({"y": [["a"], ["b"]]}, "X has 1 rows, but y has 2"),
        (
            {"X": [[0.0]], "categories": {"x0": ["NA"]}},
            r"X must not contain the category 'NA' \(column 'x0'\)",
        ),
    ],
)
def test_writer_messages(tmp_path, arguments, message):
    arguments = {"X": [[1.0]], "y": [["a"]], **arguments}
    with pytest.raises(ValueError, match=message):
        write_table(tmp_path / "t.csv", **arguments)
    assert not list(tmp_path.iterdir())


def test_compressed_tables_are_reproducible(tmp_path: Path) -> None:
    written = []
    for _ in range(2):
        write_table(tmp_path / "t.csv.gz", [[1.0], [2.0]], [["a"], ["b"]])
        written.append((tmp_path / "t.csv.gz").read_bytes())
    assert written[0] == written[1]


def test_obo_files_are_not_downloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.socket.connect", lambda *_: pytest.fail("opened a connection"))
    with pytest.raises(FileNotFoundError, match="download it first"):
        read_obo("http://127.0.0.1:9/go.obo")


def test_a_repeated_name_is_found_among_many_columns(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    names = [f"c{i}" for i in range(50)]
    path.write_text(",".join([*names, "c7", "labels"]) + "\n", "utf-8")
    with pytest.raises(
        ValueError, match=r"line 1: .*unique column names, found 'c7' more than once"
    ):
        read_table(path, duplicate_names="error")


def test_thousands_and_words_for_missing_values(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("a;b;c;labels\n1.000,5;k.A.;01.02.2020;x\n-2;3;02.02.2020;k.A.\n", "utf-8")
    form = {"delimiter": ";", "decimal": ",", "as_frame": True, "kinds": {"c": "category"}}
    table = read_table(path, **form, thousands=".", missing=["k.A."])
    assert table.X["a"].tolist() == [1000.5, -2.0]
    assert np.isnan(table.X["b"][0])
    assert table.categories == {"c": ("01.02.2020", "02.02.2020")}
    assert table.hierarchy.decode(table.y) == [("x",), ()]
    with pytest.raises(ValueError, match="thousands must differ from the decimal, got ','"):
        read_table(path, **form, thousands=",")
    with pytest.raises(ValueError, match="thousands must be a single punctuation character"):
        read_table(path, **form, thousands="..")


def test_repeated_columns_and_empty_rows(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("a,a,labels\n1,2,x\n,,\n3,,\n,,\n", "utf-8")
    with pytest.raises(
        FormatError, match="expected unique column names, found 'a' more than once"
    ):
        read_table(path, duplicate_names="error")
    table = read_table(path)
    assert table.feature_names == ("a", "a-1")
    assert table.X.shape == (2, 2)
    assert table.y.sum(axis=1).tolist() == [1, 0]
    assert table.notes == (
        "column 2 was renamed to 'a-1': 'a' occurs more than once",
        "2 empty rows were left out",
    )
    assert read_table(path, empty_rows="keep").X.shape == (4, 2)
    for name in ("duplicate_names", "empty_rows"):
        with pytest.raises(ValueError, match=f"{name} must be one of"):
            read_table(path, **{name: "no"})
