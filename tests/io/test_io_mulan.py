"""Mulan data sets: an ARFF file with an XML file of labels."""

import gzip

import pytest

from ramify.io import FormatError, read_mulan

ARFF = """@relation r
@attribute c {0,1}
@attribute x numeric
@attribute a {0,1}
@attribute b {0,1}
@data
0,1.5,0,1
1,2.5,0,0
0,3.5,0,0
"""
NAMESPACE = 'xmlns="http://mulan.sourceforge.net/labels"'
FLAT = f'<labels {NAMESPACE}><label name="b"/><label name="c"></label></labels>'
NESTED = f"""<?xml version="1.0" encoding="utf-8"?>
<labels {NAMESPACE}>
  <label name="c"/>
  <label name="a"><label name="b"/></label>
</labels>
"""


@pytest.fixture
def read(tmp_path):
    def read_texts(arff, xml, **options):
        paths = tmp_path / "r.arff", tmp_path / "r.xml"
        for path, text in zip(paths, (arff, xml), strict=True):
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_mulan(*paths, **options)

    return read_texts


def test_flat_labels_keep_the_order_of_the_xml(read):
    table = read(ARFF, FLAT, as_frame=False)
    assert table.hierarchy.labels == ("b", "c")
    assert table.hierarchy.depth == 1
    assert table.y.toarray().tolist() == [[1, 0], [0, 1], [0, 0]]
    assert table.feature_names == ("x", "a")
    assert table.X.tolist() == [[1.5, 0], [2.5, 0], [3.5, 0]]


def test_nested_labels_are_a_closed_tree(read):
    table = read(ARFF, NESTED)
    assert table.hierarchy.labels == ("a", "b", "c")
    assert table.hierarchy.parents("b") == ("a",)
    assert table.y.toarray().tolist() == [[1, 1, 0], [0, 0, 1], [0, 0, 0]]
    assert table.X.tolist() == [[1.5], [2.5], [3.5]]


def test_sparse_rows(read):
    rows = "{3 1,1 1.5}\n{0 1}\n{}\n"
    table = read(ARFF.split("0,1.5", maxsplit=1)[0] + rows, NESTED)
    assert table.y.toarray().tolist() == [[1, 1, 0], [0, 0, 1], [0, 0, 0]]
    assert table.X.toarray().tolist() == [[1.5], [0], [0]]


def test_without_a_namespace_and_compressed(read):
    xml = NESTED.replace(f" {NAMESPACE}", "")
    table = read(gzip.compress(ARFF.encode()), gzip.compress(xml.encode()))
    assert table.hierarchy.n_labels == 3


def test_encoding_of_the_xml(read):
    arff = ARFF.replace("attribute b", "attribute größe")
    xml = '<?xml version="1.0" encoding="latin-1"?><labels><label name="größe"/></labels>'
    assert read(arff, xml.encode("latin-1")).hierarchy.labels == ("größe",)


def test_deep_nesting_needs_no_recursion(read):
    depth = 3000
    header = "".join(f"@attribute l{i} {{0,1}}\n" for i in range(depth))
    xml = "".join(f'<label name="l{i}">' for i in range(depth)) + "</label>" * depth
    table = read(f"{header}@data\n{{{depth - 1} 1}}\n", f"<labels>{xml}</labels>")
    assert table.hierarchy.depth == depth
    assert table.y.sum() == depth


BOMB = """<!DOCTYPE labels [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>
<labels><label name="&b;"/></labels>"""


@pytest.mark.parametrize(
    ("xml", "message"),
    [
        (BOMB, "line 1, column 18: expected no DOCTYPE, because it could define entities"),
        ("<labels>", "r.xml, line 1, column 9: expected well-formed XML, .*no element found"),
        ("", "expected well-formed XML"),
        (
            "<labels><label/></labels>",
            "column 9: expected an attribute name of <label>, found none",
        ),
        ("<tags/>", "column 1: expected an element <labels>, found <tags>"),
        ("<labels><tag/></labels>", "column 9: expected an element <label>, found <tag>"),
        ("<labels></labels>", "r.xml: expected at least one <label>, found none"),
        (FLAT.replace('"c"', '"b"'), "expected unique labels, found 'b' more than once"),
        (FLAT.replace('"c"', '"cc"'), "target must name attributes of .*r.arff, got 'cc'.*'c'"),
        (FLAT.replace('"c"', '"x"'), "expected 0 or 1 for target 'x', found 1.5"),
    ],
)
def test_messages(read, xml, message):
    with pytest.raises(ValueError, match=message):
        read(ARFF, xml)


def test_errors_of_the_data_name_the_file(read):
    with pytest.raises(FormatError, match=r"r.arff, line 7, column 1: .* one of \{0,1\}"):
        read(ARFF.replace("0,1.5", "2,1.5"), FLAT)
