"""`loci chat` in a process of its own, typed to over a pipe or a terminal."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Self

from cli_rig import MINUTE_S, Palace, Result


def chat_command(palace: Palace, *arguments: str) -> list[str]:
    """The program and arguments of `loci chat` on a palace's home, without a passphrase."""
    return [sys.executable, "-m", "app", "--home", str(palace.home), "chat", "--no-start", *arguments]


def chatted(
    palace: Palace, host: str, lines: Sequence[str], *arguments: str, variables: Mapping[str, str] | None = None
) -> Result:
    """A whole chat over pipes: the lines are typed at once, then input ends."""
    done = subprocess.run(
        chat_command(palace, *arguments), cwd=palace.folder, capture_output=True, check=False, timeout=2 * MINUTE_S,
        input="".join(f"{line}\n" for line in lines).encode(),
        env={**palace.environment, "LOCI_OLLAMA": host, **(variables or {})},
    )  # fmt: skip
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())


class TypedChat:
    """A chat on a terminal of its own, where Ctrl+C is a key.

    Attributes:
        heard: all that it showed so far.
    """

    def __init__(self, palace: Palace, host: str, *arguments: str) -> None:
        self.heard, self._seen = "", 0
        self._end, theirs = pty.openpty()

        def own_terminal() -> None:
            os.setsid()
            os.close(os.open(os.ttyname(0), os.O_RDWR))  # opening it makes it the one that controls
            signal.signal(signal.SIGINT, signal.SIG_DFL)

        self._process = subprocess.Popen(
            chat_command(palace, *arguments), cwd=palace.folder, preexec_fn=own_terminal,
            stdin=theirs, stdout=theirs, stderr=theirs, env={**palace.environment, "LOCI_OLLAMA": host},
        )  # fmt: skip
        os.close(theirs)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        os.close(self._end)

    def wait_for(self, words: str) -> None:
        """Wait until it shows something new; what was waited for before does not count."""
        while words not in self.heard[self._seen :]:
            ready, _, _ = select.select([self._end], [], [], MINUTE_S)
            assert ready, f"waited too long for {words!r}: {self.heard}"
            more = b""
            with suppress(OSError):  # the terminal of a process that ended
                more = os.read(self._end, 65536)
            assert more, f"ended without {words!r}: {self.heard}"
            self.heard += more.decode(errors="replace")
        self._seen = self.heard.index(words, self._seen) + len(words)

    def type(self, keys: str) -> None:
        """Press keys; the Enter key is part of them where it is meant."""
        os.write(self._end, keys.encode())

    def ended(self) -> int:
        """Wait for the end; the exit code."""
        return self._process.wait(MINUTE_S)
