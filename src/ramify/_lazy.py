"""Names of a package that are imported on first use, so that importing ramify takes no time."""

from __future__ import annotations

import _ast  # the built-in part of ast, which takes long to import
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, file: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package, as its stub declares."""
    modules, submodules = _read_stub(file.rpartition(".")[0] + ".pyi")

    def __getattr__(name: str) -> Any:  # noqa: N807 (PEP 562)
        if name in modules:
            found = getattr(import_module(modules[name]), name)
        elif name in submodules:
            found = import_module(f"{package}.{name}")
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        setattr(sys.modules[package], name, found)
        return found

    def __dir__() -> list[str]:  # noqa: N807 (PEP 562)
        return sorted({*vars(sys.modules[package]), *modules, *submodules})

    return __getattr__, __dir__, sorted(modules)


def _read_stub(path: str) -> tuple[dict[str, str], list[str]]:
    """Return the module of each name that a stub imports, and the modules it imports."""
    with open(path, encoding="utf-8") as stub:  # noqa: PTH123 (pathlib takes long to import)
        tree: Any = compile(stub.read(), path, "exec", _ast.PyCF_ONLY_AST)
    imports = [node for node in tree.body if isinstance(node, _ast.ImportFrom)]
    modules = {alias.name: node.module for node in imports if node.module for alias in node.names}
    return modules, [alias.name for node in imports if not node.module for alias in node.names]
