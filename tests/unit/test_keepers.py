"""The keepers of conftest.py bite: each planted misdeed fails its test, and nothing else does."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import shared_bytecode
from example_counts import left_out

pytestmark = pytest.mark.starts_process

CONFTEST = Path(__file__).resolve().parents[1] / "conftest.py"
PLANTED = """
import asyncio, logging, os, socket, subprocess, sys, threading
from pathlib import Path
import pytest

stop = threading.Event()

def test_ok_calm():
    a, b = socket.socketpair()
    a.close(), b.close()

def test_ok_loopback():
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()):
        pass

def test_ok_thread_that_ends():
    thread = threading.Thread(target=lambda: None)
    thread.start()

async def test_ok_asyncio():
    await asyncio.to_thread(print)

@pytest.mark.expected_logs("spilt")
def test_ok_expected_log():
    logging.getLogger("loci.x").warning("milk was spilt")

@pytest.mark.keeps_threads("planted")
def test_ok_excused_thread():
    threading.Thread(target=stop.wait, daemon=True).start()

def test_bad_log():
    logging.getLogger("loci.x").warning("milk was spilt")

def test_bad_name_look_up():
    socket.getaddrinfo("example.invalid", 80)

def test_bad_swallowed_connection():
    try:
        socket.create_connection(("192.0.2.1", 80), timeout=0.01)
    except Exception:
        pass

def test_bad_open_door():
    socket.socket().bind(("0.0.0.0", 0))

def test_ok_home_is_empty():
    assert os.listdir(Path.home()) == ["run"]
    assert os.environ["XDG_DATA_HOME"].startswith(os.environ["HOME"])
    (Path.home() / "mark").touch()

def test_ok_home_is_another():
    assert not (Path.home() / "mark").exists()

def test_bad_thread():
    threading.Thread(target=stop.wait, name="dangling", daemon=True).start()

def test_bad_process():
    subprocess.run([sys.executable, "-I", "-c", ""])

@pytest.mark.starts_process
def test_ok_process_that_is_named():
    subprocess.run([sys.executable, "-I", "-c", ""])

def teardown_module():
    stop.set()
"""


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, str], str]:
    """Which planted tests failed, with everything pytest said."""
    folder = tmp_path_factory.mktemp("planted")
    (folder / "conftest.py").write_text(
        CONFTEST.read_text(encoding="utf-8").replace("_JOIN_SECONDS = 60.0", "_JOIN_SECONDS = 0.3"), encoding="utf-8"
    )
    (folder / "unit").mkdir()
    (folder / "unit" / "test_planted.py").write_text(PLANTED, encoding="utf-8")
    (folder / "pytest.ini").write_text(
        f"[pytest]\npythonpath = {CONFTEST.parent / 'helpers'}\n"
        "asyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\n"
        "markers =\n  expected_logs: x\n  keeps_threads: x\n  starts_process: x\n",
        encoding="utf-8",
    )
    report = folder / "report.xml"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml", str(report)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert report.exists(), done.stdout + done.stderr
    cases: dict[str, str] = {}
    for case in ET.parse(report).getroot().iter("testcase"):  # noqa: S314  our own pytest wrote it
        bad = any(child.tag in {"failure", "error"} for child in case)
        if bad or case.get("name") not in cases:
            cases[str(case.get("name"))] = "failed" if bad else "passed"
    return cases, done.stdout


def test_each_misdeed_fails_and_nothing_else(outcome: tuple[dict[str, str], str]) -> None:
    cases, said = outcome
    assert len(cases) == 15
    assert {name: result for name, result in cases.items() if ("_bad_" in name) != (result == "failed")} == {}, said


def test_a_dangling_thread_is_told_with_the_line_that_started_it(outcome: tuple[dict[str, str], str]) -> None:
    line = (
        PLANTED.splitlines().index('    threading.Thread(target=stop.wait, name="dangling", daemon=True).start()') + 1
    )
    assert (
        f"dangling, started at {outcome[1].split('dangling, started at ')[1].split('test_planted.py:')[0]}"
        in outcome[1]
    )
    assert f"test_planted.py:{line}" in outcome[1]


def test_this_run_is_kept_too() -> None:
    assert os.environ["QT_QPA_PLATFORM"] == "offscreen"
    assert not [name for name in os.environ if name.startswith("LOCI_")]
    with socket.socket(socket.AF_UNIX) as free:
        free.bind(os.path.join(os.environ["XDG_RUNTIME_DIR"], "a-socket-of-some-length.sock"))  # noqa: PTH118


def test_workers_divide_all_that_is_translated(tmp_path: Path) -> None:
    for number in range(8):
        (tmp_path / f"test_{number}.py").write_text("x = 1\n" * number, encoding="utf-8")
    found = shared_bytecode.test_files([tmp_path])
    shares = [shared_bytecode.share(found, number, 3) for number in range(3)]
    assert sorted(path for one in shares for path in one) == found
    assert [len(one) for one in shares] == [3, 3, 2]
    loaded = shared_bytecode.plain_files(shared_bytecode.ROOT)
    folders = {path.relative_to(shared_bytecode.ROOT).parts[0] for path in loaded}
    assert folders == {"app", "core", "resources", "tests", "ui"}


def test_a_quick_run_leaves_out_two_thirds_of_a_long_table() -> None:
    tables = ["long"] * 13 + ["short"] * 12 + ["single"]
    found = list(left_out(tables))
    assert [number for number in range(13) if not found[number]] == [0, 3, 6, 9, 12]
    assert not any(found[13:])
