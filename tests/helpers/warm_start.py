"""Starts commands by forking a process that has imported Loci and read its word lists already.

A fresh interpreter takes a second for the one, and the first question or memory half a second for the other.

The service is started so too. Each command is a process of its own with its environment, working directory and streams,
and ends like any other. What a fork cannot show, how a command starts, is the matter of tests that start a fresh one
(`Palace.bare(fresh=True)`), and so is the cost of a new key: forked commands make keys at the least that is accepted.
"""

from __future__ import annotations

import atexit
import json
import os
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# The process that is forked. A request forks a keeper, which forks the command, tells its number and how it ended.
_PARENT = """
import atexit, gc, importlib, inspect, io, json, os, pkgutil, resource, signal, socket, sys, threading, time
import core
from core.security.passphrase import KdfCost

for name in json.loads(sys.argv[2]):
    importlib.import_module(name)
for found in pkgutil.walk_packages(core.__path__, "core."):
    importlib.import_module(found.name)
for name, module in list(sys.modules.items()):
    if name.startswith(tuple(json.loads(sys.argv[3]))):
        for kept in list(vars(module).values()):
            if hasattr(kept, "cache_info") and kept.__module__ == name and not inspect.signature(kept).parameters:
                kept()
KdfCost.standard = KdfCost.lowest  # a second for each opening of a vault or an archive that a forked command made
gc.collect()
gc.freeze()

def next_command(listener):
    while True:
        talk, _ = listener.accept()
        if os.fork() == 0:
            break
        talk.close()
    listener.close()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    given, streams, _, _ = socket.recv_fds(talk, 1 << 20, 3)
    command = os.fork()
    if command:
        for stream in streams:
            os.close(stream)
        talk.sendall(b"%d\\n" % command)
        _, status, used = os.wait4(command, 0)
        talk.sendall(b"%d %.3f\\n" % (status, used.ru_utime + used.ru_stime))
        os._exit(0)
    talk.close()
    os.setpgid(0, 0)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    return json.loads(given)

listener = socket.socket(fileno=int(sys.argv[1]))
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
wanted = next_command(listener)
os.environ.clear()
os.environ.update(wanted["environment"])
os.chdir(wanted["folder"])
time.tzset()
if wanted["file_bytes"] is not None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (wanted["file_bytes"], wanted["file_bytes"]))
sys.stdin = sys.__stdin__ = open(0, encoding="utf-8", errors="surrogateescape", closefd=False)
sys.stdout = sys.__stdout__ = open(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)
sys.stderr = sys.__stderr__ = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False, buffering=1)
sys.argv = ["loci", *wanted["arguments"]]
code = 0
try:
    exec(compile(wanted["code"], "<command>", "exec"), {"__name__": "__main__"})
except SystemExit as end:
    code = end.code or 0
except BaseException:
    sys.excepthook(*sys.exc_info())
    code = 1
# As an interpreter ends, but its modules are not taken apart: that touches all memory shared with the parent.
threading._shutdown()
atexit._run_exitfuncs()
try:
    sys.stdout.flush()
    sys.stderr.flush()
except OSError:
    code = 120
os._exit(code)
"""
_LOADED = (
    "app.__main__", "app.chat.model_server", "app.cli.commands", "app.engine.doctor", "app.engine.local_session",
    "app.engine.service", "numpy.ma", "onnxruntime", "tokenizers", "yaml",
)  # fmt: skip
"""What commands load beside all of core: an engine loads most of its rooms when a vault is opened."""
_READ = (
    "core.belief.", "core.embed.", "core.entities.", "core.sensitivity.", "core.talk.", "core.text.", "core.vault.",
)  # fmt: skip
"""Whose word lists are read already: they depend on nothing but resources."""
_RUN = "from app.__main__ import run; run()"
_parents: list[tuple[subprocess.Popen[bytes], str]] = []


def _address(environment: Mapping[str, str]) -> str:
    """Where the process that is forked listens; it is started at the first call."""
    if not _parents:
        folder = Path(tempfile.mkdtemp(prefix="lw"))
        guard = environment["PYTHONPATH"].split(os.pathsep)[0]
        (folder / "sitecustomize.py").write_bytes((Path(guard) / "sitecustomize.py").read_bytes())
        path = str(folder / "s")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path)
            listener.listen(16)
            parent = subprocess.Popen(
                [sys.executable, "-c", _PARENT, str(listener.fileno()), json.dumps(_LOADED), json.dumps(_READ)],
                cwd=folder,
                env={**environment, "HOME": str(folder), "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)])},
                pass_fds=[listener.fileno()],
                stdin=subprocess.DEVNULL,
            )
        _parents.append((parent, path))
        atexit.register(_end)
    return _parents[0][1]


def _end() -> None:
    for parent, path in _parents:
        parent.kill()
        parent.wait()
        shutil.rmtree(Path(path).parent, ignore_errors=True)


class Forked:
    """A command that runs; what it reads and writes goes through pipes, standard error too unless it is inherited.

    Attributes:
        spent_s: processor time of all commands that have ended; no child of this process, they are not in its own.
    """

    spent_s = 0.0

    def __init__(
        self,
        arguments: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        *,
        code: str = _RUN,
        file_bytes: int | None = None,
        inherits_errors: bool = False,
    ) -> None:
        """Start it.

        Args:
            arguments: what follows the program's name.
            folder: where it runs.
            environment: all of it.
            code: Python to run instead of the program.
            file_bytes: no file may be written beyond this size.
            inherits_errors: whether it writes errors to the standard error of this process.
        """
        self._talk = socket.socket(socket.AF_UNIX)
        self._talk.connect(_address(environment))
        stdin, self.stdin = os.pipe()
        self.stdout, stdout = os.pipe()
        self.stderr, stderr = (os.dup(2), os.dup(2)) if inherits_errors else os.pipe()
        wanted = {
            "arguments": list(arguments),
            "folder": str(folder),
            "environment": dict(environment),
            "code": code,
            "file_bytes": file_bytes,
        }
        socket.send_fds(self._talk, [json.dumps(wanted).encode()], [stdin, stdout, stderr])
        for stream in (stdin, stdout, stderr):
            os.close(stream)
        self.pid = int(self._next_line())

    def _next_line(self) -> bytes:
        """What the keeper says next: the number of the process, then how it ended."""
        line = b""
        while not line.endswith(b"\n"):
            more = self._talk.recv(1)
            assert more, "the process that is forked has ended"
            line += more
        return line

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        return True

    def send_signal(self, number: int) -> None:
        """Send it a signal, where it still runs."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def close_input(self) -> None:
        """Nothing will be typed."""
        os.close(self.stdin)
        self.stdin = -1

    def wait(self) -> int:
        """Its exit code, or the number of the signal that ended it below zero."""
        status, spent = self._next_line().split()
        self._talk.close()
        Forked.spent_s += float(spent)
        return os.waitstatus_to_exitcode(int(status))

    def communicate(self, typed: bytes, timeout_s: float) -> tuple[int, bytes, bytes]:
        """Feed it, read all it says and wait for its end.

        Raises:
            subprocess.TimeoutExpired: it took too long and was ended.
        """
        heard = {self.stdout: bytearray(), self.stderr: bytearray()}
        until = time.monotonic() + timeout_s
        with selectors.DefaultSelector() as waiting:
            if self.stdin >= 0:
                os.set_blocking(self.stdin, False)
                waiting.register(self.stdin, selectors.EVENT_WRITE)
            for stream in heard:
                waiting.register(stream, selectors.EVENT_READ)
            while waiting.get_map():
                ready = waiting.select(until - time.monotonic())
                if not ready:
                    self.send_signal(signal.SIGKILL)
                    raise subprocess.TimeoutExpired("loci", timeout_s)
                for key, _ in ready:
                    stream = key.fd
                    if stream == self.stdin:
                        typed = self._feed(typed)
                        is_over = not typed
                    else:
                        more = os.read(stream, 1 << 16)
                        heard[stream] += more
                        is_over = not more
                    if is_over:
                        waiting.unregister(stream)
                        os.close(stream)
        return self.wait(), bytes(heard[self.stdout]), bytes(heard[self.stderr])

    def _feed(self, typed: bytes) -> bytes:
        """Write what fits; the rest."""
        try:
            return typed[os.write(self.stdin, typed) :] if typed else b""
        except BrokenPipeError:
            return b""
