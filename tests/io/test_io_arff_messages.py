"""Error messages of the ARFF reader: the location, what was expected and what was found."""

# ruff: noqa: E501 (one case per line)

import pytest

from ramify.io import FormatError, read_arff

TREE = "@attribute class hierarchical a,a/b,c\n"
HEADER = "@relation r\n@attribute x numeric\n@attribute 'n m' {a,b}\n" + TREE + "@data\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 0: expected @data, found the end of the file"),
        ("@relation r\n@attribute x numeric\n", "line 2: expected @data, found the end"),
        ("@data\n1\n", "line 1, column 1: expected an @attribute before @data"),
        ("hello\n", "line 1, column 1: expected @relation, @attribute or @data, found 'hello'"),
        ("\n @attrib x\n", "line 2, column 2: expected @relation, .* found '@attrib'"),
        ("@data 5\n", "line 1, column 7: expected nothing after @data, found '5'"),
        ("@attribute\n", "column 11: expected an attribute name, found the end of the line"),
        ("@attribute x\n", r"column 13: expected a type \(numeric, .* of attribute 'x', found the end"),
        ("@attribute x numerc\n", r"column 14: expected a type .* of attribute 'x', found 'numerc'"),
        ("@attribute t RELATIONAL\n", "found 'relational', which is not supported; convert it to"),
        ("@attribute x numeric 5\n", "column 22: expected nothing after the type of attribute 'x', found '5'"),
        ("@attribute 'x numeric\n", "column 12: expected a closing '"),
        ("@attribute x {a,b\n", "column 18: expected a closing } after the values of attribute 'x'"),
        ("@attribute x {a,,b}\n", "column 17: expected a value of attribute 'x', found nothing"),
        ("@attribute x {a,}\n", "column 17: expected a value of attribute 'x', found '}'"),
        ("@attribute x {a,'a'}\n", "column 17: expected distinct values of attribute 'x', found 'a' again"),
        ("@attribute x {'a' b}\n", "column 19: expected ',' after the quoted value, found 'b}'"),
        ("@attribute x real\n@attribute x real\n", "line 2, column 12: expected a unique attribute name, found 'x'.*duplicate_names='rename'"),
        (TREE + TREE.replace("class", "more"), "line 2, column 17: expected only one label attribute, found a second"),
        ("@attribute c hierarchical\n", "column 26: expected a label, found nothing"),
        ("@attribute c hierarchical a,,b\n", "column 29: expected a label, found nothing"),
        ("@attribute c hierarchical a,b//c\n@data\n", "line 1, column 29: expected a label without empty segments, found 'b//c'"),
        ("@attribute c hierarchical /a\n@data\n", "column 27: expected a label without empty segments, found '/a'"),
        (HEADER + "abc,a,c\n", "line 6, column 1: expected a number for attribute 'x', found 'abc'"),
        (HEADER + "1,a,c\n 1x ,a,c\n", "line 7, column 2: expected a number for attribute 'x', found '1x'"),
        (HEADER + ",a,c\n", r"column 1: expected a number for attribute 'x', found nothing; write \?"),
        (HEADER + "1e999,a,c\n", "column 1: expected a number in the range of a 64-bit float for attribute 'x'"),
        (HEADER + "1,d,c\n", r"line 6, column 3: expected one of \{a,b\} for attribute 'n m', found 'd'"),
        (HEADER + "1,ab,c\n", r"column 3: expected one of \{a,b\} for attribute 'n m', found 'ab'"),
        (HEADER + "1,,c\n", r"column 3: expected one of \{a,b\} for attribute 'n m', found nothing"),
        (HEADER + "1,a\n", "line 6, column 4: expected 3 values, found 2"),
        (HEADER + "a,c\n", "line 6, column 4: expected 3 values, found 2"),
        (HEADER + "1,a,c,7\n", "line 6, column 7: expected 3 values, found 4"),
        (HEADER + "1,a,c,\n", "line 6, column 7: expected 3 values, found 4"),
        (HEADER + "1,2,a,c,{2}\n", "line 6, column 7: expected 3 values, found 4"),
        (HEADER + "1,{2}\n", "line 6, column 3: expected 3 values, found 1"),
        (HEADER + "1,a,c,{x}\n", "column 8: expected a weight of 0 or more, found 'x'"),
        (HEADER + "1,a,c,{-1}\n", "column 8: expected a weight of 0 or more, found '-1'"),
        (HEADER + "1,a,c,{1\n", "column 9: expected a closing } after the weight"),
        (HEADER + "1,a,c,{1} 2\n", "column 11: expected nothing after the weight, found '2'"),
        (HEADER + "1,'a,c\n", "column 3: expected a closing '"),
        (HEADER + "1,'a'b,c\n", "column 6: expected ',' after the quoted value, found 'b,c'"),
        (HEADER + "1,a,z\n", "line 6, column 5: expected one of the 3 labels of the hierarchy, found 'z'"),
        (HEADER + "1,a,a@a/c\n", "line 6, column 7: .* found 'a/c'.*Did you mean 'a/b'"),
        (HEADER + "1,a,a@@c\n", "line 6, column 7: expected a label without empty segments, found ''"),
        (HEADER + "1,a,c@\n", "line 6, column 7: expected a label without empty segments, found ''"),
        (HEADER + "1,a,a//b\n", "column 5: expected a label without empty segments, found 'a//b'"),
        (HEADER + "1,a,c\n{0 1}\n", r"line 7, column 1: expected a dense row of values as in line 6, found '\{0 1\}'"),
        (HEADER + "{0 1}\n1,a,c\n", r"line 7, column 1: expected a sparse row \{index value,...\} as in line 6"),
        (HEADER + "{3 1}\n", "line 6, column 2: expected an attribute index from 0 to 2, a blank and a value, found '3 1}'; pass index_base=1 .* if indices start at 1, as in CLUS"),
        (HEADER + "{-1 1}\n", "expected an attribute index from 0 to 2"),
        (HEADER + "{99999999999999999999 1}\n", "expected an attribute index from 0 to 2"),
        (HEADER + "{0,1}\n", "expected an attribute index from 0 to 2"),
        (HEADER + "{0 1,0 2}\n", "column 6: expected each attribute at most once in a sparse row, found index 0 again"),
        (HEADER + "{0 1\n", "column 5: expected a closing } at the end of the sparse row"),
        (HEADER + "{0 x}\n", "column 4: expected a number for attribute 'x', found 'x'"),
        (HEADER + "{1 d}\n", r"column 4: expected one of \{a,b\} for attribute 'n m', found 'd'"),
        (HEADER + "{0 1} 5\n", "column 7: expected nothing after the sparse row, found '5'"),
        (HEADER + "{0 1},5\n", r"column 7: expected a weight in braces such as \{2.5\}, found '5'"),
    ],
)  # fmt: skip
def test_messages(tmp_path, text, message):
    path = tmp_path / "data.arff"
    path.write_text(text)
    with pytest.raises(FormatError, match=message) as caught:
        read_arff(path)
    assert str(caught.value).startswith(f"{path}, line ")


@pytest.fixture
def read(tmp_path):
    def read_text(text, **options):
        path = tmp_path / "data.arff"
        path.write_text(text)
        return read_arff(path, **options)

    return read_text


def test_index_base_is_suggested(read):
    with pytest.raises(FormatError, match=r"an attribute index from 1 to 1.*; pass index_base=0"):
        read("@attribute x numeric\n@data\n{0 1}\n", index_base=1)


def test_columns_count_characters(read):
    with pytest.raises(FormatError, match=r"column 4: .* found 'ß'"):
        read("@attribute n {ä,é}\n@attribute m {ä}\n@data\n ä,ß\n")


def test_messages_shorten_long_values(read):
    with pytest.raises(FormatError, match=r"found 'é{30}\.\.\.'$"):
        read("@attribute x numeric\n@data\n" + "é" * 200 + "\n")
    values = ",".join(f"v{i}" for i in range(25))
    with pytest.raises(FormatError, match=r"one of \{v0,.*,v19,\.\.\. \(5 more\)\} for"):
        read(f"@attribute x {{{values}}}\n@data\nw\n")


@pytest.mark.parametrize(
    ("edges", "message"),
    [("root/a,a/b,b/a", "cycle"), ("root/a,a/b/c", "expected a pair parent/child, found 'a/b/c'")],
)
def test_impossible_dags(read, edges, message):
    with pytest.raises(FormatError, match=rf"data.arff.*{message}"):
        read(f"@attribute c hierarchical {edges}\n@data\n", hierarchy_type="dag")
