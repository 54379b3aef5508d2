"""`loci mcp --pair`: gets a token for a client of this machine and keeps it where `loci mcp` looks.

With a code it asks the engine that shows it; without one the person pairs as the owner, by `loci pair` in a process of
its own. Must not do: open the vault, print a token.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import replace

from app.cli.output import visible
from app.mcp.doorway import Doorway, checked_client
from app.mcp.starter import own_command
from app.mcp.tokens import write_token
from core.errors import Code, UserError
from core.ipc.client import Client, token_to_text


def pair_client(door: Doorway, code: str | None, grants: Sequence[str] = ()) -> None:
    """Pair and say how it went.

    Args:
        door: of the client.
        code: as Loci shows it; None to pair as the owner.
        grants: what the owner grants; none for the usual ones.

    Raises:
        LociError: PAIRING_REFUSED, NOT_HERE, WRITE_FAILED; INVALID_INPUT where the answer names no client that can be:
            its name is the name of the token's file.
    """
    name, token, given = _by_code(door, code) if code is not None else _as_owner(door, grants)
    write_token(replace(door, client=name).token_file, token)
    if door.out.as_json:
        door.out.document({"client": name, "grants": given})
        return
    door.out.line(f"Paired {visible(name)}: {', '.join(given)}. Its token is kept for `loci mcp --client {name}`.")


def _by_code(door: Doorway, code: str) -> tuple[str, str, list[str]]:
    door.out.note("Now allow it in Loci.")
    with Client.connect(door.place) as client:
        found = client.pair(door.client, code)
    return checked_client(found.client), token_to_text(found.token), list(found.grants)


def _as_owner(door: Doorway, grants: Sequence[str]) -> tuple[str, str, list[str]]:
    secret = door.found.secret_file
    asked = [*own_command(), "--home", str(door.found.home)]
    asked += [] if secret is None else ["--passphrase-file", str(secret)]
    granted = ["--grant", ",".join(grants)] if grants else []
    # Its standard error and input are ours: it may ask the person for the passphrase.
    done = subprocess.run(
        [*asked, "--json", "pair", door.client, *granted],
        stdout=subprocess.PIPE,
        env=dict(door.variables),
        check=False,
    )
    if done.returncode != 0:
        raise UserError(Code.PAIRING_REFUSED, "Nothing was paired; the reason stands above.")
    reply = json.loads(done.stdout)
    return str(reply["client"]), str(reply["token"]), list(reply["grants"])
