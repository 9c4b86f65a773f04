"""Limits on data files: sizes after decompression, columns, cells, categories, labels, depth."""

from __future__ import annotations

import gzip
import re

import numpy as np
import pytest

from ramify import Hierarchy
from ramify.apps.reading.any_file import DataOptions, read_data, read_hierarchy
from ramify.io import FormatError, ReadLimits, read_mulan, read_obo, read_table
from tests.support.cli_runs import run

ARFF = """@relation pets
@attribute size numeric
@attribute colour {brown,white,black}
@attribute class hierarchical bird/owl/snowy,mammal/cat,mammal/dog
@data
3.5,brown,mammal/dog
?,white,mammal/cat@bird
"""
CSV = "size,colour,labels\n3.5,brown,mammal/dog;bird/owl/snowy\n1,white,mammal/cat\n2,black,\n"


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("max_bytes", 100, r"size of the content in bytes must be at most 100, got \d+"),
        ("max_columns", 2, "number of (columns|attributes) must be at most 2, got 3"),
        ("max_categories", 2, "values of (column|attribute) 'colour' must be at most 2, got 3"),
        ("max_labels", 5, "number of labels must be at most 5, got 6"),
        ("max_depth", 2, "segments of a label must be at most 2, got 3"),
        ("max_cells", 5, "rows times the number of columns must be at most 5"),
    ],
)
@pytest.mark.parametrize("suffix", [".arff", ".arff.gz", ".csv", ".csv.gz", ".parquet"])
def test_limits_are_checked_and_adjustable(name, value, found, suffix, tmp_path):
    path = tmp_path / f"pets{suffix}"
    if suffix == ".parquet":
        pandas = pytest.importorskip("pandas")
        pytest.importorskip("pyarrow")
        plain = tmp_path / "pets.csv"
        plain.write_text(CSV)
        pandas.read_csv(plain).to_parquet(path)
    else:
        text = (ARFF if ".arff" in suffix else CSV).encode()
        path.write_bytes(gzip.compress(text) if suffix.endswith(".gz") else text)
    if name == "max_bytes" and ".csv" in suffix:
        value = 50
        found = found.replace("100", "50")
    if name == "max_cells" and ".arff" in suffix:
        return  # all rows of an ARFF file are complete
    read_data(path)
    with pytest.raises(FormatError, match=found) as raised:
        read_data(path, options=DataOptions(limits=ReadLimits(**{name: value})))
    assert str(path) in str(raised.value)
    larger = re.search(rf"--limit {name}=(\d+)", str(raised.value))
    assert larger is not None


def test_a_gzip_bomb_is_refused_while_it_is_read(tmp_path):
    path = tmp_path / "bomb.csv.gz"
    zeros = gzip.compress(b"0" * (10 << 20))
    path.write_bytes(gzip.compress(b"a,labels\n") + 30 * zeros)
    assert path.stat().st_size < 1 << 20
    with pytest.raises(FormatError, match="ratio of decompressed to compressed size must be at"):
        read_table(path)


@pytest.mark.parametrize("module", ["gzip", "bz2", "lzma"])
def test_compressed_ontologies_are_limited(module, tmp_path):
    pytest.importorskip("obonet")
    compress = pytest.importorskip(module).compress
    suffix = {"gzip": ".gz", "bz2": ".bz2", "lzma": ".xz"}[module]
    path = tmp_path / f"pets.obo{suffix}"
    path.write_bytes(compress(b"ontology: pets\n\n[Term]\nid: P:1\nname: pet\n"))
    assert read_obo(path).labels == ("P:1",)
    assert read_hierarchy(path).labels == ("P:1",)
    with pytest.raises(FormatError, match="content in bytes must be at most 20, got 4"):
        read_obo(path, limits=ReadLimits(max_bytes=20))
    path.write_bytes(compress(b"ontology: pets\n")[:-9])
    with pytest.raises(FormatError, match="the compressed file is corrupt"):
        read_obo(path)


def test_xml_labels_are_limited(tmp_path):
    arff, xml = tmp_path / "pets.arff", tmp_path / "pets.xml"
    arff.write_text("@relation p\n@attribute a {0,1}\n@attribute b {0,1}\n@data\n0,1\n")
    xml.write_text('<labels><label name="a"/><label name="b"/></labels>')
    assert read_mulan(arff, xml).hierarchy.labels == ("a", "b")
    with pytest.raises(FormatError, match="number of labels must be at most 1, got 2"):
        read_mulan(arff, xml, limits=ReadLimits(max_labels=1))


def test_short_rows_do_not_fill_a_wide_table(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text(",".join(f"c{i}" for i in range(30_000)) + ",labels\n" + "1\n" * 30_000)
    with pytest.raises(FormatError, match="rows times the number of columns must be at most"):
        read_table(path)


@pytest.mark.parametrize("text", ["max_byte=1", "max_bytes", "max_bytes=x", "max_bytes=-1"])
def test_invalid_limits_name_the_valid_ones(text):
    with pytest.raises(ValueError, match=f"a limit must be one of max_bytes.*got '{text}'"):
        ReadLimits.from_settings([text])


def test_limits_must_be_positive():
    with pytest.raises(ValueError, match="max_depth must be an integer >= 1, got 0"):
        ReadLimits(max_depth=0)


def test_the_command_line_takes_limits(tmp_path):
    path = tmp_path / "pets.csv"
    path.write_text(CSV)
    refused = run("train", path, "--limit", "max_depth=2", "-o", tmp_path / "m.ramify")
    assert refused.exit_code == 2
    assert "--limit max_depth=3" in refused.output


def test_deep_rows_are_refused_before_they_fill_the_memory(monkeypatch):
    monkeypatch.setattr("ramify.labels.graph._MAX_CLOSED", 5_000_000)
    n_labels = 2_000
    chain = Hierarchy(range(n_labels), (np.r_[0, np.arange(n_labels)], np.arange(n_labels - 1)))
    with pytest.raises(MemoryError, match="3000 rows have more than 5000000 labels together"):
        chain.encode([[n_labels - 1]] * 3_000)


def test_memory_errors_name_the_file(tmp_path, monkeypatch):
    path = tmp_path / "pets.csv"
    path.write_text(CSV)

    def fail(*_):
        raise MemoryError

    monkeypatch.setattr("ramify.io.tables.csv_files.read_bytes", fail)
    with pytest.raises(MemoryError, match=f"{path}: not enough memory to read the file"):
        read_table(path)
    refused = run("train", path, "-o", tmp_path / "m.ramify")
    assert refused.exit_code == 2
    assert "not enough memory" in refused.output
    assert "Traceback" not in refused.output
