"""Clients in words: grants, standings, limits, what was done, why something was withheld.

The sentences are `resources/help/clients_page.json`; why recall drops a memory is said as on the Recall page. Must not
do: decide anything, or show a name that is not made visible.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from core.config.grant_wording import describe_grant, format_grant
from core.types.clients import ActivityLine, ClientCard, ClientState, Did, Terms, Undoable
from ui.strings import clients_strings, format_count, recall_strings
from ui.widgets.labels import date_of, format_ago, name_space
from ui.widgets.plaintext import one_line

SPACE = "space:"
_NAME = 40
_PROCESS = 80
_SENTENCE = 400
_NAMES = 6
_WORDS = 160
_REASONS = 3


@cache
def _dropped_strings() -> Mapping[str, Any]:
    strings: Mapping[str, Any] = recall_strings()["dropped"]
    return strings


def visible_name(name: str) -> str:
    """A client's name as it is shown: one line, what cannot be seen made visible."""
    return one_line(name, _NAME)


# ---- grants


def grant_word(grant: str) -> str:
    """A grant in a word or two: `read`, the name of a space."""
    return visible_name(format_grant(grant))


def grant_sentence(grant: str) -> str:
    """What a grant allows, in a plain sentence."""
    return one_line(describe_grant(grant), _SENTENCE)


def format_grants(grants: Sequence[str]) -> str:
    """Grants in a row: `read, propose, work`."""
    return ", ".join(grant_word(one) for one in grants) or str(clients_strings()["no_grants"])


# ---- a card


def client_state_name(state: ClientState) -> str:
    """The state of a client in a word: `awake`."""
    return str(clients_strings()["standing"][state.value]["word"])


def describe_last_seen(card: ClientCard, now_ms: int, *, briefly: bool = False) -> str:
    """When it came last: `last connected yesterday`.

    Args:
        briefly: whether there is little room: `connected yesterday`.
    """
    strings = clients_strings()
    if card.seen_at is None:
        return str(strings["never"])
    return str(strings["seen_briefly" if briefly else "seen"].format(when=format_ago(card.seen_at, now_ms)))


def describe_pairing(card: ClientCard) -> str:
    """When and how it was paired."""
    strings = clients_strings()
    if card.standing is ClientState.UNPAIRED:
        return str(strings["not_paired"])
    how = strings["asked_by"].format(process=one_line(card.asked_by, _PROCESS)) if card.asked_by else strings["by_you"]
    return f"{strings['paired'].format(when=date_of(card.paired_at))} {how}"


def describe_limits(minute: int | None, session: int | None) -> str:
    """How often it may search."""
    strings = clients_strings()["limits"]
    key = {(False, False): "both", (False, True): "minute", (True, False): "session", (True, True): "none"}
    form: str = strings[key[minute is None, session is None]]
    return form.format(minute=minute, session=session)


# ---- what it did


def describe_verb(verb: str) -> str:
    """A verb in words, as something a client did: `stored`."""
    known = clients_strings()["verbs"].get(verb)
    return str(known) if known is not None else one_line(verb.replace("_", " "), _NAME)


def describe_refused_call(method: str) -> str:
    """A call that was refused, as what a client wanted: `wanted to store a memory`; "" where it named none.

    Args:
        method: of the protocol, or whatever it called.
    """
    known = clients_strings()["calls"].get(method)
    return str(clients_strings()["wanted"]).format(call=known) if known else one_line(method, _NAME)


def describe_action(line: ActivityLine) -> str:
    """What a client did, as the title of a row."""
    if line.did is Did.REFUSED:
        why = clients_strings()["refusal_reasons"].get(line.code, clients_strings()["refusal_reasons"]["unknown"])
        return str(clients_strings()["activity"]["refused"]).format(why=why)
    answer = clients_strings()["answered"].get(line.verb, {}).get(line.operation) or describe_verb(line.verb)
    verb = answer[:1].upper() + answer[1:]
    return f"{verb}: {one_line(line.words, _WORDS)}" if line.words else verb


def describe_withheld(line: ActivityLine) -> str:
    """How many memories were left out and why, the commonest first: `29 left out: 20 disputed, 9 replaced`."""
    strings = clients_strings()
    count = format_count(strings["activity"]["withheld"], line.withheld)
    parts = [f"{many:,} {brief_withheld_reason(why)}" for why, many in line.reasons[:_REASONS]]
    rest = sum(many for _, many in line.reasons[_REASONS:])
    parts += [str(strings["activity"]["otherwise"]).format(count=f"{rest:,}")] if rest else []
    if len(line.reasons) == 1:
        return f"{count}: {brief_withheld_reason(line.reasons[0][0])}"
    return f"{count}: {', '.join(parts)}" if parts else count


def brief_withheld_reason(reason: str) -> str:
    """Why a memory was withheld, in as few words as tell it apart."""
    known = clients_strings()["briefly"].get(reason)
    return str(known) if known else describe_withheld_reason(reason)


def describe_activity(line: ActivityLine) -> str:
    """How much of it: what was given and withheld, what changed, whether it was taken back."""
    strings = clients_strings()["activity"]
    parts: list[str] = []
    if line.did is Did.ASKED:
        parts.append(format_count(strings["gave"], line.count) if line.count else strings["gave_none"])
        if line.withheld:
            parts.append(describe_withheld(line))
    elif line.did is Did.WROTE:
        parts += [name_space(line.space)] if line.space else []
        more = line.count - 1 if line.words else line.count
        parts += [format_count(strings["more" if line.words else "changed"], more)] if more > 0 else []
        parts += [strings["warned"]] if line.is_warned else []
    elif line.did is Did.REFUSED:
        parts += [describe_refused_call(line.verb), line.code]
    if line.is_undone:
        parts.append(strings["undone"])
    return " · ".join(part for part in parts if part)


def describe_withheld_reason(reason: str) -> str:
    """Why a memory was withheld, as a clause: `held back`.

    Args:
        reason: a code of a receipt, or of the simulator.
    """
    known = clients_strings()["reasons"].get(reason)
    if known:
        return str(known)
    dropped = _dropped_strings().get(reason)
    return str(dropped["short"]) if dropped else one_line(reason.replace("_", " "), _NAME)


# ---- what would change


def join_client_names(names: Sequence[str]) -> str:
    """Clients in a row; of many the first ones and how many more."""
    shown = ", ".join(visible_name(name) for name in names[:_NAMES])
    return (
        f"{shown} {format_count(clients_strings()['and_more'], len(names) - _NAMES)}" if len(names) > _NAMES else shown
    )


def describe_take_back(found: Undoable) -> str:
    """What taking back would do, in one sentence."""
    strings = clients_strings()["undo_dialog"]
    if not found.steps:
        return str(strings["stuck" if found.left or found.expired else "none"])
    steps, touched = format_count(strings["steps"], found.steps), format_count(strings["memories"], found.memories)
    form = str(strings["at_least" if found.untried else "told"])
    sentence = form.format(steps=steps, memories=touched, verbs=_describe_verbs(found))
    return f"{sentence} {format_count(strings['untried'], found.untried)}" if found.untried else sentence


def describe_left_over(found: Undoable) -> str:
    """What taking back would leave as it is, and why; "" for nothing."""
    strings = clients_strings()["undo_dialog"]
    parts = [format_count(strings["stays"], found.left)] if found.left else []
    parts += [format_count(strings["expired"], found.expired)] if found.expired else []
    return " ".join(parts)


def can_remove(found: Undoable) -> bool:
    """Whether removing all a client ever did would do anything."""
    return bool(found.steps or found.archived)


def describe_removal(found: Undoable) -> str:
    """What removing all a client ever did would do, and what would stay even then, in sentences."""
    strings = clients_strings()["remove_dialog"]
    parts = [describe_take_back(found)] if found.steps else []
    parts += [format_count(strings["archived"], found.archived)] if found.archived else []
    parts += (
        [format_count(clients_strings()["undo_dialog"]["stays"], found.left_removing)] if found.left_removing else []
    )
    return " ".join(parts)


def _describe_verbs(found: Undoable) -> str:
    form, ranked = (
        clients_strings()["undo_dialog"]["verb"],
        sorted(found.by_verb.items(), key=lambda one: (-one[1], one[0])),
    )
    return ", ".join(form.format(count=f"{count:,}", verb=describe_verb(verb)) for verb, count in ranked)


def format_percent(value: float) -> str:
    """A share of one as a number of percent: `85`."""
    return f"{100 * value:.4g}"


def describe_terms_change(old: Terms, new: Terms) -> str:
    """What applying new terms would change, in sentences."""
    strings = clients_strings()["terms"]
    more = [one for one in new.grants if one not in old.grants]
    less = [one for one in old.grants if one not in new.grants]
    parts = [strings["more"].format(what=format_grants(more))] if more else []
    parts += [strings["less"].format(what=format_grants(less))] if less else []
    if (old.limit_minute, old.limit_session) != (new.limit_minute, new.limit_session):
        parts.append(strings["limit"].format(what=describe_limits(new.limit_minute, new.limit_session)))
    if old.trust_ceiling != new.trust_ceiling:
        usual, ceiling = strings["trust_usual"], new.trust_ceiling
        parts.append(usual if ceiling is None else strings["trust"].format(value=format_percent(ceiling)))
    return " ".join(parts) or str(strings["same"])


def describe_undo_remainder(count: int) -> str:
    """What an undo left as it is, as a sentence to put behind another one; "" for nothing."""
    return f" {format_count(clients_strings()['left'], count)}" if count else ""
