"""The core lives without Qt: every module of it imports where PySide6 does not exist."""

from __future__ import annotations

import json
import subprocess
import sys

from arch_tree import ROOT, module_of, python_files

WITHOUT_QT = """
import importlib, json, sys

class NoQt:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"PySide6", "shiboken6", "pyqtgraph", "qasync"}:
            raise ModuleNotFoundError(f"{name} is not on this machine")
        return None

sys.meta_path.insert(0, NoQt())
failed = {}
for name in json.loads(sys.argv[1]):
    try:
        importlib.import_module(name)
    except ImportError as problem:
        failed[name] = str(problem)
loaded = sorted(name for name in sys.modules if name.partition(".")[0] in {"PySide6", "shiboken6", "PyQt6", "PyQt5"})
print(json.dumps({"failed": failed, "loaded": loaded}))
"""


def import_without_qt(modules: list[str]) -> dict[str, object]:
    done = subprocess.run(
        [
            sys.executable,
            "-P",
            "-c",
            f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{WITHOUT_QT}",
            json.dumps(modules),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, object] = json.loads(done.stdout)
    return result


def test_every_core_module_imports_without_qt() -> None:
    modules = [module_of(path) for path in python_files("core")]
    assert "core.errors" in modules
    assert import_without_qt(modules) == {"failed": {}, "loaded": []}


def test_the_blocker_blocks() -> None:
    failed = import_without_qt(["PySide6.QtCore"])["failed"]
    assert failed == {"PySide6.QtCore": "PySide6 is not on this machine"}
