"""The command line's verbs on the conflict desk: conflicts, resolve, and the verdicts confirm, dispute, reinforce."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from app.cli.output import Output, one_line, passage, visible
from app.cli.root import Command, loci, with_command
from app.compose import local_time
from core.types.reviews import Action

_ACTIONS = click.Choice([action.value for action in Action])
_NEEDS = {"text": (Action.MERGE,), "when": (Action.SCOPE_SPLIT,)}
_DATED = (Action.KEEP_BOTH_DATED, Action.SUPERSEDE)
_SHORT = 8
_MEANINGS = """\b
ACTION is one of:
  supersede        take the new one; the other stays in its history
  reject           keep what stands; the new one is archived and not asked again
  keep_both        both are true
  keep_both_dated  the one until a day, the other from then on (--from, --to)
  merge            one memory of the two (--text)
  scope_split      the new one is true under a condition only (--when)
  dispute_both     neither is given out until one is confirmed
  skip             decide later
Of what waits alone, supersede accepts it and reject turns it down."""


@loci.command()
@click.option("--all", "everything", is_flag=True, help="Show closed ones too.")
@with_command
def conflicts(command: Command, everything: bool) -> None:
    """List what waits for your decision, the most pressing first."""
    reply = command.call("conflicts", {"all": everything or None})
    command.reply(reply, _listed)


def _listed(out: Output, reply: Mapping[str, Any]) -> None:
    found = reply["conflicts"]
    for place, item in enumerate(found, 1):
        out.line(f"{place:>2}. {one_line(item['question'], 100)}  [{item['kind']}]  {_short(item['id'], found)}")
        if item["existing"] is not None:
            _side(out, "you have", item["existing"])
        _side(out, "arrived" if item["existing"] is not None else "waiting", item["incoming"])
        out.line(f"    {one_line(item['reason'])}")
        if item["state"] != "open":
            decided = f" ({item['resolution']})" if "resolution" in item else ""
            out.line(f"    Closed: {one_line(item.get('closed', ''))}{decided}")
        elif item["suggestion"] is not None:
            out.line(f"    Suggested: {item['suggestion']}. {one_line(item.get('result', ''))}")
    waiting = sum(item["state"] == "open" for item in found)
    out.line("Nothing waits for you." if not waiting else f"{waiting} to decide. `loci resolve ID ACTION` decides one.")


def _short(item_id: str, found: Sequence[Mapping[str, Any]]) -> str:
    """As much of an id's end as tells it from the others in the list."""
    length = _SHORT
    while sum(item["id"].endswith(item_id[-length:]) for item in found) > 1 and length < len(item_id):
        length += 1
    return item_id[-length:]


def _side(out: Output, name: str, item: Mapping[str, Any]) -> None:
    first, *more = passage(item["text"])
    out.line(f"    {name + ':':<9} {first}")
    out.lines(f"              {line}" for line in more)
    when = (item["occurred_at"] or item["created_at"])[:10]
    who = visible(item["client"] or item["source"])
    times = item["access_count"]
    given = f" · recalled {'once' if times == 1 else f'{times} times'}" if times else ""
    out.line(f"              {when} · {who} · trust {item['trust']:.2f}{given} · {item['status']} · {item['id']}")


@loci.command(epilog=_MEANINGS)
@click.argument("conflict_id")
@click.argument("action", type=_ACTIONS, metavar="ACTION")
@click.option("--text", help="The text of a merge.")
@click.option("--from", "begin", help="From when the new one holds, and until when the other did.")
@click.option("--to", "end", help="When the new one ceased, if it did.")
@click.option("--when", help="The condition under which the new one is true (scope_split).")
@click.option("--remember", is_flag=True, help="Decide later ones of the same kind and source alike.")
@with_command
def resolve(command: Command, /, conflict_id: str, action: str, remember: bool, **given: str | None) -> None:
    """Decide CONFLICT_ID by ACTION.

    Eight characters of the beginning or the end of an id are enough where only one conflict has them.
    """
    _check(Action(action), given)
    params: dict[str, Any] = {
        "id": conflict_id,
        "action": action,
        "text": given["text"],
        "from": local_time(given["begin"]),
        "to": local_time(given["end"]),
        "when": given["when"],
        "remember": remember or None,
    }
    command.reply(command.call("resolve", params), _resolved)


def _check(action: Action, given: Mapping[str, str | None]) -> None:
    for name, actions in _NEEDS.items():
        if given[name] is None and action in actions:
            raise click.UsageError(f"{action.value} takes --{name}.")
        if given[name] is not None and action not in actions:
            raise click.UsageError(f"--{name} goes with {actions[0].value}.")
    if (given["begin"] is not None or given["end"] is not None) and action not in _DATED:
        raise click.UsageError("--from and --to go with keep_both_dated.")


def _resolved(out: Output, reply: Mapping[str, Any]) -> None:
    if reply["step"] is None:
        out.line("Put off: for a week it stands behind the others.")
        return
    out.line(f"{reply['label']}. `loci undo` takes it back.")
    out.lines(f"  stands now:  {one}" for one in reply["active"])
    out.lines(f"  does not:    {one}" for one in reply["retired"])
    if reply["closed"]:
        out.line(f"  It settled {len(reply['closed'])} more of what waited.")


@loci.command()
@click.argument("id")
@with_command
def confirm(command: Command, id: str) -> None:  # noqa: A002 - the contract's word
    """Confirm that a memory is true."""
    command.reply(command.call("confirm", {"id": id}), _judged("Confirmed"))


@loci.command()
@click.argument("id")
@click.option("--reason", help="Why, in a few words.")
@with_command
def dispute(command: Command, id: str, reason: str | None) -> None:  # noqa: A002 - the contract's word
    """Say that a memory is wrong: it leaves recall until it is confirmed."""
    command.reply(command.call("dispute", {"id": id, "reason": reason}), _judged("Disputed"))


@loci.command()
@click.argument("id")
@with_command
def reinforce(command: Command, id: str) -> None:  # noqa: A002 - the contract's word
    """Say that a memory proved right."""
    command.reply(command.call("reinforce", {"id": id}), _judged("Reinforced"))


def _judged(word: str) -> Any:
    def words(out: Output, reply: Mapping[str, Any]) -> None:
        out.line(f"{word}. It is {reply['status']} now, trust {reply['trust']:.2f}.")

    return words
