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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import environment
import machine

WORKERS = 3
"""Two cores: while one worker's test waits for a thread or a timer, the third uses its core."""
# What `test --fast` runs: tests that need no window and no process and take under 0.3 s of processor time, properties
# on a fifth of their examples, long tables on a third of their cases (tests/helpers/example_counts.py). Those of
# tests/arch, which ask ruff and the import contracts, are the checks themselves.
FAST = (
    "tests/arch", "tests/unit", "tests/property",
    "-m", "not starts_process and not slow", "--hypothesis-profile=loci-quick",
)  # fmt: skip


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


def choose(arguments: list[str], *, display: bool) -> tuple[str | None, list[str]]:
    """What `run` starts.

    Args:
        arguments: what the person gave after `run`.
        display: a window could be shown.

    Returns:
        A line to say first, if any, and the arguments for `loci`.
    """
    if arguments or display:
        return None, arguments
    return "There is no display here: showing the tour in the terminal.", ["demo"]


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
    line, rest = choose(arguments, display=display)
    if line:
        print(line, flush=True)
    elif display:
        lacking = machine.provide(machine.window_libraries(os.environ), "The window")
        if lacking:
            raise machine.NotPossibleError(lacking)
    command = [str(env.scripts / "loci"), *rest]
    if os.name != "nt":
        # The same process from here on: signals and the exit code are those of `loci` itself.
        os.execve(command[0], command, environment.child_environment())
    return subprocess.run(command, env=environment.child_environment(), check=False).returncode


def _told(name: str, code: int, started: float) -> int:
    """Say how a tool went and how long it took."""
    verdict = "ok" if code == 0 else f"failed ({code})"
    print(f"== {name}: {verdict}, {time.monotonic() - started:.1f} s\n", flush=True)
    return code


def _checked(name: str, command: list[str], env: environment.Environment, **extra: str) -> int:
    """Run one tool under a header line and say how long it took; its output is left as it is."""
    print(f"== {name}", flush=True)
    started = time.monotonic()
    quiet = environment.child_environment(QT_QPA_PLATFORM="offscreen", **extra)
    return _told(name, subprocess.run(command, cwd=env.root, env=quiet, check=False).returncode, started)


@contextmanager
def _beside(name: str, command: list[str], env: environment.Environment) -> Iterator[Callable[[], int]]:
    """Run one tool while others run; its output stands together, where its end is waited for."""
    started = time.monotonic()
    with tempfile.TemporaryFile() as said:
        running = subprocess.Popen(
            command, cwd=env.root, env=environment.child_environment(), stdout=said, stderr=subprocess.STDOUT
        )

        def end() -> int:
            code = running.wait()
            print(f"== {name}, which ran beside the tests", flush=True)
            said.seek(0)
            print(said.read().decode("utf-8", "replace"), end="", flush=True)
            return _told(name, code, started)

        try:
            yield end
        finally:
            if running.poll() is None:
                running.kill()
                running.wait()


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
    # A vault waits for the disk at each commit, which is most of the time in which nothing computes.
    with tempfile.TemporaryDirectory(prefix="loci-", dir=machine.memory_folder()) as directory:
        report = Path(directory) / "report.xml"
        # A worker that is done takes tests from the end of another's row; a file's tests mostly stay together.
        spread = ["-n", str(min(WORKERS, (os.cpu_count() or 1) + 1)), "--dist", "worksteal"]
        # A path of a socket holds 107 bytes: pytest's own folders in a folder of ours would leave too few of them.
        place = f"--basetemp={Path(directory) / 't'}"
        command = [str(env.python), "-m", "pytest", "-q", *spread, f"--junitxml={report}", place, *arguments]
        code = _checked("pytest", command, env, TMPDIR=directory)
        passed, failed, skipped = count_cases(report)
    if code and not failed:
        failed = 1  # it ended badly outside any test: no tests found, a broken conftest, a crash
    return passed, failed, skipped


def test(arguments: list[str]) -> int:
    """Run every check and every test; with `--fast`, every check and the tests that are quick.

    Quick are those that need no window and no process and are not marked `slow`; they try properties on fewer examples.

    Args:
        arguments: passed on to pytest, all but `--fast`.

    Returns:
        0 only when nothing failed.

    Raises:
        machine.NotPossibleError: Qt cannot be loaded even without a display.
    """
    rest = [argument for argument in arguments if argument != "--fast"]
    is_fast = rest != arguments
    env = environment.ensure()
    lacking = machine.provide(machine.QT_LIBRARIES, "Testing")
    if lacking:
        raise machine.NotPossibleError(lacking)
    without = None if is_fast else machine.provide(machine.TEST_PROGRAMS, "Testing the window on a real screen")
    if without:
        print(without, file=sys.stderr)
    started = time.monotonic()
    with _beside("mypy", [str(env.scripts / "mypy")], env) as mypy:
        codes = [
            _checked(name, [str(env.scripts / command[0]), *command[1:]], env)
            for name, command in (
                ("ruff check", ["ruff", "check", "."]),
                ("ruff format", ["ruff", "format", "--check", "."]),
                ("import contracts", ["lint-imports", "--no-logo"]),
            )
        ]
        passed, failed, skipped = _pytest(env, [*FAST, *rest] if is_fast else rest)
        codes.append(mypy())
    passed, failed = passed + codes.count(0), failed + len(codes) - codes.count(0)
    print(f"{skipped} skipped, {time.monotonic() - started:.0f} s in all")
    print(f"{passed} passed, {failed} failed", flush=True)
    return 1 if failed else 0


JOBS: dict[str, Callable[[list[str]], int]] = {"setup": setup, "run": run, "test": test}
