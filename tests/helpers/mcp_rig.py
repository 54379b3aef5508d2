"""`loci mcp` on a palace: paired clients, the SDK's client in its own process, a raw end that sends anything."""

from __future__ import annotations

import json
import select
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from cli_rig import MINUTE_S, ROOT, Palace
from warm_start import Forked

from app.mcp.tokens import token_file
from core.ipc.client.client import token_from_text

DRIVER = ROOT / "tests" / "e2e" / "mcp_driver.py"


def mcp_command(palace: Palace, *arguments: str) -> list[str]:
    """The program and arguments of `loci mcp` on a palace's home, without a passphrase."""
    return [sys.executable, "-m", "app", "--home", str(palace.home), "mcp", *arguments]


def pair(palace: Palace, name: str, *grants: str, limit: str = "none") -> bytes:
    """Pair a client and keep its token where `loci mcp` looks; the token."""
    given = [part for grant in grants for part in ("--grant", grant)]
    token = palace.json("pair", name, *given, "--limit", limit)["token"]
    folder = palace.folder / "config" / "loci" / "clients"
    asked = Forked((str(palace.home), name), palace.folder, palace.environment, code=_WHERE)
    code, found, said = asked.communicate(b"", MINUTE_S)
    assert code == 0, said
    path = Path(json.loads(found))
    assert path.is_relative_to(folder)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.touch(mode=0o600)
    path.write_text(token)
    return token_from_text(token)


_WHERE = f"""
import json, os, sys
from pathlib import Path
from app.environment import read_environment
from {token_file.__module__} import token_file
print(json.dumps(str(token_file(read_environment(os.environ, Path(sys.argv[1]), None), sys.argv[2]))))
"""


def driven(palace: Palace, arguments: Sequence[str], known: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """What the SDK's client saw, in a process of its own."""
    asked = {
        "command": mcp_command(palace, *arguments),
        "environment": palace.environment,
        "mode": mode,
        "known": known,
    }
    done = subprocess.run(
        [sys.executable, str(DRIVER)], input=json.dumps(asked), capture_output=True, text=True,
        timeout=2 * MINUTE_S, env=palace.environment, cwd=palace.folder, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stderr == ""
    found: dict[str, Any] = json.loads(done.stdout)
    return found


class RawMcp:
    """A server whose input and output are bytes of a test."""

    def __init__(self, palace: Palace, *arguments: str, variables: Mapping[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            mcp_command(palace, *arguments),
            cwd=palace.folder,
            env={**palace.environment, **(variables or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._heard = bytearray()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def send(self, *messages: object) -> None:
        """Send messages, or bytes as they are."""
        assert self.process.stdin is not None
        for message in messages:
            line = message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"
            self.process.stdin.write(line)
        self.process.stdin.flush()

    def line(self, timeout_s: float = MINUTE_S) -> dict[str, Any]:
        """The next message; anything else on standard output fails."""
        assert self.process.stdout is not None
        while b"\n" not in self._heard:
            ready, _, _ = select.select([self.process.stdout], [], [], timeout_s)
            assert ready, "no answer came"
            more = self.process.stdout.read1(65536)  # type: ignore[attr-defined]  # a buffered pipe
            assert more, "the server ended"
            self._heard += more
        raw, _, rest = bytes(self._heard).partition(b"\n")
        self._heard = bytearray(rest)
        found: dict[str, Any] = json.loads(raw)
        assert found["jsonrpc"] == "2.0"
        return found

    def ask(self, ident: object, method: str, params: object = None) -> dict[str, Any]:
        """A request and its answer."""
        self.send({"jsonrpc": "2.0", "id": ident, "method": method, "params": params or {}})
        return self.line()

    def tool(self, ident: object, name: str, arguments: object) -> dict[str, Any]:
        """Call a tool."""
        return self.ask(ident, "tools/call", {"name": name, "arguments": arguments})

    def greet(self) -> dict[str, Any]:
        """The handshake of the older eras."""
        client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "0"}}
        found = self.ask(0, "initialize", client)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return found

    def close(self, timeout_s: float = MINUTE_S) -> tuple[int, str]:
        """Close input and wait; the exit code and standard error."""
        out, err = self.process.communicate(timeout=timeout_s)
        for line in (bytes(self._heard) + out).splitlines():
            assert json.loads(line)["jsonrpc"] == "2.0"
        return self.process.returncode, err.decode()
