"""The command line's verb mark: how a rule served, how a procedure went."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from app.cli.output import Output
from app.cli.root import Command, loci, with_command
from app.cli.words import counted, words

_OUTCOMES = ("helpful", "harmful", "worked", "failed")
_LEAST = 8


@loci.command()
@click.argument("id")
@click.argument("outcome", type=click.Choice(_OUTCOMES), metavar="OUTCOME")
@click.option("--note", help="What happened; it is kept with harm.")
@with_command
def mark(command: Command, id: str, outcome: str, note: str | None) -> None:  # noqa: A002 - the contract's word
    """Say how a rule served, or how a procedure went.

    OUTCOME of a rule is helpful or harmful, of a procedure worked or failed.
    """
    if note is not None and outcome != "harmful":
        raise click.UsageError("--note goes with harmful.")
    command.reply(command.call("mark", {"id": id, "outcome": outcome, "note": note}), _marked)


def _marked(out: Output, reply: Mapping[str, Any]) -> None:
    told = words("practice")
    out.line(told["acts"][reply["outcome"]]["done"])
    state = reply.get("rule")
    out.line(f"  {_procedure(reply['procedure']) if state is None else _rule(state)}")
    if reply.get("inverted"):
        out.line("  " + told["command"]["inverted"].format(id=reply["id"]))
    elif reply.get("conflict") is not None:
        out.line("  " + told["command"]["asked"].format(id=reply["conflict"][-_LEAST:]))
    out.line("  " + told["command"]["undo"])


def _rule(state: Mapping[str, Any]) -> str:
    told = words("practice")
    return str(told["command"]["rule"]).format(
        maturity=told["rule"]["maturity"][state["maturity"]],
        helpful=counted(told["rule"]["helpful"], state["helpful"]).lower(),
        harmful=counted(told["rule"]["harmful"], state["harmful"]),
        value=f"{state['effectiveness']:.2f}",
    )


def _procedure(state: Mapping[str, Any]) -> str:
    told = words("practice")
    return str(told["command"]["procedure"]).format(
        worked=counted(told["procedure"]["worked"], state["successes"]),
        failed=counted(told["procedure"]["failed"], state["failures"]),
    )
