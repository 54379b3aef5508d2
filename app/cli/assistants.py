"""`loci mcp` and `loci chat`: serve an assistant over standard input and output, pair it, set it up; talk with a model.

Must not do: import the engine, or the SDK before it is needed: an assistant waits for the first answer.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from app import environment
from app.cli.options import CONTEXT, global_options, parse_grants
from app.cli.output import Output, Progression
from app.mcp.tools import LEAN, PROFILES
from core.errors import Code, LociError, UserError
from core.types.values import LOOK_SIGNAL

if TYPE_CHECKING:
    from app.mcp.client_setup import ClientSetup


import io
import sys

_DEFAULT = "mcp"


@click.command()
@click.option("--client", help="The paired client to act as. Default: mcp.")
@click.option(
    "--tools",
    type=click.Choice(PROFILES),
    default=LEAN,
    show_default=True,
    help="Which tools are offered: six; those and lists, single memories, history and turns; all.",
)
@click.option("--no-start", is_flag=True, help="Never start the engine; answer that Loci is not running.")
@click.option(
    "--install", metavar="ASSISTANT", help="Add Loci to an assistant's configuration; `list` shows the assistants."
)
@click.option("--print", "only_print", is_flag=True, help="With --install: print what would be written, and stop.")
@click.option("--yes", is_flag=True, help="With --install: write without asking.")
@click.option("--pair", metavar="NAME", help="Pair this client and keep its token for `loci mcp --client NAME`.")
@click.option(
    "--code", help="With --install or --pair: the one-time code that Loci shows; else you pair it as the owner."
)
@click.option(
    "--grant",
    "grants",
    multiple=True,
    help="With --pair or --install: what it may and which spaces it sees, as with `loci pair`, such as space:home.",
)
@click.option("--test", is_flag=True, help="Start the server as an assistant would and try it.")
@click.pass_context
def mcp(
    context: click.Context,
    client: str | None,
    tools: str,
    no_start: bool,
    install: str | None,
    only_print: bool,
    yes: bool,
    pair: str | None,
    code: str | None,
    grants: tuple[str, ...],
    test: bool,
) -> None:
    """Serve an assistant over standard input and output (MCP).

    An assistant starts this itself; --install sets one up and pairs it, --pair only gives it a token, --test tries it
    and says what it sees. With --code you allow it in the window, and choose its spaces there; without --code and
    --grant you are asked here which of your spaces it sees. `loci grant` changes that later.
    """
    orphans = _find_orphan_options(install, pair, only_print, yes, code)
    if grants and install is None and pair is None:
        orphans.append("--grant belongs to --pair or --install")
    prints = only_print and code is not None
    _refuse_muddles(client, install, pair, test=test, prints=prints, orphans=orphans)
    from app.mcp.client_setup import check_client_name

    given = parse_grants(grants)
    setup = read_client_setup(context, check_client_name(client or pair or _normalize_name(install) or _DEFAULT), tools)
    if install is not None:
        from app.mcp.installation import InstallOptions, install_into

        options = InstallOptions(only_print=only_print, yes=yes, code=code, grants=given or None)
        context.exit(install_into(setup, install, options))
    if pair is not None:
        from app.mcp.pairing import ask_grants, pair_client

        name, made = pair_client(setup, code, given or (() if code is not None else ask_grants(setup)))
        if setup.out.as_json:
            setup.out.print_document({"client": name, "grants": made})
        return
    if test:
        from app.mcp.connection_test import run_trial

        context.exit(0 if run_trial(setup) else 1)
    from app.mcp.server import run_server

    run_server(lambda: setup.make_link(start=not no_start), tools)


def _find_orphan_options(
    install: str | None, pair: str | None, only_print: bool, yes: bool, code: str | None
) -> list[str]:
    """The options that belong to another one which was not given, each with that one."""
    given = (
        (only_print, install, "--print", "--install"),
        (yes, install, "--yes", "--install"),
        (code is not None, pair or install, "--code", "--install or --pair"),
    )
    return [f"{name} belongs to {of}" for is_set, parent, name, of in given if is_set and parent is None]


def _refuse_muddles(
    client: str | None, install: str | None, pair: str | None, *, test: bool, prints: bool, orphans: list[str]
) -> None:
    """What was typed must mean one thing: nothing of it is left out in silence."""
    if sum((install is not None, pair is not None, test)) > 1:
        raise UserError(Code.INVALID_INPUT, "Choose one of --install, --pair and --test.")
    if pair is not None and client is not None and pair != client:
        raise UserError(Code.INVALID_INPUT, "--pair and --client name two clients; give one of them.")
    if prints:
        raise UserError(Code.INVALID_INPUT, "--print only prints, and --code pairs; give one of them.")
    if orphans:
        raise UserError(Code.INVALID_INPUT, f"{orphans[0]}, which was not given.")


def _normalize_name(assistant: str | None) -> str | None:
    return None if assistant is None else assistant.strip().casefold().replace(" ", "-")


def read_client_setup(context: click.Context, client: str, tools: str) -> ClientSetup:
    """What a client of this home needs, from the global options and the environment."""
    from app.mcp.client_setup import ClientSetup, complete_variables

    given = {} if context.parent is None else context.parent.params
    variables = complete_variables(os.environ)
    found = environment.read_environment(variables, given.get("home"), given.get("passphrase_file"))
    out = Output(as_json=bool(given.get("as_json")), progression=context.find_object(Progression))
    return ClientSetup(found, variables, client, tools, out)


@click.group(context_settings=CONTEXT)
@global_options
def lightweight_commands(home: Path | None, passphrase_file: Path | None, as_json: bool) -> None:
    """Loci, without the verbs that need the engine."""


lightweight_commands.add_command(mcp)


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
    from app.mcp.client_setup import check_client_name

    setup = read_client_setup(context, check_client_name(client), "lean")
    if setup.out.as_json:
        raise UserError(Code.INVALID_INPUT, "A chat is not JSON; drop --json.")
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors="replace")
    from app.chat.start import start_chat

    start_chat(setup, model, host, may_start=not no_start)


lightweight_commands.add_command(chat)


def signal_change(home: Path) -> None:
    """Tell an engine of a home that runs to look at its watched folders; whatever is wrong, nobody is told."""
    with suppress(OSError):
        if home.is_dir():
            signal = home / LOOK_SIGNAL
            signal.parent.mkdir(mode=0o700, exist_ok=True)
            signal.touch(mode=0o600)


@click.command("watch-now", context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@click.pass_context
def watch_now(context: click.Context) -> None:
    """Ask a Loci that runs to look at its watched folders now; what the hook of an assistant calls.

    It opens nothing, prints nothing and always succeeds; what an assistant says with it is not read.
    """
    given = {} if context.parent is None else context.parent.params
    with suppress(LociError):
        signal_change(environment.read_environment(dict(os.environ), given.get("home"), None).home)


lightweight_commands.add_command(watch_now)
