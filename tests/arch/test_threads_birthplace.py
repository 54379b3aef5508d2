"""Threads are born in one file, and child processes only where a reason is written down."""

from __future__ import annotations

from pathlib import Path

import pytest
from arch_tree import PRODUCT, name_of, python_files, used_paths

BIRTHPLACE = "core/engine/runtime/threads.py"
THREADS = (
    "threading.Thread",
    "threading.Timer",
    "concurrent.futures.ThreadPoolExecutor",
    "concurrent.futures.ProcessPoolExecutor",
    "concurrent.futures.thread",
    "concurrent.futures.process",
    "multiprocessing",
    "_thread",
    "asyncio.to_thread",
    "PySide6.QtCore.QThread",
)
PROCESSES = (
    "subprocess",
    "os.fork",
    "os.forkpty",
    "os.system",
    "os.popen",
    "os.spawn",
    "os.posix_spawn",
    "os.exec",
    "pty",
)

# File to reason. A child process must be named in full, get no secret and no shell.
PROCESS_ALLOWED: dict[str, str] = {
    "core/engine/views/graph.py": "a layout holds the lock for seconds; only a child can be stopped",
    "app/bench/measure.py": "a cold start can only be measured in a process where nothing is loaded yet",
    "app/mcp/link.py": "an assistant may call before the window is open; the engine then runs by itself",
    "app/cli/memories.py": "the person's own editor, on their terminal",
    "app/mcp/pairing.py": "pairing as the owner opens the vault, which `loci mcp` itself must not",
    "core/security/keyring_client.py": "a locked keyring on a desktop blocks its caller for ever; a child can be ended",
}


def births(path: Path, watched: tuple[str, ...]) -> set[str]:
    """Which of the watched things a file imports or reaches."""
    exact = {name for name in watched if name.startswith("os.")}
    return {
        used
        for _, used in used_paths(path)
        for name in watched
        if used == name or used.startswith(f"{name}.") or (name in exact and used.startswith(name))
    }


def test_threads_are_born_in_one_file() -> None:
    found = {name_of(path): births(path, THREADS) for path in python_files(*PRODUCT) if name_of(path) != BIRTHPLACE}
    assert not {name: what for name, what in found.items() if what}, f"threads belong to {BIRTHPLACE}"


def test_the_default_executor_is_not_used() -> None:
    # loop.run_in_executor(None, ...) makes a pool nobody owns.
    bare = [
        name_of(path)
        for path in python_files(*PRODUCT)
        if "run_in_executor(None" in path.read_text(encoding="utf-8").replace("\n", "").replace(" ", "")
    ]
    assert not bare


def test_processes_are_started_where_a_reason_is_given() -> None:
    found = {name_of(path): births(path, PROCESSES) for path in python_files(*PRODUCT)}
    assert not {name: what for name, what in found.items() if what and name not in PROCESS_ALLOWED}


def test_allowed_files_still_need_it() -> None:
    starting = {name_of(path) for path in python_files(*PRODUCT) if births(path, PROCESSES)}
    assert set(PROCESS_ALLOWED) <= starting


@pytest.mark.parametrize(
    ("source", "watched"),
    [
        ("import threading\nthreading.Thread()", THREADS),
        ("from threading import Thread as T", THREADS),
        ("import threading as t\nt.Timer(1, print)", THREADS),
        ("from concurrent.futures import ThreadPoolExecutor", THREADS),
        ("import concurrent.futures\nconcurrent.futures.ThreadPoolExecutor()", THREADS),
        ("import multiprocessing.pool", THREADS),
        ("import asyncio\nasync def f(): await asyncio.to_thread(print)", THREADS),
        ("def f():\n    import subprocess", PROCESSES),
        ("import os\nos.execve('a', [], {})", PROCESSES),
        ("from os import system", PROCESSES),
    ],
)
def test_the_check_sees(tmp_path: Path, source: str, watched: tuple[str, ...]) -> None:
    path = tmp_path / "planted.py"
    path.write_text(source, encoding="utf-8")
    assert births(path, watched)


def test_the_check_leaves_locks_and_futures_alone(tmp_path: Path) -> None:
    path = tmp_path / "calm.py"
    path.write_text(
        "import threading\nfrom concurrent.futures import Future\nthreading.Lock()\nthreading.Event()\n",
        encoding="utf-8",
    )
    assert not births(path, THREADS)
