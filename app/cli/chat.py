"""`loci chat`: talk with a model of this machine that is given what you remember.

Must not do: import the engine; the chat asks it over the socket, as any client does.
"""

from __future__ import annotations

import io
import sys

import click

from app.cli.mcp import door, doorway_of
from core.errors import Code, UserError

__all__ = ["chat", "door"]


@click.command()
@click.option("--model", default="", help="Which model answers; one that fits unless said otherwise.")
@click.option("--client", default="chat", show_default=True, help="Which paired client this is.")
@click.option("--host", help="The model server (or LOCI_OLLAMA); 127.0.0.1:11434 unless said otherwise.")
@click.option("--no-start", is_flag=True, help="Never start the engine; say that Loci is not running.")
@click.pass_context
def chat(context: click.Context, model: str, client: str, host: str | None, no_start: bool) -> None:
    """Talk with a local model that is given what you remember.

    What fits your words is given to the model before each turn, and what was said is kept after it, as far as you
    granted. /help lists the commands of a chat.
    """
    from app.mcp.doorway import checked_client

    way = doorway_of(context, checked_client(client), "lean")
    if way.out.as_json:
        raise UserError(Code.INVALID_INPUT, "A chat has no JSON; leave --json away.")
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors="replace")
    from app.chat.start import start_chat

    start_chat(way, model, host, may_start=not no_start)


door.add_command(chat)
