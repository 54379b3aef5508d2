"""The Review page in words: what actions are called for an item, where a memory comes from, how sure a claim is.

The sentences are `resources/help/review_page.json`. Must not do: decide, or show text that is not made visible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.types.reviews import ClaimSeen, ReviewItem, ReviewRow, Side
from core.types.values import PERSON_SOURCES, Action, Precision, Role, Source, Status, When
from ui.strings import format_count, review_strings
from ui.widgets.labels import SOURCE_WORDS, STATUS_WORDS, format_said_at, format_said_or_noted
from ui.widgets.plaintext import one_line

ORDER = (
    Action.REJECT,
    Action.SUPERSEDE,
    Action.KEEP_BOTH,
    Action.KEEP_BOTH_DATED,
    Action.MERGE,
    Action.SCOPE_SPLIT,
    Action.DISPUTE_BOTH,
    Action.SKIP,
)
"""The order in which buttons are, as the keys lie: mine, the new one, both, the rest."""
ASKS = frozenset({Action.KEEP_BOTH_DATED, Action.MERGE, Action.SCOPE_SPLIT})
"""Decisions that need a text or a date."""
MANY = (Action.REJECT, Action.SUPERSEDE, Action.KEEP_BOTH, Action.SKIP)
"""Decisions that make sense for several items at once."""
_OF_THEIR_OWN = frozenset({"approval", "stale", "gap", "entity_merge"})
_OF_SOMEBODY = frozenset({"proposal", "quarantine", "injection"})
"""Kinds that say whose they are also where no client brought them."""
_NAME = 60


@dataclass(frozen=True, slots=True)
class ActionWords:
    """An action as its button shows it.

    Attributes:
        title: as it is on the button.
        key: as it is on the keyboard.
        hint: what it does, one sentence.
        short: the title where many are beside each other.
    """

    title: str
    key: str
    hint: str
    short: str = ""

    @property
    def plain(self) -> str:
        """The title without the dots that say that something is asked first."""
        return self.title.removesuffix(" …")


def describe_action(action: Action, kind: str, *, is_pair: bool) -> ActionWords:
    """What an action is called.

    Args:
        is_pair: whether two memories are concerned.
    """
    named = review_strings()["actions"]
    usual = named["pair" if is_pair else "one"]
    own = named.get(f"{kind}_{'pair' if is_pair else 'one'}") or named.get(kind, {})
    found = own.get(action.value) or usual[action.value]
    key = "E" if action is Action.MERGE and not is_pair else review_strings()["keys"][action.value]
    return ActionWords(found["title"], key, found["hint"], found.get("short", found["title"]))


def describe_batch_action(action: Action, rows: Sequence[ReviewRow]) -> ActionWords | None:
    """What an action is called for several items; None where it makes no sense for them."""
    kinds, is_pair = {row.kind for row in rows}, any(row.existing_id is not None for row in rows)
    special = kinds & _OF_THEIR_OWN
    if special and action is not Action.SKIP:
        # What a key means for these kinds it means for no other: they are decided together only among themselves.
        own = review_strings()["actions"].get(next(iter(special)), {})
        return (
            describe_action(action, next(iter(special)), is_pair=is_pair)
            if len(kinds) == 1 and action.value in own
            else None
        )
    named = review_strings()["actions"]["many" if is_pair else "many_one"].get(action.value)
    return None if named is None else ActionWords(named["title"], review_strings()["keys"][action.value], named["hint"])


# ---- the queue


def row_note(row: ReviewRow) -> str:
    """What is under a row's title: `Contradiction · Claude Code · recalled 5 times`; no memory text."""
    named = review_strings()["rows"]
    whose = row.client or (source_name(row.source) if row.kind in _OF_SOMEBODY else "")
    parts = [
        named.get(row.kind, row.kind),
        one_line(whose, 40),  # what one looks for in the list: before all that may be cut off
        named["warned"] if row.warned else "",
        describe_recalls(row.recalled) if row.recalled else "",
        named["later"] if row.later else "",
    ]
    return " · ".join(part for part in parts if part)


def list_families() -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    """Key, title and kinds of the filters, in order."""
    return tuple((one["key"], one["title"], tuple(one["kinds"])) for one in review_strings()["families"])


def format_family_count(kind: str, count: int) -> str:
    """How many of a kind's family, in words: `3 conflicts`, `1 proposal`."""
    for one in review_strings()["families"]:
        if kind in one["kinds"]:
            return f"{count:,} {one['one'] if count == 1 else one['title'].lower()}"
    return f"{count:,} {kind}"


def source_name(source: str) -> str:
    """A way in words; as it is where it is none of the known ones."""
    return SOURCE_WORDS[Source(source)] if source in set(Source) else one_line(source, _NAME)


# ---- a side


def card_headings(item: ReviewItem) -> tuple[str, str]:
    """The headings of the card of the existing memory, and of the newcomer."""
    named = review_strings()["headings"]
    if item.kind == "entity_merge" and item.existing is not None:
        return named["entity_first"], named["entity_second"]
    if item.kind == "approval" and item.existing is not None:
        return named["have"], named["approval_pair"]
    if item.existing is None and item.kind in named:
        return named["have"], named[item.kind]
    return named["have"], named["came"]


def describe_provenance(side: Side) -> str:
    """Where a memory comes from, in one line a person would say."""
    memory = side.memory
    client, origin = one_line(side.client or "", 40), one_line(side.origin, _NAME)
    strings, quoted = review_strings()["origins"], f"“{origin}”" if origin else ""
    names = {"speaker": one_line(side.speaker, _NAME) or strings["you"], "client": client}
    if client and memory.source is Source.USER_IMPLICIT:
        return _join_with(strings["by"].format(**names), quoted, ", ")
    if memory.source in PERSON_SOURCES and memory.role is not Role.ASSISTANT:
        form = ("talk_with" if client else "talk") if memory.conversation_id else ("told" if client else "alone")
        return _join_with(strings[form].format(**names), quoted, ", ")
    line = _join_with(strings["ways"].get(memory.source.value, SOURCE_WORDS[memory.source]), origin, ": ")
    return _join_with(line, strings["added_by"].format(client=client) if client else "", ", ")


def _join_with(line: str, more: str, link: str) -> str:
    return f"{line}{link}{more}" if more else line


def describe_dates(side: Side) -> str:
    """When it was said and how often it was recalled: `14 May 2026 · recalled 31 times`."""
    memory = side.memory
    return f"{format_said_or_noted(memory.occurred, memory.recorded_at)} · {describe_recalls(side.recalled)}"


def describe_recalls(count: int) -> str:
    """`recalled once`, `recalled 31 times`, `never recalled`."""
    strings = review_strings()["recalls"]
    return format_count(strings, count) if count else str(strings["none"])


def describe_receiver(side: Side) -> str:
    """Whom it was given to; "" where that is not known."""
    names = [one_line(name, 30) for name in side.recalled_by]
    return str(review_strings()["receiver"]).format(names=", ".join(names)) if names else ""


def describe_validity(side: Side) -> str:
    """Between which days it holds; "" where it says nothing of that."""
    begin, end = side.memory.valid_from, side.memory.valid_to
    if begin is None and end is None:
        return ""
    strings, first = review_strings()["validity"], "" if begin is None else format_review_day(When(begin))
    if not end:
        return str(strings["since"]).format(begin=first)
    return str(strings["between" if first else "until"]).format(begin=first, end=format_review_day(When(end)))


def format_review_day(when: When) -> str:
    """A moment as its day in UTC, unless it is known less exactly."""
    if when.precision in {Precision.YEAR, Precision.MONTH}:
        return format_said_at(When(when.ms, when.precision, when.offset_min or 0))
    return format_said_at(When(when.ms, Precision.DAY, when.offset_min or 0))


def describe_side_status(side: Side) -> str:
    """Its status in words, where it is not simply active: `held back`; "" for active."""
    status = side.memory.status
    return "" if status is Status.ACTIVE else STATUS_WORDS[status].lower()


def claim_note(claim: ClaimSeen) -> str:
    """How likely a claim is and who backs it: `92 % confidence · 2 sources · 1 against`."""
    strings = review_strings()["claim"]
    parts = [
        strings["confidence"].format(percent=round(100 * claim.confidence)),
        format_count(strings["sources"], claim.sources) if claim.sources else "",
    ]
    if claim.against:
        parts.append(strings["against"].format(count=claim.against))
    if claim.state != "asserted":
        parts.append(review_strings()["claim_states"].get(claim.state, claim.state))
    return " · ".join(part for part in parts if part)


def claim_quote(text: str, spans: Sequence[tuple[int, int]], room: int = 90) -> str:
    """What surrounds the first piece of evidence in a long text; "" where the text is short enough to be seen whole.

    Args:
        text: of the memory.
        spans: places of the evidence, code points.
        room: characters before and behind it.
    """
    if not spans or len(text) <= 2 * room:
        return ""
    start, end = spans[0]
    low, high = max(0, start - room), min(len(text), max(end, start) + room)
    if low and " " in text[low:start]:
        low = text.index(" ", low, start) + 1
    if high < len(text) and " " in text[end:high]:
        high = text.rindex(" ", end, high)
    shown = one_line(text[low:high], 2 * room + 120)
    return f"“{'… ' if low else ''}{shown}{' …' if high < len(text) else ''}”"


# ---- rules


def may_become_rule(item: ReviewItem) -> bool:
    """Whether a decision on an item can become a rule: never against the owner's word, nor where it has no source."""
    hers = item.incoming.owners_word or (item.existing is not None and item.existing.owners_word)
    return not hers and item.kind in {"contradiction", "classification", "quarantine", "proposal", "injection"}


def name_source(item: ReviewItem) -> str:
    """By what later items would be known: the client's name, else the way, in lower case."""
    client = one_line(item.incoming.client or "", 40)
    if client:
        return client
    way = source_name(item.incoming.memory.source.value)
    return f"{way[:1].lower()}{way[1:]}"


REPEATABLE = frozenset({Action.SUPERSEDE, Action.REJECT, Action.KEEP_BOTH})
"""Decisions that make sense for another pair too."""
_ONLY_TURNED_DOWN = frozenset({"injection"})


def can_repeat(item: ReviewItem, action: Action) -> bool:
    """Whether this decision on this item can become a rule."""
    if not may_become_rule(item) or action not in REPEATABLE:
        return False
    return action is Action.REJECT or item.kind not in _ONLY_TURNED_DOWN
