"""The review queue, read side: items in the order of harm, one item with everything a decision needs, what was closed.

One item comes with the reason it was opened for, who weighed it, how the two memories compare, what a client asked for,
and what rests on the one that stands (what was derived from it, who received it, which rules and claims lean on it).
Every row of an answer can be acted on: items whose pair is no longer a question are left out here and closed by the
engine with a note. Must not do: decide, close, show a client's words unmarked or at length, or show a memory to a
client that may not see it (the caller narrows the spaces).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from operator import attrgetter

from core.belief.claims import find_persons_words
from core.belief.review.items import (
    HELD,
    ItemShape,
    QueueItem,
    available_actions,
    find_current_side,
    is_applicable,
    read_closed_since,
    read_item,
    repeatable_actions,
)
from core.belief.review.open_questions import item_question
from core.belief.review.queue import WaitingItem, read_pile, select_review_items
from core.belief.review.sides import (
    DISGUISED,
    KeyedClaim,
    OpposedClaims,
    Place,
    describe_contradicted,
    describe_injection,
    find_contradicted,
    find_differing_spans,
    injection_reasons,
    item_topic,
    pair_opposed_claims,
    read_claims_of_side,
    read_side,
)
from core.belief.review.text_topic import find_worded_topic
from core.belief.review.wording import (
    ItemTopic,
    describe_classifier,
    describe_item_line,
    describe_item_note,
    describe_relation_label,
    describe_result,
    format_day,
    format_further_reason,
    format_merge_question,
    format_merge_title,
    format_question,
    format_reason,
    format_title,
    review_strings,
)
from core.belief.review.wording import describe_closing as closed_sentence
from core.config.help_strings import format_count
from core.text.sentences import unite_texts
from core.types.reviews import (
    ClientRequest,
    ClosedRow,
    Follow,
    Queue,
    QueueRequest,
    ReviewItem,
    ReviewRow,
    Side,
    Suggestion,
)
from core.types.values import Action, Kind, Memory, Status, When
from core.vault.database.rows import Rows, to_json

REASON_CHARACTERS = 512
"""A reason is shown whole: it has no more (bytes) when it comes."""
_ASKED = (
    "SELECT a.verb, k.name, a.reason, a.asked_at FROM approvals a JOIN clients k ON k.id = a.client_id "
    "WHERE a.conflict_id = ?"
)
_ASKED_BY = (
    "SELECT c.id FROM conflicts c JOIN memories i ON i.id = c.incoming_id "
    "LEFT JOIN approvals a ON a.conflict_id = c.id WHERE c.state = 'open' AND CASE WHEN c.kind = 'entity_merge' "
    "THEN json_extract(c.detail, '$.client') = (SELECT name FROM clients WHERE id = ?1) "
    "ELSE coalesce(a.client_id, i.client_id) = ?1 END AND (c.kind IN ('approval', 'entity_merge') "
    "OR (c.kind IN ('proposal', 'injection') AND i.status = 'quarantined')) "
    "ORDER BY c.opened_at, c.id"
)
_MERGE_NAMES = (
    "SELECT c.id, a.name, s.name, b.name, t.name FROM conflicts c "
    "JOIN entities a ON a.id = json_extract(c.detail, '$.entities[0]') JOIN spaces s ON s.id = a.space_id "
    "JOIN entities b ON b.id = json_extract(c.detail, '$.entities[1]') JOIN spaces t ON t.id = b.space_id "
    "WHERE c.id IN (SELECT value FROM json_each(?))"
)
_REQUESTED_BY = "SELECT client_id FROM approvals WHERE conflict_id = ?"
_NAMED = "SELECT id FROM clients WHERE name = ?"
_OWNERS = frozenset({"against_owner", "owners_word"})
"""Reasons that say already whose word stands."""
_LIKELY = 0.15
_TRUST_APART = 0.05
_DOUBT_CHARACTERS = 200
_SHOWN = 200
# What was made of it, and what was made of that: trust is no higher than the lowest of a memory's ancestors.
_DERIVED = """
    WITH RECURSIVE below (id) AS (
        SELECT derived_id FROM derivations WHERE source_id = :id
        UNION SELECT d.derived_id FROM below b JOIN derivations d ON d.source_id = b.id
    )
    SELECT m.id, m.kind FROM below b CROSS JOIN memories m ON m.id = b.id
    WHERE m.status IN ('active', 'disputed', 'quarantined') ORDER BY m.n LIMIT :most
"""  # CROSS: without it all memories would be read, to be looked for among the few below
_LEANS = """
    SELECT DISTINCT m.id FROM edges g JOIN memories m ON m.id = g.from_id
    WHERE g.to_id = :id AND g.type IN ('inferred_from', 'caused_by', 'instance_of', 'example_of')
      AND m.kind = 'rule' AND m.status IN ('active', 'disputed') ORDER BY m.n LIMIT :most
"""
_ALONE = """
    SELECT count(*) FROM claims c WHERE c.state IN ('asserted', 'disputed')
      AND c.id IN (SELECT v.claim_id FROM evidence v WHERE v.memory_id = :id AND v.stance = 'supporting')
      AND NOT EXISTS (SELECT 1 FROM evidence o JOIN memories m ON m.id = o.memory_id WHERE o.claim_id = c.id
                      AND o.stance = 'supporting' AND o.memory_id <> :id AND m.status = 'active')
"""
_GIVEN = """
    SELECT k.name FROM accesses a JOIN clients k ON k.id = a.session WHERE a.memory_id = :id
    GROUP BY k.name ORDER BY sum(a.count) DESC, k.name LIMIT 3
"""
ReadMemories = Callable[[Rows, Iterable[str]], Mapping[str, Memory]]
"""Reads memories by their ids (`core.memory.read.read_by_ids`)."""
NameSpeaker = Callable[[Rows, Memory], str]
"""Names who speaks in a memory; "" for the owner, and where nobody is known to."""
DIGEST = 10
"""Rows of a day's digest (design section 4)."""
_GROUPS = 10
_WEEK_MS = 7 * 86_400_000
_CLOSED_SHOWN = 500
_DAY_MS = 86_400_000
# The plus lets the index by time be used: few of all that was ever closed was closed lately.
_DECIDED = "SELECT count(*) FROM conflicts WHERE closed_at >= ? AND +state = 'resolved' AND note IS NOT 'rule'"
_CLOSED_BY_ITSELF = "SELECT count(*) FROM conflicts WHERE closed_at >= ? AND +state = 'moot'"
_STATE_BY_RESOLUTION: Mapping[str, str] = {"moot": "gone"}


@dataclass(frozen=True, slots=True)
class ReviewDesk:
    """Reads the desk.

    Attributes:
        memories: reads memories by their ids.
        name_speaker: names who else than the owner speaks in one.
    """

    memories: ReadMemories
    name_speaker: NameSpeaker

    def make_queue(
        self, rows: Rows, request: QueueRequest, now_ms: int, space_ids: Iterable[str] | None = None
    ) -> Queue:
        """The queue as it stands.

        Args:
            request: which part of it, and how many rows at most.
            space_ids: only items of these spaces; None for all.

        Returns:
            The most harmful rows first, what was put off at the end; counts are over all that is open.
        """
        pile = read_pile(rows, now_ms, space_ids)
        items, shown = pile.items, select_review_items(rows, pile, request)
        decided = int(rows.value(_DECIDED, (now_ms - now_ms % _DAY_MS,)))
        return Queue(
            rows=self._make_rows(rows, shown),
            total=len(items),
            counts=_most_frequent_names(map(attrgetter("kind"), items)),
            clients=_most_frequent_names(map(pile.clients.get, map(attrgetter("client_id"), items))),
            sources=_most_frequent_names(map(attrgetter("source"), items)),
            subjects=_most_frequent_names(pile.list_subjects()),
            closed=int(rows.value(_CLOSED_BY_ITSELF, (now_ms - _WEEK_MS,))),
            today=min(max(0, DIGEST - decided), sum(not item.later for item in shown)),
        )

    def _make_rows(self, rows: Rows, shown: Sequence[WaitingItem]) -> tuple[ReviewRow, ...]:
        found = self.memories(rows, [item.incoming_id for item in shown])
        titles = _read_merge_titles(rows, [item.id for item in shown if item.kind == "entity_merge"])
        return tuple(self._make_row(rows, item, found[item.incoming_id], titles.get(item.id, "")) for item in shown)

    def _make_row(self, rows: Rows, item: WaitingItem, incoming_memory: Memory, merge_title: str) -> ReviewRow:
        topic = ItemTopic(item.subject, item.predicate)
        topic = topic.said_by(self.name_speaker(rows, incoming_memory)) if topic.is_person else topic
        title = merge_title or format_title(item.kind, topic, incoming_memory.text)
        return _make_review_row(item, incoming_memory, title)

    def read_item(self, rows: Rows, item_id: str, now_ms: int, *, brief: bool = False) -> ReviewItem | None:
        """One item, validated now.

        Args:
            brief: without who was given it and what follows, for lists.

        Returns:
            Everything its page shows; an open item that can no longer be decided is `moot` and takes no action. None
            where there is no such item.
        """
        item = read_item(rows, item_id)
        if item is None:
            return None
        is_open = item.state == "open" and is_applicable(rows, item_id)
        # A closed item shows the two that it was about; an open one what stands by now.
        against = find_current_side(rows, item.existing_id, item.incoming_id) if is_open else item.existing_id
        found = self.memories(rows, [item.incoming_id, *([against] if against else [])])
        incoming_memory, existing_memory = found[item.incoming_id], found.get(against or "")
        incoming, existing, topic = self._read_sides(rows, incoming_memory, existing_memory, brief=brief)
        asked = read_change_request(rows, item_id)
        beside = (
            self._read_contradicted_side(rows, item, incoming_memory, brief=brief)
            if is_open and existing_memory is None
            else None
        )
        state = item.state if is_open or item.state != "open" else "moot"
        actions = available_actions(item.kind, item_shape(incoming_memory, existing_memory)) if is_open else ()
        pair = _read_merge_pairs(rows, [item.id]).get(item.id) if item.kind == "entity_merge" else None
        return ReviewItem(
            id=item.id,
            kind=item.kind,
            state=state,
            question=_make_question(rows, item, topic, asked) if pair is None else format_merge_question(*pair),
            why=(*explain_item(item, existing, incoming, now_ms, asked), *describe_contradicted(rows, beside)),
            existing=existing,
            incoming=incoming,
            suggestion=_make_suggestion(item, topic, actions, existing, incoming),
            actions=actions,
            follows=() if existing_memory is None or brief else read_dependents(rows, existing_memory),
            opened_at=item.opened_at,
            closed="" if is_open else closed_sentence(item.note or _STATE_BY_RESOLUTION.get(state), item.resolution),
            resolution=next((action for action in Action if action.value == item.resolution), None),
            repeatable=_repeatable_for(rows, item.kind, actions, found),
            asked=asked,
            warning=describe_injection(item.kind, incoming_memory) if is_open else "",
            against=beside,
            names=() if pair is None else (pair[0][0], pair[1][0]),
        )

    def _read_sides(
        self, rows: Rows, incoming_memory: Memory, existing_memory: Memory | None, *, brief: bool
    ) -> tuple[Side, Side | None, ItemTopic]:
        """The newcomer, what stands, and what they are about."""
        new_claims = read_claims_of_side(rows, incoming_memory)
        if existing_memory is None:
            incoming = self._read_side(rows, incoming_memory, (), new_claims, brief=brief)
            return incoming, None, _read_topic(None, incoming_memory, (), new_claims, incoming.speaker)
        old_claims = read_claims_of_side(rows, existing_memory)
        odds = pair_opposed_claims(old_claims, new_claims)
        old_marks, new_marks = find_differing_spans(existing_memory, incoming_memory, odds)
        incoming = self._read_side(rows, incoming_memory, new_marks, new_claims, brief=brief)
        existing = self._read_side(rows, existing_memory, old_marks, old_claims, brief=brief)
        return incoming, existing, _read_topic(existing_memory, incoming_memory, odds, new_claims, incoming.speaker)

    def _read_contradicted_side(
        self, rows: Rows, item: QueueItem, incoming_memory: Memory, *, brief: bool
    ) -> Side | None:
        """What stands against a newcomer that is asked about alone, with the places that are at odds."""
        found = find_contradicted(rows, item.kind, incoming_memory.id)
        existing_memory = None if found is None else self.memories(rows, [found]).get(found)
        if existing_memory is None:
            return None
        claims = read_claims_of_side(rows, existing_memory)
        marks, _ = find_differing_spans(
            existing_memory, incoming_memory, pair_opposed_claims(claims, read_claims_of_side(rows, incoming_memory))
        )
        return self._read_side(rows, existing_memory, marks, claims, brief=brief)

    def _read_side(
        self, rows: Rows, memory: Memory, marks: Sequence[Place], claims: Sequence[KeyedClaim], *, brief: bool
    ) -> Side:
        return replace(read_side(rows, memory, marks, claims, brief=brief), speaker=self.name_speaker(rows, memory))

    def list_closed(self, rows: Rows, since_ms: int, most: int = _CLOSED_SHOWN) -> tuple[ClosedRow, ...]:
        """Items that closed, by themselves or by a person, the latest first.

        Args:
            since_ms: from when on, epoch ms.
            most: rows at most.

        Returns:
            The rows; items whose memory was erased are left out.
        """
        items = read_closed_since(rows, since_ms, most)
        found = self.memories(rows, [item.incoming_id for item in items])
        titles = _read_merge_titles(rows, [item.id for item in items if item.kind == "entity_merge"])
        return tuple(
            _make_closed_row(item, found[item.incoming_id], titles.get(item.id, ""))
            for item in items
            if item.incoming_id in found
        )


def _repeatable_for(
    rows: Rows, kind: str, actions: tuple[Action, ...], found: Mapping[str, Memory]
) -> tuple[Action, ...]:
    """Actions on an item that can become a rule for items like it, given the memories it is about."""
    is_held = any(one.status_reason == HELD for one in found.values())
    return repeatable_actions(kind, actions, is_owners=bool(find_persons_words(rows, found)), is_held=is_held)


def requesting_client(rows: Rows, item: QueueItem) -> str | None:
    """The client that asked for an item about what is another's: an update, a removal, a merge, or a doubt of its own.

    Returns:
        Its id; None where the item is no client's wish.
    """
    found = rows.value(_REQUESTED_BY, (item.id,))
    if found is None and isinstance(item.detail.get("client"), str):
        found = rows.value(_NAMED, (item.detail["client"],))
    return None if found is None else str(found)


def open_change_requests_of(rows: Rows, client_id: str) -> tuple[str, ...]:
    """What a client proposed or asked for and the person has not decided, the oldest first.

    Returns:
        Ids of items; what it merely brought and that disagrees with something is not among them.
    """
    return tuple(str(row[0]) for row in rows.all(_ASKED_BY, (client_id,)))


def read_change_request(rows: Rows, item_id: str) -> ClientRequest | None:
    """What a client asked for with an item.

    Returns:
        It; None where no client asked.
    """
    row = rows.one(_ASKED, (item_id,))
    return None if row is None else ClientRequest(str(row[0]), str(row[1]), str(row[2] or ""), int(row[3]))


def request_question(asked: ClientRequest) -> str:
    """The matter as a question.

    Returns:
        One sentence.
    """
    return str(review_strings()["asked"][asked.change])


def describe_change_request(asked: ClientRequest) -> str:
    """Who asks, and why: quoted, on one line, without signs that steer a terminal."""
    wording = review_strings()["asked"]
    client, reason = _plain_reason(asked.client, 64), _plain_reason(asked.reason, REASON_CHARACTERS)
    return str(wording["why" if reason else "who"]).format(client=client, reason=reason)


def explain_item(
    item: QueueItem, existing: Side | None, incoming: Side, now_ms: int, asked: ClientRequest | None = None
) -> tuple[str, ...]:
    """The sentences above the two cards.

    Args:
        existing: the memory that stands; None where only one is concerned.
        asked: what a client asked for; None where nobody asked for anything.

    Returns:
        One to eight sentences, the reason first.
    """
    found = [
        format_reason(item.reason, item.kind),
        *_relation_lines(item),
        *_describe_doubt(item),
        *_describe_probabilities(item),
    ]
    found += [] if asked is None else [describe_change_request(asked)]
    if existing is not None:
        if existing.owners_word and not existing.speaker and item.reason not in _OWNERS:
            found.append(format_further_reason("yours"))
        found += _describe_differences(existing, incoming, item.reason)
    found += _standing_lines(existing, incoming)
    if item.later_until is not None and item.later_until > now_ms:
        found.append(format_further_reason("skipped"))
    return tuple(dict.fromkeys(found))


def read_derived(rows: Rows, memory_id: str) -> tuple[tuple[str, str], ...]:
    """What was derived from a memory, at any distance, and stands.

    Returns:
        Ids and kinds, 200 at most.
    """
    return tuple((str(i), str(kind)) for i, kind in rows.all(_DERIVED, {"id": memory_id, "most": _SHOWN}))


def read_dependents(rows: Rows, memory: Memory) -> tuple[Follow, ...]:
    """What depends on a memory and would be affected by a decision on it.

    Args:
        memory: the memory that stands.

    Returns:
        The headlines with their sentences; none where nothing rests on it.
    """
    wording = review_strings()["follows"]
    derived = read_derived(rows, memory.id)
    digests = tuple(i for i, kind in derived if kind == Kind.DIGEST.value)
    rules = tuple(str(row[0]) for row in rows.all(_LEANS, {"id": memory.id, "most": _SHOWN}))
    others = tuple(i for i, kind in derived if kind != Kind.DIGEST.value and i not in rules)
    found = [
        Follow(format_count(wording[name], len(ids)), _choose_form(wording[name], len(ids)), ids)
        for name, ids in (("digests", digests), ("derived", others), ("rules", rules))
        if ids
    ]
    given = _describe_deliveries(rows, memory)
    claims = int(rows.value(_ALONE, {"id": memory.id}))
    alone = [Follow(format_count(wording["claims"], claims), _choose_form(wording["claims"], claims))] if claims else []
    return (*found[:1], *given, *found[1:], *alone)


def item_shape(incoming_memory: Memory, existing_memory: Memory | None) -> ItemShape:
    """What of two memories decides which actions there are.

    Args:
        existing_memory: the memory that stands; None where there is none.

    Returns:
        The shape.
    """
    both = [memory for memory in (incoming_memory, existing_memory) if memory is not None]
    return ItemShape(
        paired=existing_memory is not None,
        split=any(memory.part_of is not None for memory in both),
        same_text=existing_memory is not None
        and existing_memory.text == incoming_memory.text
        and existing_memory.space == incoming_memory.space,
        same_kind=existing_memory is None or existing_memory.kind is incoming_memory.kind,
    )


def incoming_begin(incoming_memory: Memory) -> When | None:
    """From when a newcomer holds, as far as it says.

    Returns:
        Its own beginning, else when it was said; None where neither is known.
    """
    return When(incoming_memory.valid_from) if incoming_memory.valid_from is not None else incoming_memory.occurred


def _plain_reason(reason: str, most: int) -> str:
    return describe_item_line("".join(sign if sign.isprintable() else " " for sign in reason), most)


def _relation_lines(item: QueueItem) -> list[str]:
    """What the two are to each other, as the rules or the model read them."""
    key = str(item.detail.get("why", ""))
    return [format_reason(key, item.kind)] if key in review_strings()["reasons"] else []


def _describe_doubt(item: QueueItem) -> list[str]:
    """Which client doubts it, and why in its own words: quoted, on one line, without signs that steer a terminal."""
    client, doubt = (_format_doubt(item.detail.get(name)) for name in ("client", "doubt"))
    if not client:
        return []
    if item.kind == "entity_merge":
        return [format_further_reason("merge_asked", client=client)]
    return [
        format_further_reason("doubted_so", client=client, doubt=doubt)
        if doubt
        else format_further_reason("doubted", client=client)
    ]


def _format_doubt(doubt: object) -> str:
    if not isinstance(doubt, str):
        return ""
    return describe_item_line("".join(sign if sign.isprintable() else " " for sign in doubt), _DOUBT_CHARACTERS)


def _describe_probabilities(item: QueueItem) -> list[str]:
    probabilities = item.detail.get("probabilities")
    if item.kind != "classification" or not isinstance(probabilities, dict):
        return []
    numbers = {str(name): float(value) for name, value in probabilities.items() if isinstance(value, int | float)}
    likely = sorted((pair for pair in numbers.items() if pair[1] >= _LIKELY), key=lambda pair: -pair[1])
    return [sentence for name, value in likely[:2] if (sentence := describe_relation_label(name, value))]


def _describe_differences(existing: Side, incoming: Side, reason_key: str) -> list[str]:
    found: list[str] = []
    existing_memory, incoming_memory = existing.memory.occurred, incoming.memory.occurred
    if existing_memory is not None and incoming_memory is not None and existing_memory.ms != incoming_memory.ms:
        found.append(
            format_further_reason("older_yours", date=format_day(existing_memory.ms))
            if existing_memory.ms < incoming_memory.ms
            else format_further_reason("older_new", date=format_day(incoming_memory.ms))
        )
    apart = incoming.memory.trust - existing.memory.trust
    if abs(apart) >= _TRUST_APART and reason_key not in _OWNERS:
        key = "trust_lower" if apart < 0 else "trust_higher"
        found.append(
            format_further_reason(key, came=round(100 * incoming.memory.trust), have=round(100 * existing.memory.trust))
        )
    return found


def _standing_lines(existing: Side | None, incoming: Side) -> list[str]:
    if incoming.memory.status is Status.QUARANTINED:
        return [format_further_reason("held_back")]
    if existing is None:
        return []
    if incoming.memory.status is Status.DISPUTED:
        return [format_further_reason("given_meanwhile")]
    return [format_further_reason("both_given")] if existing.memory.status is Status.ACTIVE else []


def _choose_form(forms: Mapping[str, str], count: int) -> str:
    return forms.get("sentence_one", forms["sentence"]) if count == 1 else forms["sentence"]


def _describe_deliveries(rows: Rows, memory: Memory) -> tuple[Follow, ...]:
    """Who was given it and how often; a client that named a session of its own is counted without its name."""
    if memory.access_count == 0:
        return ()
    wording = review_strings()["follows"]
    names = [describe_item_line(str(row[0]), 24) for row in rows.all(_GIVEN, {"id": memory.id})]
    if not names:
        nobody = wording["given_nobody"]
        return (Follow(str(nobody["headline"]).format(count=memory.access_count), str(nobody["sentence"])),)
    return (Follow(", ".join(names), format_count(wording["given"], memory.access_count)),)


def _read_topic(
    existing: Memory | None,
    incoming: Memory,
    odds: Sequence[OpposedClaims],
    new_claims: Sequence[KeyedClaim],
    speaker: str,
) -> ItemTopic:
    """What an item is about: the claims that are at odds, or else what the differing words of both texts name."""
    if existing is not None and not odds:
        worded = find_worded_topic(existing.text, incoming.text, speaker)
        if worded.stated:
            return worded
    return item_topic(odds, new_claims).said_by(speaker)


def _make_question(rows: Rows, item: QueueItem, topic: ItemTopic, asked: ClientRequest | None) -> str:
    if asked is not None:
        return request_question(asked)
    missing = item_question(rows, item.incoming_id, item.detail) if item.kind == "gap" else ""
    return missing or format_question(item.kind, topic)


def _most_frequent_names(names: Iterable[str | None]) -> dict[str, int]:
    """The most frequent names; what has none does not count."""
    counted = Counter(names)  # ten thousand of them: nothing here may run once for each but what is built in
    return dict(islice(((str(name), count) for name, count in counted.most_common() if name), _GROUPS))


def _read_merge_titles(rows: Rows, item_ids: Sequence[str]) -> dict[str, str]:
    """Which two names are the matter, in one line, by the id of the item."""
    return {item_id: format_merge_title(*pair) for item_id, pair in _read_merge_pairs(rows, item_ids).items()}


def _read_merge_pairs(rows: Rows, item_ids: Sequence[str]) -> dict[str, tuple[tuple[str, str], tuple[str, str]]]:
    """Which two names are the matter, each with its space, by the id of the item."""
    if not item_ids:
        return {}
    found = rows.all(_MERGE_NAMES, (to_json(item_ids),))
    return {str(item): ((str(a), str(at)), (str(b), str(bt))) for item, a, at, b, bt in found}


def _make_review_row(item: WaitingItem, incoming_memory: Memory, title: str) -> ReviewRow:
    return ReviewRow(
        id=item.id,
        kind=item.kind,
        title=title,
        note=describe_item_note(item.kind, item.recalled, item.client, later=item.later),
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
        warned=item.kind != DISGUISED and injection_reasons(incoming_memory) is not None,
    )


def _make_closed_row(item: QueueItem, incoming_memory: Memory, merge_title: str) -> ClosedRow:
    return ClosedRow(
        id=item.id,
        kind=item.kind,
        title=merge_title or describe_item_line(incoming_memory.text),
        resolution=item.resolution or "",
        note=closed_sentence(item.note, item.resolution),
        closed_at=item.closed_at or 0,
        incoming_id=item.incoming_id,
        existing_id=item.existing_id,
    )


def _make_suggestion(
    item: QueueItem, topic: ItemTopic, actions: Sequence[Action], existing: Side | None, incoming: Side
) -> Suggestion | None:
    if item.suggestion is None or item.suggestion not in actions:
        return None
    action = Action(item.suggestion)
    at = incoming_begin(incoming.memory) if action is Action.KEEP_BOTH_DATED else None
    dated = "" if at is None else format_day(at.ms)
    by = str(item.detail.get("by", "rules"))
    result = describe_result(action, item.kind, topic, paired=existing is not None, date=dated)
    sure = describe_classifier(by, item.confidence)
    text = None
    if action is Action.MERGE:
        text = unite_texts(existing.memory.text if existing else "", incoming.memory.text)
    return Suggestion(action, item.confidence, by, f"{result} {sure}".strip(), at, text)
