"""The documentation: every public name has a page, and what is not run elsewhere can be run."""

import ast
import importlib
import inspect
import pkgutil
import re
from collections import Counter
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

import ramify

ROOT = Path(__file__).parents[1]
PAGES = sorted(path for path in (ROOT / "docs").rglob("*.md") if "gallery" not in path.parts)
EXAMPLES = sorted((ROOT / "examples").glob("example_*.py"))
NOT_DOCUMENTED = {"app", "main"}  # the command; docs/command-line.md
ENTRY = re.compile(r"^(\w+) : \S.*\n((?:    .*\n|\n(?=    ))+)", re.MULTILINE)
"""A parameter or attribute of a docstring, and its text."""

TEXTS = {
    "categorical_features": 4,
    "classes_": 3,
    "coherence": 5,
    "cv": 5,
    "estimator": 12,
    "estimator_": 4,
    "estimators_": 8,
    "feature_importances_": 5,
    "feature_names_in_": 3,
    "hierarchy": 5,
    "hierarchy_": 2,
    "max_depth": 3,
    "max_features": 2,
    "max_samples": 2,
    "min_impurity_decrease": 2,
    "min_samples_split": 2,
    "min_weight": 2,
    "missing": 2,
    "n_estimators": 3,
    "n_features_in_": 3,
    "n_jobs": 11,
    "named_estimators_": 7,
    "nominal_tests": 2,
    "pruning_confidence": 2,
    "random_state": 16,
    "tree_": 2,
    "trees_": 2,
    "verbose": 2,
}
"""In how many ways estimators describe what some of them describe alike; one if not listed.

A text that drifts from those of other classes changes the number.
"""


def public_names() -> set[str]:
    """Return one name for everything that is public, the shortest."""
    packages = [info.name for info in pkgutil.iter_modules(ramify.__path__)]
    names: dict[int, str] = {}
    for package in ("", *(f".{name}" for name in packages if not name.startswith("_"))):
        module = importlib.import_module(f"ramify{package}")
        for name in module.__all__:
            names.setdefault(id(getattr(module, name)), f"ramify{package}.{name}")
    return {name for name in names.values() if name.rpartition(".")[2] not in NOT_DOCUMENTED}


def test_every_public_name_has_one_page() -> None:
    listed: Counter[str] = Counter()
    for path in (ROOT / "docs" / "reference").glob("*.rst"):
        module = ""
        for line in path.read_text("utf-8").splitlines():
            module = line.partition(":: ")[2] if "currentmodule" in line else module
            if re.fullmatch(r"   \w+", line) and path.stem != "index":
                listed[f"{module}.{line.strip()}"] += 1
    assert set(listed) == public_names()
    assert set(listed.values()) == {1}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_blocks_without_prompts_are_python(page: Path) -> None:
    for block in re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
        if ">>>" not in block:
            check_imports(ast.parse(block))


def check_imports(tree: ast.Module) -> None:
    """Check that what is imported from ramify is there."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ramify"):
            module = importlib.import_module(str(node.module))
            for alias in node.names:
                assert alias.name in module.__all__, f"{node.module}.{alias.name}"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_import_public_names_and_draw(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    check_imports(tree)
    title, underline = (ast.get_docstring(tree) or "").splitlines()[:2]
    assert underline == "=" * len(title)
    assert "fetch" not in path.read_text("utf-8")  # readers do not have the public data sets
    assert re.search(r"plt\.|plot_|rank_diagram", path.read_text("utf-8"))


def test_there_are_enough_examples() -> None:
    assert len(EXAMPLES) >= 15


def test_pages_link_to_files_that_exist() -> None:
    for page in (*PAGES, ROOT / "README.md"):
        for target in re.findall(r"\]\(([^)#:]+?)(?:#[^)]*)?\)", page.read_text("utf-8")):
            if not target.startswith("gallery/"):
                assert (page.parent / target).exists(), f"{page.name}: {target}"
            else:
                assert (ROOT / "examples" / f"{Path(target).stem}.py").exists(), target


def texts_of_parameters() -> dict[str, dict[str, list[str]]]:
    """Return the estimators by the text with which they describe a parameter or attribute."""
    found: dict[str, dict[str, list[str]]] = {}
    for path in sorted(public_names()):
        module, _, name = path.rpartition(".")
        cls = getattr(importlib.import_module(module), name)
        if not inspect.isclass(cls) or not issubclass(cls, BaseEstimator):
            continue
        for parameter, text in re.findall(ENTRY, f"{inspect.getdoc(cls)}\n"):
            words = " ".join(text.split())
            found.setdefault(parameter, {}).setdefault(words, []).append(name)
    return found


def test_classes_describe_the_same_parameter_in_the_same_words() -> None:
    for parameter, texts in texts_of_parameters().items():
        n_shared = sum(map(len, texts.values())) - len(texts)
        if n_shared > 0 or parameter in TEXTS:
            listed = "\n".join(f"{', '.join(classes)}: {text}" for text, classes in texts.items())
            assert len(texts) == TEXTS.get(parameter, 1), f"{parameter} of {listed}"
