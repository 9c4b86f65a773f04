"""The documentation: every public name has a page, and what is not run elsewhere can be run."""

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import ramify

ROOT = Path(__file__).parents[1]
PAGES = sorted(path for path in (ROOT / "docs").rglob("*.md") if "gallery" not in path.parts)
EXAMPLES = sorted((ROOT / "examples").glob("example_*.py"))
NOT_DOCUMENTED = {"app", "main"}  # the command; docs/command-line.md


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


def test_shared_parameters_have_the_same_text() -> None:
    tool = ROOT / "tools" / "share_parameters"
    result = subprocess.run([sys.executable, tool], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_a_text_that_drifts_is_found(tmp_path: Path) -> None:
    for name in ("share_parameters", "shared_parameters.toml"):
        (tmp_path / "tools").mkdir(exist_ok=True)
        (tmp_path / "tools" / name).write_text((ROOT / "tools" / name).read_text("utf-8"), "utf-8")
    source = tmp_path / "src" / "ramify" / "model.py"
    source.parent.mkdir(parents=True)
    text = "The labels, in the order of columns of `predict_proba`."
    source.write_text(
        f'class Model:\n    """A model.\n\n    classes_ : ndarray\n        {text}\n    """\n',
        "utf-8",
    )
    command = [sys.executable, str(tmp_path / "tools" / "share_parameters")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "Model: classes_" in result.stdout
    subprocess.run([*command, "--write"], capture_output=True, check=True)
    assert "in the order of the columns of" in source.read_text("utf-8")
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
