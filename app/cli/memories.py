"""The command line's verbs on memories: remember, recall, list, show, history, forget, undo."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import click

from app.cli.output import Output, one_line, passage, visible
from app.cli.root import Command, loci, with_command
from app.compose import local_time
from core.errors import Code, UserError
from core.types.words import Kind, Source, Status

_KINDS = click.Choice([kind.value for kind in Kind])
_SOURCES = click.Choice([source.value for source in Source])


def _statuses(text: str | None) -> list[str] | str | None:
    if text is None or text == "all":
        return text
    names = [name.strip() for name in text.split(",") if name.strip()]
    known = {status.value for status in Status}
    if not names or any(name not in known for name in names):
        raise UserError(Code.INVALID_INPUT, f"A status is one of {', '.join(sorted(known))}, separated by commas.")
    return names


def _claim(text: str | None) -> Any:
    if text is None:
        return None
    try:
        claim = json.loads(text)
    except ValueError:
        claim = None
    if not isinstance(claim, dict):
        example = '{"subject": "user", "predicate": "lives_in", "value": "Bergen"}'
        raise UserError(Code.INVALID_INPUT, f"A claim is a JSON object such as {example}.")
    return claim


@loci.command()
@click.argument("text")
@click.option("--kind", type=_KINDS, help="What it is; a fact unless said otherwise.")
@click.option("--category", help="A word to file it under.")
@click.option("--importance", type=float, help="0 to 1.")
@click.option("--space", help="The space (wing) it belongs to; home unless said otherwise.")
@click.option("--source", type=_SOURCES, help="By what way it came.")
@click.option("--time", help="When it was said or happened.")
@click.option("--claim", help="What it claims, as JSON.")
@with_command
def remember(command: Command, /, text: str, claim: str | None, time: str | None, **given: Any) -> None:
    """Remember TEXT."""
    reply = command.call("remember", {"text": text, "claim": _claim(claim), "time": local_time(time), **given})
    command.reply(reply, _remembered)


def _remembered(out: Output, reply: Mapping[str, Any]) -> None:
    out.line(f"{_became(reply)}  {reply['memory_id']}")
    if reply["superseded"]:
        out.line(f"  `loci history {reply['memory_id']}` shows what was said before; `loci undo` takes this back.")
    if reply["conflict"] is not None:
        out.line("  A question about it waits for you: `loci conflicts`.")


def _became(reply: Mapping[str, Any]) -> str:
    """What became of a text, in words."""
    gone = len(reply["superseded"])
    if gone:
        return "Remembered; it takes the place of " + (
            "an earlier memory." if gone == 1 else f"{gone} earlier memories."
        )
    if reply["merged"]:
        return "Added to what you have; both texts stay in its history."
    if reply["deduplicated"]:
        return "Known already; noted once more."
    if reply["operation"] != "QUARANTINE":
        return "Remembered."
    asked = reply["conflict"] is not None
    return "Held back until you decide." if asked else "Turned down before: archived, and not asked again."


@loci.command()
@click.argument("query", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(min=1), help="Items at most; 10 unless said otherwise.")
@click.option("--space", help="Only this space.")
@click.option("--as-of", help="What was true on that date.")
@click.option("--status", help="Statuses, separated by commas, or all.")
@click.option("--explain", is_flag=True, help="Show signals, ranks and reasons.")
@with_command
def recall(
    command: Command, /, query: tuple[str, ...], status: str | None, as_of: str | None, explain: bool, **given: Any
) -> None:
    """Find what answers QUERY."""
    wanted = _statuses(status)
    if wanted == "all":
        wanted = [known.value for known in Status]
    asked = {"query": " ".join(query), "status": wanted, "as_of": local_time(as_of), "explain": explain or None}
    reply = command.call("recall", {**asked, **given})
    command.reply(reply, lambda out, found: print_recall(out, found, explain=explain))


def print_recall(out: Output, reply: Mapping[str, Any], *, explain: bool) -> None:
    """Print a recall for a person.

    Args:
        out: where to.
        reply: the reply of `recall`.
        explain: whether to print signals, ranks and reasons.
    """
    if reply["abstained"]:
        out.line(f"Nothing found: {reply['reason']}")
    for place, item in enumerate(reply["items"], 1):
        when = (item["occurred_at"] or item["created_at"])[:10]
        who = visible(item["author"] or item["source"])
        first, *more = passage(item["text"])
        out.line(f"{place:>2}. {first}")
        out.lines(f"    {line}" for line in more)
        out.line(f"    {when} · {who} · {item['kind']} · {item['space']} · score {item['score']:.2f} · {item['id']}")
        if explain:
            out.lines(f"    - {visible(reason)}" for reason in item.get("why", ()))
    if explain and reply["near_misses"]:
        out.line("Near misses:")
        out.lines(f"    {miss['id']}  {miss['sentence']}" for miss in reply["near_misses"])
    out.line(f"{len(reply['items'])} found by {reply['strategy']} search in {reply['took_ms']:.0f} ms.")


@loci.command(name="list")
@click.option("--text", help="Only memories that hold exactly this.")
@click.option("--kind", type=_KINDS, help="Only this kind.")
@click.option("--status", help="Statuses, separated by commas, or all; active unless said otherwise.")
@click.option("--space", help="Only this space.")
@click.option("--import", "import_id", help="Only what this import brought.")
@click.option("--limit", type=click.IntRange(min=1), help="Items at most; 50 unless said otherwise.")
@with_command
def list_(command: Command, /, status: str | None, **given: Any) -> None:
    """List memories, newest first."""
    reply = command.call("list", {"status": _statuses(status), **given})
    command.reply(reply, _listed)


def _listed(out: Output, reply: Mapping[str, Any]) -> None:
    for item in reply["items"]:
        when = (item["occurred_at"] or item["created_at"])[:10]
        mark = "" if item["status"] == "active" else f" [{item['status']}]"
        out.line(f"{item['id']}  {when}  {item['kind']:<9}{mark} {one_line(item['text'], 100)}")
    out.line(f"{len(reply['items'])} of {reply['total']}.")


@loci.command()
@click.argument("id")
@with_command
def show(command: Command, id: str) -> None:  # noqa: A002 - the contract's word
    """Everything about one memory."""
    command.reply(command.call("show", {"id": id}), _shown)


def _shown(out: Output, reply: Mapping[str, Any]) -> None:
    out.lines(visible(line) for line in reply["text"].split("\n"))
    out.line()
    names = ("id", "kind", "status", "space", "source", "author", "occurred_at", "created_at", "trust", "ref")
    out.table([(name, visible(str(reply[name]))) for name in names if reply.get(name) is not None])
    for name, value in dict(reply.get("provenance") or {}).items():
        out.line(f"{name}: {visible(json.dumps(value, ensure_ascii=False))}")
    out.lines(
        f"claim: {visible(c['subject'])} {c['predicate']} {visible(c['value'])} ({c['state']})" for c in reply["claims"]
    )
    terms = reply.get("trust_terms")
    if terms:
        out.line(f"trust: {visible(json.dumps(terms))}")


@loci.command()
@click.argument("id")
@with_command
def history(command: Command, id: str) -> None:  # noqa: A002 - the contract's word
    """All versions of one memory."""

    def words(out: Output, reply: Mapping[str, Any]) -> None:
        for item in reply["items"]:
            out.line(f"{item['created_at'][:10]}  {item['status']:<11} {one_line(item['text'], 100)}  {item['id']}")

    command.reply(command.call("history", {"id": id}), words)


@loci.command()
@click.argument("id")
@with_command
def forget(command: Command, id: str) -> None:  # noqa: A002 - the contract's word
    """Let a memory leave recall; `loci undo` brings it back."""
    command.reply(command.call("forget", {"id": id}), lambda out, _: out.line("Forgotten. `loci undo` brings it back."))


@loci.command()
@click.argument("step", required=False)
@click.option("--list", "listed", is_flag=True, help="Only list the newest steps; take nothing back.")
@click.option("--limit", type=click.IntRange(1, 200), help="Steps that are listed; 50 unless said otherwise.")
@with_command
def undo(command: Command, step: str | None, listed: bool, limit: int | None) -> None:
    """Take back a step; the newest one unless a STEP is named."""
    if listed:
        if step is not None:
            raise click.UsageError("--list shows all steps; name none.")
        command.reply(command.call("steps", {"limit": limit}), _steps)
        return
    if limit is not None:
        raise click.UsageError("--limit goes with --list.")
    command.reply(command.call("undo", {"step": step}), print_undone)


def _steps(out: Output, reply: Mapping[str, Any]) -> None:
    for step in reply["items"]:
        mark = " [undone]" if step["undone"] else "" if step["can_undo"] else " [cannot be undone now]"
        by = "" if step["client"] is None else f" ({visible(step['client'])})"
        out.line(f"{step['id']}  {step['at'][:16].replace('T', ' ')}  {visible(step['label'])}{by}{mark}")
    out.line(f"{len(reply['items'])} of {reply['total']}.")


def print_undone(out: Output, reply: Mapping[str, Any]) -> None:
    """Print what an undo did.

    Args:
        out: where to.
        reply: the reply of `undo` or `unimport`.
    """
    out.line(f"Undone: {reply['label']} ({reply['restored']} rows).")
    if reply.get("left"):
        out.line(f"{len(reply['left'])} rows changed since and were left as they are.")
