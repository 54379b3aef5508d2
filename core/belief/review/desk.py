"""The conflict desk, read side: the queue in the order of harm, one item with everything a decision needs, what closed.

Every row of an answer can be acted on: items whose pair is no longer a question are left out here and closed by the
engine with a note. Must not do: decide, close, or show a memory to a client that may not see it (the caller narrows
the spaces).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import attrgetter

from core.belief.claims.authorship import persons_among
from core.belief.claims.text_union import united
from core.belief.review.actions import HELD, Shape, actions_of, repeatable
from core.belief.review.client_request import asked_of, asked_question
from core.belief.review.dependents import follows_of
from core.belief.review.injection_warning import DISGUISED, warned_of, warning_of
from core.belief.review.items import (
    Item,
    closed_since,
    is_applicable,
    read_item,
    standing_side,
)
from core.belief.review.open_questions import item_question
from core.belief.review.opposition import against_words, stands_against
from core.belief.review.queue import Waiting, chosen, piled
from core.belief.review.reasons import why_of
from core.belief.review.sides import at_odds, claims_seen, marks_of, side, topic_of
from core.belief.review.wording import Topic, day, line, note, question, result, title, weighed
from core.belief.review.wording import closed as closed_sentence
from core.types.reviews import Asked, ClosedRow, Queue, QueueRequest, ReviewItem, ReviewRow, Side, Suggestion
from core.types.values import Action, Memory, When
from core.vault.database.rows import Rows

ReadMemories = Callable[[Rows, Iterable[str]], Mapping[str, Memory]]
"""Reads memories by their ids (`core.memory.read.by_ids`)."""

DIGEST = 10
"""Rows of a day's digest (design section 4)."""
_GROUPS = 10
_WEEK_MS = 7 * 86_400_000
_CLOSED_SHOWN = 500
_DAY_MS = 86_400_000
# The plus lets the index by time be used: few of all that was ever closed was closed lately.
_DECIDED = "SELECT count(*) FROM conflicts WHERE closed_at >= ? AND +state = 'resolved' AND note IS NOT 'rule'"
_CLOSED_BY_ITSELF = "SELECT count(*) FROM conflicts WHERE closed_at >= ? AND +state = 'moot'"


@dataclass(frozen=True, slots=True)
class Desk:
    """Reads the desk.

    Attributes:
        memories: reads memories by their ids.
    """

    memories: ReadMemories

    def queue(self, rows: Rows, request: QueueRequest, now_ms: int, space_ids: Iterable[str] | None = None) -> Queue:
        """The queue as it stands.

        Args:
            rows: a vault snapshot.
            request: which part of it, and how many rows at most.
            now_ms: the present, epoch ms.
            space_ids: only items of these spaces; None for all.

        Returns:
            The most harmful rows first, what was put off at the end; counts are over all that is open.
        """
        pile = piled(rows, now_ms, space_ids)
        items, shown = pile.items, chosen(rows, pile, request)
        decided = int(rows.value(_DECIDED, (now_ms - now_ms % _DAY_MS,)))
        return Queue(
            rows=self._rows(rows, shown),
            total=len(items),
            counts=_counts(map(attrgetter("kind"), items)),
            clients=_counts(map(pile.clients.get, map(attrgetter("client_id"), items))),
            sources=_counts(map(attrgetter("source"), items)),
            subjects=_counts(pile.subjects()),
            closed=int(rows.value(_CLOSED_BY_ITSELF, (now_ms - _WEEK_MS,))),
            today=min(max(0, DIGEST - decided), sum(not item.later for item in shown)),
        )

    def _rows(self, rows: Rows, shown: Sequence[Waiting]) -> tuple[ReviewRow, ...]:
        found = self.memories(rows, [item.incoming_id for item in shown])
        return tuple(_row(item, found[item.incoming_id]) for item in shown)

    def item(self, rows: Rows, item_id: str, now_ms: int, *, brief: bool = False) -> ReviewItem | None:
        """One item, validated now.

        Args:
            rows: a vault snapshot.
            item_id: its id.
            now_ms: the present, epoch ms.
            brief: without who was given it and what follows, for lists.

        Returns:
            Everything its page shows; an open item that can no longer be decided is `moot` and takes no action. None
            where there is no such item.
        """
        held = read_item(rows, item_id)
        if held is None:
            return None
        is_open = held.state == "open" and is_applicable(rows, item_id)
        # A closed item shows the two that it was about; an open one what stands by now.
        against = standing_side(rows, held.existing_id, held.incoming_id) if is_open else held.existing_id
        found = self.memories(rows, [held.incoming_id, *([against] if against else [])])
        came, have = found[held.incoming_id], found.get(against or "")
        new_claims = claims_seen(rows, came)
        old_claims = () if have is None else claims_seen(rows, have)
        odds = at_odds(old_claims, new_claims)
        old_marks, new_marks = ([], []) if have is None else marks_of(have, came, odds)
        topic, asked = topic_of(odds, new_claims), asked_of(rows, item_id)
        incoming = side(rows, came, new_marks, new_claims, brief=brief)
        existing = None if have is None else side(rows, have, old_marks, old_claims, brief=brief)
        beside = self._beside(rows, held, came, brief=brief) if is_open and have is None else None
        state = held.state if is_open or held.state != "open" else "moot"
        actions = actions_of(held.kind, shape_of(came, have)) if is_open else ()
        return ReviewItem(
            id=held.id,
            kind=held.kind,
            state=state,
            question=_question(rows, held, topic, asked),
            why=(*why_of(held, existing, incoming, now_ms, asked), *against_words(rows, beside)),
            existing=existing,
            incoming=incoming,
            suggestion=_suggestion(held, topic, actions, existing, incoming),
            actions=actions,
            follows=() if have is None or brief else follows_of(rows, have),
            opened_at=held.opened_at,
            closed="" if is_open else closed_sentence(held.note or _GONE.get(state), held.resolution),
            resolution=next((action for action in Action if action.value == held.resolution), None),
            repeatable=repeatable(
                held.kind,
                actions,
                said_by_owner=bool(persons_among(rows, found)),
                held=any(one.status_reason == HELD for one in found.values()),
            ),
            asked=asked,
            warning=warning_of(held.kind, came) if is_open else "",
            against=beside,
        )

    def _beside(self, rows: Rows, held: Item, came: Memory, *, brief: bool) -> Side | None:
        """What stands against a newcomer that is asked about alone, with the places that are at odds."""
        found = stands_against(rows, held.kind, came.id)
        have = None if found is None else self.memories(rows, [found]).get(found)
        if have is None:
            return None
        claims = claims_seen(rows, have)
        marks, _ = marks_of(have, came, at_odds(claims, claims_seen(rows, came)))
        return side(rows, have, marks, claims, brief=brief)

    def closed(self, rows: Rows, since_ms: int, most: int = _CLOSED_SHOWN) -> tuple[ClosedRow, ...]:
        """Items that closed, by themselves or by a person, the latest first.

        Args:
            rows: a vault snapshot.
            since_ms: from when on, epoch ms.
            most: rows at most.

        Returns:
            The rows; items whose memory was erased are left out.
        """
        items = closed_since(rows, since_ms, most)
        found = self.memories(rows, [item.incoming_id for item in items])
        return tuple(_closed(item, found[item.incoming_id]) for item in items if item.incoming_id in found)


_GONE: Mapping[str, str] = {"moot": "gone"}


def shape_of(came: Memory, have: Memory | None) -> Shape:
    """What of two memories decides which actions there are.

    Args:
        came: the newcomer.
        have: the memory that stands; None where there is none.

    Returns:
        The shape.
    """
    both = [memory for memory in (came, have) if memory is not None]
    return Shape(
        paired=have is not None,
        split=any(memory.part_of is not None for memory in both),
        same_text=have is not None and have.text == came.text and have.space == came.space,
        same_kind=have is None or have.kind is came.kind,
    )


def _question(rows: Rows, held: Item, topic: Topic, asked: Asked | None) -> str:
    if asked is not None:
        return asked_question(asked)
    return item_question(rows, held.incoming_id, held.detail) or question(held.kind, topic)


def _counts(names: Iterable[str | None]) -> dict[str, int]:
    """The most frequent names; what has none does not count."""
    counted = Counter(names)  # ten thousand of them: nothing here may run once for each but what is built in
    return dict(islice(((str(name), count) for name, count in counted.most_common() if name), _GROUPS))


def _row(item: Waiting, came: Memory) -> ReviewRow:
    return ReviewRow(
        id=item.id,
        kind=item.kind,
        title=title(item.kind, Topic(item.subject, item.predicate), came.text),
        note=note(item.kind, item.recalled, item.client, later=item.later),
        existing_id=item.existing_id,
        incoming_id=item.incoming_id,
        space=item.space,
        opened_at=item.opened_at,
        recalled=item.recalled,
        harm=item.harm,
        source=item.source,
        client=item.client,
        subject=item.subject,
        later=item.later,
        warned=item.kind != DISGUISED and warned_of(came) is not None,
    )


def _closed(item: Item, came: Memory) -> ClosedRow:
    return ClosedRow(
        id=item.id,
        kind=item.kind,
        title=line(came.text),
        resolution=item.resolution or "",
        note=closed_sentence(item.note, item.resolution),
        closed_at=item.closed_at or 0,
        incoming_id=item.incoming_id,
        existing_id=item.existing_id,
    )


def _suggestion(
    held: Item, topic: Topic, actions: Sequence[Action], existing: Side | None, incoming: Side
) -> Suggestion | None:
    if held.suggestion is None or held.suggestion not in actions:
        return None
    action = Action(held.suggestion)
    at = begins(incoming.memory) if action is Action.KEEP_BOTH_DATED else None
    dated = "" if at is None else day(at.ms)
    by = str(held.detail.get("by", "rules"))
    told = result(action, held.kind, topic, paired=existing is not None, date=dated)
    sure = weighed(by, held.confidence)
    text = None
    if action is Action.MERGE:
        text = united(existing.memory.text if existing else "", incoming.memory.text)
    return Suggestion(action, held.confidence, by, f"{told} {sure}".strip(), at, text)


def begins(came: Memory) -> When | None:
    """From when a newcomer holds, as far as it says.

    Args:
        came: the newcomer.

    Returns:
        Its own beginning, else when it was said; None where neither is known.
    """
    return When(came.valid_from) if came.valid_from is not None else came.occurred
