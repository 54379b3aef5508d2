"""The command line's verbs on the conflict desk: conflicts, resolve, confirm, dispute, reinforce; what waits there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import click

from app.cli.messages import describe_source, first_words, format_count, load_words
from app.cli.options import local_time
from app.cli.output import Output, escape_controls, one_line, wrap_passage
from app.cli.root import CommandContext, loci, with_command
from app.engine.session import VerbSession
from core.config.grant_wording import shell_quoted
from core.errors import Code, UserError
from core.types.values import Action

_SHORT = 8
FIRST = 3
"""Proposals of one client that are shown."""
_ASKS = frozenset({"proposal", "injection", "approval"})


def read_items(session: VerbSession, *, everything: bool = False) -> list[Mapping[str, Any]]:
    """All items of the desk that the engine lists, however many replies they take.

    Args:
        session: the conversation with the engine.
        everything: closed ones too.

    Returns:
        The items, the most pressing first.
    """
    asked: dict[str, Any] = {"all": True} if everything else {}
    page = session.call("conflicts", asked)
    found = list(page["conflicts"])
    while "next" in page:
        page = session.call("conflicts", {**asked, "after": page["next"]})
        found += page["conflicts"]
    return found


def client_of(item: Mapping[str, Any]) -> str | None:
    """The name of the client that brought an item or asked for it."""
    asked = item.get("asked")
    found = item["incoming"].get("client") if asked is None else asked["client"]
    return None if found is None else str(found)


def fold_proposals(items: Sequence[Mapping[str, Any]]) -> tuple[list[Mapping[str, Any]], dict[str, int]]:
    """Items without all but the first proposals of each client: who asks very much does not bury the rest.

    Args:
        items: of the desk, in its order.

    Returns:
        What is shown, and by a client's name how many proposals of it are not.
    """
    shown: list[Mapping[str, Any]] = []
    seen: Counter[str] = Counter()
    for item in items:
        name = client_of(item)
        if item["kind"] in _ASKS and item["state"] == "open" and name is not None:
            seen[name] += 1
            if seen[name] > FIRST:
                continue
        shown.append(item)
    return shown, {name: count - FIRST for name, count in seen.items() if count > FIRST}


def shorten_id(item_id: str, among: Sequence[Mapping[str, Any]]) -> str:
    """As much of an id's end as tells it from others.

    Args:
        among: the items it stands among.
    """
    length = _SHORT
    while sum(item["id"].endswith(item_id[-length:]) for item in among) > 1 and length < len(item_id):
        length += 1
    return item_id[-length:]


_WORDS = {"same": Action.SUPERSEDE, "different": Action.REJECT}
"""Answers to whether two names are the same, as `answers` of such an item has them."""
_ACTIONS = click.Choice([*(action.value for action in Action), *_WORDS])
_NEEDS = {"text": (Action.MERGE,), "when": (Action.SCOPE_SPLIT,)}
_DATED = (Action.KEEP_BOTH_DATED, Action.SUPERSEDE)
_LEAST = 8
_REASON = 512
_QUESTION = 180
"""Characters of a question: two names of the longest, and what stands around them."""


class _Resolve(click.Command):
    """A command whose help tells the actions; the sentences are read when they are shown."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what each action does."""
        words = load_words()["answers"]["pair"]
        lines = [f"  {action.value:<16} {words[action.value]}" for action in Action]
        self.epilog = "\n".join(["\b", "ACTION is one of:", *lines, *load_words()["answer_help"]])
        super().format_epilog(ctx, formatter)


@loci.command()
@click.option("--all", "everything", is_flag=True, help="Show closed ones too.")
@click.option("--client", metavar="NAME", help="Only items of the client NAME.")
@click.option("--reject", is_flag=True, help="With --client: decline everything it proposed or asked for, in one step.")
@with_command
def conflicts(command: CommandContext, everything: bool, client: str | None, reject: bool) -> None:
    """List what waits for your decision, the most pressing first.

    Of what one client proposes the first are shown; --client NAME shows more. What you turn down is archived, and the
    same text is not asked about again.
    """
    if reject:
        if client is None or everything:
            raise click.UsageError("--reject goes with --client NAME.")
        command.print_result(command.call("turn_down", {"name": client}), _print_turned_down)
        return
    with command.open_session() as session:
        found = read_items(session, everything=everything)
        total = session.call("status", {}).get("open_reviews") if not command.output.as_json else None
        if client is not None and client not in {one["name"] for one in session.call("clients", {})["clients"]}:
            raise UserError(Code.INVALID_INPUT, "There is no client of that name; `loci clients` lists them.")
    if client is not None:
        found = [item for item in found if client_of(item) == client]
    whole = client is not None
    command.print_result({"conflicts": found}, lambda out, reply: _print_list(out, reply, whole=whole, total=total))


def _print_turned_down(out: Output, reply: Mapping[str, Any]) -> None:
    forms, name = load_words()["turned_down"], escape_controls(reply["name"])
    if reply["step"] is None:
        out.print_line(forms["none"].format(name=name))
        return
    out.print_line(format_count(forms, reply["items"], name=name))
    if reply["left"]:
        out.print_line(format_count(load_words()["turned_down_left"], reply["left"]))


def _print_list(out: Output, reply: Mapping[str, Any], *, whole: bool = True, total: int | None = None) -> None:
    every = reply["conflicts"]
    found, more = (every, {}) if whole else fold_proposals(every)
    for place, item in enumerate(found, 1):
        kind = load_words("review")["kinds"][item["kind"]]["name"]
        out.print_line(
            f"{place:>2}. {one_line(item['question'], _QUESTION)}  [{kind}]  {shorten_id(item['id'], every)}"
        )
        _print_sides(out, item)
        if "warning" in item:
            out.print_line(f"    ! {load_words('review')['warned']['title'].upper()}: {item['warning']}")
        out.print_line(f"    {one_line(item['reason'])}")
        if "asked" in item:
            out.print_line(f"    {_describe_asker(item['asked'])}")
        if item["state"] != "open":
            _print_closed(out, item)
        else:
            _print_answers(out, item)
    _print_explanations(out, [item for item in found if item["state"] == "open"])
    for name, count in more.items():
        out.print_line(
            format_count(
                load_words()["more_of"], count, name=one_line(name, 64), typed=escape_controls(shell_quoted(name))
            )
        )
    count = sum(item["state"] == "open" for item in every)
    number = f"{count} of {total}" if total is not None and total > count else f"{count}"
    out.print_line("Nothing to decide." if not count else f"{number} to decide. `loci resolve ID ACTION` decides one.")


def _print_sides(out: Output, item: Mapping[str, Any]) -> None:
    """The memories of an item, each behind what it is in the question."""
    labels, existing = load_words()["question_sides"], item["existing"] or item.get("against")
    if item.get("names") and existing is None:
        _print_side(out, labels["both_names"], item["incoming"])
        return
    first, second = ("first_name", "second_name") if item.get("names") else ("have", "came")
    if existing is not None:
        _print_side(out, labels[first], existing)
    _print_side(out, labels[second] if item["existing"] is not None else labels["alone"], item["incoming"])


def _describe_asker(asked: Mapping[str, Any]) -> str:
    """Who asks, and why in its own words."""
    forms = load_words("review")["asked"]
    reason = one_line(asked["reason"], _REASON)
    return str(forms["why" if reason else "who"]).format(client=one_line(asked["client"], 64), reason=reason)


def _print_closed(out: Output, item: Mapping[str, Any]) -> None:
    resolution, words = item.get("resolution"), load_words()
    named = words["decided_names"].get(resolution) if "names" in item else None
    how = f"{resolution}: {words['decided'][resolution]}" if named is None and resolution else named
    out.print_line(f"    Closed: {one_line(item.get('closed', ''))}{f' ({how})' if how else ''}")


def _print_answers(out: Output, item: Mapping[str, Any]) -> None:
    if item["suggestion"] is not None:
        out.print_line(f"    Suggested: {item['suggestion']}. {one_line(item.get('result', ''))}")
    out.print_line(f"    Answers:   {', '.join(item.get('answers', item['actions']))}")


def _print_explanations(out: Output, items: Sequence[Mapping[str, Any]]) -> None:
    """What each answer does, once for all items of a form."""
    forms = load_words()["answers"]
    for form, heading in (("pair", "Where two disagree"), ("one", "Where one waits alone")):
        _print_legend(out, heading, forms[form], [item for item in items if _item_form(item) == form])
    for kind in dict.fromkeys(item["kind"] for item in items if _item_form(item) == item["kind"]):
        heading = load_words("review")["kinds"][kind]["name"]
        of_kind = [item for item in items if item["kind"] == kind]
        words = {action: word for item in of_kind for action, word in _answers_of(item)}
        known = {words.get(action, action): told for action, told in {**forms["pair"], **forms[kind]}.items()}
        _print_legend(out, heading, known, of_kind)


def _item_form(item: Mapping[str, Any]) -> str:
    """Which words its answers are told in: a kind's own, else those of two memories, or of one."""
    if item["kind"] in load_words()["answers"]:
        return str(item["kind"])
    return "one" if item["existing"] is None else "pair"


def _answers_of(item: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The actions of an item, each with the word a person types for it."""
    return zip(item["actions"], item.get("answers", item["actions"]), strict=True)


def _print_legend(out: Output, heading: str, known: Mapping[str, str], items: Sequence[Mapping[str, Any]]) -> None:
    used = {word for item in items for _, word in _answers_of(item)}
    if used:
        out.print_line(f"{heading.removesuffix('?')}:")
        out.print_lines(f"    {action:<16} {known[action]}" for action in known if action in used)


def _print_side(out: Output, name: str, item: Mapping[str, Any]) -> None:
    first, *more = wrap_passage(item["text"])
    out.print_line(f"    {name + ':':<9} {first}")
    out.print_lines(f"              {line}" for line in more)
    times = item["access_count"]
    given = f" · {format_count(load_words()['recalled'], times)}" if times else ""
    status = load_words()["short_status"][item["status"]]
    out.print_line(
        f"              {describe_source(item)} · trust {item['trust']:.2f}{given} · {status} · {item['id']}"
    )


@loci.command(cls=_Resolve)
@click.argument("conflict_id")
@click.argument("action", type=_ACTIONS, metavar="ACTION")
@click.option("--text", help="The text of a merge.")
@click.option("--from", "begin", help="When the new one becomes valid, and when the other ceased.")
@click.option("--to", "end", help="When the new one ceased, if it did.")
@click.option("--when", help="The condition under which the new one is true (scope_split).")
@click.option("--remember", is_flag=True, help="Decide later items of the same kind and source the same way.")
@with_command
def resolve(command: CommandContext, /, conflict_id: str, action: str, remember: bool, **given: str | None) -> None:
    """Decide CONFLICT_ID by ACTION.

    Eight characters of the beginning or the end of an id are enough where only one conflict has them.
    """
    chosen = _WORDS.get(action) or Action(action)
    _check_action(chosen, given)
    if len(conflict_id) < _LEAST:
        sentence = f"Give at least {_LEAST} characters of the conflict's id, as `loci conflicts` shows them."
        raise UserError(Code.INVALID_INPUT, sentence)
    params = {
        "id": conflict_id,
        "action": chosen.value,
        "text": given["text"],
        "from": local_time(given["begin"]),
        "to": local_time(given["end"]),
        "when": given["when"],
        "remember": remember or None,
    }
    with command.open_session() as session:
        if action in _WORDS:
            _check_asks_about_names(session, conflict_id)
        reply = session.call("resolve", {name: value for name, value in params.items() if value is not None})
        texts = {} if command.output.as_json else _read_texts(session, (*reply["active"], *reply["retired"]))
    command.print_result(reply, lambda out, done: _print_resolution(out, done, texts))


def _check_asks_about_names(session: VerbSession, conflict_id: str) -> None:
    """Refuse `same` and `different` where the question is another: there they would replace or archive a memory."""
    length = len(conflict_id)
    found = [item for item in read_items(session) if conflict_id in (item["id"][:length], item["id"][-length:])]
    if not found or any("names" not in item for item in found):
        raise UserError(Code.INVALID_INPUT, load_words()["not_names"])


def _read_texts(session: VerbSession, memory_ids: Sequence[str]) -> dict[str, str]:
    return {one: first_words(session.call("show", {"id": one})["text"]) for one in memory_ids}


def _check_action(action: Action, given: Mapping[str, str | None]) -> None:
    for name, actions in _NEEDS.items():
        if given[name] is None and action in actions:
            raise click.UsageError(f"{action.value} takes --{name}.")
        if given[name] is not None and action not in actions:
            raise click.UsageError(f"--{name} goes with {actions[0].value}.")
    if (given["begin"] is not None or given["end"] is not None) and action not in _DATED:
        raise click.UsageError("--from and --to go with keep_both_dated.")


def _print_resolution(out: Output, reply: Mapping[str, Any], texts: Mapping[str, str]) -> None:
    if reply["step"] is None:
        out.print_line("Postponed: for a week it is listed last.")
        return
    out.print_line(f"{reply['label']}. `loci undo` undoes it.")
    out.print_lines(f"  active:     “{texts[one]}”  {one}" for one in reply["active"])
    out.print_lines(f"  not active: “{texts[one]}”  {one}" for one in reply["retired"])
    if reply.get("withheld"):
        out.print_line(f"  ! {load_words()['withheld']}")
    out.print_lines(f"  ? {load_words()['asked_on'].format(id=one[-_LEAST:])}" for one in reply.get("asked", ()))
    if reply["closed"]:
        out.print_line("  " + format_count(load_words()["counts"]["settled"], len(reply["closed"])))


@loci.command()
@click.argument("id")
@with_command
def confirm(command: CommandContext, id: str) -> None:  # noqa: A002 - the contract's word
    """Confirm that a memory is true."""
    command.print_result(command.call("confirm", {"id": id}), _judgement_printer("confirm"))


@loci.command()
@click.argument("id")
@click.option("--reason", help="Why, in a few words.")
@with_command
def dispute(command: CommandContext, id: str, reason: str | None) -> None:  # noqa: A002 - the contract's word
    """Say that a memory is wrong.

    It leaves recall until it is confirmed; what you said yourself too.
    """
    command.print_result(command.call("dispute", {"id": id, "reason": reason}), _judgement_printer("dispute"))


@loci.command()
@click.argument("id")
@with_command
def reinforce(command: CommandContext, id: str) -> None:  # noqa: A002 - the contract's word
    """Say that a memory proved right."""
    command.print_result(command.call("reinforce", {"id": id}), _judgement_printer("reinforce"))


def _judgement_printer(verb: str) -> Callable[[Output, Mapping[str, Any]], None]:
    def print_reply(out: Output, reply: Mapping[str, Any]) -> None:
        forms = load_words()["judged"]
        out.print_line(f"{forms[verb]} {forms[reply['status']].format(value=format(reply['trust'], '.2f'))}")
        if reply["conflict"] is not None:
            out.print_line(f"  {load_words()['remembered']['asked'].format(id=reply['conflict'][-_LEAST:])}")

    return print_reply
