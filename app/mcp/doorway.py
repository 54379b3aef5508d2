"""What every part of `loci mcp` is given: the home, the client, the way to the engine, and where words go.

Must not do: connect, or read a token, before it is asked to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from app.cli.output import Output
from app.environment import Environment
from app.mcp.link import Identity, Link
from app.mcp.starter import Starter, own_command, serving_command
from app.mcp.surroundings import KEPT
from app.mcp.tokens import token_file
from core.errors import Code, UserError
from core.ipc.protocol.transport import Place, socket_place

_NAME = 40


@dataclass(frozen=True, slots=True)
class Doorway:
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

    def link(self, *, start: bool) -> Link:
        """The way to the engine.

        Args:
            start: whether the engine may be started where nobody answers.
        """
        who = Identity(self.client, self.token_file, self.variables.get("LOCI_TOKEN", ""))
        serving = serving_command(self.found.home, self.found.secret_file)
        return Link(self.place, who, Starter(serving, self.variables) if start else None)

    def command(self) -> tuple[str, list[str], dict[str, str]]:
        """How an assistant starts this server.

        Returns:
            The program, its arguments, and the variables it needs; no secret among them.
        """
        program, *head = own_command()
        home = [] if self.found.home == self.found.default_home else ["--home", str(self.found.home)]
        tools = [] if self.tools == "lean" else ["--tools", self.tools]
        kept = {name: self.variables[name] for name in KEPT if self.variables.get(name)}
        if home:
            kept.pop("LOCI_HOME", None)
        return program, [*head, *home, "mcp", "--client", self.client, *tools], kept


def checked_client(client: str) -> str:
    """The name of a client, where it is one that can name a file too.

    Args:
        client: as it was typed, or as whoever stands on the socket said it.

    Returns:
        The same.

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
