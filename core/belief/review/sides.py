"""One memory as the review page shows it: its recipients, author and origin, what contradicts it, and a warning.

A memory that waits alone, such as a proposal, was compared with nothing when it came: `find_contradicted` finds what
accepting it would contradict. The warning says that it reads like an instruction to an assistant; the scan is done anew
at each look, so that texts of older vaults are seen too. Must not do: read memories by itself (the caller hands them
in), change anything, or say which of two memories is right.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.belief.claims import IN_QUESTION, OPPOSED, find_persons_words
from core.belief.review.wording import ItemTopic, describe_item_line, format_further_reason, review_strings
from core.config.help_strings import read_help_strings
from core.text.screening.injection import ALLOWED, FLAG, current_limits, scan_text
from core.types.memory import Warned
from core.types.reviews import ClaimSeen, Side
from core.types.values import Memory, Source
from core.vault.database.rows import Rows

DISGUISED = "injection"
"""Kind of an item that asks just that already; who accepts it lets it through."""
_MOST_LISTED = 2
_ASKED_ALONE = frozenset({"proposal", "quarantine", "injection"})
# The person's own word first, then what is trusted most.
_STRONGEST_EVIDENCE = (
    "SELECT coalesce(m.part_of, m.id) FROM evidence v JOIN memories m ON m.id = v.memory_id "  # noqa: S608 - constants
    "AND +m.status IN ('active', 'disputed') WHERE v.stance = 'supporting' AND v.claim_id IN ("
    f"{OPPOSED} IN (SELECT w.claim_id FROM evidence w WHERE w.memory_id = :id AND w.stance = 'supporting')"
    f"{IN_QUESTION}) AND coalesce(m.part_of, m.id) <> :id "
    "ORDER BY m.client_id IS NOT NULL, m.trust DESC, m.n LIMIT 1"
)
Place = tuple[int, int]
"""Code points of a text, end exclusive."""
_CLIENTS_SHOWN = 5
_RECEIPTS_SEARCHED = 2_000
# Comparing in order takes the cube of the number of words in the worst case; of more only the set is compared.
_IN_ORDER = 120
_TOKENS = 2_000
_MOST_MARKED = 0.7
_TOKEN = re.compile(r"\w+(?:[.'’:/\-]\w+)*")
_CLAIMS = (
    "SELECT k.id, k.subject, k.predicate, k.value, k.exclusive, k.polarity, k.state, k.confidence, k.valid_from, "  # noqa: S608
    "k.valid_to, k.qualifiers, k.extracted_by, "
    "(SELECT count(DISTINCT v.lineage) FROM evidence v WHERE v.claim_id = k.id AND v.stance = 'supporting'), "
    "(SELECT count(*) FROM evidence v WHERE v.claim_id = k.id AND v.stance = 'contradicting') + "
    "(SELECT count(DISTINCT v.lineage) FROM evidence v JOIN memories n ON n.id = v.memory_id "
    "AND +n.status IN ('active', 'disputed') WHERE v.stance = 'supporting' "
    f"AND v.claim_id IN ({OPPOSED} = k.id{IN_QUESTION})), "
    "k.subject_key, k.value_key "
    "FROM claims k WHERE k.id IN (SELECT v.claim_id FROM evidence v WHERE v.memory_id = ?) ORDER BY k.id"
)
_SPANS = (
    "SELECT claim_id, start_at, end_at FROM evidence WHERE memory_id = ? AND stance = 'supporting' ORDER BY start_at"
)
# An access is counted under the session it was made in, or under the client where it named none.
_GIVEN = (
    "SELECT DISTINCT k.name FROM accesses a JOIN clients k ON k.id = a.session WHERE a.memory_id = :id UNION "
    "SELECT DISTINCT k.name FROM (SELECT session, client_id FROM receipts ORDER BY at DESC LIMIT :most) r "
    "JOIN clients k ON k.id = r.client_id "
    "JOIN accesses a ON a.session = r.session AND a.memory_id = :id ORDER BY 1"
)
_ORIGIN = (
    "SELECT m.origin, k.name, t.title, m.client_id IS NULL AND m.import_id IS NULL FROM memories m "
    "LEFT JOIN clients k ON k.id = m.client_id LEFT JOIN conversations t ON t.id = m.conversation_id WHERE m.id = ?"
)


@dataclass(frozen=True, slots=True)
class KeyedClaim:
    """A claim with the keys by which it is compared."""

    seen: ClaimSeen
    subject_key: str
    value_key: str


@dataclass(frozen=True, slots=True)
class OpposedClaims:
    """Two claims of the same subject and predicate with different values or polarity.

    Attributes:
        existing: of the memory that stands; `incoming` of the newcomer.
    """

    existing: ClaimSeen
    incoming: ClaimSeen


def injection_reasons(memory: Memory) -> Warned | None:
    """Why a memory is kept out of what assistants are given by themselves (E10.14.3).

    Returns:
        Why; None where it is not, or the person let it through.
    """
    found = scan_text(memory.text)
    is_suspect = FLAG in memory.flags or found.score > current_limits().flag
    if ALLOWED in memory.flags or not is_suspect:
        return None
    return Warned(found.families, found.score > current_limits().block)


def describe_injection(kind: str, memory: Memory) -> str:
    """What the person is warned of before letting a memory in.

    Returns:
        A sentence or more; "" where there is nothing to warn of, or the item itself asks about it.
    """
    warned = None if kind == DISGUISED else injection_reasons(memory)
    if warned is None:
        return ""
    wording: Mapping[str, Any] = review_strings()["warned"]
    what = [str(_load_families()[name]) for name in warned.families if name in _load_families()][:_MOST_LISTED]
    seems = [str(wording["seems"]).format(what=wording["and"].join(what))] if what else []
    return " ".join([str(wording["sentence"]), *seems, str(wording["then"])])


def find_contradicted(rows: Rows, kind: str, memory_id: str) -> str | None:
    """The memory that a newcomer's claims contradict.

    Args:
        memory_id: the newcomer, which is asked about alone.

    Returns:
        The memory's id, of a split text the head's; of several the weightiest. None where nothing stands against it.
    """
    found = rows.value(_STRONGEST_EVIDENCE, {"id": memory_id}) if kind in _ASKED_ALONE else None
    return None if found is None else str(found)


def describe_contradicted(rows: Rows, against: Side | None) -> tuple[str, ...]:
    """What accepting the newcomer would mean for what stands.

    Args:
        against: what stands; None where nothing is contradicted.

    Returns:
        One sentence without a word of either memory, or none.
    """
    if against is None:
        return ()
    is_owners = not against.speaker and bool(find_persons_words(rows, [against.memory.id]))
    return (format_further_reason("against_yours" if is_owners else "against"),)


def read_side(
    rows: Rows, memory: Memory, marks: Sequence[Place], claims: Sequence[KeyedClaim], *, brief: bool = False
) -> Side:
    """A memory with all that its card shows.

    Args:
        marks: places in its text that are at odds.
        claims: from `read_claims_of_side`.
        brief: without the names of those it was given to.
    """
    origin, client, conversation, own = rows.one(_ORIGIN, (memory.id,)) or ("{}", None, None, False)
    asked = memory.access_count > 0 and not brief
    given = rows.all(_GIVEN, {"id": memory.id, "most": _RECEIPTS_SEARCHED}) if asked else []
    return Side(
        memory=memory,
        recalled=memory.access_count,
        recalled_by=tuple(str(row[0]) for row in given[:_CLIENTS_SHOWN]),
        client=client,
        owners_word=bool(own) and memory.source is Source.USER_EXPLICIT,
        origin=_format_origin(json.loads(origin), conversation),
        marks=tuple(marks),
        claims=tuple(claim.seen for claim in claims),
    )


def read_claims_of_side(rows: Rows, memory: Memory) -> tuple[KeyedClaim, ...]:
    """The claims that a memory backs, with the places of their evidence in its text.

    Returns:
        The claims, the oldest first.
    """
    spans: dict[str, list[Place]] = {}
    for claim_id, start, end in rows.all(_SPANS, (memory.id,)):
        if end <= len(memory.text):
            spans.setdefault(claim_id, []).append((start, end))
    return tuple(_keyed_claim_from_row(row, tuple(spans.get(row[0], ()))) for row in rows.all(_CLAIMS, (memory.id,)))


def pair_opposed_claims(existing: Sequence[KeyedClaim], incoming: Sequence[KeyedClaim]) -> tuple[OpposedClaims, ...]:
    """Pairs of claims of two memories that disagree about one subject and predicate, exclusive predicates first.

    Args:
        existing: of the memory that stands.
        incoming: of the newcomer.
    """
    found = [
        OpposedClaims(old.seen, new.seen)
        for old in existing
        for new in incoming
        if old.seen.predicate == new.seen.predicate
        and old.subject_key == new.subject_key
        and (old.value_key != new.value_key or old.seen.polarity != new.seen.polarity)
    ]
    return tuple(sorted(found, key=lambda odds: not (odds.existing.exclusive and odds.incoming.exclusive)))


def item_topic(odds: Sequence[OpposedClaims], incoming: Sequence[KeyedClaim]) -> ItemTopic:
    """What an item is about.

    Args:
        odds: from `pair_opposed_claims`.
        incoming: the newcomer's claims, for an item without odds.

    Returns:
        The topic; empty where there are no claims.
    """
    if odds:
        first = odds[0]
        return ItemTopic(first.incoming.subject, first.incoming.predicate, first.existing.value, first.incoming.value)
    if incoming:
        only = incoming[0].seen
        return ItemTopic(only.subject, only.predicate, incoming=only.value)
    return ItemTopic()


def find_differing_spans(
    existing: Memory, incoming: Memory, odds: Sequence[OpposedClaims]
) -> tuple[list[Place], list[Place]]:
    """Places in both texts that are at odds: the values of claims, else the words that differ.

    Args:
        existing: the memory that stands.
        odds: from `pair_opposed_claims`.

    Returns:
        Places in either text, code points, end exclusive, in order and apart; empty where nearly all of it differs.
    """
    existing_spans = [found for one in odds if (found := find_value_span(existing.text, one.existing)) is not None]
    incoming_spans = [found for one in odds if (found := find_value_span(incoming.text, one.incoming)) is not None]
    if existing_spans and incoming_spans:
        return _merge_overlaps(existing_spans), _merge_overlaps(incoming_spans)
    return differing_words(existing.text, incoming.text)


def find_value_span(text: str, claim: ClaimSeen) -> Place | None:
    """Where a claim's value stands in a text: within its evidence if it can be.

    Returns:
        The place; None where the text has it in other words.
    """
    wanted = re.compile(r"\s+".join(re.escape(part) for part in claim.value.split()), re.IGNORECASE)
    for start, end in (*claim.spans, (0, len(text))):
        found = wanted.search(text, start, end)
        if found is not None and found.end() > found.start():
            return found.span()
    return None


def differing_words(existing: str, incoming: str) -> tuple[list[Place], list[Place]]:
    """The words by which two texts differ.

    Args:
        incoming: the other.

    Returns:
        Places in either; empty for long texts and for texts that differ nearly everywhere.
    """
    existing_tokens, incoming_tokens = list(_TOKEN.finditer(existing)), list(_TOKEN.finditer(incoming))
    if not existing_tokens or not incoming_tokens or len(existing_tokens) > _TOKENS or len(incoming_tokens) > _TOKENS:
        return [], []
    in_order = max(len(existing_tokens), len(incoming_tokens)) <= _IN_ORDER
    left, right = (
        _in_order(existing_tokens, incoming_tokens)
        if in_order
        else (
            _find_missing_places(existing_tokens, incoming_tokens),
            _find_missing_places(incoming_tokens, existing_tokens),
        )
    )
    if _marked_share(left, existing) > _MOST_MARKED and _marked_share(right, incoming) > _MOST_MARKED:
        return [], []
    return left, right


def _load_families() -> Mapping[str, str]:
    found: Mapping[str, str] = read_help_strings("injection")["families"]
    return found


def _format_origin(origin: Mapping[str, Any], conversation: str | None) -> str:
    if conversation:
        return describe_item_line(conversation)
    where = origin.get("file") or origin.get("where") or ""
    return describe_item_line(str(where))


def _keyed_claim_from_row(row: Sequence[Any], spans: tuple[Place, ...]) -> KeyedClaim:
    claim_id, subject, predicate, value, exclusive, polarity, state, confidence, begin, end, qualifiers, method = row[
        :12
    ]
    seen = ClaimSeen(
        id=claim_id,
        subject=subject,
        predicate=predicate,
        value=value,
        exclusive=bool(exclusive),
        polarity=polarity,
        state=state,
        confidence=confidence,
        spans=spans,
        sources=row[12],
        against=row[13],
        valid_from=begin,
        valid_to=end,
        qualifiers=json.loads(qualifiers),
        method=method,
    )
    return KeyedClaim(seen, row[14], row[15])


def _in_order(existing: Sequence[re.Match[str]], incoming: Sequence[re.Match[str]]) -> tuple[list[Place], list[Place]]:
    match = difflib.SequenceMatcher(
        None, [_token_key(t) for t in existing], [_token_key(t) for t in incoming], autojunk=False
    )
    left: list[Place] = []
    right: list[Place] = []
    for tag, a, b, c, d in match.get_opcodes():
        if tag != "equal":
            left += [(existing[a].start(), existing[b - 1].end())] if b > a else []
            right += [(incoming[c].start(), incoming[d - 1].end())] if d > c else []
    return left, right


def _find_missing_places(tokens: Sequence[re.Match[str]], others: Sequence[re.Match[str]]) -> list[Place]:
    known = {_token_key(token) for token in others}
    return [token.span() for token in tokens if _token_key(token) not in known]


def _token_key(token: re.Match[str]) -> str:
    return token.group().casefold()


def _marked_share(marks: Sequence[Place], text: str) -> float:
    return sum(end - start for start, end in marks) / max(1, len(text))


def _merge_overlaps(marks: Sequence[Place]) -> list[Place]:
    """The same places, sorted, none within another."""
    found: list[Place] = []
    for start, end in sorted(set(marks)):
        if found and start < found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found
