"""What tests and modules of the package may import; import-linter checks the order of layers."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import ramify

PACKAGE = Path(ramify.__file__).parent
TESTS = Path(__file__).parent
INNERMOST = {"__version__", "_core"}
FORBIDDEN = re.compile(r"benchmarks(\.|$)|(tests)?\.(.*\.)?test_")


def forbidden_imports(source: str) -> list[str]:
    """Return the imports of a source file that break the rule, wherever they stand."""
    return [name for name in _imported(source) if FORBIDDEN.match(name)]


def _imported(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            yield from (f"{module}.{alias.name}" for alias in node.names)


def test_tests_import_neither_benchmarks_nor_other_tests() -> None:
    found = {
        path.relative_to(TESTS).as_posix(): forbidden_imports(path.read_text("utf-8"))
        for path in TESTS.rglob("*.py")
    }
    wrong = {path: names for path, names in found.items() if names}
    assert not wrong, f"move what is shared to tests/support: {wrong}"


@pytest.mark.parametrize(
    "source",
    [
        "import benchmarks.trees",
        "from benchmarks import clus",
        "def f():\n    from benchmarks.clus import run_clus",
        "from tests.hierarchy.test_hierarchy import TREE",
        "from tests.hierarchy import test_hierarchy",
        "import tests.hierarchy.test_hierarchy as other",
        "from .test_hierarchy import TREE",
    ],
)
def test_such_imports_are_found(source: str) -> None:
    assert forbidden_imports(source)


def test_support_and_libraries_may_be_imported() -> None:
    source = "from tests.support.label_graphs import build\nimport numpy.testing\nimport pytest"
    assert not forbidden_imports(source)


def imports_of_the_package(source: str) -> list[str]:
    """Return what a module imports from `ramify` itself or relatively, except for `_core`.

    Import-linter cannot tell these imports from those of the compiled `ramify._core`, so that it
    does not see which layer a name comes from.
    """
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name == "ramify"]
        elif isinstance(node, ast.ImportFrom) and (node.module == "ramify" or node.level):
            found += [name for alias in node.names if (name := alias.name) not in INNERMOST]
    return found


def test_modules_import_names_from_where_they_are_defined() -> None:
    found = {
        path.relative_to(PACKAGE).as_posix(): imports_of_the_package(path.read_text("utf-8"))
        for path in PACKAGE.rglob("*.py")
    }
    wrong = {path: names for path, names in found.items() if names}
    assert not wrong, f"import from the module that defines the name: {wrong}"


@pytest.mark.parametrize(
    "source",
    [
        "from ramify import metrics",
        "from ramify import PCTClassifier, _core",
        "def f():\n    from ramify import load",
        "import ramify",
        "from . import metrics",
        "from .metrics import hmc_loss",
    ],
)
def test_imports_of_the_package_are_found(source: str) -> None:
    assert imports_of_the_package(source)
