"""Keepers: every test gets an empty home, no network, and must leave no thread and no unexpected log record.

A test that expects a warning names it: `@pytest.mark.expected_logs("regex")`. Threads of a fixture of
wider scope are excused with `@pytest.mark.keeps_threads("reason")`.
"""

from __future__ import annotations

import gc
import ipaddress
import itertools
import logging
import os
import re
import shutil
import socket
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import pytest
from example_counts import is_quick_run, left_out, register_profiles
from shared_bytecode import translate_share

if TYPE_CHECKING:
    from engine_rig import Rig

register_profiles()

_JOIN_SECONDS = 60.0
_runtime_numbers = itertools.count()
_born: weakref.WeakKeyDictionary[threading.Thread, str] = weakref.WeakKeyDictionary()
_dialled: list[str] = []
_started: list[str] = []
_FAST_FOLDERS = ("unit", "property")
_start = threading.Thread.start
_LIBRARY = os.path.dirname(threading.__file__)  # noqa: PTH120 - compared as text


class NetworkUsedError(AssertionError):
    """Code under test tried to leave this machine."""


def _remember_birth(thread: threading.Thread) -> None:
    """`threading.Thread.start` that notes the line which started the thread."""
    # Not `traceback.extract_stack`: it looks at every file on the stack, a thirtieth of what the unit tests cost.
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_LIBRARY):
        frame = frame.f_back
    _born[thread] = "?" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"
    _start(thread)


def _is_here(host: object) -> bool:
    """Whether an address names this machine only."""
    if host is None or host in {"localhost", b"localhost"}:
        return True
    try:
        return ipaddress.ip_address(host.decode() if isinstance(host, bytes) else str(host)).is_loopback
    except ValueError:
        return False


def _watch(event: str, arguments: tuple[object, ...]) -> None:
    """Audit hook: refuse what would reach beyond loopback (Unix sockets are free), and note what starts a process."""
    if event == "subprocess.Popen":
        _started.append(str(arguments[0]))
        return
    if event in {"socket.connect", "socket.bind", "socket.sendto"}:
        sock, address = arguments[0], arguments[1]
        inet = isinstance(sock, socket.socket) and sock.family in {socket.AF_INET, socket.AF_INET6}
        host = address[0] if isinstance(address, tuple) and inet else None
    elif event in {"socket.getaddrinfo", "socket.gethostbyname"}:
        host = arguments[0]
    else:
        return
    if not _is_here(host):
        _dialled.append(event)
        raise NetworkUsedError(f"{event} beyond this machine: tests and core use no network")


def pytest_configure() -> None:
    """Set up what lasts for the whole run, before anything of Qt or Loci is loaded."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    threading.Thread.start = _remember_birth  # type: ignore[assignment,method-assign]
    sys.addaudithook(_watch)


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Translate before all files are loaded."""
    translate_share(session.config)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A quick run tries every third case of a long table."""
    if not is_quick_run():
        return
    tables = [item.nodeid.partition("[")[0] if _folder(item) in _FAST_FOLDERS else item.nodeid for item in items]
    marked = list(zip(items, left_out(tables), strict=True))
    config.hook.pytest_deselected(items=[item for item, is_left_out in marked if is_left_out])
    items[:] = [item for item, is_left_out in marked if not is_left_out]


def _folder(item: pytest.Item) -> str:
    """The folder of tests that a test lies in."""
    return item.path.relative_to(Path(__file__).parent).parts[0]


def pytest_collection_finish() -> None:
    """What the collection left behind (some eleven thousand tests) is searched for garbage no more."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def empty_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home directory of its own for each test; nothing of the person's is seen or touched."""
    # Short, because a Unix socket's path has to fit in 108 bytes.
    home = tmp_path_factory.getbasetemp() / f"h{next(_runtime_numbers)}"
    runtime = home / "run"
    runtime.mkdir(parents=True, mode=0o700)
    for name in [key for key in os.environ if key.startswith(("LOCI_", "XDG_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    for name, folder in (("DATA", "data"), ("CONFIG", "config"), ("CACHE", "cache"), ("STATE", "state")):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(home / folder))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    yield home
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(autouse=True)
def nothing_dangles(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test that leaves a thread behind, naming the line that started it."""
    before = set(threading.enumerate())
    yield
    if request.node.get_closest_marker("keeps_threads"):
        return
    left = [thread for thread in threading.enumerate() if thread not in before]
    until = time.monotonic() + _JOIN_SECONDS  # for all of them: what dangles costs a test that fails no more than this
    for thread in left:
        thread.join(max(0.0, until - time.monotonic()))
    alive = [f"{thread.name}, started at {_born.get(thread, '?')}" for thread in left if thread.is_alive()]
    if alive:
        pytest.fail("left running: " + "; ".join(alive), pytrace=False)


@pytest.fixture(autouse=True)
def no_network() -> Iterator[None]:
    """Fail a test whose code tried the network, even where it swallowed the refusal."""
    _dialled.clear()
    yield
    if _dialled:
        tried = ", ".join(_dialled)
        _dialled.clear()
        pytest.fail(f"tried to reach beyond this machine: {tried}", pytrace=False)


@pytest.fixture(autouse=True)
def no_process(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a quick test that starts a process and does not say so: `test --fast` knows it by its mark."""
    _started.clear()
    yield
    if _started and _folder(request.node) in _FAST_FOLDERS and not request.node.get_closest_marker("starts_process"):
        pytest.fail(f"mark it with starts_process; it started {', '.join(_started)}", pytrace=False)


class _Collector(logging.Handler):
    """Keeps what was logged at WARNING and above."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.levelname} {record.name}: {record.getMessage()}")


@pytest.fixture(autouse=True)
def quiet_logs(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test that logs a warning or worse which it does not expect."""
    collector = _Collector()
    logging.getLogger().addHandler(collector)
    yield
    logging.getLogger().removeHandler(collector)
    expected = [pattern for mark in request.node.iter_markers("expected_logs") for pattern in mark.args]
    surprising = [line for line in collector.lines if not any(re.search(pattern, line) for pattern in expected)]
    if surprising:
        pytest.fail("unexpected log records: " + "; ".join(surprising), pytrace=False)


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    """An open engine on a home of its own, which does nothing by itself; its embedder is the quick stand-in."""
    # Only when a test asks for it: this file is read for every test, also for those of rooms without an engine.
    from engine_rig import rig_at

    with rig_at(tmp_path) as made:
        yield made
