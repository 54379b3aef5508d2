"""Size caps: 800 lines a file, 15 modules a folder, 60 lines a function, 25 methods a class, complexity 10.

Remedy for a breach: divide the thing by what it is about; a folder gets inner rooms by subject, or files that say
one thing together become one. An exception needs a line here, with a date and a reason.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from arch_tree import ROOT, name_of, python_files

FILE_LINES = 800
FUNCTION_LINES = 60
CLASS_METHODS = 25
COMPLEXITY = 10
FOLDER_MODULES = 15
EXCEPTIONS: dict[str, str] = {}
FOLDERS = ("app", "core", "ui", "packaging", "tests")
HOUSE = ("app", "core", "ui", "packaging")
Function = ast.FunctionDef | ast.AsyncFunctionDef


def breaches(path: Path, name: str) -> Iterator[str]:
    """Every cap that a file breaks, in words."""
    source = path.read_text(encoding="utf-8")
    lines = len(source.splitlines())
    if lines > FILE_LINES:
        yield f"{name}: {lines} lines, {FILE_LINES} allowed"
    for node in ast.walk(ast.parse(source, filename=str(path))):
        if isinstance(node, Function):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > FUNCTION_LINES:
                yield f"{name}:{node.name}: {length} lines, {FUNCTION_LINES} allowed"
        elif isinstance(node, ast.ClassDef):
            methods = sum(isinstance(child, Function) for child in node.body)
            if methods > CLASS_METHODS:
                yield f"{name}:{node.name}: {methods} methods, {CLASS_METHODS} allowed"


@cache
def all_breaches() -> tuple[str, ...]:
    """Those of every file of the checkout."""
    return tuple(line for path in python_files(*FOLDERS) for line in breaches(path, name_of(path)))


def modules_in_folders(root: Path = ROOT) -> Counter[str]:
    """How many modules, `__init__` not counted, lie directly in each folder of the house."""
    files = [path for path in python_files(*HOUSE, root=root) if path.name != "__init__.py"]
    return Counter(name_of(path.parent, root) for path in files)


def test_nothing_outgrows_its_cap() -> None:
    assert not [line for line in all_breaches() if line.rsplit(":", 1)[0] not in EXCEPTIONS]


def test_exceptions_are_still_needed() -> None:
    assert set(EXCEPTIONS) <= {line.rsplit(":", 1)[0] for line in all_breaches()}


def test_no_folder_is_too_wide() -> None:
    found = modules_in_folders()
    assert not {folder: n for folder, n in found.items() if n > FOLDER_MODULES}


def test_no_function_is_too_tangled() -> None:
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "C901", "--output-format", "concise"]
    cap = ["--config", f"lint.mccabe.max-complexity={COMPLEXITY}"]
    folders = [folder for folder in FOLDERS if (ROOT / folder).is_dir()]
    done = subprocess.run([*command, *cap, *folders], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_caps_bite(tmp_path: Path) -> None:
    long_function = "def long() -> None:\n" + "    x = 1\n" * FUNCTION_LINES
    wide_class = "class Wide:\n" + "".join(f"    def m{n}(self) -> None: ...\n" for n in range(CLASS_METHODS + 1))
    path = tmp_path / "planted.py"
    path.write_text(long_function + wide_class + "#\n" * FILE_LINES, encoding="utf-8")
    said = "\n".join(breaches(path, "planted.py"))
    assert "planted.py:long: 61 lines" in said
    assert "planted.py:Wide: 26 methods" in said
    assert f"planted.py: {61 + 27 + FILE_LINES} lines" in said


def test_the_cap_on_folders_bites(tmp_path: Path) -> None:
    folder = tmp_path / "core" / "planted"
    folder.mkdir(parents=True)
    for name in ("__init__", *(f"m{n}" for n in range(FOLDER_MODULES + 1))):
        (folder / f"{name}.py").touch()
    assert modules_in_folders(tmp_path) == {"core/planted": FOLDER_MODULES + 1}
