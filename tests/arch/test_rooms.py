"""The import contracts hold, and every one of them bites when it is broken on purpose."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from arch_tree import PRODUCT, ROOT, own_files

DESIGN = (
    ("ipc",),
    ("engine",),
    ("recall", "lifecycle", "importers", "sessions"),
    ("intake",),
    ("memory", "belief", "entities"),
    ("talk",),
    ("vault", "index", "embed", "llm", "sensitivity"),
    ("archive", "score", "text"),
    ("config", "security"),
    ("log", "events"),
    ("errors", "types"),
)
LINT = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"


def contracts() -> dict[str, dict[str, Any]]:
    """The import contracts by their id."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return {contract["id"]: contract for contract in settings["tool"]["importlinter"]["contracts"]}


def lint(tree: Path) -> tuple[int, str]:
    """Run the contracts over a tree; its exit code and what it printed."""
    # Wide, so that no contract's name is broken into two lines.
    wide = {**os.environ, "COLUMNS": "300"}
    command = [sys.executable, "-P", "-c", LINT]
    done = subprocess.run(command, cwd=tree, env=wide, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_contracts_hold() -> None:
    code, said = lint(ROOT)
    assert code == 0, said


def test_layers_are_those_of_the_design() -> None:
    rooms = contracts()["rooms"]
    lines = [tuple(room.strip(" ()") for room in line.split("|")) for line in rooms["layers"]]
    assert tuple(lines) == DESIGN
    assert rooms["exhaustive"] is True


def copy_tree(into: Path) -> Path:
    """A copy of the tree, with an empty package for every room that does not exist yet."""
    shutil.copy(ROOT / "pyproject.toml", into)
    for package in PRODUCT:
        shutil.copytree(ROOT / package, into / package, ignore=shutil.ignore_patterns("__pycache__"))
    for line in DESIGN:
        for room in line:
            if not (into / "core" / f"{room}.py").exists():
                (into / "core" / room).mkdir(exist_ok=True)
                (into / "core" / room / "__init__.py").touch()
    (into / "core" / "engine" / "facade.py").touch()
    return into


# What is planted: a file under a name of its own, what it says, and which contract names what in its report.
# All of them go into one tree, so that the linter reads it once.
PLANTED = {
    "upward import": (
        "core/text/screening/p1.py",
        "import core.engine",
        "rooms",
        "core.text.screening.p1 -> core.engine",
    ),
    "upward, from a bottom room": (
        "core/types/p2.py",
        "from core import vault",
        "rooms",
        "core.types.p2 -> core.vault",
    ),
    "upward, inside a function": (
        "core/belief/extract/p3.py",
        "def lazy() -> None:\n    import core.recall\n",
        "rooms",
        "core.belief.extract.p3 -> core.recall",
    ),
    "upward, for types only": (
        "core/vault/files/p4.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from core import intake\n",
        "rooms",
        "core.vault.files.p4 -> core.intake",
    ),
    "a page that goes round the bridge": (
        "ui/pages/p5.py",
        "import core.engine.facade",
        "ui-bridge",
        "ui.pages.p5 -> core.engine.facade",
    ),
    "a widget that asks the engine": (
        "ui/widgets/p6.py",
        "import ui.context",
        "ui-rooms",
        "ui.widgets.p6 -> ui.context",
    ),
    "a page that knows another": (
        "ui/pages/p7.py",
        "import ui.pages.library",
        "ui-pages",
        "ui.pages.p7 -> ui.pages.library",
    ),
    "a room of ui nobody listed": ("ui/p8.py", "", "ui-rooms", "- ui.p8"),
    "sibling": (
        "core/recall/browse/p9.py",
        "import core.importers",
        "rooms",
        "core.recall.browse.p9 -> core.importers",
    ),
    "sibling of the store": ("core/index/p10.py", "import core.vault", "rooms", "core.index.p10 -> core.vault"),
    "unlisted room": ("core/p11/__init__.py", "", "rooms", "- core.p11"),
    "unlisted single file": ("core/p12.py", "", "rooms", "- core.p12"),
    "core looks at the window": ("core/engine/runtime/p13.py", "import ui", "houses", "core.engine.runtime.p13 -> ui"),
    "window looks at the doors": ("ui/p14.py", "import app", "houses", "ui.p14 -> app"),
    "lazy Qt": (
        "core/text/screening/p15.py",
        "def lazy() -> None:\n    from PySide6.QtCore import QObject\n",
        "no-qt",
        "core.text.screening.p15 -> PySide6",
    ),
    "Qt by another name": (
        "core/engine/runtime/p16.py",
        "import pyqtgraph",
        "no-qt",
        "core.engine.runtime.p16 -> pyqtgraph",
    ),
    "a page that draws with the library itself": (
        "ui/pages/p23.py",
        "import pyqtgraph",
        "ui-plots",
        "ui.pages.p23 -> pyqtgraph",
    ),
    "app behind the facade": ("app/p17.py", "import core.vault", "app-door", "app.p17 -> core.vault"),
    "app beside the facade": (
        "app/p18.py",
        "from core.engine.runtime import threads",
        "app-door",
        "app.p18 -> core.engine.runtime.threads",
    ),
    "window behind the facade": ("ui/pages/p19.py", "import core.memory", "ui-door", "ui.pages.p19 -> core.memory"),
    "ipc behind the facade": (
        "core/ipc/socket/p20.py",
        "import core.vault",
        "ipc-door",
        "core.ipc.socket.p20 -> core.vault",
    ),
    "ipc beside the facade": (
        "core/ipc/methods/p21.py",
        "import core.engine.runtime.threads",
        "ipc-door",
        "core.ipc.methods.p21 -> core.engine.runtime.threads",
    ),
    "the detector with a log": (
        "core/sensitivity/p24.py",
        "import core.log",
        "sensitivity-door",
        "core.sensitivity.p24 -> core.log",
    ),
    "loci mcp with an engine": (
        "app/mcp/p22.py",
        "import core.engine.facade",
        "mcp-thin",
        "app.mcp.p22 -> core.engine.facade",
    ),
}
# Inside the rooms: an import upwards, one for each contract; and a file that belongs to no inner room.
# Where the lower one is a module, the import is written at its end.
INNER = (
    ("core/engine", "runtime", "memories"),
    ("core/intake", "transaction", "store"),
    ("core/belief", "extract", "relate"),
    ("core/lifecycle", "job_support", "consolidate"),
    ("core/recall", "browse", "pipeline"),
    ("core/importers", "input", "formats"),
    ("core/ipc", "protocol", "socket"),
    ("core/vault", "files", "database"),
    ("core/text", "terms", "query_plan"),
    ("core/score", "profile", "ranking"),
    ("core/sensitivity", "passage", "detector"),
    ("core/archive", "container", "records"),
    ("ui/inspector", "trust", "history"),
    ("ui/pages/journal", "rows", "undo"),
    ("ui/pages/clients", "terms", "pairing"),
    ("ui/pages/recall", "answers", "tuner"),
    ("ui/pages/review", "queue", "item_panel"),
)
MODULES = {f"{room}/{low}.py" for room, low, _ in INNER if not (ROOT / room / low / "__init__.py").is_file()}
for _room, _low, _high in INNER:
    _dotted, _id = _room.replace("/", "."), _room.removeprefix("core/").replace("/", "-") + "-inner"
    _is_folder = (ROOT / _room / _low / "__init__.py").is_file()
    PLANTED[f"upward inside {_dotted}"] = (
        f"{_room}/{_low}/inner.py" if _is_folder else f"{_room}/{_low}.py",
        f"import {_dotted}.{_high}",
        _id,
        f"{_dotted}.{_low}{'.inner' if _is_folder else ''} -> {_dotted}.{_high}",
    )
    PLANTED[f"a file in no inner room of {_dotted}"] = (f"{_room}/attic.py", "", _id, f"- {_dotted}.attic")


def test_the_copy_itself_is_clean(tmp_path: Path) -> None:
    copy = copy_tree(tmp_path)
    (copy / "core" / "ipc" / "socket" / "planted.py").write_text("from core.engine import facade\n", encoding="utf-8")
    (copy / "app" / "planted.py").write_text("import core.engine.facade\nimport core.errors\n", encoding="utf-8")
    code, said = lint(copy)
    assert code == 0, said


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What each broken contract says, by its id, of one tree with every violation in it."""
    copy = copy_tree(tmp_path_factory.mktemp("planted"))
    for where, source, _, _ in PLANTED.values():
        path = copy / where
        is_module = where in MODULES
        assert path.exists() == is_module, f"{where} is no name of its own"
        path.parent.mkdir(exist_ok=True)
        text = path.read_text(encoding="utf-8") if is_module else ""
        path.write_text(f"{text}{source}\n", encoding="utf-8")
    code, said = lint(copy)
    assert code == 1, said
    # A contract's part of the report stands under its name, underlined.
    _, *parts = re.split(r"^(.+)\n-{5,}\n", said, flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def test_every_contract_is_broken_by_something_planted() -> None:
    assert {contract for _, _, contract, _ in PLANTED.values()} == set(contracts())


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_violation_is_reported(reports: dict[str, str], name: str) -> None:
    _, _, contract, reported = PLANTED[name]
    assert reported in reports.get(contracts()[contract]["name"], ""), reports


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
