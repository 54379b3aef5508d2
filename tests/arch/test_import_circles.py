"""No circle of imports anywhere in the house, those for type checking included."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from arch_tree import ROOT, parsed, walk

HOUSES = ("app", "core", "ui")


def module_of(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(root: Path) -> dict[str, set[str]]:
    """Each module of the house with those it imports, wherever in the file that stands."""
    files = {module_of(path, root): path for house in HOUSES for path in sorted((root / house).rglob("*.py"))}
    return {
        module: {found for found in _named(parsed(path), files) if found != module} for module, path in files.items()
    }


def _named(tree: ast.Module, known: Mapping[str, Path]) -> Iterator[str]:
    for node in walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                if inner in known:
                    yield inner
                elif node.module in known:
                    yield node.module


def circles(imports: Mapping[str, set[str]]) -> list[list[str]]:
    """Groups of modules that reach each other (Tarjan's strongly connected components), each sorted."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    open_now: list[str] = []
    found: list[list[str]] = []

    def visit(module: str) -> None:
        number[module] = low[module] = len(number)
        open_now.append(module)
        for other in imports[module]:
            if other not in number:
                visit(other)
                low[module] = min(low[module], low[other])
            elif other in open_now:
                low[module] = min(low[module], number[other])
        if low[module] == number[module]:
            at = open_now.index(module)
            group = sorted(open_now[at:])
            del open_now[at:]
            if len(group) > 1:
                found.append(group)

    for module in imports:
        if module not in number:
            visit(module)
    return found


def test_no_modules_import_each_other() -> None:
    assert circles(imports_of(ROOT)) == []


@pytest.mark.parametrize(
    "second",
    [
        "from core import one\n",
        "import core.one\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from core.one import name\n",
        "def late():\n    from core.one import name\n",
    ],
)
def test_a_circle_is_found_however_it_is_written(tmp_path: Path, second: str) -> None:
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "one.py").write_text("from core.two import other\n", encoding="utf-8")
    (tmp_path / "core" / "two.py").write_text(second, encoding="utf-8")
    (tmp_path / "core" / "three.py").write_text("import core.one\n", encoding="utf-8")
    assert circles(imports_of(tmp_path)) == [["core.one", "core.two"]]
