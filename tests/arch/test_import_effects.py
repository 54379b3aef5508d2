"""Importing any module of Loci does nothing: no file, folder, thread, process, socket or environment change."""

from __future__ import annotations

import ast
import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from arch_tree import PRODUCT, ROOT, imported_names, module_of, parsed, python_files, walk

IN_STRING = re.compile(r"\bfrom ((?:app|core|ui)(?:\.\w+)*) import (\w+(?: as \w+)?(?:, *\w+(?: as \w+)?)*)")
WATCHED = """
import importlib, json, os, sys, threading

root, outside, inside = sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3])
sys.path.insert(0, root)
sys.dont_write_bytecode = True
for name in outside:  # what other people's libraries do at import is theirs
    try:
        importlib.import_module(name)
    except ImportError:
        pass

seen = []
ACTS = {"os.mkdir", "os.remove", "os.rename", "os.putenv", "os.unsetenv", "os.chmod", "os.system", "os.fork",
        "os.listdir", "os.scandir", "socket.__new__", "socket.connect", "socket.bind", "subprocess.Popen"}

def watch(event, arguments):
    if event in ACTS:
        if event in {"os.listdir", "os.scandir"} and not str(arguments[0]).startswith(home):
            return  # the import system lists folders
        seen.append(event)
    elif event == "open":
        path, flags = str(arguments[0]), arguments[2] or 0
        writes = bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
        data = path.startswith(root) and not path.endswith((".py", ".pyc", ".so")) and os.sep + ".venv" not in path
        if writes or data:
            seen.append(f"open {path}")

def start(thread, start=threading.Thread.start):
    seen.append("thread")
    start(thread)

home = os.environ["HOME"]
threading.Thread.start = start
environment, threads = dict(os.environ), set(threading.enumerate())
sys.addaudithook(watch)
acts = {}
for name in inside:
    seen.clear()
    importlib.import_module(name)
    if seen:
        acts[name] = sorted(set(seen))
sys.stdout.write(json.dumps({
    "acts": acts,
    "environment": sorted(key for key, _ in set(environment.items()) ^ set(os.environ.items())),
    "threads": [thread.name for thread in threading.enumerate() if thread not in threads],
    "home": os.listdir(home),
}))
"""


def effects(root: Path, outside: list[str], inside: list[str], home: Path) -> dict[str, object]:
    """What importing the modules did, seen from a fresh interpreter with an empty home."""
    env = {key: value for key, value in os.environ.items() if not key.startswith(("XDG_", "LOCI_"))}
    env |= {"HOME": str(home), "XDG_RUNTIME_DIR": str(home), "TMPDIR": str(home)}
    command = [sys.executable, "-P", "-c", WATCHED, str(root), json.dumps(outside), json.dumps(inside)]
    done = subprocess.run(command, env=env, cwd=home, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    result: dict[str, object] = json.loads(done.stdout)
    return result


@pytest.mark.slow
def test_importing_does_nothing(tmp_path: Path) -> None:
    files = python_files(*PRODUCT)
    outside = {name.split(".")[0] for path in files for name in imported_names(parsed(path)).values()} - set(PRODUCT)
    full = {name for path in files for name in imported_names(parsed(path)).values()}
    others = sorted(outside | {name for name in full if name.split(".")[0] in outside})
    seen = effects(ROOT, others, [module_of(path) for path in files], tmp_path)
    assert seen == {"acts": {}, "environment": [], "threads": [], "home": []}


def test_the_watcher_sees(tmp_path: Path) -> None:
    tree, home = tmp_path / "tree", tmp_path / "home"
    tree.mkdir()
    home.mkdir()
    (tree / "busy.py").write_text(
        "import os, socket, threading\n"
        "open(os.path.join(os.environ['HOME'], 'left'), 'w').close()\n"
        "os.environ['LEFT'] = '1'\n"
        "socket.socket().close()\n"
        "threading.Thread(target=threading.Event().wait, daemon=True).start()\n",
        encoding="utf-8",
    )
    (tree / "calm.py").write_text("import json\n", encoding="utf-8")
    seen = effects(tree, ["socket"], ["busy", "calm"], home)
    assert seen["home"] == ["left"]
    assert seen["environment"] == ["LEFT"]
    assert seen["threads"]
    assert seen["acts"] == {"busy": sorted([f"open {home / 'left'}", "os.putenv", "socket.__new__", "thread"])}


def in_strings(tree: ast.Module) -> set[str]:
    """Modules and names that code in a string imports, as dotted paths: what a child process is started with."""
    found = set()
    for node in walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            for module, names in IN_STRING.findall(node.value):
                found |= {f"{module}.{name.split(' as ')[0].strip()}" for name in names.split(",")}
    return found


def test_code_that_stands_in_a_string_names_what_is_there() -> None:
    wanted = {name for path in python_files(*PRODUCT) for name in in_strings(parsed(path))}
    assert wanted
    missing = []
    for name in sorted(wanted):
        module, _, attribute = name.rpartition(".")
        if not hasattr(importlib.import_module(module), attribute):
            missing.append(name)
    assert not missing


def test_an_import_in_a_string_is_seen() -> None:
    assert in_strings(ast.parse("A = 'import sys; from core.one import two, three as four; two()'")) == {
        "core.one.two",
        "core.one.three",
    }
