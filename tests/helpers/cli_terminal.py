"""A command with somebody at its terminal: it asks on standard error, and what a test types is the answer."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Self

from cli_rig import MINUTE_S, Palace, Result


class Terminal:
    """One running command whose standard input is a terminal."""

    def __init__(self, palace: Palace, *arguments: str) -> None:
        """Start `loci` with these arguments on a palace's home."""
        self._master, slave = os.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "app", *palace.command(*arguments)],
            cwd=palace.folder,
            env=palace.environment,
            stdin=slave,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        os.close(slave)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()
        os.close(self._master)

    def line(self) -> str:
        """The next line of what it says to the person."""
        assert self.process.stderr is not None
        return self.process.stderr.readline().decode()

    def until(self, words: str) -> str:
        """What it says to the person, up to the line that holds these words."""
        said = ""
        while words not in said:
            line = self.line()
            assert line, f"it ended without {words!r}: {said}"
            said += line
        return said

    def code(self) -> str:
        """The one-time code that it shows."""
        return self.line().split("client:")[1].split()[0]

    def type(self, typed: bytes) -> None:
        """Answer what it asks."""
        os.write(self._master, typed)

    def ended(self) -> Result:
        """Wait until it ends."""
        out, err = self.process.communicate(timeout=MINUTE_S)
        return Result(self.process.returncode, out.decode(), err.decode())
