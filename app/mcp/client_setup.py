"""What every part of `loci mcp` is given: the home, the client, the way to the engine, and where words go.

It knows the variables an assistant leaves out when it starts a server, and the command that starts the engine. Must not
do: connect, or read a token, before it is asked to; read a key or a passphrase, which the engine finds itself.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from app.cli.output import Output
from app.environment import Environment
from app.mcp.link import ClientIdentity, EngineLink, Starter
from app.mcp.tokens import token_file
from core.errors import Code, UserError
from core.ipc.protocol.transport import Place, is_own_folder, socket_place


def loci_command() -> list[str]:
    """How this program is started, for an assistant's configuration and for a child."""
    script = Path(sys.prefix) / ("Scripts/loci.exe" if sys.platform == "win32" else "bin/loci")
    if getattr(sys, "frozen", False):
        return [_find_app_image(os.environ) or sys.executable]
    return [str(script)] if script.is_file() else [sys.executable, "-m", "app"]


def _find_app_image(variables: Mapping[str, str]) -> str | None:
    # What is mounted for this process is gone with it: only the file itself can be started again. The variables may be
    # those of another AppImage, a terminal for one, from which this program was started.
    image, mounted = variables.get("APPIMAGE"), variables.get("APPDIR")
    return image if image and mounted and Path(sys.executable).is_relative_to(mounted) else None


def engine_command(home: Path, secret_file: Path | None) -> list[str]:
    """The command that runs the engine of a home and ends at once where it would have to ask.

    Args:
        home: where the vault lives.
        secret_file: file with the passphrase, if one was named.

    Returns:
        The command and its arguments; no secret in them.
    """
    secret = [] if secret_file is None else ["--passphrase-file", str(secret_file)]
    return [*loci_command(), "--home", str(home), *secret, "serve", "--unlocked"]


KEPT = ("LOCI_HOME", "LOCI_SOCKET", "XDG_RUNTIME_DIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME")
"""Variables that say where the vault, the socket and the token are; none of them is a secret."""


def complete_variables(variables: Mapping[str, str], runtime_root: Path = Path("/run/user")) -> dict[str, str]:
    """Add what assistants drop: most start their servers with little more than HOME and PATH.

    Args:
        variables: of this process.
        runtime_root: where Linux keeps the runtime directories of its users.

    Returns:
        The same, with `XDG_RUNTIME_DIR` and the address of the session's bus where they are missing and found.
    """
    found = dict(variables)
    if sys.platform != "linux" or found.get("XDG_RUNTIME_DIR"):
        return found
    folder = runtime_root / str(os.geteuid())
    if not is_own_folder(folder):
        return found
    found["XDG_RUNTIME_DIR"] = str(folder)
    if "DBUS_SESSION_BUS_ADDRESS" not in found and (folder / "bus").exists():
        found["DBUS_SESSION_BUS_ADDRESS"] = f"unix:path={folder / 'bus'}"
    return found


_NAME = 40


@dataclass(frozen=True, slots=True)
class ClientSetup:
    """One client of one home.

    Attributes:
        found: what the environment says.
        variables: of this process, completed.
        client: the client's name.
        tools: a profile of `app.mcp.tools`.
        out: where words and JSON go.
    """

    found: Environment
    variables: Mapping[str, str]
    client: str
    tools: str
    out: Output

    @property
    def place(self) -> Place:
        """Where the engine of the home listens."""
        found = self.found
        return socket_place(found.home, found.default_home, found.runtime_dir, found.socket)

    @property
    def token_file(self) -> Path:
        """Where the client's token lies."""
        return token_file(self.found, self.client)

    def make_link(self, *, start: bool) -> EngineLink:
        """The way to the engine.

        Args:
            start: whether the engine may be started where nobody answers.
        """
        who = ClientIdentity(self.client, self.token_file, self.variables.get("LOCI_TOKEN", ""))
        serving = engine_command(self.found.home, self.found.secret_file)
        return EngineLink(self.place, who, Starter(serving, self.variables) if start else None)

    def server_command(self) -> tuple[str, list[str], dict[str, str]]:
        """How an assistant starts this server.

        Returns:
            The program, its arguments, and the variables it needs; no secret among them.
        """
        program, *head = loci_command()
        home = [] if self.found.home == self.found.default_home else ["--home", str(self.found.home)]
        tools = [] if self.tools == "lean" else ["--tools", self.tools]
        kept = {name: self.variables[name] for name in KEPT if self.variables.get(name)}
        if home:
            kept.pop("LOCI_HOME", None)
        return program, [*head, *home, "mcp", "--client", self.client, *tools], kept


def check_client_name(client: str) -> str:
    """The name of a client, where it is one that can name a file too.

    Args:
        client: as it was typed, or as whoever stands on the socket said it.

    Raises:
        UserError: INVALID_INPUT.
    """
    fits = 0 < len(client) <= _NAME and client[0].isalnum() and all(c.isalnum() or c in " ._-" for c in client)
    if not (fits and client.isascii()):
        raise UserError(
            Code.INVALID_INPUT,
            "A client's name has 1 to 40 letters from A to Z, digits, blanks, dots, dashes or underscores.",
        )
    return client
