"""The tree as the checks in tests/arch see it: files, parsed modules, resolved names."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = ("app", "core", "ui")
_NOT_OURS = {".venv", ".git", "__pycache__", "build", "dist", ".hypothesis"}


def python_files(*folders: str, root: Path = ROOT) -> list[Path]:
    """Python files below folders of the checkout, sorted; fixtures are data and left out."""
    found = (path for folder in folders for path in (root / folder).rglob("*.py"))
    return sorted(path for path in found if not {"fixtures", "__pycache__"} & set(path.relative_to(root).parts))


def name_of(path: Path, root: Path = ROOT) -> str:
    """A file's path inside the checkout, with forward slashes."""
    return path.relative_to(root).as_posix()


def module_of(path: Path, root: Path = ROOT) -> str:
    """A file's module name."""
    parts = list(path.relative_to(root).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes right below one; what only says whether a name is read or written is left out."""
    found: list[ast.AST] = []
    for value in vars(node).values():
        if isinstance(value, list):
            found += [one for one in value if isinstance(one, ast.AST)]
        elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
            found.append(value)
    return found


def walk(tree: ast.AST) -> Sequence[ast.AST]:
    """Every node of a tree, outer ones first: `ast.walk` in a third of its time, for trees of a million nodes."""
    return _walk_module(tree) if isinstance(tree, ast.Module) else _walk(tree)


@cache
def _walk_module(tree: ast.Module) -> Sequence[ast.AST]:
    """Kept, because most checks walk every file."""
    return tuple(_walk(tree))


def _walk(tree: ast.AST) -> Sequence[ast.AST]:
    found = [tree]
    for node in found:
        found += children(node)
    return found


@cache
def parsed(path: Path) -> ast.Module:
    """A file's syntax tree."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def own_files() -> list[Path]:
    """Every file that is or would be under version control."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listed.returncode == 0:
        paths = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
        return sorted(path for path in paths if path.is_file())
    return sorted(path for path in ROOT.rglob("*") if path.is_file() and not _ignored(path))


def _ignored(path: Path) -> bool:
    parts = path.relative_to(ROOT).parts
    return any(part in _NOT_OURS or part.endswith((".egg-info", "_cache")) for part in parts)


def dotted(node: ast.expr) -> str:
    """`a.b.c` for a chain of names, otherwise an empty string."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        left = dotted(node.value)
        return f"{left}.{node.attr}" if left else ""
    return ""


def imported_names(tree: ast.Module) -> dict[str, str]:
    """What each imported name in a module stands for, as a full dotted path."""
    names: dict[str, str] = {}
    for node in walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                names[alias.asname or alias.name.split(".")[0]] = (
                    alias.name if alias.asname else alias.name.split(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return names


@cache
def used_paths(path: Path) -> tuple[tuple[int, str], ...]:
    """Line and full dotted path of everything a file imports or reaches through an import."""
    return tuple(_used_in(parsed(path)))


def _used_in(tree: ast.Module) -> Iterator[tuple[int, str]]:
    names = imported_names(tree)
    for node in walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Attribute):
            whole = dotted(node)
            first, _, rest = whole.partition(".")
            if rest and first in names:
                yield node.lineno, f"{names[first]}.{rest}"
