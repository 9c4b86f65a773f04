"""The ARFF reader: all features and errors."""

import pickle
import re

import numpy as np
import pytest
from scipy import sparse

from ramify import Hierarchy
from ramify.io import FormatError, read_arff

TREE = "@attribute class hierarchical a,a/b,c\n"


@pytest.fixture
def arff(tmp_path):
    """Write text (or bytes) to a file and return its path."""

    def write(text, name="data.arff"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


@pytest.fixture
def read(arff):
    """Read text as a file."""
    return lambda text, **options: read_arff(arff(text), **options)


def label_sets(table):
    return table.hierarchy.decode(table.y)


class TestHeader:
    def test_keywords_in_any_case_and_runs_of_blanks(self, read):
        table = read("@RELATION  r\n\n @Attribute \t x   NUMERIC\n@ATTRIBUTE y ReaL\n@DATA\n1,2\n")
        assert table.name == "r"
        assert table.feature_names == ("x", "y")
        assert table.X.tolist() == [[1.0, 2.0]]

    @pytest.mark.parametrize("kind", ["numeric", "real", "integer", "INTEGER"])
    def test_types_of_numbers(self, read, kind):
        assert read(f"@attribute x {kind}\n@data\n1.5\n").X.dtype == np.float64

    @pytest.mark.parametrize(
        ("written", "name"),
        [
            ("'two words'", "two words"),
            ('"two words"', "two words"),
            (r"'it\'s'", "it's"),
            (r'"say \"hi\""', 'say "hi"'),
            (r"'a\\b\tc\nd'", "a\\b\tc\nd"),
            ("'100 % {x}, @y'", "100 % {x}, @y"),
            ("it's", "it's"),
            ("50%", "50%"),
            ("größe", "größe"),
            (r"m\'usica", r"m\'usica"),
        ],
    )
    def test_names(self, read, written, name):
        assert read(f"@attribute {written} numeric\n@data\n").feature_names == (name,)

    def test_nominal_values_keep_the_declared_order(self, read):
        table = read(
            "@attribute x { w , 'n e' ,\"s,w\", ?, r }\n@data\nr\n'n e'\n?\n\"s,w\"\n",
            as_frame=False,
        )
        assert table.categories == {"x": ("w", "n e", "s,w", "r")}
        np.testing.assert_array_equal(table.X, [[3], [1], [np.nan], [2]])

    def test_type_may_touch_the_name(self, read):
        assert read("@attribute x{a,b}\n@data\nb\n", as_frame=False).categories == {
            "x": ("a", "b")
        }

    def test_binary_is_one_zero(self, read):
        table = read("@attribute x binary\n@data\n0\n1\n", as_frame=False)
        assert table.categories == {"x": ("1", "0")}
        assert table.X.ravel().tolist() == [1.0, 0.0]

    def test_strings_and_keys_are_not_features(self, read):
        table = read(
            "@attribute id key\n@attribute x numeric\n@attribute note string\n@data\n"
            "g1,2,'a, b'\n007,3,?\n"
        )
        assert table.feature_names == ("x",)
        assert table.strings == {"id": ("g1", "007"), "note": ("a, b", None)}

    def test_comments_blank_lines_and_byte_order_mark(self, read):
        table = read(
            b"\xef\xbb\xbf% a comment in latin-1: \xe9\n\n@relation r % why\n"
            b"@attribute 'x % y' numeric % unit: %\n@attribute z {'% a',b} % two\n@data % rows\n"
            b"\n% none\n1,'% a' % last\n  % indented\n2,b\n",
            as_frame=False,
        )
        assert table.name == "r"
        assert table.feature_names == ("x % y", "z")
        assert table.X.tolist() == [[1, 0], [2, 1]]

    def test_windows_line_ends_and_no_last_line_end(self, read):
        table = read("@relation r\r\n@attribute x {a,b}\r\n" + TREE + "@data\r\nb,a\r\na,c")
        assert table.X["x"].tolist() == ["b", "a"]
        assert label_sets(table) == [("a",), ("c",)]

    def test_no_rows(self, read):
        table = read("@attribute x numeric\n@attribute y {a}\n" + TREE + "@data\n")
        assert table.X.shape == (0, 2)
        assert table.y.shape == (0, 3)

    def test_renames_duplicates_as_clus(self, read):
        text = "@attribute x numeric\n@attribute x numeric\n@attribute x-1 numeric\n" * 1
        text += "@attribute x numeric\n@data\n"
        assert read(text, duplicate_names="rename").feature_names == ("x", "x-1", "x-1-1", "x-2")


class TestDenseRows:
    @pytest.mark.parametrize(
        ("written", "value"),
        [
            ("1", 1.0),
            ("-0.5e-3", -0.0005),
            ("+7", 7.0),
            (".5", 0.5),
            ("5.", 5.0),
            ("  8\t", 8.0),
            ("'9'", 9.0),
            ('"1e3"', 1000.0),
            ("inf", np.inf),
            ("-Infinity", -np.inf),
            ("nan", np.nan),
            ("?", np.nan),
            ("1e-400", 0.0),
            ("0.1000000000000000055511151231257827", 0.1),
            ("123456789012345678901234567890", 1.2345678901234568e29),
        ],
    )
    def test_numbers(self, read, written, value):
        X = read(f"@attribute x numeric\n@attribute y numeric\n@data\n{written},{written}\n").X
        np.testing.assert_array_equal(X, [[value, value]])

    def test_layouts(self, read):
        text = "@attribute x numeric\n@attribute n {a,b,c}\n@attribute z numeric\n"
        text += "@data\n1,c,2\n?,?,3\n"
        frame = read(text).X
        assert list(frame.columns) == ["x", "n", "z"]
        assert frame["n"].cat.categories.tolist() == ["a", "b", "c"]
        assert not frame["n"].cat.ordered
        assert frame["n"].isna().tolist() == [False, True]
        np.testing.assert_array_equal(frame["x"], [1, np.nan])
        array = read(text, as_frame=False)
        np.testing.assert_array_equal(array.X, [[1, 2, 2], [np.nan, np.nan, 3]])
        assert array.categories == read(text).categories == {"n": ("a", "b", "c")}
        numeric = read("@attribute x numeric\n@data\n1\n", as_frame=True).X
        assert numeric["x"].tolist() == [1.0]

    @pytest.mark.parametrize("n_values", [2, 126, 127, 300, 33000])
    def test_wide_domains(self, read, n_values):
        values = [f"v{i}" for i in range(n_values)]
        wanted = [0, n_values - 1, n_values // 2]
        rows = "".join(f"v{i},1\n" for i in wanted)
        text = f"@attribute n {{{','.join(values)}}}\n@attribute x numeric\n@data\n{rows}?,2\n"
        assert read(text, as_frame=False).X[:, 0].tolist()[:3] == wanted
        frame = read(text).X
        assert frame["n"].tolist()[:3] == [values[i] for i in wanted]
        assert frame["n"].isna()[3]

    def test_many_nominal_columns(self, read):
        rng = np.random.default_rng(0)
        codes = rng.integers(0, 3, size=(50, 200))
        header = "".join(f"@attribute n{j} {{a,b,c}}\n" for j in range(200))
        rows = "\n".join(",".join("abc"[c] for c in row) for row in codes)
        table = read(f"{header}@data\n{rows}\n", as_frame=False)
        np.testing.assert_array_equal(table.X, codes)

    def test_weights(self, read):
        table = read("@attribute x numeric\n" + TREE + "@data\n1,a\n2,c,{2.5}\n3,a , { 0 } \n")
        assert table.sample_weight.tolist() == [1.0, 2.5, 0.0]
        assert read("@attribute x numeric\n@data\n1\n").sample_weight is None

    @pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
    def test_pieces_of_any_size_give_the_same(self, size):
        from ramify import _core

        text = (
            "@relation 'r s'\n@attribute x numeric\n@attribute n {ä,'b,c'}\n" + TREE
        ).encode() + "@data\n1.25,ä,a@c\r\n-3e2,'b,c',a/b,{2}\n".encode()
        parser = _core.ArffParser()
        for at in range(0, len(text), size):
            parser.feed(text[at : at + size])
        parser.finish()
        assert parser.numbers().tolist() == [[1.25], [-300.0]]
        assert [panel.tolist() for _, panel in parser.codes()] == [[[0, 1]]]
        assert parser.weights().tolist() == [1.0, 2.0]


class TestSparseRows:
    HEADER = "@attribute x numeric\n@attribute n {a,b,c}\n@attribute z numeric\n"

    def test_cells(self, read):
        table = read(self.HEADER + "@data\n{}\n{0 1.5, 2 ?}\n{2 -1 , 1 c}\n{0 0,1 a}\n")
        assert isinstance(table.X, sparse.csr_array)
        assert table.X.has_canonical_format
        assert table.X.nnz == 4
        np.testing.assert_array_equal(
            table.X.toarray(), [[0, 0, 0], [1.5, 0, np.nan], [0, 2, -1], [0, 0, 0]]
        )
        assert table.categories == {"n": ("a", "b", "c")}

    def test_indices_from_one(self, read):
        table = read(self.HEADER + "@data\n{1 4,3 5}\n", index_base=1)
        assert table.X.toarray().tolist() == [[4, 0, 5]]

    def test_labels_and_weights(self, read):
        table = read(self.HEADER + TREE + "@data\n{0 1,3 a/b@c}\n{3 c}, {2}\n{1 'b'}\n{3 ?,0 2}\n")
        assert label_sets(table) == [("a/b", "c"), ("c",), (), ()]
        assert table.sample_weight.tolist() == [1, 2, 1, 1]
        assert table.X.shape == (4, 3)

    def test_strings_may_be_absent(self, read):
        table = read("@attribute x numeric\n@attribute s string\n@data\n{0 1}\n{1 'a b'}\n")
        assert table.strings == {"s": (None, "a b")}

    def test_zero_one_features(self, read):
        table = read("@attribute p {0,1}\n@attribute q {1,0}\n@data\n{0 1}\n{1 0}\n")
        assert table.X.toarray().tolist() == [[1, 0], [0, 1]]

    def test_frame(self, read):
        frame = read(self.HEADER + "@data\n{0 2}\n", as_frame=True).X
        assert frame.columns.tolist() == ["x", "n", "z"]
        assert frame.to_numpy().tolist() == [[2, 0, 0]]


class TestLabels:
    def test_tree(self, read):
        table = read("@attribute x numeric\n" + TREE + "@data\n1,a/b\n2, a @ c \n3,'a@c'\n4,a@a\n")
        assert table.hierarchy == Hierarchy.from_paths(["a/b", "c"])
        assert table.y.toarray().tolist() == [[1, 1, 0], [1, 0, 1], [1, 0, 1], [1, 0, 0]]
        assert table.y.dtype == np.int32

    def test_dag(self, read):
        declared = "@attribute class hierarchical root/a,root/b,a/c,b/c\n"
        table = read("@attribute x numeric\n" + declared + "@data\n1,c\n2,a/c\n3,b@root\n")
        assert not table.hierarchy.is_tree
        assert label_sets(table) == [("c",), ("c",), ("b",)]
        assert table.y.toarray()[0].tolist() == [1, 1, 1]

    def test_kind_of_hierarchy_is_inferred_or_given(self, read):
        pairs = "@attribute x numeric\n@attribute class hierarchical root/a,a/b\n@data\n"
        assert read(pairs + "1,b\n").hierarchy.labels == ("a", "b")
        assert read(pairs + "1,a/b\n", hierarchy_type="tree").hierarchy.labels == (
            "a",
            "a/b",
            "root",
            "root/a",
        )
        plain = "@attribute x numeric\n@attribute class hierarchical a/b,b/c\n@data\n"
        assert read(plain).hierarchy.labels == ("a", "a/b", "b", "b/c")
        assert read(plain, hierarchy_type="dag").hierarchy.labels == ("a", "b", "c")
        listed = "@attribute x numeric\n@attribute class hierarchical root,root/a\n@data\n"
        assert read(listed).hierarchy.labels == ("root", "root/a")

    def test_names_are_strings(self, read):
        declared = "@attribute class hierarchical 01,01/01,1,2/0\n"
        table = read("@attribute x numeric\n" + declared + "@data\n1,01@2/0\n")
        assert set(table.hierarchy.labels) == {"01", "01/01", "1", "2", "2/0"}
        assert label_sets(table) == [("01", "2/0")]

    @pytest.mark.parametrize("value", ["?", "n", "''", "a@?", "?@a"])
    def test_empty_sets(self, read, value):
        table = read("@attribute x numeric\n" + TREE + f"@data\n1,{value}\n2,c\n")
        assert label_sets(table) == [(), ("c",)]

    def test_declared_label_n_is_a_label(self, read):
        declared = "@attribute class hierarchical n,m\n"
        table = read("@attribute x numeric\n" + declared + "@data\n1,n\n")
        assert label_sets(table) == [("n",)]

    def test_separator(self, read):
        declared = "@attribute class hierarchical a.b,c/d\n"
        table = read("@attribute x numeric\n" + declared + "@data\n1,a.b@c/d\n", separator=".")
        assert table.hierarchy.labels == ("a", "a.b", "c/d")

    def test_zero_ends_path(self, read):
        text = "@attribute x numeric\n@attribute class hierarchical 4,4/1/0,2/0,0\n"
        text += "@data\n1,4/1/0\n2,2/0\n3,0\n"
        assert label_sets(read(text)) == [("4/1/0",), ("2/0",), ("0",)]
        ended = read(text, zero_ends_path=True)
        assert ended.hierarchy.labels == ("2", "4", "4/1")
        assert label_sets(ended) == [("4/1",), ("2",), ()]
        bad = text.replace("2/0,", "2/0/1,")
        with pytest.raises(
            FormatError, match=r"line 2, column \d+: .*after the first 0, found '2/0/1'"
        ):
            read(bad, zero_ends_path=True)

    def test_classes_collects_the_hierarchy(self, read):
        text = "@attribute x numeric\n@attribute class classes\n@data\n1,a/b\n2,c@a\n3,?\n4,n\n"
        table = read(text)
        assert table.hierarchy.labels == ("a", "a/b", "c")
        assert label_sets(table) == [("a/b",), ("a", "c"), (), ()]
        assert read(text, hierarchy_type="dag").hierarchy.labels == ("a", "b", "c")

    def test_training_hierarchy(self, read):
        trained = Hierarchy.from_paths(["a/b", "c/d", "e"])
        table = read("@attribute x numeric\n" + TREE + "@data\n1,c/d\n2,e\n", hierarchy=trained)
        assert table.hierarchy is trained
        assert label_sets(table) == [("c/d",), ("e",)]
        with pytest.raises(FormatError, match=r"line 4, column 3: .* found 'c/x'.*'c/d'"):
            read("@attribute x numeric\n" + TREE + "@data\n1,c/x\n", hierarchy=trained)

    def test_labels_need_not_be_last(self, read):
        table = read(TREE + "@attribute x numeric\n@data\na/b,4\n")
        assert table.X.tolist() == [[4.0]]
        assert label_sets(table) == [("a/b",)]

    def test_list_may_end_with_a_comma(self, read):
        assert read("@attribute class hierarchical a,b,\n@data\na\n").hierarchy.labels == (
            "a",
            "b",
        )


class TestTargets:
    TEXT = (
        "@attribute x numeric\n@attribute p {0,1}\n@attribute q {no,yes}\n@attribute r numeric\n"
        "@attribute c {red,green}\n@data\n1,0,yes,1,green\n2,1,no,0,red\n"
    )

    def test_names(self, read):
        table = read(self.TEXT, target=["q", "p", "r"], as_frame=False)
        assert table.hierarchy.labels == ("q", "p", "r")
        assert table.y.toarray().tolist() == [[1, 0, 1], [0, 1, 0]]
        assert table.feature_names == ("x", "c")
        assert table.X.tolist() == [[1, 1], [2, 0]]

    def test_number_at_the_end(self, read):
        text = self.TEXT.replace("@attribute c {red,green}\n", "").replace(",green", "")
        table = read(text.replace(",red", ""), target=3)
        assert table.hierarchy.labels == ("p", "q", "r")
        assert table.X.tolist() == [[1.0], [2.0]]

    def test_one_nominal_target(self, read):
        table = read(self.TEXT, target="c")
        assert table.hierarchy.labels == ("red", "green")
        assert label_sets(table) == [("green",), ("red",)]

    def test_none(self, read):
        assert read(self.TEXT).y is None
        table = read("@attribute x numeric\n" + TREE + "@data\n1,a\n", target=[])
        assert table.hierarchy is None
        assert table.X.tolist() == [[1.0]]

    def test_sparse(self, read):
        header = (
            "@attribute x numeric\n@attribute p {0,1}\n@attribute q {1,0}\n@attribute r numeric\n"
        )
        table = read(header + "@data\n{0 5,1 1}\n{2 0,3 1}\n", target=["p", "q", "r"])
        assert table.y.toarray().tolist() == [[1, 1, 0], [0, 0, 1]]
        assert table.X.toarray().tolist() == [[5], [0]]
        # scikit-learn's trees refuse wider indices.
        assert table.X.indices.dtype == table.X.indptr.dtype == np.int32
        assert read(header + "@data\n{0 5}\n", target=[]).X.indices.dtype == np.int32

    def test_with_a_hierarchy(self, read):
        hierarchy = Hierarchy.from_edges([("p", "q"), ("p", "r")])
        table = read(self.TEXT, target=["q", "r", "p"], hierarchy=hierarchy)
        assert table.y.toarray().tolist() == [[1, 1, 1], [1, 0, 0]]

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"target": ["p", "qq"]}, r"target must name attributes of .*, got 'qq'.*'q'"),
            ({"target": 9}, r"target must be from 0 to 5, .*, got 9"),
            (
                {"target": ["p", "c"]},
                r"expected the values \{0,1\} for target 'c', found \{red,green\}",
            ),
            ({"target": ["p", "x"]}, r"expected 0 or 1 for target 'x', found 2; .*target=\[\]"),
        ],
    )
    def test_errors(self, read, options, message):
        with pytest.raises(ValueError, match=message):
            read(self.TEXT, **options)

    def test_missing_target(self, read):
        with pytest.raises(FormatError, match="for target 'p', found a missing value"):
            read("@attribute p {0,1}\n@data\n1\n?\n", target=["p"])

    def test_string_target(self, read):
        with pytest.raises(ValueError, match=r"target must name .*, got 's', a text attribute"):
            read("@attribute s string\n@data\nab\n", target=["s"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"separator": ""}, "separator must be a non-empty string .*, got ''. Pass"),
        ({"separator": "@"}, "separator must be .* other than '@', .*, got '@'"),
        (
            {"hierarchy_type": "Tree"},
            r"hierarchy_type must be one of \[None, 'tree', 'dag'\], got 'Tree'",
        ),
        ({"index_base": 2}, r"index_base must be one of \[0, 1\], got 2"),
        ({"duplicate_names": "drop"}, "duplicate_names must be one of .*, got 'drop'"),
    ],
)
def test_options(arff, options, message):
    with pytest.raises(ValueError, match=message):
        read_arff(arff("@attribute x numeric\n@data\n"), **options)


def test_parser_stops_after_an_error():
    from ramify import _core

    parser = _core.ArffParser()
    with pytest.raises(_core.ArffError):
        parser.feed(b"hello\n")
    with pytest.raises(RuntimeError, match="an earlier line could not be parsed"):
        parser.feed(b"@relation r\n")
    with pytest.raises(RuntimeError, match="not been read to its end"):
        parser.numbers()


def test_arrays_can_be_taken_only_once():
    from ramify import _core

    parser = _core.ArffParser()
    parser.feed(b"@attribute x numeric\n@attribute n {a,b}\n@data\n1,b\n2,a\n")
    parser.finish()
    assert [panel.tolist() for _, panel in parser.codes()] == [[[1, 0]]]
    assert parser.codes() == []
    assert parser.numbers().tolist() == [[1], [2]]
    assert parser.numbers().size == 0
    assert [array.size for array in parser.cells()] == [0, 0, 1]
    with pytest.raises(RuntimeError, match="already been read to its end"):
        parser.feed(b"3,a\n")


def test_repr_and_pickle(read):
    table = read("@relation " + "r" * 50 + "\n@attribute x numeric\n" + TREE + "@data\n1,a,{2}\n")
    assert re.fullmatch(
        r"Table\('r{39}…': 1 row, 1 feature \(1 numeric\), array, "
        r"3 labels in a tree of 2 levels, weighted\)",
        repr(table),
    )
    assert pickle.loads(pickle.dumps(table)).hierarchy == table.hierarchy
    assert repr(read("@attribute x numeric\n@data\n")) == (
        "Table('': 0 rows, 1 feature (1 numeric), array, no labels)"
    )


def test_dates_become_seconds_in_their_place(tmp_path):
    path = tmp_path / "dates.arff"
    path.write_text(
        "@relation r\n@attribute a numeric\n@attribute day date 'dd.MM.yyyy'\n"
        "@attribute b numeric\n@attribute name string\n@attribute at date\n"
        '@attribute zone date "yyyy-MM-dd HH:mm:ss.SSS Z"\n@data\n'
        "1,02.01.1970,2,'x','1970-01-01T00:01:00','1970-01-01 01:00:00.500 +0100'\n"
        "3,?,4,'y',?,?\n"
    )
    table = read_arff(path)
    assert table.feature_names == ("a", "day", "b", "at", "zone")
    assert table.X.tolist()[0] == [1.0, 86400.0, 2.0, 60.0, 0.5]
    assert np.isnan(table.X[1]).tolist() == [False, True, False, True, True]
    assert table.strings == {"name": ("x", "y")}
    frame = read_arff(path, as_frame=True).X
    assert list(frame) == ["a", "day", "b", "at", "zone"]


@pytest.mark.parametrize(
    ("kind", "row", "message"),
    [
        (
            "date 'yyyy-MM-dd'",
            "01.02.2020",
            "expected a date 'yyyy-MM-dd' for attribute 'd', found",
        ),
        ("date 'yyyy-QQ'", "2020-01", "has the part 'QQ', which is not supported"),
        ("date 'yyyy yyyy'", "'2020 2020'", "expected a date"),
        ("date yyyy MM", "2020", "expected nothing after the type"),
    ],
)
def test_dates_that_cannot_be_read(tmp_path, kind, row, message):
    path = tmp_path / "dates.arff"
    path.write_text(f"@relation r\n@attribute d {kind}\n@data\n{row}\n")
    with pytest.raises(FormatError, match=message):
        read_arff(path)


def test_dates_of_sparse_files_are_refused(tmp_path):
    path = tmp_path / "dates.arff"
    path.write_text("@relation r\n@attribute x numeric\n@attribute d date\n@data\n{0 1}\n")
    with pytest.raises(FormatError, match=r"dates are not supported in sparse files, got .* 'd'"):
        read_arff(path)
