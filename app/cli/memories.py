"""The command line's verbs on memories: remember, recall, list, sensitive, edit, pin, forget, mark and the like.

Must not do: erase.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import click

from app.cli.messages import describe_author, first_words, format_count, load_words, on_day
from app.cli.options import local_time, parse_statuses
from app.cli.output import Output, escape_controls, one_line, wrap_passage
from app.cli.root import CommandContext, loci, with_command
from app.engine.session import VerbSession
from core.errors import Code, UserError
from core.types.sensitivity import SensitiveType
from core.types.values import FIRST_DAY, LAST_DAY, LIST_SORTS, Intent, Kind, SecurityTier, Source, Status

_KINDS = click.Choice([kind.value for kind in Kind])
_SOURCES = click.Choice([source.value for source in Source])
_INTENTS = click.Choice([intent.value for intent in Intent])
_SENSITIVE = [one.value for one in SensitiveType]
_NAME = 40
_MASK, _SHOWN = "•", 4
"""What covers the signs of a confidential value, and how many of its last ones are shown."""


def _parse_claim(text: str | None) -> Any:
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
@click.option("--kind", type=_KINDS, help="The kind of memory. Default: fact.")
@click.option("--category", help="A category.")
@click.option("--importance", type=float, help="0 to 1.")
@click.option("--space", help="The space (wing). Default: home.")
@click.option("--source", type=_SOURCES, help="How it was added.")
@click.option("--time", help="When it was said or happened.")
@click.option("--claim", help="What it claims, as JSON.")
@with_command
def remember(command: CommandContext, /, text: str, claim: str | None, time: str | None, **given: Any) -> None:
    """Remember TEXT.

    `-` reads it from standard input.
    """
    text = command.read_text(text, "text")
    params = {"text": text, "claim": _parse_claim(claim), "time": local_time(time), **given}
    with command.open_session() as session:
        reply = session.call("remember", {name: value for name, value in params.items() if value is not None})
        about = {} if command.output.as_json else _read_related(session, reply)
    command.print_result(reply, lambda out, done: _print_remembered(out, done, about))


def _read_related(session: VerbSession, reply: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The memory a text became, what it ended, and what stands in its place, by their ids."""
    ids: list[str] = [reply["memory_id"], *reply["superseded"]]
    found: dict[str, Mapping[str, Any]] = {one: session.call("show", {"id": one}) for one in ids}
    successor = found[reply["memory_id"]]["superseded_by"]
    if successor is not None:
        found[successor] = session.call("show", {"id": successor})
    return found


def _print_remembered(out: Output, reply: Mapping[str, Any], about: Mapping[str, Mapping[str, Any]]) -> None:
    memory = about[reply["memory_id"]]
    became, words = _outcome_word(reply, memory["status"]), load_words()["remembered"]
    out.print_line(f"{words[became]}  {memory['id']}")
    if became in ("known", "merged"):
        out.print_line(f"  “{first_words(memory['text'])}”")
    if became == "older" and memory["superseded_by"] in about:
        out.print_line("  " + words["since"].format(text=first_words(about[memory["superseded_by"]]["text"])))
    out.print_lines("  " + words["instead"].format(text=first_words(about[one]["text"])) for one in reply["superseded"])
    if reply["superseded"]:
        out.print_line("  " + words["back"].format(id=memory["id"]))
    if reply.get("tier", SecurityTier.CLEARTEXT) != SecurityTier.CLEARTEXT:
        types = load_words()["sensitive_types"]
        what = ", ".join(types[one] for one in reply["sensitive"]) or words["marked"]
        out.print_line("  " + words[f"found_{reply['tier']}"].format(what=what))
    if reply["conflict"] is not None:
        out.print_line("  " + words["asked"].format(id=reply["conflict"][-8:]))


def _outcome_word(reply: Mapping[str, Any], status: str) -> str:
    """What became of a text: a word of the sentences."""
    if reply["operation"] == "QUARANTINE":
        if reply["conflict"] is None:
            return "turned_down"
        return "held_too" if reply["deduplicated"] else "held"
    if reply["merged"] or reply["deduplicated"]:
        return "merged" if reply["merged"] else "known"
    return {"disputed": "disputed", "superseded": "older"}.get(status, "stands")


@loci.command()
@click.argument("query", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(min=1), help="At most this many items. Default: 10.")
@click.option("--space", help="Only this space.")
@click.option("--as-of", help="What was true on that date.")
@click.option("--status", help="Statuses, separated by commas, or all.")
@click.option("--intent", type=_INTENTS, help="The kind of answer, instead of the detected one.")
@click.option("--words", "text_weight", type=click.FloatRange(0, 1), help="Weight of words against meaning.")
@click.option("--from", "begin", help="The first day of the period, like 2026-01-31; until today without --to.")
@click.option("--to", "end", help="The last day of the period, like 2026-01-31.")
@click.option("--no-time", is_flag=True, help="Ignore times in the question.")
@click.option("--explain", is_flag=True, help="Show how QUERY was understood, signals, ranks and reasons.")
@with_command
def recall(
    command: CommandContext,
    /,
    query: tuple[str, ...],
    status: str | None,
    as_of: str | None,
    explain: bool,
    **given: Any,
) -> None:
    """Find what answers QUERY.

    `-` reads it from standard input.
    """
    wanted = parse_statuses(status)
    if wanted == "all":
        wanted = [known.value for known in Status]
    asked = {
        "query": command.read_text(" ".join(query), "query"),
        "status": wanted,
        "as_of": local_time(as_of),
        "explain": explain or None,
    }
    plan = {"from": given.pop("begin"), "to": given.pop("end"), "no_time": given.pop("no_time") or None}
    reply = command.call("recall", {**asked, **plan, **given})
    command.print_result(reply, lambda out, found: print_recall(out, found, explain=explain))


def print_recall(out: Output, reply: Mapping[str, Any], *, explain: bool) -> None:
    """Print a recall for a person.

    Args:
        reply: the reply of `recall`.
        explain: whether to print how the question was understood, signals, ranks, reasons and figures.
    """
    if reply["abstained"]:
        out.print_line(f"Nothing found: {reply['reason']}")
    if explain:
        out.print_line(_describe_plan(reply["plan"]))
    for place, item in enumerate(reply["items"], 1):
        who = escape_controls(item["said_by"]) if item["author"] else describe_author(item)
        first, *more = wrap_passage(item["text"])
        out.print_line(f"{place:>2}. {first}")
        out.print_lines(f"    {line}" for line in more)
        out.print_line(
            f"    {on_day(item)} · {who} · {item['kind']} · {item['space']} · score {item['score']:.2f} · {item['id']}"
        )
        if "contradicts" in item:
            out.print_line(f"    contested: you said otherwise in {item['contradicts']}")
        if explain:
            out.print_lines(f"    - {escape_controls(reason)}" for reason in item.get("why", ()))
    if explain and reply["near_misses"]:
        out.print_line("Near misses:")
        out.print_lines(f"    {miss['id']}  {miss['sentence']}" for miss in reply["near_misses"])
    if explain:
        out.print_line(_describe_funnel(reply["stages"]))
        out.print_lines(_describe_quality(reply))
    for row in reply.get("sealed", ()):
        told = one_line(escape_controls(row["summary"] or row["label"]))
        out.print_line(load_words()["recall"]["sealed"].format(summary=told, id=row["id"]))
    figures = {"strategy": reply["strategy"], "ms": f"{reply['took_ms']:.0f}"}
    out.print_line(format_count(load_words()["counts"]["found"], len(reply["items"]), **figures))


def _describe_plan(plan: Mapping[str, Any]) -> str:
    """`Understood as: temporal · last week (4–10 May 2026) · Harbour · words 0.45, meaning 0.55`."""
    words, weight = load_words()["recall"], plan["text_weight"]
    shares = words["shares"].format(words=f"{weight:.2f}", meaning=f"{1 - weight:.2f}")
    names = ", ".join(one_line(name, _NAME) for name in plan["entities"])
    parts = (plan["intent"], _describe_time(plan), names, shares)
    return str(words["understood"]).format(parts=" · ".join(part for part in parts if part))


def _describe_time(plan: Mapping[str, Any]) -> str:
    time = plan["time"]
    if time is None:
        return str(load_words()["recall"]["no_time"]) if "time" in plan["given"] else ""
    days = describe_days(date.fromisoformat(time["from"]), date.fromisoformat(time["to"]))
    return f"{one_line(time['words'], _NAME)} ({days})" if time["words"] else days


def describe_days(first: date, last: date) -> str:
    """Days as a person writes them: `4–10 May 2026`, `30 April – 3 May 2026`, `until 10 May 2026`.

    Args:
        first: the first of them; `FIRST_DAY` is none.
        last: the last of them, inclusive; `LAST_DAY` is none.
    """
    begins, ends = f"{first.day} {first:%B} {first.year}", f"{last.day} {last:%B} {last.year}"
    if first <= FIRST_DAY:
        return str(load_words()["recall"]["until"]).format(day=ends)
    if last >= LAST_DAY:
        return str(load_words()["recall"]["since"]).format(day=begins)
    if first == last:
        return ends
    if first.year != last.year:
        return f"{begins} – {ends}"
    return f"{first.day}–{ends}" if first.month == last.month else f"{first.day} {first:%B} – {ends}"


def _describe_funnel(stages: Mapping[str, int]) -> str:
    """`128 by meaning, 64 by words → 151 in scope → 60 strong enough → 41 without repetition → 8 in the answer`."""
    words = load_words()["recall"]
    brought = [form.format(count=f"{stages[name]:,}") for name, form in words["lists"].items() if stages.get(name)]
    left = [form.format(count=f"{stages.get(name, 0):,}") for name, form in words["stages"].items()]
    return " → ".join([", ".join(brought) or words["lists_empty"], *left])


def _describe_quality(reply: Mapping[str, Any]) -> list[str]:
    """How good the answer was, on one line; nothing where there is no answer."""
    words, figures = load_words()["recall"], reply["metrics"]
    if figures is None or not reply["items"]:
        return []
    order = words["rerank"].get(figures["rerank_applied"], figures["rerank_applied"])
    tokens = format_count(words["tokens"], figures["tokens_consumed"])
    if not figures["graded"]:
        return [" · ".join((words["ungraded"], tokens, order))]
    graded = words["graded"].format(
        near=f"{figures['average_relevancy']:.2f}",
        ndcg=f"{figures['ndcg']:.2f}",
        before=f"{figures['ndcg_before']:.2f}",
    )
    return [" · ".join((graded, tokens, order))]


@loci.command()
@click.argument("prompt", nargs=-1, required=True)
@click.option(
    "--tokens", "token_budget", type=click.IntRange(0, 100_000), help="At most this many tokens. Default: 3,000."
)
@click.option("--model", help="Count with the tokenizer of this model, if it lies in the home's tokenizers folder.")
@click.option("--space", help="Only this space.")
@with_command
def context(command: CommandContext, /, prompt: tuple[str, ...], **given: Any) -> None:
    """What is remembered of PROMPT, as the text an assistant gets.

    `-` reads it from standard input.
    """
    reply = command.call("context", {"prompt": command.read_text(" ".join(prompt), "prompt"), **given})
    command.print_result(reply, _print_context)
    if not reply["text"]:
        command.output.print_note(load_words()["context"]["too_small"])


def _print_context(out: Output, reply: Mapping[str, Any]) -> None:
    out.print_lines(reply["text"].splitlines())


@loci.command(name="list")
@click.option("--text", help="Only memories that contain exactly this text.")
@click.option("--kind", type=_KINDS, help="Only this kind.")
@click.option("--status", help="Statuses, separated by commas, or all. Default: active.")
@click.option("--space", help="Only this space.")
@click.option("--import", "import_id", help="Only memories of this import.")
@click.option("--since", help="Only from this day on (when said or happened, else when stored); dates as with --as-of.")
@click.option("--tag", "tags", multiple=True, help="Only with this tag; may be repeated, any of them matches.")
@click.option("--client", help="Only memories of this client.")
@click.option("--sort", type=click.Choice(LIST_SORTS), help="The order. Default: newest stored first.")
@click.option("--limit", type=click.IntRange(min=1), help="At most this many items. Default: 50.")
@click.option("--after", metavar="ID", help="Start after this memory, the last of the previous page.")
@click.option("--jsonl", is_flag=True, help="One JSON object per line, one per memory.")
@with_command
def list_(
    command: CommandContext, /, status: str | None, since: str | None, tags: tuple[str, ...], jsonl: bool, **given: Any
) -> None:
    """List memories, newest first."""
    out = command.output
    if jsonl and out.as_json:
        raise click.UsageError("--json prints one document, --jsonl one a line; choose one.")
    asked = {"status": parse_statuses(status), "since": local_time(since), "tags": list(tags) or None}
    reply = command.call("list", {**asked, **given})
    if jsonl:
        out.print_records(reply["items"])
    else:
        command.print_result(reply, _print_list)
    if "next" in reply and not out.as_json:
        out.print_note(load_words()["list"]["more"].format(next=reply["next"]))


def _print_list(out: Output, reply: Mapping[str, Any]) -> None:
    for item in reply["items"]:
        mark = "" if item["status"] == "active" else f" [{load_words()['short_status'][item['status']]}]"
        out.print_line(f"{item['id']}  {on_day(item):<10}  {item['kind']:<9}{mark} {one_line(item['text'], 100)}")
    words, total, memories = load_words()["list"], reply["total"], reply["memories"]
    out.print_line(words["count"].format(shown=len(reply["items"]), total=total))
    if memories != total:
        out.print_line(format_count(words["parts"], memories))


@loci.command()
@click.option("--type", "types", type=click.Choice(_SENSITIVE), multiple=True, help="Only this type; may be repeated.")
@click.option("--space", help="Only this space.")
@click.option("--reveal", is_flag=True, help="Show numbers and credentials whole.")
@click.option("--protect", is_flag=True, help="Protect what was stored before Loci looked at every text.")
@with_command
def sensitive(
    command: CommandContext, types: tuple[str, ...], space: str | None, *, reveal: bool, protect: bool
) -> None:
    """List memories with sensitive content: numbers, credentials, contacts, homes, health.

    Rules find it, so some may be missed. Forgotten and replaced memories are checked, too. `loci erase` removes one
    for good, and `loci seal --found` seals everything confidential.
    """
    if protect:
        if types or reveal:
            raise click.UsageError("--protect goes with --space alone.")
        _protect_found(command, space)
        return
    items: list[Mapping[str, Any]] = []
    looked_at, after = 0, 0
    while True:
        reply = command.call("sensitive", {"types": list(types), "space": space, "after": after})
        items += reply["items"]
        looked_at += reply["looked_at"]
        if "next" not in reply:
            break
        after = reply["next"]
    command.print_result(
        {"items": items, "looked_at": looked_at}, lambda out, all_of_it: _print_sensitive(out, all_of_it, reveal=reveal)
    )


def _protect_found(command: CommandContext, space: str | None) -> None:
    protected = looked_at = 0
    steps: list[str] = []
    with command.open_session() as session:
        asked: dict[str, Any] = {} if space is None else {"space": space}
        while True:
            reply = session.call("protect", asked)
            protected += reply["protected"]
            looked_at += reply["looked_at"]
            steps += [] if reply["step"] is None else [reply["step"]]
            if "next" not in reply:
                break
            asked["after"] = reply["next"]
    words = load_words()["protected"]
    command.print_result(
        {"protected": protected, "looked_at": looked_at, "steps": steps},
        lambda out, _: out.print_line(format_count(words, protected, looked_at=f"{looked_at:,}")),
    )


def _print_sensitive(out: Output, reply: Mapping[str, Any], *, reveal: bool) -> None:
    words = load_words()
    for item in reply["items"]:
        mark = "" if item["status"] == "active" else f" [{words['short_status'][item['status']]}]"
        types = ", ".join(sorted({words["sensitive_types"][span["type"]] for span in item["spans"]}))
        text = item["text"] if reveal else _mask_confidential(item["text"], item["spans"])
        out.print_line(f"{item['id']}  {types}{mark}")
        out.print_line(f"{'':<6}{one_line(text, 100)}")
    out.print_line(words["sensitive"].format(found=len(reply["items"]), looked_at=reply["looked_at"]))


def _mask_confidential(text: str, spans: Sequence[Mapping[str, Any]]) -> str:
    """A text in which of confidential values only the last signs can be read."""
    masked = list(text)
    for span in spans:
        if SensitiveType(span["type"]).tier is SecurityTier.CONFIDENTIAL:
            last = span["end"] - min(_SHOWN, (span["end"] - span["start"]) // 3)
            masked[span["start"] : last] = [_MASK if sign.isalnum() else sign for sign in text[span["start"] : last]]
    return "".join(masked)


@loci.command()
@click.argument("id")
@click.argument("text", required=False)
@with_command
def edit(command: CommandContext, id: str, text: str | None) -> None:  # noqa: A002 - the contract's word
    """Give a memory another TEXT.

    What it said before stays in its history. `-` reads the text from standard input; without TEXT your editor opens
    (VISUAL or EDITOR).
    """
    if text is None:
        if not sys.stdin.isatty():
            raise click.UsageError("Give the new text, or - to read it from standard input.")
        with command.open_session() as session:
            shown = session.call("show", {"id": id})
        text = _edit_text(command, shown["text"])
    reply = command.call("edit", {"id": id, "text": command.read_text(text, "text")})
    command.print_result(reply, _print_edit)


def _edit_text(command: CommandContext, text: str) -> str:
    """The text as the person's editor leaves it; the file is gone when the editor ends."""
    program = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with command.app_context.environment.scratch_folder() as folder:
        file = folder / "memory.txt"
        file.write_text(text, encoding="utf-8")
        try:
            code = subprocess.run([*shlex.split(program), str(file)], check=False).returncode
            edited = file.read_text(encoding="utf-8")
        except (OSError, ValueError):
            code, edited = 1, ""
    if code:
        raise UserError(Code.NOT_HERE, "The editor failed, so nothing was changed; check VISUAL and EDITOR.")
    return edited if text.endswith("\n") else edited.removesuffix("\n")


def _print_edit(out: Output, reply: Mapping[str, Any]) -> None:
    words = load_words()["edited"]
    out.print_line(words[reply["operation"]].format(id=reply["memory_id"]))
    if reply["step"] is not None:
        out.print_line(words["undo"].format(id=reply["memory_id"]))


@loci.command()
@click.argument("id")
@click.option("--off", is_flag=True, help="Unpin it.")
@with_command
def pin(command: CommandContext, id: str, off: bool) -> None:  # noqa: A002 - the contract's word
    """Pin a memory, so that it neither fades nor is archived."""

    def print_reply(out: Output, reply: Mapping[str, Any]) -> None:
        form = ("on" if reply["pinned"] else "off") + ("" if reply["step"] else "_already")
        out.print_line(load_words()["pinned"][form])

    command.print_result(command.call("pin", {"id": id, "off": off or None}), print_reply)


@loci.command()
@click.argument("id")
@click.argument("tier", type=click.Choice([tier.value for tier in SecurityTier]))
@with_command
def tier(command: CommandContext, id: str, tier: str) -> None:  # noqa: A002 - the contract's word
    """Protect a memory: no assistant can read what is sensitive or confidential without your permission.

    It is never sent to a model server on another computer, and no names are read from it. What was made from it is
    protected, too. You still find it with `loci recall` and in the library. Loci protects card numbers, passwords and
    the like by itself; what you choose here overrides that, and cleartext removes the protection.
    """

    def print_reply(out: Output, reply: Mapping[str, Any]) -> None:
        words = load_words()["tiers"]
        out.print_line(words["already" if reply["step"] is None else reply["tier"]].format(tier=reply["tier"]))

    command.print_result(command.call("tier", {"id": id, "tier": tier}), print_reply)


# A tag to take away is written -TAG: only long options are read as options here.
@loci.command(context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]})
@click.argument("id")
@click.argument("changes", nargs=-1, metavar="[+TAG] [-TAG]...")
@click.option("--add", multiple=True, metavar="TAG", help="A tag to add; the same as +TAG.")
@click.option("--remove", multiple=True, metavar="TAG", help="A tag to remove; the same as -TAG.")
@with_command
def tag(
    command: CommandContext,
    id: str,  # noqa: A002 - the contract's word
    changes: tuple[str, ...],
    add: tuple[str, ...],
    remove: tuple[str, ...],
) -> None:
    """Tag a memory with +TAG, or take a tag away with -TAG."""
    more, less = list(add), list(remove)
    for change in changes:
        if change[:1] not in ("+", "-") or not change[1:].strip() or change.startswith("--"):
            raise click.UsageError("A tag is written +TAG to add it, or -TAG to remove it.")
        (more if change[0] == "+" else less).append(change[1:])
    if not more and not less:
        raise click.UsageError("Name the tags: +TAG adds one, -TAG removes one.")
    command.print_result(command.call("tag", {"id": id, "add": more or None, "remove": less or None}), _print_tags)


def _print_tags(out: Output, reply: Mapping[str, Any]) -> None:
    words = load_words()["tagged"]
    if reply["step"] is None:
        out.print_line(words["same"])
    tags = ", ".join(one_line(name, _NAME) for name in reply["tags"])
    out.print_line(words["tags"].format(tags=tags) if tags else words["none"])


@loci.command()
@with_command
def spaces(command: CommandContext) -> None:
    """List the spaces with the number of memories in each.

    They are the wings of the palace. A space is made by naming it: `loci remember TEXT --space NAME`.
    """

    def print_reply(out: Output, reply: Mapping[str, Any]) -> None:
        rows = [
            (one_line(one["name"], 128), format_count(load_words()["memories"], one["memories"]))
            for one in reply["spaces"]
        ]
        out.print_table(rows)

    command.print_result(command.call("spaces", {}), print_reply)


@loci.command()
@click.argument("id")
@with_command
def forget(command: CommandContext, id: str) -> None:  # noqa: A002 - the contract's word
    """Remove a memory from recall; `loci undo` restores it."""
    command.print_result(
        command.call("forget", {"id": id}), lambda out, _: out.print_line("Forgotten. `loci undo` restores it.")
    )


_OUTCOMES = ("helpful", "harmful", "worked", "failed")
_LEAST = 8


@loci.command()
@click.argument("id")
@click.argument("outcome", type=click.Choice(_OUTCOMES), metavar="OUTCOME")
@click.option("--note", help="What happened; it is kept with harm.")
@with_command
def mark(command: CommandContext, id: str, outcome: str, note: str | None) -> None:  # noqa: A002 - the contract's word
    """Say how a rule served, or how a procedure went.

    OUTCOME of a rule is helpful or harmful, of a procedure worked or failed.
    """
    if note is not None and outcome != "harmful":
        raise click.UsageError("--note goes with harmful.")
    command.print_result(command.call("mark", {"id": id, "outcome": outcome, "note": note}), _print_mark)


def _print_mark(out: Output, reply: Mapping[str, Any]) -> None:
    words = load_words("practice")
    out.print_line(words["acts"][reply["outcome"]]["done"])
    state = reply.get("rule")
    out.print_line(f"  {_describe_procedure(reply['procedure']) if state is None else _describe_rule(state)}")
    if reply.get("inverted"):
        out.print_line("  " + words["command"]["inverted"].format(id=reply["id"]))
    elif reply.get("conflict") is not None:
        out.print_line("  " + words["command"]["asked"].format(id=reply["conflict"][-_LEAST:]))
    out.print_line("  " + words["command"]["undo"])


def _describe_rule(state: Mapping[str, Any]) -> str:
    words = load_words("practice")
    return str(words["command"]["rule"]).format(
        maturity=words["rule"]["maturity"][state["maturity"]],
        helpful=format_count(words["rule"]["helpful"], state["helpful"]).lower(),
        harmful=format_count(words["rule"]["harmful"], state["harmful"]),
        value=f"{state['effectiveness']:.2f}",
    )


def _describe_procedure(state: Mapping[str, Any]) -> str:
    words = load_words("practice")
    return str(words["command"]["procedure"]).format(
        worked=format_count(words["procedure"]["worked"], state["successes"]),
        failed=format_count(words["procedure"]["failed"], state["failures"]),
    )
