"""What the bootstrap does once the environment stands: set up, run, test.

Starts the tools of `.venv` and reports honestly. Must not hide an exit code or a
failure, and must not refuse a job for want of something that job does not use.
Standard library only.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import environment
import machine

WORKERS = 2


def setup(arguments: list[str]) -> int:
    """Make the environment and bring the system libraries; does nothing else.

    Args:
        arguments: none are known.
    """
    if arguments:
        print("setup takes no arguments.", file=sys.stderr)
        return 2
    env = environment.ensure()
    for wanted, purpose in (
        (machine.QT_LIBRARIES | machine.X11_LIBRARIES, "The window"),
        (machine.TEST_PROGRAMS, "Testing the window"),
    ):
        lacking = machine.provide(wanted, purpose)
        if lacking:
            print(lacking, file=sys.stderr)
    print(f"Ready: {env.scripts / 'loci'}")
    return 0


def window_exists(root: Path) -> bool:
    """Whether this checkout has a window yet."""
    return (root / "app" / "window.py").exists()


def choose(arguments: list[str], *, display: bool, window: bool) -> tuple[str | None, list[str]]:
    """What `run` starts.

    Args:
        arguments: what the person gave after `run`.
        display: a window could be shown.
        window: there is a window to show.

    Returns:
        A line to say first, if any, and the arguments for `loci`.
    """
    if arguments or (display and window):
        return None, arguments
    why = "The window is not built yet" if display else "There is no display here"
    return f"{why}: showing the tour in the terminal.", ["demo"]


def run(arguments: list[str]) -> int:
    """Open the window, or give the tour where there is none; with arguments, run `loci` with them.

    Args:
        arguments: passed on to `loci`.

    Returns:
        The exit code of `loci`.

    Raises:
        machine.NotPossibleError: the window lacks a system library that cannot be installed without asking.
    """
    env = environment.ensure()
    display = machine.has_display(sys.platform, os.environ)
    window = window_exists(env.root)
    line, rest = choose(arguments, display=display, window=window)
    if line:
        print(line, flush=True)
    elif display and window:
        lacking = machine.provide(machine.window_libraries(os.environ), "The window")
        if lacking:
            raise machine.NotPossibleError(lacking)
    command = [str(env.scripts / "loci"), *rest]
    if os.name != "nt":
        # The same process from here on: signals and the exit code are those of `loci` itself.
        os.execve(command[0], command, environment.child_environment())
    return subprocess.run(command, env=environment.child_environment(), check=False).returncode


def _checked(name: str, command: list[str], env: environment.Environment) -> int:
    """Run one tool under a header line and say how long it took; its output is left as it is."""
    print(f"== {name}", flush=True)
    started = time.monotonic()
    quiet = environment.child_environment(QT_QPA_PLATFORM="offscreen")
    done = subprocess.run(command, cwd=env.root, env=quiet, check=False)
    verdict = "ok" if done.returncode == 0 else f"failed ({done.returncode})"
    print(f"== {name}: {verdict}, {time.monotonic() - started:.1f} s\n", flush=True)
    return done.returncode


def count_cases(report: Path) -> tuple[int, int, int]:
    """Read how the tests went.

    Args:
        report: what pytest wrote with `--junitxml`; may be missing when pytest died.

    Returns:
        Numbers of tests passed, failed (a failure or an error anywhere in the test) and skipped.
    """
    try:
        cases = ET.parse(report).getroot().iter("testcase")  # noqa: S314  written by our own pytest a moment ago
    except (OSError, ET.ParseError):
        return 0, 0, 0
    worst: dict[tuple[str | None, str | None], int] = {}
    for case in cases:
        tags = {child.tag for child in case}
        rank = 2 if tags & {"failure", "error"} else 1 if "skipped" in tags else 0
        key = (case.get("classname"), case.get("name"))
        worst[key] = max(worst.get(key, 0), rank)
    ranks = list(worst.values())
    return ranks.count(0), ranks.count(2), ranks.count(1)


def _pytest(env: environment.Environment, arguments: list[str]) -> tuple[int, int, int]:
    with tempfile.TemporaryDirectory(prefix="loci-test-") as directory:
        report = Path(directory) / "report.xml"
        spread = ["-n", str(min(WORKERS, os.cpu_count() or 1)), "--dist", "loadfile"]
        command = [str(env.python), "-m", "pytest", "-q", *spread, f"--junitxml={report}", *arguments]
        code = _checked("pytest", command, env)
        passed, failed, skipped = count_cases(report)
    if code and not failed:
        failed = 1  # it ended badly outside any test: no tests found, a broken conftest, a crash
    return passed, failed, skipped


def test(arguments: list[str]) -> int:
    """Run every check and every test.

    Args:
        arguments: passed on to pytest.

    Returns:
        0 only when nothing failed.

    Raises:
        machine.NotPossibleError: Qt cannot be loaded even without a display.
    """
    env = environment.ensure()
    lacking = machine.provide(machine.QT_LIBRARIES, "Testing")
    if lacking:
        raise machine.NotPossibleError(lacking)
    without = machine.provide(machine.TEST_PROGRAMS, "Testing the window on a real screen")
    if without:
        print(without, file=sys.stderr)
    started = time.monotonic()
    passed = failed = 0
    for name, command in (
        ("ruff check", ["ruff", "check", "."]),
        ("ruff format", ["ruff", "format", "--check", "."]),
        ("mypy", ["mypy"]),
        ("import contracts", ["lint-imports", "--no-logo"]),
    ):
        code = _checked(name, [str(env.scripts / command[0]), *command[1:]], env)
        passed, failed = passed + (code == 0), failed + (code != 0)
    tests_passed, tests_failed, skipped = _pytest(env, arguments)
    print(f"{skipped} skipped, {time.monotonic() - started:.0f} s in all")
    print(f"{passed + tests_passed} passed, {failed + tests_failed} failed", flush=True)
    return 1 if failed + tests_failed else 0


JOBS: dict[str, Callable[[list[str]], int]] = {"setup": setup, "run": run, "test": test}
