"""Keys of stored results follow the code that a cell runs, not the files it lies in."""

from __future__ import annotations

import runpy
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import ramify
from ramify import _core
from ramify.studies.identity import digest_code
from ramify.studies.plan import ModelSpec

PACKAGE = Path(ramify.__file__).parent
TREE = ModelSpec("tree", "Tree", "tree")
FOREST = ModelSpec("forest", "Forest", "forest")
EDGES = ModelSpec("edges", "Edges", "per-edge")
NEIGHBOURS = ModelSpec("neighbours", "Neighbours", "ml-knn")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the package's source that a test may change."""
    python_only = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__", "papers", "*.json")
    return Path(shutil.copytree(PACKAGE, tmp_path / "ramify", ignore=python_only))


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def append(path: Path, code: str) -> None:
    path.write_text(path.read_text(encoding="utf-8") + code, encoding="utf-8")


def rename(package: Path, old: str, new: str) -> None:
    """Move a module and rewrite every import of it."""
    target = package.parent.joinpath(*new.split(".")).with_suffix(".py")
    target.parent.mkdir(exist_ok=True)
    package.parent.joinpath(*old.split(".")).with_suffix(".py").rename(target)
    for path in package.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(f"from {old} import", f"from {new} import"), encoding="utf-8")


def test_a_copy_has_the_same_digest(copy: Path) -> None:
    for model in (TREE, FOREST, EDGES):
        assert digest_code([model], copy) == digest_code([model])


def test_comments_docstrings_layout_and_messages_do_not_count(copy: Path) -> None:
    path = copy / "decision" / "thresholds.py"
    replace(path, "def apply_threshold(", "# A comment.\n\n\ndef apply_threshold(\n")
    replace(copy / "hierarchy" / "graph.py", '"""Number of levels."""', '"""How deep it is."""')
    replace(
        copy / "hierarchy" / "building.py",
        "its own parent. Remove it.",
        "its own parent. Drop it.",
    )
    append(path, '\n"""The end."""\n')
    assert digest_code([TREE], copy) == digest_code([TREE])


def test_claims_do_not_count(copy: Path) -> None:
    append(copy / "studies" / "claims.py", "\nNEW = 3\n")
    append(copy / "studies" / "verdicts.py", "\nNEW = 3\n")
    assert digest_code([TREE], copy) == digest_code([TREE])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("ramify.hierarchy.building", "ramify.hierarchy.construction"),
        ("ramify.decision.coherence", "ramify.repairs.coherence"),
        ("ramify._validation", "ramify._checks"),
    ],
)
def test_moving_a_module_does_not_count(copy: Path, old: str, new: str) -> None:
    rename(copy, old, new)
    for model in (TREE, FOREST, EDGES):
        assert digest_code([model], copy) == digest_code([model])


@pytest.mark.parametrize(
    ("file", "models"),
    [
        ("studies/cell.py", [TREE, FOREST, EDGES]),
        ("studies/models.py", [TREE, FOREST, EDGES]),
        ("metrics/curves.py", [TREE, FOREST, EDGES]),
        ("tree/plan.py", [TREE, FOREST, EDGES]),
        ("forest/members.py", [FOREST, EDGES]),
        ("local/problems.py", [EDGES]),
        ("inspection/text.py", []),
        ("cli/commands.py", []),
        ("studies/findings.py", []),
        ("studies/store.py", []),
        ("saving/kinds.py", []),
        ("stats/__init__.py", []),
    ],
)
def test_code_counts_for_the_models_that_run_it(
    copy: Path, file: str, models: list[ModelSpec]
) -> None:
    append(copy / file, "\nCHANGED = 1\n")
    changed = [m for m in (TREE, FOREST, EDGES) if digest_code([m], copy) != digest_code([m])]
    assert changed == models


def test_one_changed_operator_counts(copy: Path) -> None:
    replace(
        copy / "hierarchy" / "encoding.py", "weights.append(w0 * weights[indices[start]])", "pass"
    )
    assert digest_code([TREE], copy) != digest_code([TREE])


@pytest.mark.parametrize(
    "model",
    [
        ModelSpec("edges", "Edges", "per-edge", inside=NEIGHBOURS),
        ModelSpec("edges", "Edges", "per-edge", parameters={"estimator": "ml-knn"}),
        ModelSpec("edges", "Edges", "per-edge", tune={"grid": {"estimator": ["ml-knn"]}}),
        ModelSpec("vote", "Vote", "vote", parameters={"estimators": "tree, ml-knn"}),
        ModelSpec("vote", "Vote", "vote", tune={"grid": {"estimators": [["tree", "ml-knn"]]}}),
    ],
)
def test_the_model_inside_counts(copy: Path, model: ModelSpec) -> None:
    append(copy / "transformation" / "ml_knn.py", "\nCHANGED = 1\n")
    assert digest_code([model], copy) != digest_code([model])
    assert digest_code([EDGES], copy) == digest_code([EDGES])


def test_a_model_made_by_a_function_depends_on_what_the_function_uses(copy: Path) -> None:
    model = ModelSpec("leaves", "Leaves", "mandatory-leaf")
    append(copy / "meta" / "mandatory_leaf.py", "\nCHANGED = 1\n")
    assert digest_code([model], copy) != digest_code([model])
    assert digest_code([TREE], copy) == digest_code([TREE])


def test_a_new_model_in_the_list_expires_no_other(copy: Path) -> None:
    path = copy / "_named_estimators.py"
    replace(path, "MODELS: dict", "from ramify.newest import Newest\n\nMODELS: dict")
    replace(path, '    "forest": PCT', '    "newest": Newest,\n    "forest": PCT')
    (copy / "newest.py").write_text("class Newest: pass\n", encoding="utf-8")
    assert digest_code([TREE], copy) == digest_code([TREE])


def test_the_code_that_makes_models_by_name_counts(copy: Path) -> None:
    replace(copy / "_named_estimators.py", "make(hierarchy=hierarchy, ", "make(hierarchy=None, ")
    assert digest_code([TREE], copy) != digest_code([TREE])


def test_the_native_core_counts(monkeypatch: pytest.MonkeyPatch, copy: Path) -> None:
    assert len(_core.source_digest()) == 64
    before = digest_code([TREE])
    monkeypatch.setattr(_core, "source_digest", lambda: "other")
    assert digest_code([TREE], copy) != before


@pytest.fixture(scope="module")
def tokens() -> Callable[[str], list[str]]:
    script = Path(__file__).parents[2] / "cmake" / "digest_sources.py"
    found: Callable[[str], list[str]] = runpy.run_path(str(script))["tokens"]
    return found


@pytest.mark.parametrize(
    "same",
    [
        "int f(int a) { return a + 1; }",
        "// comment\nint f( int a )\n{\n    return a + 1; // more\n}",
        '#pragma once\n#include <vector>\n#include "a.hpp"\nint f(int a) { return a+1; }',
        "/* int\n g(); */ int f(int a) { return /* one */ a + 1; }",
    ],
)
def test_layout_comments_and_includes_of_cpp_do_not_count(tokens, same: str) -> None:
    assert tokens(same) == tokens("int f(int a) { return a + 1; }")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("return a + 1;", "return a + 2;"),
        ("return a - 1;", "return a + 1;"),
        ("intx;", "int x;"),
        ('f("a // b");', 'f("a // c");'),
        ('f("a  b");', 'f("a b");'),
        ("f('\"', 1); // x", "f('\"', 2); // x"),
        ("n = 1'000; // it's", "n = 1'001; // it's"),
        ("#define A 1\nB", "#define A 1 B"),
        ("#if X\na\n#endif", "#if Y\na\n#endif"),
        ('R"(a\n//b)"', 'R"(a\n//c)"'),
    ],
)
def test_code_and_strings_of_cpp_count(tokens, one: str, other: str) -> None:
    assert tokens(one) != tokens(other)
