"""The command line's verb doctor: whether everything Loci needs is there, without a passphrase.

Must not do: look itself; that is `app.vault.doctor`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from app.cli.output import Output
from app.cli.root import Command, loci, with_command
from app.cli.words import counted, words

if TYPE_CHECKING:
    from core.types.replies import Finding

_STATES = ("ok", "warn", "fail")


@loci.command()
@with_command
def doctor(command: Command) -> None:
    """Look whether everything Loci needs is there.

    No passphrase is asked for and nothing is changed. It ends with 1 where something keeps Loci from working.
    """
    from app.vault.doctor import examine_all  # it tries every library there is; the other verbs need none of them

    found = examine_all(command.parts)
    worst = max(found, key=lambda one: _STATES.index(one.state)).state
    checks = [
        {"check": one.check, "state": one.state, "sentence": one.sentence, "do": one.advice or None} for one in found
    ]
    command.reply({"state": worst, "checks": checks}, lambda out, _: _told(out, found, worst))
    if worst == "fail":
        click.get_current_context().exit(1)


def _told(out: Output, found: Sequence[Finding], worst: str) -> None:
    told = words("doctor")
    width = max(len(one.title) for one in found)
    for one in found:
        out.line(f"{told['states'][one.state]:<5} {one.title:<{width}}  {one.sentence}")
        if one.advice:
            out.line(f"{'':<{width + 8}}{one.advice}")
    said = told["sum"][worst]
    count = sum(one.state == worst for one in found)
    out.line(said if isinstance(said, str) else counted(said, count))
