"""Size caps: 800 lines a file, 15 modules a folder, 60 lines a function, 25 methods a class, complexity 10.

An importer is smaller than that: 200 lines, over parts that importers share.

And a floor: a file under 60 lines has two importers, or a reason in SMALL_ALLOWED; else it goes to who imports it.

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

from arch_tree import ROOT, module_of, name_of, parsed, python_files, used_paths, walk

FILE_LINES = 800
IMPORTER_LINES = 200
IMPORTERS = "core/importers/formats"
FUNCTION_LINES = 60
CLASS_METHODS = 25
COMPLEXITY = 10
FOLDER_MODULES = 15
SMALL_FILE_LINES = 60
SMALL_FILE_IMPORTERS = 2
EXCEPTIONS: dict[str, str] = {}
FOLDERS = ("app", "core", "ui", "packaging", "tests")
HOUSE = ("app", "core", "ui", "packaging")
SMALL_ALLOWED = {
    "app/cli/commands.py": "importing it registers every verb; `loci mcp` and `loci chat` start without it",
    "app/window/start.py": "what is loaded before the card is shown; the window's own module loads the engine",
    "core/lifecycle/registry.py": "the one place that knows every job, so that no job imports another",
    "packaging/release/frozen_entry.py": "where the frozen program begins: loci.spec names it, nobody imports it",
    "packaging/bootstrap.py": "a script that is started: nobody imports it, and an old Python must be able to read it",
}
Function = ast.FunctionDef | ast.AsyncFunctionDef


def breaches(path: Path, name: str) -> Iterator[str]:
    """Every cap that a file breaks, in words."""
    source = path.read_text(encoding="utf-8")
    lines = len(source.splitlines())
    if lines > FILE_LINES:
        yield f"{name}: {lines} lines, {FILE_LINES} allowed"
    for node in walk(parsed(path)):
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


def importers(root: Path = ROOT) -> dict[str, set[str]]:
    """Each file of the house that another one imports, with those; packaging's scripts find each other by bare name."""
    files = {module_of(path, root): name_of(path, root) for path in python_files(*HOUSE, root=root)}
    files |= {module.removeprefix("packaging."): name for module, name in files.items()}
    found: dict[str, set[str]] = {}
    for path in python_files(*HOUSE, root=root):
        for _, used in used_paths(path):
            module = used
            while module and module not in files:
                module = module.rpartition(".")[0]
            if module and files[module] != name_of(path, root):
                found.setdefault(files[module], set()).add(name_of(path, root))
    return found


def lonely_small_files(root: Path = ROOT) -> set[str]:
    """Files under so many lines that fewer than two others import; `__init__` and `__main__` are not counted."""
    counted = importers(root)
    return {
        name
        for path in python_files(*HOUSE, root=root)
        if path.stem not in ("__init__", "__main__")
        and len(path.read_text(encoding="utf-8").splitlines()) < SMALL_FILE_LINES
        and len(counted.get(name := name_of(path, root), ())) < SMALL_FILE_IMPORTERS
    }


def test_a_small_file_has_two_importers_or_a_reason() -> None:
    assert not sorted(lonely_small_files() - SMALL_ALLOWED.keys())


def test_the_small_files_with_a_reason_are_still_there() -> None:
    assert not sorted(SMALL_ALLOWED.keys() - lonely_small_files()), "take these out of SMALL_ALLOWED"


def test_nothing_outgrows_its_cap() -> None:
    assert not [line for line in all_breaches() if line.rsplit(":", 1)[0] not in EXCEPTIONS]


def test_exceptions_are_still_needed() -> None:
    assert set(EXCEPTIONS) <= {line.rsplit(":", 1)[0] for line in all_breaches()}


def long_importers(root: Path = ROOT) -> dict[str, int]:
    """Modules in the formats' rooms that are longer than an importer may be, with their lines."""
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in python_files(IMPORTERS, root=root)}
    return {name_of(path, root): count for path, count in lines.items() if count >= IMPORTER_LINES}


def test_an_importer_is_under_200_lines() -> None:
    assert list(python_files(IMPORTERS)), "the formats are elsewhere"
    assert not long_importers()


def test_the_cap_on_importers_bites(tmp_path: Path) -> None:
    room = tmp_path / IMPORTERS / "notes"
    room.mkdir(parents=True)
    (room / "long.py").write_text("X = 1\n" * IMPORTER_LINES, encoding="utf-8")
    (room / "short.py").write_text("X = 1\n" * (IMPORTER_LINES - 1), encoding="utf-8")
    assert long_importers(tmp_path) == {f"{IMPORTERS}/notes/long.py": IMPORTER_LINES}


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


def test_the_floor_bites(tmp_path: Path) -> None:
    planted = {
        "core/lonely.py": "X = 1\n",
        "core/shared.py": "X = 1\n",
        "core/long.py": "X = 1\n" * SMALL_FILE_LINES,
        "app/__main__.py": "import core.shared\nfrom core.lonely import X\n",
        "packaging/script.py": "import tool\nfrom core import shared\n",
        "packaging/tool.py": "X = 1\n",
        "packaging/other.py": "from tool import X\n" * SMALL_FILE_LINES,
    }
    for name, text in planted.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert lonely_small_files(tmp_path) == {"core/lonely.py", "packaging/script.py"}
