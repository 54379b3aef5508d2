"""The import contracts hold, and every one of them bites when it is broken on purpose."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from arch_tree import PRODUCT, ROOT, own_files

DESIGN = (
    ("ipc",),
    ("engine",),
    ("recall", "lifecycle", "importers", "sessions"),
    ("intake",),
    ("memory", "belief", "entities"),
    ("vault", "index", "embed", "llm"),
    ("score", "text"),
    ("config", "security"),
    ("log", "events"),
    ("errors", "types"),
)
LINT = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"


def lint(tree: Path) -> tuple[int, str]:
    """Run the contracts over a tree; its exit code and what it printed."""
    done = subprocess.run([sys.executable, "-P", "-c", LINT], cwd=tree, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_contracts_hold() -> None:
    code, said = lint(ROOT)
    assert code == 0, said


def test_layers_are_those_of_the_design() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = {contract["id"]: contract for contract in settings["tool"]["importlinter"]["contracts"]}
    lines = [tuple(room.strip(" ()") for room in line.split("|")) for line in contracts["rooms"]["layers"]]
    assert tuple(lines) == DESIGN
    assert contracts["rooms"]["exhaustive"] is True


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The tree, with an empty package for every room that does not exist yet."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for package in PRODUCT:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    for line in DESIGN:
        for room in line:
            if not (tmp_path / "core" / f"{room}.py").exists():
                (tmp_path / "core" / room).mkdir(exist_ok=True)
                (tmp_path / "core" / room / "__init__.py").touch()
    (tmp_path / "core" / "engine" / "facade.py").touch()
    return tmp_path


PLANTED = {
    "upward import": (
        "core/text/rendering/planted.py",
        "import core.engine",
        "core.text.rendering.planted -> core.engine",
    ),
    "upward, from a bottom room": (
        "core/types/planted.py",
        "from core import vault",
        "core.types.planted -> core.vault",
    ),
    "upward, inside a function": (
        "core/score/belief/planted.py",
        "def lazy() -> None:\n    import core.recall\n",
        "core.score.belief.planted -> core.recall",
    ),
    "upward, for types only": (
        "core/vault/files/planted.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from core import intake\n",
        "core.vault.files.planted -> core.intake",
    ),
    "a page that goes round the bridge": (
        "ui/pages/planted.py",
        "import core.engine.facade",
        "ui.pages.planted -> core.engine.facade",
    ),
    "a widget that asks the engine": ("ui/widgets/planted.py", "import ui.context", "ui.widgets.planted -> ui.context"),
    "a page that knows another": (
        "ui/pages/planted.py",
        "import ui.pages.library",
        "ui.pages.planted -> ui.pages.library",
    ),
    "a room of ui nobody listed": ("ui/attic.py", "", "ui.attic"),
    "sibling": (
        "core/recall/answer/planted.py",
        "import core.importers",
        "core.recall.answer.planted -> core.importers",
    ),
    "sibling of the store": ("core/index/planted.py", "import core.vault", "core.index.planted -> core.vault"),
    "unlisted room": ("core/attic/__init__.py", "", "- core.attic"),
    "unlisted single file": ("core/attic.py", "", "- core.attic"),
    "core looks at the window": ("core/engine/runtime/planted.py", "import ui", "core.engine.runtime.planted -> ui"),
    "window looks at the doors": ("ui/planted.py", "import app", "ui.planted -> app"),
    "lazy Qt": (
        "core/text/rendering/planted.py",
        "def lazy() -> None:\n    from PySide6.QtCore import QObject\n",
        "core.text.rendering.planted -> PySide6",
    ),
    "Qt by another name": (
        "core/engine/runtime/planted.py",
        "import pyqtgraph",
        "core.engine.runtime.planted -> pyqtgraph",
    ),
    "app behind the facade": ("app/planted.py", "import core.vault", "app.planted -> core.vault"),
    "app beside the facade": (
        "app/planted.py",
        "from core.engine.runtime import planted",
        "app.planted -> core.engine",
    ),
    "window behind the facade": ("ui/planted.py", "import core.memory", "ui.planted -> core.memory"),
    "ipc behind the facade": (
        "core/ipc/socket/planted.py",
        "import core.vault",
        "core.ipc.socket.planted -> core.vault",
    ),
    "ipc beside the facade": (
        "core/ipc/methods/planted.py",
        "import core.engine.runtime.planted",
        "core.ipc.methods.planted -> core.engine",
    ),
}
# Inside the rooms: an import upwards, one for each contract; and a file that belongs to no inner room.
INNER = (
    ("engine", "runtime", "memories"),
    ("intake", "transaction", "store"),
    ("belief", "extract", "relate"),
    ("lifecycle", "kit", "consolidate"),
    ("recall", "candidates", "answer"),
    ("importers", "input", "chats"),
    ("ipc", "protocol", "socket"),
    ("vault", "files", "database"),
    ("text", "rendering", "query"),
    ("score", "belief", "ranking"),
)
for _room, _low, _high in INNER:
    PLANTED[f"upward inside {_room}"] = (
        f"core/{_room}/{_low}/planted.py",
        f"import core.{_room}.{_high}",
        f"core.{_room}.{_low}.planted -> core.{_room}.{_high}",
    )
    PLANTED[f"a file in no inner room of {_room}"] = (f"core/{_room}/planted.py", "", f"core.{_room}.planted")


def test_the_copy_itself_is_clean(copy: Path) -> None:
    (copy / "core" / "ipc" / "socket" / "planted.py").write_text("from core.engine import facade\n", encoding="utf-8")
    (copy / "app" / "planted.py").write_text("import core.engine.facade\nimport core.errors\n", encoding="utf-8")
    code, said = lint(copy)
    assert code == 0, said


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_violation_is_reported(copy: Path, name: str) -> None:
    where, source, reported = PLANTED[name]
    (copy / "core" / "engine" / "runtime" / "planted.py").touch()
    path = copy / where
    path.parent.mkdir(exist_ok=True)
    path.write_text(source, encoding="utf-8")
    code, said = lint(copy)
    assert code == 1, said
    assert reported in said


def test_every_room_is_a_package_the_linter_sees() -> None:
    bare = [
        folder.relative_to(ROOT).as_posix()
        for package in PRODUCT
        for folder in {
            path.parent for path in own_files() if path.suffix == ".py" and path.is_relative_to(ROOT / package)
        }
        if not (folder / "__init__.py").exists()
    ]
    assert not bare, f"without __init__.py the contracts do not see them: {sorted(bare)}"
