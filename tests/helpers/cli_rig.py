"""The real command line in processes of their own, each with a home, a runtime directory and an environment of its own.

A vault is made once with the lowest accepted key cost and copied while closed; `loci init` itself is tested apart.
Must not do: reach into the engine; what a test sees here is what a stranger sees.
"""

from __future__ import annotations

import json
import os
import py_compile
import resource
import select
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

from warm_start import Forked

from core.engine.facade import Home, HomeKeys, create_vault
from core.errors import LociError
from core.ipc.client.client import Client
from core.ipc.protocol.transport import Place, socket_place
from core.security.passphrase import KdfCost
from core.types.clock import SystemClock

T = TypeVar("T")

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "fixtures" / "imports"
PASSPHRASE = "seven quiet herons above Tórshavn"
MINUTE_S = 60.0
_AT_START = ("PYTHON", "LANG", "LC_")
"""Variables that an interpreter reads when it starts."""

# Many commands in one process: each is a whole `loci`, with its own engine and its own opening of the vault.
_SHELL = """
import contextlib, io, json, resource, sys
from app.__main__ import main
typed = sys.stdin
for line in typed:
    # A command has an input of its own, an empty one: what is typed here are the commands.
    sys.stdin = io.TextIOWrapper(io.BytesIO())
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(json.loads(line))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps([peak, code, out.getvalue(), err.getvalue()]), flush=True)
"""


# Read by every process at its start: whoever dials beyond this machine ends at once, with a code of its own.
_GUARD = """
import os, sys

def guard(event, arguments):
    if event in ("socket.getaddrinfo", "socket.gethostbyname"):
        away = arguments[0] not in (None, "localhost", "127.0.0.1", "::1")
    elif event in ("socket.connect", "socket.bind", "socket.sendto"):
        address = arguments[1]
        away = isinstance(address, tuple) and address[0] not in ("localhost", "127.0.0.1", "::1")
    else:
        return
    if away:
        os.write(2, b"this process used the network\\n")
        os._exit(97)

sys.addaudithook(guard)
"""


@dataclass(frozen=True, slots=True)
class Result:
    """How one command ended.

    Attributes:
        code: its exit code.
        out: standard output.
        err: standard error.
    """

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """The one JSON document on standard output, of a command that succeeded."""
        assert self.code == 0, (self.code, self.err)
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found

    def refused(self, exit_code: int, code: str) -> str:
        """Check that the command was refused as the contract says.

        Returns:
            The sentence.
        """
        assert self.code == exit_code, (self.code, self.out, self.err)
        assert self.out == ""
        last = self.err.splitlines()[-1]
        found, sentence = last.split(": ", 1)
        assert found == code, self.err
        assert sentence.endswith("."), self.err
        assert "Traceback" not in self.err, self.err
        return sentence


class Palace:
    """One home and the command line on it.

    Attributes:
        folder: everything of this palace lies below it.
        home: where the vault lives.
        secret: the passphrase file.
        environment: of every process that is started.
    """

    def __init__(self, folder: Path) -> None:
        """Lay out the folder; there is no vault yet.

        Args:
            folder: a directory that exists and is empty.
        """
        self.folder, self.home, self.secret = folder, folder / "h", folder / "secret"
        self.secret.write_text(PASSPHRASE + "\n", encoding="utf-8")
        runtime, guard = folder / "run", folder / "guard"
        runtime.mkdir(mode=0o700)
        guard.mkdir()
        (guard / "sitecustomize.py").write_text(_GUARD, encoding="utf-8")
        py_compile.compile(str(guard / "sitecustomize.py"), doraise=True)  # what a command leaves behind is looked at
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "XDG_RUNTIME_DIR": str(runtime),
            **{f"XDG_{name}_HOME": str(folder / name.lower()) for name in ("DATA", "CONFIG", "CACHE", "STATE")},
            "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
            "QT_QPA_PLATFORM": "offscreen",
            "PYTHONPATH": os.pathsep.join([str(guard), str(ROOT)]),
        }

    def command(self, *arguments: str, secret: Path | None = None) -> list[str]:
        """A command on this home, without the program.

        Args:
            arguments: the verb and what follows.
            secret: another passphrase file.

        Returns:
            The arguments of `loci`.
        """
        return ["--home", str(self.home), "--passphrase-file", str(secret or self.secret), *arguments]

    def run(
        self,
        *arguments: str,
        secret: Path | None = None,
        variables: Mapping[str, str] | None = None,
        typed: str = "",
        timeout_s: float = 4 * MINUTE_S,
        file_bytes: int | None = None,
        fresh: bool = False,
    ) -> Result:
        """Run one command in a process of its own.

        Args:
            arguments: the verb and what follows.
            secret: another passphrase file.
            variables: added to the environment.
            typed: standard input; never a terminal.
            timeout_s: a command that takes longer is ended and fails the test.
            file_bytes: no file may be written beyond this size, which is what a full quota looks like.
            fresh: start it in an interpreter of its own rather than by forking one (`warm_start`); so is what is
                given variables that an interpreter reads when it starts.
        """
        given = self.command(*arguments, secret=secret)
        return self.bare(
            *given, variables=variables, typed=typed, timeout_s=timeout_s, file_bytes=file_bytes, fresh=fresh
        )

    def bare(
        self,
        *arguments: str,
        variables: Mapping[str, str] | None = None,
        typed: str = "",
        timeout_s: float = 4 * MINUTE_S,
        file_bytes: int | None = None,
        fresh: bool = False,
    ) -> Result:
        """Run `loci` with exactly these arguments; see `run`."""
        environment = {**self.environment, **(variables or {})}
        if not fresh and not any(name.startswith(_AT_START) for name in variables or ()):
            running = Forked(arguments, self.folder, environment, file_bytes=file_bytes)
            code, out, err = running.communicate(typed.encode(), timeout_s)
            return Result(code, out.decode(), err.decode())

        # Bytecode is written, or every process would translate the house anew; cut off at a size it would be no code.
        cut = {} if file_bytes is None else {"PYTHONDONTWRITEBYTECODE": "1"}

        def limit() -> None:
            if file_bytes is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))

        done = subprocess.run(
            [sys.executable, "-m", "app", *arguments],
            preexec_fn=limit,
            cwd=self.folder,
            env={**self.environment, **cut, **(variables or {})},
            input=typed.encode(),
            capture_output=True,
            timeout=timeout_s,
            check=False,
        )
        return Result(done.returncode, done.stdout.decode(), done.stderr.decode())

    def json(self, *arguments: str, variables: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Run one command that succeeds, with `--json`, and read its document."""
        return self.run("--json", *arguments, variables=variables).document

    @contextmanager
    def shell(self) -> Iterator[Shell]:
        """Many commands in one process, which saves starting Python for each; every one opens the vault anew."""
        shell = Shell(self)
        try:
            yield shell
        finally:
            shell.close()

    def everything(self) -> list[dict[str, Any]]:
        """Every memory, whatever its status."""
        found = self.json("list", "--status", "all", "--limit", "1000000")
        assert found["total"] == len(found["items"])
        return list(found["items"])

    @property
    def place(self) -> Place:
        """Where an engine of this home listens."""
        return socket_place(self.home, self.folder / "data" / "loci", self.folder / "run")

    def client(self, name: str, token: bytes) -> Client:
        """A greeted client; the caller closes it."""
        return self._greeted(name, token)

    def _greeted(self, name: str, token: bytes) -> Client:
        client = Client.connect(self.place)
        try:
            client.greet(name, token, HomeKeys(Home(self.home)).vault_id)
        except LociError:
            client.close()
            raise
        return client

    def owner(self) -> Client:
        """The owner's channel of the engine that runs; the caller closes it."""
        keys = HomeKeys(Home(self.home))
        with keys.open(PASSPHRASE) as root:
            token = keys.owner_token(root)
        return self._greeted("@owner", token)

    @contextmanager
    def serving(self, *, unlocked: bool = True, wait: bool = True) -> Iterator[Serving]:
        """`loci serve` until the block ends.

        Args:
            unlocked: whether it is given the passphrase.
            wait: whether to wait until it answers.

        Yields:
            The running service.
        """
        given = self.command("serve") if unlocked else ["--home", str(self.home), "serve"]
        with Serving(given, self.folder, self.environment) as serving:
            if wait:
                serving.wait_for("Loci is listening")
            yield serving


class Shell:
    """Runs commands one after the other in one process of its own.

    Attributes:
        peak_mb: the most memory the process ever had.
    """

    def __init__(self, palace: Palace) -> None:
        self._palace = palace
        self.peak_mb = 0.0
        self._process = Forked((), palace.folder, palace.environment, code=_SHELL, inherits_errors=True)
        os.close(self._process.stderr)
        self._typed = os.fdopen(self._process.stdin, "wb")
        self._heard = os.fdopen(self._process.stdout, "rb")

    def run(self, *arguments: str) -> Result:
        """Run one command.

        Args:
            arguments: the verb and what follows.
        """
        self._typed.write(json.dumps(self._palace.command(*arguments)).encode() + b"\n")
        self._typed.flush()
        line = self._heard.readline()
        assert line, "the command line died"
        peak_kib, *result = json.loads(line)
        self.peak_mb = peak_kib / 1024
        return Result(*result)

    def json(self, *arguments: str) -> dict[str, Any]:
        """Run one command that succeeds, with `--json`, and read its document."""
        return self.run("--json", *arguments).document

    def close(self) -> None:
        """End the process."""
        self._typed.close()
        self._heard.close()
        assert self._process.wait() == 0


class Serving:
    """A `loci serve` that runs; ended, by force if need be, when the block ends."""

    def __init__(self, arguments: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
        self._process = Forked(arguments, folder, environment)
        self._process.close_input()
        self._heard = bytearray()
        self._is_over = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if not self._is_over:
            self._process.send_signal(signal.SIGKILL)
            self.ended()

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self._process.is_running

    @property
    def heard(self) -> str:
        """What it said on standard error so far."""
        return self._heard.decode()

    def wait_for(self, words: str, timeout_s: float = MINUTE_S) -> None:
        """Wait until it says something; fails when it ends without."""
        while words not in self.heard:
            ready, _, _ = select.select([self._process.stderr], [], [], timeout_s)
            assert ready, f"waited too long for {words!r}: {self.heard}"
            more = os.read(self._process.stderr, 65536)
            assert more, f"ended without {words!r}: {self.heard}"
            self._heard += more

    def end(self, number: int = signal.SIGTERM, timeout_s: float = MINUTE_S) -> Result:
        """Send a signal and wait for the end."""
        self._process.send_signal(number)
        return self.ended(timeout_s)

    def ended(self, timeout_s: float = MINUTE_S) -> Result:
        """Wait for the end."""
        code, out, err = self._process.communicate(b"", timeout_s)
        self._is_over = True
        return Result(code, out.decode(), self.heard + err.decode())


def make_template(folder: Path, *, test_clock: bool = False) -> Path:
    """Make a closed vault with the cheapest accepted key.

    Args:
        folder: a directory that exists and is empty.
        test_clock: as `init --test-clock`.

    Returns:
        Its home, to be copied.
    """
    home = folder / "h"
    create_vault(HomeKeys(Home(home)), PASSPHRASE, SystemClock(), test_clock=test_clock, cost=KdfCost.lowest())
    return home


def palace_from(template: Path, folder: Path) -> Palace:
    """A palace with a copy of a closed vault.

    Args:
        template: from `make_template`.
        folder: a directory that exists and is empty.
    """
    palace = Palace(folder)
    shutil.copytree(template, palace.home)
    return palace


def in_background(work: Callable[[], T]) -> Callable[[], T]:
    """Begin a command and go on.

    Returns:
        Waits for it and gives its result.
    """
    found: list[T] = []
    thread = threading.Thread(target=lambda: found.append(work()))
    thread.start()

    def wait() -> T:
        thread.join(2 * MINUTE_S)
        return found[0]

    return wait


def files_below(folder: Path) -> dict[str, tuple[int, bytes | None]]:
    """Every file below a folder with its mode and, where it is an ordinary file, its bytes."""
    return {
        str(path.relative_to(folder)): (path.lstat().st_mode, path.read_bytes() if path.is_file() else None)
        for path in sorted(folder.rglob("*"))
    }
