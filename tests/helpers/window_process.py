"""The window in a process of its own, on a screen nobody sees; driven by scenarios of window_driver.py.

Must not do: import Qt; call a verb of the engine.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import pytest
from cli_rig import ROOT, Palace, Result

DRIVER = ROOT / "tests" / "e2e" / "window_driver.py"
PATIENCE_S = 90.0
SCREEN = "1440x960x24"


@contextmanager
def screen() -> Iterator[str]:
    """A screen of its own.

    Yields:
        Its name, for `DISPLAY`.
    """
    if shutil.which("Xvfb") is None:
        pytest.skip("the window tests need Xvfb: apt-get install xvfb")
    reading, writing = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writing), "-screen", "0", SCREEN, "-nolisten", "tcp", "-noreset"],
        pass_fds=[writing],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(writing)
    try:
        ready, _, _ = select.select([reading], [], [], PATIENCE_S)
        number = os.read(reading, 16).decode().strip() if ready else ""
        assert number, "Xvfb did not start"
        yield f":{number}"
    finally:
        os.close(reading)
        server.terminate()
        server.wait()


def on(palace: Palace, display: str, *, scratch: Path | None = None) -> dict[str, str]:
    """The environment of a window on a palace.

    Args:
        palace: whose home.
        display: from `screen`.
        scratch: where temporary files go; None for the usual place.
    """
    found = {name: value for name, value in palace.environment.items() if name != "QT_QPA_PLATFORM"}
    more = {} if scratch is None else {"TMPDIR": str(scratch)}
    told = {"DISPLAY": display, "LOCI_HOME": str(palace.home), "PYTHONFAULTHANDLER": "1"}  # a crash says where it was
    return {**found, **more, **told}


class Driven:
    """A window that a scenario uses; ended, by force if need be, when the block ends."""

    def __init__(
        self,
        scenario: str,
        palace: Palace,
        environment: Mapping[str, str],
        *arguments: str,
        verbs: Sequence[str] = (),
        driver: Path = DRIVER,
    ) -> None:
        """Start it.

        Args:
            scenario: its name in window_driver.py.
            palace: whose folder pictures of failures go to.
            environment: from `on`.
            arguments: what the scenario is told.
            verbs: of the command line; none for the window.
            driver: the program that knows the scenario.
        """
        self._flag = palace.folder / "go-on"
        self._process = subprocess.Popen(
            [sys.executable, str(driver), scenario, str(palace.folder), *arguments, "--", *verbs],
            cwd=palace.folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._said = bytearray()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.communicate()

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    def reaches(self, step: str) -> None:
        """Wait until the scenario says that a step is done; fails where it ends without."""
        self._hears(f"done: {step}\n")

    def says(self, head: str) -> str:
        """Wait until the scenario says a line that begins so, which it writes at once; the rest of it."""
        self._hears(head)
        (line,) = (line for line in self._said.decode().splitlines() if line.startswith(head))
        return line.removeprefix(head)

    def _hears(self, words: str) -> None:
        assert self._process.stdout is not None
        while words not in self._said.decode():
            ready, _, _ = select.select([self._process.stdout], [], [], PATIENCE_S)
            more = os.read(self._process.stdout.fileno(), 65536) if ready else b""
            assert more, (words, self._said.decode(), self._rest())
            self._said += more

    def _rest(self) -> str:
        self._process.kill()
        return self._process.communicate()[1].decode()

    def go_on(self) -> None:
        """Let a scenario that waits for the test go on."""
        self._flag.touch()

    def end(self, number: int = signal.SIGTERM) -> Result:
        """Send a signal and wait for the end."""
        self._process.send_signal(number)
        return self.ended()

    def ended(self) -> Result:
        """Wait for the end."""
        out, err = self._process.communicate(timeout=PATIENCE_S)
        return Result(self._process.returncode, self._said.decode() + out.decode(), err.decode())
