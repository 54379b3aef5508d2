"""Claims as rows, whose word the memories behind them are, and what contradicts them.

A claim starts as a draft; it is asserted only with evidence. Two claims oppose each other that are of one subject,
predicate, session and condition, at overlapping times, and hold two values where one can be true, or the same with the
other sign (seed A feature 1; seed C 7.7). It is read from the claims and memories as they stand, so that it ends with
the contradiction: what waits or is over speaks against nothing. Whose word a memory is stands here as parts of queries
on a memory `m`, the one definition for the gate and the desk. Must not do: read a claim out of a text
(`core.belief.extract` does), weigh one word against another (`core.belief.trust_gate` does), or decide which is right.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.belief.extract.normal_form import value_key
from core.types.belief import ClaimDraft
from core.types.values import When
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

# Without a row of its sources (what version 1 held, and the original of a united text) the memory's own row tells.
_ALONE = (
    "m.client_id IS NULL AND m.import_id IS NULL "
    "AND NOT EXISTS (SELECT 1 FROM memory_sources s WHERE s.memory_id = m.id)"
)
_BROUGHT = "EXISTS (SELECT 1 FROM memory_sources s WHERE s.memory_id = m.id AND s.lineage = 'owner' AND s.source = "
OWNERS_WORD = (
    "("  # noqa: S608 - constants only
    + _BROUGHT
    + "'user_explicit') OR (m.source = 'user_explicit' AND "
    + _ALONE
    + ") "
    "OR EXISTS (SELECT 1 FROM verdicts v WHERE v.memory_id = m.id AND v.voice = 'owner' AND v.verdict = 'confirm'))"
)
"""The owner said it explicitly at the window or the command line, or vouched for it since."""
IN_PASSING = "(" + _BROUGHT + "'user_implicit') OR (m.source = 'user_implicit' AND " + _ALONE + "))"
"""The owner said it without meaning to tell Loci."""
# A client may say `user_explicit` only with the grant `speak_for_user`.
PERSONS = (
    "(" + OWNERS_WORD + " OR " + IN_PASSING + " "
    "OR CASE WHEN m.client_id IS NOT NULL THEN m.source = 'user_explicit' "
    "ELSE m.import_id IS NOT NULL AND m.source IN ('user_explicit', 'user_implicit') END)"
)
"""What the owner said or vouched for, or what passes for the person's own: nobody but the person may displace it."""
_AMONG = "SELECT m.id FROM json_each(?) w JOIN memories m ON m.id = w.value WHERE "
_ONE_TOPIC = "o.space_id = c.space_id AND o.subject_key = c.subject_key AND o.predicate = c.predicate "
_AT_ODDS = (
    "AND o.id <> c.id AND ((c.polarity = 'positive' AND o.polarity = 'positive' AND c.exclusive = 1 "
    "AND o.exclusive = 1 AND o.value_key <> c.value_key) OR (c.polarity <> o.polarity AND o.value_key = c.value_key)) "
    "AND o.scope_session = c.scope_session AND o.qualifiers = c.qualifiers "
    "AND coalesce(o.valid_from, -9223372036854775808) < coalesce(c.valid_to, 9223372036854775807) "
    "AND coalesce(c.valid_from, -9223372036854775808) < coalesce(o.valid_to, 9223372036854775807) "
)
_NOT_OVER = "o.state IN ('draft', 'asserted', 'disputed') "
_BACKED = (
    "AND EXISTS (SELECT 1 FROM evidence v JOIN memories n ON n.id = v.memory_id AND n.status IN ('active', 'disputed') "
    "WHERE v.claim_id = o.id AND v.stance = 'supporting') "
)
_RIVAL = f"SELECT o.id FROM claims c CROSS JOIN claims o ON {_ONE_TOPIC}{_AT_ODDS}AND {_NOT_OVER}"  # noqa: S608
OPPOSED = f"{_RIVAL}{_BACKED}WHERE c.id "
"""Ids of claims that stand and oppose some, `c`; how those are chosen follows."""
IN_QUESTION = " AND c.state IN ('draft', 'asserted', 'disputed')"
"""Of `c`: it is not over. To what is over nothing is opposed any more."""
_AGAINST = (
    "WITH wanted (id) AS (SELECT value FROM json_each(?)), "  # noqa: S608 - constants
    "topics AS MATERIALIZED (SELECT DISTINCT c.space_id, c.subject_key, c.predicate "
    "FROM wanted w CROSS JOIN claims c ON c.id = w.id), "
    f"backed AS MATERIALIZED (SELECT o.* FROM topics c CROSS JOIN claims o ON {_ONE_TOPIC}AND {_NOT_OVER}{_BACKED}) "
    "SELECT c.id, e.lineage, max(e.confidence * m.trust) FROM wanted w CROSS JOIN claims c ON c.id = w.id"
    f"{IN_QUESTION} CROSS JOIN backed o ON {_ONE_TOPIC}{_AT_ODDS}"
    "CROSS JOIN evidence e ON e.claim_id = o.id AND e.stance = 'supporting' "
    "CROSS JOIN memories m ON m.id = e.memory_id AND m.status IN ('active', 'disputed') "
    "GROUP BY c.id, e.lineage ORDER BY c.id, e.lineage"
)
TOPIC = ("space_id", "subject_key", "predicate", "value_key")
"""Columns of a claim that tell what may oppose it."""


@dataclass(frozen=True, slots=True)
class EvidenceSource:
    """The memory a claim rests on.

    Attributes:
        memory_id: its id.
        text: its exact text; the quote is a part of it.
        space_id: its space.
        lineage: its independent source.
        observed_at: when it was said, epoch ms.
    """

    memory_id: str
    text: str
    space_id: str
    lineage: str
    observed_at: int


def find_persons_words(rows: Rows, memory_ids: Iterable[str]) -> frozenset[str]:
    """Which memories are the person's: nobody else decides against them.

    Args:
        memory_ids: the memories asked about.
    """
    return _select_memories(rows, memory_ids, PERSONS)


def find_owner_statements(rows: Rows, memory_ids: Iterable[str]) -> frozenset[str]:
    """Which memories the owner said at the window or the command line, in so many words or in passing.

    Args:
        memory_ids: the memories asked about.
    """
    return _select_memories(rows, memory_ids, f"({OWNERS_WORD} OR {IN_PASSING})")


def find_owner_backed(rows: Rows, memory_ids: Iterable[str]) -> frozenset[str]:
    """Which memories the owner said, said as well, or vouched for.

    Args:
        memory_ids: the memories asked about.
    """
    return _select_memories(rows, memory_ids, OWNERS_WORD)


def read_opposing_claims(rows: Rows, claim_ids: Iterable[str]) -> list[str]:
    """Claims that any of some may speak against: also of what has just ended, and those that wait.

    Returns:
        Their ids, in a fixed order.
    """
    wanted = json.dumps(list(claim_ids))
    found = rows.all(
        f"SELECT DISTINCT id FROM ({_RIVAL} WHERE c.id IN (SELECT value FROM json_each(?))) ORDER BY id",  # noqa: S608
        (wanted,),
    )
    return [str(row[0]) for row in found]


def read_opposition(rows: Rows, claim_ids: Iterable[str]) -> list[tuple[str, str, float]]:
    """What speaks against claims, by source.

    Of a topic only the claims that something standing backs are laid beside each claim: hundreds may wait on one, and
    each beside each would be their square.

    Returns:
        (claim, lineage cluster, its strongest evidence against it, 0 to 1), in a fixed order.
    """
    found = rows.all(_AGAINST, (json.dumps(list(claim_ids)),))
    return [(str(claim_id), str(lineage), float(weight)) for claim_id, lineage, weight in found]


def read_related_claims(rows: Rows, topic: Sequence[str]) -> list[str]:
    """Claims that are not over and may oppose one that is no more.

    Args:
        topic: its TOPIC.

    Returns:
        Their ids, in a fixed order.
    """
    found = rows.all(
        f"SELECT c.id FROM claims c WHERE c.space_id = ? AND c.subject_key = ? AND c.predicate = ?"  # noqa: S608
        f"{IN_QUESTION} AND (c.exclusive = 1 OR c.value_key = ?) ORDER BY c.id",
        tuple(topic),
    )
    return [str(row[0]) for row in found]


def key_form(text: str) -> str:
    """How subjects and values are compared: case, width, look-alike letters, numbers, dates.

    Args:
        text: a subject or value as written.
    """
    return value_key(text)


def claim_key(space_id: str, claim: Mapping[str, Any], scope_session: str = "") -> bytes:
    """The identity of what a claim says (seed C part 5, claim_key).

    Args:
        space_id: the space it holds in.
        claim: subject, predicate, value, polarity, qualifiers.
        scope_session: the session it is limited to, or "".

    Returns:
        32 bytes of SHA-256 over the canonical parts.
    """
    parts = [
        space_id,
        key_form(claim["subject"]),
        claim["predicate"],
        key_form(claim["value"]),
        claim["polarity"],
        json.dumps(claim["qualifiers"], sort_keys=True, separators=(",", ":"), ensure_ascii=False),
        scope_session,
    ]
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode("utf-8")).digest()


def draft_supplied_claim(claim: Mapping[str, Any], text: str, validity: tuple[When | None, When | None]) -> ClaimDraft:
    """A claim that came with its text: the whole text is its evidence.

    Args:
        claim: a claim with its defaults filled in (`core.intake.transaction.claim_checks.check_claim`).
        validity: from when and until when it holds.
    """
    return ClaimDraft(
        subject=claim["subject"],
        predicate=claim["predicate"],
        value=claim["value"],
        exclusive=bool(claim["exclusive"]),
        polarity=claim["polarity"],
        valid_from=validity[0],
        valid_to=validity[1],
        qualifiers=claim["qualifiers"],
        start=0,
        end=len(text),
        method="given",
    )


def key_of_draft(space_id: str, draft: ClaimDraft, scope_session: str = "") -> bytes:
    """`claim_key` of a draft."""
    statement = {
        "subject": draft.subject,
        "predicate": draft.predicate,
        "value": draft.value,
        "polarity": draft.polarity,
        "qualifiers": dict(draft.qualifiers),
    }
    return claim_key(space_id, statement, scope_session)


def draft_claim(
    tx: Tx, draft: ClaimDraft, on: EvidenceSource, ids: tuple[str, str], scope_session: str = ""
) -> str | None:
    """Write a claim as a draft, with its quote as evidence.

    Args:
        draft: what was read or given; its span must lie in the text.
        on: the memory it rests on.
        ids: the ids of the claim and of its evidence.
        scope_session: the session it is limited to, or "".

    Returns:
        The claim's id; None where this memory backs the same claim already, or the span is no quote of the text.
    """
    quote = on.text[draft.start : draft.end]
    if not quote or draft.start < 0:
        return None
    key = key_of_draft(on.space_id, draft, scope_session)
    if tx.one(
        "SELECT 1 FROM claims c JOIN evidence e ON e.claim_id = c.id WHERE e.memory_id = ? AND c.claim_key = ?",
        (on.memory_id, key),
    ):
        return None
    tx.insert("claims", _claim_row(draft, on, ids[0], key, scope_session, tx.now_ms))
    tx.insert("evidence", _evidence_row(draft, on, ids, quote, tx.now_ms))
    return ids[0]


def _select_memories(rows: Rows, memory_ids: Iterable[str], condition: str) -> frozenset[str]:
    return frozenset(str(row[0]) for row in rows.all(_AMONG + condition, (json.dumps(list(memory_ids)),)))


def _claim_row(
    draft: ClaimDraft, on: EvidenceSource, claim_id: str, key: bytes, scope_session: str, now_ms: int
) -> dict[str, object]:
    begin, end = draft.valid_from, draft.valid_to
    return {
        "id": claim_id,
        "space_id": on.space_id,
        "claim_key": key,
        "subject": draft.subject,
        "subject_key": key_form(draft.subject),
        "predicate": draft.predicate,
        "value": draft.value,
        "value_key": key_form(draft.value),
        "exclusive": int(draft.exclusive),
        "polarity": draft.polarity,
        "qualifiers": json.dumps(dict(draft.qualifiers), sort_keys=True, separators=(",", ":"), ensure_ascii=False),
        "scope_session": scope_session,
        "valid_from": None if begin is None else begin.ms,
        "valid_from_prec": None if begin is None else begin.precision.value,
        "valid_to": None if end is None else end.ms,
        "valid_to_prec": None if end is None else end.precision.value,
        "confidence": 0.0,
        "extracted_by": draft.method,
        "recorded_at": now_ms,
    }


def _evidence_row(
    draft: ClaimDraft, on: EvidenceSource, ids: tuple[str, str], quote: str, now_ms: int
) -> dict[str, object]:
    return {
        "id": ids[1],
        "claim_id": ids[0],
        "memory_id": on.memory_id,
        "space_id": on.space_id,
        "quote": quote,
        "start_at": draft.start,
        "end_at": draft.start + len(quote),
        "span_hash": hashlib.sha256(quote.encode("utf-8")).digest(),
        "confidence": draft.confidence,
        "method": draft.method,
        "lineage": on.lineage,
        "observed_at": on.observed_at,
        "recorded_at": now_ms,
    }
