"""Digest of the code that a result depends on, whatever its files are called."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Set
from functools import cache
from importlib.util import resolve_name
from pathlib import Path
from typing import Any

__all__ = ["digest_modules"]

_IGNORED_FIELDS = ("ctx", "kind", "type_comment", "type_ignores")


def digest_modules(
    package: Path,
    roots: Iterable[str],
    *,
    registries: Set[str] = frozenset(),
    without: Set[str] = frozenset(),
) -> str:
    """Return a digest of some modules of a package and of all modules that they import.

    Only code counts: file names, comments, docstrings, layout, import statements, ``__all__`` and
    the texts of errors are ignored.

    Parameters
    ----------
    package : Path
        The folder of the package.
    roots : iterable of str
        Full names of modules, e.g. "ramify.studies.cell".
    registries : set of str
        Modules that import everything to look things up by name: only their functions count, and
        their imports are not followed.
    without : set of str
        Modules to leave out.

    Returns
    -------
    str
        A SHA-256 digest in hexadecimal digits.
    """
    waiting = list(roots)
    seen = {package.name, *without}
    found = []
    while waiting:
        name = _module_of(package, waiting.pop())
        path = _file_of(package, name)
        if name in seen or path is None:
            continue
        seen.add(name)
        if name in registries:
            found.append(_digest_file(path, True))
        else:
            found.append(_digest_file(path, False))
            waiting.extend(_imports_of(path, name))
    parts = sorted(digest for digest in found if digest)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _module_of(package: Path, name: str) -> str:
    """Return the module of an imported name, following what an ``__init__.py`` re-exports."""
    parent, _, own = name.rpartition(".")
    parent_file = _file_of(package, parent)
    if _file_of(package, name) is not None or parent_file is None:
        return name
    if parent_file.name == "__init__.py":
        for imported in _imports_of(parent_file, parent):
            if imported.rpartition(".")[2] == own:
                return _module_of(package, imported)
    return parent


def _file_of(package: Path, name: str) -> Path | None:
    """Return the file of a module; None for other packages and names that are not modules."""
    top, *inside = name.split(".")
    if top != package.name:
        return None
    stem = package.joinpath(*inside)
    candidates = (stem.with_name(f"{stem.name}.py"), stem / "__init__.py")
    return next((path for path in candidates if path.is_file()), None)


@cache
def _parse(path: Path) -> ast.Module:
    return ast.parse(path.read_bytes())


@cache
def _imports_of(path: Path, name: str) -> tuple[str, ...]:
    """Return the full names of what a module imports when it runs, e.g. "ramify.fetch"."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found: list[str] = []
    waiting: list[ast.AST] = [_parse(path)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            found.extend(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = resolve_name("." * node.level + (node.module or ""), package)
            found.extend(f"{module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.stmt | ast.Module | ast.ExceptHandler | ast.match_case):
            # Imports are statements: expressions need not be searched.
            waiting.extend(
                child for child in ast.iter_child_nodes(node) if not _is_for_types(child)
            )
    return tuple(found)


@cache
def _digest_file(path: Path, functions_only: bool) -> str:
    """Return a digest of the code in a file, empty if there is none."""
    statements = _parse(path).body
    if functions_only:
        statements = [node for node in statements if isinstance(node, ast.FunctionDef)]
    text = _dump(statements)
    return hashlib.sha256(text.encode()).hexdigest() if statements and text != "[]" else ""


def _dump(value: Any) -> str:
    """Write a syntax tree as text that is the same in all versions of Python."""
    if isinstance(value, list):
        return f"[{','.join(_dump(part) for part in value if not _is_ignored(part))}]"
    if not isinstance(value, ast.AST):
        return repr(value)
    fields = [
        f"{name}={_dump(part)}"
        for name, part in ast.iter_fields(value)
        if name not in _IGNORED_FIELDS and part is not None and part != []
    ]
    if _is_error(value):
        fields = fields[:1]
    return f"{type(value).__name__}({','.join(fields)})"


def _is_ignored(node: Any) -> bool:
    """Return whether a statement has no effect on results: import, docstring, ``__all__``."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.Assign):
        return any(isinstance(name, ast.Name) and name.id == "__all__" for name in node.targets)
    return isinstance(node, ast.Import | ast.ImportFrom) or _is_for_types(node)


def _is_for_types(node: Any) -> bool:
    return (
        isinstance(node, ast.If)
        and isinstance(node.test, ast.Name)
        and node.test.id == "TYPE_CHECKING"
    )


def _is_error(node: ast.AST) -> bool:
    """Return whether a call builds an exception; its arguments are messages."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id.endswith("Error")
    )
