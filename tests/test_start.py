"""Starting is quick: what is not needed is not imported, and names are found on first use."""

from __future__ import annotations

import ast
import importlib
import pickle
import pkgutil
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ramify
from ramify import PCTClassifier, save
from tests.support.estimators import public_estimators

SOURCE = Path(ramify.__file__).parent
SETTINGS = Path(__file__).parent / "golden" / "clus" / "hierarchical"
PACKAGES = sorted(
    ".".join(("ramify", *path.parent.relative_to(SOURCE).parts))
    for path in SOURCE.rglob("__init__.pyi")
)

HEAVY = ("joblib", "matplotlib", "numpy", "pandas", "polars", "pyarrow", "scipy", "sklearn")
# scikit-learn imports numpy, scipy.stats, joblib and, if there are, pandas and pyarrow itself.
SELDOM_USED = (
    *("matplotlib", "polars", "ramify.inspection", "ramify.apps.studies.reading"),
    *("sklearn.ensemble", "sklearn.linear_model", "sklearn.metrics", "sklearn.model_selection"),
)

RUN = """
import sys
from ramify.apps.cli import main
try:
    main()
finally:
    print("\\n", *sys.modules)
"""


def modules_after(code: str, *arguments: object, folder: Path, status: int = 0) -> set[str]:
    """Run code in a process that prints the names of all modules last, and return them."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == status, result.stderr
    return set(result.stdout.splitlines()[-1].split())


@pytest.mark.process
@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ("--help", 0),
        ("--version", 0),
        ("tarin", 2),
        ("train --taget x", 2),
        ("train --help", 0),
        ("study --help", 0),
        ("train nofile.csv --target x", 2),
        ("train data.csv --hierarchy nofile.obo", 2),
        ("train data.csv --annotations nofile.gaf --ontology data.csv", 2),
        ("train data.csv --model forrest", 2),
        ("train data.csv --set a", 2),
        ("study nofile.toml", 2),
        ("study levatc2015", 2),
        ("datasets nope", 2),
        ("predict nomodel.ramify x.csv", 2),
        ("evaluate nomodel.ramify x.csv", 2),
        ("explore nomodel.ramify", 2),
        ("tree nomodel.ramify", 2),
        ("clus nofile.s", 2),
        ("evaluate data.csv data.csv --annotations nofile.gaf", 2),
        ("clus -foo x.s", 2),
    ],
)
def test_a_command_without_work_loads_no_libraries(
    arguments: str, status: int, tmp_path: Path
) -> None:
    (tmp_path / "data.csv").write_text("x,labels\n")
    loaded = modules_after(RUN, *arguments.split(), folder=tmp_path, status=status)
    assert not loaded.intersection(HEAVY)
    assert arguments != "--version" or "rich" not in loaded


@pytest.mark.process
def test_importing_ramify_loads_nothing(tmp_path: Path) -> None:
    loaded = modules_after("import ramify, sys; print(*sys.modules)", folder=tmp_path)
    assert not loaded.intersection((*HEAVY, "rich", "typer"))
    assert {name for name in loaded if name.startswith("ramify")} == {"ramify", "ramify._lazy"}


@pytest.mark.process
@pytest.mark.parametrize(
    "line",
    [
        "from ramify import PCTForestClassifier",
        "from ramify.metrics import pooled_auprc",
        "import ramify; ramify.load('tree.ramify')",
    ],
)
def test_what_is_seldom_used_is_not_loaded_with_the_rest(line: str, tmp_path: Path) -> None:
    save(PCTClassifier().fit([[0.0], [1.0]], [["a"], ["b"]]), tmp_path / "tree.ramify")
    loaded = modules_after(f"{line}; import sys; print(*sys.modules)", folder=tmp_path)
    assert not loaded.intersection((*SELDOM_USED, "typer"))


@pytest.mark.process
def test_a_settings_file_of_clus_loads_only_what_a_tree_needs(tmp_path: Path) -> None:
    for name in ("tree.s", "train.arff", "test.arff"):
        shutil.copy(SETTINGS / name, tmp_path)
    loaded = modules_after(RUN, "clus", "tree.s", folder=tmp_path)
    assert not loaded.intersection(SELDOM_USED)


@pytest.mark.process
def test_a_new_process_finds_the_classes_that_model_files_name(tmp_path: Path) -> None:
    text = "".join(path.read_text("utf-8") for path in SOURCE.rglob("*.py"))
    marked = re.findall(r"^@savable\n(?:@.*\n)*class (\w+)", text, re.MULTILINE)
    names = {cls.__name__ for cls in public_estimators()}.union(marked)
    code = (
        "import sys; from ramify._savable import find_savable\n"
        "print(*(name for name in sys.argv[1:] if find_savable(name)))"
    )
    assert len(marked) > 10
    assert modules_after(code, *names, folder=tmp_path) == names


# ---- packages ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_has_the_names_of_its_stub(name: str) -> None:
    package = importlib.import_module(name)
    stub = ast.parse(Path(str(package.__file__)).with_suffix(".pyi").read_text("utf-8"))
    (declared,) = (
        ast.literal_eval(node.value)
        for node in stub.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    )
    assert package.__all__ == sorted(declared)
    assert set(declared) <= set(dir(package))
    inside = {module.name for module in pkgutil.iter_modules(package.__path__)}
    assert not inside.intersection(declared), "a module hides a name of its package"
    found: dict[str, object] = {}
    exec(f"from {name} import *", found)
    assert set(declared) <= set(found)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"module 'ramify' has no attribute 'PCTForrest'"):
        ramify.PCTForrest  # noqa: B018
    with pytest.raises(ImportError, match=r"cannot import name 'f_mox' from 'ramify\.metrics'"):
        exec("from ramify.metrics import f_mox")


def test_packages_are_attributes_of_ramify() -> None:
    assert ramify.metrics.pooled_auprc is importlib.import_module("ramify.metrics").pooled_auprc
    assert {"inspection", "metrics", "studies"} <= set(dir(ramify)) - set(ramify.__all__)


def test_an_imported_name_is_an_ordinary_attribute() -> None:
    assert vars(ramify)["PCTClassifier"] is PCTClassifier
    assert pickle.loads(pickle.dumps(ramify.PCTClassifier)) is PCTClassifier
