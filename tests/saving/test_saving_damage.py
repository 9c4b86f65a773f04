"""Stored files load; damaged and malicious files raise errors."""

import json
import random
import tracemalloc
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import ramify
from ramify import ModelFileError
from ramify._core import Tree
from tests.golden.make_model import FOLDER, NAMES, make, rows
from tests.support.model_file_damage import FORGERIES, bomb, forge, pack, unpack


@pytest.fixture
def sound(tmp_path):
    path = tmp_path / "model.ramify"
    ramify.save(make("tree"), path)
    return path


def document_of(path):
    return json.loads(unpack(path.read_bytes())["model.json"])


def rewrite(path, document):
    """Replace the table of objects of a file, with correct checksums."""
    data = path.read_bytes()
    path.write_bytes(forge({**unpack(data), "model.json": json.dumps(document).encode()}, data))


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [("model.json", b'"max_depth": null', b'"max_depth": 3   '), ("manifest.json", b" ", b"  ")],
)
def test_a_member_that_was_changed_is_refused(sound, name, old, new):
    data = sound.read_bytes()
    members = unpack(data)
    changed = members[name].replace(old, new, 1)
    assert changed != members[name]
    sound.write_bytes(pack({**members, name: changed}, data))  # the zip archive itself is valid
    with pytest.raises(ModelFileError, match=f"the checksum of {name} does not match"):
        ramify.load(sound)


@pytest.mark.parametrize("name", NAMES)
def test_stored_files_load(name):
    told = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    model = ramify.load(FOLDER / f"{name}.ramify")
    assert list(model.classes_) == told["labels"]
    np.testing.assert_array_equal(model.predict_proba(rows()), told["predict_proba"])
    assert [sorted(labels) for labels in model.predict(rows())] == told["predict"]


def test_parameters_that_a_file_lacks_have_their_defaults(sound):
    document = document_of(sound)
    del document["objects"][-1]["given"]["min_weight"]
    rewrite(sound, document)
    assert ramify.load(sound).min_weight == 0.0


def test_files_of_a_later_version_ask_for_an_update(sound):
    data = sound.read_bytes()
    members = unpack(data)
    manifest = json.loads(members["manifest.json"]) | {"version": 99, "ramify": "7.0"}
    sound.write_bytes(forge({**members, "manifest.json": json.dumps(manifest).encode()}, data))
    with pytest.raises(
        ModelFileError, match=r"written by ramify 7.0 in format version 99.* Update ramify"
    ):
        ramify.load(sound)


@pytest.mark.parametrize("damage", FORGERIES, ids=lambda damage: damage.__name__)
def test_forgeries_do_not_allocate_memory(damage, sound):
    data = sound.read_bytes()
    tracemalloc.start()
    for seed in range(20):
        sound.write_bytes(damage(random.Random(seed), data))
        tracemalloc.reset_peak()
        with suppress(ModelFileError):
            ramify.load(sound)
        assert tracemalloc.get_traced_memory()[1] < 50 << 20
    tracemalloc.stop()


def test_zip_bombs_are_rejected_before_decompression(sound):
    data = sound.read_bytes()
    bombs = (bomb(random.Random(seed), data) for seed in range(99))
    sound.write_bytes(next(made for made in bombs if len(made) > 200_000))
    tracemalloc.start()
    with pytest.raises(ModelFileError, match="declare"):
        ramify.load(sound)
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"class": "os.system"}, "unknown class 'os.system'"),
        ({"class": "subprocess.Popen"}, "unknown class"),
        ({"class": "HierarchicalClassifier"}, "unknown class|abstract"),
        ({"kind": "pickle"}, "unknown kind 'pickle'"),
    ],
)
def test_a_file_cannot_choose_what_runs(change, message, sound):
    document = document_of(sound)
    document["objects"][-1] |= change
    rewrite(sound, document)
    with pytest.raises(ModelFileError, match=message):
        ramify.load(sound)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("predict", "x", "no fitted attribute 'predict'"),
        ("__class__", "x", "no fitted attribute '__class__'"),
        ("feature_importances_", 1, "no fitted attribute 'feature_importances_'"),
        ("tree_", None, "tree_ must be a tree, got None"),
        ("n_features_in_", 7, "schema_ and n_features_in_ do not fit together"),
        ("n_features_in_", 0, "n_features_in_ must be at least 1, got 0"),
        ("n_features_in_", True, "n_features_in_ must be an integer, got True"),
        ("format_", 7, "format_ must be a LabelFormat, got 7"),
        ("hierarchy_", None, "hierarchy_ must be a Hierarchy, got None"),
    ],
)
def test_fitted_attributes_are_checked(name, value, message, sound):
    document = document_of(sound)
    document["objects"][-1]["fitted"][name] = value
    rewrite(sound, document)
    with pytest.raises(ModelFileError, match=message):
        ramify.load(sound)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"given": 7}, "object {last}, of kind 'instance', has no valid 'given'"),
        ({"class": None}, "has no valid 'class'"),
        ({"given": {"depth": 7}}, "PCTClassifier has no parameter 'depth'"),
        ({"class": "FeatureSchema", "given": {}}, "FeatureSchema lacks n_categories"),
        ({"kind": ["array"]}, "unknown kind \\['array'\\]"),
        ({"given": {"w0": {"$dict": [7]}}}, "a dict must be a list of pairs"),
        ({"given": {"w0": {"$dict": [[[], 1]]}}}, "a key that can change"),
        ({"given": {"w0": {"$float": "one"}}}, "a value of unknown type '\\$float'"),
    ],
)
def test_messages_are_about_the_file_and_not_the_code(entry, message, sound):
    document = document_of(sound)
    document["objects"][-1] |= entry
    rewrite(sound, document)
    last = len(document["objects"]) - 1
    with pytest.raises(ModelFileError, match=f"{message.format(last=last)}. Copy or save"):
        ramify.load(sound)


def test_a_tree_whose_node_has_two_parents_is_refused(tmp_path):
    model, path = make("tree"), tmp_path / "model.ramify"
    names = [name for name in dir(Tree) if isinstance(getattr(model.tree_, name), np.ndarray)]
    arrays = {name: getattr(model.tree_, name).copy() for name in names}
    arrays["child"][-2] = arrays["child"][-1]
    model.tree_ = Tree(arrays)
    ramify.save(model, path)
    with pytest.raises(ModelFileError, match="two parents"):
        ramify.load(path)


def test_unused_elements_are_refused(sound):
    document = document_of(sound)
    document["objects"] = [{"kind": "object array", "shape": [0], "items": []}]
    document["root"] = {"$ref": 0}
    rewrite(sound, document)
    with pytest.raises(ModelFileError, match="unused elements"):
        ramify.load(sound)


def test_content_other_than_an_estimator_is_rejected(tmp_path, sound):
    data = sound.read_bytes()
    members = unpack(data)
    manifest = json.loads(members["manifest.json"])
    manifest["members"] = {"model.json": {}}
    kept = {
        "manifest.json": json.dumps(manifest).encode(),
        "model.json": b'{"objects":[],"root":3}',
    }
    sound.write_bytes(forge(kept, data))
    with pytest.raises(ModelFileError, match="not an estimator"):
        ramify.load(sound)


@pytest.mark.parametrize(
    "content", [b"", b"PK\x05\x06" + bytes(18), b"\x80\x04K\x01.", b"{}"], ids=repr
)
def test_other_files_are_refused(content, tmp_path):
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match="not a valid ramify model file"):
        ramify.load(path)


def test_another_zip_archive_is_refused(tmp_path):
    path = tmp_path / "other.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("hello.txt", "hello")
    with pytest.raises(
        ModelFileError, match=r"other\.zip is not a valid .* contain manifest\.json"
    ):
        ramify.load(str(path))


def test_a_file_that_cannot_be_opened_raises_an_os_error(tmp_path):
    with pytest.raises(OSError, match="directory"):
        ramify.load(Path(tmp_path))
