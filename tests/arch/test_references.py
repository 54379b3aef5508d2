"""A name of ours that a docstring or a comment gives in full, as `core.events.Changed`, is there.

Remedy for a breach: name what stands there now, or say it without the name. Looked at is what stands in backticks and
begins with `core.`, `ui.` or `app.`; it is followed through modules, imports, classes and their bases without importing
anything. What hangs on a value (a function's result, an attribute of an instance) cannot be seen and is a breach.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path

from arch_tree import PRODUCT, ROOT, module_of, name_of, parsed, python_files, walk

_REFERENCE = re.compile(r"`((?:app|core|ui)(?:\.\w+)+)(?:\(\))?`")
_FURTHEST = 8  # so many imports and bases are followed


class Names:
    """Which dotted names exist in a checkout."""

    def __init__(self, root: Path = ROOT) -> None:
        self.files = {module_of(path, root): path for path in python_files(*PRODUCT, root=root)}
        packages = {name.rpartition(".")[0] for name in self.files}
        self._modules = packages | self.files.keys()

    def has(self, name: str, depth: int = 0) -> bool:
        """Whether a dotted name is a module, or something that stands in one."""
        if name in self._modules:
            return True
        module, rest = name, list[str]()
        while module and module not in self.files:
            module, _, last = module.rpartition(".")
            rest.insert(0, last)
        return bool(module) and depth < _FURTHEST and self._holds(module, parsed(self.files[module]), rest, depth)

    def _holds(self, module: str, scope: ast.Module | ast.ClassDef, rest: list[str], depth: int) -> bool:
        first, *more = rest
        for node in _statements(scope.body):
            if isinstance(node, ast.ClassDef) and node.name == first:
                return not more or self._holds(module, node, more, depth)
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                for alias in node.names:
                    if (alias.asname or alias.name) == first:
                        return self.has(".".join((node.module, alias.name, *more)), depth + 1)
            if first in _bound_by(node):
                return not more
        return isinstance(scope, ast.ClassDef) and any(
            self.has(".".join((module, ast.unparse(base), *rest)), depth + 1) for base in scope.bases
        )


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Those of a body, and those under its conditions."""
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.Try):
            yield from _statements([*node.body, *node.orelse])


def _bound_by(node: ast.stmt) -> set[str]:
    """The names that a definition or an assignment makes; of a class's `__init__` those of the instance too."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        own = (part for part in walk(node) if node.name == "__init__" and isinstance(part, ast.Attribute))
        kept = {part.attr for part in own if isinstance(part.ctx, ast.Store) and ast.unparse(part.value) == "self"}
        return {node.name} | kept
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return {part.id for target in targets for part in walk(target) if isinstance(part, ast.Name)}
    return set()


def remarks(path: Path) -> Iterator[tuple[int, str]]:
    """Line and text of each comment and of each string that stands by itself, as docstrings do."""
    for node in walk(parsed(path)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            for at, line in enumerate(node.value.value.splitlines()):
                yield node.lineno + at, line
    source = path.read_text(encoding="utf-8")
    if not any("#" in line and _REFERENCE.search(line) for line in source.splitlines()):
        return  # dividing a file into tokens is slow, and no comment of this one names anything
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def references(root: Path = ROOT) -> Iterator[tuple[str, str]]:
    """Each reference with its place."""
    for path in python_files(*PRODUCT, root=root):
        for line, text in remarks(path):
            yield from ((f"{name_of(path, root)}:{line}", name) for name in _REFERENCE.findall(text))


def stale(root: Path = ROOT) -> list[str]:
    """The references to what is not there, with their places."""
    names = Names(root)
    return sorted(f"{place}: {name}" for place, name in references(root) if not names.has(name))


def test_every_name_given_in_full_is_there() -> None:
    assert not stale()


def test_there_are_names_to_look_at() -> None:
    assert len(list(references())) > 100


def test_a_planted_name_that_is_not_there_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "core" / "room"
    folder.mkdir(parents=True)
    (folder / "base.py").write_text(
        "class Base:\n    kept: int\n    def __init__(self):\n        self.own = 1\n", "utf-8"
    )
    (folder / "one.py").write_text(
        '"""See `core.room`, `core.room.base.Base.kept`, `core.room.gone`."""\n'
        "from core.room.base import Base\n"
        "class One(Base):\n"
        '    """`core.room.one.One.own`, `core.room.one.One.lost`, `os.path`, `core.room.one.Base.kept`."""\n'
        "LIMIT = 3  # `core.room.one.LIMIT`, `core.room.one.LIMITS`, `ui.away`\n"
        "TEXT = 'no docstring: `core.nothing`'\n",
        "utf-8",
    )
    assert stale(tmp_path) == [
        "core/room/one.py:1: core.room.gone",
        "core/room/one.py:4: core.room.one.One.lost",
        "core/room/one.py:5: core.room.one.LIMITS",
        "core/room/one.py:5: ui.away",
    ]
