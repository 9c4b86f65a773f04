"""`read_arff` reads back what `write_arff` writes, and corrupt files raise clear errors."""

import gzip
import random
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from ramify import Hierarchy
from ramify.io import FormatError, read_arff, write_arff
from tests.support.budget import budget

ODD = "ab ,'\"\\%{}?@\t\n\r/.éß→0-"
NAMES = st.text(ODD, min_size=1, max_size=6) | st.text(min_size=1, max_size=6)
VALUES = st.text(ODD, max_size=4) | st.text(max_size=4)
SEGMENTS = st.text("ab ,'\"\\%{}é0.-\n", min_size=1, max_size=4)
NUMBERS = st.floats() | st.sampled_from([0.0, 1.0, -0.0, 0.1, 1e-300, 5e-324, 1e300])


class Sample(NamedTuple):
    """The data written and expected to be read back."""

    X: np.ndarray
    y: sparse.csr_array | None
    hierarchy: Hierarchy | None
    names: list
    categories: dict
    weights: np.ndarray | None


@st.composite
def hierarchies(draw):
    kind = draw(st.sampled_from(["tree", "dag", "named tree", "flat"]))
    if kind == "tree":
        paths = st.lists(SEGMENTS, min_size=1, max_size=3).map("/".join)
        return Hierarchy.from_paths(draw(st.lists(paths, min_size=1, max_size=6)))
    labels = draw(st.lists(SEGMENTS, min_size=1, max_size=6, unique=True))
    if kind == "flat":
        return Hierarchy.from_labels(labels)
    edges = [("root", labels[0])]
    for i, label in enumerate(labels[1:], start=1):
        most = 3 if kind == "dag" else 1
        above = draw(st.lists(st.integers(-1, i - 1), min_size=1, max_size=most, unique=True))
        edges += [("root" if at < 0 else labels[at], label) for at in above]
    return Hierarchy.from_edges(edges, root="root")


@st.composite
def samples(draw):
    n_rows = draw(st.integers(0, 5))
    names = draw(st.lists(NAMES, max_size=4, unique=True))
    domains = st.none() | st.lists(VALUES, min_size=1, max_size=4, unique=True).map(tuple)
    categories = {name: values for name in names if (values := draw(domains)) is not None}

    def column(name):
        if name not in categories:
            return st.lists(NUMBERS, min_size=n_rows, max_size=n_rows)
        codes = st.just(np.nan) | st.integers(0, len(categories[name]) - 1).map(float)
        return st.lists(codes, min_size=n_rows, max_size=n_rows)

    columns = [draw(column(name)) for name in names]
    X = np.array(columns, dtype=float).reshape(len(names), n_rows).T
    hierarchy = draw(st.none() | hierarchies())
    y = None
    if hierarchy is not None:
        one = st.lists(st.sampled_from(hierarchy.labels), max_size=3)
        y = hierarchy.encode(draw(st.lists(one, min_size=n_rows, max_size=n_rows)))
    weights = st.lists(st.floats(0, 1e6), min_size=n_rows, max_size=n_rows).map(np.array)
    return Sample(X, y, hierarchy, names, categories, draw(st.none() | weights))


def write_and_read(path, sample, **options):
    options = {"feature_names": sample.names, "categories": sample.categories, **options}
    y, weights = sample.y, sample.weights
    write_arff(path, sample.X, y, sample.hierarchy, sample_weight=weights, **options)
    return read_arff(path, as_frame=False)


def assert_same(table, sample):
    assert table.feature_names == tuple(sample.names)
    assert table.categories == sample.categories
    np.testing.assert_array_equal(
        table.X.toarray() if sparse.issparse(table.X) else table.X, sample.X
    )
    if sample.weights is None or (sample.weights == 1).all():
        assert table.sample_weight is None
    else:
        np.testing.assert_array_equal(table.sample_weight, sample.weights)
    if sample.y is None:
        assert table.y is None
        return
    # Flat labels in any order are sorted when read back.
    labels = sample.hierarchy.labels
    assert set(table.hierarchy.labels) == set(labels)
    assert [table.hierarchy.parents(x) for x in labels] == list(
        map(sample.hierarchy.parents, labels)
    )
    order = table.hierarchy.indices(labels)
    np.testing.assert_array_equal(table.y.toarray()[:, order], sample.y.toarray())


# An ARFF file has at least one attribute.
SAMPLES = samples().filter(lambda sample: sample.names or sample.y is not None)


@budget(100)
@given(SAMPLES)
def test_dense_round_trip(tmp_path_factory, sample):
    path = tmp_path_factory.mktemp("arff") / "table.arff"
    assert_same(write_and_read(path, sample), sample)


@budget(100)
@given(SAMPLES, st.booleans())
def test_sparse_round_trip(tmp_path_factory, sample, from_sparse):
    path = tmp_path_factory.mktemp("arff") / "table.arff.gz"
    matrix = sparse.csr_array(sample.X) if from_sparse else sample.X
    found = write_and_read(path, sample._replace(X=matrix), sparse=True)
    assert_same(found, sample)
    assert sparse.issparse(found.X) or sample.X.shape[0] == 0


def test_frame_round_trip(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "x": [1.5, np.nan],
            "i": [3, 4],
            "b": [True, False],
            "c": pandas.Categorical(["v", None], categories=["w", "v"]),
            "t": ["b", "a"],
        }
    )
    write_arff(tmp_path / "f.arff", frame, relation="my frame")
    table = read_arff(tmp_path / "f.arff")
    assert table.name == "my frame"
    assert table.categories == {"c": ("w", "v"), "t": ("a", "b")}
    assert table.X["c"].tolist()[0] == "v"
    assert table.X["t"].tolist() == ["b", "a"]
    assert table.X["b"].tolist() == [1.0, 0.0]


def test_index_base_and_dense_rows_of_a_sparse_matrix(tmp_path):
    X = sparse.csr_array([[0, 2.0], [1, 0]])
    write_arff(tmp_path / "one.arff", X, index_base=1)
    assert (tmp_path / "one.arff").read_text().endswith("@data\n{2 2}\n{1 1}\n")
    np.testing.assert_array_equal(
        read_arff(tmp_path / "one.arff", index_base=1).X.toarray(), X.toarray()
    )
    write_arff(tmp_path / "dense.arff", X, sparse=False)
    np.testing.assert_array_equal(read_arff(tmp_path / "dense.arff").X, X.toarray())


def test_class_attribute_gets_a_free_name(tmp_path):
    hierarchy = Hierarchy.from_labels(["a"])
    write_arff(tmp_path / "t.arff", [[1.0]], [["a"]], hierarchy, feature_names=["class"])
    assert "@attribute class_ hierarchical a" in (tmp_path / "t.arff").read_text()


def test_hierarchy_is_taken_from_the_labels(tmp_path):
    write_arff(tmp_path / "t.arff", [[1.0], [2.0]], ["b/c", "a"])
    assert read_arff(tmp_path / "t.arff").hierarchy.labels == ("a", "b", "b/c")


def test_writing_is_atomic_and_reproducible(tmp_path):
    path = tmp_path / "t.arff.gz"
    write_arff(path, [[1.0]])
    first = path.read_bytes()
    write_arff(path, [[1.0]])
    assert path.read_bytes() == first
    with pytest.raises(UnicodeEncodeError):
        write_arff(path, [[1.0]], feature_names=["\ud800"])
    assert path.read_bytes() == first
    assert list(tmp_path.iterdir()) == [path]


FLAT = Hierarchy.from_labels(["a", "b"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y": [["a"], ["b"]], "hierarchy": FLAT}, "X has 1 rows, but y has 2"),
        ({"feature_names": ["p", "q"]}, "feature_names has 2 names, but X has 1 columns"),
        ({"X": [[1, 2]], "feature_names": ["p", "p"]}, "feature_names must be unique, got 'p'"),
        ({"categories": {"z": ["a"]}}, "categories must be keyed by feature names, got 'z'"),
        ({"categories": {"x0": ["a"]}}, "nominal column 'x0' of X .* from 0 to 0, .* got 1"),
        ({"X": [1.0]}, r"X must be 2-D, .*, got 1 dimension\(s\)"),
        ({"sample_weight": [1, 2]}, r"sample_weight must have shape \(1,\), got \(2,\)"),
        ({"sample_weight": [-1]}, r"sample_weight\[0\] must be finite and non-negative, got -1"),
        (
            {"y": [[]], "hierarchy": Hierarchy.from_labels(["?"])},
            r"hierarchy must not have labels that are '\?' .*, got '\?'",
        ),
        (
            {"y": [[]], "hierarchy": Hierarchy.from_labels(["a@b"])},
            "or contain '@' in ARFF files, got 'a@b'. Rename",
        ),
        (
            {"y": [[]], "hierarchy": Hierarchy.from_labels(["a/b"])},
            "or contain the separator '/' .*, got 'a/b'. Pass another separator",
        ),
        (
            {"y": [[]], "hierarchy": Hierarchy.from_edges([("root", "b")])},
            "must not have labels that are 'root' .* parent/child pairs, got 'root'",
        ),
    ],
)
def test_writer_messages(tmp_path, arguments, message):
    arguments = {"X": [[1.0]], **arguments}
    with pytest.raises(ValueError, match=message):
        write_arff(tmp_path / "t.arff", **arguments)
    assert not list(tmp_path.iterdir())


VALID = [
    b"@relation 'r s'\n@attribute x numeric\n@attribute 'n m' {a,'b c',?}\n@attribute id key\n"
    b"@attribute class hierarchical 1,1/2,3,'4 5'\n@data\n1.5,a,k1,1/2@3\n?,'b c',k2,?,{2}\n"
    b"% rows\n-1e3,?,'k\\'3',\"4 5\"\n",
    b"@relation s\n@attribute x numeric\n@attribute n {0,1}\n@attribute c hierarchical "
    b"root/a,root/b,a/d,b/d\n@data\n{0 1.25,2 d}\n{1 1,2 a@b},{0.5}\n{}\n{ 2 'a@d', 0 ? }\n",
]  # fmt: skip
WORDS = [
    b"{", b"}", b",", b"'", b'"', b"\\", b"%", b"?", b"@", b"\n", b"\r\n", b"/", b"0", b"-1",
    b"1e999", b"99999999999999999999", b"nan", b"@data\n", b"@attribute q numeric\n", b"root/",
    b"\x00", b"\xff", b"\xc3\xa9", b"\xef\xbb\xbf", b" ", b"\t", b"hierarchical ", b"classes",
]  # fmt: skip


def mutated(text, rng):
    """Apply a few random edits: delete, repeat, swap or insert bytes."""
    for _ in range(rng.randint(1, 3)):
        at, length = rng.randrange(len(text) + 1), rng.randint(1, 12)
        part = text[at : at + length]
        kind = rng.randrange(5)
        if kind == 0:
            text = text[:at] + text[at + length :]
        elif kind == 1:
            text = text[:at] + part * rng.randint(2, 5) + text[at + length :]
        elif kind == 2:
            text = text[:at] + rng.choice(WORDS) + text[at:]
        elif kind == 3:
            text = text[:at] + rng.choice(WORDS) + text[at + length :]
        else:
            text = text[:at] + bytes([rng.randrange(256)]) + text[at + 1 :]
    return text


@pytest.mark.parametrize("start", range(2))
def test_mutated_files_give_a_table_or_an_error(tmp_path, start):
    rng = random.Random(start)
    path = tmp_path / "fuzz.arff"
    n_tables = 0
    for _ in range(1000):
        path.write_bytes(mutated(VALID[start], rng))
        options = {"duplicate_names": rng.choice(["error", "rename"]), "as_frame": False}
        if rng.random() < 0.2:
            options |= {"hierarchy_type": rng.choice(["tree", "dag"]), "index_base": 1}
        try:
            table = read_arff(path, **options)
        except ValueError:
            continue
        n_tables += 1
        assert table.X.shape[1] == len(table.feature_names)
        if table.y is not None:
            assert table.y.shape == (table.X.shape[0], table.hierarchy.n_labels)
    assert n_tables > 20  # the edits are not all fatal


def test_mutated_gzip_files(tmp_path):
    rng = random.Random(0)
    packed = gzip.compress(VALID[0] * 20)
    path = tmp_path / "fuzz.arff.gz"
    for _ in range(100):
        path.write_bytes(packed[:2] + mutated(packed[2:], rng))
        with pytest.raises(FormatError):
            read_arff(path)
