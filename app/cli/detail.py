"""The command line's verbs show, history and receipt: one memory, or one answer, as a person reads it.

Must not do: decide anything, or print text that could steer a terminal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from app.cli.messages import (
    Item,
    align_rows,
    describe_author,
    describe_claim,
    describe_claim_state,
    describe_conditions,
    describe_level,
    describe_source,
    describe_status,
    describe_trust,
    first_words,
    format_count,
    format_day,
    format_minute,
    load_words,
    on_day,
)
from app.cli.output import Output, escape_controls, one_line
from app.cli.review import read_items, shorten_id
from app.cli.root import CommandContext, loci, with_command
from app.engine.session import VerbSession

_NAME = 60
_ASKED = frozenset({"active", "disputed", "quarantined"})
_VERSIONS = 12

Row = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _About:
    """What is told beside a memory.

    Attributes:
        versions: of its chain, the oldest first.
        asked: open items it is a side of; `queue` are all that wait.
    """

    versions: Sequence[Item]
    asked: Sequence[Item]
    queue: Sequence[Item]


@loci.command()
@click.argument("id")
@with_command
def show(command: CommandContext, id: str) -> None:  # noqa: A002 - the contract's word
    """Everything about one memory.

    How it stands and why, who said it and when, what its trust is made of, what it claims, its versions.
    """
    if command.output.as_json:
        command.output.print_document(command.call("show", {"id": id}))
        return
    with command.open_session() as session:
        shown = session.call("show", {"id": id})
        about = _read_context(session, shown)
    _print_detail(command.output, shown, about)


def _read_context(session: VerbSession, shown: Item) -> _About:
    chain = session.call("history", {"id": shown["id"]})["items"]
    versions = [one for one in chain if not one["part_index"]]  # of a split text the first part
    queue = read_items(session) if shown["status"] in _ASKED else []
    whole_id = shown["part_of"] or shown["id"]
    asked = [item for item in queue if whole_id in (item["incoming"]["id"], (item["existing"] or {}).get("id"))]
    return _About(versions, asked, queue)


def _print_detail(out: Output, shown: Item, about: _About) -> None:
    out.print_lines(escape_controls(line) for line in shown["text"].split("\n"))
    out.print_line()
    rows = [
        *_status_rows(shown, about),
        *_origin_rows(shown),
        *_trust_rows(shown),
        *_claim_rows(shown),
        *_version_rows(shown, about),
    ]
    out.print_lines(align_rows([*rows, *_question_rows(shown, about)]))


def _status_rows(shown: Item, about: _About) -> list[Row]:
    status, *why = describe_status(shown)
    rows = [("id", shown["id"]), ("kind", f"{shown['kind']}, in {one_line(shown['space'], _NAME)}"), ("status", status)]
    rows += [("", line) for line in why]
    successor = next((one for one in about.versions if one["id"] == shown["superseded_by"]), None)
    if shown["status"] == "superseded" and successor is not None:
        rows.append(("", str(load_words()["successor"]).format(text=first_words(successor["text"]))))
        rows.append(("", f"{describe_source(successor)} · {successor['id']}"))
    for number, line in enumerate(describe_conditions(shown)):
        rows.append(("true" if not number else "", line))
    begin, end = format_day(shown["valid_from"]), format_day(shown["valid_to"])
    if begin or end:
        forms = load_words("belief")["claims"]
        both = forms["between"].format_map({"from": begin, "to": end}) if begin and end else ""
        rows.append(("held", both or (forms["from"].format(date=begin) if begin else forms["until"].format(date=end))))
    return rows


def _origin_rows(shown: Item) -> list[Row]:
    rows = [
        ("said" if shown["occurred_at"] else "source", describe_source(shown)),
        ("stored", format_minute(shown["created_at"])),
    ]
    rows += [(name, one_line(shown[name], _NAME)) for name in ("author", "ref") if shown[name]]
    title = shown["provenance"]["conversation"].get("title")
    if title:
        rows.append(("from", f"the conversation “{one_line(title, _NAME)}”"))
    if shown["import_id"] is not None:
        rows.append(("import", shown["import_id"]))
    if shown["provenance"]["parts"]:
        rows.append(("part", f"{shown['part_index'] + 1} of {len(shown['provenance']['parts'])}"))
    if shown["tags"]:
        rows.append(("tags", ", ".join(one_line(tag, _NAME) for tag in shown["tags"])))
    rows += [("flag", one_line(flag.replace("_", " "), _NAME)) for flag in shown["flags"]]
    if shown["access_count"]:
        rows.append(("used", format_count(load_words()["recalled"], shown["access_count"])))
    return rows


def _trust_rows(shown: Item) -> list[Row]:
    trust = next(term["value"] for term in shown["trust_terms"] if term["term"] == "trust")
    rows = [("trust", f"{trust:.2f}, {describe_level(trust)}")]
    factors = describe_trust(shown)
    width = max(len(name) for _, name, _ in factors)
    return rows + [("", f"  {figure:>5}  {name:<{width}}  {sentence}") for figure, name, sentence in factors]


def _claim_rows(shown: Item) -> list[Row]:
    rows: list[Row] = []
    for claim in shown["claims"]:
        rows.append(("claims" if not rows else "", describe_claim(claim)))
        rows.append(("", f"  {describe_claim_state(claim)}"))
    return rows


def _version_rows(shown: Item, about: _About) -> list[Row]:
    """The chain, where there is more than this one."""
    if len(about.versions) < 2:
        return []
    rows = [_describe_version(one, shown["part_of"] or shown["id"]) for one in about.versions[-_VERSIONS:]]
    lines = [("versions" if not place else "", line) for place, line in enumerate(rows)]
    left = len(about.versions) - len(rows)
    return [*lines, ("", f"and {left} earlier: `loci history {shown['id']}`")] if left else lines


def _describe_version(one: Item, this_id: str) -> str:
    status = load_words()["short_status"][one["status"]]
    which = load_words()["this_one"] if one["id"] == this_id else one["id"]
    return f"{on_day(one):<10}  {status:<10}  “{first_words(one['text'])}”  {which}"


def _question_rows(shown: Item, about: _About) -> list[Row]:
    rows: list[Row] = []
    status_lines = describe_status(shown)
    for item in about.asked:
        asked = load_words()["asked"].format(
            id=shorten_id(item["id"], about.queue), question=one_line(item["question"], _NAME)
        )
        rows.append(("question" if not rows else "", asked))
        for name in ("existing", "incoming"):
            other = item[name]
            if other is not None and other["id"] not in (shown["id"], shown["part_of"]):
                rows.append(("", load_words()["sides"][name].format(text=first_words(other["text"]))))
                rows.append(("", f"{describe_source(other)}, trust {other['trust']:.2f} · {other['id']}"))
        if item["reason"] not in status_lines:
            rows.append(("", item["reason"]))
    return [*rows, ("", "`loci conflicts` lists the answers.")] if rows else rows


@loci.command()
@click.argument("id")
@with_command
def history(command: CommandContext, id: str) -> None:  # noqa: A002 - the contract's word
    """All versions of one memory, the one said first at the top."""

    def print_reply(out: Output, reply: Mapping[str, Any]) -> None:
        for item in reply["items"]:
            status = load_words()["short_status"][item["status"]]
            out.print_line(f"{on_day(item):<10}  {status:<10}  {one_line(item['text'], 100)}")
            out.print_line(f"{'':<24}{describe_author(item)} · {item['id']}")

    command.print_result(command.call("history", {"id": id}), print_reply)


@loci.command()
@click.argument("id")
@with_command
def receipt(command: CommandContext, id: str) -> None:  # noqa: A002 - the contract's word
    """What one answer was: who asked what, what was given, what was kept back and why.

    `loci log` names the receipts of what clients were answered.
    """

    def print_reply(out: Output, reply: Mapping[str, Any]) -> None:
        asker = "you" if reply["actor"] == "owner" else one_line(reply["client"] or reply["actor"], _NAME)
        rows = [("asked", f"by {asker}, {format_minute(reply['at'])}, {reply['verb'].replace('_', ' ')}")]
        rows += [("words", one_line(reply["query"], 100))] if reply["query"] else []
        rows += [("given" if not at else "", one) for at, one in enumerate(reply["given"])] or [("given", "nothing")]
        rows += [("", f"and {reply['unlisted']} more")] if reply["unlisted"] else []
        kept = [f"{one['id']}  {one['why'].replace('_', ' ')}" for one in reply["withheld"]]
        kept += [f"{reply['sealed']} sealed"] if reply["sealed"] else []
        out.print_lines(align_rows([*rows, *(("kept back" if not at else "", line) for at, line in enumerate(kept))]))

    command.print_result(command.call("receipt", {"id": id}), print_reply)
