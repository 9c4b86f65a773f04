"""Fetching data sets from a folder, the cache and the network, and all errors."""

import gzip
import hashlib
import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from ramify.datasets import fetch, list_datasets, registry
from ramify.datasets.fetching import describe
from ramify.datasets.registry import DataFile, Entry, Source, find_entry, load_registry

ARFF = """@relation toy
@attribute size numeric
@attribute colour {red,green}
@attribute class hierarchical a/b,a/c,d
@data
"""
TEXTS = {
    "train": ARFF + "1.5,red,a/b@d\n?,green,a\n",
    "test": ARFF + "2,?,a/c\n",
}


def sha(content):
    return hashlib.sha256(content).hexdigest()


def toy_file(split, status="original", suffix=""):
    text = TEXTS[split].encode()
    packed = gzip.compress(text, mtime=0)
    return DataFile(
        path=f"toy/toy.{split}.arff.gz",
        split=split,
        rows=text.count(b"\n") - 5,
        status=status,
        bytes=len(packed),
        sha256=sha(packed),
        text_bytes=len(text),
        text_sha256=sha(text),
        sources=(Source("github.com/some/data", "c0ffee", f"toy/{split}.arff{suffix}"),),
    )


def toy_entry(**of_files):
    return Entry(
        name="toy",
        domain="toys",
        format="arff",
        rows=3,
        numeric=1,
        nominal=1,
        missing_cells=2,
        sparse=False,
        labels={
            "hierarchy": "tree",
            "nodes": 4,
            "depth": 2,
            "most_specific_labels_per_example": 1.33,
        },
        notes=("Made up.",),
        files=(toy_file("train", **of_files), toy_file("test", **of_files)),
    )


@pytest.fixture
def clean(monkeypatch, tmp_path):
    """No data folder, an empty cache and a registry with one toy data set."""
    monkeypatch.delenv("RAMIFY_DATA", raising=False)
    monkeypatch.setenv("RAMIFY_CACHE", str(tmp_path / "cache"))
    use(monkeypatch, toy_entry())
    return tmp_path


def use(monkeypatch, entry):
    known = {**load_registry(), entry.name: entry}
    monkeypatch.setattr(registry, "load_registry", lambda: known)


class Web:
    """Replaces pooch's downloader: serves content by URL and records the requests."""

    def __init__(self, monkeypatch, contents=None):
        pooch = pytest.importorskip("pooch")
        self.contents = contents or {}
        self.asked = []
        monkeypatch.setattr(pooch, "HTTPDownloader", lambda *_, **__: self.download)

    def download(self, url, output_file, _pooch):
        self.asked.append(url)
        if url not in self.contents:
            raise ConnectionError("Network is unreachable")
        Path(output_file).write_bytes(self.contents[url])


def web_of(monkeypatch, entry):
    return Web(monkeypatch, {file.url: TEXTS[file.split].encode() for file in entry.files})


def fill(folder, packed=True, splits=("train", "test")):
    for split in splits:
        path = folder / "toy" / f"toy.{split}.arff{'.gz' if packed else ''}"
        path.parent.mkdir(parents=True, exist_ok=True)
        text = TEXTS[split].encode()
        path.write_bytes(gzip.compress(text, mtime=0) if packed else text)


def check_toy(data):
    assert data.X.shape == (3, 2)
    assert data.hierarchy.labels == ("a", "a/b", "a/c", "d")
    assert data.hierarchy.decode(data.y) == [("a/b", "d"), ("a",), ("a/c",)]
    assert {name: rows.tolist() for name, rows in data.splits.items()} == {
        "train": [0, 1],
        "test": [2],
    }
    assert data.y_train.toarray().tolist() == [[1, 1, 0, 1], [1, 0, 0, 0]]
    assert data.X_test.shape == (1, 2)
    assert data.categories == {"colour": ("red", "green")}
    assert "Made up." in data.description


@pytest.mark.parametrize("packed", [True, False])
def test_reads_from_the_named_folder(clean, monkeypatch, packed):
    fill(clean / "mine", packed)
    monkeypatch.setenv("RAMIFY_DATA", str(clean / "mine"))
    web = Web(monkeypatch)
    data = fetch("toy")
    check_toy(data)
    assert data.X["colour"].tolist()[:2] == ["red", "green"]
    assert web.asked == []


def test_codes_without_a_frame(clean, monkeypatch):
    fill(clean / "mine")
    monkeypatch.setenv("RAMIFY_DATA", str(clean / "mine"))
    monkeypatch.setitem(sys.modules, "pandas", None)
    X = fetch("toy", as_frame=False).X
    np.testing.assert_array_equal(X, [[1.5, 0], [np.nan, 1], [2, np.nan]])


def test_downloads_once_then_uses_the_cache(clean, monkeypatch):
    web = web_of(monkeypatch, toy_entry())
    check_toy(fetch("toy"))
    assert web.asked == [
        "https://raw.githubusercontent.com/some/data/c0ffee/toy/train.arff",
        "https://raw.githubusercontent.com/some/data/c0ffee/toy/test.arff",
    ]
    check_toy(fetch("toy"))
    assert len(web.asked) == 2
    kept = sorted(path.name for path in (clean / "cache").rglob("*") if path.is_file())
    assert kept == ["toy.test.arff.gz", "toy.train.arff.gz"]


def test_unzips_zipped_sources(clean, monkeypatch):
    entry = toy_entry(suffix=".zip")
    use(monkeypatch, entry)
    contents = {}
    for file in entry.files:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr("__MACOSX/._toy.arff", b"junk")
            archive.writestr(f"toy.{file.split}.arff", TEXTS[file.split])
        contents[file.url] = buffer.getvalue()
    Web(monkeypatch, contents)
    check_toy(fetch("toy"))


def test_download_that_is_not_an_archive(clean, monkeypatch):
    entry = toy_entry(suffix=".zip")
    use(monkeypatch, entry)
    Web(monkeypatch, {file.url: b"<html>moved</html>" for file in entry.files})
    with pytest.raises(ValueError, match=r"train\.arff\.zip is not a zip archive with exactly"):
        fetch("toy")


def test_files_missing_from_the_folder_come_from_the_cache_or_the_network(clean, monkeypatch):
    fill(clean / "mine", splits=["train"])
    monkeypatch.setenv("RAMIFY_DATA", str(clean / "mine"))
    web = web_of(monkeypatch, toy_entry())
    check_toy(fetch("toy"))
    assert [url.rsplit("/", 1)[1] for url in web.asked] == ["test.arff"]


def test_only_the_wanted_split_is_read(clean, monkeypatch):
    web = web_of(monkeypatch, toy_entry())
    data = fetch("toy", split="test")
    assert len(web.asked) == 1
    assert data.X.shape == (1, 2)
    assert list(data.splits) == ["test"]
    assert fetch("toy", split=["test", "train"]).X.shape == (3, 2)


def test_offline_says_what_to_do(clean, monkeypatch):
    Web(monkeypatch)
    with pytest.raises(OSError, match="Network is unreachable") as caught:
        fetch("toy")
    message = str(caught.value)
    assert "https://raw.githubusercontent.com/some/data/c0ffee/toy/train.arff" in message
    assert "toy/toy.train.arff or toy/toy.train.arff.gz" in message
    assert "RAMIFY_DATA" in message
    assert not [path for path in (clean / "cache").rglob("*") if path.is_file()]


def test_without_pooch_the_error_names_the_extra(clean, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(ImportError, match=r"ramify\[data\].*RAMIFY_DATA"):
        fetch("toy")
    monkeypatch.delenv("RAMIFY_CACHE")
    with pytest.raises(ImportError, match=r"ramify\[data\]"):
        fetch("toy")


def test_without_pooch_a_folder_is_enough(clean, monkeypatch):
    fill(clean / "mine")
    monkeypatch.setenv("RAMIFY_DATA", str(clean / "mine"))
    monkeypatch.setitem(sys.modules, "pooch", None)
    check_toy(fetch("toy"))


def test_default_cache_is_the_users(clean, monkeypatch):
    pooch = pytest.importorskip("pooch")
    monkeypatch.delenv("RAMIFY_CACHE")
    monkeypatch.setattr(pooch, "os_cache", lambda name: clean / "os" / name)
    web_of(monkeypatch, toy_entry())
    fetch("toy")
    assert (clean / "os" / "ramify" / "toy" / "toy.train.arff.gz").is_file()


def test_wrong_checksum_of_a_file_names_both_sums(clean, monkeypatch):
    fill(clean / "mine")
    path = clean / "mine" / "toy" / "toy.train.arff.gz"
    changed = TEXTS["train"].replace("1.5", "1.6").encode()
    path.write_bytes(gzip.compress(changed))
    monkeypatch.setenv("RAMIFY_DATA", str(clean / "mine"))
    with pytest.raises(ValueError, match="does not match the registry") as caught:
        fetch("toy")
    assert sha(changed) in str(caught.value)
    assert toy_file("train").text_sha256 in str(caught.value)
    assert str(path) in str(caught.value)


def test_wrong_checksum_of_a_download_keeps_nothing(clean, monkeypatch):
    Web(monkeypatch, {file.url: b"<html>moved</html>" for file in toy_entry().files})
    with pytest.raises(ValueError, match=sha(b"<html>moved</html>")):
        fetch("toy")
    assert not [path for path in (clean / "cache").rglob("*") if path.is_file()]


@pytest.mark.parametrize("status", ["rebuilt", "converted"])
def test_converted_files_cannot_be_downloaded(clean, monkeypatch, status):
    use(monkeypatch, toy_entry(status=status))
    web = Web(monkeypatch)
    with pytest.raises(FileNotFoundError, match=f"status is '{status}'.*set RAMIFY_DATA"):
        fetch("toy")
    assert web.asked == []


def test_folder_that_does_not_exist(clean, monkeypatch):
    monkeypatch.setenv("RAMIFY_DATA", str(clean / "nowhere"))
    with pytest.raises(FileNotFoundError, match=r"RAMIFY_DATA must be a folder, got .*nowhere'"):
        fetch("toy")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("celcycle_FUN", "unknown data set 'celcycle_FUN'.*'cellcycle_FUN'"),
        ("Emotions", "'emotions'"),
        ("gasch", "'gasch1_FUN'"),
        ("qqqq", "unknown data set 'qqqq'. Use ramify.list_datasets"),
        ("soil_quality_mtr", "'soil_quality_mtr' has only numeric targets"),
    ],
)
def test_wrong_names(name, message):
    with pytest.raises(ValueError, match=message):
        fetch(name)


def test_wrong_splits():
    with pytest.raises(ValueError, match=r"split must be among .* 'emotions', .*, got 'tset'.*\?"):
        fetch("emotions", split="tset")
    with pytest.raises(ValueError, match=r"split must name at least one split, got \[\]"):
        fetch("emotions", split=[])


def test_list_is_sorted_and_complete():
    listed = list_datasets()
    names = [data.name for data in listed]
    assert names == sorted(names)
    assert len(names) == 39
    assert "soil_quality_mtr" not in names
    by_name = {data.name: data for data in listed}
    assert by_name["cellcycle_GO"].hierarchy == "DAG"
    assert by_name["cellcycle_GO"].download
    assert not by_name["church_GO"].download
    assert not by_name["rcv1v2_subset1"].download
    assert by_name["enron_mulan"].splits == ("train", "test")


def test_every_entry_has_a_description():
    for data in list_datasets():
        text = describe(find_entry(data.name))
        assert str(data.rows) in text
        assert "Source: https://github.com/" in text


def test_registry_has_every_checksum_and_no_odd_url():
    for entry in load_registry().values():
        for file in entry.files:
            assert len(file.sha256) == len(file.text_sha256) == 64
            assert file.path.startswith(f"{entry.name}/{entry.name}.") or not file.split
            if file.can_download:
                assert file.url.startswith("https://raw.githubusercontent.com/")
                assert " " not in file.url


def test_registry_is_made_from_the_manifest(tmp_path):
    folder = os.environ.get("RAMIFY_DATA")
    if not folder or not Path(folder, "MANIFEST.json").is_file():
        pytest.skip("RAMIFY_DATA names no folder with a manifest")
    root = Path(__file__).parents[2]
    made = tmp_path / "registry.json"
    script = root / "tools" / "make_registry.py"
    subprocess.run([sys.executable, script, Path(folder, "MANIFEST.json"), made], check=True)
    shipped = root / "src" / "ramify" / "datasets" / "registry.json"
    assert json.loads(made.read_text()) == json.loads(shipped.read_text())
