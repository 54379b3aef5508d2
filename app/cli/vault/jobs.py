"""The command line's verbs on scheduled work: jobs, consolidate, sweep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from app.cli.output import Output
from app.cli.root import Command, loci, with_command
from app.cli.words import counted, minute, words

Row = Mapping[str, Any]


@loci.command()
@click.option("--limit", type=click.IntRange(1, 500), help="Ended jobs that are listed; 50 unless said otherwise.")
@with_command
def jobs(command: Command, limit: int | None) -> None:
    """What runs by itself: what waits, what was done, and when each kind of work is due."""
    command.reply(command.call("jobs", {"limit": limit}), _listed)


def _listed(out: Output, reply: Row) -> None:
    told = words("jobs")
    if reply["paused"]:
        out.line(told["paused"])
    elif reply["holds"]:
        out.line(reply["holds"])
    out.table([(row["title"], f"{_state(row)}, {_when(row)}: {_did(row)}") for row in reply["jobs"]])
    if reply["jobs"]:
        out.line()
    out.table([(beat["title"], _due(beat)) for beat in reply["calendar"]])


def _due(beat: Row) -> str:
    told = words("jobs")
    last = told["never"] if beat["last_at"] is None else minute(beat["last_at"])
    following = told["as_needed"] if beat["next_at"] is None else minute(beat["next_at"])
    following = told["now"] if beat["due"] else following
    return str(told["due"].format(last=last, next=following))


def _state(row: Row) -> str:
    told = words("jobs")["states"][row["state"]]
    if row["state"] == "running" and row["total"]:
        return f"{told} {row['progress']:,}/{row['total']:,}"
    if row["code"]:
        return f"{told} ({row['code']})"
    return f"{told}, {words('jobs')['undone']}" if row["undone"] else str(told)


def _when(row: Row) -> str:
    return minute(row["finished_at"] or row["started_at"] or row["created_at"])


def _did(row: Row) -> str:
    return row["waits_for"] or in_words(row["report"])


def in_words(report: Row) -> str:
    """What a run did, as far as it did anything.

    Args:
        report: counts by name; of a consolidation the report of seed A.

    Returns:
        Counts in words, with commas; "nothing" where all are 0.
    """
    forms = words("jobs")["counts"]
    flat = {**report, **{k: v for part in ("contradictions", "compressed") for k, v in report.get(part, {}).items()}}
    flat |= {f"pruned_{name}": count for name, count in report.get("pruned", {}).items()}
    told = [counted(form, flat[name]) for name, form in forms.items() if flat.get(name)]
    return ", ".join(told) or str(words("jobs")["nothing"])


@loci.command()
@click.option("--dry-run", is_flag=True, help="Only tell what a run would do; write nothing.")
@with_command
def consolidate(command: Command, dry_run: bool) -> None:
    """Unite what says the same, settle contradictions where trust allows it, make digests, archive what is over.

    Everything it does is one step that `loci undo` takes back.
    """
    with command.asking() as session, command.output.progress(enabled=True) as tell:
        reply = session.call("consolidate", {"dry_run": True} if dry_run else {}, tell)
    command.reply(reply, _consolidated)


def _consolidated(out: Output, reply: Row) -> None:
    told = words("jobs")
    out.line(told["would" if reply["dry_run"] else "done"].format(what=in_words(reply)))
    _say_undo(out, [reply["step"]] if reply["step"] else [])


@loci.command()
@with_command
def sweep(command: Command) -> None:
    """Look at what fades: mark it, bring back what was confirmed, archive what nothing protects."""
    with command.asking() as session, command.output.progress(enabled=True) as tell:
        reply = session.call("sweep", {}, tell)
    command.reply(reply, _swept)


def _swept(out: Output, reply: Row) -> None:
    told = words("jobs")
    parts = [in_words(reply["swept"]), in_words(reply["episodes"])]
    what = ", ".join(part for part in parts if part != told["nothing"]) or told["nothing"]
    out.line(told["done"].format(what=what))
    _say_undo(out, reply["steps"])


def _say_undo(out: Output, steps: Sequence[str]) -> None:
    for step in steps:
        out.line(words("jobs")["undo"].format(step=step))
